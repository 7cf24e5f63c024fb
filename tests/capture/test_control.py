"""Branches, loops and calls inside a kernel."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from support import call, check, integers, like, normal, operations, pl, pltpu, whole

INT = jnp.int32


def with_scalars(kernel, scalars, x, out=(8, 128), dtype=INT, **tolerance):
    """A kernel of one step with int32 scalars in SMEM, one array and one result."""
    def fn(s, x):
        return call(kernel, in_specs=[pl.BlockSpec(memory_space=pltpu.SMEM), whole(x)],
                    out_specs=whole(like(*out)), out_shape=like(*out, dtype=dtype))(s, x)

    return check(fn, np.array(scalars, np.int32), x, **tolerance)


def test_a_counted_loop_over_rows():
    def kernel(s_ref, x_ref, o_ref):
        def body(i, total):
            row = x_ref[i, :]
            o_ref[i, :] = row * i + s_ref[0]
            return total + row

        total = jax.lax.fori_loop(0, 7, body, jnp.zeros((128,), INT))
        o_ref[7, :] = total

    kernel_file = with_scalars(kernel, [5], integers(8, 128))
    assert "scan" in str(kernel_file.document)


def test_a_counted_loop_that_starts_later():
    def kernel(s_ref, x_ref, o_ref):
        o_ref[...] = x_ref[...]

        def body(i, carry):
            o_ref[i, :] = x_ref[i, :] + carry
            return carry + i

        o_ref[0, :] = jnp.zeros((128,), INT) + jax.lax.fori_loop(3, 8, body, s_ref[0])

    with_scalars(kernel, [2], integers(8, 128))


@pytest.mark.parametrize("rounds", [0, 1, 6])
def test_a_loop_whose_end_is_known_at_run_time(rounds):
    def kernel(s_ref, x_ref, o_ref):
        def body(i, total):
            return total + x_ref[i, :] * (i + 1)

        total = jax.lax.fori_loop(0, s_ref[0], body, jnp.zeros((128,), INT))
        o_ref[...] = jnp.broadcast_to(total[None, :], (8, 128))

    with_scalars(kernel, [rounds], integers(8, 128))


def test_a_loop_that_ends_by_a_condition():
    def kernel(s_ref, x_ref, o_ref):
        def going(state):
            i, number = state
            return (number < 1000) & (i < 30)

        def body(state):
            i, number = state
            return i + 1, number * 2 + s_ref[0]

        rounds, number = jax.lax.while_loop(going, body, (jnp.int32(0), jnp.int32(1)))
        o_ref[...] = x_ref[...] * rounds + number

    with_scalars(kernel, [3], integers(8, 128))


def test_a_loop_that_reads_refs_in_its_condition():
    def kernel(s_ref, x_ref, o_ref):
        o_ref[...] = x_ref[...]

        def body(i):
            o_ref[...] += s_ref[i]
            return i + 1

        jax.lax.while_loop(lambda i: s_ref[i] > 0, body, 0)

    with_scalars(kernel, [4, 2, 9, 0, 5], integers(8, 128))


@pytest.mark.parametrize("which", [-1, 0, 1, 2, 5])
def test_a_switch_clamps_its_number(which):
    def kernel(s_ref, x_ref, o_ref):
        branches = [lambda v: v + 1, lambda v: v * 2, lambda v: -v]
        o_ref[...] = jax.lax.switch(s_ref[0], branches, x_ref[...])

    with_scalars(kernel, [which], integers(8, 128))


@pytest.mark.parametrize("flag", [0, 1])
def test_a_branch_that_stores_and_yields(flag):
    def kernel(s_ref, x_ref, o_ref):
        def yes():
            o_ref[0:4] = x_ref[0:4] * 3
            return jnp.int32(10), x_ref[4:8]

        def no():
            o_ref[0:4] = x_ref[4:8]
            return jnp.int32(20), x_ref[0:4]

        number, rows = jax.lax.cond(s_ref[0] == 1, yes, no)
        o_ref[4:8] = rows + number

    with_scalars(kernel, [flag], integers(8, 128))


def test_when_in_when():
    def kernel(s_ref, x_ref, o_ref):
        o_ref[...] = x_ref[...]

        @pl.when(s_ref[0] > 1)
        def _():
            o_ref[0, :] = x_ref[1, :]

            @pl.when(s_ref[1] > 1)
            def _():
                o_ref[2, :] = x_ref[3, :]

        @pl.when(s_ref[0] <= 1)
        def _():
            o_ref[4, :] = x_ref[5, :]

    with_scalars(kernel, [2, 2], integers(8, 128))
    with_scalars(kernel, [1, 2], integers(8, 128))


def test_a_loop_in_a_loop_with_three_carries():
    def kernel(s_ref, x_ref, o_ref):
        def outer(i, state):
            def inner(j, state):
                a, b, rows = state
                return b, a + b + j, rows + x_ref[j, :] * i

            return jax.lax.fori_loop(0, 3, inner, state)

        a, b, rows = jax.lax.fori_loop(0, 4, outer, (s_ref[0], jnp.int32(1), x_ref[0, :]))
        o_ref[...] = jnp.broadcast_to((rows + a * b)[None], (8, 128))

    with_scalars(kernel, [1], integers(8, 128))


def test_a_scan_without_a_counter():
    def kernel(s_ref, x_ref, o_ref):
        def body(carry, _):
            return carry * 3 + s_ref[0], None

        rows, _ = jax.lax.scan(body, x_ref[...], None, length=5)
        o_ref[...] = rows

    with_scalars(kernel, [2], integers(8, 128))


def loops(kernel_file):
    """Returns for each loop its number of rounds, and how many of them are unrolled."""
    return [(operation["params"]["length"], operation["params"].get("unroll"))
            for operation in operations(kernel_file.document["body"]) if operation["op"] == "scan"]


@pytest.mark.parametrize(("unroll", "kept"), [
    (True, 8), (8, 8), (3, 3), (2, 2), (1, None), (False, None)])
def test_how_often_a_loop_is_unrolled_is_in_the_file(unroll, kept):
    def kernel(s_ref, x_ref, o_ref):
        def body(i, rows):
            return rows + x_ref[i, :]

        total = jax.lax.fori_loop(0, 8, body, jnp.zeros((128,), INT), unroll=unroll)
        o_ref[...] = jnp.broadcast_to(total[None], (8, 128))

    assert loops(with_scalars(kernel, [0], integers(8, 128))) == [(8, kept)]


def test_of_a_scan_and_around_kernels_too():
    def rows(x):
        return jax.lax.scan(lambda total, row: (total + row, total), x[0], x, unroll=4)

    def kernel(s_ref, x_ref, o_ref):
        o_ref[...] = rows(x_ref[...])[1]

    assert loops(with_scalars(kernel, [0], integers(8, 128))) == [(8, 4)]
    assert loops(check(rows, integers(8, 128))) == [(8, 4)]


def test_a_loop_of_pallas():
    def kernel(s_ref, x_ref, o_ref):
        @pl.loop(0, 8, step=2)
        def _(i):
            o_ref[i, :] = x_ref[i + 1, :]
            o_ref[i + 1, :] = x_ref[i, :]

    with_scalars(kernel, [0], integers(8, 128))


def test_a_loop_that_counts_down():
    def kernel(s_ref, x_ref, o_ref):
        def body(i, carry):
            o_ref[7 - i, :] = x_ref[i, :] + carry
            return carry - 1

        jax.lax.fori_loop(0, 8, body, 100)

    with_scalars(kernel, [0], integers(8, 128))


def test_functions_with_their_own_derivatives_are_inlined():
    @jax.custom_vjp
    def cube(v):
        return v * v * v

    cube.defvjp(lambda v: (cube(v), v), lambda v, g: (3 * v * v * g,))

    @jax.custom_jvp
    def shift(v):
        return v + 7

    shift.defjvp(lambda primals, tangents: (shift(*primals), tangents[0]))

    def kernel(s_ref, x_ref, o_ref):
        o_ref[...] = shift(cube(x_ref[...]))

    with_scalars(kernel, [0], normal(8, 128), dtype=jnp.float32, ulps=0)


def test_jitted_helpers_are_inlined_each_time():
    @functools.partial(jax.jit, static_argnames="times")
    def repeat(v, w, times):
        for _ in range(times):
            v = v * w + 1
        return v

    def kernel(s_ref, x_ref, o_ref):
        o_ref[0:4] = repeat(x_ref[0:4], 2, times=3)
        o_ref[4:8] = repeat(x_ref[4:8], 2, times=3) + repeat(x_ref[0:4], s_ref[0], times=1)

    with_scalars(kernel, [5], integers(8, 128))


def test_relu_and_softplus_of_jax_nn():
    def kernel(s_ref, x_ref, o_ref):
        o_ref[...] = jax.nn.relu(x_ref[...]) + jax.nn.silu(x_ref[...])

    with_scalars(kernel, [0], normal(8, 128), dtype=jnp.float32, ulps=8)


@pytest.mark.parametrize("batched", [False, True])
def test_axes_of_a_grid_by_their_names(batched):
    def kernel(x_ref, o_ref):
        o_ref[...] = x_ref[...] + jax.lax.axis_index("i") * 10 + jax.lax.axis_index("j")

    def fn(x):
        spec = pl.BlockSpec((8, 128), lambda i, j: (i, j))
        return call(kernel, grid=(("i", 4), ("j", 2)), in_specs=[spec], out_specs=spec,
                    out_shape=like(32, 256, dtype=INT))(x)

    x = integers(32, 256)
    wanted = x + np.repeat(np.arange(4, dtype=np.int32) * 10, 8)[:, None]
    wanted[:, 128:] += 1
    found = check(jax.vmap(fn) if batched else fn, np.stack([x] * 3) if batched else x,
                  wanted=np.stack([wanted] * 3) if batched else wanted)
    assert str(["vmap0"] * batched + ["i", "j"]) in str(found.document)


def test_a_branch_in_a_loop_yields_what_was_made_before_the_loop():
    def kernel(s_ref, x_ref, o_ref):
        twice, row = x_ref[...] * 2, s_ref[0] * 2
        more, after = twice + 1, row + 1

        def body(i, total):
            chosen = jax.lax.cond(i > 0, lambda: twice, lambda: more)
            return total + chosen + x_ref[jax.lax.cond(i > 0, lambda: row, lambda: after), 0]

        o_ref[...] = jax.lax.fori_loop(0, 3, body, jnp.zeros_like(more))

    with_scalars(kernel, [2], normal(8, 128), dtype=jnp.float32)
