"""Settings that users have made in JAX must not change what is captured."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax
from jax._src import config
from support import call, interpreted, like, normal, pallascope, pl, run

X = normal(16, 128)
ROWS = pl.BlockSpec((8, 128), lambda i: (i, 0))


def scaled(x, n):
    def kernel(x_ref, o_ref):
        def turn(i, total):
            return total + x_ref[pl.ds(i, 1), :]

        o_ref[...] = x_ref[...] * lax.fori_loop(0, 3, turn, jnp.zeros((1, 128), jnp.float32))

    out = call(kernel, out_shape=like(16, 128), grid=(2,), in_specs=[ROWS], out_specs=ROWS)(x)
    return lax.fori_loop(0, 3, lambda _, y: y + 0.5, jnp.sort(out * n, axis=1))


def found(fn, *args):
    with interpreted(False):
        return run(pallascope.capture(fn, *args))


def test_numbers_of_64_bits_are_taken_for_those_of_32():
    wanted = found(scaled, X, np.int32(3))
    with config.enable_x64(True):
        for x, n in ((X, 3), (X.astype(np.float64), np.int64(3)), (jnp.asarray(X), np.int32(3))):
            np.testing.assert_array_equal(found(scaled, x, n), wanted)
        assert found(lambda x: (scaled(x, 3), jnp.argmax(x, axis=1)), X)[1].dtype == np.int32
        assert jnp.arange(3).dtype == np.int64  # as it was


def test_whether_jax_takes_a_kernel_is_asked_with_numbers_of_64_bits():
    def fn(x):
        def kernel(x_ref, o_ref):
            @pl.loop(0, 2)
            def _(i):
                o_ref[pl.ds(i * 8, 8)] = x_ref[pl.ds(i * 8, 8)]

        return call(kernel, out_shape=like(16, 128))(x)

    with interpreted(False):
        assert pallascope.capture(fn, X).document["lowering"] == {"accepted": "yes"}
        with config.enable_x64(True):
            assert pallascope.capture(fn, X).document["lowering"]["accepted"] == "no"


@pytest.mark.parametrize("name, value", [
    ("jax_disable_jit", True), ("jax_debug_nans", True), ("jax_numpy_dtype_promotion", "strict"),
    ("jax_numpy_rank_promotion", "raise"), ("jax_default_matmul_precision", "highest"),
    ("jax_enable_checks", True), ("jax_traceback_in_locations_limit", 0)])
def test_settings(name, value):
    wanted = found(scaled, X, np.float32(3))
    before = getattr(jax.config, name)
    jax.config.update(name, value)
    try:
        np.testing.assert_array_equal(found(scaled, X, np.float32(3)), wanted)
    finally:
        jax.config.update(name, before)
