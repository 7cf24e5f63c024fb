"""What kernels update in place in loops and branches: how much is copied, and that values are JAX's.
"""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax
from support import (call, compare, fusions, integers, interpreted, operations, pallascope, pl,
                     pltpu, report, run)

X = integers(64, 128)
Y = integers(64, 128, seed=1)
ROWS = integers(8, 128, seed=2)
SIZE, BLOCK = 4 * 64 * 128, 4 * 8 * 128


def touched(x, by=1):
    """Returns x with its first rows changed, in place; the kernel does not visit the others."""
    def kernel(x_ref, o_ref):
        o_ref[...] = x_ref[...] * 2 + by

    block = pl.BlockSpec((8, x.shape[1]), lambda i: (0, 0))
    return call(kernel, grid=(1,), in_specs=[block], out_specs=block,
                out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype), input_output_aliases={0: 0})(x)


def checked(fn, *args, donate=(), chip="tpu_v5e"):
    """Returns the kernel, whose results must be those of JAX."""
    kernel = pallascope.capture(fn, *args, donate=donate, chip=chip)
    with interpreted(pltpu.InterpretParams()):
        wanted = jax.tree_util.tree_leaves(jax.jit(fn)(*args))
    for ours, theirs in zip(run(kernel), wanted, strict=False):  # without what is donated
        compare(ours, np.asarray(theirs), 0, 0)
    return kernel


def copies(kernel):
    """Returns how many fusions of the file copy a whole array."""
    return sum(operation["op"] == "fusion" and operation["params"]["name"] == "copy"
               for operation in operations(kernel.document["body"]))


def rounds(body, first, count=3):
    return lax.fori_loop(0, count, lambda i, carried: body(carried), first)


def through_scan(x):
    return lax.scan(lambda c, _: (touched(c), None), x, None, length=3)[0]


def through_while(x):
    return lax.while_loop(lambda s: s[0] < 3, lambda s: (s[0] + 1, touched(s[1])), (0, x))[1]


def while_it_reads(x):
    return lax.while_loop(lambda c: c[0, 0] < 1000, touched, jnp.abs(x))


LOOPS = {"fori_loop": lambda x: rounds(touched, x), "scan": through_scan, "while": through_while}


@pytest.mark.parametrize("loop", LOOPS)
def test_a_loop_updates_what_it_carries_in_place(loop):
    kernel = checked(LOOPS[loop], X, donate=0)
    assert copies(kernel) == 0
    kernel = checked(LOOPS[loop], X)
    assert copies(kernel) == 1  # before the loop
    assert copies(checked(lambda x: LOOPS[loop](x + 1), X)) == 0


def test_each_round_moves_only_what_its_kernel_does():
    for donate, copied in ((0, 0), ((), SIZE)):
        found = report(pallascope.capture(LOOPS["scan"], X, donate=donate))
        assert found["hbm_read_bytes"] == found["hbm_write_bytes"] == 3 * BLOCK + copied


def test_what_is_needed_after_the_loop_is_copied_once():
    kernel = checked(lambda x: (rounds(touched, x), x * 2), X, donate=0)
    assert copies(kernel) == 1
    kernel = checked(lambda x: (lambda y: (rounds(touched, y), y))(x + 1), X)
    assert copies(kernel) == 1


def test_what_a_round_reads_before_and_after_the_kernel():
    def before(x):
        return lax.scan(lambda c, _: ((lambda s: (touched(c), s))(c.sum())), x, None, length=3)

    def after(x):
        def body(c, _):
            new = touched(c)
            return new, (new * 2)[:8]
        return lax.scan(body, x, None, length=3)

    def old(x):  # in each round the carry is needed as it was
        def body(c, _):
            new = touched(c)
            return new, c[:8] + new[:8]
        return lax.scan(body, x, None, length=3)

    assert copies(checked(before, X, donate=0)) == 1  # of the ys
    assert copies(checked(after, X, donate=0)) == 1
    assert copies(checked(old, X, donate=0)) == 2  # of the ys and of the carry


def test_the_ys_of_a_scan():
    checked(lambda x: lax.scan(lambda c, _: (touched(c), touched(c)), x, None, length=3), X,
            donate=0)
    kernel = checked(lambda x: lax.scan(lambda c, _: (lambda n: (n, n))(touched(c)), x, None,
                                        length=3), X, donate=0)
    assert copies(kernel) == 1  # into the ys
    kernel = checked(lambda x: lax.scan(lambda c, _: (touched(c), c), x, None, length=3), X,
                     donate=0)
    assert copies(kernel) == 2  # of the carry and into the ys
    checked(lambda x, xs: lax.scan(lambda c, y: (touched(c) + y, touched(y)), x, xs), X,
            integers(3, 64, 128, seed=4), donate=(0, 1))


def test_loops_in_loops_and_branches_in_loops():
    kernel = checked(lambda x: rounds(lambda c: rounds(touched, c), x), X, donate=0)
    assert copies(kernel) == 0

    def either(i, c):
        return lax.cond(i % 2 == 0, touched, lambda c: touched(touched(c)), c)

    kernel = checked(lambda x: lax.fori_loop(0, 4, either, x), X, donate=0)
    assert copies(kernel) == 0

    def maybe(i, c):
        return lax.cond(i % 2 == 0, touched, lambda c: c, c)

    kernel = checked(lambda x: lax.fori_loop(0, 4, maybe, x), X, donate=0)
    assert copies(kernel) == 0

    def switched(i, c):
        return lax.switch(i, [touched, lambda c: c, lambda c: c + 1], c)

    checked(lambda x: lax.fori_loop(0, 4, switched, x), X, donate=0)


def test_branches():
    for fn in (lambda x: lax.cond(x[0, 0] > 0, touched, lambda c: c, x),
               lambda x: lax.cond(x[0, 0] > 0, touched, lambda c: touched(touched(c)), x)):
        for x in (X, -X):
            assert copies(checked(fn, x, donate=0)) == 0
            assert copies(checked(fn, x)) == 1
            # Of the result that is the argument, and of what is updated.
            assert copies(checked(lambda x, fn=fn: (fn(x), x), x, donate=0)) == 2

    def other(x, y):
        return lax.cond(x[0, 0] > 0, lambda x, y: (touched(x), y), lambda x, y: (y, touched(x)),
                        x, y)

    for x in (X, -X):
        checked(other, x, Y, donate=(0, 1))
        checked(other, x, Y)


def test_carries_that_change_places():
    def swapped(x, y):
        return rounds(lambda s: (s[1], touched(s[0])), (x, y))

    def turned(x, y, z):
        return rounds(lambda s: (s[1], s[2], touched(s[0])), (x, y, z), 4)

    def shifted(x, y):
        return rounds(lambda s: (touched(s[0]), s[0]), (x, y))

    def doubled(x, y):
        return rounds(lambda s: (lambda n: (n, n))(touched(s[0])), (x, y))

    def same(x, y):
        return rounds(lambda s: (touched(s[0]), touched(s[1], 2)), (x, x))

    for donate in ((), (0, 1)):
        for fn in (swapped, shifted, doubled, same):
            checked(fn, X, Y, donate=donate)
        checked(turned, X, Y, X - Y, donate=donate)
    assert copies(checked(swapped, X, Y, donate=(0, 1))) == 3  # with one put aside
    assert copies(checked(shifted, X, Y, donate=(0, 1))) == 2
    assert copies(checked(same, X, Y, donate=0)) == 1


def test_two_kernels_that_update_one_array():
    kernel = checked(lambda x: rounds(lambda c: touched(touched(c), 3), x), X, donate=0)
    assert copies(kernel) == 0
    kernel = checked(lambda x: rounds(lambda c: touched(c) - touched(c, 3), x), X, donate=0)
    assert copies(kernel) >= 1


def test_a_condition_that_reads_the_array():
    kernel = checked(while_it_reads, X, donate=0)
    assert copies(kernel) == 0


def test_constants_of_a_loop_stay():
    def fn(x, y):
        return rounds(lambda c: c + touched(y), x), y

    checked(fn, X, Y, donate=(0, 1))
    checked(lambda x: rounds(lambda c: c + touched(x), x), X, donate=0)
    kernel = checked(lambda x, y: rounds(lambda s: (touched(s[0]), s[1]), (x, y)), X, Y, donate=0)
    assert copies(kernel) == 1  # of the result that is the argument y
    assert copies(checked(lambda x, y: rounds(lambda s: (touched(s[0]), s[1]), (x, y))[0], X, Y,
                          donate=0)) == 0


def test_views_of_what_is_carried():
    kernel = checked(lambda x: rounds(lambda c: touched(c.reshape(64, 128)).reshape(2, 32, 128),
                                      x.reshape(2, 32, 128) + 1), X)
    assert copies(kernel) == 0
    checked(lambda x: rounds(lambda c: touched(c.reshape(64, 128)).reshape(2, 32, 128),
                             x.reshape(2, 32, 128)), X, donate=0)
    checked(lambda x: rounds(lambda c: touched(c.T).T, x), integers(128, 128), donate=0)


def test_an_argument_in_another_layout_that_is_needed_later():
    for x in (integers(256, 8), integers(128, 256)):
        checked(lambda x: (touched(x), x * 2), x)
        checked(lambda x: (rounds(touched, x), x * 2), x)
        checked(lambda x: (rounds(touched, x), x * 2), x, donate=0)


def test_what_begins_as_a_constant_is_filled():
    kernel = checked(lambda x: rounds(lambda c: touched(c), jnp.full((64, 128), 3)) + x, X)
    assert copies(kernel) == 0
    assert fusions(kernel)[0] == (0, 1)


def test_views_of_what_a_round_needs_as_it_was():
    def body(c, _):
        view = c.reshape(2, 32, 128)
        before = view[1, :8] + touched(view.reshape(64, 128))[:8]
        new = touched(c)
        return new, before + touched(view.reshape(64, 128), 3)[8:16] * view[0, :8]

    checked(lambda x: lax.scan(body, x, None, length=3), X, donate=0)
