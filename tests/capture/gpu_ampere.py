"""Kernels for a GPU without a TMA (compute capability 8): copies of cp.async, and products of warps.
JAX's interpreter runs neither."""

import functools

import jax.numpy as jnp
import numpy as np
from gpu_case import case, like, ramp
from jax import lax
from jax.experimental import pallas as pl
from jax.experimental.pallas import mosaic_gpu as plgpu

_ROW = 128
_IN_BOUNDS = plgpu.OOBFillMode.PROMISE_IN_BOUNDS
ampere = functools.partial(case, chip="a100_80", is_interpreted=False)


@ampere(ramp(4, _ROW), wanted=lambda x: 2 * x, has="copy_gmem_to_smem wait_gmem_to_smem")
def copies_that_a_warpgroup_makes(x):
    @plgpu.kernel(out_type=like(4, _ROW), scratch_types=[plgpu.SMEM((4, _ROW), jnp.float32)])
    def double(x_gmem, o_gmem, smem):
        for row in range(4):
            plgpu.copy_gmem_to_smem(x_gmem.at[row], smem.at[row], oob_mode=_IN_BOUNDS)
        for row in range(4):
            plgpu.wait_gmem_to_smem(3 - row)
            o_gmem[row] = smem[row] * 2

    return double(x)


@ampere(ramp(8, _ROW), wanted=lambda x: x.sum(0), has="wait_gmem_to_smem scan")
def a_pipeline_of_copies_of_warpgroups(x):
    @plgpu.kernel(out_type=like(_ROW))
    def total(x_gmem, o_gmem):
        o_gmem[...] = plgpu.emit_pipeline(
            lambda _, x_smem, so_far: so_far + x_smem[0], grid=(8,), max_concurrent_steps=3,
            in_specs=[plgpu.BlockSpec((1, _ROW), lambda i: (i, 0))],
            init_carry=jnp.zeros((_ROW,), jnp.float32))(x_gmem)

    return total(x)


def _tiles(count, rows, columns):
    return plgpu.SMEM((count, rows, columns), jnp.float16, transforms=(
        plgpu.TilingTransform((8, 64)), plgpu.SwizzleTransform(128)))


@ampere(ramp(128, 256, dtype=np.float16), ramp(256, 128, dtype=np.float16),
        wanted=lambda a, b: a.astype(np.float32) @ b.astype(np.float32),
        has="dot_general wait_gmem_to_smem")
def a_matmul_of_warps(a, b):
    """Tiles of 64 columns of a, and as many rows of b, two of which are under way."""
    slots, step = 2, 64

    @plgpu.kernel(out_type=like(128, 128), grid=(2,), grid_names=("i",), scratch_types=[
        _tiles(slots, 64, step), _tiles(slots, step, 128)])
    def matmul(a_gmem, b_gmem, o_gmem, a_smem, b_smem):
        rows = pl.ds(lax.axis_index("i") * 64, 64)

        def fetch(k, slot):
            part = pl.ds(k * step, step)
            plgpu.copy_gmem_to_smem(a_gmem.at[rows, part], a_smem.at[slot], oob_mode=_IN_BOUNDS)
            plgpu.copy_gmem_to_smem(b_gmem.at[part], b_smem.at[slot], oob_mode=_IN_BOUNDS)

        total = jnp.zeros((64, 128), jnp.float32)
        for slot in range(slots):
            fetch(slot, slot)
        for k in range(4):
            plgpu.wait_gmem_to_smem(2 if k < 3 else 0)
            total = plgpu.mma(total, a_smem[k % slots], b_smem[k % slots])
            if k + slots < 4:
                fetch(k + slots, k % slots)
        o_gmem[rows] = total

    return matmul(a, b)
