"""Kernels for a GPU: memory that serves twice, single warps, barriers by number, clusters."""

import jax.numpy as jnp
import numpy as np
from gpu_case import case, like, ramp, tiled
from jax import lax
from jax.experimental import pallas as pl
from jax.experimental.mosaic import gpu as mgpu
from jax.experimental.pallas import mosaic_gpu as plgpu

_ROW = 128
_F16 = np.dtype(np.float16)


def _bar(operation, number, threads):
    """Meets at a barrier of the block that has a number, which may be known only at run time."""
    if isinstance(number, int):
        @plgpu.inline_mgpu()
        def meet(_):
            mgpu.utils.inline_ptx(f"bar.{operation} {number}, {threads};")

        meet()
        return

    @plgpu.inline_mgpu(arg_types=(plgpu.Layout.WG_SPLAT,))
    def meet_there(_, number):
        mgpu.utils.inline_ptx(f"bar.{operation} $0, {threads};", number.registers[()])

    meet_there(number)


@case(ramp(64, 64, dtype=_F16), wanted=lambda x: x + _F16.type(1), has="run_scoped")
def memory_that_serves_twice(x):
    smem = plgpu.SMEM((64, 64), jnp.float16, transforms=tiled(jnp.float16))

    @plgpu.kernel(out_type=like(64, 64, dtype=jnp.float16), scratch_types=dict(
        smems=plgpu.RefUnion(smem, (plgpu.SMEM((_ROW,), jnp.float32), smem)),
        barrier=plgpu.Barrier()))
    def increment(x_gmem, o_gmem, smems, barrier):
        x_smem, (_, o_smem) = smems
        plgpu.copy_gmem_to_smem(x_gmem, x_smem, barrier)
        plgpu.barrier_wait(barrier)
        x = x_smem[...] + 1
        plgpu.commit_smem()
        o_smem[...] = x
        plgpu.commit_smem()
        plgpu.copy_smem_to_gmem(o_smem, o_gmem)
        plgpu.wait_smem_to_gmem(0)

    return increment(x)


@case(ramp(2, _ROW), wanted=lambda x: x[::-1] * 2, is_interpreted=False,
      has="barrier_arrive barrier_wait")
def warpgroups_that_meet_at_a_numbered_barrier(x):
    @plgpu.kernel(out_type=like(2, _ROW), num_threads=2, thread_name="wg",
                  scratch_types=[plgpu.SMEM((2, _ROW), jnp.float32)])
    def swap(x_gmem, o_gmem, smem):
        wg = lax.axis_index("wg")
        smem[wg] = x_gmem[wg] * 2
        _bar("sync", 4, 256)
        o_gmem[wg] = smem[1 - wg]

    return swap(x)


@case(ramp(6, _ROW), wanted=lambda x: x + 1, is_interpreted=False, has="scan barrier_arrive")
def a_consumer_that_only_arrives(x):
    """The second warpgroup refills a slot when the first one has arrived. At the end some have
    arrived whom nobody waits for."""
    slots = 2

    @plgpu.kernel(out_type=like(6, _ROW), num_threads=2, thread_name="wg", scratch_types=[
        plgpu.SMEM((slots, _ROW), jnp.float32), plgpu.Barrier(num_barriers=slots)])
    def increment(x_gmem, o_gmem, smem, filled):
        wg = lax.axis_index("wg")

        @pl.when(wg == 0)
        def _():
            for slot in range(slots):
                _bar("arrive", 5 + slot, 256)

            @pl.loop(0, 6)
            def _(row):
                slot = lax.rem(row, slots)
                plgpu.barrier_wait(filled.at[slot])
                o_gmem[row] = smem[slot] + 1
                plgpu.commit_smem()
                _bar("arrive", 5 + slot, 256)

        @pl.when(wg == 1)
        def _():
            @pl.loop(0, 6)
            def _(row):
                slot = lax.rem(row, slots)
                _bar("sync", 5 + slot, 256)
                plgpu.copy_gmem_to_smem(x_gmem.at[row], smem.at[slot], filled.at[slot])

    return increment(x)


@case(ramp(4, _ROW), wanted=lambda x: x * 3, has="copy_gmem_to_smem barrier_wait")
def a_warp_that_copies(x):
    @plgpu.kernel(out_type=like(4, _ROW), num_threads=2, thread_name="wg", scratch_types=[
        plgpu.SMEM((4, _ROW), jnp.float32), plgpu.Barrier(num_barriers=4)])
    def triple(x_gmem, o_gmem, smem, filled):
        wg = lax.axis_index("wg")

        @pl.when(wg == 1)
        def _():
            @plgpu.warp_map
            def _(warp):
                @pl.when((warp >= 1) & (warp < 2))
                def _():
                    @pl.loop(0, 4)
                    def _(row):
                        plgpu.copy_gmem_to_smem(x_gmem.at[row], smem.at[row], filled.at[row])

        @pl.when(wg == 0)
        def _():
            @pl.loop(0, 4)
            def _(row):
                plgpu.barrier_wait(filled.at[row])
                o_gmem[row] = smem[row] * 3

    return triple(x)


@case(ramp(64, 64), wanted=lambda x: x.sum(1) + 4, is_interpreted=False,
      has="wgmma_accumulator_store wgmma_accumulator_deref")
def registers_that_are_a_state(x):
    @plgpu.kernel(out_type=like(64), scratch_types=[
        plgpu.SMEM((64, 64), jnp.float32, transforms=tiled(jnp.float32)), plgpu.Barrier()])
    def sums(x_gmem, o_gmem, smem, barrier):
        plgpu.copy_gmem_to_smem(x_gmem, smem, barrier)
        plgpu.barrier_wait(barrier)
        x = plgpu.load(smem, layout=plgpu.Layout.WGMMA)
        row = plgpu.Layout.WGMMA.reduce(1)

        def add(total):
            total[...] += x.sum(1)
            total[...] = total[...] + 3

        o_gmem[...] = pl.run_state(add)(plgpu.layout_cast(jnp.ones((64,), jnp.float32), row))

    return sums(x)


@case(ramp(4, 64, _ROW), wanted=lambda x: x[0] + 2 * x[1] + 4 * x[2] + 8 * x[3],
      has="copy_gmem_to_smem barrier_arrive")
def a_cluster_that_shares_its_copies(x):
    """Each of two blocks has half of the columns; both need each row's factor, which they fetch
    for each other."""
    half = _ROW // 2

    @plgpu.kernel(out_type=like(64, _ROW), grid=(2,), grid_names=("rows",), cluster=(2,),
                  cluster_names=("c",), scratch_types=[
                      plgpu.SMEM((32, _ROW), jnp.float32), plgpu.Barrier(),
                      plgpu.ClusterBarrier(collective_axes=("c",))])
    def weighted(x_gmem, o_gmem, smem, filled, free):
        rows = pl.ds(lax.axis_index("rows") * 32, 32)
        columns = pl.ds(lax.axis_index("c") * half, half)

        def step(k, total):
            plgpu.copy_gmem_to_smem(x_gmem.at[k, rows], smem, filled, collective_axes="c")
            plgpu.barrier_wait(filled)
            total = total + plgpu.load(smem.at[:, columns], optimized=False) * (
                1 << k).astype(jnp.float32)
            plgpu.commit_smem()
            plgpu.barrier_arrive(free)
            plgpu.barrier_wait(free)
            return total

        o_gmem[rows, columns] = lax.fori_loop(
            0, 4, step, plgpu.layout_cast(jnp.zeros((32, half), jnp.float32),
                                          plgpu.Layout.WG_STRIDED((32, half), vec_size=1)))

    return weighted(x)


# ---- atomic operations -------------------------------------------------------------------------


@case(ramp(2, _ROW, dtype=np.int32), is_interpreted=False, has="atomic_rmw",
      wanted=lambda x: x[0] + x[1] + np.maximum(np.maximum(x[0], x[1]) + 15, 3))
def warpgroups_that_add_to_the_same_elements(x):
    """In shared memory, and the largest of them in global memory. That has no negative numbers:
    JAX 0.11.2 to 0.12.0.1 compares int32 there as if it had no sign."""
    @plgpu.kernel(out_type=like(_ROW, dtype=np.int32), num_threads=2, thread_name="wg",
                  scratch_types=[plgpu.SMEM((_ROW,), jnp.int32), plgpu.Barrier(num_arrivals=2)])
    def kernel(x_gmem, o_gmem, total, met):
        wg = lax.axis_index("wg")

        @pl.when(wg == 0)
        def _():
            total[...] = jnp.zeros(_ROW, jnp.int32)
            o_gmem[...] = jnp.full(_ROW, 3, jnp.int32)

        plgpu.barrier_arrive(met)
        plgpu.barrier_wait(met)
        plgpu.atomic_add(total, x_gmem[wg], optimized=False)
        plgpu.atomic_max(o_gmem, x_gmem[wg] + 15, optimized=False)
        plgpu.barrier_arrive(met)
        plgpu.barrier_wait(met)

        @pl.when(wg == 1)
        def _():
            o_gmem[...] += total[...]

    return kernel(x)
