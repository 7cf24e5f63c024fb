"""Kernels that JAX gives to Triton, pl.pallas_call on a GPU: the grid, loads and stores, atomic
operations. Each rule of capture has one at least."""

import contextlib
import functools

import jax
import jax.numpy as jnp
import numpy as np
from gpu_case import case, like, ramp
from jax import lax
from jax.experimental import pallas as pl
from jax.experimental.pallas import triton as pltriton

_interprets = False


@contextlib.contextmanager
def interpreted():
    """Makes JAX interpret the kernels."""
    global _interprets
    _interprets = True
    try:
        yield
    finally:
        _interprets = False


def call(kernel, *, warps=None, stages=None, **params):
    if warps is not None or stages is not None:
        params["compiler_params"] = pltriton.CompilerParams(num_warps=warps, num_stages=stages)
    return pl.pallas_call(kernel, interpret=_interprets, **params)


def rows(size, *others):
    return pl.BlockSpec((size, *others), lambda i: (i, *(0 for _ in others)))


# ---- the grid ------------------------------------------------------------------------------


@case(ramp(6, 64), wanted=lambda x: x + np.arange(6, dtype=np.float32)[:, None] * 10 + 6,
      has="core_map axis_index get swap")
def a_place_in_the_grid(x):
    def kernel(x_ref, o_ref):
        o_ref[...] = x_ref[...] + (pl.program_id(0) * 10 + pl.num_programs(0)).astype(jnp.float32)

    return call(kernel, out_shape=like(6, 64), grid=(6,), in_specs=[rows(1, 64)],
                out_specs=rows(1, 64))(x)


@case(wanted=lambda: np.array([[[100 * i + 10 * j + k for k in range(4)] for j in range(3)]
                               for i in range(2)], np.int32), has="axis_index")
def three_axes_of_the_grid():
    def kernel(o_ref):
        o_ref[...] = 100 * pl.program_id(0) + 10 * pl.program_id(1) + pl.program_id(2)

    return call(kernel, out_shape=like(2, 3, 4, dtype=np.int32), grid=(2, 3, 4),
                out_specs=pl.BlockSpec((None, None, None), lambda i, j, k: (i, j, k)))()


@case(ramp(3, 2, 32), ramp(32), wanted=lambda x, y: x * y + 1)
def axes_that_vmap_adds(x, y):
    def kernel(x_ref, y_ref, o_ref):
        o_ref[...] = x_ref[...] * y_ref[...] + 1

    fn = call(kernel, out_shape=like(32))
    return jax.vmap(jax.vmap(fn, (0, None)), (0, None))(x, y)


# ---- loads and stores ----------------------------------------------------------------------


@case(ramp(200), wanted=lambda x: 2 * x, has="masked_load masked_swap")
def blocks_that_leave_the_array(x):
    def kernel(x_ref, o_ref):
        o_ref[...] = x_ref[...] * 2

    return call(kernel, out_shape=like(200), grid=(2,), in_specs=[rows(128)],
                out_specs=rows(128))(x)


@case(ramp(100), wanted=lambda x: np.concatenate([x, np.full(28, 7, x.dtype)]), has="masked_load")
def a_mask_and_what_stands_elsewhere(x):
    def kernel(x_ref, o_ref):
        here = pl.program_id(0) * 64 + jnp.arange(64)
        o_ref[...] = pltriton.load(x_ref.at[pl.ds(pl.program_id(0) * 64, 64)], mask=here < 100,
                                   other=7.0)

    return call(kernel, out_shape=like(128), grid=(2,), out_specs=rows(64),
                in_specs=[pl.BlockSpec(memory_space=pl.ANY)])(x)


@case(ramp(8, 16), ramp(8, 16) * 2, is_interpreted=False,
      wanted=lambda x, y: np.where(np.arange(8)[:, None] > np.arange(16) % 8, x, y),
      has="masked_swap")
def a_masked_store_into_an_alias(x, y):
    def kernel(x_ref, y_ref, o_ref):
        lower = jnp.arange(8)[:, None] > jnp.arange(16)[None, :] % 8
        pltriton.store(o_ref, x_ref[...], mask=lower)

    return call(kernel, out_shape=like(8, 16), input_output_aliases={1: 0})(x, y)


@case(ramp(16, 64), wanted=lambda x: x[4:12, 16:48] - x[0:16:2, 0:32])
def windows_of_two_axes(x):
    def kernel(x_ref, o_ref):
        row = pl.program_id(0) * 4
        even = x_ref[pl.ds(row * 2, 4, 2), pl.ds(0, 32)]
        o_ref[...] = x_ref[pl.ds(row + 4, 4), 16:48] - even

    return call(kernel, out_shape=like(8, 32), grid=(2,), out_specs=rows(4, 32),
                in_specs=[pl.BlockSpec((16, 64), lambda i: (0, 0))])(x)


@case(ramp(4, 3, 32), wanted=lambda x: x[:, 1] + x[:, 2])
def squeezed_axes_and_single_indices(x):
    def kernel(x_ref, o_ref):
        o_ref[...] = x_ref[1] + x_ref[2, :]

    return call(kernel, out_shape=like(4, 32), grid=(4,),
                in_specs=[pl.BlockSpec((None, 3, 32), lambda i: (i, 0, 0))],
                out_specs=pl.BlockSpec((None, 32), lambda i: (i, 0)))(x)


_PLACES = (np.arange(64) * 37 % 64).astype(np.int32)


@case(ramp(64, 8), _PLACES, wanted=lambda x, at: x[at][:, ::-1], has="load_gather")
def elements_at_listed_places(x, places):
    def kernel(x_ref, at_ref, o_ref):
        rows = at_ref[...]
        o_ref[...] = x_ref[rows[:, None], 7 - jnp.arange(8)[None, :]]

    return call(kernel, out_shape=like(64, 8), grid=(4,), out_specs=rows(16, 8),
                in_specs=[pl.BlockSpec(memory_space=pl.ANY), rows(16)])(x, places)


@case(ramp(20, 64), wanted=lambda x: x[3:19, 10:42:2] - x[[3], :16], has="get", is_interpreted=False)
def arrays_of_indices_that_count(x):
    def kernel(x_ref, o_ref):
        rows = pl.program_id(0) * 8 + jnp.arange(8) + 3
        columns = 10 + 2 * jnp.arange(16)
        o_ref[...] = x_ref[rows[:, None], columns[None, :]] - x_ref[3, jnp.arange(16)]

    return call(kernel, out_shape=like(16, 16), grid=(2,), out_specs=rows(8, 16),
                in_specs=[pl.BlockSpec(memory_space=pl.ANY)])(x)


def _put(x, at):
    result = np.zeros_like(x)
    result[at] = x
    return result


@case(ramp(64), _PLACES, wanted=_put, has="store_scatter")
def stores_at_listed_places(x, places):
    def kernel(x_ref, at_ref, o_ref):
        o_ref[at_ref[...]] = x_ref[...]

    return call(kernel, out_shape=like(64))(x, places)


# ---- atomic operations -----------------------------------------------------------------------


@case(ramp(8, 32, dtype=np.int32), np.arange(32, dtype=np.int32),
      wanted=lambda x, start: x.sum(0, dtype=np.int32) + start, has="atomic_rmw")
def sums_of_all_blocks(x, start):
    def kernel(x_ref, _, o_ref):
        pltriton.atomic_add(o_ref, (slice(None),), x_ref[...])

    whole = pl.BlockSpec((32,), lambda i: (0,))
    return call(kernel, out_shape=like(32, dtype=np.int32), grid=(8,), out_specs=whole,
                in_specs=[pl.BlockSpec((None, 32), lambda i: (i, 0)), whole],
                input_output_aliases={1: 0})(x, start)


_BITS = np.random.default_rng(3).integers(0, 2**31, (4, 16)).astype(np.int32)


def _combined(x):
    return tuple(functools.reduce(f, x) for f in (
        np.maximum, np.minimum, np.bitwise_and, np.bitwise_or, np.bitwise_xor))


@case(_BITS, wanted=_combined, is_interpreted=False, has="atomic_rmw")
def all_kinds_of_atomic_operations(x):
    kinds = (pltriton.atomic_max, pltriton.atomic_min, pltriton.atomic_and, pltriton.atomic_or,
             pltriton.atomic_xor)

    def kernel(x_ref, *refs):
        for kind, ref in zip(kinds, refs[5:], strict=True):
            kind(ref, (slice(None),), x_ref[...])

    starts = [jnp.zeros(16, jnp.int32), jnp.full(16, 2**31 - 1, jnp.int32),
              jnp.full(16, -1, jnp.int32), jnp.zeros(16, jnp.int32), jnp.zeros(16, jnp.int32)]
    whole = pl.BlockSpec((16,), lambda i: (0,))
    return call(kernel, out_shape=[like(16, dtype=np.int32)] * 5, grid=(4,),
                in_specs=[pl.BlockSpec((None, 16), lambda i: (i, 0)), *[whole] * 5],
                out_specs=[whole] * 5, input_output_aliases={i + 1: i for i in range(5)})(
                    x, *starts)


@case((np.arange(256) * 7 % 13).astype(np.int32), is_interpreted=False, has="atomic_rmw",
      wanted=lambda x: np.bincount(x[x != 5], minlength=16).astype(np.int32))
def a_histogram(x):
    def kernel(x_ref, _, o_ref):
        x = x_ref[...]
        pltriton.atomic_add(o_ref, (x,), jnp.ones_like(x), mask=x != 5)

    whole = pl.BlockSpec((16,), lambda i: (0,))
    return call(kernel, out_shape=like(16, dtype=np.int32), grid=(4,), out_specs=whole,
                in_specs=[rows(64), whole], input_output_aliases={1: 0})(
                    x, jnp.zeros(16, jnp.int32))


@case(ramp(6, 16), wanted=lambda x: x.sum(0), has="atomic_rmw")
def a_sum_into_a_ref(x):
    def kernel(x_ref, _, o_ref):
        o_ref[...] += x_ref[...] * 0  # a load and a store of the block's own
        pltriton.atomic_add(o_ref, (slice(None),), x_ref[...])

    whole = pl.BlockSpec((16,), lambda i: (0,))
    return call(kernel, out_shape=like(16), grid=(1,),
                in_specs=[pl.BlockSpec((None, 16), lambda i: (i, 0)), whole], out_specs=whole,
                input_output_aliases={1: 0})(x[:1], x[1:].sum(0))


@case(np.array(3, np.int32), wanted=lambda x: np.array(9, np.int32), has="atomic_cas while")
def a_number_that_is_swapped(x):
    def kernel(x_ref, o_ref):
        def again(seen):
            old = pltriton.atomic_cas(o_ref, seen, 3 * seen)
            return jnp.where(old == seen, -1, old)

        lax.while_loop(lambda seen: seen >= 0, again, jnp.int32(1))

    return call(kernel, out_shape=like(dtype=np.int32), input_output_aliases={0: 0})(x)


@case(ramp(8, 32), np.zeros(1, np.int32), has="atomic_rmw cond", is_interpreted=False,
      wanted=lambda x, count: (x.sum(1), np.array([8], np.int32), x.sum()))
def the_last_block_adds_up(x, count):
    def kernel(x_ref, _, part_ref, count_ref, o_ref):
        part_ref[pl.program_id(0)] = x_ref[...].sum()

        @pl.when(pltriton.atomic_add(count_ref, (0,), 1) == 7)
        def _():
            o_ref[...] = part_ref[...].sum()

    def whole(*shape):
        return pl.BlockSpec(shape, lambda i: (0,) * len(shape))

    return call(kernel, out_shape=(like(8), like(1, dtype=np.int32), like()), grid=(8,),
                in_specs=[pl.BlockSpec((None, 32), lambda i: (i, 0)), whole(1)],
                out_specs=[whole(8), whole(1), whole()], input_output_aliases={1: 1})(x, count)


@case(ramp(8, 32), np.array(0, np.int32), np.zeros(32, np.float32), has="atomic_cas while",
      wanted=lambda x, lock, o: (lock, x.sum(0)), is_interpreted=False)
def a_lock(x, lock, o):
    def kernel(x_ref, _, __, lock_ref, o_ref):
        def take(_):
            return pltriton.atomic_cas(lock_ref, 0, 1)

        lax.while_loop(lambda taken: taken == 1, take, take(None))
        o_ref[...] = o_ref[...] + x_ref[...]
        pltriton.atomic_xchg(lock_ref, (), 0)

    one, row = pl.BlockSpec((), lambda i: ()), pl.BlockSpec((32,), lambda i: (0,))
    return call(kernel, out_shape=(like(dtype=np.int32), like(32)), grid=(8,),
                in_specs=[pl.BlockSpec((None, 32), lambda i: (i, 0)), one, row],
                out_specs=[one, row], input_output_aliases={1: 0, 2: 1})(x, lock, o)
