"""Functions of numbers that the format lacks, made of those that it has. They are computed in
float32.

Formulas: OpenXLA's decompositions (xla/mlir_hlo chlo_legalize_to_hlo), where the logarithm of the
gamma function and its gradient use Lanczos' sum; erfc and bessel_i1e are those of the Cephes
library (ndtrf.c and i1f.c, S. Moshier).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax
from jax._src.lax import special

from pallascope.jax_compat import versions
from pallascope.rules.retraced import traced
from pallascope.walk import Rule

_HALF = np.float32(np.log(0.5))
_LARGE = np.float32(np.sqrt(np.finfo(np.float32).max))

# Coefficients of powers of 1 / x^2, for x from 1 to 2 and beyond 2.
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


_LANCZOS = 7.0
_LANCZOS_TERMS = (676.520368121885098567009, -1259.13921672240287047156, 771.3234287776530788486528,
                  -176.615029162140599065846, 12.507343278686904814458936,
                  -0.13857109526572011689554707, 9.984369578019570859563e-6,
                  1.50563273514931155834e-7)


def _lanczos(z: Any) -> tuple[Any, Any, Any]:
    """Returns Lanczos' sum at z + 1, its gradient, and the logarithm of z + 7.5."""
    total, gradient = jnp.full_like(z, 0.99999999999980993), jnp.zeros_like(z)
    for number, term in enumerate(_LANCZOS_TERMS, 1):
        total = total + np.float32(term) / (z + number)
        gradient = gradient - np.float32(term) / ((z + number) * (z + number))
    shift = np.float32(_LANCZOS + 0.5)
    return total, gradient, jnp.log1p(z / shift) + np.log(shift)


def _lgamma(x: Any) -> Any:
    mirrored = x < 0.5
    z = jnp.where(mirrored, -x, x - 1)
    total, _, log = _lanczos(z)
    found = np.float32(np.log(2 * np.pi) / 2) + (
        z + 0.5 - (z + np.float32(_LANCZOS + 0.5)) / log) * log + jnp.log(total)
    part = jnp.abs(x) - jnp.floor(jnp.abs(x))
    sine = jnp.log(jnp.sin(np.float32(np.pi) * jnp.minimum(part, 1 - part)))
    other = jnp.where(jnp.isfinite(sine), np.float32(np.log(np.pi)) - sine - found, -sine)
    return jnp.where(jnp.isinf(x), np.float32(np.inf), jnp.where(mirrored, other, found))


def _digamma(x: Any) -> Any:
    mirrored = x < 0.5
    z = jnp.where(mirrored, -x, x - 1)
    total, gradient, log = _lanczos(z)
    found = log + gradient / total - np.float32(_LANCZOS) / (z + np.float32(_LANCZOS + 0.5))
    angle = np.float32(np.pi) * (x + jnp.abs(jnp.floor(x + 0.5)))
    other = found - np.float32(np.pi) * jnp.cos(angle) / jnp.sin(angle)
    is_pole = (x <= 0) & (x == jnp.floor(x))
    at_pole = jnp.where(x == 0, np.float32(versions.DIGAMMA_OF_0), np.float32(np.nan))
    return jnp.where(is_pole, at_pole, jnp.where(mirrored, other, found))


_OWN_LGAMMA = getattr(special, "lgamma_impl", None)  # from JAX 0.12 on

# Coefficients in x / 2 - 2 up to 8, and in 32 / x - 2 beyond.
_I1E = ((9.38153738649577178388e-9, -4.44505912879632808065e-8, 2.00329475355213526229e-7,
         -8.56872026469545474066e-7, 3.47025130813767847674e-6, -1.32731636560394358279e-5,
         4.78156510755005422638e-5, -1.61760815825896745588e-4, 5.12285956168575772895e-4,
         -1.51357245063125314899e-3, 4.15642294431288815669e-3, -1.05640848946261981558e-2,
         2.47264490306265168283e-2, -5.29459812080949914269e-2, 1.02643658689847095384e-1,
         -1.76416518357834055153e-1, 2.52587186443633654823e-1),
        (-3.83538038596423702205e-9, -2.63146884688951950684e-8, -2.51223623787020892529e-7,
         -3.88256480887769039346e-6, -1.10588938762623716291e-4, -9.76109749136146840777e-3,
         7.78576235018280120474e-1))


def _chebyshev(coefficients: tuple[float, ...], x: Any) -> Any:
    """Returns Clenshaw's sum. The last coefficient counts half."""
    last = before = jnp.zeros_like(x)
    found = jnp.full_like(x, coefficients[0])
    for coefficient in coefficients[1:]:
        before, last, found = last, found, x * found - last + np.float32(coefficient)
    return 0.5 * (found - before)


def _bessel_i1e(x: Any) -> Any:
    size = jnp.abs(x)
    near = _chebyshev(_I1E[0], size / 2 - 2) * size
    far = _chebyshev(_I1E[1], 32 / size - 2) / jnp.sqrt(size)
    return jnp.sign(x) * jnp.where(size <= 8, near, far)


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
    "one_minus_square": _one_minus_square, "lgamma": _OWN_LGAMMA or _lgamma, "digamma": _digamma,
    "bessel_i0e": special.bessel_i0e_impl, "bessel_i1e": _bessel_i1e}


def of_numbers(function: Callable[[Any], Any]) -> Callable[..., Any]:
    """Returns the function in the form that `traced` takes: a function of a primitive's parameters,
    which make no difference here."""
    def made(**params: Any) -> Callable[..., Any]:
        return lambda x: function(x.astype(np.float32)).astype(x.dtype)

    return made


def by_jax(name: str) -> Callable[..., Any]:
    """Returns a function that JAX itself lowers as other functions."""
    def made(**params: Any) -> Callable[..., Any]:
        return special._up_and_broadcast(getattr(special, f"{name}_impl"))

    return made


BY_JAX = ("igamma", "igammac", "igamma_grad_a", "random_gamma_grad", "regularized_incomplete_beta")


def _polynomial_of_operands(unroll: int | None = None) -> Callable[..., Any]:
    """Computes by Horner's rule. A long polynomial begins with a product, as in JAX's loop."""
    def function(x: Any, *coefficients: Any) -> Any:
        found = coefficients[-1]
        if len(coefficients) > (8 if unroll is None else unroll):
            found = 0 * x + found
        for coefficient in reversed(coefficients[:-1]):
            found = found * x + coefficient
        return found

    return function


def _log2(**params: Any) -> Callable[..., Any]:
    return lambda x: lax.log(x) * np.asarray(1 / np.log(2), x.dtype)


RULES: dict[str, Rule] = {
    **{name: traced(of_numbers(function)) for name, function in FUNCTIONS.items()},
    **{name: traced(by_jax(name)) for name in BY_JAX},
    "log2": traced(_log2),
    "polynomial": traced(_polynomial_of_operands),
}
