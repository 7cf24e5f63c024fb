"""Matrices around kernels: decompositions, linear systems, and what is made of them."""

import jax
import jax.numpy as jnp
import jax.scipy.linalg
import numpy as np
import pytest
from support import call, check, like, normal


def through(x):
    """Passes x through a kernel that leaves it unchanged."""
    def kernel(x_ref, o_ref):
        o_ref[...] = x_ref[...]

    return call(kernel, out_shape=like(*x.shape, dtype=x.dtype))(x)


def positive(*shape):
    """Returns symmetric matrices whose eigenvalues are all positive."""
    a = normal(*shape)
    return a @ np.swapaxes(a, -1, -2) + np.eye(shape[-1], dtype=np.float32) * 4


WIDE, MANY = normal(8, 24), positive(2, 3, 16, 16)

OF_MATRICES = {
    "cholesky": (jnp.linalg.cholesky, positive(24, 24)),
    "cholesky, of the upper half": (lambda a: jnp.linalg.cholesky(a, upper=True), positive(8, 8)),
    "cholesky of several": (jnp.linalg.cholesky, MANY),
    "systems by cholesky": (lambda a: jax.scipy.linalg.cho_solve(
        jax.scipy.linalg.cho_factor(a), a + 1), positive(16, 16)),
    "lu": (jax.scipy.linalg.lu_factor, normal(16, 16)),
    "lu of a wide one": (jax.scipy.linalg.lu, WIDE),
    "lu of a high one": (jax.scipy.linalg.lu, WIDE.T),
    "lu of several": (lambda a: jax.vmap(jax.scipy.linalg.lu)(a[0]), MANY),
    "systems": (lambda a: jnp.linalg.solve(a, a.T + 1), positive(16, 16)),
    "a system": (lambda a: jnp.linalg.solve(a, a[0] + 1), positive(16, 16)),
    "inverse": (jnp.linalg.inv, MANY), "determinants": (jnp.linalg.slogdet, MANY),
    "exponential": (jax.scipy.linalg.expm, positive(16, 16) / 64)}


@pytest.mark.parametrize("name", OF_MATRICES)
def test_matrices(name):
    fn, a = OF_MATRICES[name]
    check(lambda a: fn(through(a)), a, ulps=32, terms=200)


def test_what_has_no_such_factor_is_nan():
    """Only the lower half is NaN, all of it, as in JAX."""
    several = np.stack([positive(8, 8), np.diag([1, 2, -3, 4, 5, 6, 7, 8]).astype(np.float32),
                        np.zeros((8, 8), np.float32)])
    check(lambda a: jnp.isnan(jnp.linalg.cholesky(through(a))), several)
