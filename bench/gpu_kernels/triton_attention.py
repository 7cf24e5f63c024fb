"""JAX's attention by Triton: forward, backward, one query against many keys, keys in pages."""
import functools
import math

import jax
import jax.numpy as jnp
import numpy as np

from attention import attention_check, gradients_check, qkv
from case import F32, HIGH, Made, Residuals, case, dtype_of, normal


def forward(b, s, h, d, dtype, bq, bk, warps, stages, causal=False):
    from jax.experimental.pallas.ops.gpu import attention
    blocks = attention.BlockSizes(block_q=bq, block_k=bk)
    return Made(lambda q, k, v: attention.mha(q, k, v, None, 1.0, causal, blocks, "triton", warps, stages),
                qkv(b, s, h, d, dtype_of(dtype)), functools.partial(attention_check, causal=causal), 2e-2)


def backward(b, s, h, d, dtype, block, warps):
    """The gradients alone: what the forward pass leaves behind are arguments."""
    from jax.experimental.pallas.ops.gpu import attention
    blocks = attention.BlockSizes(block_q=128, block_k=128, block_q_dkv=block, block_kv_dkv=block, block_q_dq=block,
                                  block_kv_dq=block)

    def fn(q, k, v, do, out, lse):
        return attention._mha_backward(1.0, False, blocks, "triton", warps, 2, None, False, False, False,
                                       (q, k, v, None, out, lse), do)[:3]

    dtype = dtype_of(dtype)
    return Made(fn, [*qkv(b, s, h, d, dtype), normal(b, s, h, d, dtype=dtype), Residuals((b, s, h, d), dtype)],
                gradients_check, 4e-2)


def decoded(q, k, v, scale, lengths=None):
    """One query of each head against all its keys, or against the first ones of them."""
    b, h, d = q.shape
    q = q.reshape(b, k.shape[2], -1, d).astype(F32)
    s = jnp.einsum("bhgc,bkhc->bhgk", q, k.astype(F32), precision=HIGH) * scale
    if lengths is not None:
        s = jnp.where(jnp.arange(k.shape[1]) < lengths[:, None, None, None], s, -jnp.inf)
    return jnp.einsum("bhgk,bkhc->bhgc", jax.nn.softmax(s, axis=-1), v.astype(F32),
                      precision=HIGH).reshape(b, h, d)


def decode(b, s, h, kvh, d, dtype, bh, bk, splits, warps, stages):
    """Without heads of keys (kvh = 0) all heads of queries share the keys."""
    from jax.experimental.pallas.ops.gpu import decode_attention
    dtype = dtype_of(dtype)
    run = decode_attention.gqa if kvh else decode_attention.mqa
    keys = (b, s, kvh, d) if kvh else (b, s, d)

    def fn(q, k, v):
        return run(q, k, v, block_h=bh, block_k=bk, k_splits=splits, num_warps=warps, num_stages=stages)

    def check(outs, args):
        q, k, v = args
        k, v = (x.reshape(b, s, -1, d) for x in (k, v))
        return [(outs[0], decoded(q, k, v, 1 / math.sqrt(d)))]

    return Made(fn, [normal(b, h, d, dtype=dtype), normal(*keys, dtype=dtype), normal(*keys, dtype=dtype)], check, 2e-2)


def paged(b, pages, page, h, kvh, d, dtype, bh, per_block, splits, warps, stages):
    from jax.experimental.pallas.ops.gpu import paged_attention
    dtype = dtype_of(dtype)
    total = b * pages
    tables = np.random.default_rng(5).permutation(total).reshape(b, pages).astype(np.int32)
    lengths = np.full(b, pages * page, np.int32)

    def fn(q, k, v, tables, lengths):
        return paged_attention.paged_attention(q, k, v, tables, lengths, block_h=bh, pages_per_compute_block=per_block,
                                               k_splits=splits, num_warps=warps, num_stages=stages)

    def check(outs, args):
        q, k, v, tables, lengths = args
        k, v = (jnp.moveaxis(x[:, tables], 0, 3).reshape(b, pages * page, kvh, d) for x in (k, v))
        return [(outs[0], decoded(q, k, v, 1.0, lengths))]

    return Made(fn, [normal(b, h, d, dtype=dtype, scale=1 / math.sqrt(d)), normal(kvh, total, page, d, dtype=dtype),
                     normal(kvh, total, page, d, dtype=dtype), tables, lengths], check, 2e-2)


def _forward(b, s, d, bq, bk, warps, stages, causal=False):
    return case("triton_mha", forward, b=b, s=s, h=16, d=d, dtype="f16", bq=bq, bk=bk, warps=warps, stages=stages,
                causal=causal)


def _backward(d, block, warps):
    return case("triton_mha_backward", backward, b=1, s=2048, h=16, d=d, dtype="f16", block=block, warps=warps)


def _decode(b, s, h, kvh, d, bk, splits, warps, stages, cold=False):
    return case("decode_gqa" if kvh else "decode_mqa", decode, cold, b=b, s=s, h=h, kvh=kvh, d=d, dtype="f16", bh=16,
                bk=bk, splits=splits, warps=warps, stages=stages)


def _paged(b, pages, page, h, kvh, d, per_block, splits, warps):
    return case("paged_attention", paged, b=b, pages=pages, page=page, h=h, kvh=kvh, d=d, dtype="f16", bh=16,
                per_block=per_block, splits=splits, warps=warps, stages=2)


CASES = [
    _forward(1, 4096, 64, 128, 128, 4, 2),
    _forward(1, 4096, 128, 128, 128, 8, 2),
    _forward(1, 4096, 64, 128, 64, 4, 3),
    _forward(1, 4096, 64, 64, 64, 4, 2),
    _forward(1, 4096, 64, 128, 128, 8, 2),
    _forward(1, 4096, 128, 64, 64, 4, 2),
    _forward(1, 4096, 128, 128, 64, 8, 3),
    _forward(1, 4096, 128, 64, 64, 4, 4),
    _forward(1, 4096, 64, 128, 64, 4, 2, causal=True),
    _forward(4, 1024, 64, 128, 64, 4, 2),
    _forward(1, 1024, 64, 128, 64, 4, 2),
    _forward(1, 4096, 64, 64, 64, 4, 4),
    _forward(1, 8192, 128, 128, 64, 8, 2),
    _backward(64, 32, 4),
    _backward(64, 64, 4),
    _backward(128, 32, 8),
    _decode(8, 8192, 16, 0, 128, 128, 16, 4, 2),
    _decode(8, 8192, 32, 8, 128, 128, 16, 4, 2),
    _decode(8, 8192, 16, 0, 128, 64, 16, 4, 3),
    _decode(2, 4096, 32, 4, 64, 128, 16, 4, 2, cold=True),
    _decode(16, 8192, 32, 8, 128, 64, 8, 8, 2),
    _paged(8, 256, 16, 32, 8, 128, 8, 16, 8),
    _paged(8, 256, 16, 32, 8, 128, 4, 16, 4),
    _paged(2, 128, 32, 16, 2, 64, 4, 8, 4),
]
