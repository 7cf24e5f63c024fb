"""Rules of convolutions, which become a product for each place in the window."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax

from pallascope.rules.retraced import traced
from pallascope.rules.windows import elements_at, places_in
from pallascope.walk import Rule


def convolution(window_strides: Sequence[int], padding: Sequence[Any],
                lhs_dilation: Sequence[int], rhs_dilation: Sequence[int], dimension_numbers: Any,
                feature_group_count: int, batch_group_count: int, precision: Any = None,
                preferred_element_type: Any = None, **params: Any) -> Callable[..., Any]:
    """Adds up a product with the weights of each place in the window. Groups of features are
    computed one by one, or elementwise if each has only one feature; groups of the batch are
    computed together."""
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
        for place in places_in(sizes):
            at = [p * dilation for p, dilation in zip(place, rhs_dilation, strict=True)]
            part = elements_at(x, [0, 0, *at], [*x.shape[:2], *counts], [1, 1, *window_strides])
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
    """Gives each group of the batch weights of its own. The results of the groups follow each
    other."""
    x = part.reshape(groups, -1, *part.shape[1:])
    found = lax.dot_general(x, weights.reshape(groups, -1, weights.shape[1]),
                            (((2,), (2,)), ((0,), (0,))), precision=precision,
                            preferred_element_type=dtype)
    found = jnp.moveaxis(jnp.moveaxis(found, -1, 1), 2, 0)  # batch, groups, features, places
    return found.reshape(found.shape[0], -1, *found.shape[3:])


def added_convolution(dimension_numbers: Any, window_reversal: Any = None,
                      preferred_element_type: Any = None, **params: Any) -> Callable[..., Any]:
    """Computes pltpu.conv, which may reverse its windows and add to a third operand. It rounds only
    once."""
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


RULES: dict[str, Rule] = {
    "conv_general_dilated": traced(convolution),
    "conv": traced(added_convolution),
}
