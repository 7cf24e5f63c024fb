"""Transposes and reshapes around kernels: which of them are passes through HBM, and which are
views."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from support import call, check, fusions, like, normal, operations, pallascope, report


def copy_kernel(x_ref, o_ref):
    o_ref[...] = x_ref[...]


def through(x):
    """Passes x through a kernel."""
    return call(copy_kernel, out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype))(x)


X = normal(128, 256)

NOTHING = {
    "a transpose of a transpose": (lambda x: through(x.T.T), X),
    "between two kernels": (lambda x: through(through(x).T.T), X),
    "of axes within": (lambda x: through(jnp.swapaxes(jnp.swapaxes(through(x), 1, 2), 1, 2)),
                       normal(2, 16, 8, 128)),
    "three in a ring": (lambda x: through(
        x.transpose(1, 2, 0).transpose(1, 2, 0).transpose(1, 2, 0)), normal(8, 16, 128)),
    "an axis of 1": (lambda x: through(x.transpose(1, 0, 2)), normal(128, 1, 256)),
    "an axis of 1 that comes and goes": (
        lambda x: through(through(x).reshape(128, 1, 256).transpose(1, 0, 2).reshape(128, 256)), X),
    "a reshape of whole tiles": (lambda x: through(through(x).reshape(16, 8, 256)), X),
    "a reshape behind transposes": (lambda x: through(x.T.T.reshape(2, 64, 256)), X),
    "two reshapes behind them": (
        lambda x: through(x.T.T.reshape(2, 64, 256).reshape(1, 4, 32, 256)), X),
    "an argument that lies transposed": (lambda x: through(x.T), normal(256, 8))}


@pytest.mark.parametrize("name", NOTHING)
def test_what_moves_nothing_is_no_operation(name):
    kernel = check(*NOTHING[name], ulps=0)
    assert fusions(kernel) == []


ONE_PASS = {
    "an operand": (lambda x: through(x.T), X),
    "a result": (lambda x: through(x).T, X),
    "between two kernels": (lambda x: through(through(x).T), X),
    "of axes within": (lambda x: through(jnp.swapaxes(x, 1, 2)), normal(2, 16, 8, 128)),
    "two that are one": (lambda x: through(x.transpose(1, 0, 2).transpose(1, 2, 0)),
                         normal(16, 128, 128)),
    "with what is by element": (lambda x: through((x * 2).T + 1), X),
    "a cast": (lambda x: through(x.astype(jnp.bfloat16).T), X),
    "a reshape that moves elements": (lambda x: through(x.reshape(256, 128)), X),
    "by element between two transposes": (lambda x: through((through(x).T * 2).T), X)}


@pytest.mark.parametrize("name", ONE_PASS)
def test_what_moves_elements_goes_through_hbm_once(name):
    kernel = check(*ONE_PASS[name], ulps=0)
    assert fusions(kernel) == [(1, 1)]


def test_a_transpose_waits_for_the_one_that_undoes_it():
    def fn(x):
        turned = x.T
        sums = jax.lax.cumsum(x, 0)  # an operation that is fused with nothing
        return through(turned.T), sums

    kernel = check(fn, X, terms=500)
    assert len(fusions(kernel)) == 1  # the sums


def test_a_pass_reads_the_array_and_writes_it():
    def fn(x, moves):
        return call(copy_kernel, out_shape=like(*(x.shape[::-1] if moves else x.shape)))(
            x.T if moves else x)

    size = 4 * 256 * 512
    found = [report(pallascope.capture(lambda x, moves=moves: fn(x, moves), like(256, 512)))
             for moves in (False, True)]
    for key in ("hbm_read_bytes", "hbm_write_bytes"):
        assert [one[key] for one in found] == [size, 2 * size]
    assert found[1]["time_s"] > found[0]["time_s"]


def test_transposes_go_behind_what_is_by_element():
    kernel = check(lambda x, y: through((x.T * y.T + 1).T), X, normal(128, 256, seed=1))
    assert fusions(kernel) == [(2, 1)]
    assert not any(operation["op"] == "transpose"
                   for operation in operations(kernel.document["body"]))


def test_of_two_orders_both_are_kept():
    kernel = check(lambda x, y: through((x.T + y).T), X, normal(256, 128, seed=1))
    assert fusions(kernel) == [(2, 1)]
    assert any(operation["op"] == "transpose"
               for operation in operations(kernel.document["body"]))


def test_heads_of_attention_before_and_behind_a_kernel():
    def fn(q):  # [batch, length, heads, dimension]
        return jnp.swapaxes(through(jnp.swapaxes(q, 1, 2)), 1, 2)

    assert fusions(check(fn, normal(2, 16, 8, 128), ulps=0)) == [(1, 1), (1, 1)]


@pytest.mark.parametrize(("shape", "order"), [
    ((256, 128), None), ((256, 8), (1, 0)), ((256, 1), (1, 0)), ((8, 256), None), ((2, 256, 8), (0, 2, 1)),
    ((128, 8, 8), (1, 2, 0)), ((100,), None), ((3, 5), None)])
def test_arguments_and_results_lie_where_they_are_padded_least(shape, order):
    x = np.asarray(normal(*shape))
    kernel = check(lambda x: through(x), x, ulps=0)
    # A kernel needs the usual order, so there is one pass before it and one after it.
    assert fusions(kernel) == ([] if order is None else [(1, 1), (1, 1)])
    views = [tuple(operation["params"]["permutation"])
             for operation in operations(kernel.document["body"])
             if operation["op"] == "ref_transpose"]
    assert (order in views) == (order is not None)


def test_around_no_kernel_the_order_costs_nothing():
    assert fusions(check(lambda x: x * 2 + 1, normal(256, 8))) == [(1, 1)]
    assert fusions(check(lambda x: (x * 2).T, normal(256, 8))) == [(1, 1)]
