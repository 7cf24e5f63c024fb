"""Attention with a mask that is wrong by one: row 0 may look at nothing, not even at itself."""

import jax
import jax.numpy as jnp
from jax import lax
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu


def weigh(q_ref, k_ref, p_ref, scores):
    rows = pl.program_id(0) * q_ref.shape[0] + lax.broadcasted_iota(jnp.int32, scores.shape, 0)
    columns = lax.broadcasted_iota(jnp.int32, scores.shape, 1)
    scores[...] = jnp.dot(q_ref[...], k_ref[...].T, preferred_element_type=jnp.float32)
    masked = jnp.where(columns < rows, scores[...], -jnp.inf)  # should be <=
    weights = jnp.exp(masked - masked.max(axis=1, keepdims=True))
    p_ref[...] = weights / weights.sum(axis=1, keepdims=True)


def mix(p_ref, v_ref, o_ref):
    o_ref[...] = jnp.dot(p_ref[...], v_ref[...], preferred_element_type=jnp.float32)


def attention(q, k, v, block=32):
    length, depth = q.shape
    rows = lambda width: pl.BlockSpec((block, width), lambda i: (i, 0))  # noqa: E731
    whole = pl.BlockSpec((length, depth), lambda i: (0, 0))
    weights = pl.pallas_call(
        weigh, grid=(length // block,), in_specs=[rows(depth), whole], out_specs=rows(length),
        out_shape=jax.ShapeDtypeStruct((length, length), jnp.float32),
        scratch_shapes=[pltpu.VMEM((block, length), jnp.float32)])(q, k)
    return pl.pallas_call(
        mix, grid=(length // block,), in_specs=[rows(length), whole], out_specs=rows(depth),
        out_shape=jax.ShapeDtypeStruct((length, depth), jnp.float32))(weights, v)
