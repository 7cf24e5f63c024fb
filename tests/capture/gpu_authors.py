"""Kernels for a GPU as their users write them: whole ones, each of another kind."""

import functools
import math

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
from gpu_case import case, like, ramp, tiled
from jax import lax
from jax.experimental import pallas as pl
from jax.experimental.pallas import mosaic_gpu as plgpu

_BF16, _F16 = np.dtype(ml_dtypes.bfloat16), np.dtype(np.float16)


def _normal(*shape, dtype=np.float32, seed=0, scale=1.0):
    return (np.random.default_rng(seed).standard_normal(shape) * scale).astype(dtype)


def _f32(x):
    return np.asarray(x, np.float32)


def _gelu(x):
    return 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x ** 3)))


# ---- a layer: product, bias and gelu, with its gradient by another kernel ------------------


def _pipelined(a, b, finish, *further, out_dtype, tile=(64, 128), step=64, stages=3):
    """A product by emit_pipeline; finish(total, *tiles of further, rows of a bias) is stored."""
    (m, k), n = a.shape, b.shape[1]
    tm, tn = tile

    @plgpu.kernel(out_type=like(m, n, dtype=out_dtype), grid=(m // tm, n // tn),
                  grid_names=("m", "n"), scratch_types=[plgpu.SMEM(tile, out_dtype)])
    def matmul(a_gmem, b_gmem, *rest):
        *others, o_gmem, o_smem = rest
        rows = pl.ds(lax.axis_index("m") * tm, tm)
        columns = pl.ds(lax.axis_index("n") * tn, tn)

        def scope(acc):
            def body(_, a_smem, b_smem):
                plgpu.wgmma(acc, a_smem, b_smem)
                plgpu.wgmma_wait(1)

            plgpu.emit_pipeline(
                body, grid=(k // step,), max_concurrent_steps=stages,
                in_specs=[plgpu.BlockSpec((tm, step), lambda i: (0, i), delay_release=1,
                                          transforms=tiled(a.dtype)),
                          plgpu.BlockSpec((step, tn), lambda i: (i, 0), delay_release=1,
                                          transforms=tiled(b.dtype))])(
                a_gmem.at[rows], b_gmem.at[:, columns])
            return acc[...]

        total = pl.run_scoped(scope, plgpu.ACC(tile, jnp.float32))
        o_smem[...] = finish(total, *(one.at[columns] for one in others)).astype(out_dtype)
        plgpu.commit_smem()
        plgpu.copy_smem_to_gmem(o_smem, o_gmem.at[rows, columns])
        plgpu.wait_smem_to_gmem(0)

    return matmul(a, b, *further)


def _with_bias(total, bias):
    bias = plgpu.load(bias, layout=plgpu.Layout.WGMMA.reduce(0), optimized=False)
    return jax.nn.gelu(total + lax.broadcast_in_dim(bias, total.shape, (1,)))


@case(_normal(128, 192, dtype=_F16), _normal(192, 256, dtype=_F16, seed=1, scale=0.1),
      _normal(256, seed=2), tolerance=2e-3,
      wanted=lambda x, w, b: _gelu(_f32(x) @ _f32(w) + b).astype(np.float16))
def a_layer_with_bias_and_gelu(x, w, bias):
    return _pipelined(x, w, _with_bias, bias, out_dtype=jnp.float16)


@jax.custom_vjp
def _dense(x, w):
    return _pipelined(x, w, lambda total: total, out_dtype=jnp.float32)


def _dense_forward(x, w):
    return _dense(x, w), (x, w)


def _dense_backward(kept, given):
    x, w = kept
    given = given.astype(x.dtype)
    return (_pipelined(given, w.T, lambda total: total, out_dtype=jnp.float32).astype(x.dtype),
            _pipelined(x.T, given, lambda total: total, out_dtype=jnp.float32).astype(w.dtype))


_dense.defvjp(_dense_forward, _dense_backward)
_SMALL = [(ramp(128, 128) % 5 - 2).astype(_BF16), (ramp(128, 128).T % 3 - 1).astype(_BF16)]


@case(*_SMALL, tolerance=1e-2, wanted=lambda x, w: (
    ((2 * _f32(x) @ _f32(w)).astype(_BF16).astype(np.float32) @ _f32(w).T),
    (_f32(x).T @ (2 * _f32(x) @ _f32(w)).astype(_BF16).astype(np.float32))))
def gradients_of_a_layer(x, w):
    found = jax.grad(lambda x, w: (_dense(x, w) ** 2).sum(), argnums=(0, 1))(x, w)
    return [one.astype(jnp.float32) for one in found]


# ---- rows ----------------------------------------------------------------------------------


def _rms(x, scale):
    return x / np.sqrt((x * x).mean(-1, keepdims=True) + 1e-6) * scale


@case(_normal(256, 128), _normal(128, seed=1), tolerance=1e-5, wanted=_rms)
def tiles_of_rows_normed_by_warpgroups(x, scale):
    """In the layout of a product a row lies within a warp, so its sum needs no shared memory."""
    @plgpu.kernel(out_type=like(*x.shape), grid=(2,), grid_names=("i",), num_threads=2,
                  thread_name="wg")
    def norm(x_gmem, scale_gmem, o_gmem):
        rows = pl.ds((lax.axis_index("i") * 2 + lax.axis_index("wg")) * 64, 64)
        x = plgpu.load(x_gmem.at[rows], layout=plgpu.Layout.WGMMA, optimized=False)
        mean = jnp.sum(x * x, axis=1) / x.shape[1]
        scale = plgpu.load(scale_gmem, layout=plgpu.Layout.WGMMA.reduce(0), optimized=False)
        o_gmem[rows] = (x * lax.broadcast_in_dim(lax.rsqrt(mean + 1e-6), x.shape, (0,))
                        * lax.broadcast_in_dim(scale, x.shape, (1,)))

    return norm(x, scale)


@case(_normal(16, 256), _normal(256, seed=1), tolerance=1e-5, wanted=_rms)
def rows_normed_by_warpgroups_in_turns(x, scale):
    """Sums of whole arrays go through one scratch of the block: see
    warpgroups_that_reduce_at_the_same_time among the mistakes."""
    @plgpu.kernel(out_type=like(*x.shape), grid=(4,), grid_names=("i",), num_threads=2,
                  thread_name="wg", scratch_types=[plgpu.Barrier(num_arrivals=2)])
    def norm(x_gmem, scale_gmem, o_gmem, met):
        wg = lax.axis_index("wg")
        first = (lax.axis_index("i") * 2 + wg) * 2

        def row(i, _):
            x = x_gmem[first + i]
            total = jnp.float32(0)
            for turn in range(2):
                total = lax.cond(wg == turn, lambda: jnp.sum(x * x), lambda t=total: t)
                plgpu.barrier_arrive(met)
                plgpu.barrier_wait(met)
            o_gmem[first + i] = x * lax.rsqrt(total / x.shape[0] + 1e-6) * scale_gmem[...]

        lax.fori_loop(0, 2, row, None)

    return norm(x, scale)


@case(_normal(8, 1024, scale=3), tolerance=1e-5, wanted=lambda x: (
    np.exp(x - x.max(-1, keepdims=True)) / np.exp(x - x.max(-1, keepdims=True)).sum(
        -1, keepdims=True)))
def softmax_of_long_rows(x):
    """Two passes over blocks of a row: the largest and the sum together, then the quotients."""
    block = 256

    @plgpu.kernel(out_type=like(*x.shape), grid=(x.shape[0],), grid_names=("row",))
    def softmax(x_gmem, o_gmem):
        row = lax.axis_index("row")

        def statistics(i, carry):
            largest, total = carry
            x = x_gmem[row, pl.ds(i * block, block)]
            new = jnp.maximum(largest, jnp.max(x))
            return new, total * jnp.exp(largest - new) + jnp.sum(jnp.exp(x - new))

        largest, total = lax.fori_loop(0, x.shape[1] // block, statistics,
                                       (jnp.float32(-jnp.inf), jnp.float32(0)))

        @pl.loop(0, x.shape[1] // block)
        def _(i):
            part = pl.ds(i * block, block)
            o_gmem[row, part] = jnp.exp(x_gmem[row, part] - largest) / total

    return softmax(x)


# ---- products ------------------------------------------------------------------------------


@case(_normal(64, 512, dtype=_F16), _normal(512, 64, dtype=_F16, seed=1), tolerance=1e-4,
      wanted=lambda a, b: _f32(a) @ _f32(b), is_interpreted=False)
def a_product_split_along_its_columns(a, b):
    """Blocks have a part of the columns each, and add their sums with atomic operations."""
    parts, step = 4, 128

    def split(a, b, zeros):
        @plgpu.kernel(out_type=(), grid=(parts,), grid_names=("part",), scratch_types=[
            plgpu.SMEM((64, step), jnp.float16, transforms=tiled(jnp.float16)),
            plgpu.SMEM((step, 64), jnp.float16, transforms=tiled(jnp.float16)),
            plgpu.Barrier(num_arrivals=2)])
        def matmul(a_gmem, b_gmem, o_gmem, a_smem, b_smem, barrier):
            part = pl.ds(lax.axis_index("part") * step, step)
            plgpu.copy_gmem_to_smem(a_gmem.at[:, part], a_smem, barrier)
            plgpu.copy_gmem_to_smem(b_gmem.at[part], b_smem, barrier)
            plgpu.barrier_wait(barrier)

            def scope(acc):
                plgpu.wgmma(acc, a_smem, b_smem)
                plgpu.atomic_add(o_gmem, acc[...])

            pl.run_scoped(scope, plgpu.ACC((64, 64), jnp.float32))

        total = jax.new_ref(zeros)
        matmul(a, b, total)
        return total[...]

    return split(a, b, jnp.zeros((64, 64), jnp.float32))


def _persistent(a, b, snake, blocks=4, tile=(64, 64), step=64, stages=2):
    (m, k), n = a.shape, b.shape[1]
    tm, tn = tile
    rows, columns = m // tm, n // tn

    @plgpu.kernel(out_type=like(m, n), grid=(blocks,), grid_names=("sm",), num_threads=2,
                  thread_name="wg", scratch_types=[
        plgpu.SMEM((stages, tm, step), a.dtype, transforms=tiled(a.dtype)),
        plgpu.SMEM((stages, step, tn), b.dtype, transforms=tiled(b.dtype)),
        plgpu.SMEM(tile, jnp.float32),
        plgpu.Barrier(num_arrivals=2, num_barriers=stages), plgpu.Barrier(num_barriers=stages)])
    def matmul(a_gmem, b_gmem, o_gmem, a_smem, b_smem, o_smem, full, free):
        wg = lax.axis_index("wg")

        @plgpu.nd_loop((rows * columns,), collective_axes="sm")
        def _(loop):
            (index,) = loop.index
            mi, ni = (plgpu.planar_snake(index, (rows, columns), 1, 2) if snake
                      else (index // columns, index % columns))
            at = loop.local_index * (k // step)

            @pl.when(wg == 1)
            def _():
                plgpu.set_max_registers(40, action="decrease")

                @pl.loop(0, k // step)
                def _(i):
                    slot = lax.rem(at + i, stages)

                    @pl.when(at + i >= stages)
                    def _():
                        plgpu.barrier_wait(free.at[slot])

                    part = pl.ds(i * step, step)
                    plgpu.copy_gmem_to_smem(a_gmem.at[pl.ds(mi * tm, tm), part],
                                            a_smem.at[slot], full.at[slot])
                    plgpu.copy_gmem_to_smem(b_gmem.at[part, pl.ds(ni * tn, tn)],
                                            b_smem.at[slot], full.at[slot])

            @pl.when(wg == 0)
            def _():
                def scope(acc):
                    @pl.loop(0, k // step)
                    def _(i):
                        slot = lax.rem(at + i, stages)
                        plgpu.barrier_wait(full.at[slot])
                        plgpu.wgmma(acc, a_smem.at[slot], b_smem.at[slot])
                        plgpu.wgmma_wait(0)
                        plgpu.barrier_arrive(free.at[slot])

                    return acc[...]

                plgpu.wait_smem_to_gmem(0, wait_read_only=True)
                o_smem[...] = pl.run_scoped(scope, plgpu.ACC(tile, jnp.float32))
                plgpu.commit_smem()
                plgpu.copy_smem_to_gmem(
                    o_smem, o_gmem.at[pl.ds(mi * tm, tm), pl.ds(ni * tn, tn)])

        @pl.when(wg == 0)
        def _():
            plgpu.wait_smem_to_gmem(0)

    return matmul(a, b)


@case((ramp(256, 128) % 4).astype(_F16), (ramp(128, 192) % 4).astype(_F16),
      wanted=lambda a, b: _f32(a) @ _f32(b), is_interpreted=False)
def a_persistent_product_in_the_order_of_a_snake(a, b):
    return _persistent(a, b, snake=True)


@case((ramp(2, 128, 128) % 4).astype(_F16), (ramp(128, 128) % 4).astype(_F16),
      wanted=lambda a, b: _f32(a) @ _f32(b), is_interpreted=False)
def persistent_products_under_vmap(a, b):
    return jax.vmap(lambda a: _persistent(a, b, snake=False))(a)


@case((ramp(64, 128) % 7 - 3).astype(np.int8), (ramp(128, 64) % 5 - 2).astype(np.int8),
      np.float32(0.25), wanted=lambda a, b, s: (
          (a.astype(np.int32) @ b.T.astype(np.int32).T).astype(np.float32) * s),
      is_interpreted=True)
def a_product_of_bytes_with_a_scale(a, b, scale):
    @plgpu.kernel(out_type=like(64, 64), scratch_types=[
        plgpu.SMEM((64, 128), jnp.int8, transforms=tiled(jnp.int8)),
        plgpu.SMEM((64, 128), jnp.int8, transforms=tiled(jnp.int8)),
        plgpu.Barrier(num_arrivals=2)])
    def matmul(a_gmem, b_gmem, scale_gmem, o_gmem, a_smem, b_smem, barrier):
        plgpu.copy_gmem_to_smem(a_gmem, a_smem, barrier)
        plgpu.copy_gmem_to_smem(b_gmem, b_smem, barrier)
        plgpu.barrier_wait(barrier)

        def scope(acc):
            plgpu.wgmma(acc, a_smem, b_smem.T)
            return acc[...]

        total = pl.run_scoped(scope, plgpu.ACC((64, 64), jnp.int32))
        o_gmem[...] = total.astype(jnp.float32) * scale_gmem[0]

    return matmul(a, b.T, scale.reshape(1))


# ---- tables, and shapes that are known at run time -----------------------------------------


@case(ramp(12, 128), np.array([7, 0, 3, 11, 3], np.int32), wanted=lambda x, at: x[at],
      is_interpreted=True)
def rows_gathered_by_a_table(x, table):
    @plgpu.kernel(out_type=like(5, 128), grid=(5,), grid_names=("i",), scratch_types=[
        plgpu.SMEM((128,), jnp.float32), plgpu.Barrier()])
    def gather(x_gmem, table_gmem, o_gmem, smem, barrier):
        i = lax.axis_index("i")
        plgpu.copy_gmem_to_smem(x_gmem.at[table_gmem[i]], smem, barrier)
        plgpu.barrier_wait(barrier)
        plgpu.copy_smem_to_gmem(smem, o_gmem.at[i])
        plgpu.wait_smem_to_gmem(0)

    return gather(x, table)


@case(ramp(40, 128), np.array([0, 3, 3, 20, 40], np.int32),
      wanted=lambda x, ends: np.stack([x[a:b].sum(0) for a, b in zip(ends, ends[1:])]))
def sums_of_ragged_rows(x, ends):
    """Each block goes through the rows of its group, whose number the table has."""
    @plgpu.kernel(out_type=like(4, 128), grid=(4,), grid_names=("group",))
    def sums(x_gmem, ends_gmem, o_gmem):
        group = lax.axis_index("group")
        o_gmem[group] = lax.fori_loop(
            ends_gmem[group], ends_gmem[group + 1], lambda row, total: total + x_gmem[row],
            jnp.zeros((128,), jnp.float32))

    return sums(x, ends)


@case(ramp(3, 128), np.array([0, 2, 1], np.int32), wanted=lambda x, way: np.stack([
    [row + 1, row * row, -row][int(one)] for row, one in zip(x, way)]))
def branches_and_loops_that_a_table_chooses(x, way):
    @plgpu.kernel(out_type=like(3, 128), grid=(3,), grid_names=("i",))
    def choose(x_gmem, way_gmem, o_gmem):
        i = lax.axis_index("i")
        x = x_gmem[i]

        def doubled(state):
            count, value = state
            return count + 1, value + x

        o_gmem[i] = lax.switch(way_gmem[i], [
            lambda: x + 1,
            lambda: x * x,
            lambda: lax.while_loop(lambda state: state[0] < 3, doubled,
                                   (jnp.int32(0), -4 * x))[1]])

    return choose(x, way)


# ---- programs ------------------------------------------------------------------------------


@case(_normal(128, 128, dtype=_F16), _normal(128, 128, dtype=_F16, seed=1, scale=0.1),
      _normal(128, seed=2), tolerance=4e-3, wanted=lambda x, w, s: (
          _rms(_gelu(_f32(x) @ _f32(w)), s).astype(np.float16).astype(np.float32)
          @ _f32(w)).sum())
def operations_between_two_kernels(x, w, scale):
    hidden = _pipelined(x, w, lambda total: total, out_dtype=jnp.float32)
    hidden = jax.nn.gelu(hidden)
    hidden = hidden * lax.rsqrt((hidden * hidden).mean(-1, keepdims=True) + 1e-6) * scale
    return _pipelined(hidden.astype(x.dtype), w, lambda total: total, out_dtype=jnp.float32).sum()
