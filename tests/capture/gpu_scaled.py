"""Kernels for a Blackwell GPU whose factors have scales: MXFP8, MXFP4 and NVFP4."""

import jax.numpy as jnp
import ml_dtypes
import numpy as np
from gpu_case import case, like, ramp
from jax import lax
from jax.experimental import pallas as pl
from jax.experimental.pallas import mosaic_gpu as plgpu

_M, _N, _K = 128, 128, 256
_E8M0, _E4M3, _E2M1 = (np.dtype(getattr(ml_dtypes, name)) for name in
                       ("float8_e8m0fnu", "float8_e4m3fn", "float4_e2m1fn"))
_DONE = plgpu.Barrier(orders_tensor_core=True)


def _powers(rows, columns):
    """Returns scales from 1/4 to 4."""
    return (2.0 ** (ramp(rows, columns) % 5 - 2)).astype(_E8M0)


def _in_lines(scales):
    """Lays scales out as the tensor core wants them in shared memory."""
    rows, columns = scales.shape
    return (scales.reshape(rows // 128, 4, 32, columns // 4, 4).transpose(0, 3, 2, 1, 4)
            .reshape(rows // 128, columns // 4, 32, 16))


def _wide(x, scales):
    return x.astype(np.float32) * np.repeat(scales.astype(np.float32),
                                            x.shape[1] // scales.shape[1], axis=1)


def _product(a, b, a_scales, b_scales):
    return _wide(a, a_scales) @ _wide(b, b_scales).T


def _packed(rows, columns, dtype):
    bits = 4 if dtype == _E2M1 else 8
    return plgpu.SMEM((rows, columns), dtype, transforms=(
        plgpu.TilingTransform((8, 128 * 8 // bits)), plgpu.SwizzleTransform(128)))


def _scales(rows, columns, dtype):
    return plgpu.TMEM((rows, columns), dtype, layout=plgpu.TMEMLayout.SCALES_LAYOUT)


def _multiply(a, b, a_scales, b_scales):
    """One product of all of a and b, whose scales are copied to TMEM before."""
    a_lines, b_lines = _in_lines(a_scales), _in_lines(b_scales)

    @plgpu.kernel(out_type=like(_M, _N), scratch_types=dict(
        a_smem=_packed(*a.shape, a.dtype), b_smem=_packed(*b.shape, b.dtype),
        a_lines_smem=plgpu.SMEM(a_lines.shape, a_lines.dtype),
        b_lines_smem=plgpu.SMEM(b_lines.shape, b_lines.dtype),
        acc=plgpu.TMEM((_M, _N), jnp.float32),
        a_scales_tmem=_scales(*a_scales.shape, a_scales.dtype),
        b_scales_tmem=_scales(*b_scales.shape, b_scales.dtype),
        loaded=plgpu.Barrier(num_arrivals=4), done=_DONE))
    def matmul(a_gmem, b_gmem, a_lines_gmem, b_lines_gmem, o_gmem, a_smem, b_smem, a_lines_smem,
               b_lines_smem, acc, a_scales_tmem, b_scales_tmem, loaded, done):
        plgpu.copy_gmem_to_smem(a_gmem, a_smem, loaded)
        plgpu.copy_gmem_to_smem(b_gmem, b_smem, loaded)
        plgpu.copy_gmem_to_smem(a_lines_gmem, a_lines_smem, loaded)
        plgpu.copy_gmem_to_smem(b_lines_gmem, b_lines_smem, loaded)
        plgpu.barrier_wait(loaded)
        plgpu.async_copy_scales_to_tmem(a_lines_smem, a_scales_tmem)
        plgpu.async_copy_scales_to_tmem(b_lines_smem, b_scales_tmem)
        plgpu.tcgen05_mma(acc, a_smem, b_smem.T, done, a_scale=a_scales_tmem,
                          b_scale=b_scales_tmem, accumulate=False)
        plgpu.barrier_wait(done)
        o_gmem[...] = plgpu.async_load_tmem(acc)

    return matmul(a, b, a_lines, b_lines)


_BYTES = ((ramp(_M, _K) % 9 - 4).astype(_E4M3), (ramp(_N, _K) % 7 - 3).astype(_E4M3))
_NIBBLES = ((ramp(_M, _K) % 5 - 2).astype(_E2M1), (ramp(_N, _K) % 4 - 1).astype(_E2M1))


@case(*_BYTES, _powers(_M, _K // 32), _powers(_N, _K // 32), wanted=_product,
      has="tcgen05_mma async_copy_smem_to_tmem", is_interpreted=False)
def a_product_of_mxfp8(a, b, a_scales, b_scales):
    return _multiply(a, b, a_scales, b_scales)


@case(*_NIBBLES, _powers(_M, _K // 32), _powers(_N, _K // 32), wanted=_product,
      has="tcgen05_mma", is_interpreted=False)
def a_product_of_mxfp4(a, b, a_scales, b_scales):
    return _multiply(a, b, a_scales, b_scales)


@case(*_NIBBLES, (ramp(_M, _K // 16) % 7 / 2).astype(_E4M3),
      (ramp(_N, _K // 16) % 5 / 4).astype(_E4M3), wanted=_product, has="tcgen05_mma",
      is_interpreted=False)
def a_product_of_nvfp4(a, b, a_scales, b_scales):
    return _multiply(a, b, a_scales, b_scales)


@case(*_BYTES, _powers(_M, _K // 32), _powers(_N, _K // 32), wanted=_product,
      has="tcgen05_mma scan", is_interpreted=False)
def a_product_of_mxfp8_in_steps(a, b, a_scales, b_scales):
    """Two slots: the scales of a step overwrite those of the step before, whose product the tensor
    core has served by then."""
    step = 128
    a_lines, b_lines = _in_lines(a_scales), _in_lines(b_scales)

    @plgpu.kernel(out_type=like(_M, _N), scratch_types=dict(
        a_smem=_slots(_M, step), b_smem=_slots(_N, step), a_lines_smem=_slots_of_lines(),
        b_lines_smem=_slots_of_lines(), acc=plgpu.TMEM((_M, _N), jnp.float32),
        a_scales_tmem=_scales(_M, step // 32, _E8M0), b_scales_tmem=_scales(_N, step // 32, _E8M0),
        full=plgpu.Barrier(num_arrivals=4, num_barriers=2), done=_DONE))
    def matmul(a_gmem, b_gmem, a_lines_gmem, b_lines_gmem, o_gmem, a_smem, b_smem, a_lines_smem,
               b_lines_smem, acc, a_scales_tmem, b_scales_tmem, full, done):
        for slot in range(2):
            part = pl.ds(slot * step, step)
            plgpu.copy_gmem_to_smem(a_gmem.at[:, part], a_smem.at[slot], full.at[slot])
            plgpu.copy_gmem_to_smem(b_gmem.at[:, part], b_smem.at[slot], full.at[slot])
            for lines, there in ((a_lines_gmem, a_lines_smem), (b_lines_gmem, b_lines_smem)):
                plgpu.copy_gmem_to_smem(lines.at[:, pl.ds(slot, 1)], there.at[slot],
                                        full.at[slot])

        def multiply(slot, _):
            plgpu.barrier_wait(full.at[slot])
            plgpu.async_copy_scales_to_tmem(a_lines_smem.at[slot], a_scales_tmem)
            plgpu.async_copy_scales_to_tmem(b_lines_smem.at[slot], b_scales_tmem)
            plgpu.tcgen05_mma(acc, a_smem.at[slot], b_smem.at[slot].T, a_scale=a_scales_tmem,
                              b_scale=b_scales_tmem, accumulate=slot > 0)

        lax.fori_loop(0, 2, multiply, None)
        plgpu.tcgen05_commit_arrive(done)
        plgpu.barrier_wait(done)
        o_gmem[...] = plgpu.async_load_tmem(acc)

    return matmul(a, b, a_lines, b_lines)


def _slots(rows, columns):
    return plgpu.SMEM((2, rows, columns), _E4M3, transforms=(
        plgpu.TilingTransform((8, 128)), plgpu.SwizzleTransform(128)))


def _slots_of_lines():
    return plgpu.SMEM((2, 1, 1, 32, 16), _E8M0)


@case((ramp(2 * _M, _K) % 9 - 4).astype(_E4M3), (ramp(2 * _N, _K) % 7 - 3).astype(_E4M3),
      _powers(2 * _M, _K // 32), _powers(2 * _N, _K // 32), wanted=_product,
      has="tcgen05_mma async_copy_smem_to_tmem", is_interpreted=False)
def a_product_of_mxfp8_of_a_pair_of_blocks(a, b, a_scales, b_scales):
    """Each block has the scales of its own rows of a, and those of all columns of the sum."""
    a_lines, b_lines = _in_lines(a_scales), _in_lines(b_scales)
    pair, both = plgpu.CopyPartition.PARTITIONED, plgpu.CopyPartition.REPLICATED
    of_k = _K // 32

    def tensor(rows, columns, dtype, **layout):
        return plgpu.TMEM((rows, columns), dtype, collective=True, **layout)

    layout = dict(layout=plgpu.TMEMLayout.SCALES_LAYOUT)

    @plgpu.kernel(out_type=like(2 * _M, 2 * _N), cluster=(2,), cluster_names=("pair",),
                  scratch_types=dict(
        a_smem=_packed(_M, _K, _E4M3), b_smem=_packed(_N, _K, _E4M3),
        a_lines_smem=plgpu.SMEM((1, of_k // 4, 32, 16), _E8M0),
        b_lines_smem=plgpu.SMEM((2, of_k // 4, 32, 16), _E8M0),
        acc=tensor(_M, 2 * _N, jnp.float32), a_scales_tmem=tensor(_M, of_k, _E8M0, **layout),
        b_scales_tmem=tensor(2 * _N, of_k, _E8M0, **layout),
        loaded=plgpu.Barrier(num_arrivals=4), done=_DONE))
    def matmul(a_gmem, b_gmem, a_lines_gmem, b_lines_gmem, o_gmem, a_smem, b_smem, a_lines_smem,
               b_lines_smem, acc, a_scales_tmem, b_scales_tmem, loaded, done):
        block = lax.axis_index("pair")
        for there, here, part in ((a_gmem, a_smem, pair(0)), (b_gmem, b_smem, pair(0)),
                                  (a_lines_gmem, a_lines_smem, pair(0)),
                                  (b_lines_gmem, b_lines_smem, both)):
            plgpu.copy_gmem_to_smem(there, here, loaded, collective_axes="pair",
                                    leader_tracked=part)

        @pl.when(block == 0)
        def _():
            plgpu.barrier_wait(loaded)
            plgpu.async_copy_scales_to_tmem(a_lines_smem, a_scales_tmem, collective_axis="pair")
            plgpu.async_copy_scales_to_tmem(b_lines_smem, b_scales_tmem, collective_axis="pair")
            plgpu.tcgen05_mma(acc, a_smem, b_smem.T, done, a_scale=a_scales_tmem,
                              b_scale=b_scales_tmem, accumulate=False, collective_axis="pair")

        plgpu.barrier_wait(done)
        o_gmem[pl.ds(block * _M, _M)] = plgpu.async_load_tmem(acc)

    return matmul(a, b, a_lines, b_lines)
