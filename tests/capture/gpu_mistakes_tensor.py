"""Kernels for a Blackwell GPU with one mistake each, in what the tensor core does on its own."""

import functools

import gpu_mistakes
import jax.numpy as jnp
import ml_dtypes
import numpy as np
from gpu_case import like, ramp, tiled
from jax import lax
from jax.experimental import pallas as pl
from jax.experimental.pallas import mosaic_gpu as plgpu

mistake = functools.partial(gpu_mistakes.mistake, chip="b200")
_F16 = np.float16
_E4M3, _E8M0 = np.dtype(ml_dtypes.float8_e4m3fn), np.dtype(ml_dtypes.float8_e8m0fnu)
_M, _N, _K = 128, 64, 64
_AB = [(ramp(_M, _K) % 4).astype(_F16), (ramp(_K, _N) % 3).astype(_F16)]
_TILES = dict(a_smem=plgpu.SMEM((_M, _K), jnp.float16, transforms=tiled(_F16)),
              b_smem=plgpu.SMEM((_K, _N), jnp.float16, transforms=tiled(_F16)),
              acc=plgpu.TMEM((_M, _N), jnp.float32),
              loaded=plgpu.Barrier(num_arrivals=2))
_DONE = plgpu.Barrier(orders_tensor_core=True)


def _with_operands(a, b, body, **scratch):
    """Loads a and b, waits for both, and calls body(output, refs)."""
    @plgpu.kernel(out_type=like(_M, _N), scratch_types=dict(**_TILES, done=_DONE, **scratch))
    def matmul(a_gmem, b_gmem, o_gmem, **refs):
        plgpu.copy_gmem_to_smem(a_gmem, refs["a_smem"], refs["loaded"])
        plgpu.copy_gmem_to_smem(b_gmem, refs["b_smem"], refs["loaded"])
        plgpu.barrier_wait(refs["loaded"])
        body(a_gmem, o_gmem, **refs)

    return matmul(a, b)


@mistake("read_before_wait", *_AB)
def a_sum_that_is_read_too_early(a, b):
    def body(a_gmem, o_gmem, a_smem, b_smem, acc, loaded, done):
        plgpu.tcgen05_mma(acc, a_smem, b_smem, done, accumulate=False)
        o_gmem[...] = plgpu.async_load_tmem(acc)  # mistake
        plgpu.barrier_wait(done)

    return _with_operands(a, b, body)


@mistake("read_before_wait", *_AB)
def a_commit_before_the_last_product(a, b):
    def body(a_gmem, o_gmem, a_smem, b_smem, acc, loaded, done):
        plgpu.tcgen05_mma(acc, a_smem, b_smem, done, accumulate=False)
        plgpu.tcgen05_mma(acc, a_smem, b_smem)
        plgpu.barrier_wait(done)
        o_gmem[...] = plgpu.async_load_tmem(acc)  # mistake

    return _with_operands(a, b, body)


@mistake("overwritten_in_flight", *_AB)
def an_operand_that_is_refilled_too_early(a, b):
    def body(a_gmem, o_gmem, a_smem, b_smem, acc, loaded, done, further):
        plgpu.tcgen05_mma(acc, a_smem, b_smem, done, accumulate=False)
        plgpu.copy_gmem_to_smem(a_gmem, a_smem, further)  # mistake
        plgpu.barrier_wait(done)
        plgpu.barrier_wait(further)
        o_gmem[...] = plgpu.async_load_tmem(acc)

    return _with_operands(a, b, body, further=plgpu.Barrier())


@mistake("overwritten_in_flight", *_AB)
def a_load_that_nobody_waits_for(a, b):
    def body(a_gmem, o_gmem, a_smem, b_smem, acc, loaded, done):
        plgpu.tcgen05_mma(acc, a_smem, b_smem, done, accumulate=False)
        plgpu.barrier_wait(done)
        o_gmem[...] = plgpu.async_load_tmem(acc)
        plgpu.tcgen05_mma(acc, a_smem, b_smem, done, accumulate=False)  # mistake
        plgpu.barrier_wait(done)

    return _with_operands(a, b, body)


@mistake("read_before_wait", *_AB)
def a_store_that_is_not_committed(a, b):
    def body(a_gmem, o_gmem, a_smem, b_smem, acc, loaded, done):
        plgpu.async_store_tmem(acc, jnp.ones((_M, _N), jnp.float32))
        plgpu.tcgen05_mma(acc, a_smem, b_smem, done)  # mistake
        plgpu.barrier_wait(done)
        o_gmem[...] = plgpu.async_load_tmem(acc)

    return _with_operands(a, b, body)


@mistake("undefined_result", *_AB)
def a_sum_that_begins_with_nothing(a, b):
    def body(a_gmem, o_gmem, a_smem, b_smem, acc, loaded, done):
        plgpu.tcgen05_mma(acc, a_smem, b_smem, done)
        plgpu.barrier_wait(done)
        o_gmem[...] = plgpu.async_load_tmem(acc)  # mistake

    return _with_operands(a, b, body)


@mistake("deadlock", *_AB)
def a_product_without_a_commit(a, b):
    def body(a_gmem, o_gmem, a_smem, b_smem, acc, loaded, done):
        plgpu.tcgen05_mma(acc, a_smem, b_smem, accumulate=False)
        plgpu.barrier_wait(done)  # mistake
        o_gmem[...] = plgpu.async_load_tmem(acc)

    return _with_operands(a, b, body)


@mistake("not_committed", *_AB)
def an_operand_that_the_tensor_core_may_not_see(a, b):
    """No copy by the TMA touches it: only this one reads it beside the program."""
    def body(a_gmem, o_gmem, a_smem, b_smem, acc, loaded, done, stored, lhs):
        stored[...] = 2 * a_smem[...]
        plgpu.async_copy_smem_to_tmem(stored, lhs)  # mistake
        plgpu.tcgen05_mma(acc, lhs, b_smem, done, accumulate=False)
        plgpu.barrier_wait(done)
        o_gmem[...] = plgpu.async_load_tmem(acc)

    return _with_operands(a, b, body, lhs=plgpu.TMEM((_M, _K), jnp.float16, packed=True),
                          stored=plgpu.SMEM((_M, _K), jnp.float16, transforms=tiled(_F16)))


@mistake("read_before_wait", (ramp(128, 128) % 5).astype(_E4M3),
         np.full((1, 1, 32, 16), 2, _E8M0))
def scales_that_are_copied_too_early(x, lines):
    layout = dict(layout=plgpu.TMEMLayout.SCALES_LAYOUT)

    @plgpu.kernel(out_type=like(128, 128), scratch_types=dict(
        x_smem=plgpu.SMEM((128, 128), _E4M3, transforms=tiled(_E4M3)),
        lines_smem=plgpu.SMEM((1, 1, 32, 16), _E8M0), acc=plgpu.TMEM((128, 128), jnp.float32),
        a_scale=plgpu.TMEM((128, 4), _E8M0, **layout),
        b_scale=plgpu.TMEM((128, 4), _E8M0, **layout), loaded=plgpu.Barrier(),
        listed=plgpu.Barrier(), done=_DONE))
    def matmul(x_gmem, lines_gmem, o_gmem, x_smem, lines_smem, acc, a_scale, b_scale, loaded,
               listed, done):
        plgpu.copy_gmem_to_smem(x_gmem, x_smem, loaded)
        plgpu.copy_gmem_to_smem(lines_gmem, lines_smem, listed)
        plgpu.barrier_wait(loaded)
        plgpu.async_copy_scales_to_tmem(lines_smem, a_scale)  # mistake
        plgpu.barrier_wait(listed)
        plgpu.async_copy_scales_to_tmem(lines_smem, b_scale)
        plgpu.tcgen05_mma(acc, x_smem, x_smem.T, done, a_scale=a_scale, b_scale=b_scale,
                          accumulate=False)
        plgpu.barrier_wait(done)
        o_gmem[...] = plgpu.async_load_tmem(acc)

    return matmul(x, lines)


@mistake("read_before_wait", (ramp(2 * _M, _K) % 4).astype(_F16),
         (ramp(_K, 2 * _N) % 3).astype(_F16))
def a_sum_of_a_pair_that_is_read_too_early(a, b):
    pair = dict(cluster=(2,), cluster_names=("p",))

    @plgpu.kernel(out_type=like(2 * _M, 2 * _N), **pair, scratch_types=dict(
        a_smem=_TILES["a_smem"], b_smem=_TILES["b_smem"],
        acc=plgpu.TMEM((_M, 2 * _N), jnp.float32, collective=True), loaded=_TILES["loaded"],
        done=_DONE))
    def matmul(a_gmem, b_gmem, o_gmem, a_smem, b_smem, acc, loaded, done):
        block = lax.axis_index("p")

        @plgpu.warp_map
        def _(warp):
            @pl.when(warp == 0)
            def _():
                for gmem, smem, axis in ((a_gmem, a_smem, 0), (b_gmem, b_smem, 1)):
                    plgpu.copy_gmem_to_smem(gmem, smem, loaded, collective_axes="p",
                                            leader_tracked=plgpu.CopyPartition.PARTITIONED(axis))

            @pl.when((warp == 1) & (block == 0))
            def _():
                plgpu.barrier_wait(loaded)
                plgpu.tcgen05_mma(acc, a_smem, b_smem, done, accumulate=False, collective_axis="p")

        value = plgpu.async_load_tmem(acc)  # mistake
        o_gmem[pl.ds(block * _M, _M)] = value

    return matmul(a, b)
