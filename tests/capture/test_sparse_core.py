"""Kernels on the subcores of a SparseCore: meshes, copies of listed rows, shared memory."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax
from jax.sharding import PartitionSpec as P
from subcores import CHIP, LANES, SUBCORES, check, plsc, run, scalar, vector
from support import integers, like, normal, pallascope, pl, pltpu

# ---- the kernels of JAX's docs ---------------------------------------------------------------


@pytest.mark.parametrize("axes", [("core", "subcore"), "subcore"])
def test_a_pipeline_that_subcores_share(axes):
    def fn(x):
        @vector(like(*x.shape, dtype=x.dtype))
        def add_one(x_hbm, o_hbm):
            def body(x_vmem, o_vmem):
                @pl.loop(0, 8)
                def _(row):
                    @pl.loop(0, 128, step=LANES)
                    def _(lane):
                        at = (pl.ds(row, 1), pl.ds(lane, LANES))
                        o_vmem.at[*at][...] = x_vmem.at[*at][...] + 1

            pltpu.emit_pipeline(
                body, grid=(x_hbm.shape[0] // 8, 1),
                in_specs=[pl.BlockSpec((8, 128), lambda i, j: (i, j))],
                out_specs=[pl.BlockSpec((8, 128), lambda i, j: (i, j))], core_axis_name=axes,
                dimension_semantics=(pltpu.PARALLEL, pltpu.PARALLEL))(x_hbm, o_hbm)

        return add_one(x)

    x = integers(512, 128)
    alone = axes == "subcore"  # otherwise every core does all of the work
    text = check(fn, x, wanted=x + 1, findings=["race"] if alone else [])
    assert ("128 steps" if alone else "64 steps") in text


def _windows(body, grid, blocks):
    """A pipeline over rows of 128 elements of what is in HBM."""
    return pltpu.emit_pipeline(
        body, grid=grid, in_specs=blocks[0], out_specs=blocks[1],
        core_axis_name=("core", "subcore"), dimension_semantics=(pltpu.PARALLEL,))


def test_a_gather_of_rows():
    def fn(x, rows):
        @vector(like(rows.shape[1], 128, dtype=x.dtype))
        def gather(x_hbm, i_hbm, o_hbm):
            def body(i_vmem, o_vmem):
                pltpu.sync_copy(x_hbm.at[i_vmem.at[0]], o_vmem)

            _windows(body, (rows.shape[1] // 32,), (
                [pl.BlockSpec((1, 32), lambda i: (0, i))],
                [pl.BlockSpec((32, 128), lambda i: (i, 0))]))(i_hbm, o_hbm)

        return gather(x, rows)

    x, rows = integers(100, 128), integers(1, 1024, least=0, most=100)
    check(fn, x, rows, wanted=x[rows[0]])


def test_a_scatter_of_rows():
    def fn(x, rows):
        @vector(like(1024, 128, dtype=x.dtype))
        def scatter(x_hbm, i_hbm, o_hbm):
            def body(x_vmem, i_vmem):
                pltpu.sync_copy(x_vmem, o_hbm.at[i_vmem.at[0]])

            _windows(body, (rows.shape[1] // 32,), (
                [pl.BlockSpec((32, 128), lambda i: (i, 0)),
                 pl.BlockSpec((1, 32), lambda i: (0, i))], []))(x_hbm, i_hbm)

        return scatter(x, rows)

    x = normal(1024, 128)
    rows = np.random.default_rng(1).permutation(1024).astype(np.int32)[None]
    wanted = np.zeros_like(x)
    wanted[rows[0]] = x
    check(fn, x, rows, wanted=wanted)


def test_rows_outside_of_their_array():
    def fn(x, rows):
        @vector(like(16, 128, dtype=x.dtype), [pltpu.VMEM((16,), jnp.int32),
                                               pltpu.VMEM((16, 128), x.dtype)],
                num_cores=1, num_subcores=1)
        def gather(x_hbm, i_hbm, o_hbm, i_vmem, o_vmem):
            pltpu.sync_copy(i_hbm, i_vmem)
            pltpu.sync_copy(x_hbm.at[i_vmem], o_vmem)
            pltpu.sync_copy(o_vmem, o_hbm)

        return gather(x, rows)

    kernel = pallascope.capture(fn, normal(8, 128), np.arange(16, dtype=np.int32), chip=CHIP)
    done = run(kernel, CHIP)
    assert "finding out_of_bounds: dma_start lists row 8 of x" in done.stdout, done.stdout


@pytest.mark.parametrize("ignored", [None, 7])
def test_rows_that_are_listed_in_registers_or_in_part_ignored(ignored):
    if ignored is not None and not hasattr(plsc, "Indices"):
        pytest.skip("this JAX has no plsc.Indices")

    def fn(x, rows):
        @vector(like(LANES, 128, dtype=x.dtype), [pltpu.VMEM((LANES,), jnp.int32),
                                                  pltpu.VMEM((LANES, 128), x.dtype)],
                num_cores=1, num_subcores=1)
        def gather(x_hbm, i_hbm, o_hbm, i_vmem, o_vmem):
            pltpu.sync_copy(i_hbm, i_vmem)

            @pl.loop(0, LANES)
            def _(row):
                @pl.loop(0, 128, step=LANES)
                def _(lane):
                    o_vmem[row, pl.ds(lane, LANES)] = jnp.zeros((LANES,), x.dtype)

            pltpu.sync_copy(x_hbm.at[i_vmem[...] if ignored is None else plsc.Indices(
                i_vmem, ignored_value=ignored)], o_vmem)
            pltpu.sync_copy(o_vmem, o_hbm)

        return gather(x, rows)

    x, rows = normal(8, 128), integers(LANES, least=0, most=8)
    check(fn, x, rows, wanted=np.where((rows == ignored)[:, None], 0, x[rows]).astype(x.dtype))


def test_rows_that_are_added():
    def fn(x, rows):
        @vector(like(8, 128, dtype=x.dtype),
                [pltpu.VMEM_SHARED((8, 128), x.dtype), pltpu.VMEM((1, LANES), jnp.int32),
                 pltpu.VMEM((LANES, 128), x.dtype), pltpu.VMEM((128,), x.dtype)], num_cores=1)
        def kernel(x_hbm, i_hbm, o_hbm, sums, i_vmem, x_vmem, row):
            me = lax.axis_index("subcore")

            @pl.when(me < 8)
            def _():
                @pl.loop(0, 128, step=LANES)
                def _(lane):
                    row[pl.ds(lane, LANES)] = jnp.zeros((LANES,), x.dtype)

                pltpu.sync_copy(row, sums.at[me])

            plsc.subcore_barrier()
            pltpu.sync_copy(i_hbm.at[pl.ds(me, 1)], i_vmem)
            pltpu.sync_copy(x_hbm.at[pl.ds(me * LANES, LANES)], x_vmem)
            pltpu.sync_copy(x_vmem, sums.at[i_vmem.at[0]], add=True)
            plsc.subcore_barrier()

            @pl.when(me < 8)
            def _():
                pltpu.sync_copy(sums.at[me], o_hbm.at[me])

        return kernel(x, rows)

    x = integers(SUBCORES * LANES, 128)
    rows = integers(SUBCORES, LANES, least=0, most=8)
    wanted = np.zeros((8, 128), np.int32)
    np.add.at(wanted, rows.reshape(-1), x)
    check(fn, x, rows, wanted=wanted)


def test_a_scalar_subcore():
    def fn(x):
        size = x.shape[1]

        @scalar(like(*x.shape, dtype=x.dtype), [pltpu.SMEM((size,), x.dtype),
                                                pltpu.SMEM((size,), x.dtype),
                                                pltpu.SemaphoreType.DMA])
        def cumsum(x_ref, o_ref, given, sums, sem):
            core = lax.axis_index("core")
            pltpu.async_copy(x_ref.at[core], given, sem).wait()

            def turn(i, total):
                total = total + given[i]
                sums[i] = total
                return total

            lax.fori_loop(0, size, turn, jnp.int32(0))
            pltpu.async_copy(sums, o_ref.at[core], sem).wait()

        return cumsum(x)

    x = integers(2, 64)
    check(fn, x, wanted=np.cumsum(x, axis=1, dtype=np.int32))


def test_memory_that_the_subcores_of_a_core_share():
    def fn(x):
        @vector(like(*x.shape, dtype=x.dtype), [pltpu.VMEM_SHARED((SUBCORES, 128), x.dtype),
                                                pltpu.VMEM((128,), x.dtype)])
        def kernel(x_ref, o_ref, shared, row):
            core, me = lax.axis_index("core"), lax.axis_index("subcore")
            pltpu.sync_copy(x_ref.at[core, me], shared.at[me])
            plsc.subcore_barrier()
            pltpu.sync_copy(shared.at[(me + 1) % SUBCORES], row)
            pltpu.sync_copy(row, o_ref.at[core, me])

        return kernel(x)

    x = normal(2, SUBCORES, 128)
    check(fn, x, wanted=np.roll(x, -1, axis=1))


def test_shared_memory_without_a_barrier():
    def fn(x):
        @vector(like(*x.shape, dtype=x.dtype), [pltpu.VMEM_SHARED((SUBCORES, 128), x.dtype),
                                                pltpu.VMEM((128,), x.dtype)], num_cores=1)
        def kernel(x_ref, o_ref, shared, row):
            me = lax.axis_index("subcore")
            pltpu.sync_copy(x_ref.at[me], shared.at[me])
            pltpu.sync_copy(shared.at[(me + 1) % SUBCORES], row)
            pltpu.sync_copy(row, o_ref.at[me])

        return kernel(x)

    kernel = pallascope.capture(fn, normal(SUBCORES, 128), chip=CHIP)
    done = run(kernel, CHIP)
    assert "finding race" in done.stdout or "finding read_before_wait" in done.stdout, done.stdout


def test_an_indirect_pipeline():
    if not hasattr(pl, "Indirect"):
        pytest.skip("this JAX has no pl.Indirect")

    def fn(x, rows):
        @vector(like(1024, 128, dtype=x.dtype), [pltpu.VMEM((1024,), jnp.int32)])
        def kernel(x_hbm, i_hbm, o_hbm, listed):
            pltpu.sync_copy(i_hbm, listed)

            def body(x_vmem, o_vmem):
                @pl.loop(0, 16)
                def _(row):
                    @pl.loop(0, 128, step=LANES)
                    def _(lane):
                        at = (pl.ds(row, 1), pl.ds(lane, LANES))
                        o_vmem.at[*at][...] = x_vmem.at[*at][...] * 2

            _windows(body, (64,), (
                [pl.BlockSpec((pl.Indirect(16), 128), lambda i: (listed[pl.ds(i * 16, 16)], 0))],
                [pl.BlockSpec((16, 128), lambda i: (i, 0))]))(x_hbm, o_hbm)

        return kernel(x, rows)

    x, rows = integers(100, 128), integers(1024, least=0, most=100)
    check(fn, x, rows, wanted=x[rows] * 2)


# ---- what is refused -----------------------------------------------------------------------------


def test_fetch_and_add_is_named():
    if not hasattr(plsc, "fetch_and_add"):
        pytest.skip("this JAX has no plsc.fetch_and_add")

    def fn(x):
        @vector(like(LANES, dtype=np.int32), [pltpu.SMEM((1,), jnp.int32)], num_cores=1)
        def kernel(x_ref, o_ref, count):
            plsc.fetch_and_add(count.at[0], 1, subcore_id=0)

        return kernel(x)

    with pytest.raises(pallascope.UnsupportedError, match="fetch_and_add"):
        pallascope.capture(fn, like(LANES, dtype=np.int32), chip=CHIP)


def test_a_chip_without_a_sparse_core():
    def fn(x):
        @vector(like(LANES, dtype=np.int32), num_cores=1)
        def kernel(x_ref, o_ref):
            pltpu.sync_copy(x_ref, o_ref)

        return kernel(x)

    kernel = pallascope.capture(fn, np.zeros(LANES, np.int32), chip=CHIP)
    done = run(kernel, "tpu_v5e")
    assert done.returncode == 2
    assert "vector subcore, which the chip TPU v5e does not have" in done.stderr, done.stderr


def test_kernels_on_several_devices():
    def fn(x):
        @vector(like(SUBCORES, 128), [pltpu.VMEM_SHARED((SUBCORES, 128), x.dtype)], num_cores=1)
        def kernel(x_ref, o_ref, shared):
            me = lax.axis_index("subcore")
            pltpu.sync_copy(x_ref.at[me], shared.at[me])
            plsc.subcore_barrier()
            pltpu.sync_copy(shared.at[(me + 1) % SUBCORES], o_ref.at[me])

        return jax.shard_map(kernel, in_specs=P("x"), out_specs=P("x"), check_vma=False)(x)

    x = normal(2, SUBCORES, 128)
    check(fn, x.reshape(-1, 128), mesh={"x": 2}, wanted=np.roll(x, -1, axis=1).reshape(-1, 128))
