"""Operands that kernels are given as copies. Of a column, a kernel has each element in a row of a
tile; everything else has them along the lanes, without padding. What a round of a scan is given is a
slice of an array."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from device_kernels import sharded
from jax.sharding import PartitionSpec as P
from support import (call, check, fusions, integers, like, normal, pallascope, pl, pltpu, report,
                     run)

ROWS, LANES = 512, 128
X, COLUMN, LINE = normal(ROWS, LANES), normal(ROWS, 1, seed=1), normal(ROWS, seed=2)


def blocks(width):
    return pl.BlockSpec((128, width), lambda i: (i, 0))


def scaled(x, column):
    def kernel(x_ref, column_ref, o_ref):
        o_ref[...] = x_ref[...] * column_ref[...]

    return call(kernel, grid=(ROWS // 128,), in_specs=[blocks(LANES), blocks(1)],
                out_specs=blocks(LANES), out_shape=like(ROWS, LANES))(x, column)


def largest(x):
    def kernel(x_ref, o_ref):
        o_ref[...] = jnp.max(x_ref[...], 1, keepdims=True)

    return call(kernel, grid=(ROWS // 128,), in_specs=[blocks(LANES)], out_specs=blocks(1),
                out_shape=like(ROWS, 1))(x)


def twice_in_place(column):
    def kernel(before_ref, o_ref):
        o_ref[...] = before_ref[...] * 2

    return call(kernel, grid=(ROWS // 128,), in_specs=[blocks(1)], out_specs=blocks(1),
                out_shape=like(ROWS, 1), input_output_aliases={0: 0})(column)


@pytest.mark.parametrize(("fn", "operands", "passes"), [
    # Arguments and what operations make are copied for a kernel, once for all kernels.
    (scaled, (X, COLUMN), [(1, 1)]),
    (lambda x, line: scaled(x, line[:, None]), (X, LINE), [(1, 1)]),
    (lambda x, line: scaled(x, jnp.exp(line)[:, None]), (X, LINE), [(1, 1)]),
    (lambda x: scaled(x, x[:, :1]), (X,), [(1, 1)]),
    (lambda x: scaled(x, jnp.max(x, 1, keepdims=True)), (X,), [(1, 1), (1, 1)]),
    (lambda x, column: scaled(scaled(x, column), column), (X, COLUMN), [(1, 1)]),
    (lambda x, row: scaled(x, row.T), (X, normal(1, ROWS)), [(1, 1)]),
    # Constants and what another kernel makes are not.
    (lambda x: scaled(x, jnp.full((ROWS, 1), 2.0)), (X,), []),
    (lambda x: scaled(x, largest(x)), (X,), []),
    (lambda x: scaled(x, largest(x).reshape(4, 128, 1).reshape(ROWS, 1)), (X,), []),
    (lambda x: scaled(x, largest(x) * 2), (X,), [(1, 1)]),
    # Results are copied back, alone or with what reads them.
    (largest, (X,), [(1, 1)]),
    (lambda x: largest(x)[:, 0], (X,), [(1, 1)]),
    (lambda x: jnp.sum(largest(x)[:, 0]), (X,), [(1, 1)]),
    # The copy is updated in place.
    (lambda x, column: scaled(x, twice_in_place(column)), (X, COLUMN), [(1, 1)]),
    (lambda x, line: scaled(x, twice_in_place(line[:, None])) + line[:, None], (X, LINE),
     [(1, 1), (2, 1)]),
])
def test_passes_around_kernels(fn, operands, passes):
    assert fusions(check(fn, *operands, terms=ROWS)) == passes


def test_a_pass_moves_the_padding_on_the_side_of_the_kernel():
    found = report(check(scaled, X, COLUMN))
    padded, compact = 4 * ROWS * LANES, 4 * ROWS
    x = o = 4 * ROWS * LANES
    assert found["hbm_read_bytes"] == x + compact + padded
    assert found["hbm_write_bytes"] == o + padded


def test_loops_carry_columns_as_their_kernels_have_them():
    def fn(x, column):
        return jax.lax.fori_loop(0, 3, lambda _, carried: (
            scaled(*carried), twice_in_place(carried[1])), (x, column))

    # Both before the loop, x where the next round finds it, and the column behind the loop.
    assert fusions(check(fn, X, COLUMN)) == [(1, 1)] * 4


def test_rounds_of_a_scan_take_and_yield_columns_without_padding():
    kernel = check(lambda x, columns: jax.lax.scan(
        lambda carried, column: (scaled(carried, column), largest(carried)), x, columns),
        X, normal(3, ROWS, 1))
    moved = {row["operand"]: row["bytes"] for row in report(kernel)["traffic"]}
    assert moved["columns"] == moved["scan"] == 3 * 4 * ROWS


def through(x, weights):
    def kernel(x_ref, weights_ref, o_ref):
        o_ref[...] = x_ref[...] + weights_ref[...]

    return call(kernel, grid=(ROWS // 128,), in_specs=[blocks(LANES)] * 2, out_specs=blocks(LANES),
                out_shape=like(ROWS, LANES))(x, weights)


@pytest.mark.parametrize("made", [lambda one: one, lambda one: jnp.exp(one),
                                  lambda one: one.reshape(2, -1, LANES).reshape(-1, LANES)])
def test_a_kernel_is_given_a_copy_of_the_slice_of_a_round(made):
    def by_scan(x, weights):
        return jax.lax.scan(lambda x, one: (through(x, made(one)), None), x, weights)[0]

    def by_index(x, weights):
        return jax.lax.fori_loop(
            0, 3, lambda round, x: through(x, made(weights[round])), x)

    x, weights = normal(ROWS, LANES), normal(3, ROWS, LANES, seed=1)
    scanned, indexed = check(by_scan, x, weights, terms=40), pallascope.capture(by_index, x, weights)
    # x before the loop; the weights and the new x in each round
    assert fusions(scanned) == [(1, 1)] * 3
    assert report(scanned)["time_s"] == pytest.approx(report(indexed)["time_s"], rel=0.01)


def test_operations_read_the_slice_of_a_round_where_it_lies():
    kernel = check(lambda x, rows: jax.lax.scan(
        lambda x, row: (scaled(x, jnp.zeros((ROWS, 1)) + 2) + row, None), x, rows),
        X, normal(3, ROWS, LANES))
    moved = {row["operand"]: row["bytes"] for row in report(kernel)["traffic"]}
    assert moved["rows"] == 3 * 4 * ROWS * LANES
    assert fusions(kernel) == [(1, 1), (2, 1), (1, 1)]  # the addition is the second one


def test_devices_have_their_parts_as_kernels_want_them():
    x, column = normal(2 * ROWS, LANES), normal(2 * ROWS, 1, seed=1)
    kernel = pallascope.capture(
        sharded(scaled, pallascope.mesh_of({"x": 2}), (P("x"), P("x")), P("x")), x, column)
    assert fusions(kernel) == []
    np.testing.assert_array_equal(run(kernel)[0], x * column)


def test_prefetched_scalars_are_not_copied():
    def lookup(table_ref, x_ref, o_ref):
        o_ref[...] = x_ref[...] * table_ref[pl.program_id(0), 0].astype(jnp.float32)

    def prefetched(table, x):
        grid_spec = pltpu.PrefetchScalarGridSpec(
            num_scalar_prefetch=1, grid=(4,),
            in_specs=[pl.BlockSpec((128, LANES), lambda i, table: (i, 0))],
            out_specs=pl.BlockSpec((128, LANES), lambda i, table: (i, 0)))
        return call(lookup, grid_spec=grid_spec, out_shape=like(ROWS, LANES))(table, x)

    assert fusions(check(prefetched, integers(4, 1), X)) == []
