#!/usr/bin/env python3
"""Writes block_legality.json: which block specs JAX's TPU lowering accepts, and why it refuses
others.

    pip install jax==0.9.0 && python3 make_block_legality.py
    pip install jax==0.10.2 && python3 make_block_legality.py

It lowers one pallas_call per case for an abstract TPU v5e, which needs no TPU, and sorts the
exceptions by how they begin. The cases are those that the rules name, and random ones. Each run
adds the answers of its JAX to the file.
"""

import json
import pathlib
import random

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu

DTYPES = {
    "f32": jnp.float32,
    "bf16": jnp.bfloat16,
    "int8": jnp.int8,
    "int4": jnp.int4,
    "uint16": jnp.uint16,
    "f8e5m2": jnp.float8_e5m2,
    "bool": jnp.bool_,
}
SPACES = {"vmem": pltpu.VMEM, "smem": pltpu.SMEM, "any": pl.ANY, "hbm": pltpu.HBM}
REASONS = {
    "rank": "The Pallas TPU lowering currently supports only blocks of rank >= 1. ",
    "window": "The Pallas TPU lowering currently supports in memory space ANY only blocks",
    "tile": "The Pallas TPU lowering currently requires that the last two dimensions of your block",
    "line": "The Pallas TPU lowering currently requires that rank 1 block shapes",
    "grid": "Non-trivial windowing is not supported for grid-free pallas_call.",
}


def case(array, block, dtype="f32", space="vmem", moves=True, grid=True):
    """Returns a case. With `moves`, the index map returns the grid's index on the first axis;
    otherwise it returns only zeros."""
    return {
        "array": array,
        "block": block,
        "dtype": dtype,
        "space": space,
        "moves": moves and bool(array) and grid,
        "grid": grid,
    }


def index_map(of):
    def run(*grid):
        return (grid[0] if of["moves"] else 0,) + (0,) * (len(of["array"]) - 1)

    return run if of["array"] else lambda *grid: ()


def reason(of):
    """Returns why the lowering refuses the case, or None if it does not."""

    def body(x, out):
        out[...] = jnp.zeros(out.shape, jnp.float32)

    call = pl.pallas_call(
        body,
        grid=(2,) if of["grid"] else (),
        in_specs=[
            pl.BlockSpec(tuple(of["block"]), index_map(of), memory_space=SPACES[of["space"]])
        ],
        out_specs=pl.BlockSpec((8, 128), lambda *grid: (0, 0)),
        out_shape=jax.ShapeDtypeStruct((8, 128), jnp.float32),
    )
    x = jax.ShapeDtypeStruct(tuple(of["array"]), DTYPES[of["dtype"]])
    try:
        jax.jit(call).trace(x).lower(lowering_platforms=("tpu",))
    except (ValueError, NotImplementedError) as error:
        for name, start in REASONS.items():
            if str(error).startswith(start):
                return name
        raise
    return None


def named_cases():
    """Returns the rows of the rules, one by one."""
    for size in (128, 256, 1024, 384, 1536, 2048, 3072, 64, 100, 5000, 5120):
        yield case([5000], [size])
    for dtype, sizes in {
        "bf16": (128, 256, 512, 768, 1024),
        "int8": (256, 512, 1024, 1536),
        "int4": (512, 1024, 2048, 3072),
        "bool": (64, 128, 256, 384),
    }.items():
        for size in sizes:
            yield case([5000], [size], dtype)
    yield case([2, 1, 128], [None, 1, 128])
    yield case([16, 2], [8, None])
    yield case([16, 2, 128], [8, None, 128])
    yield case([16, 1], [8, None])
    yield case([16, 1, 128], [8, None, 128])
    yield case([3, 16, 256], [None, 8, 128])
    yield case([5], [None])
    yield case([], [], moves=False)
    yield case([], [], space="smem", moves=False)
    yield case([64, 256], [8, 128], "bf16")
    yield case([64, 256], [4, 128], "int8")
    for space in ("any", "hbm"):
        yield case([16, 128], [16, 128], space=space, moves=False)
        yield case([16, 128], [16, 128], space=space)
        yield case([16, 128], [8, 128], space=space)
    yield case([3, 5], [3, 5], space="smem", moves=False)
    yield case([3, 5], [3, 5], space="smem")
    yield case([9, 5], [3, 5], space="smem")
    yield case([64, 128], [8, 128], space="smem")
    yield case([16, 128], [16, 128], grid=False)
    yield case([16, 128], [8, 128], grid=False)
    yield case([16, 100], [8, 50], grid=False)


def random_cases(count):
    draw = random.Random(4)
    for _ in range(count):
        array = [draw.choice((1, 2, 5, 8, 12, 16, 40)) for _ in range(draw.randrange(3))]
        array.append(draw.choice((1, 100, 128, 256, 300, 1000, 4096)))
        block = []
        for extent in array:
            sizes = (None, extent, 8, 16, 128, 256, 512, 1024, extent // 2 + 1, draw.randint(1, extent))
            block.append(draw.choice(sizes))
        dtype = draw.choice(list(DTYPES))
        space = draw.choice(("vmem", "vmem", "vmem", "vmem", "smem", "any"))
        yield case(array, block, dtype, space, draw.random() < 0.8)


def main():
    version = ".".join(jax.__version__.split(".")[:2])
    file = pathlib.Path(__file__).with_name("block_legality.json")
    rows = [of | {"refused": {}} for of in [*named_cases(), *random_cases(100)]]
    if file.exists():
        before = json.loads(file.read_text())
        same = [{**row, "refused": {}} for row in before] == rows
        rows = before if same else rows
    platform = {} if version == "0.9" else {"platform": "tpu"}
    device = jax.sharding.AbstractDevice(device_kind="TPU v5 lite", num_cores=1, **platform)
    mesh = jax.sharding.AbstractMesh((), (), abstract_device=device)
    with jax.sharding.use_abstract_mesh(mesh):
        for row in rows:
            row["refused"][version] = reason(row)
    file.write_text("[\n" + ",\n".join(json.dumps(row) for row in rows) + "\n]\n")


if __name__ == "__main__":
    main()
