"""TPU kernels of ejkernel, a package on PyPI, with arguments. They are rows of
docs/compatibility.md if the package is installed (0.0.80.3 with JAX 0.10.0)."""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable
from typing import Any

import ejkernel.kernels._pallas.tpu as ej
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import PartitionSpec as P
from shipped import BF16, Case
from support import integers, normal, pallascope


def _module(kernel: str) -> Any:
    return importlib.import_module(f"ejkernel.kernels._pallas.tpu.{kernel}._pallas_impl_fwd")


_gated, _v3 = _module("gated_delta_rule"), _module("ragged_page_attention_v3")
_prefill = _module("prefill_page_attention")
_latent = _module("multi_latent_ragged_page_attention")
_jax_ragged = importlib.import_module(
    "jax.experimental.pallas.ops.tpu.ragged_paged_attention.kernel")


def _part(function: Callable[..., Any], part: Any) -> Callable[..., Any]:
    """Returns only those results of the function that a case compares."""
    return lambda *args: part(function(*args))


def _named(function: Callable[..., Any], *names: str, **options: Any) -> Callable[..., Any]:
    """Returns the function with positional arguments in place of named ones."""
    return lambda *args: function(**dict(zip(names, args, strict=True)), **options)


def _heads(*shape: int, seeds: int = 3, scale: float = 0.5) -> tuple[np.ndarray, ...]:
    return tuple((normal(*shape, seed=seed) * scale).astype(np.float32) for seed in range(seeds))


_DENSE = _heads(1, 256, 2, 128)
_SIZES = np.array([100, 0, 300, 112], np.int32)
_SPARSE = _heads(1, 2, 256, 128)


def _gradient(function: Callable[..., Any], count: int) -> Callable[..., Any]:
    def loss(*args: Any) -> Any:
        return (jax.tree_util.tree_leaves(function(*args))[0] ** 2).sum()

    return jax.grad(loss, tuple(range(count)))


_flash = functools.partial(_named, ej.flash_attention, "query", "key", "value")
_blocks = functools.partial(_named, ej.blocksparse_attention, "query", "key", "value")
_LOGITS = normal(64, 1024)
_TARGETS = integers(64, least=0, most=1024)
_GROUPED = (normal(512, 256, dtype=BF16), normal(4, 256, 256, dtype=BF16, seed=1), _SIZES)
_DECODE = (normal(4, 8, 128) * 0.3, normal(4, 256, 2, 128, seed=1), normal(4, 256, 2, 128, seed=2),
           np.array([0, 3, 0, 10], np.int32), np.array([256, 100, 17, 200], np.int32))
_PAGES = np.random.default_rng(3).permutation(64)[:32].reshape(4, 8).astype(np.int32)
_PAGED = ((normal(4, 4, 128) * 0.1).astype(np.float32), normal(2, 64, 16, 128, seed=1),
          normal(2, 64, 16, 128, seed=2), np.array([17, 128, 1, 100], np.int32), _PAGES)
_RAGGED = ((normal(64, 4, 128) * 0.3).astype(BF16), normal(64, 16, 4, 128, seed=1).astype(BF16),
           np.array([48, 33, 96, 1], np.int32), _PAGES, np.array([0, 16, 20, 56, 57], np.int32),
           np.array([4], np.int32))
_DELTA = (*(a.astype(np.float32) for a in _heads(1, 128, 2, 128)),
          np.abs(normal(1, 128, 2)).astype(np.float32) * 0.1,
          -np.abs(normal(1, 128, 2, seed=5)).astype(np.float32) * 0.1)
_ONE = (*_heads(4, 1, 2, 128), np.full((4, 1, 2), 0.1, np.float32),
        np.full((4, 1, 2), -0.1, np.float32))
_TOKENS = (*_heads(4, 2, 128), np.full((4, 2), 0.1, np.float32), np.full((4, 2), -0.1, np.float32),
           normal(6, 2, 128, 128), np.arange(5, dtype=np.int32), np.array([5, 0, 3, 1], np.int32))
_LATENT = ((normal(1, 256, 4, 128) * 0.3).astype(np.float32),
           (normal(1, 256, 256, seed=1) * 0.3).astype(np.float32),
           (normal(256, 4, 128, seed=2) * 0.1).astype(np.float32),
           (normal(256, 4, 128, seed=3) * 0.1).astype(np.float32))
_V3 = ((normal(58, 4, 128) * 0.3).astype(BF16), normal(58, 2, 128, seed=1).astype(BF16),
       normal(58, 2, 128, seed=2).astype(BF16), normal(64, 16, 2, 2, 128, seed=3).astype(BF16),
       np.array([48, 33, 96, 2], np.int32), _PAGES.reshape(-1),
       np.array([0, 16, 20, 56, 58], np.int32), np.array([0, 0, 4], np.int32))
_MLA = ((normal(58, 4, 128) * 0.3).astype(BF16), (normal(58, 4, 64, seed=4) * 0.3).astype(BF16),
        normal(58, 128, seed=1).astype(BF16), normal(58, 64, seed=2).astype(BF16),
        normal(64, 8, 2, 256, seed=3).astype(BF16), *_V3[4:])
# The second kernel writes new rows of the cache in pairs. After a sequence of odd length it leaves
# one row more than the reference.
_MLA2 = (*_MLA[:5], np.array([48, 34, 96, 2], np.int32), *_MLA[6:])


def _product(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Multiplies with a single rounding, because the order in which NumPy adds up float32 depends
    on the processor."""
    return (x.astype(np.float64) @ y.astype(np.float64)).astype(np.float32)


def _by_groups() -> np.ndarray:
    x, y, sizes = (np.asarray(array) for array in _GROUPED)
    ends = np.cumsum(sizes)
    return np.concatenate([_product(x[end - int(size):end], y[group])
                           for group, (end, size) in enumerate(zip(ends, sizes, strict=True))])


def _decoded() -> np.ndarray:
    """Returns one query of each sequence; four of its heads share one head of keys."""
    q, k, v, starts, ends = _DECODE
    found = np.zeros(q.shape, np.float32)
    for row, (start, end) in enumerate(zip(starts, ends, strict=True)):
        for head in range(q.shape[1]):
            scores = k[row, start:end, head // 4] @ q[row, head] / np.sqrt(128)
            weights = np.exp(scores - scores.max())
            found[row, head] = weights @ v[row, start:end, head // 4] / weights.sum()
    return found


def _ring(function: Callable[..., Any], inputs: tuple[P, ...], out: P) -> Callable[..., Any]:
    """Runs the function on four devices."""
    return jax.shard_map(function, mesh=pallascope.mesh_of({"x": 4}), in_specs=inputs,
                         out_specs=out, check_vma=False)


_ROWS, _COLUMNS = P("x"), P(None, "x")
_FACTORS = (normal(512, 256) * 0.3).astype(np.float32), (normal(256, 512, seed=1) * 0.3).astype(
    np.float32)
_PARTS = (normal(1024, 512) * 0.3).astype(np.float32), (normal(256, 512, seed=1) * 0.3).astype(
    np.float32)
_LONG = _heads(1, 512, 2, 128)
_PREFILL = ((normal(32, 8, 128) * 0.3).astype(np.float32), normal(1, 32, 16, 128, seed=1),
            normal(1, 32, 16, 128, seed=2), np.array([100], np.int32),
            np.random.default_rng(0).permutation(32)[:8].astype(np.int32))


def _attended() -> Any:
    q, k, v = _LONG
    scores = jnp.einsum("bthd,bshd->bhts", q, k, precision="highest") / np.sqrt(128)
    scores = jnp.where(np.tri(512, dtype=bool), scores, -1e30)
    return jnp.einsum("bhts,bshd->bthd", jax.nn.softmax(scores, -1), v, precision="highest")


CASES = [
    Case("ej.all_gather_matmul, four devices", _ring(
        functools.partial(ej.all_gather_matmul, axis_name="x", tp_size=4), (_ROWS, _COLUMNS),
        _COLUMNS), _FACTORS, 2**10, wanted=lambda: _product(*_FACTORS)),
    Case("ej.reduce_scatter_matmul, four devices", _ring(
        functools.partial(ej.reduce_scatter_matmul, axis_name="x", tp_size=4),
        (_COLUMNS, _COLUMNS), _ROWS), _PARTS, 2**10,
         wanted=lambda: _product(_PARTS[0], _PARTS[1].T)),
    Case("ej.ring_attention, causal, four devices", _ring(
        lambda q, k, v: ej.ring_attention(q, k, v, causal=True, axis_name="x"),
        (_COLUMNS,) * 3, _COLUMNS), _LONG, 64, 64, wanted=_attended),
    # For one head of keys. With more, the kernel waits for copies that it starts only for the
    # first.
    Case("ej.prefill_page_attention", ej.prefill_page_attention, _PREFILL, 64, 64,
         wanted=lambda: _prefill.ref_prefill_page_attention(*map(jnp.asarray, _PREFILL))),
    Case("ej.grouped_matmul", ej.grouped_matmul, _GROUPED, 256),
    Case("ej.grouped_matmulv2", ej.grouped_matmulv2, _GROUPED, 256),
    # Loads the row after the last one of a tile, and drops it.
    Case("ej.grouped_matmulv3", ej.grouped_matmulv3, _GROUPED, 256, wanted=_by_groups,
         findings=("out_of_bounds",), settings=("out_of_bounds_reads=uninitialized",)),
    Case("ej.flash_attention", _flash(), _DENSE, 64, 64),
    Case("ej.flash_attention, causal", _flash(causal=True), _DENSE, 64, 64),
    Case("gradient of ej.flash_attention", _gradient(_flash(causal=True), 3), _DENSE, 256, 64),
    Case("ej.blocksparse_attention", _blocks(), _SPARSE, 64, 64),
    Case("gradient of ej.blocksparse_attention", _gradient(_blocks(), 3), _SPARSE, 256, 64),
    Case("ej.fused_cross_entropy", ej.fused_cross_entropy, (_LOGITS, _TARGETS), 64, 64),
    Case("gradient of ej.fused_cross_entropy",
         jax.grad(lambda x, t: ej.fused_cross_entropy(x, t)[0].sum()), (_LOGITS, _TARGETS), 64, 64),
    Case("ej.fused_kl_divergence", ej.fused_kl_divergence, (_LOGITS, normal(64, 1024, seed=1)),
         64, 64),
    Case("gradient of ej.fused_kl_divergence",
         jax.grad(lambda x, y: ej.fused_kl_divergence(x, y).sum()),
         (_LOGITS, normal(64, 1024, seed=1)), 64, 64),
    Case("ej.page_attention",
         lambda q, k, v, lengths, pages: ej.page_attention(
             q, k, v, lengths, pages, attn_scale=1.0, pages_per_compute_block=4), _PAGED, 64, 64),
    Case("ej.ragged_decode_attention", ej.ragged_decode_attention, _DECODE, 64, 64,
         wanted=_decoded),
    Case("ej.ragged_page_attention_v2",
         functools.partial(ej.ragged_page_attention_v2, softmax_scale=0.1, num_kv_pages_per_block=4,
                           num_queries_per_block=16), _RAGGED, 2**17, 4,
         wanted=lambda: _jax_ragged.ref_ragged_paged_attention(
             *map(jnp.asarray, _RAGGED), sm_scale=0.1), defined=np.s_[:57]),
    Case("ej.gated_delta_rule, chunks",
         lambda q, k, v, b, d: _gated._chunk_gdr_fwd_pallas_chunk(q, k, v, b, d, 64, None, True),
         _DELTA, 2**10, 64),
    Case("gradient of ej.gated_delta_rule, chunks", _gradient(
        lambda q, k, v, b, d: _gated._chunk_gdr_fwd_pallas_chunk(q, k, v, b, d, 64, None, True), 3),
         _DELTA, 2**10, 64),
    Case("ej.gated_delta_rule, one token", lambda q, k, v, b, d, s: ej.gated_delta_rule(
        q, k, v, b, d, initial_state=s), (*_ONE, normal(4, 2, 128, 128)), 2**10, 64),
    Case("ej.ragged_gated_delta_rule", ej.ragged_gated_delta_rule, _TOKENS, 2**10, 64),
    Case("ej.flash_mla", functools.partial(ej.flash_mla, causal=True), _LATENT, 2**10, 64),
    Case("gradient of ej.flash_mla",
         _gradient(functools.partial(ej.flash_mla, causal=True), 4), _LATENT, 2**12, 64),
    Case("ej.ragged_page_attention_v3", functools.partial(
        ej.ragged_page_attention_v3, softmax_scale=0.1, num_kv_pages_per_block=4,
        num_queries_per_block=16), _V3, 2**17, 4,
         wanted=lambda: _v3.ref_ragged_paged_attention(*map(jnp.asarray, _V3), softmax_scale=0.1)),
    Case("ej.multi_latent_ragged_page_attention", functools.partial(
        ej.multi_latent_ragged_page_attention, softmax_scale=0.1, num_kv_pages_per_block=4,
        num_queries_per_block=2), _MLA, 2**17, 4,
         wanted=lambda: _latent.ref_mla_ragged_paged_attention(*map(jnp.asarray, _MLA),
                                                               sm_scale=0.1)),
    Case("ej.multi_latent_ragged_page_attention_v2", functools.partial(
        ej.multi_latent_ragged_page_attention_v2, softmax_scale=0.1, num_kv_pages_per_block=4,
        num_queries_per_block=(1, 16, 16)), _MLA2, 2**17, 4,
         wanted=lambda: _latent.ref_mla_ragged_paged_attention(*map(jnp.asarray, _MLA2),
                                                               sm_scale=0.1))]
