"""Copies that one kernel starts and another one waits for: semaphores are passed from kernel to
kernel."""

import jax
import numpy as np
import pytest
from jax import lax
from jax.sharding import PartitionSpec
from support import call, check, like, normal, pallascope, pl, pltpu, run

ANY = pl.BlockSpec(memory_space=pl.ANY)
SEMAPHORE = pl.BlockSpec(memory_space=pltpu.SEMAPHORE)
DMA = pltpu.SemaphoreType.DMA


def start(x, **params):
    def kernel(x_ref, o_ref, sem_ref):
        pltpu.make_async_copy(x_ref, o_ref, sem_ref).start()

    return call(kernel, (like(*x.shape), DMA(())), in_specs=[ANY], out_specs=(ANY, SEMAPHORE),
                **params)(x)


def done(x, out, sem):
    def kernel(x_ref, o_ref, sem_ref, same_ref):
        pltpu.make_async_copy(x_ref, o_ref, sem_ref).wait()

    return call(kernel, like(*out.shape), in_specs=[ANY, ANY, SEMAPHORE], out_specs=ANY,
                input_output_aliases={1: 0})(x, out, sem)


def doubled(x):
    def kernel(x_ref, o_ref):
        o_ref[...] = x_ref[...] * 2

    return call(kernel, like(*x.shape))(x)


def test_a_copy_that_is_started_and_awaited_by_two_kernels():
    x = normal(64, 128)
    kernel = check(lambda x: done(x, *start(x)), x, wanted=x, ulps=0)
    assert "findings" not in kernel.document


def test_kernels_with_a_grid_and_blocks_beside_the_semaphores():
    def begun(x_ref, y_ref, o_ref, twice_ref, sems_ref):
        twice_ref[...] = y_ref[...] * 2

        @pl.when(pl.program_id(0) == 1)
        def _():
            pltpu.make_async_copy(x_ref, o_ref, sems_ref.at[1]).start()

    def fn(x, y):
        rows = pl.BlockSpec((8, 128), lambda i: (i, 0))
        out, twice, sems = call(
            begun, (like(64, 128), like(32, 128), DMA((2,))), grid=(4,), in_specs=[ANY, rows],
            out_specs=(ANY, rows, SEMAPHORE))(x, y)
        ended = call(lambda x_ref, o_ref, sems_ref, same_ref: pltpu.make_async_copy(
            x_ref, o_ref, sems_ref.at[1]).wait(), like(64, 128), in_specs=[ANY, ANY, SEMAPHORE],
            out_specs=ANY, input_output_aliases={1: 0}, grid=(1,))(x, out, sems)
        return ended, twice

    x, y = normal(64, 128), normal(32, 128, seed=1)
    check(fn, x, y, wanted=(x, 2 * y), ulps=0)


def test_in_a_loop():
    x = normal(3, 64, 128)
    check(lambda x: lax.scan(lambda n, row: (n, done(row, *start(row))), 0, x)[1], x, wanted=x,
          ulps=0)


def test_another_kernel_runs_meanwhile():
    x, y = normal(512, 128), normal(64, 128, seed=1)

    def fn(x, y):
        out, sem = start(x)
        twice = doubled(y)
        return done(x, out, sem), twice

    check(fn, x, y, wanted=(x, 2 * y), ulps=0)


def test_a_copy_to_the_next_device():
    def begun(x_ref, o_ref, send_ref, receive_ref):
        right = lax.rem(lax.axis_index("x") + 1, 4)
        pltpu.make_async_remote_copy(x_ref, o_ref, send_ref, receive_ref, device_id=right).start()

    def ended(x_ref, o_ref, send_ref, receive_ref, same_ref):
        pltpu.make_async_remote_copy(x_ref, o_ref, send_ref, receive_ref,
                                     device_id=lax.axis_index("x")).wait()

    def part(x):
        out, *semaphores = call(begun, (like(8, 128), DMA(()), DMA(())), in_specs=[ANY],
                                out_specs=(ANY, SEMAPHORE, SEMAPHORE))(x)
        twice = doubled(x)
        moved = call(ended, like(8, 128), in_specs=[ANY, ANY, SEMAPHORE, SEMAPHORE],
                     out_specs=ANY, input_output_aliases={1: 0})(x, out, *semaphores)
        return moved + twice

    def fn(x):
        return jax.shard_map(part, mesh=pallascope.mesh_of({"x": 4}), in_specs=PartitionSpec("x"),
                             out_specs=PartitionSpec("x"), check_vma=False)(x)

    x = normal(32, 128)
    (found,) = run(pallascope.capture(fn, x, mesh={"x": 4}))
    np.testing.assert_array_equal(found, np.roll(x, 8, axis=0) + 2 * x)


def test_one_that_nobody_waits_for_is_a_finding():
    def fn(x):
        out, _ = start(x)
        return out

    run(pallascope.capture(fn, normal(64, 128)), "--fail-if",
        "findings.sem_ref.kind=copy_never_awaited", expect=1)


def test_a_semaphore_that_is_a_result():
    with pytest.raises(pallascope.UnsupportedError, match="a semaphore that the function returns"):
        pallascope.capture(lambda x: start(x), normal(64, 128))
