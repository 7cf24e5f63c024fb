"""Kernels for Triton as their users write them: whole ones, each of another kind."""

import jax.numpy as jnp
import numpy as np
from gpu_case import case, like, ramp
from gpu_triton import call, pltriton, rows
from jax import lax
from jax.experimental import pallas as pl

_ANYWHERE = pl.BlockSpec(memory_space=pl.ANY)


@case(np.random.default_rng(0).permutation(256).reshape(4, 64).astype(np.float32),
      wanted=lambda x: -np.sort(-x, 1)[:, :4])
def the_four_largest_of_each_row(x):
    def kernel(x_ref, o_ref):
        places = jnp.arange(64)

        def step(i, state):
            x, found = state
            at, largest = jnp.argmax(x), jnp.max(x)
            return (jnp.where(places == at, -jnp.inf, x),
                    jnp.where(jnp.arange(4) == i, largest, found))

        o_ref[0, :] = lax.fori_loop(0, 4, step, (x_ref[0], jnp.zeros((4,), jnp.float32)))[1]

    return call(kernel, out_shape=like(4, 4), grid=(4,), in_specs=[rows(1, 64)],
                out_specs=rows(1, 4))(x)


@case(ramp(4, 16), wanted=lambda x: x.sum(0), has="atomic_cas while", is_interpreted=False)
def rows_added_under_a_lock(x):
    """Blocks add to one row in turns, whose order is open: a number says who has the row."""
    def kernel(x_ref, _, __, lock_ref, o_ref):
        zero, one = jnp.int32(0), jnp.int32(1)
        lax.while_loop(lambda taken: taken == 1,
                       lambda _: pltriton.atomic_cas(lock_ref, zero, one), one)
        o_ref[...] += x_ref[0]
        pltriton.atomic_xchg(lock_ref, (), zero)

    row, number = pl.BlockSpec((16,), lambda i: (0,)), pl.BlockSpec((), lambda i: ())
    return call(kernel, out_shape=(like(dtype=np.int32), like(16)), grid=(4,),
                in_specs=[rows(1, 16), number, row], out_specs=(number, row),
                input_output_aliases={1: 0, 2: 1})(x, jnp.int32(0), jnp.zeros(16))[1]


_PAGES = np.array([3, 1, 0, 2, 5, 7, 9, 11], np.int32)


@case(ramp(16, 32, 32, dtype=np.float16), _PAGES, wanted=lambda x, pages: (
    x.astype(np.float32)[pages].reshape(4, 2, 32, 32).sum(1)), has="scan")
def pages_that_a_table_names(x, pages):
    def kernel(pages_ref, x_ref, o_ref):
        first = 2 * pl.program_id(0)
        o_ref[0] = lax.fori_loop(
            0, 2, lambda i, total: total + x_ref[pages_ref[first + i]].astype(jnp.float32),
            jnp.zeros((32, 32), jnp.float32))

    return call(kernel, out_shape=like(4, 32, 32), grid=(4,), in_specs=[_ANYWHERE, _ANYWHERE],
                out_specs=pl.BlockSpec((1, 32, 32), lambda i: (i, 0, 0)))(pages, x)


@case((ramp(64, 64) % 4).astype(np.int8), (ramp(64, 64) % 3).astype(np.int8),
      wanted=lambda a, b: a.T.astype(np.int32) @ b.T.astype(np.int32), has="dot_general")
def a_product_of_turned_bytes(a, b):
    def kernel(a_ref, b_ref, o_ref):
        o_ref[...] = jnp.dot(a_ref[...].T, b_ref[...].T, preferred_element_type=jnp.int32)

    return call(kernel, out_shape=like(64, 64, dtype=np.int32), grid=(2, 2),
                in_specs=[pl.BlockSpec((64, 32), lambda i, j: (0, i)),
                          pl.BlockSpec((32, 64), lambda i, j: (j, 0))],
                out_specs=pl.BlockSpec((32, 32), lambda i, j: (i, j)))(a, b)


@case(ramp(4, 64), wanted=lambda x: np.cumsum(x, 1) - x)
def sums_of_all_before(x):
    def kernel(x_ref, o_ref):
        o_ref[...] = jnp.cumsum(x_ref[...], axis=1) - x_ref[...]

    return call(kernel, out_shape=like(4, 64), grid=(4,), in_specs=[rows(1, 64)],
                out_specs=rows(1, 64))(x)
