"""Grids, blocks, scalar prefetch, scratch and aliases of pallas_call."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from support import (call, check, integers, like, matmul_body, normal, pallascope, pipeline_of, pl,
                     pltpu)


def add(x_ref, y_ref, o_ref):
    o_ref[...] = x_ref[...] + y_ref[...]


def double(x_ref, o_ref):
    o_ref[...] = x_ref[...] * 2


def rows(size, columns=128):
    return pl.BlockSpec((size, columns), lambda i: (i, 0))


def test_adds_blocks_of_rows():
    def fn(x, y):
        return call(add, grid=(4,), in_specs=[rows(8)] * 2, out_specs=rows(8),
                    out_shape=like(32, 128))(x, y)

    check(fn, normal(32, 128), normal(32, 128, seed=1), ulps=0)


def test_without_a_grid_the_block_is_the_array():
    def fn(x, y):
        return call(add, out_shape=like(8, 128))(x, y)

    check(fn, normal(8, 128), normal(8, 128, seed=1), ulps=0)


def test_matmul_accumulates_over_the_last_axis():
    def fn(x, y):
        return call(matmul_body, grid=(2, 3, 4),
                    in_specs=[pl.BlockSpec((8, 128), lambda i, j, k: (i, k)),
                              pl.BlockSpec((128, 128), lambda i, j, k: (k, j))],
                    out_specs=pl.BlockSpec((8, 128), lambda i, j, k: (i, j)),
                    out_shape=like(16, 384, dtype=jnp.bfloat16),
                    scratch_shapes=[pltpu.VMEM((8, 128), jnp.float32)])(x, y)

    check(fn, normal(16, 512, dtype=jnp.bfloat16), normal(512, 384, dtype=jnp.bfloat16, seed=1),
          terms=512, ulps=1)


def test_accumulates_in_the_output_block():
    def kernel(x_ref, o_ref):
        @pl.when(pl.program_id(1) == 0)
        def _():
            o_ref[...] = jnp.zeros_like(o_ref)

        o_ref[...] += x_ref[...]

    def fn(x):
        return call(kernel, grid=(2, 4), in_specs=[pl.BlockSpec((8, 128), lambda i, j: (i, j))],
                    out_specs=pl.BlockSpec((8, 128), lambda i, j: (i, 0)),
                    out_shape=like(16, 128, dtype=jnp.int32))(x)

    check(fn, integers(16, 512))


def test_scratch_keeps_what_the_step_before_wrote():
    def kernel(x_ref, o_ref, sum_ref):
        @pl.when(pl.program_id(0) == 0)
        def _():
            sum_ref[...] = jnp.zeros_like(sum_ref)

        sum_ref[...] += x_ref[...]
        o_ref[...] = sum_ref[...]

    def fn(x):
        return call(kernel, grid=(4,), in_specs=[rows(8)], out_specs=rows(8),
                    out_shape=like(32, 128, dtype=jnp.int32),
                    scratch_shapes=[pltpu.VMEM((8, 128), jnp.int32)])(x)

    check(fn, integers(32, 128))


def test_scratch_in_smem_counts_steps():
    def kernel(x_ref, o_ref, count_ref):
        @pl.when(pl.program_id(0) == 0)
        def _():
            count_ref[0] = 0

        count_ref[0] += 3
        o_ref[...] = x_ref[...] + count_ref[0]

    def fn(x):
        return call(kernel, grid=(4,), in_specs=[rows(8)], out_specs=rows(8),
                    out_shape=like(32, 128, dtype=jnp.int32),
                    scratch_shapes=[pltpu.SMEM((1,), jnp.int32)])(x)

    check(fn, integers(32, 128))


def test_blocks_that_hang_over_both_edges():
    def fn(x):
        return call(double, grid=(3, 2), in_specs=[pl.BlockSpec((8, 128), lambda i, j: (i, j))],
                    out_specs=pl.BlockSpec((8, 128), lambda i, j: (i, j)),
                    out_shape=like(20, 200))(x)

    check(fn, normal(20, 200), ulps=0)


def test_squeezed_axes_are_not_in_the_ref():
    def fn(x):
        return call(double, grid=(3, 2),
                    in_specs=[pl.BlockSpec((None, None, 8, 128), lambda i, j: (i, j, 0, 0))],
                    out_specs=pl.BlockSpec((pl.Squeezed(), 8, 128), lambda i, j: (2 * i + j, 0, 0)),
                    out_shape=like(6, 8, 128))(x)

    check(fn, normal(3, 2, 8, 128), ulps=0)


def test_element_axes_are_placed_by_element():
    def fn(x):
        spec = pl.BlockSpec((pl.Element(8), pl.Element(128)), lambda i: (4 * i, 0))
        return call(double, grid=(3,), in_specs=[spec], out_specs=rows(8),
                    out_shape=like(24, 128))(x)

    check(fn, normal(16, 128), ulps=0)


def test_padded_element_axes_see_the_array_in_the_middle():
    def kernel(x_ref, o_ref):
        row = 8 * pl.program_id(0) + jax.lax.broadcasted_iota(jnp.int32, (8, 128), 0)
        o_ref[...] = jnp.where((row >= 4) & (row < 20), x_ref[...], 0)

    def fn(x):
        spec = pl.BlockSpec((pl.Element(8, (4, 4)), pl.Element(128)), lambda i: (8 * i, 0))
        return call(kernel, grid=(3,), in_specs=[spec], out_specs=rows(8),
                    out_shape=like(24, 128, dtype=jnp.int32))(x)

    check(fn, integers(16, 128))


def test_index_maps_compute():
    def fn(x):
        spec = pl.BlockSpec((8, 128), lambda i, j: (jnp.where(i == j, 0, (i + 2 * j) % 4), i // 2))
        return call(double, grid=(4, 3), in_specs=[spec],
                    out_specs=pl.BlockSpec((8, 128), lambda i, j: (i, j)),
                    out_shape=like(32, 384))(x)

    check(fn, normal(32, 256), ulps=0)


def test_one_buffer_per_operand():
    def fn(x):
        return call(double, grid=(4,),
                    in_specs=[pl.BlockSpec((8, 128), lambda i: (i, 0),
                                           pipeline_mode=pl.Buffered(1))],
                    out_specs=pl.BlockSpec((8, 128), lambda i: (i, 0),
                                           pipeline_mode=pl.Buffered(1)),
                    out_shape=like(32, 128))(x)

    kernel = check(fn, normal(32, 128), ulps=0)
    specs = pipeline_of(kernel)["params"]["specs"]
    assert [spec.get("in_buffers", 2) for spec in specs] == [1, 2]
    assert [spec.get("out_buffers", 2) for spec in specs] == [2, 1]


def test_blocks_of_one_axis():
    def fn(x):
        return call(double, grid=(3,), in_specs=[pl.BlockSpec((256,), lambda i: (i,))],
                    out_specs=pl.BlockSpec((256,), lambda i: (i,)), out_shape=like(700))(x)

    check(fn, normal(700), ulps=0)


def test_two_outputs_and_a_tree_of_results():
    def kernel(x_ref, low_ref, high_ref):
        low_ref[...] = jnp.minimum(x_ref[...], 0)
        high_ref[...] = jnp.maximum(x_ref[...], 0)

    def fn(x):
        low, high = call(kernel, grid=(2,), in_specs=[rows(8)], out_specs=[rows(8)] * 2,
                         out_shape=[like(16, 128)] * 2)(x)
        return {"high": high, "low": low}

    check(fn, normal(16, 128), ulps=0)


def test_an_output_that_the_function_drops_is_none_of_the_file():
    def kernel(x_ref, first_ref, second_ref):
        first_ref[...] = x_ref[...]
        second_ref[...] = -x_ref[...]

    def fn(x):
        return call(kernel, out_shape=[like(8, 128)] * 2)(x)[1]

    captured = check(fn, normal(8, 128), ulps=0)
    assert [a["name"] for a in captured.document["arguments"]] == ["x", "second_ref"]


def test_arguments_in_trees_and_unused_ones():
    def fn(tree, unused):
        return call(add, out_shape=like(8, 128))(tree["a"], tree["b"][0])

    check(fn, {"a": normal(8, 128), "b": [normal(8, 128, seed=1)]}, normal(3, 5))


def test_scalar_prefetch_leads_to_the_blocks():
    def kernel(order_ref, scale_ref, x_ref, o_ref):
        o_ref[...] = x_ref[...] * scale_ref[pl.program_id(0)]

    def fn(order, scale, x):
        grid = pltpu.PrefetchScalarGridSpec(
            num_scalar_prefetch=2, grid=(4,),
            in_specs=[pl.BlockSpec((8, 128), lambda i, order, scale: (order[i], 0))],
            out_specs=pl.BlockSpec((8, 128), lambda i, order, scale: (i, 0)))
        return call(kernel, grid_spec=grid, out_shape=like(32, 128, dtype=jnp.int32))(
            order, scale, x)

    check(fn, np.array([2, 0, 3, 1], np.int32), np.array([1, 10, 100, 1000], np.int32),
          integers(32, 128))


def test_scalar_prefetch_of_two_axes():
    def kernel(table_ref, x_ref, o_ref):
        o_ref[...] = x_ref[...]

    def fn(table, x):
        grid = pltpu.PrefetchScalarGridSpec(
            num_scalar_prefetch=1, grid=(2, 3),
            in_specs=[pl.BlockSpec((8, 128), lambda i, j, table: (table[i, j] + 1, 0))],
            out_specs=pl.BlockSpec((8, 128), lambda i, j, table: (i, j)))
        return call(kernel, grid_spec=grid, out_shape=like(16, 384, dtype=jnp.int32))(table, x)

    check(fn, np.array([[0, 3, 1], [2, -1, 0]], np.int32), integers(40, 128))


def test_writes_to_prefetched_scalars_move_later_blocks():
    def kernel(order_ref, x_ref, o_ref):
        step = pl.program_id(0)
        o_ref[...] = x_ref[...]
        order_ref[step + 2] = (order_ref[step] + 3) % 8

    def fn(order, x):
        grid = pltpu.PrefetchScalarGridSpec(
            num_scalar_prefetch=1, grid=(6,),
            in_specs=[pl.BlockSpec((8, 128), lambda i, order: (order[i], 0))],
            out_specs=pl.BlockSpec((8, 128), lambda i, order: (i, 0)))
        return call(kernel, grid_spec=grid, out_shape=like(48, 128, dtype=jnp.int32))(order, x)

    check(fn, np.array([1, 6, 0, 0, 0, 0, 0, 0], np.int32), integers(64, 128),
          oracle=pltpu.InterpretParams())


@pytest.mark.parametrize("steps", [1, 3, 4])
def test_a_grid_bound_known_at_run_time(steps):
    def fn(bound, x):
        return call(double, grid=(bound,), in_specs=[rows(8)], out_specs=rows(8),
                    out_shape=like(32, 128, dtype=jnp.int32), input_output_aliases={0: 0})(x)

    check(fn, np.int32(steps), integers(32, 128))


def test_a_grid_bound_that_the_function_computes():
    def kernel(x_ref, o_ref):
        o_ref[...] = x_ref[...] + pl.num_programs(0) * 10 + pl.program_id(1)

    def fn(length, x):
        return call(kernel, grid=(pl.cdiv(length, 8), 2),
                    in_specs=[pl.BlockSpec((8, 128), lambda i, j: (i, j))],
                    out_specs=pl.BlockSpec((8, 128), lambda i, j: (i, j)),
                    out_shape=like(32, 256, dtype=jnp.int32), input_output_aliases={0: 0})(x)

    check(fn, np.int32(17), integers(32, 256))


def test_an_aliased_output_keeps_blocks_that_are_not_visited():
    def fn(x):
        return call(double, grid=(2,), in_specs=[pl.BlockSpec((8, 128), lambda i: (2 * i, 0))],
                    out_specs=pl.BlockSpec((8, 128), lambda i: (2 * i, 0)),
                    out_shape=like(32, 128, dtype=jnp.int32), input_output_aliases={0: 0})(x)

    check(fn, integers(32, 128))


def test_an_alias_counts_prefetched_scalars():
    def kernel(which_ref, x_ref, y_ref, o_ref):
        o_ref[...] = x_ref[...] + y_ref[...]

    def fn(which, x, y):
        grid = pltpu.PrefetchScalarGridSpec(
            num_scalar_prefetch=1, grid=(1,),
            in_specs=[pl.BlockSpec((8, 128), lambda i, which: (0, 0)),
                      pl.BlockSpec((8, 128), lambda i, which: (which[0], 0))],
            out_specs=pl.BlockSpec((8, 128), lambda i, which: (which[0], 0)))
        return call(kernel, grid_spec=grid, out_shape=like(32, 128, dtype=jnp.int32),
                    input_output_aliases={2: 0})(which, x, y)

    check(fn, np.array([3], np.int32), integers(8, 128), integers(32, 128, seed=1))


def test_a_block_in_smem():
    def kernel(scale_ref, x_ref, o_ref):
        o_ref[...] = x_ref[...] * scale_ref[0, pl.program_id(0)]

    def fn(scale, x):
        return call(kernel, grid=(3,), in_specs=[pl.BlockSpec(memory_space=pltpu.SMEM), rows(8)],
                    out_specs=rows(8), out_shape=like(24, 128, dtype=jnp.int32))(scale, x)

    check(fn, integers(1, 3), integers(24, 128))


def test_vmap_adds_an_axis_in_front():
    def kernel(x_ref, o_ref):
        o_ref[...] = x_ref[...] + pl.program_id(0) * 1000

    def fn(x):
        def one(part):
            return call(kernel, grid=(2,), in_specs=[rows(8)], out_specs=rows(8),
                        out_shape=like(16, 128, dtype=jnp.int32))(part)

        return jax.vmap(one)(x)

    check(fn, integers(3, 16, 128))


def test_a_constant_of_the_function_travels_in_the_file():
    table = integers(16, 128, seed=5)

    def fn(x):
        return call(add, grid=(2,), in_specs=[rows(8)] * 2, out_specs=rows(8),
                    out_shape=like(16, 128, dtype=jnp.int32))(x, jnp.asarray(table))

    check(fn, integers(16, 128))


def test_constants_that_the_function_computes():
    def fn(x):
        ramp = jnp.arange(16 * 128, dtype=jnp.int32).reshape(16, 128) * 3
        return call(add, grid=(2,), in_specs=[rows(8)] * 2, out_specs=rows(8),
                    out_shape=like(16, 128, dtype=jnp.int32))(x, ramp)

    check(fn, integers(16, 128))


def test_jit_around_and_inside_is_inlined():
    @jax.jit
    def fn(x):
        inner = jax.jit(lambda a: call(double, grid=(2,), in_specs=[rows(8)], out_specs=rows(8),
                                       out_shape=like(16, 128))(a))
        return inner(x)

    check(fn, normal(16, 128), ulps=0)


def test_five_grid_axes():
    def kernel(x_ref, o_ref):
        axes = [pl.program_id(axis) for axis in range(5)]
        o_ref[...] = x_ref[...] + sum(a * 10**n for n, a in enumerate(axes))

    def fn(x):
        spec = pl.BlockSpec((1, 1, 1, 8, 128), lambda a, b, c, d, e: (a, b, c, d, e))
        return call(kernel, grid=(2, 1, 2, 2, 2), in_specs=[spec], out_specs=spec,
                    out_shape=like(2, 1, 2, 16, 256, dtype=jnp.int32))(x)

    check(fn, integers(2, 1, 2, 16, 256))


def test_operations_around_a_kernel():
    def fn(x, y):
        scaled = (x * 3 + y.T)[:, 128:]
        doubled = call(double, grid=(4,), in_specs=[rows(8)], out_specs=rows(8),
                       out_shape=like(32, 128, dtype=jnp.int32))(scaled)
        return jnp.max(doubled - scaled, axis=1), doubled.reshape(4, 8, 128)

    check(fn, integers(32, 256), integers(256, 32, seed=1))


def test_a_loop_around_arrays_before_a_kernel():
    def fn(x):
        x = jax.lax.fori_loop(0, 3, lambda i, v: v * 2 + i, x)
        return call(double, out_shape=like(8, 128, dtype=jnp.int32))(x)

    check(fn, integers(8, 128))


def test_what_no_result_needs_is_left_out():
    def fn(x):
        jnp.sort(x)  # could not be captured
        return call(double, out_shape=like(8, 128))(x)

    check(fn, normal(8, 128), ulps=0)


def test_one_kernel_takes_what_another_yields():
    def fn(x, y):
        once = call(add, grid=(2,), in_specs=[rows(16)] * 2, out_specs=rows(16),
                    out_shape=like(32, 128, dtype=jnp.int32))(x, y)
        return call(add, grid=(4,), in_specs=[rows(8)] * 2, out_specs=rows(8),
                    out_shape=like(32, 128, dtype=jnp.int32))(once, x)

    check(fn, integers(32, 128), integers(32, 128, seed=1))


def test_a_kernel_chooses_its_blocks_by_the_chip():
    def fn(x):
        kind, backend = jax.devices()[0].device_kind, jax.default_backend()
        rows = {"TPU v5 lite": 8, "TPU v6 lite": 16}[kind] if backend == "tpu" else 32
        block = pl.BlockSpec((rows, 128), lambda i: (i, 0))
        return call(copy_kernel, grid=(32 // rows,), in_specs=[block], out_specs=block,
                    out_shape=like(32, 128))(x)

    def copy_kernel(x_ref, o_ref):
        o_ref[...] = x_ref[...]

    before = jax.devices, jax.default_backend
    for chip, steps in (("tpu_v5e", 4), ("tpu_v6e", 2)):
        kernel = pallascope.capture(fn, like(32, 128), chip=chip)
        assert pipeline_of(kernel)["params"]["grid"] == [steps]
    assert (jax.devices, jax.default_backend) == before
