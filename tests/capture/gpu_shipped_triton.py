"""Kernels for Triton that ship inside JAX, unchanged, at small shapes."""

import functools
import warnings

import jax
import jax.numpy as jnp
import numpy as np
from attention_in_numpy import attended, gradients, weights
from gpu_case import case

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)
    from jax.experimental.pallas.ops.gpu import (attention, decode_attention, layer_norm,
                                                 paged_attention, rms_norm, softmax)

_F16 = np.float16


def _normal(*shape, dtype=np.float32, seed=0):
    return np.random.default_rng(seed).standard_normal(shape).astype(dtype)


# ---- attention -----------------------------------------------------------------------------

_BLOCKS = attention.BlockSizes(block_q=32, block_k=32, block_q_dkv=32, block_kv_dkv=32,
                               block_q_dq=32, block_kv_dq=32)


def _qkv(head=64):
    return [_normal(1, 64, 2, head, dtype=_F16, seed=seed) / 4 for seed in range(3)]


_SEGMENTS = np.repeat(np.arange(4, dtype=np.int32), 16)[None]
_attention = functools.partial(case, is_interpreted=False, tolerance=3e-3,
                               has="dot_general exp2 masked_load")


@_attention(*_qkv(), wanted=attended)
def mha(q, k, v):
    return attention.mha(q, k, v, None, block_sizes=_BLOCKS)


@_attention(*_qkv(), wanted=functools.partial(attended, causal=True))
def causal_mha(q, k, v):
    return attention.mha(q, k, v, None, causal=True, block_sizes=_BLOCKS)


@_attention(*_qkv(), _SEGMENTS, wanted=attended)
def mha_of_segments(q, k, v, segments):
    return attention.mha(q, k, v, segments, block_sizes=_BLOCKS)


@_attention(*_qkv(80), wanted=attended)
def mha_of_heads_that_are_no_power_of_two(q, k, v):
    return attention.mha(q, k, v, None, block_sizes=_BLOCKS)


@_attention(*_qkv(), wanted=gradients)
def gradients_of_mha(q, k, v):
    return jax.grad(lambda *qkv: jnp.sum(attention.mha(*qkv, None, block_sizes=_BLOCKS)
                                         .astype(jnp.float32)), argnums=(0, 1, 2))(q, k, v)


_decode = functools.partial(case, is_interpreted=False, tolerance=3e-3, has="dot_general")
_Q = _normal(2, 16, 64, dtype=_F16) / 4


def _decoded(q, k, v):
    """Grouped heads: k and v are [batch, length, heads, channels]."""
    q, k, v = (x.astype(np.float32) for x in (q, k, v))
    b, heads, c = q.shape
    q = q.reshape(b, k.shape[2], -1, c)
    shares = weights(np.einsum("bhgc,bkhc->bhgk", q, k))
    return np.einsum("bhgk,bkhc->bhgc", shares, v).reshape(b, heads, c).astype(_F16)


@_decode(_Q, *[_normal(2, 128, 64, dtype=_F16, seed=seed) / 4 for seed in (1, 2)],
         wanted=lambda q, k, v: _decoded(q / 8, k[:, :, None], v[:, :, None]).astype(np.float32))
def mqa(q, k, v):
    return decode_attention.mqa(q, k, v, block_k=32, k_splits=2)


@_decode(_Q, *[_normal(2, 128, 2, 64, dtype=_F16, seed=seed) / 4 for seed in (1, 2)],
         wanted=lambda q, k, v: _decoded(q / 8, k, v).astype(np.float32))
def gqa(q, k, v):
    return decode_attention.gqa(q, k, v, block_k=32, k_splits=2)


_PAGES = np.random.default_rng(5).permutation(16).reshape(2, 8).astype(np.int32)
_LENGTHS = np.array([120, 57], np.int32)


def _from_pages(q, k_pages, v_pages, tables, lengths):
    results = []
    for one, table, length in zip(q, tables, lengths, strict=True):
        k, v = (np.moveaxis(pages[:, table], 0, 2).reshape(1, -1, pages.shape[0], pages.shape[-1])
                [:, :length] for pages in (k_pages, v_pages))
        results.append(_decoded(one[None], k, v)[0])
    return np.stack(results)


@_decode(_Q, *[_normal(2, 16, 16, 64, dtype=_F16, seed=seed) / 4 for seed in (1, 2)], _PAGES,
         _LENGTHS, wanted=_from_pages)
def paged(q, k_pages, v_pages, tables, lengths):
    return paged_attention.paged_attention(q, k_pages, v_pages, tables, lengths, k_splits=2)


# ---- norms and softmax ---------------------------------------------------------------------

_norm = functools.partial(case, _normal(2, 3, 200), _normal(200, seed=1), _normal(200, seed=2),
                          is_interpreted=False, tolerance=2e-5, has="masked_load masked_swap")


def _layer_normed(x, w, b):
    centred = x - x.mean(-1, keepdims=True)
    return centred / np.sqrt((centred**2).mean(-1, keepdims=True) + 1e-5) * w + b


def _rms_normed(x, w, b):
    return x / np.sqrt((x**2).mean(-1, keepdims=True) + 1e-5) * w + b


def _of_squares(normed):
    """Returns the gradients of half the sum of squares, by JAX from the plain function."""
    def plain(x, w, b):
        if normed is _layer_normed:
            x = x - x.mean(-1, keepdims=True)
        return x * jax.lax.rsqrt((x**2).mean(-1, keepdims=True) + 1e-5) * w + b

    return lambda *xwb: tuple(np.asarray(found) for found in jax.grad(
        lambda *given: (plain(*given)**2).sum() / 2, argnums=(0, 1, 2))(*map(jnp.asarray, xwb)))


def _grad(fn):
    return jax.grad(lambda *xwb: (fn(*xwb)**2).sum() / 2, argnums=(0, 1, 2))


@_norm(wanted=_layer_normed)
def layer_normed(x, w, b):
    return layer_norm.layer_norm(x, w, b)


@_norm(wanted=_of_squares(_layer_normed))
def gradients_of_layer_norm(x, w, b):
    return _grad(layer_norm.layer_norm)(x, w, b)


@_norm(wanted=_rms_normed)
def rms_normed(x, w, b):
    return rms_norm.rms_norm(x, w, b)


@_norm(wanted=_of_squares(_rms_normed))
def gradients_of_rms_norm(x, w, b):
    return _grad(rms_norm.rms_norm)(x, w, b)


@case(_normal(2, 3, 200), wanted=weights, is_interpreted=False, tolerance=1e-6, has="exp")
def softmax_of_rows(x):
    return softmax.softmax(x)
