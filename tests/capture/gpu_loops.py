"""Kernels for a GPU: loops, scalars and reductions, and what is around kernels."""

import jax
import jax.numpy as jnp
import numpy as np
from gpu_case import case, like, ramp
from jax import lax
from jax.experimental import pallas as pl
from jax.experimental.pallas import mosaic_gpu as plgpu

_ROW = 128


# ---- loops, scalars, reductions -------------------------------------------------------------


@case(np.array([5], np.int32), ramp(_ROW), wanted=lambda n, x: x * 2.0 ** n[0], has="while")
def a_loop_with_a_number_of_rounds_from_memory(n, x):
    @plgpu.kernel(out_type=like(_ROW))
    def scale(n_gmem, x_gmem, o_gmem):
        o_gmem[...] = lax.fori_loop(0, n_gmem[0], lambda _, x: x * 2, x_gmem[...])

    return scale(n, x)


@case(ramp(10, 4, _ROW), wanted=lambda x: x * np.arange(40).reshape(10, 4, 1), has="while")
def a_persistent_kernel(x):
    @plgpu.kernel(out_type=like(10, 4, _ROW), grid=(3,), grid_names=("sm",))
    def scale(x_gmem, o_gmem):
        @plgpu.nd_loop((10, 4), collective_axes="sm")
        def _(info):
            i, j = info.index
            o_gmem[i, j] = x_gmem[i, j] * (4 * i + j).astype(jnp.float32)

    return scale(x)


@case(ramp(7, _ROW), wanted=lambda x: x + np.arange(7)[:, None], has="while")
def a_persistent_kernel_on_two_axes(x):
    @plgpu.kernel(out_type=like(7, _ROW), grid=(2, 2), grid_names=("a", "b"))
    def add(x_gmem, o_gmem):
        @plgpu.nd_loop((7,), collective_axes=("a", "b"))
        def _(info):
            (i,) = info.index
            o_gmem[i] = x_gmem[i] + i.astype(jnp.float32)

    return add(x)


@case(ramp(64, _ROW), wanted=lambda x: (x.sum(1), x.max(0)), has="reduce_sum reduce_max")
def reductions_of_rows_and_columns(x):
    @plgpu.kernel(out_type=[like(64), like(_ROW)], scratch_types=[
        plgpu.SMEM((64, _ROW), jnp.float32), plgpu.Barrier()])
    def reduce(x_gmem, sum_gmem, max_gmem, smem, barrier):
        plgpu.copy_gmem_to_smem(x_gmem, smem, barrier)
        plgpu.barrier_wait(barrier)
        x = plgpu.load(smem, layout=plgpu.Layout.WGMMA)
        sum_gmem[...] = jnp.sum(x, axis=1)
        max_gmem[...] = jnp.max(x, axis=0)

    return reduce(x)


@case(ramp(64, _ROW), wanted=lambda x: (x.sum(1), x.max(0)), has="reduce_sum reduce_max",
      is_interpreted=False)
def reductions_of_a_warpgroup(x):
    @plgpu.kernel(out_type=[like(64), like(_ROW)], scratch_types=[
        plgpu.SMEM((64, _ROW), jnp.float32), plgpu.Barrier()])
    def reduce(x_gmem, sum_gmem, max_gmem, smem, barrier):
        plgpu.copy_gmem_to_smem(x_gmem, smem, barrier)
        plgpu.barrier_wait(barrier)
        x = plgpu.load(smem, layout=plgpu.Layout.WGMMA)
        sum_gmem[...] = plgpu.sum(x, axis=1)
        max_gmem[...] = plgpu.max(x, axis=0)

    return reduce(x)


def _softmax(x):
    e = np.exp(x - x.max(1, keepdims=True))
    return e / e.sum(1, keepdims=True)


@case(ramp(8, _ROW) / 8, wanted=_softmax, tolerance=1e-6, has="exp div broadcast_in_dim")
def softmax_row_by_row(x):
    @plgpu.kernel(out_type=like(8, _ROW), grid=(8,), grid_names=("row",))
    def softmax(x_gmem, o_gmem):
        row = lax.axis_index("row")
        x = x_gmem[row]
        e = jnp.exp(x - jnp.max(x))
        o_gmem[row] = e / jnp.sum(e)

    return softmax(x)


@case(np.float32(3), ramp(64, 64, dtype=np.int32), has="iota",
      wanted=lambda s, x: np.where(np.tril(np.ones((64, 64), bool)), x * s, 0).astype(np.float32))
def a_scalar_and_a_mask(scalar, x):
    @plgpu.kernel(out_type=like(64, 64))
    def mask(scalar_gmem, x_gmem, o_gmem):
        layout = plgpu.Layout.WGMMA
        x = plgpu.load(x_gmem, layout=layout, optimized=False).astype(jnp.float32)
        rows = plgpu.broadcasted_iota(jnp.int32, (64, 64), 0, layout=layout)
        columns = plgpu.broadcasted_iota(jnp.int32, (64, 64), 1, layout=layout)
        o_gmem[...] = jnp.where(rows >= columns, x * scalar_gmem[()], 0)

    return mask(scalar, x)


# ---- around kernels -------------------------------------------------------------------------


@case(ramp(4, _ROW), wanted=lambda x: ((2 * x + 1).reshape(-1)[None] + 3).sum(1),
      has="kernel fusion")
def operations_around_a_kernel(x):
    @plgpu.kernel(out_type=like(4 * _ROW))
    def increment(x_gmem, o_gmem):
        o_gmem[...] = x_gmem[...] + 1

    y = increment(2 * x.reshape(-1)).reshape(1, 4, _ROW)
    return jnp.sum(y + 3, axis=(1, 2))


@case(ramp(3, 2 * _ROW), wanted=lambda x: x * x)
def a_kernel_under_vmap(x):
    @plgpu.kernel(out_type=like(2 * _ROW), grid=(2,), grid_names=("i",))
    def square(x_gmem, o_gmem):
        half = pl.ds(lax.axis_index("i") * _ROW, _ROW)
        o_gmem[half] = x_gmem[half] * x_gmem[half]

    return jax.vmap(square)(x)
