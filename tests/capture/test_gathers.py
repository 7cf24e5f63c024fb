"""Gathers of whole rows: what they yield, and that they read only the rows that are taken."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax
from support import call, check, integers, like, normal, operations, pallascope, pltpu, report

X = integers(6, 9, 5)
PLACES = integers(4, 3, least=-12, most=12, seed=1)  # some are outside of every axis
FEW = integers(6, 4, least=-12, most=12, seed=2)

ROWS = {
    "of the first axis": lambda x: x[PLACES],
    "of an axis between": lambda x: x[:, PLACES],
    "of the last axis": lambda x: jnp.take(x, PLACES[0], axis=2),
    "filled": lambda x: jnp.take(x, PLACES, axis=1),
    "clipped": lambda x: jnp.take(x, PLACES, axis=1, mode="clip"),
    "wrapped": lambda x: jnp.take(x, PLACES, axis=0, mode="wrap"),
    "of integers": lambda x: jnp.take(x.astype(jnp.int8), PLACES, axis=1),
    "of unsigned numbers": lambda x: jnp.take(abs(x).astype(jnp.uint8), PLACES, axis=1),
    "of flags": lambda x: jnp.take(x > 0, PLACES, axis=1),
    "filled with another number": lambda x: x.at[:, PLACES].get(mode="fill", fill_value=7),
    "one row": lambda x: x[PLACES[0, 0] + 2 * (x[0, 0, 0] > 0).astype(int)],
    "of each of a batch": lambda x: jax.vmap(lambda a, i: jnp.take(a, i, axis=0))(x, FEW),
    "of the last axis of each of a batch": lambda x: jax.vmap(
        lambda a, i: jnp.take(a, i, axis=1, mode="clip"))(x, FEW),
    "of a batch that is last": lambda x: jax.vmap(
        lambda a, i: jnp.take(a, i, axis=0), in_axes=(2, None), out_axes=1)(x, FEW[0]),
    "windows": lambda x: jax.vmap(
        lambda i: lax.dynamic_slice(x, (0, i, 0), (6, 4, 5)))(PLACES[0]),
    "windows of each of a batch": lambda x: jax.vmap(
        lambda a, i: lax.dynamic_slice(a, (i, 0), (4, 5)))(x, FEW[:, 0]),
    "windows, filled": lambda x: lax.gather(
        x, PLACES[0][:, None], lax.GatherDimensionNumbers((0, 1, 3), (), (1,)), (6, 4, 5),
        mode="fill"),
    "of two axes": lambda x: x[PLACES % 6, PLACES % 9],
    "of axes apart": lambda x: x[PLACES % 6, :, PLACES % 5],
    "along an axis": lambda x: jnp.take_along_axis(x, FEW[:, :, None], axis=1),
    "along an axis of each of a batch": lambda x: jax.vmap(
        lambda a, i: jnp.take_along_axis(a, i[:, None], axis=0))(x, FEW)}


@pytest.mark.parametrize("name", ROWS)
def test_rows(name):
    check(ROWS[name], X, ulps=0)


@pytest.mark.parametrize("name", ["of the first axis", "filled", "of each of a batch", "windows"])
def test_rows_in_a_kernel(name):
    def fn(x):
        out = jax.eval_shape(ROWS[name], x)

        def kernel(x_ref, places_ref, few_ref, o_ref):
            global PLACES, FEW  # what the function closes over becomes an operand of the kernel
            before = PLACES, FEW
            PLACES, FEW = places_ref[...], few_ref[...]
            try:
                o_ref[...] = ROWS[name](x_ref[...])
            finally:
                PLACES, FEW = before

        return call(kernel, out_shape=out)(x, PLACES, FEW)

    check(fn, X, ulps=0)


@pytest.mark.parametrize(("take", "places"), [
    (lambda table, ids: table[ids], 16), (lambda table, ids: jnp.take(table, ids, axis=0), 16),
    (lambda table, ids: table.at[ids].get(mode="clip"), 16)])
def test_an_embedding_reads_the_tiles_of_its_rows(take, places):
    """Each row lies in tiles with 7 others."""
    kernel = pallascope.capture(take, like(131072, 512, dtype=jnp.bfloat16),
                                like(places, dtype=np.int32))
    found = report(kernel, "--values", "needed")
    table = next(row for row in found["traffic"] if row["operand"] == "table")
    assert table["bytes"] == places * 8 * 512 * 2


def test_along_an_axis_is_one_operation_in_a_kernel():
    """JAX's lowering for a TPU makes one dynamic_gather of it, whether it fills in or not."""
    def fn(x, places):
        def kernel(x_ref, places_ref, o_ref):
            o_ref[...] = jnp.take_along_axis(x_ref[...], places_ref[...], axis=1)

        return call(kernel, out_shape=like(*x.shape))(x, places)

    kernel = check(fn, normal(8, 128), integers(8, 128, least=-128, most=128), ulps=0,
                   oracle=pltpu.InterpretParams())
    used = [operation["op"] for operation in operations(kernel.document["body"])]
    assert used.count("gather") == 1
    assert "iota" not in used  # no place in the flat array is computed
