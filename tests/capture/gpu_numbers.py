"""Kernels for a GPU: integers, dtypes, layouts, orders of loops, and the dtypes of products."""

import jax.numpy as jnp
import ml_dtypes
import numpy as np
from gpu_case import case, like, ramp, tiled
from jax import lax
from jax.experimental import pallas as pl
from jax.experimental.pallas import mosaic_gpu as plgpu

_ROW = 128
_F16 = np.dtype(np.float16)
_INT = ramp(4, _ROW, dtype=np.int32)


# ---- values ----------------------------------------------------------------------------------


@case(_INT * 1000003, wanted=lambda x: (x & 255 | (x ^ 77) << 3, x >> 2, np.minimum(np.abs(x), 9)),
      has="and or xor shift_left shift_right_arithmetic min abs")
def operations_on_bits(x):
    @plgpu.kernel(out_type=[like(4, _ROW, dtype=np.int32)] * 3)
    def bits(x_gmem, a_gmem, b_gmem, c_gmem):
        x = x_gmem[...]
        a_gmem[...] = x & 255 | (x ^ 77) << 3
        b_gmem[...] = x >> 2
        c_gmem[...] = jnp.minimum(jnp.abs(x), 9)

    return bits(x)


@case(_INT, wanted=lambda x: (np.fmod(x, 7), np.trunc(x / 7).astype(np.int32), -x * 3),
      has="rem div neg mul")
def division_of_integers(x):
    @plgpu.kernel(out_type=[like(4, _ROW, dtype=np.int32)] * 3)
    def divide(x_gmem, rem_gmem, div_gmem, neg_gmem):
        x = x_gmem[...]
        rem_gmem[...] = lax.rem(x, jnp.full_like(x, 7))
        div_gmem[...] = lax.div(x, jnp.full_like(x, 7))
        neg_gmem[...] = -x * 3

    return divide(x)


@case(_INT.astype(np.uint32), wanted=lambda x: (x >> np.uint32(3), x * np.uint32(2654435761)),
      has="shift_right_logical mul")
def integers_without_a_sign(x):
    @plgpu.kernel(out_type=[like(4, _ROW, dtype=np.uint32)] * 2)
    def scramble(x_gmem, a_gmem, b_gmem):
        x = x_gmem[...]
        a_gmem[...] = x >> jnp.uint32(3)
        b_gmem[...] = x * jnp.uint32(2654435761)

    return scramble(x)


@case(ramp(4, _ROW) / 3, has="convert_element_type", wanted=lambda x: (
    x.astype(ml_dtypes.bfloat16), x.astype(np.float16), x.astype(np.int32),
    x.astype(ml_dtypes.bfloat16).astype(np.float32) + np.float32(1)))
def conversions_of_dtypes(x):
    @plgpu.kernel(out_type=[like(4, _ROW, dtype=dtype) for dtype in (
        jnp.bfloat16, jnp.float16, jnp.int32, jnp.float32)])
    def convert(x_gmem, bf16_gmem, f16_gmem, int_gmem, f32_gmem):
        x = x_gmem[...]
        bf16_gmem[...] = x.astype(jnp.bfloat16)
        f16_gmem[...] = x.astype(jnp.float16)
        int_gmem[...] = x.astype(jnp.int32)
        f32_gmem[...] = x.astype(jnp.bfloat16).astype(jnp.float32) + 1

    return convert(x)


@case(np.abs(ramp(2, _ROW)) + 1, tolerance=1e-6, has="sqrt rsqrt tanh log", wanted=lambda x: (
    np.sqrt(x) + 1 / np.sqrt(x), np.tanh(x) * np.log(x)))
def functions_of_numbers(x):
    @plgpu.kernel(out_type=[like(2, _ROW)] * 2)
    def functions(x_gmem, a_gmem, b_gmem):
        x = x_gmem[...]
        a_gmem[...] = jnp.sqrt(x) + lax.rsqrt(x)
        b_gmem[...] = jnp.tanh(x) * jnp.log(x)

    return functions(x)


@case(ramp(64, 64), wanted=lambda x: x - x.max(1, keepdims=True) + x.sum(0), has="reduce_max")
def vectors_of_both_directions(x):
    @plgpu.kernel(out_type=like(64, 64), scratch_types=[
        plgpu.SMEM((64, 64), jnp.float32), plgpu.Barrier()])
    def centre(x_gmem, o_gmem, smem, barrier):
        plgpu.copy_gmem_to_smem(x_gmem, smem, barrier)
        plgpu.barrier_wait(barrier)
        layout = plgpu.Layout.WGMMA
        x = plgpu.load(smem, layout=layout, optimized=False)
        least = lax.broadcast_in_dim(jnp.max(x, axis=1), (64, 64), (0,))
        total = lax.broadcast_in_dim(jnp.sum(x, axis=0), (64, 64), (1,))
        o_gmem[...] = x - least + total

    return centre(x)


@case(ramp(64, 64), wanted=lambda x: (x + np.arange(64)[:, None] - np.arange(64)) * 2)
def an_array_that_takes_a_layout(x):
    @plgpu.kernel(out_type=like(64, 64))
    def change(x_gmem, o_gmem):
        x = plgpu.load(x_gmem, layout=plgpu.Layout.WGMMA, optimized=False)
        rows = plgpu.broadcasted_iota(jnp.int32, (64, 64), 0, layout=plgpu.Layout.WGMMA)
        columns = plgpu.broadcasted_iota(jnp.int32, (64, 64), 1, layout=plgpu.Layout.WGMMA)
        x = x + (rows - columns).astype(jnp.float32)
        twice = plgpu.layout_cast(jnp.full((64, 64), 2, jnp.float32), plgpu.Layout.WGMMA)
        o_gmem[...] = x * twice

    return change(x)


# ---- control ---------------------------------------------------------------------------------


@case(np.array([2, 0, 1, 5], np.int32), ramp(4, _ROW), has="cond",
      wanted=lambda n, x: np.stack([x[0] * 9, x[1] + 1, -x[2], x[3] * 9]))
def a_branch_of_several(n, x):
    @plgpu.kernel(out_type=like(4, _ROW))
    def choose(n_gmem, x_gmem, o_gmem):
        @pl.loop(0, 4)
        def _(row):
            x = x_gmem[row]
            o_gmem[row] = lax.switch(n_gmem[row], [
                lambda: x + 1, lambda: -x, lambda: x * 9])

    return choose(n, x)


def _collatz(n):
    steps = 0
    while n != 1:
        n = 3 * n + 1 if n % 2 else n // 2
        steps += 1
    return steps


@case(np.array([27, 6, 97, 1], np.int32), ramp(4, _ROW, dtype=np.int32), has="while select_n",
      wanted=lambda n, x: x + np.array([[_collatz(int(one))] for one in n], np.int32))
def a_loop_that_ends_when_a_number_says_so(n, x):
    @plgpu.kernel(out_type=like(4, _ROW, dtype=np.int32), grid=(4,), grid_names=("i",))
    def count(n_gmem, x_gmem, o_gmem):
        i = lax.axis_index("i")

        def step(state):
            n, steps = state
            return jnp.where(n % 2 == 1, 3 * n + 1, lax.div(n, 2)), steps + 1

        _, steps = lax.while_loop(lambda state: state[0] != 1, step, (n_gmem[i], jnp.int32(0)))
        o_gmem[i] = x_gmem[i] + steps

    return count(n, x)


def _snake(index, shape, minor, width):
    """The place in a grid of two axes: along `minor`, in strips of `width`, to and fro."""
    minor_size, major_size = shape[minor], shape[1 - minor]
    strip, rest = divmod(index, width * major_size)
    here = min(width, minor_size - strip * width)
    major, within = divmod(rest, here)
    if strip % 2:
        major = major_size - 1 - major
    place = [0, 0]
    place[minor], place[1 - minor] = strip * width + within, major
    return place


@case(ramp(20, _ROW, dtype=np.int32), wanted=lambda x: x + np.array(
    [[np.dot(_snake(i, (4, 5), 1, 2), (100, 1))] for i in range(20)], np.int32))
def tiles_in_the_order_of_a_snake(x):
    @plgpu.kernel(out_type=like(20, _ROW, dtype=np.int32), grid=(20,), grid_names=("i",))
    def where(x_gmem, o_gmem):
        i = lax.axis_index("i")
        row, column = plgpu.planar_snake(i, (4, 5), 1, 2)
        o_gmem[i] = x_gmem[i] + (100 * row + column)

    return where(x)


@case(ramp(6, 4, _ROW), wanted=lambda x: x + np.arange(24).reshape(6, 4, 1), has="while")
def a_persistent_kernel_over_tiles(x):
    @plgpu.kernel(out_type=like(6, 4, _ROW), grid=(5,), grid_names=("sm",))
    def add(x_gmem, o_gmem):
        @plgpu.nd_loop((6, 4), collective_axes="sm", tiling=(3, 2))
        def _(info):
            i, j = info.index
            o_gmem[i, j] = x_gmem[i, j] + (4 * i + j).astype(jnp.float32)

    return add(x)


@case(ramp(10, _ROW), has="while", wanted=lambda x: np.stack([x[sm::3].sum(0) for sm in range(3)]))
def a_persistent_kernel_with_a_carry(x):
    @plgpu.kernel(out_type=like(3, _ROW), grid=(3,), grid_names=("sm",))
    def total(x_gmem, o_gmem):
        def add(info, carry):
            return carry + x_gmem[info.index[0]]

        o_gmem[lax.axis_index("sm")] = plgpu.nd_loop(
            (10,), collective_axes="sm", init_carry=jnp.zeros((_ROW,), jnp.float32))(add)

    return total(x)


# ---- products --------------------------------------------------------------------------------


def _product_of(dtype, out, a, b, a_turned=False, b_turned=False, result=None):
    """Multiplies two tiles of 64 rows and columns; a turned one lies the other way in memory."""
    smem = plgpu.SMEM(np.shape(a), dtype, transforms=tiled(dtype))

    @plgpu.kernel(out_type=like(64, np.shape(b)[0 if b_turned else 1], dtype=result or out),
                  scratch_types=[smem, plgpu.SMEM(np.shape(b), dtype, transforms=tiled(dtype)),
                                 plgpu.Barrier(num_arrivals=2)])
    def matmul(a_gmem, b_gmem, o_gmem, a_smem, b_smem, barrier):
        plgpu.copy_gmem_to_smem(a_gmem, a_smem, barrier)
        plgpu.copy_gmem_to_smem(b_gmem, b_smem, barrier)
        plgpu.barrier_wait(barrier)

        def scope(acc):
            plgpu.wgmma(acc, a_smem.transpose((1, 0)) if a_turned else a_smem,
                        b_smem.transpose((1, 0)) if b_turned else b_smem)
            o_gmem[...] = acc[...].astype(o_gmem.dtype)

        pl.run_scoped(scope, plgpu.ACC(o_gmem.shape, out))

    return matmul(a, b)


@case(ramp(64, 128, dtype=np.int8), ramp(64, 128, dtype=np.int8), has="wgmma",
      wanted=lambda a, b: a.astype(np.int32) @ b.astype(np.int32).T)
def a_product_of_bytes(a, b):
    return _product_of(jnp.int8, jnp.int32, a, b, b_turned=True)


@case((ramp(64, 64) % 3).astype(_F16), (ramp(64, 64) % 3).astype(_F16), has="wgmma",
      wanted=lambda a, b: a.astype(np.float32) @ b.astype(np.float32))
def a_product_that_is_accumulated_in_half_precision(a, b):
    return _product_of(jnp.float16, jnp.float16, a, b, result=jnp.float32)


_F8, _F8_WIDE = np.dtype(ml_dtypes.float8_e4m3fn), np.dtype(ml_dtypes.float8_e5m2)


@case((ramp(64, 128) % 3).astype(_F8), (ramp(64, 128) % 3).astype(_F8), has="wgmma",
      wanted=lambda a, b: a.astype(np.float32) @ b.astype(np.float32).T)
def a_product_of_numbers_of_eight_bits(a, b):
    return _product_of(jnp.float8_e4m3fn, jnp.float32, a, b, b_turned=True)


@case((ramp(64, 64) % 3).astype(_F16), (ramp(64, 64) % 4).astype(_F16), has="wgmma ref_transpose",
      wanted=lambda a, b: a.T.astype(np.float32) @ b.T.astype(np.float32))
def a_product_of_two_transposed_operands(a, b):
    return _product_of(jnp.float16, jnp.float32, a, b, a_turned=True, b_turned=True)


@case((ramp(64, 64) % 3).astype(_F16), (ramp(64, 128) % 4).astype(_F16), has="wgmma wgmma_wait",
      wanted=lambda a, b: (a.astype(np.float32) @ b[:, :64], a.astype(np.float32) @ b[:, 64:] * 2))
def two_accumulators(a, b):
    tile = plgpu.SMEM((64, 64), jnp.float16, transforms=tiled(jnp.float16))

    @plgpu.kernel(out_type=[like(64, 64)] * 2, scratch_types=[
        tile, plgpu.SMEM((64, 128), jnp.float16, transforms=tiled(jnp.float16)),
        plgpu.Barrier(num_arrivals=2)])
    def matmul(a_gmem, b_gmem, left_gmem, right_gmem, a_smem, b_smem, barrier):
        plgpu.copy_gmem_to_smem(a_gmem, a_smem, barrier)
        plgpu.copy_gmem_to_smem(b_gmem, b_smem, barrier)
        plgpu.barrier_wait(barrier)

        def scope(left, right):
            plgpu.wgmma(left, a_smem, b_smem.at[:, pl.ds(0, 64)])
            plgpu.wgmma(right, a_smem, b_smem.at[:, pl.ds(64, 64)])
            plgpu.wgmma(right, a_smem, b_smem.at[:, pl.ds(64, 64)])
            left_gmem[...] = plgpu.wgmma_accumulator_load(left, wait_n=2)
            right_gmem[...] = right[...]

        pl.run_scoped(scope, plgpu.ACC((64, 64), jnp.float32), plgpu.ACC((64, 64), jnp.float32))

    return matmul(a, b)


# ---- conversions to floats of eight bits --------------------------------------------------------

_LARGE = np.tile(np.array([1.03, 447, 449, 500, 6e4, -600, -1e9, np.inf], np.float32), 64)


def _as_narrow(x, dtype):
    """Instructions of a GPU make the largest number of what is too large (JAX's interpreter makes
    NaN or Inf of it)."""
    @plgpu.kernel(out_type=like(*x.shape, dtype=dtype))
    def convert(x_gmem, o_gmem):
        o_gmem[...] = x_gmem[...].astype(dtype)

    return convert(x).astype(jnp.float32)


@case(_LARGE.reshape(4, 128), is_interpreted=False,
      wanted=lambda x: np.clip(x, -448, 448).astype(_F8).astype(np.float32))
def numbers_beyond_those_of_e4m3(x):
    return _as_narrow(x, _F8)


@case(np.clip(_LARGE, -6e4, 6e4).astype(_F16).reshape(4, 128), is_interpreted=False,
      wanted=lambda x: np.clip(x, -57344, 57344).astype(_F8_WIDE).astype(np.float32))
def numbers_beyond_those_of_e5m2(x):
    return _as_narrow(x, _F8_WIDE)


@case(np.tile(np.array([1, 1.1, 1.3, 1.5, 1.99, 2.5, 3.1, 1e38], np.float32), 64).reshape(4, 128),
      wanted=lambda x: 2 ** np.minimum(np.ceil(np.log2(x)), 127), is_interpreted=False,
      chip="b200")
def powers_of_two_are_rounded_up(x):
    return _as_narrow(x, np.dtype(ml_dtypes.float8_e8m0fnu))
