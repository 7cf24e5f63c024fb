"""Operations on windows of arrays, traced as operations on slices: one for each place in a window.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax

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


def reduced(combine: Callable[[Any, Any], Any], start: Callable[[Any], Any]) -> Callable[..., Any]:
    """reduce_window_max and its like; `start` yields what is around the array, by dtype."""
    def made(window_dimensions: Sequence[int], window_strides: Sequence[int],
             padding: Sequence[Any], base_dilation: Sequence[int],
             window_dilation: Sequence[int], **params: Any) -> Callable[..., Any]:
        def function(x: Any) -> Any:
            edges = [(low, high, dilation - 1)
                     for (low, high), dilation in zip(padding, base_dilation, strict=True)]
            wide = lax.pad(x, np.asarray(start(x.dtype), x.dtype), edges)
            counts = [(extent - (size - 1) * dilation - 1) // stride + 1
                      for extent, size, stride, dilation in zip(
                          wide.shape, window_dimensions, window_strides, window_dilation,
                          strict=True)]
            found = None
            for place in _places(window_dimensions):
                at = [p * dilation for p, dilation in zip(place, window_dilation, strict=True)]
                part = _slice(wide, at, counts, window_strides)
                found = part if found is None else combine(found, part)
            return found

        return function

    return made


def convolution(window_strides: Sequence[int], padding: Sequence[Any],
                lhs_dilation: Sequence[int], rhs_dilation: Sequence[int], dimension_numbers: Any,
                feature_group_count: int, batch_group_count: int, precision: Any = None,
                preferred_element_type: Any = None, **params: Any) -> Callable[..., Any]:
    """A product with the weights of each place in the window, added up. Groups one by one, but
    those of one feature each by element."""
    if batch_group_count != 1:
        raise NotCaptured("conv_general_dilated with batch_group_count")
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
            if features == 1 and outs == 1:
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
