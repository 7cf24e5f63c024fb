"""Rules of reductions, by an operation of the format or by a function, and of cumulative
operations."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from pallascope import types
from pallascope.rules import retraced
from pallascope.rules.renamed import renamed, same_name, with_params
from pallascope.rules.retraced import traced
from pallascope.walk import Rule, Walk


def _arg_reduction(walk: Walk, eqn: Any, operands: list[int]) -> list[int]:
    (axis,) = eqn.params["axes"]
    return same_name(walk, eqn, operands,
                     {"axis": int(axis), "dtype": types.dtype_of(eqn.params["index_dtype"])})


def _cumlogsumexp(axis: int, reverse: bool) -> Callable[..., Any]:
    return lambda x: lax.associative_scan(jnp.logaddexp, x, reverse=reverse, axis=axis)


def _reduce(jaxpr: Any, dimensions: Sequence[int], consts: Sequence[Any] = (),
            **params: Any) -> Callable[..., Any]:
    """Reduces by a function: neighbours in pairs, until one element is left for each result."""
    combine = retraced.by_element(jaxpr, consts)

    def function(*operands: Any) -> list[Any]:
        arrays, starts = operands[:len(operands) // 2], operands[len(operands) // 2:]
        kept = [axis for axis in range(arrays[0].ndim) if axis not in dimensions]
        shape = [arrays[0].shape[axis] for axis in kept]
        length = math.prod(arrays[0].shape[axis] for axis in dimensions)
        arrays = [jnp.transpose(x, [*dimensions, *kept]).reshape([length, *shape]) for x in arrays]
        while length > 1:
            even = length // 2 * 2
            pairs = combine(*(x[0:even:2] for x in arrays), *(x[1:even:2] for x in arrays))
            arrays = [jnp.concatenate([x, y[even:]]) for x, y in zip(pairs, arrays, strict=True)]
            length = arrays[0].shape[0]
        starts = [jnp.broadcast_to(start, shape) for start in starts]
        return combine(*starts, *(x[0] for x in arrays)) if length else starts

    return function


def _reduce_xor(axes: Sequence[int], **params: Any) -> Callable[..., Any]:
    def function(x: Any) -> Any:
        nothing = np.zeros((), x.dtype)
        (found,) = _reduce(jax.make_jaxpr(lax.bitwise_xor)(nothing, nothing), axes)(x, nothing)
        return found

    return function


RULES: dict[str, Rule] = {
    **dict.fromkeys(["reduce_sum", "reduce_prod", "reduce_max", "reduce_min", "reduce_and",
                     "reduce_or"], renamed(axes="axes")),
    **dict.fromkeys(["argmax", "argmin"], _arg_reduction),
    "reduce": traced(_reduce),
    "reduce_xor": traced(_reduce_xor),
    **dict.fromkeys(["cumsum", "cumprod", "cummax", "cummin"], with_params(
        lambda params: {"axis": int(params["axis"])}
        | ({"reverse": True} if params["reverse"] else {}))),
    "cumlogsumexp": traced(_cumlogsumexp),
}
