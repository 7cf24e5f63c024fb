"""Kernels for several GPUs that ship inside JAX, at small sizes."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from gpu_case import case, ramp
from gpu_several import sharded

pytest.importorskip("absl", reason="kernels that ship inside JAX import absl")

from jax.experimental.pallas.ops.gpu import all_gather_mgpu as all_gather  # noqa: E402
from jax.experimental.pallas.ops.gpu import collective_matmul_mgpu as matmul  # noqa: E402
from jax.experimental.pallas.ops.gpu import hopper_matmul_mgpu as hopper  # noqa: E402
from jax.experimental.pallas.ops.gpu import reduce_scatter_mgpu as reduce_scatter  # noqa: E402

_F16 = np.float16
_P = jax.sharding.PartitionSpec



@case(ramp(64, 128), wanted=lambda x: x, has="remote_ref", is_interpreted=False)
def gather_of_all(x):
    def gather(x):
        return all_gather.all_gather(x, axis_name="x", num_blocks=4)

    return sharded(gather, _P("x"), _P(None))(x)


@case(ramp(64, 128), is_interpreted=False, has="remote_ref",
      wanted=lambda x: x[:32] + x[32:])
def sum_in_parts(x):
    def scatter(x):
        return reduce_scatter.reduce_scatter(x, axis_name="x", num_blocks=4)

    return sharded(scatter, _P("x"), _P("x"))(x)


@case(ramp(64, 128), is_interpreted=False, has="remote_ref",
      wanted=lambda x: np.maximum(x[:32], x[32:]).astype(np.int32))
def largest_of_all(x):
    def reduce(x):
        return reduce_scatter.reduce_scatter(x.astype(jnp.int32), axis_name="x", num_blocks=2,
                                             scatter_dimension=None, reduction="max")

    return sharded(reduce, _P("x"), _P(None))(x)


@case((ramp(256, 128) % 4).astype(_F16), (ramp(128, 256) % 4).astype(_F16), has="remote_ref wgmma",
      is_interpreted=False, finds="freed_in_flight",  # as in hopper_matmul, which it calls
      wanted=lambda a, b: (a.astype(np.float32) @ b.astype(np.float32)).astype(_F16))
def product_of_gathered_rows(a, b):
    def multiply(a, b):
        config = hopper.TuningConfig(tile_m=64, tile_n=64, tile_k=64, max_concurrent_steps=4,
                                     grid_minor_dim=hopper.MatmulDimension.N, grid_tile_width=1)
        return matmul.all_gather_lhs_matmul(a, b, "x", config=config, dtype=_F16)

    return sharded(multiply, (_P("x"), _P(None, "x")), _P(None, "x"))(a, b)
