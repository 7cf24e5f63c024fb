"""Operations on windows of arrays, traced as operations on slices: one for each place in a window.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax

from pallascope import functions
from pallascope.problems import NotCaptured

_MOST_PLACES = 1024


def _places(extents: Sequence[int]) -> list[tuple[int, ...]]:
    if math.prod(extents) > _MOST_PLACES:
        raise NotCaptured(f"windows of {math.prod(extents)} elements; {_MOST_PLACES} at most")
    return list(itertools.product(*map(range, extents)))


def _slice(x: Any, place: Sequence[int], counts: Sequence[int], strides: Sequence[int]) -> Any:
    """The element at a place of each window."""
    limits = [at + (count - 1) * stride + 1
              for at, count, stride in zip(place, counts, strides, strict=True)]
    return lax.slice(x, place, limits, strides)


def _parts(arrays: Sequence[Any], around: Sequence[Any], window_dimensions: Sequence[int],
           window_strides: Sequence[int], padding: Sequence[Any],
           base_dilation: Sequence[int] = (), window_dilation: Sequence[int] = ()
           ) -> Iterator[list[Any]]:
    """The elements at a place of each window, for each place: of arrays that are padded with what
    is `around` them."""
    rank = len(window_dimensions)
    steps, spread = tuple(window_dilation) or (1,) * rank, tuple(base_dilation) or (1,) * rank
    edges = [(low, high, dilation - 1)
             for (low, high), dilation in zip(padding, spread, strict=True)]
    wide = [lax.pad(x, number, edges) for x, number in zip(arrays, around, strict=True)]
    counts = [(extent - (size - 1) * step - 1) // stride + 1 for extent, size, stride, step
              in zip(wide[0].shape, window_dimensions, window_strides, steps, strict=True)]
    for place in _places(window_dimensions):
        at = [p * step for p, step in zip(place, steps, strict=True)]
        yield [_slice(x, at, counts, window_strides) for x in wide]


def reduced(combine: Callable[[Any, Any], Any], start: Callable[[Any], Any]) -> Callable[..., Any]:
    """reduce_window_max and its like; `start` yields what is around the array, by dtype."""
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
    """reduce_window by a function of its own, of several arrays too."""
    combine = functions.by_element(jaxpr, consts)

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
    """Each window selects an element, to which its own element of the source is added: the slope of
    max pooling. What is around the array is not selected."""
    keeps = functions.by_element(select_jaxpr, select_consts)
    combine = functions.by_element(scatter_jaxpr, scatter_consts)

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
        for number, place in reversed(list(enumerate(_places(window_dimensions)))):
            edges = [(at, extent - at - (count - 1) * stride - 1, stride - 1)
                     for at, extent, count, stride in zip(place, extents, source.shape,
                                                          window_strides, strict=True)]
            hit = lax.pad((chosen == number).astype(jnp.int32), np.int32(0), edges)
            (more,) = combine(found, lax.pad(source, np.zeros((), source.dtype), edges))
            found = jnp.where(hit > 0, more, found)
        return lax.slice(found, [low for low, _ in padding],
                         [low + extent for extent, (low, _) in zip(x.shape, padding, strict=True)])

    return function


def convolution(window_strides: Sequence[int], padding: Sequence[Any],
                lhs_dilation: Sequence[int], rhs_dilation: Sequence[int], dimension_numbers: Any,
                feature_group_count: int, batch_group_count: int, precision: Any = None,
                preferred_element_type: Any = None, **params: Any) -> Callable[..., Any]:
    """A product with the weights of each place in the window, added up. Groups of features one by
    one, but those of one feature each by element; groups of the batch at once."""
    edges = [(0, 0, 0), (0, 0, 0)] + [
        (low, high, dilation - 1)
        for (low, high), dilation in zip(padding, lhs_dilation, strict=True)]

    def function(lhs: Any, rhs: Any) -> Any:
        x = jnp.transpose(lhs, dimension_numbers.lhs_spec)  # batch, features, places
        w = jnp.transpose(rhs, dimension_numbers.rhs_spec)  # out features, in features, places
        dtype = preferred_element_type or jnp.result_type(x, w)
        wide = jnp.float32 if jnp.issubdtype(dtype, np.floating) else jnp.int32
        x = lax.pad(x, np.zeros((), x.dtype), edges)
        sizes = w.shape[2:]
        counts = [(extent - (size - 1) * dilation - 1) // stride + 1
                  for extent, size, stride, dilation in zip(
                      x.shape[2:], sizes, window_strides, rhs_dilation, strict=True)]
        groups = feature_group_count
        features, outs = x.shape[1] // groups, w.shape[0] // groups
        total = None
        for place in _places(sizes):
            at = [p * dilation for p, dilation in zip(place, rhs_dilation, strict=True)]
            part = _slice(x, [0, 0, *at], [*x.shape[:2], *counts], [1, 1, *window_strides])
            here = w[(slice(None), slice(None), *place)]
            if batch_group_count > 1:
                found = _by_batch_group(part, here, batch_group_count, precision, wide)
            elif features == 1 and outs == 1:
                ones = (1,) * len(counts)
                found = part.astype(wide) * here.reshape(1, groups, *ones).astype(wide)
            else:
                found = jnp.concatenate([jnp.moveaxis(lax.dot_general(
                    part[:, g * features:][:, :features], here[g * outs:][:outs],
                    (((1,), (1,)), ((), ())), precision=precision, preferred_element_type=wide),
                    -1, 1) for g in range(groups)], axis=1)
            total = found if total is None else total + found
        back = np.argsort(dimension_numbers.out_spec)
        return jnp.transpose(total.astype(dtype), back)

    return function


def _by_batch_group(part: Any, weights: Any, groups: int, precision: Any, dtype: Any) -> Any:
    """Each group of the batch has weights of its own, whose results follow one another."""
    x = part.reshape(groups, -1, *part.shape[1:])
    found = lax.dot_general(x, weights.reshape(groups, -1, weights.shape[1]),
                            (((2,), (2,)), ((0,), (0,))), precision=precision,
                            preferred_element_type=dtype)
    found = jnp.moveaxis(jnp.moveaxis(found, -1, 1), 2, 0)  # batch, groups, features, places
    return found.reshape(found.shape[0], -1, *found.shape[3:])


def added_convolution(dimension_numbers: Any, window_reversal: Any = None,
                      preferred_element_type: Any = None, **params: Any) -> Callable[..., Any]:
    """pltpu.conv: may turn its windows round and add to a third operand, rounding once."""
    spatial = dimension_numbers.rhs_spec[2:]
    turned = [axis for axis, turns in zip(spatial, window_reversal or [False] * len(spatial),
                                          strict=True) if turns]

    def function(lhs: Any, rhs: Any, *start: Any) -> Any:
        dtype = start[0].dtype if start else preferred_element_type or lhs.dtype
        wide = jnp.float32 if jnp.issubdtype(dtype, np.floating) else jnp.int32
        found = convolution(dimension_numbers=dimension_numbers, preferred_element_type=wide,
                            **params)(lhs, lax.rev(rhs, turned) if turned else rhs)
        return (start[0].astype(wide) + found if start else found).astype(dtype)

    return function


REDUCTIONS: dict[str, Callable[..., Any]] = {
    "reduce_window_sum": reduced(lax.add, lambda dtype: 0),
    "reduce_window_max": reduced(lax.max, lambda dtype: _least(dtype)),
    "reduce_window_min": reduced(lax.min, lambda dtype: -_least(dtype)
                                 if jnp.issubdtype(dtype, np.floating) else jnp.iinfo(dtype).max)}


def _least(dtype: Any) -> Any:
    return -np.inf if jnp.issubdtype(dtype, np.floating) else jnp.iinfo(dtype).min
