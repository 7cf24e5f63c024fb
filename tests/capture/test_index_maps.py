"""Index maps with branches and loops, which the format has as straight code."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax
from support import call, check, integers, like, normal, pallascope, pl, pltpu, run

NEXT = np.array([3, 1, 2, 0], np.int32)


def moved(index_map, *prefetch):
    """Copies blocks of eight rows, each from where the map says, with a grid of four."""
    def kernel(*refs):
        x_ref, o_ref = refs[len(prefetch):]
        o_ref[...] = x_ref[...]

    def fn(*args):
        return call(kernel, like(32, 128), grid_spec=pltpu.PrefetchScalarGridSpec(
            num_scalar_prefetch=len(prefetch), grid=(4,),
            in_specs=[pl.BlockSpec((8, 128), index_map)],
            out_specs=pl.BlockSpec((8, 128), lambda i, *_: (i, 0))))(*args)

    return check(fn, *prefetch, normal(32, 128), ulps=0)


def test_a_branch_of_an_index_map():
    moved(lambda i: (lax.cond(i < 2, lambda: i + 2, lambda: 3 - i), 0))


def test_a_branch_that_is_not_taken_loads_nothing_from_outside():
    # The last step would load the entry after the end of the table.
    kernel = moved(lambda i, table: (lax.cond(i < 3, lambda: table[i + 1], lambda: 0), 0), NEXT)
    assert "cond" not in str(kernel.document["body"])


def test_branches_in_branches_and_by_number():
    def index_map(i, table):
        inner = lax.cond(table[i] > 1, lambda: table[i] - 1, lambda: lax.cond(
            i == 1, lambda: table[i + 1], lambda: jnp.int32(3)))
        return lax.switch(i - 1, [lambda: inner, lambda: table[table[i]], lambda: i]), 0

    moved(index_map, NEXT)


def test_a_loop_of_an_index_map():
    def index_map(i, table):
        return lax.fori_loop(0, 3, lambda j, at: table[at], i), 0

    moved(index_map, NEXT)


@pytest.mark.parametrize("index_map", [
    lambda i: (i, 0), functools.partial(lambda by, i: (i + by, 0), 1)])
def test_one_that_leaves_its_array_is_at_its_line_or_else_at_that_of_the_call(index_map):
    """JAX does not always tell where an index map was made, for instance a partial up to JAX 0.11.
    """
    def fn(x):
        return call(lambda x_ref, o_ref: None, like(32, 128), grid=(4,),
                    in_specs=[pl.BlockSpec((16, 128), index_map)],
                    out_specs=pl.BlockSpec((8, 128), lambda i: (i, 0)))(x)

    kernel = pallascope.capture(fn, jax.ShapeDtypeStruct((32, 128), np.float32))
    own = getattr(index_map, "func", index_map).__code__.co_firstlineno
    call_ = fn.__code__.co_firstlineno + 1
    line = f"({own}|{call_})" if hasattr(index_map, "func") else own
    with pytest.raises(AssertionError, match=r"The index map of x_ref yields \(2, 0\) at step .*"
                       rf"\[.*test_index_maps.py:{line}\]"):
        run(kernel)


def test_a_loop_of_any_number_of_rounds_is_named():
    def fn(table, x):
        return call(lambda t, x_ref, o_ref: None, like(32, 128),
                    grid_spec=pltpu.PrefetchScalarGridSpec(
                        num_scalar_prefetch=1, grid=(4,),
                        in_specs=[pl.BlockSpec((8, 128), lambda i, t: (
                            lax.while_loop(lambda j: t[j] > 0, lambda j: j + 1, 0), 0))],
                        out_specs=pl.BlockSpec((8, 128), lambda i, t: (i, 0))))(table, x)

    with pytest.raises(pallascope.UnsupportedError, match="a loop in an index map"):
        pallascope.capture(fn, integers(4), jax.ShapeDtypeStruct((32, 128), np.float32))
