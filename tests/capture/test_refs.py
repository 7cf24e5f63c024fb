"""Refs of the function around the kernels, and kernels that write to them."""

import jax
import jax.numpy as jnp
import pytest
from jax import lax
from support import call, check, integers, pallascope, pl, pltpu, tensor_cores

pytestmark = pytest.mark.filterwarnings("ignore:.*core_map is deprecated")
INT = jnp.int32


def add_rows(x_ref, o_ref, factor=1, cores=1):
    """Computes o += factor * x; each core has its own rows."""
    rows = x_ref.shape[0] // cores

    @pl.core_map(tensor_cores(cores))
    def _():
        def body(x_tile, o_tile):
            here = pl.ds(lax.axis_index("core") * rows, rows)
            pltpu.sync_copy(x_ref.at[here], x_tile)
            pltpu.sync_copy(o_ref.at[here], o_tile)
            o_tile[...] += x_tile[...] * factor
            pltpu.sync_copy(o_tile, o_ref.at[here])

        pl.run_scoped(body, *[pltpu.VMEM((rows, 128), INT)] * 2)


def state(x, y):
    def body(refs):
        add_rows(*refs)

    return pl.run_state(body)((x, y))


def two_cores(x, y):
    x_ref, y_ref = jax.new_ref(x), jax.new_ref(y)
    add_rows(x_ref, y_ref, factor=3, cores=2)
    return y_ref[...]


def what_was_read_stays(x, y):
    y_ref = jax.new_ref(y)
    before, row = y_ref[...], y_ref[2:4]
    add_rows(jax.new_ref(x), y_ref)
    return before, row, y_ref[...], y


def parts(x, y):
    x_ref, y_ref = jax.new_ref(x), jax.new_ref(y)
    y_ref[3] = x_ref[1] * 2
    y_ref[pl.ds(8, 8)] = x_ref[pl.ds(0, 8)]
    add_rows(x_ref, y_ref)
    old = y_ref[5, 7]
    y_ref[5, 7] = old + 1
    return y_ref[...], old


def in_a_loop(x, y):
    y_ref = jax.new_ref(y)

    def turn(i, total):
        add_rows(jax.new_ref(x + i), y_ref)
        return total + y_ref[0]

    total = lax.fori_loop(0, 3, turn, jnp.zeros(128, INT))
    return total, y_ref[...]


def in_a_branch(x, y):
    y_ref = jax.new_ref(y)
    x_ref = jax.new_ref(x)

    def taken():
        add_rows(x_ref, y_ref)
        y_ref[0] = y_ref[1]

    lax.cond(x[0, 0] > -1000, taken, lambda: None)
    return y_ref[...]


def run_as_jax_does(fn, x, y):
    """Does the same in NumPy."""
    one = y + x
    if fn is state:
        return x, one
    if fn is two_cores:
        return [y + 3 * x]
    if fn is what_was_read_stays:
        return y, y[2:4], one, y
    if fn is parts:
        z = y.copy()
        z[3], z[8:] = x[1] * 2, x[:8]
        z += x
        old = z[5, 7]
        z[5, 7] += 1
        return z, old
    if fn is in_a_loop:
        turns = [y + x, y + 2 * x + 1, y + 3 * x + 3]
        return sum(turn[0] for turn in turns), turns[2]
    one[0] = one[1]
    return [one]


@pytest.mark.parametrize("fn", [state, two_cores, what_was_read_stays, parts, in_a_loop,
                                in_a_branch])
def test_kernels_write_to_refs_of_the_function(fn):
    if fn is not state and not hasattr(jax, "new_ref"):
        pytest.skip("this JAX has no refs outside of kernels")
    x, y = integers(16, 128), integers(16, 128, seed=1)
    check(fn, x, y, wanted=run_as_jax_does(fn, x, y), chip="tpu_v5p")


def test_what_refs_outside_of_kernels_cannot_do_is_named():
    if not hasattr(jax, "new_ref"):
        pytest.skip("this JAX has no refs outside of kernels")

    def fn(x, y):
        y_ref = jax.new_ref(y)
        add_rows(jax.new_ref(x), y_ref)
        jax.ref.addupdate(y_ref, ..., x)
        return y_ref[...]

    with pytest.raises(pallascope.UnsupportedError) as error:
        pallascope.capture(fn, integers(16, 128), integers(16, 128))
    assert "addupdate of a ref outside of a kernel" in str(error.value)
    assert "test_refs.py:" in str(error.value)


@pytest.mark.skipif(not hasattr(pltpu, "annotate"), reason="JAX 0.12 is the first that has it")
def test_what_a_kernel_promises_of_its_refs_is_for_the_compiler():
    def kernel(x_ref, o_ref):
        o_ref[...] = (pltpu.annotate(x_ref, no_store=True)[...]
                      + pltpu.annotate(x_ref.at[0:8], no_bank_conflict=True)[...])

    x = integers(8, 128)
    check(lambda x: call(kernel, out_shape=jax.ShapeDtypeStruct(x.shape, INT))(x), x,
          wanted=x * 2)
