"""JAX's attention of Mosaic GPU, forward and backward, and plain attention for every kernel of it."""
import functools
import math

import jax
import jax.numpy as jnp

from case import F32, HIGH, Made, Residuals, case, dtype_of, normal


def plain(q, k, v, scale=1.0, causal_from=None):
    """Attention of one head in float32; if causal, of the queries from a row on."""
    s = jnp.matmul(q, k.T, precision=HIGH) * scale
    if causal_from is not None:
        rows = causal_from + jnp.arange(q.shape[0])
        s = jnp.where(rows[:, None] >= jnp.arange(k.shape[0])[None], s, -jnp.inf)
    return jnp.matmul(jax.nn.softmax(s, axis=-1), v, precision=HIGH)


def attention_check(outs, args, causal):
    """The first rows of the first head and the last rows of the last one."""
    q, k, v = args[:3]
    b, s, h, _ = q.shape
    n, group = min(128, s), h // k.shape[2]
    pairs = []
    for bi, hi, start in ((0, 0, 0), (b - 1, h - 1, s - n)):
        rows = slice(start, start + n)
        one, keys, values = (x.astype(F32) for x in (q[bi, rows, hi], k[bi, :, hi // group], v[bi, :, hi // group]))
        pairs.append((outs[0][bi, rows, hi], plain(one, keys, values, causal_from=start if causal else None)))
    return pairs


def qkv(b, s, h, d, dtype, kvh=None):
    kvh = kvh or h
    return [normal(b, s, h, d, dtype=dtype, scale=1 / math.sqrt(d)),
            normal(b, s, kvh, d, dtype=dtype), normal(b, s, kvh, d, dtype=dtype)]


def residuals_of(q, k, v):
    """Attention and its log-sum-exp (of base 2), head by head."""
    group = q.shape[2] // k.shape[2]

    def head(args):
        q, k, v = (x.astype(F32) for x in args)
        s = jnp.matmul(q, k.T)
        most = s.max(-1, keepdims=True)
        e = jnp.exp(s - most)
        total = e.sum(-1, keepdims=True)
        return jnp.matmul(e / total, v), (most + jnp.log(total))[:, 0] * math.log2(math.e)

    def batch(args):
        q, k, v = args
        k, v = (jnp.repeat(x.swapaxes(0, 1), group, 0) for x in (k, v))
        return jax.lax.map(head, (q.swapaxes(0, 1), k, v))

    out, lse = jax.lax.map(batch, (q, k, v))  # b h s d, b h s
    return out.swapaxes(1, 2).astype(q.dtype), lse


def gradients_check(outs, args):
    """The gradients of the first head. Every query head has keys of its own."""
    q, k, v, do = (x[0, :, 0].astype(F32) for x in args[:4])
    _, back = jax.vjp(plain, q, k, v)
    return [(ours[0, :, 0], theirs) for ours, theirs in zip(outs[:3], back(do))]


def forward(b, s, h, d, dtype, bq, bkv, steps, causal=False, kvh=None, emitter=False, schedule=True):
    from jax.experimental.pallas.ops.gpu import attention_mgpu
    config = attention_mgpu.TuningConfig(block_q=bq, block_kv=bkv, max_concurrent_steps=steps, causal=causal,
                                         use_schedule_barrier=schedule)
    run = attention_mgpu.attention_with_pipeline_emitter if emitter else attention_mgpu.attention
    return Made(lambda q, k, v: run(q, k, v, config), qkv(b, s, h, d, dtype_of(dtype), kvh),
                functools.partial(attention_check, causal=causal), 2e-2)


def backward(b, s, h, d, dtype, bq, bkv, steps, wgs=1):
    """The gradients alone: what the forward pass leaves behind are arguments."""
    from jax.experimental.pallas.ops.gpu import attention_mgpu
    config = attention_mgpu.TuningConfig(
        block_q=bq, block_kv=bkv, max_concurrent_steps=steps, compute_wgs_bwd=wgs, block_q_dkv=bq, block_kv_dkv=bkv,
        block_q_dq=bq, block_kv_dq=bkv)
    dtype = dtype_of(dtype)

    def fn(q, k, v, do, out, lse):
        return attention_mgpu._attention_bwd(config, False, (q, k, v, out, lse), do)

    return Made(fn, [*qkv(b, s, h, d, dtype), normal(b, s, h, d, dtype=dtype), Residuals((b, s, h, d), dtype)],
                gradients_check, 4e-2)


def _forward(b, s, h, d, bq, bkv, steps, cold=False, **more):
    family = "attention_with_pipeline_emitter" if more.get("emitter") else "attention_mgpu"
    return case(family, forward, cold, b=b, s=s, h=h, d=d, dtype="f16", bq=bq, bkv=bkv, steps=steps, **more)


def _backward(s, d, bkv, wgs):
    return case("attention_mgpu_backward", backward, b=1, s=s, h=16, d=d, dtype="f16", bq=64, bkv=bkv, steps=2,
                wgs=wgs)


CASES = [
    _forward(1, 4096, 16, 128, 64, 128, 2),
    _forward(1, 4096, 16, 64, 64, 128, 2),
    _forward(1, 4096, 16, 256, 64, 64, 2),
    _forward(1, 4096, 16, 128, 64, 128, 2, causal=True),
    _forward(1, 512, 8, 128, 64, 128, 2, cold=True),
    _forward(1, 1024, 16, 128, 64, 128, 2, cold=True),
    _forward(1, 8192, 16, 128, 64, 128, 2),
    _forward(1, 4096, 16, 128, 64, 64, 2),
    _forward(1, 4096, 16, 128, 64, 64, 4),
    _forward(1, 4096, 16, 128, 64, 128, 2, emitter=True),
    _forward(1, 4096, 16, 128, 64, 128, 2, emitter=True, schedule=False),
    _forward(1, 2048, 16, 128, 64, 128, 2),
    _forward(1, 2048, 33, 128, 64, 128, 2),
    _forward(4, 1024, 16, 128, 64, 128, 2),
    _forward(1, 4096, 16, 128, 64, 128, 3),
    _forward(1, 4096, 16, 64, 64, 64, 2),
    _forward(1, 4096, 16, 64, 64, 256, 2),
    _forward(1, 4096, 16, 64, 128, 128, 2),
    _forward(1, 4096, 16, 64, 128, 64, 4),
    _forward(1, 4096, 16, 64, 64, 128, 2, causal=True),
    _forward(1, 4096, 16, 256, 64, 64, 2, causal=True),
    _forward(1, 1024, 4, 64, 64, 128, 2),
    _forward(1, 4096, 16, 128, 64, 128, 2, kvh=4),
    _forward(1, 4096, 16, 128, 128, 64, 2),
    _forward(1, 4096, 16, 64, 64, 128, 4),
    _forward(1, 4096, 16, 128, 64, 64, 3),
    _forward(1, 8192, 16, 128, 64, 128, 2, causal=True),
    _forward(1, 2048, 16, 128, 64, 128, 2, causal=True),
    _forward(1, 4096, 16, 64, 64, 128, 2, emitter=True),
    _forward(1, 4096, 16, 64, 64, 128, 2, emitter=True, schedule=False),
    _forward(1, 4096, 16, 256, 64, 64, 2, emitter=True),
    _forward(1, 4096, 16, 128, 64, 64, 4, emitter=True),
    _forward(1, 1024, 16, 128, 64, 128, 2, emitter=True),
    _backward(4096, 64, 64, 1),
    _backward(4096, 128, 64, 1),
    _backward(4096, 64, 64, 2),
    _backward(2048, 64, 64, 1),
    _backward(4096, 64, 128, 1),
]
