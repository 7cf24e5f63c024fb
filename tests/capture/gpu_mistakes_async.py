"""Kernels for a GPU with one mistake each, in what the TMA and the tensor core do on their own."""

from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np
from gpu_case import like, ramp, tiled
from gpu_mistakes import mistake
from jax import lax
from jax.experimental import pallas as pl
from jax.experimental.pallas import mosaic_gpu as plgpu

_ROW = 128


# ---- pipelines and products --------------------------------------------------------------------


@mistake("overwritten_in_flight", ramp(6, _ROW))
def a_pipeline_that_visits_its_last_block_twice(x):
    @plgpu.kernel(out_type=like(3, _ROW))
    def halve(x_gmem, o_gmem):
        def body(_, x_smem, o_smem):
            o_smem[...] = x_smem[...]

        plgpu.emit_pipeline(  # mistake
            body, grid=(6,), max_concurrent_steps=2,
            in_specs=[plgpu.BlockSpec((1, _ROW), lambda i: (i, 0))],
            out_specs=[plgpu.BlockSpec((1, _ROW), lambda i: (i // 2, 0))])(x_gmem, o_gmem)

    return halve(x)


_AB = [(ramp(64, 64) % 4).astype(np.float16)] * 2
_TILE = plgpu.SMEM((64, 64), jnp.float16, transforms=tiled(jnp.float16))


class _Refs(NamedTuple):
    b_gmem: Any
    o_gmem: Any
    a_smem: Any
    b_smem: Any
    barrier: Any


def _with_operands(a, b, scope):
    """Loads a and b, waits for both, and calls scope(accumulator, refs)."""
    @plgpu.kernel(out_type=like(64, 64), scratch_types=[
        _TILE, _TILE, plgpu.Barrier(num_arrivals=2)])
    def matmul(a_gmem, b_gmem, o_gmem, a_smem, b_smem, barrier):
        plgpu.copy_gmem_to_smem(a_gmem, a_smem, barrier)
        plgpu.copy_gmem_to_smem(b_gmem, b_smem, barrier)
        plgpu.barrier_wait(barrier)
        refs = _Refs(b_gmem, o_gmem, a_smem, b_smem, barrier)
        pl.run_scoped(lambda acc: scope(acc, refs), plgpu.ACC((64, 64), jnp.float32))

    return matmul(a, b)


@mistake("read_before_wait", *_AB)
def an_accumulator_that_is_read_too_early(a, b):
    def scope(acc, refs):
        plgpu.wgmma(acc, refs.a_smem, refs.b_smem)
        refs.o_gmem[...] = plgpu.wgmma_accumulator_load(acc, wait_n=None)  # mistake
        plgpu.wgmma_wait(0)

    return _with_operands(a, b, scope)


@mistake("read_before_wait", *_AB)
def a_wait_that_leaves_the_last_product(a, b):
    def scope(acc, refs):
        plgpu.wgmma(acc, refs.a_smem, refs.b_smem)
        plgpu.wgmma(acc, refs.a_smem, refs.b_smem)
        plgpu.wgmma_wait(1)
        refs.o_gmem[...] = plgpu.wgmma_accumulator_load(acc, wait_n=None)  # mistake
        plgpu.wgmma_wait(0)

    return _with_operands(a, b, scope)


@mistake("read_before_wait", *_AB)
def an_operand_that_has_not_landed(a, b):
    @plgpu.kernel(out_type=like(64, 64), scratch_types=[
        _TILE, _TILE, plgpu.Barrier(num_barriers=2)])
    def matmul(a_gmem, b_gmem, o_gmem, a_smem, b_smem, barriers):
        plgpu.copy_gmem_to_smem(a_gmem, a_smem, barriers.at[0])
        plgpu.copy_gmem_to_smem(b_gmem, b_smem, barriers.at[1])
        plgpu.barrier_wait(barriers.at[0])

        def scope(acc):
            plgpu.wgmma(acc, a_smem, b_smem)  # mistake
            plgpu.barrier_wait(barriers.at[1])
            o_gmem[...] = acc[...]

        pl.run_scoped(scope, plgpu.ACC((64, 64), jnp.float32))

    return matmul(a, b)


# ---- commit_smem, and operands of products -----------------------------------------------------

# commit_smem orders loads and stores with copies and products, and an operand of a product must
# stay as it is until wgmma_wait covers it.


@mistake("not_committed")
def a_store_that_is_not_committed(x):
    @plgpu.kernel(out_type=like(4, _ROW), scratch_types=[plgpu.SMEM((4, _ROW), jnp.float32)])
    def double(x_gmem, o_gmem, smem):
        smem[...] = x_gmem[...] * 2
        plgpu.copy_smem_to_gmem(smem, o_gmem)  # mistake
        plgpu.wait_smem_to_gmem(0)

    return double(x)


@mistake("not_committed")
def a_refill_after_loads_that_are_not_committed(x):
    @plgpu.kernel(out_type=like(4, _ROW), scratch_types=[
        plgpu.SMEM((_ROW,), jnp.float32), plgpu.Barrier()])
    def double(x_gmem, o_gmem, smem, barrier):
        @pl.loop(0, 4)
        def _(row):
            plgpu.copy_gmem_to_smem(x_gmem.at[row], smem, barrier)  # mistake
            plgpu.barrier_wait(barrier)
            o_gmem[row] = smem[...] * 2

    return double(x)


@mistake("not_committed", *_AB)
def an_operand_that_is_not_committed(a, b):
    def scope(acc, refs):
        refs.a_smem[...] = plgpu.load(refs.a_smem, layout=plgpu.Layout.WGMMA) * 2
        plgpu.wgmma(acc, refs.a_smem, refs.b_smem)  # mistake
        refs.o_gmem[...] = acc[...]

    return _with_operands(a, b, scope)


@mistake("overwritten_in_flight", *_AB)
def an_operand_that_is_refilled_during_its_product(a, b):
    def scope(acc, refs):
        plgpu.wgmma(acc, refs.a_smem, refs.b_smem)
        plgpu.copy_gmem_to_smem(refs.b_gmem, refs.a_smem, refs.barrier)  # mistake
        plgpu.barrier_arrive(refs.barrier)
        plgpu.barrier_wait(refs.barrier)
        refs.o_gmem[...] = acc[...]

    return _with_operands(a, b, scope)


@mistake("overwritten_in_flight", *_AB)
def an_operand_that_is_stored_to_during_its_product(a, b):
    def scope(acc, refs):
        x = plgpu.load(refs.a_smem, layout=plgpu.Layout.WGMMA) + 1
        plgpu.commit_smem()
        plgpu.wgmma(acc, refs.a_smem, refs.b_smem)
        refs.a_smem[...] = x  # mistake
        refs.o_gmem[...] = acc[...]

    return _with_operands(a, b, scope)


@mistake("race", *((ramp(*shape) % 4).astype(np.float16) for shape in ((64, 128), (128, 64))))
def a_slot_whose_release_is_delayed_and_that_the_next_tile_refills(a, b):
    """With delay_release, the memory warpgroup does not wait for the last products of a tile."""
    @plgpu.kernel(out_type=like(64, 64), num_threads=2, thread_name="wg")
    def matmul(a_gmem, b_gmem, o_gmem):
        def body(_, a_smem, b_smem, acc):
            plgpu.wgmma(acc, a_smem, b_smem)
            plgpu.wgmma_wait(1)
            return acc

        def context(run):
            def accumulate(acc):
                run(acc)
                o_gmem[...] = acc[...]

            pl.run_scoped(accumulate, plgpu.ACC((64, 64), jnp.float32))

        pipeline = plgpu.emit_pipeline_warp_specialized(
            body, grid=(2,), memory_registers=40, max_concurrent_steps=2, wg_axis="wg",
            num_compute_wgs=1, compute_context=context,
            in_specs=[plgpu.BlockSpec((64, 64), place, delay_release=1,
                                      transforms=tiled(jnp.float16))
                      for place in (lambda k: (0, k), lambda k: (k, 0))])

        def scope(buffers):
            @pl.loop(0, 2)
            def _(_):
                pipeline(a_gmem, b_gmem, allocations=buffers)  # mistake

        pl.run_scoped(scope, pipeline.get_allocations(a_gmem, b_gmem), collective_axes="wg")

    return matmul(a, b)


@mistake("race", *_AB)
def a_slot_that_is_released_before_its_product_has_read_it(a, b):
    @plgpu.kernel(out_type=like(64, 64), num_threads=2, thread_name="wg", scratch_types=[
        _TILE, _TILE, *[plgpu.Barrier()] * 3])
    def matmul(a_gmem, b_gmem, o_gmem, a_smem, b_smem, full, empty, ready):
        @pl.when(lax.axis_index("wg") == 1)
        def _():
            @pl.loop(0, 2)
            def _(step):
                @pl.when(step > 0)
                def _():
                    plgpu.barrier_wait(empty)

                plgpu.copy_gmem_to_smem(a_gmem, a_smem, full)  # mistake

        @pl.when(lax.axis_index("wg") == 0)
        def _():
            plgpu.copy_gmem_to_smem(b_gmem, b_smem, ready)
            plgpu.barrier_wait(ready)

            def multiply(acc):
                @pl.loop(0, 2)
                def _(step):
                    plgpu.barrier_wait(full)
                    plgpu.wgmma(acc, a_smem, b_smem)

                    @pl.when(step == 0)
                    def _():
                        plgpu.barrier_arrive(empty)

                    plgpu.wgmma_wait(0)

                o_gmem[...] = acc[...]

            pl.run_scoped(multiply, plgpu.ACC((64, 64), jnp.float32))

    return matmul(a, b)


# ---- copies that reach beyond their array -------------------------------------------------------


def _of_rows(x, start, mode):
    @plgpu.kernel(out_type=like(4, _ROW), scratch_types=[
        plgpu.SMEM((4, _ROW), jnp.float32), plgpu.Barrier()])
    def copy(x_gmem, start_gmem, o_gmem, smem, loaded):
        rows = pl.ds(start_gmem[0], 4)
        plgpu.copy_gmem_to_smem(x_gmem.at[rows], smem, loaded, oob_mode=mode)  # here
        plgpu.barrier_wait(loaded)
        o_gmem[...] = smem[...]  # there

    return copy(x, start)


@mistake("out_of_bounds", ramp(6, _ROW), np.array([4], np.int32), at=(_of_rows, "here"))
def a_promise_that_is_not_kept(x, start):
    return _of_rows(x, start, plgpu.OOBFillMode.PROMISE_IN_BOUNDS)


@mistake("undefined_result", ramp(6, _ROW), np.array([4], np.int32), at=(_of_rows, "there"))
def rows_that_nothing_fills(x, start):
    return _of_rows(x, start, plgpu.OOBFillMode.UNDEFINED)
