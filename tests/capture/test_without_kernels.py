"""Functions without kernels: what XLA makes of their operations is what runs."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax
from support import check, fusions, integers, normal, operations, report


def attention(q, k, v):
    weights = jax.nn.softmax(jnp.einsum("bqd,bkd->bqk", q, k))
    return jnp.einsum("bqk,bkd->bqd", weights, v)


X = normal(16, 128)
BLOCKS = [normal(2, 16, 128, seed=seed) for seed in range(3)]

FUNCTIONS = {
    "the argument": (lambda x: x, [X], [(1, 1)]),
    "by element": (lambda x: jnp.tanh(x * 2) + 1, [X], [(1, 1)]),
    "a sum": (lambda x: x.sum(), [integers(16, 128)], [(1, 1)]),
    "sums along axes": (lambda x: (x.sum(0), x.sum(1)), [integers(16, 128)], [(1, 1), (1, 1)]),
    "a transpose": (lambda x: x.T, [normal(128, 256)], [(1, 1)]),
    "a product": (lambda x, y: jax.nn.relu(x @ y + 1), [X, normal(128, 256)], [(2, 1)]),
    "softmax": (lambda x: jax.nn.softmax(x), [X], [(1, 1), (2, 2), (2, 1)]),
    "attention": (attention, BLOCKS, [(2, 1), (1, 1), (2, 2), (3, 1)]),
    "a sort": (lambda x: jnp.sort(x + 1, axis=1), [X], [(1, 1), (1, 1)]),
    "rows by number": (lambda x, rows: x[rows] * 2, [X, integers(5, least=0, most=16)], [(2, 1)]),
    "several results": (lambda x: (x + 1, jnp.exp(x + 1), x[:8]), [X], [(1, 2), (1, 1)]),
    "constants": (lambda: jnp.arange(8) * 2, [], [(1, 1)]),
    "an argument that is not used": (lambda x, y: x + 1, [X, X], [(1, 1)]),
    "a loop": (lambda x: lax.fori_loop(0, 5, lambda i, y: y * 0.5 + x, x), [X], [(1, 1)]),
    "a branch": (lambda x: lax.cond(x[0, 0] > 0, lambda x: x + 1, lambda x: x - 1, x), [X],
                 [(1, 0), (1, 1)])}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_without_a_kernel(name):
    fn, args, wanted = FUNCTIONS[name]
    kernel = check(fn, *args, terms=256.0)
    found = [operation["op"] for operation in operations(kernel.document["body"])]
    assert "kernel" not in found
    assert fusions(kernel) == wanted
    assert kernel.document["lowering"] == {"accepted": "yes"}
    assert kernel.document.get("compiler_params", []) == []


def test_a_scalar_of_a_scalar():
    check(lambda x: x * 2 + 1, np.float32(3))


def test_a_gradient():
    def loss(weights, x):
        return ((jnp.tanh(x @ weights) - 1) ** 2).mean()

    check(jax.value_and_grad(loss), normal(128, 64), X, terms=64.0, ulps=64)


def test_what_it_reads_and_writes():
    size = 4 * 16 * 128
    found = report(check(lambda x: jnp.maximum(x * 2, 0) + 1, X))
    assert (found["hbm_read_bytes"], found["hbm_write_bytes"]) == (size, size)
    assert found["time_s"] > 0 and found["findings"] == []
