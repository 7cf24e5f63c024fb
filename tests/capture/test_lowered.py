"""Operations around kernels that JAX itself lowers as functions of others, or as nothing."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax
from jax.experimental import io_callback, sparse
from jax.experimental.custom_partitioning import custom_partitioning
from jax.extend.core import Primitive
from jax.interpreters import mlir
from support import call, check, interpreted, like, normal, pallascope

X = normal(16, 128)


def doubled_kernel(x_ref, o_ref):
    o_ref[...] = x_ref[...] * 2


def doubled(x):
    return call(doubled_kernel, out_shape=like(*x.shape, dtype=x.dtype))(x)


def pooled(x, start, combine, sizes=(3, 3), strides=(2, 2), padding="SAME"):
    return lax.reduce_window(x, start, combine, sizes, strides, padding)


MOST = functools.partial(pooled, start=-jnp.inf, combine=lax.max)


def gradient(pool):
    """Returns the gradient of what the pool reads, weighted so that each window adds another
    number."""
    return jax.grad(lambda x: jnp.sum(pool(x) * jnp.cos(jnp.arange(pool(x).size, dtype=x.dtype)
                                                        .reshape(pool(x).shape))))


@pytest.mark.parametrize("sizes, strides, padding", [
    ((2, 2), (2, 2), "VALID"), ((3, 3), (2, 2), "SAME"), ((1, 5), (1, 3), [(0, 0), (2, 3)])])
def test_gradients_of_max_and_min_pooling(sizes, strides, padding):
    windows = {"sizes": sizes, "strides": strides, "padding": padding}
    check(lambda x: gradient(functools.partial(MOST, **windows))(doubled(x)), X, ulps=0)
    least = functools.partial(pooled, start=jnp.inf, combine=lax.min, **windows)
    check(lambda x: gradient(least)(doubled(x)), X, ulps=0)


def test_of_equal_elements_the_first_is_selected():
    ties = np.round(X)
    check(lambda x: gradient(MOST)(doubled(x)), ties, ulps=0)
    check(lambda x: gradient(MOST)(doubled(x)), np.full_like(ties, -np.inf), ulps=0)


def test_directional_gradients_of_pooling():
    check(lambda x: jax.jvp(MOST, (doubled(x),), (x + 1,)), X, ulps=0)


def test_windows_reduced_by_a_function_of_ones_own():
    def product(x):
        return pooled(x, 1.0, lax.mul, (1, 3), (1, 2), "VALID")

    def alternating(x):  # two arrays at once: the largest, and where it is
        def combine(a, b):
            is_first = a[0] >= b[0]
            return jnp.where(is_first, a[0], b[0]), jnp.where(is_first, a[1], b[1])

        places = lax.broadcasted_iota(jnp.int32, x.shape, 1)
        return lax.reduce_window((x, places), (-jnp.inf, np.int32(-1)), combine, (1, 4), (1, 4),
                                 "VALID")

    check(lambda x: (product(doubled(x)), alternating(doubled(x))), X)


def test_operations_that_jax_lowers_as_others():
    def solved(x):
        return lax.linalg.tridiagonal_solve(x[0, :16] / 8, x[1, :16] + 9, x[2, :16] / 8, x[:, :3])

    def factored(x):
        return jax.scipy.linalg.lu_solve(jax.scipy.linalg.lu_factor(x[:6, :6]), x[:6, 7])

    check(lambda x: (solved(doubled(x)), factored(doubled(x))), X, ulps=256, terms=1)


def test_draws_that_reject():
    def drawn(x):
        key = jax.random.key(x[0, 0].astype(jnp.uint32))
        return (jax.random.gamma(key, 2.5, (16,)), jax.random.beta(key, 2.5, 1.5, (16,)),
                jax.random.dirichlet(key, jnp.ones(4), (3,)))

    check(lambda x: drawn(doubled(x)), np.abs(X), ulps=64, terms=1)


def test_sparse_matrices_around_kernels():
    places = np.array([[0, 1], [2, 3], [15, 5], [6, 7], [1, 1]])

    def product(x):
        return sparse.BCOO((x[0, :5], jnp.asarray(places)), shape=(16, 16)) @ x

    def rows(x):
        return sparse.BCSR((x[0, :4], jnp.array([0, 3, 5, 1]), jnp.array([0, 1, 2, 3, 4])),
                           shape=(4, 16)) @ x

    check(lambda x: (product(doubled(x)), rows(doubled(x))), X, terms=4)


def test_a_primitive_of_ones_own():
    def threefold(x):
        return call(doubled_kernel, out_shape=like(*x.shape))(x) + x

    primitive = Primitive("threefold")
    primitive.def_abstract_eval(lambda x: x)
    mlir.register_lowering(primitive, mlir.lower_fun(threefold, multiple_results=False))
    kernel = check(lambda x: primitive.bind(x + 1) * 5, X)
    assert "pipeline" in str(kernel.document["body"])


def test_a_function_with_a_partition_of_its_own():
    @custom_partitioning
    def threefold(x):
        return doubled(x) + x

    threefold.def_partition(partition=None, infer_sharding_from_operands=None,
                            sharding_rule="i j -> i j")
    check(lambda x: threefold(x + 1), X)


def test_python_on_the_host_is_left_out():
    def told(x):
        jax.debug.print("{}", x.sum())
        jax.debug.print("{}", x[0, 0], ordered=True)
        jax.debug.callback(lambda _: None, x)
        io_callback(lambda _: None, None, x)
        return doubled(x)

    with interpreted(False):
        kernel = pallascope.capture(told, like(16, 128))
    assert kernel.document["lowering"] == {"accepted": "yes"}
    check(told, X)


def test_arrays_that_begin_with_anything():
    def filled(x):
        return lax.fori_loop(0, 16, lambda i, y: y.at[i].set(x[15 - i]),
                             lax.empty(x.shape, x.dtype))

    check(lambda x: jax.vmap(filled)(jnp.stack([doubled(x), x])), X)
    check(lambda x: lax.map(filled, jnp.stack([doubled(x), x])), X)
