"""The TPU kernels inside JAX, each with arguments and the expected result."""

from __future__ import annotations

import dataclasses
import functools
import importlib
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental.pallas.ops.tpu import example_kernel, matmul, paged_attention
from jax.experimental.pallas.ops.tpu import flash_attention as flash
from jax.experimental.pallas.ops.tpu.megablox import ops as megablox
from jax.experimental.pallas.ops.tpu.paged_attention import quantization_utils as quantized
from jax.experimental.pallas.ops.tpu.random import philox, threefry
from jax.experimental.pallas.ops.tpu.splash_attention import splash_attention_kernel as splash
from jax.experimental.pallas.ops.tpu.splash_attention import splash_attention_mask as masks
from support import integers, normal

_ragged = importlib.import_module("jax.experimental.pallas.ops.tpu.ragged_paged_attention.kernel")
_gmm = importlib.import_module("jax.experimental.pallas.ops.tpu.megablox.gmm")
BF16 = jnp.bfloat16


@dataclasses.dataclass(frozen=True)
class Case:
    """One row of docs/compatibility.md. The tolerance has the same meaning as in support.compare.
    """

    name: str
    fn: Callable[..., Any]
    args: tuple[Any, ...]
    terms: float = 0.0
    ulps: float = 4.0
    wanted: Callable[[], Any] | None = None  # given if JAX's interpreters cannot run the kernel
    defined: Any = np.s_[...]  # the part of the results that is defined
    cores: int = 1
    findings: tuple[str, ...] = ()  # the expected findings
    settings: tuple[str, ...] = ()  # of the machine

    @property
    def chip(self) -> str:
        return "tpu_v5p" if self.cores > 1 else "tpu_v5e"


# ---- attention over whole sequences -------------------------------------------------------------

_SMALL = flash.BlockSizes(**{field: 1 if field == "block_b" else 128
                             for field in flash.BlockSizes.__dataclass_fields__})
_SEGMENTS = np.repeat(np.arange(3, dtype=np.int32), [100, 56, 100])[None]


def _flash(q: Any, k: Any, v: Any, *more: Any, **options: Any) -> Any:
    return flash.flash_attention(q, k, v, *more, sm_scale=0.1, block_sizes=_SMALL, **options)


def _segmented(q: Any, k: Any, v: Any, ids: Any) -> Any:
    return _flash(q, k, v, None, flash.SegmentIds(ids, ids), causal=True)


def _biased(q: Any, k: Any, v: Any, bias: Any) -> Any:
    return _flash(q, k, v, bias)


def _gradient(fn: Callable[..., Any]) -> Callable[..., Any]:
    def loss(q: Any, k: Any, v: Any, *more: Any) -> Any:
        return (fn(q, k, v, *more) * v).sum()

    return jax.grad(loss, (0, 1, 2))


def _heads(*shape: int, scale: float = 1.0) -> tuple[np.ndarray, ...]:
    return tuple((normal(*shape, 256, 128, seed=seed) * scale).astype(np.float32)
                 for seed in range(3))


_QKV = _heads(1, 2)
_FLAT = _heads(1, 2, scale=0.3)
_FLASH = [
    Case("flash_attention", _flash, _QKV, 64, 64),
    Case("flash_attention, one block", functools.partial(flash.flash_attention, sm_scale=0.1),
         _QKV, 64, 64),
    Case("flash_attention, causal", functools.partial(_flash, causal=True), _QKV, 64, 64),
    Case("flash_attention, bias", _biased, (*_QKV, normal(1, 2, 256, 256, seed=3)), 64, 64),
    Case("flash_attention, causal, segments", _segmented, (*_QKV, _SEGMENTS), 64, 64),
    Case("flash_attention, q shorter than k", _flash, (_QKV[0][:, :, :128], *_QKV[1:]), 64, 64),
    Case("flash_attention, bf16", _flash, tuple(a.astype(BF16) for a in _QKV), 2**16, 4),
    Case("gradient of flash_attention, causal",
         _gradient(functools.partial(_flash, causal=True)), _FLAT, 256, 64),
    Case("gradient of flash_attention, segments", _gradient(_segmented), (*_FLAT, _SEGMENTS),
         256, 64)]

_BLOCKS = {field: 128 for field in (
    "block_q", "block_kv", "block_kv_compute", "block_q_dkv", "block_kv_dkv",
    "block_kv_dkv_compute", "block_q_dq", "block_kv_dq")}
_FUSED = {name: size for name, size in _BLOCKS.items() if not name.endswith("_dq")}


def _splash(*mask: Any, blocks: Any = None, **options: Any) -> Callable[..., Any]:
    """Multi-head attention with one mask for each head."""
    def fn(q: Any, k: Any, v: Any, *ids: Any) -> Any:
        attention = splash.make_splash_mha(
            masks.MultiHeadMask(list(mask)), head_shards=1, q_seq_shards=1,
            block_sizes=splash.BlockSizes(**(blocks or _BLOCKS)), **options)
        return attention(q, k, v, *(splash.SegmentIds(i, i) for i in ids))

    return fn


def _multi_query(q: Any, k: Any, v: Any) -> Any:
    attention = splash.make_splash_mqa(
        masks.MultiHeadMask([_CAUSAL] * 2), head_shards=1, q_seq_shards=1,
        block_sizes=splash.BlockSizes(**_BLOCKS))
    return attention(q, k, v)


_SQUARE = (256, 256)
_CAUSAL, _FULL = masks.CausalMask(_SQUARE), masks.FullMask(_SQUARE)
_LOCAL = masks.LocalMask(_SQUARE, (64, 0), 0)
_RANDOM = masks.NumpyMask(
    integers(256, 256, least=0, most=2).astype(bool) | np.eye(256, dtype=bool))
_MHA, _FLAT_MHA = _heads(2), _heads(2, scale=0.3)
_SPLASH = [
    Case("splash_attention, causal", _splash(_CAUSAL, _CAUSAL), _MHA, 64, 64),
    Case("splash_attention, full", _splash(_FULL, _FULL), _MHA, 64, 64),
    Case("splash_attention, local", _splash(_LOCAL, _LOCAL), _MHA, 64, 64),
    Case("splash_attention, chunked",
         _splash(*[masks.ChunkedCausalMask(_SQUARE, 100)] * 2), _MHA, 64, 64),
    Case("splash_attention, an array of bools", _splash(_RANDOM, _RANDOM), _MHA, 64, 64),
    Case("splash_attention, another mask a head", _splash(_CAUSAL, _LOCAL), _MHA, 64, 64),
    Case("splash_attention, local or random", _splash(*[_LOCAL | _RANDOM] * 2), _MHA, 64, 64),
    Case("splash_attention, segments, soft cap",
         _splash(_CAUSAL, _CAUSAL, attn_logits_soft_cap=20.0), (*_MHA, _SEGMENTS[0]), 64, 64),
    Case("splash_attention, one head of keys", _multi_query, (_MHA[0], _MHA[1][0], _MHA[2][0]),
         64, 64),
    Case("gradient of splash_attention, causal", _gradient(_splash(_CAUSAL, _CAUSAL)), _FLAT_MHA,
         256, 64),
    Case("gradient of splash_attention, fused",
         _gradient(_splash(_LOCAL, _LOCAL, blocks=_FUSED | {"use_fused_bwd_kernel": True})),
         _FLAT_MHA, 256, 64),
    Case("gradient of splash_attention, segments", _gradient(_splash(_CAUSAL, _CAUSAL)),
         (*_FLAT_MHA, _SEGMENTS[0]), 256, 64)]

# ---- attention over pages -----------------------------------------------------------------------

_LENGTHS = np.array([17, 128, 0, 100], np.int32)  # a sequence without tokens has no result
_PAGES = np.random.default_rng(3).permutation(64)[:32].reshape(4, 8).astype(np.int32)


def _cache(seed: int) -> np.ndarray:
    return normal(2, 64, 16, 128, seed=seed)


def _paged(heads: int, what: str = "", quantize: bool = False, **options: Any) -> Case:
    def fn(q: Any, k: Any, v: Any, *scalars: Any) -> Any:
        return paged_attention.paged_attention(q, k, v, *scalars, pages_per_compute_block=4,
                                               **options)

    q = (normal(4, heads, 128) * 0.1).astype(np.float32)
    cache = [quantized.quantize_to_int8(_cache(seed)) if quantize else _cache(seed)
             for seed in (1, 2)]
    return Case(f"paged_attention, {heads} heads{what}", fn, (q, *cache, _LENGTHS, _PAGES), 64, 64,
                defined=np.array([0, 1, 3]), cores=2 if "megacore_mode" in options else 1,
                findings=() if options.get("inline_seq_dim", True)
                else ("output_not_written", "undefined_written_back"))


def _ragged_attention(what: str = "", q_heads: int = 4, kv_heads: int = 2,
                      **options: Any) -> Case:
    lengths, starts = np.array([48, 33, 96, 0]), np.array([0, 16, 20, 56, 56])
    pages = np.random.default_rng(4).permutation(64)[:32].reshape(4, 8)
    q = (normal(64, q_heads, 128) * 0.3).astype(BF16)
    cache = normal(64, 16, 2 * kv_heads, 128, seed=1).astype(BF16)
    scalars = [a.astype(np.int32) for a in (lengths, pages, starts, np.array([3]))]
    fn = functools.partial(_ragged.ragged_paged_attention, num_kv_pages_per_block=4,
                           num_queries_per_block=16, sm_scale=0.1, **options)

    def wanted() -> Any:
        return _ragged.ref_ragged_paged_attention(q, cache, *map(jnp.asarray, scalars),
                                                  sm_scale=0.1, **options)

    return Case("ragged_paged_attention" + what, fn, (q, cache, *scalars), 0.01 * 2**24 / 8, 2,
                wanted=wanted, defined=np.s_[:56])


_PAGED = [
    _paged(4), _paged(16), _paged(4, ", soft cap", attn_logits_soft_cap=10.0),
    _paged(4, ", a grid over pages", inline_seq_dim=False),
    _paged(4, ", int8 pages", quantize=True),
    _paged(4, ", megacore over heads", megacore_mode="kv_head"),
    _paged(4, ", megacore over sequences", megacore_mode="batch"),
    _ragged_attention(), _ragged_attention(", grouped queries", 8, 2),
    _ragged_attention(", window", sliding_window=20),
    _ragged_attention(", soft cap", soft_cap=10.0)]

# ---- products, random numbers -------------------------------------------------------------------

_SIZES = np.array([100, 0, 300, 112], np.int32)  # rows of each group


def _bf16(*shape: int, seed: int = 0) -> np.ndarray:
    return normal(*shape, dtype=BF16, seed=seed)


def _gmm_gradient(x: Any, y: Any, sizes: Any) -> Any:
    def loss(x: Any, y: Any) -> Any:
        return (megablox.gmm(x, y, sizes, jnp.float32) ** 2).sum()

    return jax.grad(loss, (0, 1))(x, y)


def _gmm_shard(x: Any, y: Any, sizes: Any, first: Any) -> Any:
    return _gmm.gmm(x, y, sizes, jnp.float32, group_offset=first)


_PRODUCTS = [
    Case("matmul", functools.partial(matmul.matmul, block_shape=(256, 256), block_k=128),
         (_bf16(512, 256), _bf16(256, 512, seed=1)), 256, 1),
    Case("gmm", _gmm.gmm, (_bf16(512, 256), _bf16(4, 256, 256, seed=1), _SIZES), 256),
    Case("gmm, sizes that are no multiples",
         functools.partial(_gmm.gmm, tiling=(128, 128, 128)),
         (_bf16(512, 200), _bf16(4, 200, 200, seed=1), _SIZES), 256),
    Case("gmm, transposed", functools.partial(_gmm.gmm, transpose_rhs=True),
         (_bf16(512, 256), _bf16(4, 256, 256, seed=1), _SIZES), 256),
    Case("gmm, groups from another device", _gmm_shard,
         (_bf16(512, 256), _bf16(2, 256, 256, seed=1), _SIZES, np.array(2, np.int32)), 256,
         defined=np.s_[100:], findings=("undefined_written_back",)),
    Case("tgmm", _gmm.tgmm, (_bf16(256, 512), _bf16(512, 256, seed=1), _SIZES), 512),
    Case("gradient of gmm", _gmm_gradient,
         (_bf16(512, 256), _bf16(4, 256, 256, seed=1) * BF16(0.1), _SIZES), 2**18, 4)]


def _random(module: Any, shape: tuple[int, ...]) -> Callable[..., Any]:
    bits = (threefry.plthreefry_random_bits if module is threefry else philox.philox_random_bits)
    return lambda key: bits(key, 32, shape)


_KEY = np.array([1, 0xDEADBEEF], np.uint32)
_OTHER = [
    Case("example_kernel", example_kernel.double, (normal(256, 512),)),
    Case("threefry", _random(threefry, (512, 512)), (_KEY,)),
    Case("threefry, padded", _random(threefry, (2, 300, 200)), (_KEY,)),
    Case("philox", _random(philox, (512, 512)), (_KEY,)),
    Case("philox, padded", _random(philox, (300, 200)), (_KEY,)),
    Case("philox_split", lambda key: philox.philox_split(key, (256, 256)), (_KEY,))]

CASES = [*_PRODUCTS, *_FLASH, *_SPLASH, *_PAGED, *_OTHER]
