"""Kernels on several GPUs: what they store to each other, and the semaphores between them."""

import jax
import jax.numpy as jnp
import numpy as np
from gpu_case import case, like, ramp
from jax import lax
from jax.experimental import pallas as pl
from jax.experimental.pallas import mosaic_gpu as plgpu

DEVICES = 2
_P = jax.sharding.PartitionSpec


def sharded(function, ins, outs):
    return jax.shard_map(function, in_specs=ins, out_specs=outs, check_vma=False)


def _next(by=1):
    return {"x": lax.rem(lax.axis_index("x") + by, DEVICES)}


def _halves_swapped(x):
    return np.roll(x, x.shape[0] // 2, axis=0)


# Each block has a semaphore of its own, which the same block of the other GPU signals.
@case(ramp(8, 128), wanted=_halves_swapped, has="remote_ref semaphore_signal", is_interpreted=False)
def rows_to_the_next(x):
    def send(x):
        @plgpu.kernel(out_type=like(4, 128), grid=(2,), grid_names=("i",), scratch_types=[
            plgpu.SMEM((2, 128), jnp.float32), plgpu.SemaphoreType.REGULAR])
        def kernel(x_gmem, o_gmem, smem, arrived):
            rows = pl.ds(lax.axis_index("i") * 2, 2)
            smem[...] = x_gmem[rows]
            plgpu.commit_smem()
            plgpu.copy_smem_to_gmem(smem, plgpu.remote_ref(o_gmem, _next()).at[rows])
            plgpu.wait_smem_to_gmem(0)
            pl.semaphore_signal(arrived, device_id=_next())
            pl.semaphore_wait(arrived)

        return kernel(x)

    return sharded(send, _P("x"), _P("x"))(x)


# All blocks of a GPU count on one semaphore.
@case(ramp(8, 128), wanted=lambda x: 2 * _halves_swapped(x), is_interpreted=False,
      has="remote_ref semaphore_signal")
def rows_that_all_blocks_wait_for(x):
    def send(x):
        @plgpu.kernel(out_type=[like(4, 128), like(4, 128)], grid=(2,), grid_names=("i",))
        def kernel(x_gmem, o_gmem, held_gmem):
            arrived = pl.get_global(plgpu.SemaphoreType.REGULAR)
            block = lax.axis_index("i")
            rows = pl.ds(block * 2, 2)
            plgpu.remote_ref(held_gmem, _next())[rows] = x_gmem[rows]
            pl.semaphore_signal(arrived, device_id=_next())
            pl.semaphore_wait(arrived, value=2, decrement=False)
            other = pl.ds((1 - block) * 2, 2)  # what the other block brought
            o_gmem[other] = 2 * held_gmem[other]

        return kernel(x)[0]

    return sharded(send, _P("x"), _P("x"))(x)


# A copy that the switch brings to all GPUs, and a signal to all of them.
@case(ramp(4, 128), wanted=lambda x: np.concatenate([x, x]), is_interpreted=False,
      has="remote_ref copy_smem_to_gmem semaphore_signal")
def rows_copied_to_all(x):
    def send(x):
        @plgpu.kernel(out_type=like(4, 128), scratch_types=[
            plgpu.SMEM((2, 128), jnp.float32), plgpu.SemaphoreType.REGULAR])
        def kernel(x_gmem, o_gmem, smem, arrived):
            smem[...] = x_gmem[...]
            plgpu.commit_smem()
            rows = pl.ds(lax.axis_index("x") * 2, 2)
            plgpu.copy_smem_to_gmem(smem, plgpu.multicast_ref(o_gmem, ("x",)).at[rows])
            plgpu.wait_smem_to_gmem(0)
            plgpu.semaphore_signal_multicast(arrived, collective_axes="x")
            pl.semaphore_wait(arrived, DEVICES)

        return kernel(x)

    return sharded(send, _P("x"), _P("x"))(x)


@case(ramp(4, 128), wanted=_halves_swapped, is_interpreted=False, has="semaphore_signal")
def two_signals_at_once(x):
    def send(x):
        @plgpu.kernel(out_type=like(2, 128), scratch_types=[
            plgpu.SemaphoreType.REGULAR, plgpu.SemaphoreType.REGULAR])
        def kernel(x_gmem, o_gmem, first, second):
            plgpu.remote_ref(o_gmem, _next())[...] = x_gmem[...]
            plgpu.semaphore_signal_parallel(
                plgpu.SemaphoreSignal(first, device_id=_next()),
                plgpu.SemaphoreSignal(second, device_id=_next(), inc=2))
            pl.semaphore_wait(first, 1)
            pl.semaphore_wait(second, 2)

        return kernel(x)

    return sharded(send, _P("x"), _P("x"))(x)


# ---- collectives of XLA beside a kernel ------------------------------------------------------


def _doubled(x):
    @plgpu.kernel(out_type=like(*x.shape))
    def double(x_gmem, o_gmem):
        o_gmem[...] = x_gmem[...] * 2

    return double(x)


@case(ramp(8, 128), wanted=lambda x: 2 * (x[:4] + x[4:]), is_interpreted=False)
def a_sum_of_what_kernels_made(x):
    return sharded(lambda x: lax.psum(_doubled(x), "x"), _P("x"), _P())(x)


@case(ramp(8, 128), wanted=lambda x: 4 * x, is_interpreted=False)
def a_kernel_on_what_all_have_gathered(x):
    return sharded(lambda x: _doubled(lax.all_gather(_doubled(x), "x", tiled=True)), _P("x"),
                   _P())(x)


@case(ramp(8, 128), wanted=lambda x: 2 * _halves_swapped(x), is_interpreted=False)
def rows_that_xla_sends_to_the_next(x):
    return sharded(lambda x: lax.ppermute(_doubled(x), "x", [(0, 1), (1, 0)]), _P("x"), _P("x"))(x)


# ---- stores that nothing puts before the end of the kernel on the other GPU ------------------


def _stored_after(rounds):
    """Returns a function that stores its rows to the other GPU, after some rounds of loads."""
    def send(x):
        @plgpu.kernel(out_type=like(2, 128))
        def kernel(x_gmem, o_gmem):
            rows = lax.fori_loop(0, rounds(lax.axis_index("x")), lambda _, rows: x_gmem[...],
                                 x_gmem[...])
            plgpu.remote_ref(o_gmem, _next())[...] = rows

        return kernel(x)

    return sharded(send, _P("x"), _P("x"))


@case(ramp(4, 128), wanted=_halves_swapped, has="remote_ref", is_interpreted=False, finds="race")
def rows_that_come_as_the_kernels_end(x):
    return _stored_after(lambda _: 1)(x)


@case(ramp(4, 128), wanted=_halves_swapped, has="remote_ref", is_interpreted=False, finds="race")
def rows_that_come_long_after_the_other_kernel_has_ended(x):
    return _stored_after(lambda device: 1 + 200 * device)(x)
