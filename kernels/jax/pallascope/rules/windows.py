"""Rules of operations on windows of arrays, traced as operations on slices, one for each place in a
window."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax

from pallascope.problems import NotCaptured
from pallascope.rules import retraced
from pallascope.rules.retraced import traced
from pallascope.walk import Rule

_MOST_PLACES = 1024


def places_in(extents: Sequence[int]) -> list[tuple[int, ...]]:
    if math.prod(extents) > _MOST_PLACES:
        raise NotCaptured(f"windows of {math.prod(extents)} elements: expected at most "
                          f"{_MOST_PLACES}")
    return list(itertools.product(*map(range, extents)))


def elements_at(x: Any, place: Sequence[int], counts: Sequence[int], strides: Sequence[int]) -> Any:
    """Returns the element at one place of each window."""
    limits = [at + (count - 1) * stride + 1
              for at, count, stride in zip(place, counts, strides, strict=True)]
    return lax.slice(x, place, limits, strides)


def _parts(arrays: Sequence[Any], around: Sequence[Any], window_dimensions: Sequence[int],
           window_strides: Sequence[int], padding: Sequence[Any],
           base_dilation: Sequence[int] = (), window_dilation: Sequence[int] = ()
           ) -> Iterator[list[Any]]:
    """Yields, for each place in a window, the elements at that place of all windows. The arrays are
    padded with the values `around` them."""
    rank = len(window_dimensions)
    steps, spread = tuple(window_dilation) or (1,) * rank, tuple(base_dilation) or (1,) * rank
    edges = [(low, high, dilation - 1)
             for (low, high), dilation in zip(padding, spread, strict=True)]
    wide = [lax.pad(x, number, edges) for x, number in zip(arrays, around, strict=True)]
    counts = [(extent - (size - 1) * step - 1) // stride + 1 for extent, size, stride, step
              in zip(wide[0].shape, window_dimensions, window_strides, steps, strict=True)]
    for place in places_in(window_dimensions):
        at = [p * step for p, step in zip(place, steps, strict=True)]
        yield [elements_at(x, at, counts, window_strides) for x in wide]


def reduced(combine: Callable[[Any, Any], Any], start: Callable[[Any], Any]) -> Callable[..., Any]:
    """Returns reduce_window_max or a similar function. `start` returns the value around the array,
    by dtype."""
    def made(**params: Any) -> Callable[..., Any]:
        def function(x: Any) -> Any:
            parts = _parts([x], [np.asarray(start(x.dtype), x.dtype)], **_windows(params))
            return functools.reduce(combine, (part for (part,) in parts))

        return function

    return made


def _windows(params: Mapping[str, Any]) -> dict[str, Any]:
    names = ("window_dimensions", "window_strides", "padding", "base_dilation", "window_dilation")
    return {name: params[name] for name in names if name in params}


def reduced_by(jaxpr: Any, consts: Sequence[Any], **params: Any) -> Callable[..., Any]:
    """Computes reduce_window by a function, also of several arrays."""
    combine = retraced.by_element(jaxpr, consts)

    def function(*operands: Any) -> list[Any]:
        arrays, starts = operands[:len(operands) // 2], operands[len(operands) // 2:]
        found: list[Any] = []
        for parts in _parts(arrays, starts, **_windows(params)):
            found = found or [jnp.broadcast_to(start, parts[0].shape) for start in starts]
            found = combine(*found, *parts)
        return found

    return function


def select_and_scatter(select_jaxpr: Any, select_consts: Sequence[Any], scatter_jaxpr: Any,
                       scatter_consts: Sequence[Any], window_dimensions: Sequence[int],
                       window_strides: Sequence[int], padding: Sequence[Any],
                       **params: Any) -> Callable[..., Any]:
    """Computes the gradient of max pooling: each window selects an element, to which its own
    element of the source is added. Padding is never selected."""
    keeps = retraced.by_element(select_jaxpr, select_consts)
    combine = retraced.by_element(scatter_jaxpr, scatter_consts)

    def function(x: Any, source: Any, start: Any) -> Any:
        has_edges = any(low or high for low, high in padding)
        inside = [jnp.ones_like(x, jnp.int32)] if has_edges else []
        around = [np.zeros((), array.dtype) for array in (x, *inside)]
        best: list[Any] = []
        chosen = jnp.zeros(source.shape, jnp.int32)
        for number, parts in enumerate(_parts([x, *inside], around, window_dimensions,
                                              window_strides, padding)):
            if best:
                (stays,) = keeps(best[0], parts[0])
                if has_edges:
                    stays = (best[1] > 0) & (stays | (parts[1] == 0))
                chosen = jnp.where(stays, chosen, number)
                parts = [jnp.where(stays, *pair) for pair in zip(best, parts, strict=True)]
            best = parts
        extents = [low + extent + high
                   for extent, (low, high) in zip(x.shape, padding, strict=True)]
        found = jnp.broadcast_to(start, extents)
        for number, place in reversed(list(enumerate(places_in(window_dimensions)))):
            edges = [(at, extent - at - (count - 1) * stride - 1, stride - 1)
                     for at, extent, count, stride in zip(place, extents, source.shape,
                                                          window_strides, strict=True)]
            hit = lax.pad((chosen == number).astype(jnp.int32), np.int32(0), edges)
            (more,) = combine(found, lax.pad(source, np.zeros((), source.dtype), edges))
            found = jnp.where(hit > 0, more, found)
        return lax.slice(found, [low for low, _ in padding],
                         [low + extent for extent, (low, _) in zip(x.shape, padding, strict=True)])

    return function


REDUCTIONS: dict[str, Callable[..., Any]] = {
    "reduce_window_sum": reduced(lax.add, lambda dtype: 0),
    "reduce_window_max": reduced(lax.max, lambda dtype: _least(dtype)),
    "reduce_window_min": reduced(lax.min, lambda dtype: -_least(dtype)
                                 if jnp.issubdtype(dtype, np.floating) else jnp.iinfo(dtype).max)}


def _least(dtype: Any) -> Any:
    return -np.inf if jnp.issubdtype(dtype, np.floating) else jnp.iinfo(dtype).min


RULES: dict[str, Rule] = {
    **{name: traced(function) for name, function in REDUCTIONS.items()},
    "reduce_window": traced(reduced_by),
    "select_and_scatter": traced(select_and_scatter),
}
