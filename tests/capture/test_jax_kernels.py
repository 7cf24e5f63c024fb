"""Kernels that ship inside JAX, as they are."""

import functools
import importlib

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.experimental.pallas.ops.tpu import flash_attention as flash
from jax.experimental.pallas.ops.tpu import matmul, paged_attention
from jax.experimental.pallas.ops.tpu.splash_attention import splash_attention_kernel as splash
from jax.experimental.pallas.ops.tpu.splash_attention import splash_attention_mask as masks
from pallascope import compat
from support import compare, normal, pallascope, pltpu, run

ragged = importlib.import_module(
    "jax.experimental.pallas.ops.tpu.ragged_paged_attention.kernel")
gmm = importlib.import_module("jax.experimental.pallas.ops.tpu.megablox.gmm")
BLOCKS = flash.BlockSizes(block_q=128, block_k_major=128, block_k=128, block_b=1)


def check(fn, *args, terms=0.0, ulps=4.0):
    kernel = pallascope.capture(fn, *args)
    jax.clear_caches()
    with compat.device_of("tpu_v5e"), pltpu.force_tpu_interpret_mode(pltpu.InterpretParams()):
        wanted = jax.tree_util.tree_leaves(jax.jit(fn)(*args))
    for ours, theirs in zip(run(kernel), wanted, strict=True):
        compare(ours, np.asarray(theirs), terms, ulps)
    return kernel


def heads(count, length=256, seed=0):
    return normal(count, length, 128, seed=seed)


def test_matmul():
    check(functools.partial(matmul.matmul, block_shape=(256, 256), block_k=128),
          normal(512, 256, dtype=jnp.bfloat16), normal(256, 512, dtype=jnp.bfloat16, seed=1),
          terms=256, ulps=1)


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("blocks", [None, BLOCKS])
def test_flash_attention(causal, blocks):
    q, k, v = (normal(1, 2, 256, 128, seed=n) for n in range(3))
    kernel = check(functools.partial(flash.flash_attention, causal=causal, sm_scale=0.1,
                                     block_sizes=blocks), q, k, v, terms=64, ulps=64)
    files = {location["file"] for location in kernel.document["locations"]}
    assert "jax/experimental/pallas/ops/tpu/flash_attention.py" in files


def test_flash_attention_with_a_bias_and_segments():
    q, k, v = (normal(1, 2, 256, 128, seed=n) for n in range(3))
    segments = np.repeat(np.arange(2, dtype=np.int32), 128)[None]

    def fn(q, k, v, bias, ids):
        return flash.flash_attention(q, k, v, bias, flash.SegmentIds(ids, ids), causal=True,
                                     block_sizes=BLOCKS, sm_scale=0.1)

    check(fn, q, k, v, normal(1, 2, 256, 256, seed=3), segments, terms=64, ulps=64)


def test_the_gradient_of_flash_attention():
    sizes = flash.BlockSizes(**{field: 1 if field == "block_b" else 128
                                for field in flash.BlockSizes.__dataclass_fields__})
    q, k, v = (normal(1, 2, 256, 128, seed=n) * 0.3 for n in range(3))

    def loss(q, k, v):
        return (flash.flash_attention(q, k, v, causal=True, block_sizes=sizes) * v).sum()

    check(jax.grad(loss, (0, 1, 2)), q, k, v, terms=256, ulps=64)


def test_the_gradient_of_splash_attention():
    sizes = splash.BlockSizes(**{field: 128 for field in (
        "block_q", "block_kv", "block_kv_compute", "block_q_dkv", "block_kv_dkv",
        "block_kv_dkv_compute", "block_q_dq", "block_kv_dq")})

    def loss(q, k, v):
        mask = masks.MultiHeadMask([masks.CausalMask((256, 256))] * 2)
        attention = splash.make_splash_mha(mask, block_sizes=sizes, head_shards=1, q_seq_shards=1)
        return (attention(q, k, v) * v).sum()

    check(jax.grad(loss, (0, 1, 2)), *(heads(2, seed=n) * 0.3 for n in range(3)), terms=256,
          ulps=64)


@pytest.mark.parametrize("mask", ["causal", "local", "full"])
def test_splash_attention(mask):
    one = {"causal": masks.CausalMask((256, 256)), "full": masks.FullMask((256, 256)),
           "local": masks.LocalMask((256, 256), (64, 0), 0)}[mask]
    sizes = splash.BlockSizes(block_q=128, block_kv=128, block_kv_compute=128)

    def fn(q, k, v):
        attention = splash.make_splash_mha(masks.MultiHeadMask([one] * 2), block_sizes=sizes,
                                           head_shards=1, q_seq_shards=1)
        return attention(q, k, v)

    check(fn, heads(2), heads(2, seed=1), heads(2, seed=2), terms=64, ulps=64)


SIZES = np.array([100, 0, 300, 112], np.int32)  # rows of each group; known when it is captured


def test_grouped_matmul():
    check(lambda x, y: gmm.gmm(x, y, jnp.asarray(SIZES), preferred_element_type=jnp.float32),
          normal(512, 256, dtype=jnp.bfloat16), normal(4, 256, 256, dtype=jnp.bfloat16, seed=1),
          terms=256)


def test_transposed_grouped_matmul():
    x = normal(256, 512, dtype=jnp.bfloat16)
    check(lambda y: gmm.tgmm(jnp.asarray(x), y, jnp.asarray(SIZES),
                             preferred_element_type=jnp.float32),
          normal(512, 256, dtype=jnp.bfloat16, seed=1), terms=512)


@pytest.mark.parametrize("heads", [4, 16])
def test_paged_attention(heads):
    lengths = np.array([17, 128, 0, 100], np.int32)
    pages = np.random.default_rng(3).permutation(64)[:32].reshape(4, 8).astype(np.int32)

    def fn(q, k, v, lengths, pages):
        return paged_attention.paged_attention(q, k, v, lengths, pages, pages_per_compute_block=4)

    q = normal(4, heads, 128) * 0.1
    k, v = (normal(2, 64, 16, 128, seed=n) for n in (1, 2))
    with compat.device_of("tpu_v5e"), pltpu.force_tpu_interpret_mode(pltpu.InterpretParams()):
        wanted = jax.jit(fn)(q, k, v, lengths, pages)
    (found,) = run(pallascope.capture(fn, q, k, v, lengths, pages))
    known = lengths > 0  # nothing is defined of a sequence without tokens
    compare(found[known], np.asarray(wanted)[known], terms=64, ulps=64)


def test_ragged_paged_attention():
    lengths, starts = np.array([48, 33, 96, 0]), np.array([0, 16, 20, 56, 56])
    pages = np.random.default_rng(4).permutation(64)[:32].reshape(4, 8)
    q = (normal(64, 4, 128) * 0.3).astype(jnp.bfloat16)
    cache = normal(64, 16, 4, 128, seed=1).astype(jnp.bfloat16)
    scalars = [a.astype(np.int32) for a in (lengths, pages, starts, np.array([3]))]
    fn = functools.partial(ragged.ragged_paged_attention, num_kv_pages_per_block=4,
                           num_queries_per_block=16, sm_scale=0.1)
    (found,) = run(pallascope.capture(fn, q, cache, *scalars))
    wanted = ragged.ref_ragged_paged_attention(q, cache, *map(jnp.asarray, scalars), sm_scale=0.1)
    compare(found[:56], np.asarray(wanted), terms=0.01 * 2**24 / 8, ulps=2)
