"""Kernels for a GPU: scopes, edges of arrays, groups of stores, what barriers count, pipelines."""

import jax
import jax.numpy as jnp
import numpy as np
from gpu_case import case, like, ramp, tiled
from jax import lax
from jax.experimental import pallas as pl
from jax.experimental.pallas import mosaic_gpu as plgpu

_ROW = 128
_F16 = np.dtype(np.float16)


def _stored(smem, gmem):
    plgpu.commit_smem()
    plgpu.copy_smem_to_gmem(smem, gmem)
    plgpu.wait_smem_to_gmem(0)


# ---- memory ----------------------------------------------------------------------------------


@case(ramp(4, _ROW), wanted=lambda x: 3 * x + 1, has="run_scoped")
def scopes_in_scopes(x):
    @plgpu.kernel(out_type=like(4, _ROW))
    def affine(x_gmem, o_gmem):
        @pl.loop(0, 4)
        def _(row):
            def outer(a):
                a[...] = x_gmem[row]

                def inner(b, c):
                    b[...], c[...] = a[...] * 2, a[...] + 1
                    return b[...] + c[...]

                o_gmem[row] = pl.run_scoped(inner, plgpu.SMEM((_ROW,), jnp.float32),
                                            plgpu.SMEM((_ROW,), jnp.float32))

            pl.run_scoped(outer, plgpu.SMEM((_ROW,), jnp.float32))

    return affine(x)


@case(np.roll(np.arange(_ROW, dtype=np.int32), 5) % 8, ramp(8, _ROW), has="axis_index",
      wanted=lambda n, x: x[n[:16]])
def rows_that_a_table_in_shared_memory_names(n, x):
    @plgpu.kernel(out_type=like(16, _ROW), scratch_types=[
        plgpu.SMEM((_ROW,), jnp.int32), plgpu.SMEM((_ROW,), jnp.float32), plgpu.Barrier()],
        grid=(2,), grid_names=("i",))
    def pick(n_gmem, x_gmem, o_gmem, table, smem, barrier):
        plgpu.copy_gmem_to_smem(n_gmem, table, barrier)
        plgpu.barrier_wait(barrier)

        @pl.loop(0, 8)
        def _(row):
            row = lax.axis_index("i") * 8 + row
            plgpu.copy_gmem_to_smem(x_gmem.at[table[row]], smem, barrier)
            plgpu.barrier_wait(barrier)
            o_gmem[row] = smem[...]
            plgpu.commit_smem()

    return pick(n, x)


@case(ramp(4, 8, 2 * _ROW), wanted=lambda x: x[1:3, 4:, 64:192] + 1)
def parts_of_parts(x):
    @plgpu.kernel(out_type=like(2, 4, _ROW), scratch_types=[
        plgpu.SMEM((2, 4, _ROW), jnp.float32), plgpu.Barrier()])
    def part(x_gmem, o_gmem, smem, barrier):
        middle = x_gmem.at[pl.ds(1, 2)].at[:, pl.ds(4, 4)].at[:, :, pl.ds(64, _ROW)]
        plgpu.async_prefetch(middle)
        plgpu.copy_gmem_to_smem(middle, smem, barrier)
        plgpu.barrier_wait(barrier)

        @pl.loop(0, 2)
        def _(i):
            @pl.loop(0, 4)
            def _(j):
                o_gmem[i, j] = smem.at[i][j] + 1

    return part(x)


@case(ramp(64, 64, dtype=_F16), wanted=lambda x: x[:, :32] * _F16.type(2), has="copy_smem_to_gmem")
def memory_with_a_narrow_swizzle(x):
    narrow = (plgpu.TilingTransform((8, 32)), plgpu.SwizzleTransform(64))

    @plgpu.kernel(out_type=like(64, 32, dtype=jnp.float16), scratch_types=[
        plgpu.SMEM((64, 32), jnp.float16, transforms=narrow), plgpu.Barrier()])
    def double(x_gmem, o_gmem, smem, barrier):
        plgpu.copy_gmem_to_smem(x_gmem.at[:, pl.ds(0, 32)], smem, barrier)
        plgpu.barrier_wait(barrier)
        smem[...] = plgpu.load(smem, layout=plgpu.Layout.WGMMA) * 2
        _stored(smem, o_gmem)

    return double(x)


# ---- copies ----------------------------------------------------------------------------------


def _tiles_incremented(x, size):
    """Takes four tiles of 64 by 64, wherever they end, and stores them to an array of this size."""
    @plgpu.kernel(out_type=like(size, size), grid=(2, 2), grid_names=("i", "j"), scratch_types=[
        plgpu.SMEM((64, 64), jnp.float32), plgpu.Barrier()])
    def increment(x_gmem, o_gmem, smem, barrier):
        place = tuple(pl.ds(lax.axis_index(axis) * 64, 64) for axis in "ij")
        plgpu.copy_gmem_to_smem(x_gmem.at[place], smem, barrier)
        plgpu.barrier_wait(barrier)
        smem[...] += 1
        _stored(smem, o_gmem.at[place])

    return increment(x)


@case(ramp(100, 100), wanted=lambda x: np.pad(x, ((0, 28), (0, 28))) + 1)
def copies_that_leave_the_array_on_two_axes(x):
    return _tiles_incremented(x, 128)


@case(ramp(128, 128), wanted=lambda x: x[:100, :100] + 1)
def stores_that_leave_the_array(x):
    return _tiles_incremented(x, 100)


@case(ramp(7, _ROW), wanted=lambda x: x * 5, has="wait_smem_to_gmem")
def a_ring_of_three_stores(x):
    @plgpu.kernel(out_type=like(7, _ROW), scratch_types=[plgpu.SMEM((3, _ROW), jnp.float32)])
    def scale(x_gmem, o_gmem, smem):
        @pl.loop(0, 7)
        def _(row):
            plgpu.wait_smem_to_gmem(2, wait_read_only=True)
            slot = lax.rem(row, 3)
            smem[slot] = x_gmem[row] * 5
            plgpu.commit_smem()
            plgpu.copy_smem_to_gmem(smem.at[slot], o_gmem.at[row])

        plgpu.wait_smem_to_gmem(0)

    return scale(x)


@case(ramp(4, _ROW), wanted=lambda x: (2 * x, 2 * x + 1), has="wait_smem_to_gmem")
def an_output_that_is_read_again(x):
    """A store can be read only when its group has been waited for with all that it writes."""
    @plgpu.kernel(out_type=[like(4, _ROW)] * 2, scratch_types=[plgpu.SMEM((4, _ROW), jnp.float32)])
    def twice(x_gmem, o_gmem, again_gmem, smem):
        smem[...] = x_gmem[...] * 2
        plgpu.commit_smem()
        plgpu.copy_smem_to_gmem(smem, o_gmem)
        plgpu.wait_smem_to_gmem(0)
        again_gmem[...] = o_gmem[...] + 1

    return twice(x)


def _window(x, start):
    out = [start[0] + row for row in range(8)]
    return np.stack([x[at] if 0 <= at < len(x) else np.zeros_like(x[0]) for at in out])


def _rows_from(x, start):
    @plgpu.kernel(out_type=like(8, _ROW), scratch_types=[
        plgpu.SMEM((8, _ROW), jnp.float32), plgpu.Barrier()])
    def copy(x_gmem, start_gmem, o_gmem, smem, loaded):
        plgpu.copy_gmem_to_smem(x_gmem.at[pl.ds(start_gmem[0], 8)], smem, loaded)
        plgpu.barrier_wait(loaded)
        o_gmem[...] = smem[...]

    return copy(x, start)


@case(ramp(16, _ROW), np.array([-3], np.int32), wanted=_window, is_interpreted=False)
def rows_that_begin_before_their_array(x, start):
    """The TMA fills what lies there with zeros."""
    return _rows_from(x, start)


@case(ramp(16, _ROW), np.array([-9], np.int32), wanted=_window, is_interpreted=False)
def rows_that_end_before_their_array(x, start):
    return _rows_from(x, start)


@case(ramp(16, _ROW), np.array([12], np.int32), wanted=_window, is_interpreted=False)
def rows_that_begin_in_their_array(x, start):
    return _rows_from(x, start)


# ---- barriers --------------------------------------------------------------------------------


@case(ramp(3, _ROW), wanted=lambda x: x.sum(0), has="barrier_arrive barrier_wait")
def a_barrier_for_which_three_must_arrive(x):
    @plgpu.kernel(out_type=like(_ROW), num_threads=4, thread_name="wg", scratch_types=[
        plgpu.SMEM((3, _ROW), jnp.float32), plgpu.Barrier(num_arrivals=3)])
    def total(x_gmem, o_gmem, smem, barrier):
        wg = lax.axis_index("wg")

        @pl.when(wg < 3)
        def _():
            smem[wg] = x_gmem[wg]
            plgpu.barrier_arrive(barrier)

        @pl.when(wg == 3)
        def _():
            plgpu.barrier_wait(barrier)
            o_gmem[...] = smem[0] + smem[1] + smem[2]

    return total(x)


@case(ramp(2, _ROW), wanted=lambda x: 7 * x + 4 * x[::-1], has="scan")
def phases_of_one_barrier(x):
    @plgpu.kernel(out_type=like(2, _ROW), num_threads=2, thread_name="wg", scratch_types=[
        plgpu.SMEM((2, _ROW), jnp.float32), plgpu.Barrier(num_arrivals=2)])
    def rounds(x_gmem, o_gmem, smem, barrier):
        wg = lax.axis_index("wg")
        x = x_gmem[wg]

        def step(k, total):
            smem[wg] = x * k.astype(jnp.float32)
            plgpu.barrier_arrive_and_wait(barrier)
            total = total + smem[lax.rem(wg + k, 2)]
            plgpu.barrier_arrive_and_wait(barrier)
            return total

        o_gmem[wg] = lax.fori_loop(0, 5, step, x)

    return rounds(x)


@case(ramp(4, _ROW), wanted=lambda x: x + 1, has="barrier_arrive")
def a_barrier_that_one_of_two_branches_arrives_at(x):
    @plgpu.kernel(out_type=like(4, _ROW), num_threads=2, thread_name="wg", scratch_types=[
        plgpu.Barrier(num_barriers=4)])
    def increment(x_gmem, o_gmem, barriers):
        wg = lax.axis_index("wg")

        @pl.loop(0, 4)
        def _(row):
            is_mine = lax.rem(row, 2) == wg

            @pl.when(is_mine)
            def _():
                o_gmem[row] = x_gmem[row] + 1
                plgpu.barrier_arrive(barriers.at[row])

            @pl.when(jnp.logical_not(is_mine))
            def _():
                plgpu.barrier_wait(barriers.at[row])

    return increment(x)


@case(ramp(2, _ROW), wanted=lambda x: x[::-1] + 1, has="set_max_registers")
def registers_that_move_between_warpgroups(x):
    @plgpu.kernel(out_type=like(2, _ROW), num_threads=3, thread_name="wg", scratch_types=[
        plgpu.SMEM((2, _ROW), jnp.float32), plgpu.Barrier(num_barriers=2)])
    def swap(x_gmem, o_gmem, smem, filled):
        wg = lax.axis_index("wg")

        @pl.when(wg == 2)
        def _():
            plgpu.set_max_registers(40, action="decrease")
            for row in range(2):
                plgpu.copy_gmem_to_smem(x_gmem.at[row], smem.at[row], filled.at[row])

        @pl.when(wg < 2)
        def _():
            plgpu.set_max_registers(232, action="increase")
            plgpu.barrier_wait(filled.at[1 - wg])
            o_gmem[wg] = smem[1 - wg] + 1

    return swap(x)


# ---- pipelines and what is around kernels ----------------------------------------------------


@case(ramp(6, _ROW), wanted=lambda x: x.sum(0)[None], has="scan")
def a_pipeline_whose_output_stays(x):
    @plgpu.kernel(out_type=like(1, _ROW))
    def total(x_gmem, o_gmem):
        def body(_, x_smem, o_smem, so_far):
            so_far = so_far + x_smem[0]
            o_smem[0] = so_far
            plgpu.commit_smem()
            return so_far

        plgpu.emit_pipeline(
            body, grid=(6,), max_concurrent_steps=2, init_carry=jnp.zeros((_ROW,), jnp.float32),
            in_specs=[plgpu.BlockSpec((1, _ROW), lambda i: (i, 0))],
            out_specs=[plgpu.BlockSpec((1, _ROW), lambda i: (0, 0))])(x_gmem, o_gmem)

    return total(x)


@case(ramp(6, _ROW), ramp(6, _ROW) * 2, wanted=lambda x, y: x * y, is_interpreted=False)
def a_pipeline_with_an_operand_that_is_not_copied(x, y):
    @plgpu.kernel(out_type=like(6, _ROW))
    def product(x_gmem, y_gmem, o_gmem):
        def body(indices, x_smem, y_gmem, o_smem):
            o_smem[0] = x_smem[0] * y_gmem[indices[0]]

        rows = plgpu.BlockSpec((1, _ROW), lambda i: (i, 0))
        plgpu.emit_pipeline(
            body, grid=(6,), max_concurrent_steps=2, out_specs=[rows], in_specs=[
                rows, plgpu.BlockSpec((1, _ROW), lambda i: (i, 0), memory_space=plgpu.GMEM)],
        )(x_gmem, y_gmem, o_gmem)

    return product(x, y)


@case(ramp(3, 8, _ROW), wanted=lambda x: x.sum(1), has="while")
def a_pipeline_in_a_persistent_kernel(x):
    @plgpu.kernel(out_type=like(3, _ROW), grid=(2,), grid_names=("sm",))
    def totals(x_gmem, o_gmem):
        def body(_, x_smem, so_far):
            so_far = so_far + x_smem[0]
            plgpu.commit_smem()
            return so_far

        @plgpu.nd_loop((3,), collective_axes="sm")
        def _(info):
            (i,) = info.index
            o_gmem[i] = plgpu.emit_pipeline(
                body, grid=(8,), in_specs=[plgpu.BlockSpec((1, _ROW), lambda k: (k, 0))],
                max_concurrent_steps=3, init_carry=jnp.zeros((_ROW,), jnp.float32))(x_gmem.at[i])

    return totals(x)


@case(ramp(3, _ROW), ramp(_ROW), wanted=lambda x, y: x * y + y, has="axis_index")
def a_kernel_under_vmap_of_one_of_two(x, y):
    @plgpu.kernel(out_type=like(_ROW))
    def both(x_gmem, y_gmem, o_gmem):
        o_gmem[...] = x_gmem[...] * y_gmem[...] + y_gmem[...]

    return jax.vmap(both, in_axes=(0, None))(x, y)


@case(ramp(4, _ROW), wanted=lambda x: (x + 1) * 2 - (x + 1), has="kernel")
def kernels_after_each_other(x):
    @plgpu.kernel(out_type=like(4, _ROW))
    def increment(x_gmem, o_gmem):
        o_gmem[...] = x_gmem[...] + 1

    @plgpu.kernel(out_type=like(4, _ROW), grid=(4,), grid_names=("i",))
    def doubled_less(x_gmem, o_gmem):
        i = lax.axis_index("i")
        o_gmem[i] = x_gmem[i] * 2 - x_gmem[i]

    return doubled_less(increment(x))
