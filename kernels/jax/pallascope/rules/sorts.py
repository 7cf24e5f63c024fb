"""Rules of sorts, of the largest elements, and of comparisons in the order that sorts use."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax

from pallascope.program import Type
from pallascope.rules.renamed import with_params
from pallascope.rules.retraced import traced
from pallascope.types import bits_of
from pallascope.walk import Rule, Walk


def _top_k(k: int, **params: Any) -> Callable[..., Any]:
    """Takes the first elements of a stable sort, the largest first. Floats are ordered by their
    bits: -0 is less than 0, and a NaN is beyond the infinity of its sign."""
    def function(x: Any) -> Any:
        axis = int(params.get("axis", x.ndim - 1)) % x.ndim
        order = x
        if jnp.issubdtype(x.dtype, np.floating):
            width = jnp.finfo(x.dtype).bits
            bits = lax.bitcast_convert_type(x, f"int{width}")
            order = jnp.where(bits < 0, bits ^ (2 ** (width - 1) - 1), bits)
        places = lax.broadcasted_iota(jnp.int32, x.shape, axis)
        _, places, found = lax.sort((~order, places, x), dimension=axis, num_keys=1)
        return (lax.slice_in_dim(found, 0, k, axis=axis),
                lax.slice_in_dim(places, 0, k, axis=axis))

    return function


def _approx_top_k(k: int, reduction_dimension: int, is_max_k: bool,
                  **params: Any) -> Callable[..., Any]:
    """Takes the exact result, as JAX does if it has nothing better, instead of a TPU's result by
    bins."""
    def function(x: Any) -> Any:
        found, places = _top_k(k, axis=reduction_dimension)(x if is_max_k else -x)
        return found if is_max_k else -found, places

    return function


def _total_order(op: str) -> Rule:
    """Returns the rule of lt_to, le_to or eq_to, which compare floats by their bits: -0 comes
    before 0."""
    def rule(walk: Walk, eqn: Any, operands: list[int]) -> list[int]:
        builder, result = walk.builder, walk.type_of(eqn.outvars[0])

        def ordered(value: int) -> int:
            type_ = builder.types[value]
            if "int" in type_.dtype or type_.dtype == "bool":
                return value
            bits = bits_of(type_.dtype)
            whole = Type(f"int{bits}", type_.shape)
            code = builder.one("bitcast_convert_type", [value], whole, {"dtype": whole.dtype})

            def filled(number: int) -> int:
                return builder.broadcast(builder.literal(whole.dtype, number), type_.shape)

            sign = builder.one("shift_right_arithmetic", [code, filled(bits - 1)], whole)
            flip = builder.one("and", [sign, filled(2**(bits - 1) - 1)], whole)
            return builder.one("xor", [code, flip], whole)

        values = [ordered(builder.broadcast(value, result.shape)) for value in operands]
        return [builder.one(op, values, result)]

    return rule


RULES: dict[str, Rule] = {
    "sort": with_params(lambda params: {"axis": int(params["dimension"]),
                                        "keys": int(params["num_keys"])}),
    "top_k": traced(_top_k),
    "approx_top_k": traced(_approx_top_k),
    "lt_to": _total_order("lt"),
    "le_to": _total_order("le"),
    "eq_to": _total_order("eq"),
}
