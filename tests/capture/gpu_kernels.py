"""Kernels for a GPU: blocks and warpgroups, memory, copies, barriers. Each rule of capture has one
at least."""

import jax.numpy as jnp
import numpy as np
from gpu_case import case, like, ramp, tiled
from jax import lax
from jax.experimental import pallas as pl
from jax.experimental.pallas import mosaic_gpu as plgpu

_ROW = 128


# ---- loads and stores ----------------------------------------------------------------------


@case(ramp(256), ramp(256)[::-1].copy(), wanted=lambda x, y: x + y, has="get swap core_map")
def add_vectors(x, y):
    @plgpu.kernel(out_type=like(256))
    def add(x_gmem, y_gmem, o_gmem):
        o_gmem[...] = x_gmem[...] + y_gmem[...]

    return add(x, y)


@case(ramp(4, 6, _ROW), wanted=lambda x: 2 * x, has="axis_index")
def a_grid_of_two_axes(x):
    @plgpu.kernel(out_type=like(4, 6, _ROW), grid=(4, 6), grid_names=("i", "j"))
    def double(x_gmem, o_gmem):
        i, j = lax.axis_index("i"), lax.axis_index("j")
        o_gmem[i, j] = x_gmem[i, j] * 2

    return double(x)


@case(ramp(2, _ROW), wanted=lambda x: np.stack([x[0] + 1, x[1] * 3]), has="axis_index cond")
def warpgroups_that_do_different_things(x):
    @plgpu.kernel(out_type=like(2, _ROW), num_threads=2, thread_name="wg")
    def both(x_gmem, o_gmem):
        wg = lax.axis_index("wg")

        @pl.when(wg == 0)
        def _():
            o_gmem[0] = x_gmem[0] + 1

        @pl.when(wg == 1)
        def _():
            o_gmem[1] = x_gmem[1] * 3

    return both(x)


@case(ramp(8, _ROW), wanted=lambda x: np.where(x > 0, x * 0.5, -x).astype(np.float16),
      has="select_n convert_element_type")
def rows_of_shared_memory(x):
    @plgpu.kernel(out_type=like(8, _ROW, dtype=jnp.float16),
                  scratch_types=[plgpu.SMEM((8, _ROW), jnp.float16)])
    def leak(x_gmem, o_gmem, smem):
        @pl.loop(0, 8)
        def _(row):
            x = plgpu.load(x_gmem.at[row], layout=plgpu.Layout.WG_STRIDED((_ROW,), vec_size=1))
            smem[row] = jnp.where(x > 0, x * 0.5, -x).astype(jnp.float16)

        plgpu.commit_smem()
        plgpu.copy_smem_to_gmem(smem, o_gmem)
        plgpu.wait_smem_to_gmem(0)

    return leak(x)


@case(ramp(64, 64, dtype=np.float16), wanted=lambda x: x.T.copy(), has="ref_transpose")
def a_transposed_ref(x):
    @plgpu.kernel(out_type=like(64, 64, dtype=jnp.float16), scratch_types=[
        plgpu.SMEM((64, 64), jnp.float16, transforms=tiled(jnp.float16)),
        plgpu.SMEM((64, 64), jnp.float16, transforms=tiled(jnp.float16)), plgpu.Barrier()])
    def transpose(x_gmem, o_gmem, x_smem, o_smem, barrier):
        plgpu.copy_gmem_to_smem(x_gmem, x_smem, barrier)
        plgpu.barrier_wait(barrier)
        turned = plgpu.load(x_smem.transpose((1, 0)), layout=plgpu.Layout.WGMMA_TRANSPOSED)
        o_smem[...] = plgpu.layout_cast(turned, plgpu.Layout.WGMMA)
        plgpu.commit_smem()
        plgpu.copy_smem_to_gmem(o_smem, o_gmem)
        plgpu.wait_smem_to_gmem(0)

    return transpose(x)


@case(ramp(64, 128, dtype=np.float16), wanted=lambda x: (x[:, 64:] - x[:, :64]).astype(np.float16))
def parts_of_tiled_memory(x):
    @plgpu.kernel(out_type=like(64, 64, dtype=jnp.float16), scratch_types=[
        plgpu.SMEM((64, 128), jnp.float16, transforms=tiled(jnp.float16)),
        plgpu.SMEM((64, 64), jnp.float16, transforms=tiled(jnp.float16)), plgpu.Barrier()])
    def difference(x_gmem, o_gmem, x_smem, o_smem, barrier):
        plgpu.copy_gmem_to_smem(x_gmem, x_smem, barrier)
        plgpu.barrier_wait(barrier)
        o_smem[...] = x_smem[:, 64:] - x_smem[:, :64]
        plgpu.commit_smem()
        plgpu.copy_smem_to_gmem(o_smem, o_gmem)
        plgpu.wait_smem_to_gmem(0)

    return difference(x)


@case(ramp(64, 64, dtype=np.float16), wanted=lambda x: x + np.float16(1))
def one_of_several_tiled_buffers(x):
    @plgpu.kernel(out_type=like(64, 64, dtype=jnp.float16), scratch_types=[
        plgpu.SMEM((2, 64, 64), jnp.float16, transforms=tiled(jnp.float16)), plgpu.Barrier()])
    def increment(x_gmem, o_gmem, smem, barrier):
        plgpu.copy_gmem_to_smem(x_gmem, smem.at[1], barrier)
        plgpu.barrier_wait(barrier)
        smem[0] = smem[1] + 1
        plgpu.commit_smem()
        plgpu.copy_smem_to_gmem(smem.at[0], o_gmem)
        plgpu.wait_smem_to_gmem(0)

    return increment(x)


# ---- copies ----------------------------------------------------------------------------------


@case(ramp(512), wanted=lambda x: 2 * (x + 1), has="""
    run_scoped copy_gmem_to_smem barrier_wait commit_smem copy_smem_to_gmem wait_smem_to_gmem""")
def blocks_copied_in_and_out(x):
    @plgpu.kernel(out_type=like(512), grid=(4,), grid_names=("i",), scratch_types=[
        plgpu.SMEM((_ROW,), jnp.float32), plgpu.SMEM((_ROW,), jnp.float32), plgpu.Barrier()])
    def twice(x_gmem, o_gmem, x_smem, o_smem, barrier):
        here = pl.ds(lax.axis_index("i") * _ROW, _ROW)
        plgpu.copy_gmem_to_smem(x_gmem.at[here], x_smem, barrier)
        plgpu.barrier_wait(barrier)
        o_smem[...] = plgpu.load(x_smem) + 1
        plgpu.store(o_smem, o_smem[...] * 2)
        plgpu.commit_smem()
        plgpu.copy_smem_to_gmem(o_smem, o_gmem.at[here])
        plgpu.wait_smem_to_gmem(0)

    return twice(x)


@case(ramp(_ROW), ramp(_ROW) * 2, wanted=lambda x, y: x * y)
def two_copies_on_one_barrier(x, y):
    @plgpu.kernel(out_type=like(_ROW), scratch_types=dict(
        smem=plgpu.SMEM((2, _ROW), jnp.float32), barrier=plgpu.Barrier(num_arrivals=2)))
    def product(x_gmem, y_gmem, o_gmem, smem, barrier):
        plgpu.copy_gmem_to_smem(x_gmem, smem.at[0], barrier)
        plgpu.copy_gmem_to_smem(y_gmem, smem.at[1], barrier)
        plgpu.barrier_wait(barrier)
        o_gmem[...] = smem[0] * smem[1]

    return product(x, y)


@case(ramp(8, _ROW), wanted=lambda x: x.sum(0), has="scan")
def copies_on_several_barriers(x):
    @plgpu.kernel(out_type=like(_ROW), scratch_types=[
        plgpu.SMEM((3, _ROW), jnp.float32), plgpu.Barrier(num_barriers=3)])
    def total(x_gmem, o_gmem, smem, barriers):
        for row in range(3):
            plgpu.copy_gmem_to_smem(x_gmem.at[row], smem.at[row], barriers.at[row])

        def step(row, so_far):
            slot = lax.rem(row, 3)
            plgpu.barrier_wait(barriers.at[slot])
            so_far += smem[slot]

            @pl.when(row + 3 < 8)
            def _():
                plgpu.commit_smem()
                plgpu.copy_gmem_to_smem(x_gmem.at[row + 3], smem.at[slot], barriers.at[slot])

            return so_far

        o_gmem[...] = lax.fori_loop(0, 8, step, jnp.zeros((_ROW,), jnp.float32))

    return total(x)


@case(ramp(4, _ROW), wanted=lambda x: (x + 1, x - 1), has="commit_group")
def copies_out_in_groups(x):
    @plgpu.kernel(out_type=[like(4, _ROW)] * 2,
                  scratch_types=[plgpu.SMEM((2, 2, _ROW), jnp.float32)])
    def both(x_gmem, up_gmem, down_gmem, smem):
        plgpu.commit_smem_to_gmem_group()  # of no copies
        for row in range(4):
            plgpu.wait_smem_to_gmem(1, wait_read_only=True)
            slot = row % 2
            x = x_gmem[row]
            smem[slot, 0], smem[slot, 1] = x + 1, x - 1
            plgpu.commit_smem()
            plgpu.copy_smem_to_gmem(smem.at[slot, 0], up_gmem.at[row], commit_group=False)
            plgpu.copy_smem_to_gmem(smem.at[slot, 1], down_gmem.at[row], commit_group=False)
            plgpu.commit_smem_to_gmem_group()
        plgpu.wait_smem_to_gmem(0)

    return both(x)


@case(ramp(4, _ROW), np.array([1, 0, 1, 0], np.int32), is_interpreted=False,
      wanted=lambda x, wanted: np.where(wanted[:, None] > 0, 2 * x, x))
def copies_with_predicates(x, wanted):
    @plgpu.kernel(out_type=like(4, _ROW), scratch_types=[
        plgpu.SMEM((2, _ROW), jnp.float32), plgpu.Barrier()])
    def some(x_gmem, wanted_gmem, o_gmem, smem, barrier):
        @pl.loop(0, 4)
        def _(row):
            is_wanted = wanted_gmem[row] > 0
            plgpu.copy_gmem_to_smem(x_gmem.at[row], smem.at[0], barrier, predicate=is_wanted)
            plgpu.barrier_arrive(barrier, predicate=jnp.logical_not(is_wanted))
            plgpu.barrier_wait(barrier)
            smem[1] = smem[0] * 2
            plgpu.commit_smem()
            plgpu.copy_smem_to_gmem(smem.at[1], o_gmem.at[row], predicate=is_wanted)

            @pl.when(jnp.logical_not(is_wanted))
            def _():
                o_gmem[row] = x_gmem[row]

            plgpu.wait_smem_to_gmem(0)

    return some(x, wanted)


@case(ramp(100, _ROW), wanted=lambda x: np.concatenate([x, np.zeros((28, _ROW), x.dtype)]) + 1)
def copies_that_leave_the_array(x):
    @plgpu.kernel(out_type=like(128, _ROW), grid=(2,), grid_names=("i",), scratch_types=[
        plgpu.SMEM((64, _ROW), jnp.float32), plgpu.Barrier()])
    def increment(x_gmem, o_gmem, smem, barrier):
        rows = pl.ds(lax.axis_index("i") * 64, 64)
        plgpu.copy_gmem_to_smem(x_gmem.at[rows], smem, barrier)
        plgpu.barrier_wait(barrier)
        smem[...] += 1
        plgpu.commit_smem()
        plgpu.copy_smem_to_gmem(smem, o_gmem.at[rows])
        plgpu.wait_smem_to_gmem(0)

    return increment(x)


# ---- warpgroups that wait for each other ----------------------------------------------------


@case(ramp(6, _ROW), wanted=lambda x: 3 * x + 1, has="barrier_arrive barrier_wait")
def a_warpgroup_that_makes_what_another_takes(x):
    @plgpu.kernel(out_type=like(6, _ROW), num_threads=2, thread_name="wg", scratch_types=[
        plgpu.SMEM((2, _ROW), jnp.float32), plgpu.Barrier(num_barriers=2),
        plgpu.Barrier(num_barriers=2)])
    def hand_over(x_gmem, o_gmem, smem, full, empty):
        def makes():
            @pl.loop(0, 6)
            def _(row):
                slot = lax.rem(row, 2)

                @pl.when(row >= 2)
                def _():
                    plgpu.barrier_wait(empty.at[slot])

                smem[slot] = 3 * x_gmem[row]
                plgpu.barrier_arrive(full.at[slot])

        def takes():
            @pl.loop(0, 6)
            def _(row):
                slot = lax.rem(row, 2)
                plgpu.barrier_wait(full.at[slot])
                o_gmem[row] = smem[slot] + 1

                @pl.when(row < 4)
                def _():
                    plgpu.barrier_arrive(empty.at[slot])

        lax.cond(lax.axis_index("wg") == 0, makes, takes)

    return hand_over(x)


@case(ramp(4, _ROW), wanted=lambda x: x + x[::-1], has="barrier_arrive barrier_wait")
def warpgroups_that_exchange_rows(x):
    @plgpu.kernel(out_type=like(4, _ROW), num_threads=4, thread_name="wg", scratch_types=[
        plgpu.SMEM((4, _ROW), jnp.float32), plgpu.Barrier(num_arrivals=4)])
    def exchange(x_gmem, o_gmem, smem, barrier):
        wg = lax.axis_index("wg")
        x = x_gmem[wg]
        smem[wg] = x
        plgpu.barrier_arrive_and_wait(barrier)
        o_gmem[wg] = x + smem[3 - wg]

    return exchange(x)


@case(ramp(2, _ROW), wanted=lambda x: x + x[::-1], has="run_scoped")
def memory_that_warpgroups_share_for_a_while(x):
    @plgpu.kernel(out_type=like(2, _ROW), num_threads=2, thread_name="wg")
    def exchange(x_gmem, o_gmem):
        wg = lax.axis_index("wg")

        def scope(smem, barrier):
            smem[wg] = x_gmem[wg]
            plgpu.barrier_arrive_and_wait(barrier)
            o_gmem[wg] = smem[wg] + smem[1 - wg]

        pl.run_scoped(scope, plgpu.SMEM((2, _ROW), jnp.float32), plgpu.Barrier(num_arrivals=2),
                      collective_axes="wg")

    return exchange(x)
