"""Kernels for a GPU that ship inside JAX, at small sizes."""

import dataclasses
import functools

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import pytest
from attention_in_numpy import attended, gradients
from gpu_case import case, ramp

pytest.importorskip("absl", reason="kernels that ship inside JAX import absl")

from jax.experimental.pallas.ops.gpu import attention_mgpu as attention  # noqa: E402
from jax.experimental.pallas.ops.gpu import hopper_matmul_mgpu as matmul  # noqa: E402
from jax.experimental.pallas.ops.gpu import hopper_mixed_type_matmul_mgpu as mixed  # noqa: E402
from jax.experimental.pallas.ops.gpu import ragged_dot_mgpu as ragged  # noqa: E402
from jax.experimental.pallas.ops.gpu import transposed_ragged_dot_mgpu as turned  # noqa: E402

_F16, _BF16 = np.float16, ml_dtypes.bfloat16
TILES = dict(tile_m=64, tile_n=64, tile_k=64, max_concurrent_steps=2, epi_tile_n=64,
              epi_tile_m=64)


def _small(*shape, dtype=_F16):
    return (ramp(*shape) % 4).astype(dtype)


def _product(a, b):
    return a.astype(np.float32) @ b.astype(np.float32)


# Both wait for their last stores only after the scope of what these read.
@case(_small(256, 128), _small(128, 256), has="wgmma", is_interpreted=False,
      finds="freed_in_flight",
      wanted=lambda a, b: _product(a, b).astype(_F16))
def hopper_matmul(a, b):
    return matmul.matmul(a, b, None, matmul.TuningConfig(**TILES))


@case(_small(256, 128), _small(128, 256), has="wgmma", is_interpreted=False,
      finds="freed_in_flight",
      wanted=lambda a, b: _product(a, b).astype(_F16))
def hopper_matmul_of_clusters(a, b):
    return matmul.matmul(a, b, None, matmul.TuningConfig(
        **TILES, cluster_dimension=matmul.MatmulDimension.M))


@case(_small(256, 128), _small(128, 128), _small(256, 128), has="wgmma", is_interpreted=False,
      finds="freed_in_flight",
      wanted=lambda a, b, c: (_product(a, b) + c).astype(_F16))
def hopper_matmul_that_adds(a, b, c):
    return matmul.matmul(a, b, c, matmul.TuningConfig(
        **TILES, wg_dimension=matmul.MatmulDimension.M))


@case(ramp(128, 128, dtype=np.int8), _small(128, 128, dtype=_BF16), is_interpreted=False,
      has="wgmma", wanted=lambda a, b: _product(a, b).astype(_BF16))
def mixed_matmul(a, b):
    return mixed.mixed_matmul_kernel(a, b, out_dtype=_BF16, config=mixed.TuningConfig(**TILES))


def _grouped(a, b, sizes):
    ends = np.cumsum(sizes)
    return np.concatenate([_product(a[end - size:end], b[group])
                           for group, (size, end) in enumerate(zip(sizes, ends, strict=True))])


@case(_small(192, 128), _small(3, 128, 128), np.array([70, 26, 96], np.int32), has="wgmma",
      is_interpreted=False, wanted=lambda a, b, sizes: _grouped(a, b, sizes).astype(_F16))
def ragged_dot(a, b, sizes):
    return ragged.ragged_dot(a, b, group_sizes=sizes, block_m=64, block_n=64, block_k=64,
                             max_concurrent_steps=2, grid_block_n=1)


def _turned(a, b, sizes):
    ends = np.cumsum(sizes)
    return np.stack([_product(a[end - size:end].T, b[end - size:end])
                     for size, end in zip(sizes, ends, strict=True)])


@case(_small(192, 128), _small(192, 64), np.array([70, 26, 96], np.int32), has="wgmma",
      is_interpreted=False, wanted=lambda a, b, sizes: _turned(a, b, sizes).astype(_F16))
def transposed_ragged_dot(a, b, sizes):
    return turned.transposed_ragged_dot(
        a, b, group_sizes=sizes, block_m=64, block_n=64, block_k=64, max_concurrent_steps=2,
        grid_block_n=1)


_QKV = [(np.random.default_rng(seed).standard_normal((1, 256, 2, 64)) / 4).astype(_F16)
        for seed in range(3)]
_ATTENTION = attention.TuningConfig(block_q=64, block_kv=64, max_concurrent_steps=2)
_attention = functools.partial(case, *_QKV, is_interpreted=False, tolerance=3e-3, has="wgmma exp2")


@_attention(wanted=attended)
def attend(q, k, v):
    return attention.attention(q, k, v, _ATTENTION)


@_attention(wanted=functools.partial(attended, causal=True))
def attend_causally(q, k, v):
    return attention.attention(q, k, v, dataclasses.replace(_ATTENTION, causal=True))


@_attention(wanted=attended)
def attend_by_a_pipeline(q, k, v):
    return attention.attention_with_pipeline_emitter(q, k, v, _ATTENTION)


# Loads of a slot and the copy that refills it, with no commit_smem between the two.
@_attention(wanted=gradients, finds="not_committed")
def attend_and_differentiate(q, k, v):
    blocks = dataclasses.replace(_ATTENTION, block_q_dkv=64, block_kv_dkv=64, block_q_dq=64,
                                 block_kv_dq=64)
    return jax.grad(lambda *qkv: jnp.sum(attention.attention(*qkv, blocks).astype(jnp.float32)),
                    argnums=(0, 1, 2))(q, k, v)
