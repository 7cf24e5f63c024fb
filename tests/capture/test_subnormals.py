"""Floats below the smallest normal f32: they are 0 where XLA computes, and kept where it moves
bits."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax
from support import call, check, like, pl, pltpu

TINY = np.float32(2.0**-126)
SIDE = 16
NUMBERS = np.array([1e-45, -1e-45, 1e-40, -1e-40, 5.9e-39, -1.1754942e-38, 0.0, -0.0, TINY, -TINY,
                    1.5 * TINY, -2e-38, 1, -1, 3, 5], np.float32)
FIRST, SECOND = np.repeat(NUMBERS, SIDE), np.tile(NUMBERS, SIDE)
ORACLES = [True, pltpu.InterpretParams()]


def to(dtype: Any) -> Any:
    return lambda x: x.astype(dtype)


EXACT = {
    "moves": lambda x: jnp.where(x > 0, jnp.roll(x, 3), x.reshape(SIDE, SIDE).T.reshape(-1)),
    "signs": lambda x: jnp.stack([-x, jnp.abs(x), lax.sign(x), jnp.isfinite(x).astype(x.dtype)]),
    "whole": lambda x: jnp.stack([lax.floor(x), lax.ceil(x), jnp.round(x)]),
    "powers": lambda x: jnp.stack([x * x, lax.integer_pow(x, 3), lax.integer_pow(x, -1), 1 / x,
                                   lax.sqrt(x), lax.square(x)]),
    "int32": to(jnp.int32), "bool": to(bool), "bf16": to(jnp.bfloat16), "f16": to(jnp.float16),
    "f8": to(jnp.float8_e5m2),
    "cumulative": lambda x: jnp.stack([lax.cumprod(x), lax.cummax(x), lax.cummin(x)]),
    "reductions": lambda x: jnp.stack([r(x.reshape(SIDE, SIDE)[i:15, :15], 0) for i in (0, 5)
                                       for r in (jnp.max, jnp.min, jnp.sum, jnp.prod)]),
    "places": lambda x: jnp.stack([lax.argmax(x.reshape(SIDE, SIDE), 0, np.int32),
                                   lax.argmin(x.reshape(SIDE, SIDE), 0, np.int32)])}
ROUNDED = {name: getattr(lax, name) for name in (
    "exp", "exp2", "expm1", "log", "log1p", "tanh", "logistic", "rsqrt", "sin", "cos", "tan",
    "erf")} | {
    "cumsum": lambda x: lax.cumsum(jnp.abs(x)),
    "product": lambda x: jnp.dot(jnp.abs(x.reshape(14, 8)), jnp.abs(x.reshape(8, 14)),
                                 preferred_element_type=jnp.float32)}
PAIRS = {
    "arithmetic": lambda x, y: jnp.stack([x + y, x - y, x * y, x / y]),
    "extremes": lambda x, y: jnp.stack([lax.max(x, y), lax.min(x, y), lax.clamp(x, y, -x)]),
    "remainder": lax.rem,
    "neighbours": lax.nextafter,
    "comparisons": lambda x, y: jnp.stack([f(x, y) for f in (lax.eq, lax.ne, lax.lt, lax.le,
                                                             lax.gt, lax.ge)]).astype(jnp.int32)}


def finite(value: Any) -> Any:
    """Replaces infinities and NaN, which would be findings of the run."""
    if value.dtype != np.float32:
        return value
    return jnp.where(jnp.isnan(value), 77.0, jnp.clip(value, -1e38, 1e38))


def kernel_of(f: Any) -> Any:
    def fn(*arrays: Any) -> Any:
        def body(*refs: Any) -> None:
            refs[-1][...] = finite(f(*[ref[...] for ref in refs[:-1]]))

        return call(body, out_shape=jax.eval_shape(f, *arrays))(*arrays)

    return fn


@pytest.mark.parametrize("oracle", ORACLES, ids=["interpret", "tpu_interpret"])
@pytest.mark.parametrize("f", EXACT.values(), ids=EXACT)
def test_one_operand(f: Any, oracle: Any) -> None:
    check(kernel_of(f), FIRST, oracle=oracle, ulps=0)


@pytest.mark.parametrize("f", ROUNDED.values(), ids=ROUNDED)
def test_what_no_float_holds_is_next_to_0_too(f: Any) -> None:
    values = np.concatenate([NUMBERS, np.linspace(-150, -80, 96, dtype=np.float32)])
    check(kernel_of(f), values, ulps=0 if f is lax.log1p else 90 if f is lax.exp2 else 6)


@pytest.mark.parametrize("oracle", ORACLES, ids=["interpret", "tpu_interpret"])
@pytest.mark.parametrize("f", PAIRS.values(), ids=PAIRS)
def test_two_operands(f: Any, oracle: Any) -> None:
    check(kernel_of(f), FIRST, SECOND, oracle=oracle, ulps=0)


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_remainders_may_be_subnormal(dtype: str) -> None:
    """This holds however often the divisor fits into the number."""
    x = np.array([1, -1, 3, 2e-38, 1e30, 1e-40, 5]).astype(jnp.dtype(dtype))
    check(kernel_of(lax.rem), x, np.full(7, 1.2e-38).astype(jnp.dtype(dtype)), ulps=0)


@pytest.mark.parametrize("dtype", ["bfloat16", "float16", "float8_e5m2", "float8_e4m3fn"])
def test_narrow_floats_are_computed_with_as_f32(dtype: str) -> None:
    """Subnormals of bf16 are subnormals of f32; those of the other dtypes are not."""
    bits = 16 if dtype in ("bfloat16", "float16") else 8
    codes = np.concatenate([np.arange(40), 2 ** np.arange(bits), 5 * 2 ** np.arange(bits - 2)])
    x = codes.astype(f"uint{bits}").view(jnp.dtype(dtype))

    def f(x: Any) -> Any:
        half, zero = jnp.asarray(0.5, x.dtype), jnp.zeros_like(x)
        results = (x, x + x, x * half, jnp.maximum(x, zero), -x, jnp.where(x > 0, half, zero))
        return jnp.stack([y.astype(jnp.float32) for y in results])

    if dtype.startswith("float8"):
        check(kernel_of(lambda x: x.astype(jnp.float32)), x, ulps=0)
    else:
        check(kernel_of(f), x, ulps=0)


def test_scalars_are_flushed_as_arrays_are() -> None:
    def body(x_ref: Any, o_ref: Any) -> None:
        a, b = x_ref[2], x_ref[8]
        o_ref[0], o_ref[1], o_ref[2] = a, a + a, a * b
        o_ref[3] = jnp.where(a == 0, a, b)
        o_ref[4] = jnp.where(a.astype(bool), b, -a)
        o_ref[5] = b * 0.5 + b
        o_ref[6] = jnp.maximum(a, 0.0)
        o_ref[7] = lax.cond(a > 0, lambda: b, lambda: a)

    def fn(x: Any) -> Any:
        smem = pltpu.MemorySpace.SMEM
        spec = [pl.BlockSpec(memory_space=smem)]
        return call(body, out_shape=like(8), in_specs=spec, out_specs=spec[0])(x)

    check(fn, NUMBERS, ulps=0)


def test_large_arrays_are_flushed_on_every_thread() -> None:
    x = np.tile(NUMBERS[:8], 1 << 16).reshape(512, -1)

    def f(x: Any) -> Any:
        return jnp.maximum(x * 1.5, x + x) - jnp.minimum(x, x * 0.5)

    check(kernel_of(f), x, ulps=0)
    check(kernel_of(lambda x: jnp.dot(x * 2.0**100, x.T)), x[:, :512], ulps=0)


def test_around_kernels_it_is_the_same() -> None:
    def fn(x: Any) -> Any:
        y = kernel_of(lambda x: x)(x)
        order = jnp.argsort(y)
        return (y[order], jnp.sort(y), y + y, jnp.zeros(4, y.dtype).at[jnp.arange(16) % 4].add(y),
                jnp.zeros(4, y.dtype).at[jnp.arange(16) % 4].max(y), y != 0)

    check(fn, NUMBERS, ulps=0)
