"""Doubles a matrix block by block, but reads the block that lies across the diagonal."""

import jax
from jax.experimental import pallas as pl


def double(x_ref, o_ref):
    o_ref[...] = 2 * x_ref[...]


def wrong_map(x, block=128):
    return pl.pallas_call(
        double,
        grid=(x.shape[0] // block, x.shape[1] // block),
        in_specs=[pl.BlockSpec((block, block), lambda i, j: (j, i))],  # should be (i, j)
        out_specs=pl.BlockSpec((block, block), lambda i, j: (i, j)),
        out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype))(x)
