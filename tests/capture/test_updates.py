"""Updates of slices and scatters around kernels, which change only parts of an array, in place."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax
from support import integers, pallascope, report
from test_in_place import BLOCK, ROWS, SIZE, X, checked, copies, rounds, touched


def appended(x, new, at):
    return lax.dynamic_update_slice(x, new, (at, jnp.zeros_like(at)))


def test_a_slice_is_updated_in_place():
    for at in (-5, 8, 13, 62, 100):
        checked(appended, X, ROWS, np.int32(at), donate=0)
        checked(appended, X, ROWS[:1], np.int32(at), donate=0)
        checked(appended, X, ROWS[:3], np.int32(at))
    kernel = pallascope.capture(appended, X, ROWS, np.int32(8), donate=0)
    found = report(kernel)
    assert (found["hbm_read_bytes"], found["hbm_write_bytes"]) == (BLOCK, BLOCK)
    kernel = pallascope.capture(appended, X, ROWS[:1], np.int32(8), donate=0)
    found = report(kernel)  # one row of a tile: the tile is read and written
    assert (found["hbm_read_bytes"], found["hbm_write_bytes"]) == (BLOCK + 512, BLOCK)
    kernel = checked(appended, X, ROWS, np.int32(8))
    found = report(kernel)
    assert (found["hbm_read_bytes"], found["hbm_write_bytes"]) == (BLOCK + SIZE, BLOCK + SIZE)


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int16, np.uint32])
def test_indices_of_other_dtypes(dtype):
    for at in (3, 127):
        checked(appended, X, ROWS, dtype(at), donate=0)
    checked(lambda x, rows, at: x.at[at].set(rows), X, ROWS, np.arange(3, 11).astype(dtype))


def test_a_large_unsigned_index_is_the_last_place():
    checked(lambda x, rows, at: lax.dynamic_update_slice(x, rows, (at, np.uint32(0))), X, ROWS,
            np.uint32(4000000000))


@pytest.mark.parametrize("shape,part", [((20, 130), (1, 130)), ((20, 130), (3, 2)), ((300,), (1,)),
                                        ((3, 20, 8), (1, 2, 8)), ((2, 3, 64, 128), (1, 1, 1, 128)),
                                        ((2048,), (1024,)), ((5, 5), (2, 3)), ((64, 256), (8, 64))])
@pytest.mark.parametrize("dtype", [np.float32, jnp.bfloat16, np.int8, np.bool_])
def test_slices_of_all_shapes(shape, part, dtype):
    x, new = integers(*shape).astype(dtype), integers(*part, seed=3).astype(dtype)

    def fn(x, new, *starts):
        return (lax.dynamic_update_slice(x, new, starts),
                lax.dynamic_update_slice(x, new, [0] * (x.ndim - 1) + [1]))

    for start, donate in ((0, ()), (1, 0), (9, 0), (17, ())):
        checked(fn, x, new, *[np.int32(start)] * x.ndim, donate=donate)


def test_slices_in_loops():
    def loop(x, new, at):
        return lax.fori_loop(0, 4, lambda i, c: touched(appended(c, new + i, at + 8 * i)), x)

    def without_kernels(x, new, at):
        return lax.fori_loop(0, 4, lambda i, c: appended(c, new + i, at + 8 * i), x)

    for fn in (loop, without_kernels):
        kernel = checked(fn, X, ROWS, np.int32(8), donate=0)
        assert copies(kernel) == 0
        found = report(kernel)
        assert found["hbm_write_bytes"] <= 4 * 3 * BLOCK
        assert copies(checked(fn, X, ROWS, np.int32(8))) == 1


def test_a_slice_in_a_branch():
    def fn(x, new, at):
        return lax.cond(at > 0, lambda x: appended(x, new, at), lambda x: x, x)

    for at in (0, 9):
        assert copies(checked(fn, X, ROWS, np.int32(at), donate=0)) == 0
        assert copies(checked(fn, X, ROWS, np.int32(at))) == 1


def test_what_a_slice_reads_of_its_own_array():
    checked(lambda x, at: appended(x, x[8:16], at), X, np.int32(20), donate=0)
    checked(lambda x, at: appended(x, lax.dynamic_slice(x, (at + 3, 0), (8, 128)), at), X,
            np.int32(20), donate=0)
    checked(lambda x, at: (appended(x, x[8:16], at), x[at]), X, np.int32(8), donate=0)
    checked(lambda x: rounds(lambda c: appended(c, c[8:16] + c[:8], 3), x), X, donate=0)


SCATTERS = {
    "a row": lambda x, at, new: x.at[at[0]].set(new[0]),
    "rows": lambda x, at, new: x.at[at].set(new[:3]),
    "a number": lambda x, at, new: x.at[at].set(7),
    "clipped": lambda x, at, new: x.at[at].set(new[:3], mode="clip"),
    "promised": lambda x, at, new: x.at[at % 64].set(new[:3], mode="promise_in_bounds"),
    "added": lambda x, at, new: x.at[at].add(new[:3]),
    "subtracted": lambda x, at, new: x.at[at].subtract(new[:3]),
    "multiplied": lambda x, at, new: x.at[at].multiply(new[:3]),
    "the most": lambda x, at, new: x.at[at].max(new[:3]),
    "the least": lambda x, at, new: x.at[at].min(new[:3]),
    "elements": lambda x, at, new: x.at[at, at + 3].set(new[:3, 0]),
    "a column": lambda x, at, new: x.at[:, at[1]].set(new.reshape(-1)[:64]),
    "known": lambda x, at, new: x.at[np.array([3, 77, 60])].set(new[:3]),
    "known from the end": lambda x, at, new: x.at[jnp.array([-3, 5])].add(new[:2]),
    "all": lambda x, at, new: x.at[jnp.arange(64)[::-1]].set(x * 2),
    "applied": lambda x, at, new: x.at[at[0]].apply(lambda v: v * 2 + 1),
    "batched": lambda x, at, new: jax.vmap(lambda x, i, n: x.at[i].set(n))(
        x.reshape(4, 16, 128), jnp.arange(4) * 3 + at[0] % 4, new[:4]).reshape(64, 128),
}


@pytest.mark.parametrize("name", SCATTERS)
def test_scatters(name):
    fn = SCATTERS[name]
    for places, donate in (([1, 9, 33], 0), ([5, 5, 6], ()), ([-70, 64, 63], 0)):
        at = np.array(places, np.int32)
        checked(fn, X, at, ROWS, donate=donate)
        checked(lambda x, at, new: rounds(lambda c: fn(c, at, new), x), X, at, ROWS, donate=donate)
    checked(lambda x, at, new: (fn(x, at, new), x + 1), X, np.array([-1, 200, 0]), ROWS, donate=0)


def test_a_scatter_writes_only_the_tiles_that_it_updates():
    def fn(x, rows, new):
        return x.at[rows].set(new)

    rows = np.array([3, 20, 45], np.int32)
    found = report(pallascope.capture(fn, X, rows, ROWS[:3], donate=0))
    indices = 512  # which are written once and read twice
    assert found["hbm_write_bytes"] == 3 * BLOCK + indices
    assert found["hbm_read_bytes"] == 3 * BLOCK + BLOCK // 2 + 2 * indices
    loop = pallascope.capture(lambda x, rows, new: rounds(lambda c: touched(fn(c, rows, new)), x),
                              X, rows, ROWS[:3], donate=0)
    assert copies(loop) == 0
    assert report(loop)["hbm_write_bytes"] == 3 * (4 * BLOCK + indices)


def test_a_large_scatter_is_one_pass_without_copies():
    rows = integers(80, least=0, most=4096)
    new = integers(80, 128)

    def fn(x, rows, new):
        return rounds(lambda c: touched(c.at[rows].add(new)), x)

    kernel = checked(fn, integers(4096, 128), rows, new, donate=0)
    assert copies(kernel) == 0
