"""Semaphores that a kernel handles itself: what waits and reads see, and whom a signal reaches."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from support import (call, check, integers, like, on_mesh, pallascope, pl, pltpu,
                     tensor_cores)
from test_findings import findings

INT = jnp.int32
REGULAR = pltpu.SemaphoreType.REGULAR


def test_semaphores_count():
    def kernel(x_ref, o_ref, sem_ref):
        pl.semaphore_signal(sem_ref, 3)
        pl.semaphore_signal(sem_ref)
        pl.semaphore_wait(sem_ref, 2)
        o_ref[...] = x_ref[...] + pl.semaphore_read(sem_ref)
        pl.semaphore_wait(sem_ref, 2)

    def fn(x):
        return call(kernel, out_shape=like(8, 128, dtype=INT),
                    scratch_shapes=[pltpu.SemaphoreType.REGULAR])(x)

    x = integers(8, 128)
    check(fn, x, wanted=x + 2)


def test_a_copy_adds_its_bytes_to_a_regular_semaphore_too():
    """In JAX's interpreter, too, such a semaphore is 0 after a wait for as many."""
    def waiting_for(amount):
        def kernel(x_ref, o_ref, sem_ref):
            pltpu.make_async_copy(x_ref, o_ref, sem_ref).start()
            pl.semaphore_wait(sem_ref, amount)

        where = pl.BlockSpec(memory_space=pl.ANY)
        return lambda x: call(kernel, in_specs=[where], out_specs=where,
                              out_shape=like(8, 128, dtype=INT), scratch_shapes=[REGULAR])(x)

    x = integers(8, 128)
    check(waiting_for(4096), x, wanted=x)
    assert [found["kind"] for found in findings(waiting_for(1), x)] == ["semaphore_left_over"]


def test_a_wait_that_takes_nothing_away():
    def kernel(x_ref, o_ref, sem_ref):
        pl.semaphore_signal(sem_ref, 3)
        pl.semaphore_wait(sem_ref, 2, decrement=False)
        o_ref[...] = x_ref[...] + pl.semaphore_read(sem_ref)
        pl.semaphore_wait(sem_ref, 3)

    def fn(x):
        return call(kernel, out_shape=like(8, 128, dtype=INT), scratch_shapes=[REGULAR])(x)

    x = integers(8, 128)
    kernel = check(fn, x, wanted=x + 3)
    assert "'decrement': False" in str(kernel.document)


def test_one_of_several_semaphores_is_read():
    def kernel(x_ref, o_ref, sems_ref):
        for number in range(3):
            pl.semaphore_signal(sems_ref.at[number], number + 1)
        o_ref[...] = x_ref[...] + pl.semaphore_read(sems_ref.at[1])
        for number in range(3):
            pl.semaphore_wait(sems_ref.at[number], number + 1)

    def fn(x):
        return call(kernel, out_shape=like(8, 128, dtype=INT),
                    scratch_shapes=[pltpu.SemaphoreType.REGULAR((3,))])(x)

    x = integers(8, 128)
    check(fn, x, wanted=x + 2)


def to_the_other_core(**named):
    """Core 1 goes on once core 0 has written. `named` says how the other core is named."""
    def fn(x):
        @on_mesh(tensor_cores(2), like(8, 128, dtype=INT), [pltpu.VMEM((8, 128), INT), REGULAR])
        def kernel(x_ref, o_ref, tile_ref, sem_ref):
            core = jax.lax.axis_index("core")

            @pl.when(core == 0)
            def _():
                pltpu.sync_copy(x_ref, tile_ref)
                pltpu.sync_copy(tile_ref, o_ref)
                pl.semaphore_signal(sem_ref, 2, **{key: value(1 - core)
                                                   for key, value in named.items()})

            @pl.when(core == 1)
            def _():
                pl.semaphore_wait(sem_ref, 2)
                pltpu.sync_copy(o_ref, tile_ref)
                tile_ref[...] += 1
                pltpu.sync_copy(tile_ref, o_ref)

        return kernel(x)

    return fn


@pytest.mark.parametrize("named", [{"core_index": lambda other: other},
                                   {"device_id": lambda other: {"core": other}}],
                         ids=["core_index", "device_id"])
def test_a_signal_to_the_other_core(named):
    x = integers(8, 128)
    kernel = check(to_the_other_core(**named), x, wanted=x + 1, chip="tpu_v5p")
    assert kernel.document["lowering"] == {"accepted": "yes"}


def test_a_core_is_named_once():
    fn = to_the_other_core(core_index=lambda other: other,
                           device_id=lambda other: {"core": other})
    with pytest.raises(pallascope.UnsupportedError,
                       match="semaphore_signal with core_index and a core in device_id"):
        pallascope.capture(fn, integers(8, 128), chip="tpu_v5p")


@pytest.mark.skipif(not hasattr(pl, "select_ref"), reason="JAX 0.10.2 is the first that has it")
def test_a_copy_from_or_to_one_of_several_refs():
    """Only when the copy starts is it known which ref it is."""
    def kernel(which_ref, x_ref, y_ref, o_ref, p_ref, buffer_ref, sem):
        @pl.loop(0, 4)
        def _(n):
            rows = pl.ds(n * 8, 8)
            copy = pltpu.make_async_copy(
                pl.select_ref(which_ref[n], x_ref.at[rows], y_ref.at[rows], x_ref.at[:8]),
                buffer_ref, sem)
            copy.start()
            copy.wait()
            buffer_ref[...] += n
            pltpu.async_copy(buffer_ref, pl.select_ref(
                which_ref[n] > 0, o_ref.at[rows], p_ref.at[rows]), sem).wait()

    def fn(which, x, y):
        anywhere = pl.BlockSpec(memory_space=pl.ANY)
        return call(kernel, in_specs=[pl.BlockSpec(memory_space=pltpu.SMEM), anywhere, anywhere],
                    out_specs=[anywhere] * 2, out_shape=[like(32, 128, dtype=jnp.int32)] * 2,
                    input_output_aliases={1: 0, 2: 1},
                    scratch_shapes=[pltpu.VMEM((8, 128), jnp.int32),
                                    pltpu.SemaphoreType.DMA])(which, x, y)

    x, y = (np.random.default_rng(seed).integers(0, 99, (4, 8, 128)).astype(np.int32)
            for seed in range(2))
    check(fn, np.array([0, 1, 2, 0], np.int32), x.reshape(32, 128), y.reshape(32, 128),
          wanted=[np.concatenate([x[0], x[1], x[2], x[3] + 3]),
                  np.concatenate([y[0], y[1] + 1, x[0] + 2, y[3]])])
