"""Kernels for a GPU with one mistake each, in what blocks do in each other's memory, in copies that
reduce, and in copies of cp.async."""

import jax.numpy as jnp
from gpu_case import like, ramp
from gpu_mistakes import mistake
from jax import lax
from jax.experimental import pallas as pl
from jax.experimental.pallas import mosaic_gpu as plgpu

_ROW = 128
_X = ramp(4, _ROW)
_PAIR = dict(cluster=(2,), cluster_names=("c",))
_BOTH = plgpu.ClusterBarrier(collective_axes=("c",))


def _other():
    return lax.rem(lax.axis_index("c") + 1, 2)


@mistake("race")
def a_row_of_the_other_block_that_may_not_be_there(x):
    @plgpu.kernel(out_type=like(2, _ROW), **_PAIR, scratch_types=[
        plgpu.SMEM((_ROW,), jnp.float32), _BOTH])
    def swap(x_gmem, o_gmem, smem, loaded):
        block = lax.axis_index("c")
        smem[...] = x_gmem[block]  # mistake
        o_gmem[block] = plgpu.cluster_ref(smem, {"c": _other()})[...]
        plgpu.barrier_arrive(loaded)
        plgpu.barrier_wait(loaded)

    return swap(x)


@mistake("deadlock")
def a_block_that_waits_for_what_only_the_leader_hears(x):
    @plgpu.kernel(out_type=like(2, _ROW), **_PAIR, scratch_types=[
        plgpu.ClusterBarrier(collective_axes=("c",), leader_tracked=True)])
    def copy(x_gmem, o_gmem, arrived):
        block = lax.axis_index("c")
        o_gmem[block] = x_gmem[block]
        plgpu.barrier_arrive(arrived)
        plgpu.barrier_wait(arrived)  # mistake

    return copy(x)


@mistake("race", ramp(2, 64, 64))
def a_value_from_the_other_block_that_nobody_waits_for(x):
    @plgpu.kernel(out_type=like(2, 64, 64), **_PAIR, scratch_types=[
        plgpu.SMEM((64, 64), jnp.float32, transforms=(
            plgpu.TilingTransform((8, 32)), plgpu.SwizzleTransform(128))), plgpu.Barrier()])
    def swap(x_gmem, o_gmem, smem, arrived):
        block = lax.axis_index("c")
        plgpu.async_store_smem(x_gmem[block], smem, arrived, cluster_idx=_other(),
                               cluster_dim="c")
        o_gmem[block] = smem[...]  # mistake
        plgpu.barrier_wait(arrived)

    return swap(x)


@mistake("race")
def a_row_that_is_set_while_copies_add_to_it(x):
    @plgpu.kernel(out_type=like(1, _ROW), grid=(2,), grid_names=("i",), scratch_types=[
        plgpu.SMEM((_ROW,), jnp.float32)])
    def total(x_gmem, o_gmem, smem):
        block = lax.axis_index("i")

        @pl.when(block == 0)
        def _():
            o_gmem[0] = jnp.zeros((_ROW,), jnp.float32)

        smem[...] = x_gmem[block]
        plgpu.commit_smem()
        plgpu.copy_smem_to_gmem(smem, o_gmem.at[0], reduction_op="add")  # mistake
        plgpu.wait_smem_to_gmem(0)

    return total(x)


@mistake("read_before_wait")
def a_row_that_a_warp_takes_although_it_has_not_landed(x):
    @plgpu.kernel(out_type=like(_ROW), scratch_types=[
        plgpu.SMEM((_ROW,), jnp.float32), plgpu.Barrier(), plgpu.Barrier()])
    def copy(x_gmem, o_gmem, smem, landed, seen):
        @plgpu.warp_map
        def _(warp):
            @pl.when(warp == 0)
            def _():
                plgpu.copy_gmem_to_smem(x_gmem.at[0], smem, landed)
                lax.cond(plgpu.barrier_test(landed), lambda: None, lambda: None)
                plgpu.barrier_arrive(seen)

        plgpu.barrier_wait(seen)
        o_gmem[...] = smem[...]  # mistake

    return copy(x)


@mistake("read_before_wait", chip="a100_80")
def a_copy_of_a_warpgroup_that_is_read_too_early(x):
    @plgpu.kernel(out_type=like(4, _ROW), scratch_types=[plgpu.SMEM((4, _ROW), jnp.float32)])
    def double(x_gmem, o_gmem, smem):
        for row in range(4):
            plgpu.copy_gmem_to_smem(x_gmem.at[row], smem.at[row],
                                    oob_mode=plgpu.OOBFillMode.PROMISE_IN_BOUNDS)
        plgpu.wait_gmem_to_smem(1)
        o_gmem[3] = smem[3] * 2  # mistake
        plgpu.wait_gmem_to_smem(0)

    return double(x)


@mistake("race")
def a_slot_of_all_blocks_that_one_of_them_still_reads(x):
    @plgpu.kernel(out_type=like(2, 4, _ROW), **_PAIR, scratch_types=[
        plgpu.SMEM((_ROW,), jnp.float32), plgpu.Barrier()])
    def copies(x_gmem, o_gmem, smem, loaded):
        block = lax.axis_index("c")
        for row in range(4):
            plgpu.copy_gmem_to_smem(x_gmem.at[row], smem, loaded, collective_axes="c")  # mistake
            plgpu.barrier_wait(loaded)
            o_gmem[block, row] = smem[...]
            plgpu.commit_smem()

    return copies(x)


@mistake("race")
def a_row_of_the_other_block_that_may_have_ended(x):
    @plgpu.kernel(out_type=like(1, _ROW), **_PAIR, scratch_types=[
        plgpu.SMEM((_ROW,), jnp.float32), _BOTH])
    def take(x_gmem, o_gmem, smem, stored):
        block = lax.axis_index("c")
        smem[...] = x_gmem[block]
        plgpu.barrier_arrive(stored)
        plgpu.barrier_wait(stored)

        @pl.when(block == 0)
        def _():
            o_gmem[0] = plgpu.cluster_ref(smem, {"c": jnp.int32(1)})[...]  # mistake

    return take(x)
