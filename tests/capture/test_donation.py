"""What a kernel updates in place: the caller's array if it is donated, and otherwise a copy of it.
"""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax
from support import (call, compare, fusions, integers, interpreted, like, normal, operations,
                     pallascope, pl, pltpu, report, run)


def updated(x):
    """Returns x with 1 added to its first rows, in place; the kernel does not visit the others."""
    def kernel(x_ref, o_ref):
        o_ref[...] = x_ref[...] + 1

    block = pl.BlockSpec((8, x.shape[1]), lambda i: (i, 0))
    return call(kernel, grid=(1,), in_specs=[block], out_specs=block,
                out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype), input_output_aliases={0: 0})(x)


def checked(fn, *args, donate=()):
    """Returns the kernel, whose results must be those of JAX. An output that shares an argument
    counts."""
    kernel = pallascope.capture(fn, *args, donate=donate)
    with interpreted(pltpu.InterpretParams()):
        wanted = jax.tree_util.tree_leaves(jax.jit(fn)(*args))
    for ours, theirs in zip(run(kernel), wanted, strict=True):
        compare(ours, np.asarray(theirs), 0, 0)
    return kernel


def pieces(kernel):
    return [operation["op"] for operation in operations(kernel.document["body"])
            if operation["op"] in ("kernel", "fusion")]


def aliases(kernel):
    """Returns for each result the argument that it shares."""
    return [argument.get("alias_of") for argument in kernel.document["arguments"]
            if argument.get("kind") == "output"]


X = integers(16, 128)


def test_of_an_argument_that_is_not_donated_a_copy_is_updated():
    kernel = checked(updated, X)
    assert pieces(kernel) == ["fusion", "kernel"]
    assert fusions(kernel) == [(1, 1)]
    assert aliases(kernel) == [None]
    assert [argument["name"] for argument in kernel.document["arguments"]] == ["x", "o_ref"]
    copy = next(operation for operation in operations(kernel.document["body"])
                if operation["op"] == "swap")
    assert kernel.document["values"][copy["operands"][0]]["name"] == "o_ref"


def test_a_donated_argument_is_updated_itself():
    kernel = checked(updated, X, donate=0)
    assert pieces(kernel) == ["kernel"]
    assert aliases(kernel) == [0]


def test_the_copy_goes_through_hbm_once():
    size, block = 4 * 4096 * 256, 4 * 8 * 256
    for donate, traffic in ((), block + size), (0, block):
        found = report(pallascope.capture(updated, like(4096, 256), donate=donate))
        assert found["hbm_read_bytes"] == found["hbm_write_bytes"] == traffic


def test_the_report_says_what_donating_would_bring():
    copied, donated = (report(pallascope.capture(updated, like(4096, 256), donate=donate))
                       for donate in ((), 0))
    gain = next(one["gain_s"] for one in copied["beyond_roofline_s"] if one["what"] == "fusions")
    assert gain == pytest.approx(copied["time_s"] - donated["time_s"], rel=0.02)


def test_a_donated_argument_that_is_needed_later_is_copied():
    kernel = checked(lambda x: (updated(x), x * 2), X, donate=0)
    assert pieces(kernel) == ["fusion", "kernel", "fusion"]
    assert aliases(kernel) == [None, None]


def test_a_donated_argument_that_was_needed_before_is_not_copied():
    kernel = checked(lambda x: (x * 2, updated(x)), X, donate=0)
    assert pieces(kernel) == ["fusion", "kernel"]
    assert aliases(kernel) == [None, 0]


def test_a_donated_argument_that_is_updated_twice():
    kernel = checked(lambda x: updated(updated(x)), X, donate=0)
    assert pieces(kernel) == ["kernel", "kernel"]
    assert aliases(kernel) == [0]
    kernel = checked(lambda x: (updated(x), updated(x)), X, donate=0)
    assert pieces(kernel) == ["fusion", "kernel", "kernel"]  # the first one works on a copy
    assert aliases(kernel) == [None, 0]


def test_of_an_argument_that_is_updated_twice_one_copy_is_made():
    assert pieces(checked(lambda x: updated(updated(x)), X)) == ["fusion", "kernel", "kernel"]


def test_what_the_function_made_is_updated_itself():
    assert pieces(checked(lambda x: updated(x * 2), X)) == ["fusion", "kernel"]
    kernel = checked(lambda x: (lambda y: (updated(y), y))(x * 2), X)
    assert fusions(kernel) == [(1, 1), (1, 1)]  # y is returned as well, so it is copied


def test_a_donated_argument_that_lies_in_another_order_is_not_the_result():
    for x in (integers(128, 256), integers(256, 8)):
        kernel = checked(lambda x: updated(x.T), x, donate=0)
        assert aliases(kernel) == [None]
        assert fusions(kernel).count((1, 1)) == len(fusions(kernel))


@pytest.mark.parametrize("donate", [1, -1, (1,), [1, -1]])
def test_one_of_several_arguments_is_donated(donate):
    kernel = checked(lambda x, y: (updated(x), updated(y)), X, X + 5, donate=donate)
    assert pieces(kernel) == ["fusion", "kernel", "kernel"]
    assert aliases(kernel) == [None, 1]


def test_all_arrays_of_a_donated_tree_are():
    kernel = checked(lambda tree, y: (updated(tree["a"]), updated(tree["b"]), updated(y)),
                     {"a": X, "b": X + 3}, X + 5, donate=0)
    assert pieces(kernel) == ["kernel", "kernel", "fusion", "kernel"]
    assert aliases(kernel) == [0, 1, None]


def test_donated_arguments_that_no_kernel_updates():
    kernel = checked(lambda x, y: (x + y, y.sum()), X, X, donate=(0, 1))
    assert aliases(kernel) == [None, None]


def test_in_a_function_that_is_compiled_within():
    assert pieces(checked(lambda x: jax.jit(updated)(x), X, donate=0)) == ["kernel"]


def test_in_loops_and_branches():
    for donate in ((), 0):
        checked(lambda x: lax.fori_loop(0, 3, lambda i, x: updated(x), x), X, donate=donate)
        for sign in (1, -1):
            checked(lambda x: lax.cond(x[0, 0] > 0, updated, lambda x: x - 1, x), X * sign,
                    donate=donate)


@pytest.mark.parametrize(("donate", "number"), [(2, 2), (-3, -3), ((0, 7), 7)])
def test_arguments_that_there_are_not(donate, number):
    with pytest.raises(ValueError) as caught:
        pallascope.capture(lambda x, y: x + y, X, X, donate=donate)
    assert str(caught.value) == (f"donate={number} is no argument of the function, which is given "
                                 "2; use their numbers, from 0 on")


def test_of_many_configurations():
    kernels = pallascope.capture_many(lambda x, by: updated(x * by if by > 1 else x),
                                      [{"by": 1}, {"by": 2}], normal(16, 128), donate=0)
    assert [pieces(kernel) for kernel in kernels.values()] == [["kernel"], ["fusion", "kernel"]]


def test_jax_is_asked_about_the_function_as_it_is():
    def kernel(x_ref, o_ref):
        o_ref[...] = x_ref[...] + 1

    def fn(x):
        return pl.pallas_call(kernel, out_shape=like(16, 128, dtype=jnp.int32),
                              input_output_aliases={0: 0})(x)

    for donate in ((), 0):
        found = pallascope.capture(fn, X, donate=donate)
        assert found.document["lowering"] == {"accepted": "yes"}
