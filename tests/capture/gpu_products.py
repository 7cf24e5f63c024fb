"""Kernels for a GPU that multiply matrices (wgmma), and kernels with pipelines."""

import functools

import jax.numpy as jnp
import ml_dtypes
import numpy as np
from gpu_case import case, like, ramp, tiled
from jax import lax
from jax.experimental import pallas as pl
from jax.experimental.pallas import mosaic_gpu as plgpu

_F16, _BF16 = np.float16, ml_dtypes.bfloat16


def _small(*shape, dtype=_F16):
    return (ramp(*shape) % 4).astype(dtype)


def _product(a, b):
    return a.astype(np.float32) @ b.astype(np.float32)


# ---- products ------------------------------------------------------------------------------


def _operands(dtype, *shapes):
    return [plgpu.SMEM(shape, dtype, transforms=tiled(dtype)) for shape in shapes]


def _loaded(pairs, barrier):
    for source, target in pairs:
        plgpu.copy_gmem_to_smem(source, target, barrier)
    plgpu.barrier_wait(barrier)


@case(_small(64, 64), _small(64, 128), wanted=_product, has="wgmma wgmma_accumulator_deref")
def a_product(a, b):
    @plgpu.kernel(out_type=like(64, 128), scratch_types=[
        *_operands(_F16, (64, 64), (64, 128)), plgpu.Barrier(num_arrivals=2)])
    def matmul(a_gmem, b_gmem, o_gmem, a_smem, b_smem, barrier):
        _loaded([(a_gmem, a_smem), (b_gmem, b_smem)], barrier)

        def scope(acc):
            plgpu.wgmma(acc, a_smem, b_smem)
            o_gmem[...] = acc[...]

        pl.run_scoped(scope, plgpu.ACC((64, 128), jnp.float32))

    return matmul(a, b)


@case(_small(2, 64, 64), has="wgmma barrier_arrive", is_interpreted=False,
      wanted=lambda x: np.stack([_product(x[1], x[0]), _product(x[0], x[1])]))
def a_product_in_a_cluster(x):
    """A kernel allocates what its blocks share together with an accumulator, which they do not."""
    @plgpu.kernel(out_type=like(2, 64, 64), cluster=(2,), cluster_names=("c",), scratch_types=[
        *_operands(_F16, (64, 64), (64, 64)), plgpu.ACC((64, 64), jnp.float32),
        plgpu.Barrier(num_arrivals=2), plgpu.ClusterBarrier(collective_axes=("c",))])
    def matmul(x_gmem, o_gmem, other, own, acc, barrier, ready):
        block = lax.axis_index("c")
        _loaded([(x_gmem.at[1 - block], other), (x_gmem.at[block], own)], barrier)
        plgpu.barrier_arrive(ready)
        plgpu.barrier_wait(ready)
        plgpu.wgmma(acc, other, own)
        o_gmem[block] = acc[...]

    return matmul(x)


@case(_small(64, 256, dtype=_BF16), _small(256, 64, dtype=_BF16), has="wgmma_wait",
      wanted=lambda a, b: _product(a, b).astype(_BF16))
def products_that_overlap(a, b):
    @plgpu.kernel(out_type=like(64, 64, dtype=_BF16), scratch_types=[
        *_operands(_BF16, (64, 256), (256, 64), (64, 64)), plgpu.Barrier(num_arrivals=2)])
    def matmul(a_gmem, b_gmem, o_gmem, a_smem, b_smem, o_smem, barrier):
        _loaded([(a_gmem, a_smem), (b_gmem, b_smem)], barrier)

        def scope(acc):
            for k in range(4):
                part = pl.ds(64 * k, 64)
                plgpu.wgmma(acc, a_smem.at[:, part], b_smem.at[part])
                plgpu.wgmma_wait(1)
            return plgpu.wgmma_accumulator_load(acc, wait_n=0)

        o_smem[...] = pl.run_scoped(scope, plgpu.ACC((64, 64), jnp.float32)).astype(_BF16)
        plgpu.commit_smem()
        plgpu.copy_smem_to_gmem(o_smem, o_gmem)
        plgpu.wait_smem_to_gmem(0)

    return matmul(a, b)


@case(_small(64, 64), _small(128, 64), wanted=lambda a, b: _product(a, b.T), has="ref_transpose")
def a_product_with_a_transposed_operand(a, b):
    @plgpu.kernel(out_type=like(64, 128), scratch_types=[
        *_operands(_F16, (64, 64), (128, 64)), plgpu.Barrier(num_arrivals=2)])
    def matmul(a_gmem, b_gmem, o_gmem, a_smem, b_smem, barrier):
        _loaded([(a_gmem, a_smem), (b_gmem, b_smem)], barrier)

        def scope(acc):
            plgpu.wgmma(acc, a_smem, b_smem.transpose((1, 0)))
            o_gmem[...] = acc[...]

        pl.run_scoped(scope, plgpu.ACC((64, 128), jnp.float32))

    return matmul(a, b)


@case(_small(64, 64), _small(64, 128), is_interpreted=False, has="wgmma ref_at",
      wanted=lambda a, b: _product(a, b) * np.repeat([1, 2], 64).astype(np.float32))
def products_that_add_to_parts_of_an_accumulator(a, b):
    @plgpu.kernel(out_type=like(64, 128), scratch_types=[
        *_operands(_F16, (64, 64), (64, 128)), plgpu.Barrier(num_arrivals=2)])
    def matmul(a_gmem, b_gmem, o_gmem, a_smem, b_smem, barrier):
        _loaded([(a_gmem, a_smem), (b_gmem, b_smem)], barrier)

        def scope(acc):
            for first in (0, 64, 64):
                plgpu.wgmma(acc.at[:, first:first + 64], a_smem, b_smem.at[:, first:first + 64])
            o_gmem[...] = acc[...]

        pl.run_scoped(scope, plgpu.ACC((64, 128), jnp.float32))

    return matmul(a, b)


@case(_small(64, 64), _small(64, 64), is_interpreted=False, has="wgmma",
      wanted=lambda a, b: _product(a + 1, b))
def a_product_with_an_operand_in_registers(a, b):
    @plgpu.kernel(out_type=like(64, 64), scratch_types=[
        *_operands(_F16, (64, 64), (64, 64)), plgpu.Barrier(num_arrivals=2)])
    def matmul(a_gmem, b_gmem, o_gmem, a_smem, b_smem, barrier):
        _loaded([(a_gmem, a_smem), (b_gmem, b_smem)], barrier)
        a = plgpu.load(a_smem, layout=plgpu.Layout.WGMMA) + 1

        def scope(acc):
            plgpu.wgmma(acc, a, b_smem)
            o_gmem[...] = acc[...]

        pl.run_scoped(scope, plgpu.ACC((64, 64), jnp.float32))

    return matmul(a, b)


@case(_small(64, 64), _small(64, 64), ramp(64, 64), is_interpreted=False,
      has="wgmma_accumulator_store", wanted=lambda a, b, c: _product(a, b) + c)
def an_accumulator_that_is_stored(a, b, c):
    @plgpu.kernel(out_type=like(64, 64), scratch_types=[
        *_operands(_F16, (64, 64), (64, 64)), *_operands(jnp.float32, (64, 64)),
        plgpu.Barrier(num_arrivals=3)])
    def matmul(a_gmem, b_gmem, c_gmem, o_gmem, a_smem, b_smem, c_smem, barrier):
        _loaded([(a_gmem, a_smem), (b_gmem, b_smem), (c_gmem, c_smem)], barrier)

        def scope(acc):
            acc[...] = plgpu.load(c_smem, layout=plgpu.Layout.WGMMA)
            plgpu.wgmma(acc, a_smem, b_smem)
            o_gmem[...] = acc[...]

        pl.run_scoped(scope, plgpu.ACC((64, 64), jnp.float32))

    return matmul(a, b, c)


@case(_small(64, 128), _small(128, 64), is_interpreted=False,
      has="wgmma wgmma_accumulator_store wgmma_accumulator_deref",
      wanted=lambda a, b: 2 * _product(a[:, :64], b[:64]) + _product(a[:, 64:], b[64:]))
def accumulators_that_begin_with_a_value(a, b):
    @plgpu.kernel(out_type=like(64, 64), scratch_types=[
        *_operands(_F16, (64, 128), (128, 64)), plgpu.Barrier(num_arrivals=2)])
    def matmul(a_gmem, b_gmem, o_gmem, a_smem, b_smem, barrier):
        _loaded([(a_gmem, a_smem), (b_gmem, b_smem)], barrier)

        def step(k, acc):
            def product(acc_ref):
                part = pl.ds(64 * k, 64)
                plgpu.wgmma(acc_ref, a_smem.at[:, part], b_smem.at[part])

            return pl.run_state(product)(plgpu.ACC.init(acc)) * (2 - k)

        zeros = plgpu.layout_cast(jnp.zeros((64, 64), jnp.float32), plgpu.Layout.WGMMA)
        o_gmem[...] = lax.fori_loop(0, 2, step, zeros)

    return matmul(a, b)


# ---- pipelines -----------------------------------------------------------------------------


@case(ramp(8, 128), wanted=lambda x: x * 2, is_interpreted=False, has="cond scan commit_group")
def a_pipeline_with_an_output(x):
    @plgpu.kernel(out_type=like(8, 128))
    def double(x_gmem, o_gmem):
        def body(_, x_smem, o_smem):
            o_smem[...] = x_smem[...] * 2

        blocks = [plgpu.BlockSpec((1, 128), lambda i: (i, 0))]
        plgpu.emit_pipeline(body, grid=(8,), in_specs=blocks, out_specs=blocks,
                            max_concurrent_steps=3)(x_gmem, o_gmem)

    return double(x)


@case(ramp(4, 128), ramp(6, 128), is_interpreted=False,
      wanted=lambda x, y: (x[:, None] * y[None]).reshape(24, 128))
def a_pipeline_over_two_axes(x, y):
    @plgpu.kernel(out_type=like(24, 128))
    def products(x_gmem, y_gmem, o_gmem):
        def body(_, x_smem, y_smem, o_smem):
            o_smem[...] = x_smem[...] * y_smem[...]
            plgpu.commit_smem()

        plgpu.emit_pipeline(
            body, grid=(4, 6), max_concurrent_steps=4,
            in_specs=[plgpu.BlockSpec((1, 128), lambda i, j: (i, 0), delay_release=1),
                      plgpu.BlockSpec((1, 128), lambda i, j: (j, 0))],
            out_specs=[plgpu.BlockSpec((1, 128), lambda i, j: (6 * i + j, 0))],
        )(x_gmem, y_gmem, o_gmem)

    return products(x, y)


@case(ramp(8, 128), wanted=lambda x: x.sum(0))
def a_pipeline_with_a_carry(x):
    @plgpu.kernel(out_type=like(128))
    def total(x_gmem, o_gmem):
        def body(_, x_smem, so_far):
            so_far += x_smem[0]
            plgpu.commit_smem()
            return so_far

        o_gmem[...] = plgpu.emit_pipeline(
            body, grid=(8,), in_specs=[plgpu.BlockSpec((1, 128), lambda i: (i, 0))],
            max_concurrent_steps=2, init_carry=jnp.zeros((128,), jnp.float32))(x_gmem)

    return total(x)


@case(np.array([5], np.int32), ramp(8, 128), has="while",
      wanted=lambda n, x: x[:n[0]].sum(0))
def a_pipeline_of_a_number_of_steps_from_memory(n, x):
    @plgpu.kernel(out_type=like(128))
    def total(n_gmem, x_gmem, o_gmem):
        def body(_, x_smem, so_far):
            so_far += x_smem[0]
            plgpu.commit_smem()
            return so_far

        o_gmem[...] = plgpu.emit_pipeline(
            body, grid=(n_gmem[0],), in_specs=[plgpu.BlockSpec((1, 128), lambda i: (i, 0))],
            max_concurrent_steps=3, init_carry=jnp.zeros((128,), jnp.float32))(x_gmem)

    return total(n, x)


@case(ramp(8, 128), wanted=lambda x: x * x, is_interpreted=False,
      has="set_max_registers barrier_arrive")
def a_pipeline_of_specialised_warpgroups(x):
    @plgpu.kernel(out_type=like(8, 128), num_threads=2, thread_name="wg")
    def square(x_gmem, o_gmem):
        def body(_, x_smem, o_smem):
            o_smem[...] = x_smem[...] * x_smem[...]
            plgpu.commit_smem()

        blocks = [plgpu.BlockSpec((1, 128), lambda i: (i, 0))]
        plgpu.emit_pipeline_warp_specialized(
            body, grid=(8,), in_specs=blocks, out_specs=blocks, memory_registers=40,
            max_concurrent_steps=2, wg_axis="wg", num_compute_wgs=1)(x_gmem, o_gmem)

    return square(x)


@case(ramp(8, 2, 128), wanted=lambda x: x.sum(0), has="set_max_registers")
def a_pipeline_whose_barriers_the_body_uses(x):
    @plgpu.kernel(out_type=like(2, 128), num_threads=3, thread_name="wg")
    def total(x_gmem, o_gmem):
        wg = lax.axis_index("wg")

        def context(pipeline):
            o_gmem[wg] = pipeline(jnp.zeros((128,), jnp.float32))

        def body(_, x_smem, produced, consumed, so_far):
            plgpu.barrier_wait(produced)
            so_far += x_smem[0, wg]
            plgpu.commit_smem()
            plgpu.barrier_arrive(consumed)
            return so_far

        plgpu.emit_pipeline_warp_specialized(
            body, grid=(8,), in_specs=[plgpu.BlockSpec((1, 2, 128), lambda i: (i, 0, 0))],
            memory_registers=40, max_concurrent_steps=3, wg_axis="wg", num_compute_wgs=2,
            manual_produced_barriers=True, manual_consumed_barriers=True,
            compute_context=context)(x_gmem)

    return total(x)


def _blocks(m, n, k, dtype, delay=1):
    return [plgpu.BlockSpec((m, k), lambda step: (0, step), transforms=tiled(dtype),
                            delay_release=delay),
            plgpu.BlockSpec((k, n), lambda step: (step, 0), transforms=tiled(dtype),
                            delay_release=delay)]


@case(_small(128, 256), _small(256, 128), wanted=_product, has="wgmma scan", tolerance=1e-6)
def a_pipelined_matmul(a, b):
    @plgpu.kernel(out_type=like(128, 128), grid=(2, 2), grid_names=("m", "n"),
                  scratch_types=_operands(jnp.float32, (64, 64)))
    def matmul(a_gmem, b_gmem, o_gmem, o_smem):
        m, n = (pl.ds(lax.axis_index(axis) * 64, 64) for axis in ("m", "n"))

        def scope(acc):
            def body(_, a_smem, b_smem):
                plgpu.wgmma(acc, a_smem, b_smem)
                plgpu.wgmma_wait(1)

            plgpu.emit_pipeline(body, grid=(4,), in_specs=_blocks(64, 64, 64, _F16),
                                max_concurrent_steps=3)(a_gmem.at[m], b_gmem.at[:, n])
            return acc[...]

        o_smem[...] = pl.run_scoped(scope, plgpu.ACC((64, 64), jnp.float32))
        plgpu.commit_smem()
        plgpu.copy_smem_to_gmem(o_smem, o_gmem.at[m, n])
        plgpu.wait_smem_to_gmem(0)

    return matmul(a, b)


@case(_small(256, 128, dtype=_BF16), _small(128, 256, dtype=_BF16), has="wgmma cond",
      wanted=lambda a, b: _product(a, b).astype(_BF16))
def a_persistent_matmul_of_specialised_warpgroups(a, b):
    @plgpu.kernel(out_type=like(256, 256, dtype=_BF16), grid=(3,), grid_names=("sm",),
                  num_threads=3, thread_name="wg")
    def matmul(a_gmem, b_gmem, o_gmem):
        def pipeline(body, context):
            return plgpu.emit_pipeline_warp_specialized(
                body, grid=(2,), in_specs=_blocks(128, 128, 64, _BF16, 0), memory_registers=40,
                max_concurrent_steps=2, wg_axis="wg", num_compute_wgs=2, compute_context=context)

        def scope(buffers, o_smem):
            wg = lax.axis_index("wg")

            @plgpu.nd_loop((2, 2), collective_axes="sm")
            def _(info):
                m, n = (pl.ds(index * 128, 128) for index in info.index)

                def body(_, a_smem, b_smem, acc):
                    plgpu.wgmma(acc, a_smem.at[pl.ds(wg * 64, 64)], b_smem)
                    plgpu.wgmma_wait(0)
                    return acc

                def context(run):
                    def accumulate(acc):
                        run(acc)
                        plgpu.wait_smem_to_gmem(0, wait_read_only=True)
                        o_smem[wg] = acc[...].astype(_BF16)
                        plgpu.commit_smem()
                        plgpu.copy_smem_to_gmem(
                            o_smem.at[wg], o_gmem.at[m, n].at[pl.ds(wg * 64, 64)])

                    pl.run_scoped(accumulate, plgpu.ACC((64, 128), jnp.float32))

                pipeline(body, context)(a_gmem.at[m], b_gmem.at[:, n], allocations=buffers)

            plgpu.wait_smem_to_gmem(0)

        none = functools.partial(lambda *_: None)
        pl.run_scoped(
            scope, pipeline(none, none).get_allocations(a_gmem.at[pl.ds(0, 128)],
                                                        b_gmem.at[:, pl.ds(0, 128)]),
            plgpu.SMEM((2, 64, 128), _BF16, transforms=tiled(_BF16)), collective_axes="wg")

    return matmul(a, b)
