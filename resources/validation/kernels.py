#!/usr/bin/env python3
"""Makes the kernel files that published.csv names: kernels of our own, of the shapes and schedules of
those that were timed.

    build/venv/bin/python resources/validation/kernels.py resources/validation/kernels

Needs JAX and the package in kernels/jax. The files are committed, so that `pallascope validate` needs
neither.
"""
import functools
import json
import math
import pathlib
import sys

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu

import pallascope

LANES = 128
LOWEST = -0.7 * float(jnp.finfo(jnp.float32).max)


def bf16(*shape):
    return jax.ShapeDtypeStruct(shape, jnp.bfloat16)


def product(x, y, bm, bk, bn, transposed=False, activation=lambda block: block):
    """x @ y, or x @ y.T, in blocks summed in scratch, as JAX's matmul guide builds it."""
    (m, k), n = x.shape, y.shape[0 if transposed else 1]
    contracted = (((1,), (1 if transposed else 0,)), ((), ()))

    def body(x_ref, y_ref, out_ref, sums):
        @pl.when(pl.program_id(2) == 0)
        def _():
            sums[...] = jnp.zeros_like(sums)

        sums[...] += jax.lax.dot_general(x_ref[...], y_ref[...], contracted, preferred_element_type=jnp.float32)

        @pl.when(pl.program_id(2) == k // bk - 1)
        def _():
            out_ref[...] = activation(sums[...]).astype(out_ref.dtype)

    y_spec = (pl.BlockSpec((bn, bk), lambda i, j, k: (j, k)) if transposed
              else pl.BlockSpec((bk, bn), lambda i, j, k: (k, j)))
    return pl.pallas_call(
        body,
        grid_spec=pltpu.PrefetchScalarGridSpec(
            num_scalar_prefetch=0,
            grid=(m // bm, n // bn, k // bk),
            in_specs=[pl.BlockSpec((bm, bk), lambda i, j, k: (i, k)), y_spec],
            out_specs=pl.BlockSpec((bm, bn), lambda i, j, k: (i, j)),
            scratch_shapes=[pltpu.VMEM((bm, bn), jnp.float32)],
        ),
        out_shape=jax.ShapeDtypeStruct((m, n), x.dtype),
        compiler_params=pltpu.CompilerParams(dimension_semantics=("parallel", "parallel", "arbitrary")),
    )(x, y)


def attend(q, k, v, out, largest, sums, values, *, compute, steps, minor):
    """One block of queries and one of keys: softmax in base 2, `compute` keys at a time."""
    last = pl.program_id(3) == steps - 1

    @pl.when(pl.program_id(3) == 0)
    def _():
        largest[...] = jnp.full_like(largest, LOWEST)
        sums[...] = jnp.zeros_like(sums)
        values[...] = jnp.zeros_like(values)

    def part(index, _):
        keys = pl.ds(index * compute, compute)
        queries = (q[...].T if "q" in minor else q[...]) * math.log2(math.e)
        some = k[:, keys] if "k" in minor else k[keys, :]
        over = (((1,), (0 if "k" in minor else 1,)), ((), ()))
        scores = jax.lax.dot_general(queries, some, over, preferred_element_type=jnp.float32)
        before, sum_before = largest[...], sums[...]
        now = jnp.maximum(before, scores.max(axis=-1)[:, None])
        weights = jnp.exp2(scores - jnp.tile(now, (1, compute // LANES)))
        scale = jnp.exp2(before - now)
        sums[...] = jax.lax.broadcast_in_dim(weights.sum(axis=-1), sum_before.shape, (0,)) + scale * sum_before
        largest[...] = now
        some = v[:, keys] if "v" in minor else v[keys, :]
        over = (((1,), (1 if "v" in minor else 0,)), ((), ()))
        found = jax.lax.dot_general(weights, some, over, preferred_element_type=jnp.float32)
        wide = jnp.tile(scale, (1, pl.cdiv(values.shape[1], LANES)))[:, : values.shape[1]]
        values[...] = wide * values[...] + found

    keys = k.shape[1 if "k" in minor else 0]
    jax.lax.fori_loop(0, keys // compute, part, None, unroll=True)

    @pl.when(last)
    def _():
        inverse = jnp.tile(1.0 / sums[...], (1, pl.cdiv(values.shape[1], LANES)))[:, : values.shape[1]]
        result = (values[...] * inverse).astype(out.dtype)
        out[...] = result.T if "q" in minor else result


def attention(q, k, v, bq, bkv, compute, minor=""):
    """Scaled dot-product attention over [batch, sequence, heads, depth], without a mask. The letters
    in `minor` are operands whose sequence lies in the lanes."""
    batch, length, heads, depth = q.shape
    steps = k.shape[1] // bkv
    q = q * jnp.asarray(depth**-0.5, q.dtype)
    q, k, v = (jnp.swapaxes(x, 1, 2) for x in (q, k, v))

    def spec(name, rows, axis):
        place = (lambda b, h, i, j: (b, h, 0, (i, j)[axis])) if name in minor else (
            lambda b, h, i, j: (b, h, (i, j)[axis], 0))
        return pl.BlockSpec((None, None, depth, rows) if name in minor else (None, None, rows, depth), place)

    q, k, v = (jnp.swapaxes(x, 2, 3) if name in minor else x for name, x in zip("qkv", (q, k, v)))
    out = pl.pallas_call(
        functools.partial(attend, compute=compute, steps=steps, minor=minor),
        grid=(batch, heads, length // bq, steps),
        in_specs=[spec("q", bq, 0), spec("k", bkv, 1), spec("v", bkv, 1)],
        out_specs=spec("q", bq, 0),
        out_shape=jax.ShapeDtypeStruct(q.shape, q.dtype),
        scratch_shapes=[pltpu.VMEM((bq, LANES), jnp.float32), pltpu.VMEM((bq, LANES), jnp.float32),
                        pltpu.VMEM((bq, depth), jnp.float32)],
        compiler_params=pltpu.CompilerParams(
            dimension_semantics=("parallel", "parallel", "arbitrary", "arbitrary")),
    )(q, k, v)
    out = jnp.swapaxes(out, 2, 3) if "q" in minor else out
    return jnp.swapaxes(out, 1, 2)


# Name, function, arguments, chip, cores of a device that share parallel axes.
def kernels():
    relu = functools.partial(product, activation=lambda block: jnp.maximum(block, 0))
    transposed = functools.partial(product, transposed=True)
    for name, function in (("relu", relu), ("transposed", transposed)):
        for blocks in ((128, 128, 128), (512, 1024, 1024)):
            for extent in (4096, 8192):
                yield (f"matmul_{name}_{blocks[0]}_{extent}",
                       functools.partial(function, bm=blocks[0], bk=blocks[1], bn=blocks[2]),
                       [bf16(extent, extent)] * 2, "tpu_v5e", 1)
    for chip, batch, length, heads, depth, bq, bkv, compute, minor in ATTENTION:
        shape = bf16(batch, length, heads, depth)
        yield (f"attention_{chip[4:]}_{batch}_{length}_{heads}_{depth}",
               functools.partial(attention, bq=bq, bkv=bkv, compute=compute, minor=minor),
               [shape] * 3, chip, 2 if chip == "tpu_v5p" else 1)
    for chip, sizes in (("tpu_v7x", range(21, 34)), ("tpu_v6e", (25,))):
        for size in sizes:
            array = bf16(2 ** (size - 11), 1024)  # bytes are all that is published of their arrays
            yield f"copy_{chip[4:]}_{2 ** size}", jnp.copy, [array], chip, 1


# batch, sequence, heads, depth; block_q, block_kv, block_kv_compute; operands with the sequence minor
ATTENTION = (
    ("tpu_v7x", 4, 4096, 8, 256, 2048, 4096, 512, ""),
    ("tpu_v7x", 1, 16384, 16, 128, 4096, 4096, 256, ""),
    ("tpu_v7x", 32, 512, 16, 128, 512, 512, 512, "kv"),
    ("tpu_v5p", 16, 1024, 8, 256, 1024, 1024, 1024, "k"),
    ("tpu_v5p", 4, 4096, 8, 256, 1024, 1024, 256, ""),
    ("tpu_v5p", 2, 8192, 16, 128, 2048, 2048, 256, "k"),
    ("tpu_v5p", 1, 16384, 8, 256, 1024, 2048, 128, "k"),
    ("tpu_v6e", 32, 512, 32, 64, 512, 512, 512, "qkv"),
    ("tpu_v6e", 32, 512, 8, 256, 512, 512, 512, ""),
    ("tpu_v6e", 16, 1024, 16, 128, 1024, 1024, 1024, ""),
    ("tpu_v6e", 16, 1024, 8, 256, 1024, 1024, 1024, ""),
    ("tpu_v6e", 8, 2048, 32, 64, 2048, 2048, 1024, "qkv"),
    ("tpu_v6e", 4, 4096, 8, 256, 2048, 2048, 512, "q"),
    ("tpu_v6e", 2, 8192, 8, 256, 2048, 2048, 512, "q"),
)


def bare(value):
    """Without places in this file, which would be most of a kernel file."""
    if isinstance(value, dict):
        return {key: bare(one) for key, one in value.items() if key not in ("location", "locations", "sources")}
    return [bare(one) for one in value] if isinstance(value, list) else value


def main(folder):
    folder.mkdir(parents=True, exist_ok=True)
    for name, function, arguments, chip, cores in kernels():
        path = folder / f"{name}.kernel.json"
        pallascope.capture(function, *arguments, chip=chip, cores=cores, name=name).save(path, values=False)
        path.write_text(json.dumps(bare(json.loads(path.read_text())), separators=(",", ":")) + "\n")
        print(path)


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
