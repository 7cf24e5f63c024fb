"""Semaphores that a kernel counts on itself: what waits and reads see, whom a signal reaches."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from support import call, check, integers, like, on_mesh, pallascope, pl, pltpu
from test_copies import mesh_of_two

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
    """Core 1 goes on when core 0 has written; `named` says how the other core is named."""
    def fn(x):
        @on_mesh(mesh_of_two(), like(8, 128, dtype=INT), [pltpu.VMEM((8, 128), INT), REGULAR])
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
