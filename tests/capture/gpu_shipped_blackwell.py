"""Kernels for a Blackwell GPU that ship inside JAX, at small sizes."""

import numpy as np
import pytest
from gpu_case import case, ramp

pytest.importorskip("absl", reason="kernels that ship inside JAX import absl")

from jax.experimental.pallas.ops.gpu import blackwell_matmul_mgpu as matmul  # noqa: E402
from jax.experimental.pallas.ops.gpu import blackwell_ragged_dot_mgpu as ragged  # noqa: E402

_F16 = np.float16
_A = (ramp(512, 128) % 4).astype(_F16)
_B = (ramp(128, 512) % 3).astype(_F16)
_SIZES = np.array([100, 0, 300, 112], np.int32)
TILES = dict(tile_m=128, tile_n=128, tile_k=64, max_concurrent_steps=2)


def _product(a, b):
    return (a.astype(np.float32) @ b.astype(np.float32)).astype(a.dtype)


def _ragged_product(a, b, sizes):
    ends = np.cumsum(sizes)
    return np.concatenate([_product(a[end - size:end], one)
                           for one, size, end in zip(b, sizes, ends, strict=True)])


# They wait for their last stores only after the scope of what these read.
@case(_A, _B, has="tcgen05_mma warp_map try_cluster_cancel", wanted=_product,
      is_interpreted=False, finds="freed_in_flight")
def blackwell_matmul(a, b):
    return matmul.matmul_kernel(a, b, matmul.TuningConfig(**TILES, collective=False))


@case(_A, _B, has="tcgen05_mma warp_map try_cluster_cancel", wanted=_product,
      is_interpreted=False, finds="freed_in_flight")
def blackwell_matmul_of_pairs(a, b):
    return matmul.matmul_kernel(a, b, matmul.TuningConfig(**TILES, collective=True))


@case((ramp(2048, 64) % 4).astype(_F16), (ramp(64, 1536) % 3).astype(_F16), wanted=_product,
      has="tcgen05_mma try_cluster_cancel", is_interpreted=False, finds="freed_in_flight")
def blackwell_matmul_that_claims_tiles(a, b):
    """There are more tiles than multiprocessors."""
    return matmul.matmul_kernel(a, b, matmul.TuningConfig(
        **TILES, collective=False, epilogue_tile_n=32, grid_tile_width=4))


# Without pairs of blocks JAX cannot trace it: it names an axis that its kernel then lacks.
@case(_A, np.stack([_B, -_B, _B + _F16(1), _B]), _SIZES, has="tcgen05_mma warp_map",
      is_interpreted=False, wanted=_ragged_product)
def blackwell_ragged_dot(a, b, sizes):
    return ragged.ragged_dot_kernel(a, b, sizes, ragged.TuningConfig(
        **TILES | {"tile_n": 64}, collective=True, grid_tile_width=1,
        grid_minor_dim=matmul.MatmulDimension.M))
