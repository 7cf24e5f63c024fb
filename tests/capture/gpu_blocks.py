"""Kernels for a GPU: the memory of other blocks of a cluster, copies that reduce, barriers that one
only looks at, and what changes no value."""

import jax.numpy as jnp
import numpy as np
from gpu_case import case, like, ramp
from jax import lax
from jax.experimental import pallas as pl
from jax.experimental.pallas import mosaic_gpu as plgpu

_ROW = 128


# ---- copies that reduce --------------------------------------------------------------------


def _reduced(x, operation, first):
    """Blocks reduce their rows into one, which begins with `first`."""
    @plgpu.kernel(out_type=like(1, _ROW, dtype=x.dtype), grid=(x.shape[0],), grid_names=("i",),
                  scratch_types=[plgpu.SMEM((_ROW,), x.dtype),
                                 plgpu.SemaphoreType.REGULAR])
    def reduce(x_gmem, o_gmem, smem, _):
        ready = pl.get_global(plgpu.SemaphoreType.REGULAR)
        block = lax.axis_index("i")

        @pl.when(block == 0)
        def _():
            o_gmem[0] = jnp.full((_ROW,), first, x.dtype)
            pl.semaphore_signal(ready, 1)

        pl.semaphore_wait(ready, 1, decrement=False)
        smem[...] = x_gmem[block]
        plgpu.commit_smem()
        plgpu.copy_smem_to_gmem(smem, o_gmem.at[0], reduction_op=operation)
        plgpu.wait_smem_to_gmem(0)

    return reduce(x)


_X, _HALVES, _BITS = ramp(5, _ROW), ramp(5, _ROW, dtype=np.float16), ramp(5, _ROW, dtype=np.int32)


@case(_X, wanted=lambda x: x.sum(0, keepdims=True) + 3, has="copy_smem_to_gmem",
      is_interpreted=False)
def rows_that_copies_add(x):
    return _reduced(x, "add", 3)


@case(_HALVES, wanted=lambda x: np.maximum(x.max(0, keepdims=True), np.float16(2)),
      is_interpreted=False)
def the_largest_of_rows_by_copies(x):
    return _reduced(x, "max", 2)


@case(_BITS, wanted=lambda x: np.minimum(x.min(0, keepdims=True), -9).astype(np.int32),
      is_interpreted=False)
def the_smallest_of_rows_by_copies(x):
    return _reduced(x, "smin", -9)


@case(_BITS, wanted=lambda x: np.bitwise_xor.reduce(x, keepdims=True) ^ 5, is_interpreted=False)
def bits_that_copies_change(x):
    return _reduced(x, "xor", 5)


# ---- windows of an image -------------------------------------------------------------------


@case(ramp(2, 6, 5, 64, dtype=np.float16), has="copy_gmem_to_smem scan", is_interpreted=False,
      wanted=lambda x: x[:, 1:5, 2:5].reshape(24, 64))
def a_pixel_of_all_windows(x):
    @plgpu.kernel(out_type=like(24, 64, dtype=np.float16), scratch_types=[
        plgpu.SMEM((24, 64), jnp.float16), plgpu.Barrier()],
        compiler_params=plgpu.CompilerParams(lowering_semantics=plgpu.LoweringSemantics.Lane))
    def pixels(x_gmem, o_gmem, smem, barrier):
        windows = plgpu.im2col_ref(x_gmem, window_shape=(3, 3))
        plgpu.copy_gmem_to_smem(windows.at[pl.ds(0, 24), 1, 2, pl.ds(0, 64)], smem, barrier)
        plgpu.barrier_wait(barrier)
        plgpu.copy_smem_to_gmem(smem, o_gmem)
        plgpu.wait_smem_to_gmem(0)

    return pixels(x)


# ---- memory of other blocks of the cluster -------------------------------------------------


def _other():
    return lax.rem(lax.axis_index("c") + 1, 2)


@case(ramp(4, _ROW), wanted=lambda x: x.reshape(2, 2, _ROW)[:, ::-1].reshape(4, _ROW) * 2,
      has="barrier_arrive barrier_wait", is_interpreted=False)
def rows_of_the_other_block(x):
    """Each block loads what the other one has in SMEM, when both have stored there."""
    @plgpu.kernel(out_type=like(4, _ROW), grid=(2,), grid_names=("i",), cluster=(2,),
                  cluster_names=("c",), scratch_types=[
        plgpu.SMEM((_ROW,), jnp.float32), plgpu.ClusterBarrier(collective_axes=("c",)),
        plgpu.ClusterBarrier(collective_axes=("c",))])
    def swap(x_gmem, o_gmem, smem, stored, loaded):
        row = lax.axis_index("i") * 2 + lax.axis_index("c")
        smem[...] = x_gmem[row] * 2
        plgpu.barrier_arrive(stored)
        plgpu.barrier_wait(stored)
        o_gmem[row] = plgpu.cluster_ref(smem, {"c": _other()})[...]
        plgpu.barrier_arrive(loaded)  # the other block has its memory until then
        plgpu.barrier_wait(loaded)

    return swap(x)


def _tile(dtype):
    return plgpu.SMEM((64, 64), dtype, transforms=(
        plgpu.TilingTransform((8, 32)), plgpu.SwizzleTransform(128)))


@case(ramp(2, 64, 64), wanted=lambda x: x[::-1] + 1, has="barrier_arrive", is_interpreted=False)
def values_stored_in_the_other_block(x):
    @plgpu.kernel(out_type=like(2, 64, 64), cluster=(2,), cluster_names=("c",), scratch_types=[
        _tile(jnp.float32), plgpu.Barrier()])
    def swap(x_gmem, o_gmem, smem, arrived):
        block = lax.axis_index("c")
        plgpu.async_store_smem(x_gmem[block] + 1, smem, arrived, cluster_idx=_other(),
                               cluster_dim="c")
        plgpu.barrier_wait(arrived)
        o_gmem[block] = smem[...]

    return swap(x)


@case(ramp(2, 64, 64, dtype=np.int32), wanted=lambda x: np.stack([x.sum(0)] * 2).astype(np.int32),
      has="atomic_rmw", is_interpreted=False)
def values_added_in_the_other_block(x):
    """Both blocks add to what both have."""
    @plgpu.kernel(out_type=like(2, 64, 64, dtype=np.int32), cluster=(2,), cluster_names=("c",),
                  scratch_types=[_tile(jnp.int32), plgpu.Barrier(num_arrivals=2),
                                 plgpu.ClusterBarrier(collective_axes=("c",))])
    def total(x_gmem, o_gmem, smem, arrived, ready):
        block = lax.axis_index("c")
        smem[...] = jnp.zeros((64, 64), jnp.int32)
        plgpu.barrier_arrive(ready)
        plgpu.barrier_wait(ready)
        for there in range(2):
            plgpu.async_store_smem(x_gmem[block], smem, arrived, cluster_idx=jnp.int32(there),
                                   cluster_dim="c", atomic="add")
        plgpu.barrier_wait(arrived)
        o_gmem[block] = smem[...]

    return total(x)


@case(ramp(4, _ROW), wanted=lambda x: np.stack([x.sum(0)]), has="barrier_arrive",
      is_interpreted=False)
def a_barrier_of_the_leader(x):
    """Four blocks tell the first one that their rows are there."""
    @plgpu.kernel(out_type=[like(1, _ROW), like(4, _ROW)], cluster=(4,), cluster_names=("c",),
                  scratch_types=[plgpu.ClusterBarrier(collective_axes=("c",),
                                                      leader_tracked=True)])
    def total(x_gmem, o_gmem, rows_gmem, arrived):
        block = lax.axis_index("c")
        rows_gmem[block] = x_gmem[block]
        plgpu.barrier_arrive(arrived)

        @pl.when(block == 0)
        def _():
            plgpu.barrier_wait(arrived)
            o_gmem[0] = rows_gmem[0] + rows_gmem[1] + rows_gmem[2] + rows_gmem[3]

    return total(x)[0]


@case(ramp(4, _ROW), wanted=lambda x: np.stack([x.sum(0)] * 4), has="barrier_arrive",
      is_interpreted=False)
def a_barrier_of_a_plane_of_blocks(x):
    """Both axes of the cluster belong together: each block hears from all four."""
    @plgpu.kernel(out_type=[like(4, _ROW), like(4, _ROW)], cluster=(2, 2),
                  cluster_names=("a", "b"), scratch_types=[
        plgpu.ClusterBarrier(collective_axes=(("a", "b"),))])
    def total(x_gmem, o_gmem, rows_gmem, arrived):
        block = lax.axis_index("a") * 2 + lax.axis_index("b")
        rows_gmem[block] = x_gmem[block]
        plgpu.barrier_arrive(arrived)
        plgpu.barrier_wait(arrived)
        o_gmem[block] = rows_gmem[0] + rows_gmem[1] + rows_gmem[2] + rows_gmem[3]

    return total(x)[0]


# ---- barriers that a warp looks at, and what changes no value ------------------------------


@case(ramp(_ROW), wanted=lambda x: x, has="barrier_test cond", is_interpreted=False)
def a_barrier_that_a_warp_looks_at(x):
    @plgpu.kernel(out_type=like(_ROW), scratch_types=[
        plgpu.SMEM((_ROW,), jnp.float32), plgpu.Barrier(), plgpu.Barrier()])
    def copy(x_gmem, o_gmem, smem, landed, seen):
        @plgpu.warp_map
        def _(warp):
            @pl.when(warp == 0)
            def _():
                plgpu.copy_gmem_to_smem(x_gmem, smem, landed)
                lax.cond(plgpu.barrier_test(landed), lambda: None,
                         lambda: plgpu.barrier_wait(landed))
                plgpu.barrier_arrive(seen)

        plgpu.barrier_wait(seen)
        o_gmem[...] = smem[...]

    return copy(x)


@case(ramp(_ROW), wanted=lambda x: x + 1, is_interpreted=False)
def what_changes_no_value(x):
    @plgpu.kernel(out_type=like(_ROW))
    def increment(x_gmem, o_gmem):
        plgpu.griddepcontrol_wait()
        found = x_gmem[...]
        plgpu.print_layout("x has {}", found)
        o_gmem[...] = found + 1
        plgpu.griddepcontrol_launch_dependents()

    return increment(x)
