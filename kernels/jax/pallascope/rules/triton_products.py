"""Products in kernels for Triton, as JAX lowers them for CUDA (_dot_general_lowering in
jax/_src/pallas/triton/lowering.py), and Triton multiplies them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax

from pallascope.problems import NotCaptured
from pallascope.rules import products
from pallascope.walk import Rule, Walk

# The dtypes of the operands and of the sums of algorithms with one product. Those of TF32 are
# computed in f32, as products of f32 are at DEFAULT precision.
_SINGLE: dict[str, tuple[Any, Any]] = {
    "TF32_TF32_F32": (jnp.float32, jnp.float32),
    "F16_F16_F16": (jnp.float16, jnp.float16), "F16_F16_F32": (jnp.float16, jnp.float32),
    "BF16_BF16_BF16": (jnp.bfloat16, jnp.bfloat16), "BF16_BF16_F32": (jnp.bfloat16, jnp.float32)}

# Of those with several: the numbers of the parts of the operands that are multiplied, the smallest
# first. The last product is that of the largest parts.
_LARGEST = [(1, 0), (0, 1), (0, 0)]
_SMALLER = [(2, 0), (0, 2), (1, 1)]
_SEVERAL = {"TF32_TF32_F32_X3": _LARGEST, "BF16_BF16_F32_X3": _LARGEST,
            "BF16_BF16_F32_X6": _SMALLER + _LARGEST,
            "BF16_BF16_F32_X9": [(2, 1), (2, 2), (1, 2), *_SMALLER, *_LARGEST]}


def _is_highest(precision: Any) -> bool:
    parts = precision if isinstance(precision, tuple) else (precision,)
    return all(part == lax.Precision.HIGHEST for part in parts)


def is_full_precision(eqn: Any) -> bool:
    """Returns whether Triton multiplies f32 as they are, which tensor cores do not."""
    precision = eqn.params["precision"]
    is_f32 = np.dtype(eqn.invars[0].aval.dtype) == np.float32
    return getattr(precision, "name", "") == "F32_F32_F32" or (is_f32 and _is_highest(precision))


def _to_tf32(x: Any) -> Any:
    """Rounds to 10 bits of mantissa, ties away from zero, as cvt.rna.tf32 of the PTX ISA does."""
    bits = lax.bitcast_convert_type(x, jnp.uint32)
    return lax.bitcast_convert_type((bits + 0x1000) & jnp.uint32(0xffffe000), jnp.float32)


def _parts(x: Any, count: int, name: str) -> list[Any]:
    """Returns the number rounded, what that leaves of it, rounded, and so on."""
    found = []
    for _ in range(count):
        rounded = _to_tf32(x) if name.startswith("TF32") else x.astype(jnp.bfloat16)
        found.append(rounded)
        x = x - rounded.astype(jnp.float32)
    return found


def _multiplied(name: str, numbers: Any, wanted: Any) -> Callable[..., Any]:
    def dot(x: Any, y: Any, dtype: Any = jnp.float32) -> Any:
        return lax.dot_general(x, y, numbers, preferred_element_type=dtype)

    def single(x: Any, y: Any) -> Any:
        operand, total = _SINGLE[name]
        return dot(x.astype(operand), y.astype(operand), total).astype(wanted)

    def several(x: Any, y: Any) -> Any:
        pairs = _SEVERAL[name]
        count = 1 + max(max(pair) for pair in pairs)
        left, right = (_parts(z.astype(jnp.float32), count, name) for z in (x, y))
        total: Any = None
        for i, j in pairs[:-1]:
            product = dot(left[i], right[j])
            total = product if total is None else total + product
        total = jnp.where(jnp.isnan(total), 0, total)  # as 0 * inf
        return (total + dot(left[0], right[0])).astype(wanted)

    return single if name in _SINGLE else several


def _dot_general(walk: Walk, eqn: Any, operands: list[int]) -> list[int]:
    precision = eqn.params["precision"]
    numbers, wanted = eqn.params["dimension_numbers"], eqn.outvars[0].aval.dtype
    name = "" if isinstance(precision, lax.Precision) else getattr(precision, "name", "")
    if name in ("", "DEFAULT", "F32_F32_F32") or precision is None:
        mixed = isinstance(precision, tuple) and lax.Precision.HIGHEST in precision
        if not mixed or _is_highest(precision) or isinstance(precision, lax.DotAlgorithm):
            return products.dot_general(walk, eqn, operands)
        return walk.trace(lambda x, y: lax.dot_general(  # one operand at TF32 is both at TF32
            x, y, numbers, preferred_element_type=wanted), operands)
    if name not in _SINGLE and name not in _SEVERAL:
        names = ", ".join(sorted([*_SINGLE, *_SEVERAL, "F32_F32_F32"]))
        raise NotCaptured(f"dot_general with precision {name}: use DEFAULT, HIGH, HIGHEST or one "
                          f"of {names}")
    return walk.trace(_multiplied(name, numbers, wanted), operands)


RULES: dict[str, Rule] = {"dot_general": _dot_general}
