"""Operations around kernels, and arrays that kernels need as scalars."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax
from support import (call, check, fusions, integers, like, normal, pallascope, pl, pltpu, report,
                     whole)


def copy_kernel(x_ref, o_ref):
    o_ref[...] = x_ref[...]


def through(x):
    """Passes x through a kernel."""
    return call(copy_kernel, out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype))(x)


def test_constraints_on_where_an_array_lies():
    def fn(x):
        y = pltpu.with_memory_space_constraint(through(x), pltpu.HBM)
        y, z = lax.optimization_barrier((y, x + 1))
        return through(y) + z

    x = integers(16, 128)
    check(fn, x, wanted=2 * x + 1)


ROWS = integers(6, least=-3, most=40)  # some are outside of 32 rows

OPERATIONS = {
    "cumsum": lambda x, rows: jnp.cumsum(x.astype(jnp.int32), axis=1),
    "cumsum backwards": lambda x, rows: lax.cumsum(x.astype(jnp.int32), 0, reverse=True),
    "cummax": lambda x, rows: lax.cummax(x, 1),
    "cumprod": lambda x, rows: lax.cumprod(x.astype(jnp.int32), 0),
    "sort": lambda x, rows: jnp.sort(x, axis=1),
    "argsort": lambda x, rows: jnp.argsort(x, axis=0),
    "flip": lambda x, rows: jnp.flip(x, axis=(0, 1)),
    "prod": lambda x, rows: jnp.prod(x[:, :4], axis=1),
    "rows": lambda x, rows: x[rows],
    "rows, clipped": lambda x, rows: x.at[rows].get(mode="clip"),
    "rows, filled": lambda x, rows: x.at[rows].get(mode="fill", fill_value=7),
    "columns": lambda x, rows: jnp.take(x, rows % 8, axis=1),
    "elements": lambda x, rows: x[rows, rows * 2],
    "blocks": lambda x, rows: jax.vmap(lambda r: lax.dynamic_slice(x, (r, r), (4, 8)))(rows),
    "take_along_axis": lambda x, rows: jnp.take_along_axis(x, rows[None] % 8, axis=1),
    "set rows": lambda x, rows: x.at[rows].set(2.0 * x[:6]),
    "add to rows": lambda x, rows: x.at[rows % 3].add(jnp.round(x[6:12])),
    "max of elements": lambda x, rows: x.at[rows, 3].max(x[:6, 0]),
    "scale columns": lambda x, rows: x.at[:, jnp.arange(0, 6)].multiply(2.0),
    "set blocks": lambda x, rows: lax.dynamic_update_slice(x, x[:4, :8], (rows[0], rows[1])),
    "repeat": lambda x, rows: jnp.repeat(x[:6], rows % 4, axis=0, total_repeat_length=10),
    "histogram": lambda x, rows: (x, jnp.histogram(rows, bins=5, range=(0, 30))[0]),
    "searchsorted": lambda x, rows: (x, jnp.searchsorted(jnp.cumsum(rows % 5), rows)),
    "searchsorted of floats": lambda x, rows: jnp.searchsorted(jnp.sort(x[0]), x[1]),
    "scan": lambda x, rows: lax.scan(lambda c, r: (c + r, c * r), x[0], x[1:]),
    "scan in reverse": lambda x, rows: lax.scan(
        lambda c, r: (c + r[0], (c, r[1])), x[0], (x[1:], rows[0] + jnp.arange(31)), reverse=True),
    "map": lambda x, rows: lax.map(lambda r: r.sum(), x),
    "loop": lambda x, rows: lax.fori_loop(0, rows[2] % 7, lambda i, c: c + i, x),
    "top_k": lambda x, rows: lax.top_k(x, 5),
    "top_k of integers": lambda x, rows: lax.top_k(x.astype(jnp.int32), 5),
    "approx_max_k": lambda x, rows: lax.approx_max_k(x, 5),
    "approx_min_k": lambda x, rows: lax.approx_min_k(
        x + jnp.arange(32)[:, None] / 64, 4, reduction_dimension=0),
    "nothing joined": lambda x, rows: jnp.concatenate([x[:0], x[3:], x[:3], jnp.zeros((0, 128))]),
    "a column as a row": lambda x, rows: x[:, :1].T + 1,
    "columns by the largest of rows": lambda x, rows: x[:, :32] - x.max(1, keepdims=True).T,
    "a column as a row, picked": lambda x, rows: x[:, :1].T[:, ::-1][:, jnp.array([3, 1])],
    "roll": lambda x, rows: jnp.roll(x, rows[0], axis=0)}


@pytest.mark.parametrize("name", OPERATIONS)
def test_operation_after_a_kernel(name):
    fn = OPERATIONS[name]
    check(lambda x, rows: fn(through(x), rows), np.round(normal(32, 128) * 4), ROWS, ulps=0)


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float16"])
def test_the_largest_are_in_the_order_of_their_bits(dtype):
    """-0 is less than 0, and a NaN of either sign is beyond infinity."""
    x = np.round(normal(16, 128) * 2)
    x[::2, 3:9] = [np.nan, -np.nan, np.inf, -np.inf, -0.0, 0]
    check(lambda x: lax.top_k(through(x), 120), x.astype(jnp.dtype(dtype)), ulps=0)


def test_running_sums_of_exponentials_around_a_kernel():
    check(lambda x: lax.cumlogsumexp(through(x), 1) - lax.cumlogsumexp(x, 0, reverse=True),
          normal(32, 128), terms=200.0)


def with_scalars(scalars, x):
    """Returns x with scalars[0] added to row scalars[1]."""
    def kernel(s_ref, x_ref, o_ref):
        o_ref[...] = x_ref[...]
        o_ref[s_ref[1]] += s_ref[0]

    grid = pltpu.PrefetchScalarGridSpec(num_scalar_prefetch=1, grid=(1,), in_specs=[whole(x)],
                                        out_specs=whole(x))
    return call(kernel, grid_spec=grid, out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype))(
        scalars, x)


def test_scalars_that_are_computed_before_a_kernel():
    check(lambda s, x: with_scalars(jnp.cumsum(s), x), np.array([2, 3], np.int32),
          integers(8, 128))


def test_an_array_as_scalars_and_as_an_array():
    check(lambda s, x: with_scalars(s, x + s[0]), np.array([2, 3], np.int32), integers(8, 128))


def test_one_sum_as_scalars_of_a_kernel():
    check(lambda x: with_scalars(jnp.full(2, x.max(), jnp.int32), x),
          integers(8, 128, least=0, most=8))


def test_a_bound_of_the_grid_that_is_computed():
    def kernel(x_ref, o_ref):
        o_ref[...] = x_ref[...] * 2

    def fn(x, sizes):
        block = pl.BlockSpec((8, 128), lambda i: (i, 0))
        doubled = call(kernel, grid=(sizes.sum(),), in_specs=[block], out_specs=block,
                       out_shape=like(32, 128), input_output_aliases={0: 0})(x)
        return doubled

    check(fn, normal(32, 128), np.array([1, 0, 2], np.int32), oracle=pltpu.InterpretParams())


def test_results_that_no_kernel_makes():
    check(lambda x: (through(x), x, x.sum(), jnp.arange(8), x * 2), integers(8, 128))


def test_the_same_result_twice():
    def fn(x):
        found = through(x)
        return found, found, found.reshape(2, 512)

    check(fn, normal(8, 128))


def test_an_output_that_is_the_array_of_another_kernel_s_result():
    def kernel(x_ref, o_ref):
        o_ref[...] = x_ref[...] + 1

    def fn(x, keep):
        first = through(x)
        block = pl.BlockSpec((8, 128), lambda i: (i, 0))
        second = call(kernel, grid=(1,), in_specs=[block], out_specs=block,
                      out_shape=like(16, 128), input_output_aliases={0: 0})(first)
        return (second, first) if keep else second

    # Rows from 8 on are not visited, so they keep their contents.
    for keep in (False, True):
        check(lambda x, keep=keep: fn(x, keep), normal(16, 128),
              oracle=pltpu.InterpretParams())


@jax.custom_vjp
def by_twice(x):
    return through(x) * 2


by_twice.defvjp(lambda x: (by_twice(x), x), lambda x, g: (through(g) * 2 + x * 0,))


def test_a_kernel_that_the_gradient_runs_again():
    check(jax.grad(lambda x: (jax.checkpoint(by_twice)(x) ** 2).sum()), normal(8, 128))
    check(jax.grad(lambda x: lax.scan(
        jax.checkpoint(lambda x, _: (by_twice(x) * 0.5, None)), x, None, length=2)[0].sum()),
        normal(8, 128))


def test_a_kernel_in_a_function_with_a_rule_for_vmap():
    @jax.custom_batching.custom_vmap
    def twice(x):
        return through(x) * 2

    twice.def_vmap(lambda size, batched, x: (through(x) * 3, True))
    check(lambda x: (twice(x[0]), jax.vmap(twice)(x)), integers(2, 8, 128))


def test_a_kernel_in_a_composite():
    check(lambda x: lax.composite(through, "tests.through")(x), integers(8, 128))


def tables(pallas_rows):
    """Returns tables made only of constants, with the operations that tables of places are made of.
    """
    ends = jnp.array([3, 200, 2**31 - 1], jnp.int32)
    rows = jnp.concatenate([ends[None], ends[None] * 3 - 7])
    places = jnp.where(rows > 5, rows[:, ::-1], rows ^ 6)
    small = jnp.array([200, 7, 100], jnp.int32).astype(jnp.uint8) + jnp.uint8(100)
    flags = ~(places.T <= 0) & (jnp.minimum(places, 9).T != 3)
    return (pallas_rows, places, small.astype(jnp.int8), flags,
            jnp.maximum(places, 1).reshape(3, 2),
            jnp.broadcast_to(ends[:, None], (3, 4))[1:3, ::2],
            places[:, jnp.array([2, 0, -1])], places[jnp.array([[1], [0]]), jnp.array([0, 2])],
            lax.dynamic_slice(places, (1, 2), (1, 2)),  # clamped
            jnp.take_along_axis(places, jnp.array([[0, 2], [1, 1]]), axis=1),
            jnp.full((2, 3), 0.1, jnp.bfloat16))


def test_tables_of_constants_need_no_compiler(monkeypatch):
    fn = lambda x: tables(through(x))  # noqa: E731
    wanted = jax.jit(lambda x: tables(x))(integers(8, 128))

    def refuses(*_, **__):
        raise AssertionError("compiled")

    with monkeypatch.context() as patch:
        patch.setattr("jax._src.compiler.backend_compile_and_load", refuses, raising=False)
        patch.setattr("jax._src.compiler.backend_compile", refuses, raising=False)
        pallascope.capture(fn, integers(8, 128))
    check(fn, integers(8, 128), wanted=wanted)


# ---- branches and loops around kernels ----------------------------------------------------------


def add_one(x):
    def kernel(x_ref, o_ref):
        o_ref[...] = x_ref[...] + 1

    return call(kernel, out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype))(x)


def test_a_branch_with_a_kernel():
    def fn(x, n):
        return lax.cond(n[0] > 1, lambda x: (add_one(x), x.sum()),
                        lambda x: (x * 2, jnp.int32(5)), x)

    for n in (1, 2):
        check(fn, integers(8, 128), np.array([n], np.int32))


def test_a_switch_whose_branches_use_one_array_as_scalars():
    def fn(x, n):
        return lax.switch(n[0], [lambda: with_scalars(n, x), lambda: x,
                                 lambda: with_scalars(n + 1, x)]), with_scalars(n, x)

    for n in (0, 1, 2):
        check(fn, integers(8, 128), np.array([n, 3], np.int32))


def test_a_counted_loop_of_kernels():
    check(lambda x: lax.fori_loop(0, 5, lambda i, x: add_one(x) * i, x), integers(8, 128))


def test_a_loop_of_kernels_that_swaps_what_it_carries():
    def body(i, carry):
        x, y, n = carry
        return add_one(y), x, n + y[0, 0]

    check(lambda x, y: lax.fori_loop(0, 5, body, (x, y, jnp.int32(1))), integers(8, 128),
          integers(8, 128, seed=1))


@pytest.mark.parametrize("reverse", [False, True])
def test_a_scan_of_kernels(reverse):
    def body(carry, row):
        x, n = row
        found = add_one(carry + x) * n
        return found, (found, n + found[0, 0])

    check(lambda x, n: lax.scan(body, x[0], (x, n), reverse=reverse), integers(4, 8, 128),
          np.arange(4, dtype=np.int32))


@pytest.mark.parametrize("enough", [
    lambda x: x.max() < 300, lambda x: jnp.all(x < 300)], ids=["one number", "a reduction"])
def test_loops_side_by_side_end_each_by_itself(enough):
    check(jax.vmap(lambda x: lax.while_loop(enough, lambda x: add_one(x) * 2, x)),
          integers(3, 8, 128, least=1, most=100) // np.array([1, 9, 40])[:, None, None])


def test_a_loop_in_a_kernel_of_one_flag_for_each_row():
    def kernel(x_ref, o_ref):
        o_ref[...] = jax.vmap(lambda row: lax.while_loop(
            lambda row: row.sum() < 5000, lambda row: row * 2, row))(x_ref[...])

    check(lambda x: call(kernel, out_shape=like(8, 128, dtype=np.int32))(x),
          integers(8, 128, least=1, most=100))


def test_a_loop_of_kernels_until_it_is_enough():
    check(lambda x: lax.while_loop(lambda x: x.max() < 300, lambda x: add_one(x) * 2, x),
          integers(8, 128, least=1, most=9))


def test_a_loop_of_kernels_that_update_their_argument():
    def kernel(x_ref, o_ref):
        o_ref[...] = x_ref[...] + 1

    def update(x):
        block = pl.BlockSpec((8, 128), lambda i: (i, 0))
        return call(kernel, grid=(1,), in_specs=[block], out_specs=block,
                    out_shape=like(16, 128, dtype=jnp.int32), input_output_aliases={0: 0})(x)

    def fn(x):
        y = add_one(x)
        return lax.fori_loop(0, 3, lambda i, c: (update(c[0]), c[1] + update(y)[0, 0]),
                             (x, jnp.int32(0)))

    check(fn, integers(16, 128), oracle=pltpu.InterpretParams())


@pytest.mark.parametrize("unit", [False, True])
@pytest.mark.parametrize("left, lower, transposed", [
    (True, True, False), (True, False, False), (True, True, True), (False, True, False),
    (False, False, True)])
def test_systems_of_triangular_matrices(left, lower, transposed, unit):
    def fn(a, b):
        return lax.linalg.triangular_solve(through(a), b, left_side=left, lower=lower,
                                           transpose_a=transposed, unit_diagonal=unit)

    a = np.eye(16, dtype=np.float32) * 4 + np.float32(0.1) * normal(2, 16, 16)
    check(fn, a, normal(2, 16, 8) if left else normal(2, 8, 16), terms=64)


def updated(x):
    """Returns x with 1 added to its first rows, in place."""
    def kernel(x_ref, o_ref):
        o_ref[...] = x_ref[...] + 1

    block = pl.BlockSpec((8, 128), lambda i: (i, 0))
    return call(kernel, grid=(1,), in_specs=[block], out_specs=block,
                out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype), input_output_aliases={0: 0})(x)


def test_an_argument_that_is_updated_twice():
    check(lambda x: updated(updated(x)), integers(16, 128), oracle=pltpu.InterpretParams())


def test_an_argument_that_is_updated_and_used_again():
    check(lambda x: (updated(x), x.sum()), integers(16, 128), oracle=pltpu.InterpretParams())


def test_an_operation_on_arrays_that_do_not_fit():
    """Three arrays take 12 MiB, and each is read and written once. The scalar does not count as an
    array."""
    def fn(x, y, s):
        return jnp.where(x[:1, :1] > 0, s[0] * x + y, x)[::256], through(x[:8])

    x, y = normal(1024, 1024), normal(1024, 1024, seed=1)
    kernel = check(fn, x, y, np.float32([2]), ulps=2)
    assert fusions(kernel) == [(2, 1), (1, 1)]


def test_exponents_that_do_not_fit():
    codes = integers(2048, 1024, least=90, most=160, dtype=np.uint8).view(jnp.float8_e8m0fnu)
    check(lambda x: (x.astype(np.float32)[::256], through(normal(8, 128))), codes, ulps=0)


def test_of_a_large_array_reading_computing_and_writing_overlap():
    kernel = pallascope.capture(lambda x: x + x, like(4096, 1024))
    assert fusions(kernel) == [(1, 1)]
    found = report(kernel, "--values", "needed")
    assert (found["hbm_read_bytes"], found["hbm_write_bytes"]) == (16 << 20, 16 << 20)
    split, busy = found["time_split_s"], found["busy_s"]
    assert busy["VPU"] > 0 and split["fusions"] == pytest.approx(busy["HBM"], rel=1e-6)
    assert split["launches"] + split["fusions"] == pytest.approx(found["time_s"], rel=1e-6)


def test_scalars_that_a_kernel_writes_to_are_as_before_in_the_next():
    def kernel(s_ref, x_ref, o_ref):
        o_ref[...] = x_ref[...] + s_ref[0]
        s_ref[0] += 1

    def called(s, x):
        block = pl.BlockSpec((8, 128), lambda i, s: (i, 0))
        grid = pltpu.PrefetchScalarGridSpec(num_scalar_prefetch=1, grid=(2,), in_specs=[block],
                                            out_specs=block)
        return call(kernel, grid_spec=grid, out_shape=x)(s, x)

    def fn(s, x):
        first = called(s, x)
        rounds = lax.fori_loop(0, 3, lambda i, x: called(jnp.ones(1, jnp.int32), x), first)
        return first, called(s, x), rounds, s

    check(fn, np.array([5], np.int32), integers(16, 128), oracle=pltpu.InterpretParams())
