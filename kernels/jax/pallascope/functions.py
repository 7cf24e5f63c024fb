"""Functions of numbers that the format lacks, by those that it has. They are computed in float32.

Formulas: OpenXLA's decompositions (xla/mlir_hlo chlo_legalize_to_hlo); erfc is that of the Cephes
library (ndtrf.c, S. Moshier).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax

_HALF = np.float32(np.log(0.5))
_LARGE = np.float32(np.sqrt(np.finfo(np.float32).max))

# Of 1 / x^2, for x from 1 to 2 and beyond.
_ERFC = ((2.326819970068386e-2, -1.387039388740657e-1, 3.687424674597105e-1,
          -5.824733027278666e-1, 6.210004621745983e-1, -4.944515323274145e-1,
          3.404879937665872e-1, -2.741127028184656e-1, 5.638259427386472e-1),
         (-1.047766399936249e+1, 1.297719955372516e+1, -7.495518717768503e+0,
          2.921019019210786e+0, -1.015265279202700e+0, 4.218463358204948e-1,
          -2.820767439740514e-1, 5.641895067754075e-1))


def _polynomial(coefficients: tuple[float, ...], x: Any) -> Any:
    found = jnp.full_like(x, coefficients[0])
    for coefficient in coefficients[1:]:
        found = found * x + np.float32(coefficient)
    return found


def _erfc(x: Any) -> Any:
    size = jnp.maximum(jnp.abs(x), 1)
    power = jnp.exp(-size * size)
    near, far = (_polynomial(coefficients, 1 / (size * size)) for coefficients in _ERFC)
    tail = jnp.where(power == 0, 0, power / size * jnp.where(size < 2, near, far))
    return jnp.where(jnp.abs(x) < 1, 1 - lax.erf(x), jnp.where(x < 0, 2 - tail, tail))


def _sinh(x: Any) -> Any:
    less = jnp.expm1(x)
    return jnp.where(jnp.abs(x) < 1, 0.5 * (less + less / (less + 1)),
                     jnp.exp(x + _HALF) - jnp.exp(_HALF - x))


def _cosh(x: Any) -> Any:
    return jnp.exp(x + _HALF) + jnp.exp(_HALF - x)


def _asinh(x: Any) -> Any:
    size = jnp.abs(x)
    small = jnp.where(size < _LARGE, size, 0)
    near = jnp.log1p(small + small * small / (1 + jnp.sqrt(small * small + 1)))
    found = jnp.where(size < _LARGE, near, jnp.log(size) - _HALF)
    return jnp.where(x == 0, x, jnp.sign(x) * found)


def _acosh(x: Any) -> Any:
    small = jnp.where(x < _LARGE, x, 1)
    found = jnp.where(x < _LARGE, jnp.log(small + jnp.sqrt((small + 1) * (small - 1))),
                      jnp.log(x) - _HALF)
    return jnp.where(x < 1, np.float32(np.nan), found)


def _atanh(x: Any) -> Any:
    return 0.5 * (jnp.log1p(x) - jnp.log1p(-x))


def _asin(x: Any) -> Any:
    return 2 * lax.atan2(x, 1 + jnp.sqrt((1 - x) * (1 + x)))


def _acos(x: Any) -> Any:
    return jnp.where(x == -1, np.float32(np.pi), 2 * lax.atan2(jnp.sqrt((1 - x) * (1 + x)), 1 + x))


def _atan(x: Any) -> Any:
    return lax.atan2(x, jnp.ones_like(x))


def _one_minus_square(x: Any) -> Any:
    return (1 - x) * (1 + x)


FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "erfc": _erfc, "sinh": _sinh, "cosh": _cosh, "asinh": _asinh, "acosh": _acosh,
    "atanh": _atanh, "asin": _asin, "acos": _acos, "atan": _atan,
    "one_minus_square": _one_minus_square}


def of_numbers(function: Callable[[Any], Any]) -> Callable[..., Any]:
    """As `composed` takes it: of a primitive's parameters, which change nothing here."""
    def made(**params: Any) -> Callable[..., Any]:
        return lambda x: function(x.astype(np.float32)).astype(x.dtype)

    return made


def mulhi(**params: Any) -> Callable[..., Any]:
    """The upper half of a product of integers of 32 bits, by halves."""
    def function(a: Any, b: Any) -> Any:
        x, y = (lax.bitcast_convert_type(number, np.uint32) for number in (a, b))
        (low_x, high_x), (low_y, high_y) = ((n & 0xffff, n >> 16) for n in (x, y))
        cross = (low_x * low_y >> 16) + (high_x * low_y & 0xffff) + (low_x * high_y & 0xffff)
        found = high_x * high_y + (high_x * low_y >> 16) + (low_x * high_y >> 16) + (cross >> 16)
        if jnp.issubdtype(a.dtype, np.signedinteger):
            found = found - jnp.where(a < 0, y, 0) - jnp.where(b < 0, x, 0)
        return lax.bitcast_convert_type(found, a.dtype)

    return function


def bitcast(new_dtype: Any) -> Callable[..., Any]:
    """To another width: a last axis has the parts of an element, the lowest bits first."""
    def function(x: Any) -> Any:
        before, after = (8 * np.dtype(dtype).itemsize for dtype in (x.dtype, new_dtype))
        words = lax.bitcast_convert_type(x, f"uint{before}").astype(np.uint32)
        if before > after:
            parts = [words >> shift & (2**after - 1) for shift in range(0, before, after)]
            found = jnp.stack(parts, axis=-1)
        else:
            found = words[..., 0]
            for number in range(1, after // before):
                found = found | words[..., number] << (number * before)
        return lax.bitcast_convert_type(found.astype(f"uint{after}"), new_dtype)

    return function
