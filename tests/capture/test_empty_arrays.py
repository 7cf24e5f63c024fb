"""Arrays without elements around kernels, which the format lacks: they vanish."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax
from support import check, integers

X = (np.cumsum(integers(8, 128, least=1, most=9), axis=0) / 350).astype(np.float32)


@pytest.mark.parametrize("fn", [lax.cummax, lax.cummin, lax.cumprod])
@pytest.mark.parametrize("axis", [0, 1])
def test_gradients_of_cumulative_operations(fn, axis):
    check(jax.grad(lambda x: fn(x, axis=axis).sum()), X, terms=1000.0)


def test_empty_parts_of_a_split():
    check(lambda x: jnp.split(x, [0, 3])[1:], X)
    check(lambda x: jnp.split(x * 2, [0])[1], X)
    check(lambda x: jnp.concatenate([jnp.split(x, [0, 3])[0], x, x[:0] * 2]), X)


def test_in_loops_too():
    check(lambda x: lax.fori_loop(0, 3, lambda _, c: jnp.concatenate(jnp.split(c + 1, [0, 3])), x),
          X)


def test_what_pads_or_updates_by_nothing():
    check(lambda x: jnp.concatenate([x[8:].T.reshape(0, 128) + 1, x]), X)
    check(lambda x: x + jnp.pad(x[:0], ((3, 5), (0, 0)), constant_values=2.0), X)
    check(lambda x: x + lax.pad(x[:0], x[0, 0], ((3, 5, 0), (0, 0, 0))), X)
    check(lambda x: lax.dynamic_update_slice(x, x[:0], (x[0, 0].astype(jnp.int32), 0)), X)
    check(lambda x: (x + 1).at[jnp.zeros((0,), jnp.int32)].set(x[:0]), X)
