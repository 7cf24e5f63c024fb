"""Kernels for a GPU among branches, loops and scalars of XLA, which has no kernel memory for them."""

import jax.numpy as jnp
import numpy as np
from gpu_case import case, like, plgpu, ramp
from jax import lax
from jax.experimental import pallas as pl


def doubled(x):
    @plgpu.kernel(out_type=like(*x.shape))
    def double(x_gmem, o_gmem):
        o_gmem[...] = x_gmem[...] * 2

    return double(x)


X = ramp(4, 128)


@case(X, np.int32(3), wanted=lambda x, step: (2 * x, step + 1))
def a_number_beside_a_kernel(x, step):
    return doubled(x), step + 1


@case(X, wanted=lambda x: 60 * 8 * x)
def a_loop_over_numbers(x):
    return lax.scan(lambda c, factor: (doubled(c) * factor, None), x, jnp.array([3., 4., 5.]))[0]


@case(X, wanted=lambda x: (8 * x, np.array([x.sum(), 2 * x.sum(), 4 * x.sum()])))
def a_loop_that_collects_losses(x):
    return lax.scan(lambda c, _: (doubled(c), c.sum()), x, None, length=3)


@case(X, wanted=lambda x: (4 * x, 3 * x.sum()))
def a_loop_that_carries_a_number(x):
    return lax.fori_loop(0, 2, lambda _, c: (doubled(c[0]), c[1] + c[0].sum()), (x, 0.0))


@case(X, wanted=lambda x: x * 2 if x.max() > 3 else x * 4)
def a_branch_by_what_a_kernel_made(x):
    y = doubled(x)
    return lax.cond(y.max() > 6, lambda: y, lambda: doubled(y))


@case(X, wanted=lambda x: (x * 2.0**np.ceil(np.log2(1000 / x.max()))).astype(np.float32))
def a_loop_until_a_kernel_has_made_enough(x):
    return lax.while_loop(lambda c: c.max() < 1000, doubled, x)


def _touched(x):
    """Adds 1 to the first row of x, in place."""
    def add(x_ref, o_ref):
        o_ref[0] = x_ref[0] + 1

    return pl.pallas_call(add, out_shape=like(*x.shape), input_output_aliases={0: 0})(x)


def _updated(x):
    x = x.copy()
    for step in range(3):
        x[0] += 1
        x[step + 1] = 7 * step
    return x


@case(X, wanted=_updated, is_interpreted=False)
def a_loop_that_updates_rows_in_place(x):
    return lax.fori_loop(0, 3, lambda i, c: _touched(c).at[i + 1].set(jnp.float32(7 * i)), x)


@case(X, np.int32(2), np.ones((1, 128), np.float32), wanted=lambda x, at, row: np.concatenate(
    [x[:1] + 1, x[1:2], row, x[3:]]), is_interpreted=False)
def a_row_that_is_put_in_place(x, at, row):
    return lax.dynamic_update_slice(_touched(x), row, (at, 0))
