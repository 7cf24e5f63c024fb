"""Bools of kernels, which a TPU holds as int32: JAX casts them before a kernel and after it."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from support import (call, check, fusions, integers, like, normal, on_mesh, operations, pl, pltpu,
                     report, tensor_cores, whole)

FLAGS = jnp.bool_


def flags(*shape, seed=0):
    return integers(*shape, least=0, most=2, seed=seed).astype(bool)


def select(x_ref, mask_ref, o_ref, off_ref, kept_ref):
    kept_ref[...] = mask_ref[...] & (x_ref[...] > 0)
    o_ref[...] = jnp.where(kept_ref[...], x_ref[...], 0)
    off_ref[...] = ~mask_ref[...]


def selected(x, mask):
    """Passes x and the mask through a kernel with bools as operand, result and scratch."""
    block = pl.BlockSpec((16, 128), lambda i: (i, 0))
    return call(select, grid=(x.shape[0] // 16,), in_specs=[block] * 2, out_specs=[block] * 2,
                out_shape=[like(*x.shape), like(*x.shape, dtype=FLAGS)],
                scratch_shapes=[pltpu.VMEM((16, 128), FLAGS)])(x, mask)


def dtypes_in_kernels(kernel):
    """Returns the dtypes of the refs that pipelines and regions of kernels have."""
    values = kernel.document["values"]
    return {values[number]["dtype"]
            for kernel_ in operations(kernel.document["body"]) if kernel_["op"] == "kernel"
            for inner in operations(kernel_["regions"][0]) for region in inner.get("regions", [])
            for number in region.get("arguments", []) if values[number].get("space") == "vmem"}


def test_operands_results_and_scratch_are_int32_in_a_kernel():
    kernel = check(selected, normal(128, 128), flags(128, 128))
    assert dtypes_in_kernels(kernel) == {"f32", "int32"}
    moved = {entry["operand"]: entry["bytes"] for entry in report(kernel)["traffic"]
             if entry["operand"] in ("mask_ref", "off_ref")}
    assert moved == {"mask_ref": 4 * 128 * 128, "off_ref": 4 * 128 * 128}


def test_the_casts_are_part_of_what_is_around_the_kernel():
    def fn(x, a, b):
        y, off = selected(x, a < b)
        return jnp.where(off, y, -1.0)

    kernel = check(fn, normal(64, 128), integers(64, 128), integers(64, 128, seed=1))
    assert fusions(kernel) == [(2, 1), (2, 1)]


def test_kernels_share_a_cast_of_the_same_array():
    def fn(x, mask):
        y, _ = selected(x, mask)
        return selected(y + 1, mask)[0]

    # The second fusion is the addition.
    assert fusions(check(fn, normal(64, 128), flags(64, 128))) == [(1, 1), (1, 1)]


def test_in_branches_and_loops():
    def fn(x, mask, one):
        def body(_, carried):
            y, off = selected(carried[0] + 1, carried[1])
            return y, off

        y, last = jax.lax.fori_loop(0, 3, body, (x, mask))
        z = jax.lax.cond(one, lambda: selected(y, mask)[0], lambda: y)
        return selected(z, mask)[0], last

    for one in (True, False):
        check(fn, normal(64, 128), flags(64, 128), np.bool_(one))


def test_what_a_kernel_updates_is_not_shared():
    def flip(mask_ref, o_ref):
        o_ref[...] = ~mask_ref[...]

    def fn(x, mask):
        before, _ = selected(x, mask)
        flipped = call(flip, out_shape=like(64, 128, dtype=FLAGS),
                       input_output_aliases={0: 0})(mask)
        return before, flipped, selected(x, mask)[0]

    check(fn, normal(64, 128), flags(64, 128))


@pytest.mark.filterwarnings("ignore:.*is deprecated")
def test_refs_hold_what_kernels_write_to_them():
    def flip(ref, to, held_ref):
        pltpu.sync_copy(ref, held_ref)
        held_ref[...] = ~held_ref[...]
        pltpu.sync_copy(held_ref, to)

    held = pltpu.VMEM((16, 128), FLAGS)

    def fn(x, mask):
        ref = jax.new_ref(mask)
        before, _ = selected(x, mask)
        on_mesh(tensor_cores(), [], [held])(lambda ref, held_ref: flip(ref, ref, held_ref))(ref)
        copied = on_mesh(tensor_cores(), like(*mask.shape, dtype=FLAGS), [held])(flip)(ref)
        now = jax.freeze(ref)
        return before, selected(x, mask)[0], selected(x, now)[0], copied, now

    x, mask = normal(16, 128), flags(16, 128)
    check(fn, x, mask, wanted=(np.where(mask & (x > 0), x, 0), np.where(mask & (x > 0), x, 0),
                               np.where(~mask & (x > 0), x, 0), mask, ~mask))


def test_scalars_before_the_kernel_starts():
    def kernel(is_swapped_ref, x_ref, o_ref):
        o_ref[...] = jnp.where(is_swapped_ref[pl.program_id(0)], -x_ref[...], x_ref[...])

    def fn(x, is_swapped):
        grid = pltpu.PrefetchScalarGridSpec(
            num_scalar_prefetch=1, grid=(4,),
            in_specs=[pl.BlockSpec((8, 128), lambda i, at: (jnp.where(at[i], 3 - i, i), 0))],
            out_specs=pl.BlockSpec((8, 128), lambda i, _: (i, 0)))
        return call(kernel, grid_spec=grid, out_shape=like(32, 128))(is_swapped, x)

    check(fn, normal(32, 128), np.array([True, False, False, True]))
    check(lambda x: fn(x, np.array([True, False, False, True])), normal(32, 128))


def test_masked_loads_and_stores():
    def kernel(mask_ref, x_ref, o_ref):
        o_ref[...] = jnp.zeros_like(o_ref)
        found = pltpu.load(x_ref, mask=mask_ref[...]) if hasattr(pltpu, "load") else x_ref[...]
        pltpu.store(o_ref, found, mask=mask_ref[...])

    check(lambda mask, x: call(kernel, out_shape=like(16, 128, dtype=FLAGS))(mask, x),
          np.ones((16, 128), bool), flags(16, 128, seed=1))


def test_copies_by_hand():
    def kernel(mask_ref, o_ref):
        def scoped(held_ref, semaphore):
            pltpu.async_copy(mask_ref, held_ref, semaphore).wait()
            held_ref[0:8] = ~held_ref[0:8]
            pltpu.async_copy(held_ref, o_ref, semaphore).wait()

        pl.run_scoped(scoped, pltpu.VMEM((16, 128), FLAGS), pltpu.SemaphoreType.DMA(()))

    anywhere = pl.BlockSpec(memory_space=pl.ANY)
    mask = flags(16, 128)
    kernel = check(lambda mask: call(kernel, in_specs=[anywhere], out_specs=anywhere,
                                     out_shape=like(16, 128, dtype=FLAGS))(mask), mask)
    assert "bool" not in dtypes_in_kernels(kernel)


def test_scalars_in_smem():
    def kernel(flag_ref, x_ref, o_ref, held_ref):
        held_ref[0] = ~flag_ref[0]

        @pl.when(held_ref[0])
        def _():
            o_ref[...] = x_ref[...]

        @pl.when(~held_ref[0])
        def _():
            o_ref[...] = -x_ref[...]

    def fn(flag, x):
        return call(kernel, in_specs=[pl.BlockSpec(memory_space=pltpu.SMEM), whole(x)],
                    out_shape=like(16, 128), scratch_shapes=[pltpu.SMEM((1,), FLAGS)])(flag, x)

    for flag in (True, False):
        check(fn, np.array([flag]), normal(16, 128))
