"""Manual DMAs and semaphores, views of refs, and several cores."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from support import (call, check, integers, like, normal, on_mesh, pallascope, pl, pltpu, run,
                     tensor_cores, whole)

INT = jnp.int32
ANY = pl.BlockSpec(memory_space=pl.ANY)
TPU = pltpu.InterpretParams()
DMA = pltpu.SemaphoreType.DMA


def on_hbm(kernel, *args, out=(32, 128), dtype=INT, oracle=TPU, wanted=None, **params):
    """A kernel without a grid whose arrays all stay in HBM."""
    def fn(*arrays):
        return call(kernel, in_specs=[ANY] * len(arrays), out_specs=ANY,
                    out_shape=like(*out, dtype=dtype), **params)(*arrays)

    return check(fn, *args, ulps=0, oracle=oracle, wanted=wanted)


def test_a_copy_in_and_a_copy_out():
    def kernel(x_ref, o_ref, tile_ref, sem_ref):
        pltpu.async_copy(x_ref, tile_ref, sem_ref).wait()
        tile_ref[...] = tile_ref[...] * 2
        pltpu.async_copy(tile_ref, o_ref, sem_ref).wait()

    on_hbm(kernel, integers(32, 128), scratch_shapes=[pltpu.VMEM((32, 128), INT), DMA])


def test_a_synchronous_copy():
    def kernel(x_ref, o_ref, tile_ref):
        pltpu.sync_copy(x_ref.at[pl.ds(8, 16)], tile_ref)
        pltpu.sync_copy(tile_ref, o_ref.at[pl.ds(0, 16)])
        pltpu.sync_copy(tile_ref, o_ref.at[pl.ds(16, 16)])

    on_hbm(kernel, integers(32, 128), scratch_shapes=[pltpu.VMEM((16, 128), INT)])


def test_two_copies_at_once_with_a_semaphore_each():
    def kernel(x_ref, y_ref, o_ref, a_ref, b_ref, sems_ref):
        first = pltpu.async_copy(x_ref, a_ref, sems_ref.at[0])
        second = pltpu.async_copy(y_ref, b_ref, sems_ref.at[1])
        first.wait()
        second.wait()
        a_ref[...] += b_ref[...]
        pltpu.sync_copy(a_ref, o_ref)

    tile = pltpu.VMEM((32, 128), INT)
    on_hbm(kernel, integers(32, 128), integers(32, 128, seed=1),
           scratch_shapes=[tile, tile, DMA((2,))])


def test_one_wait_for_more_bytes_than_its_ref_has():
    """Waits count bytes, so one wait may stand for those of several copies."""
    def kernel(rows_ref, x_ref, o_ref, tiles_ref, sem_ref):
        for part in range(4):
            pltpu.make_async_copy(x_ref.at[pl.ds(part * 8, 8)], tiles_ref.at[part],
                                  sem_ref).start()
        every = tiles_ref.at[0, pl.ds(0, rows_ref[0])]
        pltpu.make_async_copy(every, every, sem_ref).wait()
        pltpu.sync_copy(tiles_ref, o_ref)

    x = integers(32, 128)
    rows = pl.BlockSpec(memory_space=pltpu.SMEM)

    def fn(rows_, x_):
        return call(kernel, in_specs=[rows, ANY], out_specs=ANY,
                    out_shape=like(4, 8, 128, dtype=INT),
                    scratch_shapes=[pltpu.VMEM((4, 8, 128), INT), DMA])(rows_, x_)

    check(fn, np.array([32], np.int32), x, wanted=x.reshape(4, 8, 128))


def through_padding(rows, columns):
    """Copies this many rows and columns of a (20, 250) to memory, doubles them, and copies them
    back."""
    def kernel(sizes_ref, x_ref, o_ref, tile_ref):
        part = tuple(pl.ds(0, sizes_ref[axis]) for axis in range(2))
        pltpu.sync_copy(x_ref.at[part], tile_ref.at[part])
        tile_ref[:20, :250] = tile_ref[:20, :250] * 2
        pltpu.sync_copy(tile_ref.at[part], o_ref.at[part])

    return pallascope.capture(lambda *args: call(
        kernel, in_specs=[pl.BlockSpec(memory_space=pltpu.SMEM), ANY], out_specs=ANY,
        out_shape=like(20, 250, dtype=INT), scratch_shapes=[pltpu.VMEM((32, 384), INT)])(*args),
        np.array([rows, columns], np.int32), integers(20, 250))


def test_copies_take_the_rest_of_a_tile_with_them():
    found = run(through_padding(24, 256))[0]
    np.testing.assert_array_equal(found, integers(20, 250) * 2)


@pytest.mark.parametrize("rows, columns", [(25, 256), (24, 257)])
def test_copies_that_reach_behind_the_last_tile_are_out_of_bounds(rows, columns):
    with pytest.raises(AssertionError, match="out_of_bounds: A slice reaches elements"):
        run(through_padding(rows, columns))


def test_what_a_copy_takes_of_the_rest_of_a_tile_is_undefined():
    def kernel(size_ref, x_ref, o_ref, tile_ref):
        tile_ref[...] = jnp.zeros_like(tile_ref)
        part = (slice(None), pl.ds(0, size_ref[0]))
        pltpu.sync_copy(x_ref.at[part], tile_ref.at[part])
        o_ref[...] = tile_ref[...]

    captured = pallascope.capture(lambda *args: call(
        kernel, in_specs=[pl.BlockSpec(memory_space=pltpu.SMEM), ANY],
        out_shape=like(8, 384, dtype=INT), scratch_shapes=[pltpu.VMEM((8, 384), INT)])(*args),
        np.array([256], np.int32), integers(8, 250))
    with pytest.raises(AssertionError, match="48 of 3072 elements"):
        run(captured)


def test_a_copy_of_no_rows_behind_the_end():
    def kernel(n_ref, x_ref, o_ref, sem_ref):
        pltpu.sync_copy(x_ref, o_ref)
        none = pltpu.make_async_copy(x_ref.at[pl.ds(n_ref[0], n_ref[1])],
                                     o_ref.at[pl.ds(n_ref[0], n_ref[1])], sem_ref)
        none.start()
        none.wait()

    x = integers(32, 128)

    def fn(n_, x_):
        return call(kernel, in_specs=[pl.BlockSpec(memory_space=pltpu.SMEM), ANY], out_specs=ANY,
                    out_shape=like(32, 128, dtype=INT), scratch_shapes=[DMA])(n_, x_)

    check(fn, np.array([64, 0], np.int32), x, wanted=x)


def test_double_buffering_by_hand():
    def kernel(x_ref, o_ref, tiles_ref, in_sems, out_sems):
        def copy_in(i):
            slot = jax.lax.rem(i, 2)
            return pltpu.make_async_copy(x_ref.at[pl.ds(i * 8, 8)], tiles_ref.at[slot],
                                         in_sems.at[slot])

        copy_in(0).start()

        def body(i, carry):
            @pl.when(i < 3)
            def _():
                copy_in(i + 1).start()

            slot = jax.lax.rem(i, 2)
            copy_in(i).wait()
            tiles_ref[slot] = tiles_ref[slot] * (i + 1)
            out = pltpu.make_async_copy(tiles_ref.at[slot], o_ref.at[pl.ds(i * 8, 8)],
                                        out_sems.at[slot])
            out.start()
            out.wait()
            return carry

        jax.lax.fori_loop(0, 4, body, 0)

    on_hbm(kernel, integers(32, 128),
           scratch_shapes=[pltpu.VMEM((2, 8, 128), INT), DMA((2,)), DMA((2,))])


@pytest.mark.parametrize("rows", [8, 16, 32])
def test_a_copy_of_a_size_known_at_run_time(rows):
    def kernel(rows_ref, x_ref, o_ref, tile_ref, sem_ref):
        count = pl.multiple_of(rows_ref[0], 8)
        pltpu.sync_copy(x_ref, tile_ref)
        copy = pltpu.make_async_copy(x_ref.at[pl.ds(0, count)], o_ref.at[pl.ds(0, count)], sem_ref)
        copy.start()
        copy.wait()

    def fn(rows, x):
        return call(kernel, in_specs=[pl.BlockSpec(memory_space=pltpu.SMEM), ANY], out_specs=ANY,
                    out_shape=like(32, 128, dtype=INT), input_output_aliases={1: 0},
                    scratch_shapes=[pltpu.VMEM((32, 128), INT), DMA])(rows, x)

    check(fn, np.array([rows], np.int32), integers(32, 128), oracle=TPU)


def test_a_copy_inside_hbm():
    def kernel(x_ref, o_ref):
        pltpu.sync_copy(x_ref.at[pl.ds(16, 16)], o_ref.at[pl.ds(0, 16)])
        pltpu.sync_copy(x_ref.at[pl.ds(0, 16)], o_ref.at[pl.ds(16, 16)])

    on_hbm(kernel, integers(32, 128))


def test_gathered_pages():
    def kernel(pages_ref, x_ref, o_ref, tile_ref, sem_ref):
        copies = [pltpu.make_async_copy(x_ref.at[pages_ref[pl.program_id(0), n]], tile_ref.at[n],
                                        sem_ref) for n in range(2)]
        for copy in copies:
            copy.start()
        for copy in copies:
            copy.wait()
        o_ref[0] = tile_ref[0] + tile_ref[1] * 1000

    def fn(pages, x):
        grid = pltpu.PrefetchScalarGridSpec(
            num_scalar_prefetch=1, grid=(3,), in_specs=[ANY],
            out_specs=pl.BlockSpec((1, 8, 128), lambda i, pages: (i, 0, 0)),
            scratch_shapes=[pltpu.VMEM((2, 8, 128), INT), DMA])
        return call(kernel, grid_spec=grid, out_shape=like(3, 8, 128, dtype=INT))(pages, x)

    check(fn, np.array([[0, 3], [2, 2], [4, 1]], np.int32), integers(5, 8, 128), oracle=TPU)


def test_a_ref_in_another_shape():
    def kernel(x_ref, o_ref):
        o_ref.reshape(4, 8, 128)[1] = x_ref.reshape(2, 16, 128)[1, 8:16, :]
        o_ref[0:8] = x_ref[24:32]
        o_ref[16:32] = x_ref[0:16]

    def fn(x):
        return call(kernel, out_shape=like(32, 128, dtype=INT))(x)

    x = integers(32, 128)
    check(fn, x, wanted=np.concatenate([x[24:32], x[24:32], x[0:16]]))


def test_the_bits_of_a_ref_as_another_dtype():
    def kernel(x_ref, o_ref):
        o_ref[...] = x_ref.bitcast(jnp.uint32)[...]

    x = integers(16, 128, least=0, most=2**15, dtype=np.uint16)
    packed = x[0::2].astype(np.uint32) | x[1::2].astype(np.uint32) << 16

    def fn(x):
        return call(kernel, out_shape=like(8, 128, dtype=jnp.uint32))(x)

    check(fn, x, wanted=packed)


def test_a_load_and_a_store_with_a_mask():
    def kernel(x_ref, o_ref):
        lane = jax.lax.broadcasted_iota(INT, (8, 128), 1)
        o_ref[...] = x_ref[0:8]
        pltpu.store(o_ref.at[pl.ds(0, 8)], x_ref[8:16], mask=lane < 50)

    def fn(x):
        return call(kernel, out_shape=like(8, 128, dtype=INT))(x)

    check(fn, integers(16, 128))


def test_a_pipeline_over_a_part_of_an_array():
    def body(x_ref, o_ref):
        o_ref[...] = x_ref[...] + 1

    rows = pl.BlockSpec((8, 128), lambda i: (i, 0))

    def kernel(x_ref, o_ref):
        for part in range(2):
            pltpu.emit_pipeline(body, grid=(2,), in_specs=[rows], out_specs=rows)(
                x_ref.at[1 - part], o_ref.at[pl.ds(16 * part, 16)])

    on_hbm(kernel, integers(2, 16, 128))


def _words(x):
    halves = np.asarray(x).view(np.uint16).astype(np.uint32)
    return halves[0::2] | halves[1::2] << 16


@pytest.mark.parametrize("packs", [True, False])
# With 10, the last block reaches past the end of the array.
@pytest.mark.parametrize("rows", [16, 10])
def test_a_pipeline_over_the_bits_of_arrays(packs, rows):
    def body(x_ref, o_ref):
        o_ref[...] = x_ref[...] ^ 1

    block = pl.BlockSpec((8 if packs else 16, 128), lambda i: (i, 0))

    def kernel(x_ref, o_ref):
        bits = x_ref.bitcast(jnp.uint32 if packs else jnp.uint16)
        pltpu.emit_pipeline(body, grid=(2,), in_specs=[block], out_specs=block)(
            bits, o_ref)

    x = normal(2 * rows, 128, dtype=jnp.bfloat16)
    given, wanted = (x, _words(x) ^ 1) if packs else (
        _words(x), np.asarray(x).view(np.uint16) ^ 1)

    def fn(x):
        return call(kernel, in_specs=[pl.BlockSpec(memory_space=pl.ANY)],
                    out_specs=pl.BlockSpec(memory_space=pl.ANY),
                    out_shape=like(*wanted.shape, dtype=wanted.dtype))(x)

    check(fn, given, wanted=wanted)


def test_a_pipeline_that_stores_bits():
    def body(x_ref, o_ref):
        o_ref[...] = x_ref[...]

    block = pl.BlockSpec((4, 128), lambda i: (i, 0))

    def kernel(x_ref, o_ref):
        pltpu.emit_pipeline(body, grid=(2,), in_specs=[block], out_specs=block)(
            x_ref, o_ref.bitcast(jnp.uint32))

    x = normal(16, 128, dtype=jnp.bfloat16)

    def fn(x):
        return call(kernel, in_specs=[pl.BlockSpec(memory_space=pl.ANY)],
                    out_specs=pl.BlockSpec(memory_space=pl.ANY),
                    out_shape=like(16, 128, dtype=jnp.bfloat16))(x)

    check(fn, _words(x), wanted=x)


def test_a_pipeline_in_a_kernel_with_blocks():
    def body(x_ref, o_ref):
        o_ref[...] = x_ref[...] + pl.program_id(0)

    rows = pl.BlockSpec((8, 128), lambda i: (i, 0))

    def kernel(scale_ref, x_ref, o_ref):
        outer = pl.program_id(0)

        def inner(x_ref, o_ref):
            o_ref[...] = x_ref[...] * scale_ref[0, 0] + pl.program_id(0) + 10 * outer

        pltpu.emit_pipeline(inner, grid=(2,), in_specs=[rows], out_specs=rows)(
            x_ref.at[outer], o_ref.at[outer])

    def fn(scale, x):
        return call(kernel, grid=(2,), in_specs=[pl.BlockSpec((8, 128), lambda i: (i, 0)), ANY],
                    out_specs=ANY, out_shape=like(2, 16, 128, dtype=INT))(scale, x)

    check(fn, integers(16, 128), integers(2, 16, 128, seed=1), oracle=TPU)


def test_a_pipeline_in_a_kernel_of_one_step_with_blocks():
    rows = pl.BlockSpec((8, 128), lambda i: (i, 0))

    def kernel(scale_ref, x_ref, total_ref, o_ref):
        total_ref[...] = jnp.zeros_like(total_ref)

        def body(x_ref, o_ref):
            o_ref[...] = x_ref[...] * scale_ref[...]
            total_ref[...] += x_ref[...]

        pltpu.emit_pipeline(body, grid=(4,), in_specs=[rows], out_specs=rows)(x_ref, o_ref)

    def fn(scale, x):
        return call(kernel, in_specs=[whole(scale), ANY], out_specs=[whole(scale), ANY],
                    out_shape=[like(8, 128, dtype=INT), like(32, 128, dtype=INT)])(scale, x)

    check(fn, integers(8, 128), integers(32, 128, seed=1), oracle=TPU)


def test_reshapes_around_a_kernel_move_nothing():
    def kernel(x_ref, o_ref):
        o_ref[...] = x_ref[...] * 2

    def fn(x):
        spec = pl.BlockSpec((None, 8, 128), lambda i: (i, 0, 0))
        return call(kernel, grid=(4,), in_specs=[spec], out_specs=spec,
                    out_shape=like(4, 8, 128, dtype=INT))(x.reshape(4, 8, 128)).reshape(2, 16, 128)

    check(fn, integers(32, 128))


def test_two_cores_share_the_grid_of_a_pipeline():
    rows = pl.BlockSpec((8, 128), lambda i: (i, 0))

    def body(x_ref, o_ref):
        o_ref[...] = x_ref[...] * 3

    def fn(x):
        @on_mesh(tensor_cores(2), like(64, 128, dtype=INT))
        def kernel(x_ref, o_ref):
            pltpu.emit_pipeline(body, grid=(8,), in_specs=[rows], out_specs=rows,
                                core_axis_name="core",
                                dimension_semantics=(pltpu.PARALLEL,))(x_ref, o_ref)

        return kernel(x)

    x = integers(64, 128)
    check(fn, x, wanted=x * 3, chip="tpu_v5p")


def test_each_core_copies_its_part():
    def fn(x):
        @on_mesh(tensor_cores(2), like(32, 128, dtype=INT), [pltpu.VMEM((16, 128), INT)])
        def kernel(x_ref, o_ref, tile_ref):
            core = jax.lax.axis_index("core")
            pltpu.sync_copy(x_ref.at[pl.ds(core * 16, 16)], tile_ref)
            tile_ref[...] += core
            pltpu.sync_copy(tile_ref, o_ref.at[pl.ds(core * 16, 16)])

        return kernel(x)

    x = integers(32, 128)
    check(fn, x, wanted=x + np.repeat([0, 1], 16)[:, None].astype(np.int32), chip="tpu_v5p")


def test_tokens_of_bytes_in_an_array_of_words_are_filled_at_one_time():
    """Two rows of words hold a token of eight rows of bytes; no copy delays another one."""
    def kernel(x_ref, o_ref, semaphores):
        tokens = o_ref.bitcast(jnp.uint8).reshape(2, 8, 4, 128).reshape(8, 8, 128)
        copies = [pltpu.make_async_copy(x_ref.at[pl.ds(3 * i, 3 - i // 2)],
                                        tokens.at[pl.ds(3 * i, 3 - i // 2)], semaphores.at[i])
                  for i in range(3)]
        for copy in copies:
            copy.start()
        for copy in copies:
            copy.wait()

    def fn(x):
        return call(kernel, in_specs=[pl.BlockSpec(memory_space=pl.ANY)],
                    out_specs=pl.BlockSpec(memory_space=pl.ANY),
                    scratch_shapes=[pltpu.SemaphoreType.DMA((3,))],
                    out_shape=like(2, 8, 128, dtype=jnp.uint32))(x)

    x = integers(8, 8, 128, least=0, most=255).astype(np.uint8)
    rows = x.reshape(16, 4, 128).astype(np.uint32)
    check(fn, x, wanted=sum(rows[:, i] << 8 * i for i in range(4)).reshape(2, 8, 128))


@pytest.mark.parametrize("view", [
    lambda buffer: buffer.at[1].bitcast(jnp.uint32)[...],
    lambda buffer: buffer.bitcast(jnp.uint32).at[1][...],
    lambda buffer: buffer.bitcast(jnp.uint32).at[pl.ds(1, 1)].reshape(8, 128)[...],
    lambda buffer: buffer.bitcast(jnp.uint32).reshape(2, 4, 256)[1].reshape(8, 128),
    lambda buffer: buffer.bitcast(jnp.uint32).at[1].reshape(8, 128)[pl.ds(0, 8, 1)]])
def test_one_slot_is_read_as_words_while_the_other_is_filled(view):
    def kernel(x_ref, o_ref, buffer, semaphores):
        copies = [pltpu.make_async_copy(x_ref.at[slot], buffer.at[1 - slot], semaphores.at[slot])
                  for slot in range(2)]
        for copy in copies:
            copy.start()
        copies[0].wait()
        o_ref[...] = view(buffer)
        copies[1].wait()

    def fn(x):
        return call(kernel, in_specs=[pl.BlockSpec(memory_space=pl.ANY)],
                    scratch_shapes=[pltpu.VMEM((2, 16, 128), jnp.bfloat16),
                                    pltpu.SemaphoreType.DMA((2,))],
                    out_shape=like(8, 128, dtype=jnp.uint32))(x)

    x = normal(2, 16, 128, dtype=jnp.bfloat16)
    words = np.asarray(x[0]).view(np.uint16).astype(np.uint32).reshape(8, 2, 128)
    check(fn, x, wanted=words[:, 0] | words[:, 1] << 16)
