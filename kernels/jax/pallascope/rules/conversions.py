"""Rules of the primitives that convert elements to another dtype, or round them to fewer bits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from pallascope import types
from pallascope.program import Type
from pallascope.rules.renamed import same_name
from pallascope.rules.retraced import traced
from pallascope.walk import Rule, Walk


def _convert_element_type(walk: Walk, eqn: Any, operands: list[int]) -> list[int]:
    return [walk.builder.convert(operands[0], types.dtype_of(eqn.params["new_dtype"]))]


def _to_dtype(parameter: str) -> Rule:
    def rule(walk: Walk, eqn: Any, operands: list[int]) -> list[int]:
        return same_name(walk, eqn, operands, {"dtype": types.dtype_of(eqn.params[parameter])})

    return rule


def _unpack(walk: Walk, eqn: Any, operands: list[int]) -> list[int]:
    return same_name(walk, eqn, operands,
                     {"index": int(eqn.params["index"]),
                      "packed": types.dtype_of(eqn.params["packed_dtype"]),
                      "unpacked": types.dtype_of(eqn.params["unpacked_dtype"])})


def _reduce_precision(exponent_bits: int, mantissa_bits: int) -> Callable[..., Any]:
    """Rounds to nearest, ties to even, by adding to the bits. Numbers that are too large become
    infinite, and numbers that are too small become 0."""
    def function(x: Any) -> Any:
        own = jnp.finfo(x.dtype)
        if exponent_bits >= own.nexp and mantissa_bits >= own.nmant:
            return x
        if (x.dtype, exponent_bits, mantissa_bits) == (np.float32, 8, 7):
            return x.astype(jnp.bfloat16).astype(x.dtype)
        wide = x.astype(jnp.float32)
        finite = jnp.isfinite(wide)
        bits = lax.bitcast_convert_type(jnp.where(finite, wide, 0), jnp.int32)
        if mantissa_bits < own.nmant:
            drop = 23 - mantissa_bits
            odd = lax.shift_right_logical(bits, drop) & 1
            bits = (bits + (1 << (drop - 1)) - 1 + odd) & ~((1 << drop) - 1)
        found = lax.bitcast_convert_type(bits, jnp.float32)
        if exponent_bits < own.nexp:
            most = 2 ** (exponent_bits - 1) - 1
            sign = jnp.where(bits < 0, np.float32(-1), np.float32(1))
            size = jnp.abs(found)
            found = jnp.where(size >= 2.0 ** (most + 1), sign * np.float32(np.inf), found)
            found = jnp.where(size < 2.0 ** (1 - most), sign * np.float32(0), found)
        return jnp.where(finite, found, wide).astype(x.dtype)

    return function


def _widened(codes: Any) -> Any:
    """Returns the numbers of float8_e8m0fnu. Each is a power of two, whose code is the exponent in
    a float32; code 255 is NaN."""
    number = codes.astype(jnp.int32)
    bits = jnp.where(number == 0, jnp.int32(1 << 22), jnp.where(number == 255, 0, number << 23))
    return jnp.where(number == 255, np.float32(np.nan),
                     lax.bitcast_convert_type(bits, np.float32))


def _narrowed(x: Any) -> Any:
    """Rounds to nearest, ties away from zero. Neither 0 nor negative numbers have a code."""
    wide = x.astype(jnp.float32)
    bits = lax.bitcast_convert_type(jnp.where(jnp.isfinite(wide), wide, 0), jnp.int32)
    below = bits < 1 << 23  # subnormal: becomes 2^-127, or 2^-126 if that is nearer
    code = jnp.where(below, (bits > 1 << 22).astype(jnp.int32), (bits + (1 << 22)) >> 23)
    return jnp.where(bits <= 0, 255, code).astype(jnp.uint8)


def _narrowed_up(x: Any) -> Any:
    """Rounds up, to the largest number at most. Neither 0 nor negative numbers have a code."""
    wide = x.astype(jnp.float32)
    bits = lax.bitcast_convert_type(wide, jnp.int32)
    below = bits < 1 << 23  # subnormal: becomes 2^-127 or 2^-126
    code = jnp.where(below, (bits > 1 << 22).astype(jnp.int32), (bits + (1 << 23) - 1) >> 23)
    return jnp.where((bits <= 0) | jnp.isnan(wide), 255, jnp.minimum(code, 254)).astype(jnp.uint8)


def _through_codes(narrowed: Callable[[Any], Any], otherwise: Rule) -> Rule:
    """Returns the rule of conversions from and to float8_e8m0fnu, and of all others."""
    def rule(walk: Walk, eqn: Any, operands: list[int]) -> list[int]:
        source, target = eqn.invars[0].aval, eqn.params["new_dtype"]
        if not types.is_code(source.dtype) and not types.is_code(target):
            return otherwise(walk, eqn, operands)

        def function(x: Any) -> Any:
            wide = _widened(x) if types.is_code(source.dtype) else x
            return narrowed(wide) if types.is_code(target) else wide.astype(target)

        dtype = np.uint8 if types.is_code(source.dtype) else source.dtype
        return walk.run_here(jax.make_jaxpr(function)(jax.ShapeDtypeStruct(source.shape, dtype)),
                             operands)

    return rule


def _saturated(walk: Walk, eqn: Any, operands: list[int]) -> list[int]:
    """Mosaic GPU converts to floats of 8 bits by cvt.rn.satfinite (FragmentedArray.astype in
    jax/experimental/mosaic/gpu/fragmented_array.py): what is too large becomes the largest."""
    dtype = types.dtype_of(eqn.params["new_dtype"])
    type_ = walk.builder.types[operands[0]]
    if dtype not in ("f8e4m3fn", "f8e5m2") or type_.dtype not in ("f32", "f16", "bf16"):
        return _convert_element_type(walk, eqn, operands)
    return [walk.builder.one("convert_element_type", operands, Type(dtype, type_.shape),
                             {"dtype": dtype, "saturate": True})]


RULES: dict[str, Rule] = {
    "convert_element_type": _through_codes(_narrowed, _convert_element_type),
    "reduce_precision": traced(_reduce_precision),
    "stochastic_round": _to_dtype("target_dtype"),
    "pack_elementwise": _to_dtype("packed_dtype"),
    "unpack_elementwise": _unpack,
}

# Of Mosaic GPU, as the instructions of the chip convert.
OF_MOSAIC_GPU: dict[str, Rule] = {
    "convert_element_type": _through_codes(_narrowed_up, _saturated),
}
