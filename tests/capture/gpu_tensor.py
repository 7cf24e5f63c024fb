"""Kernels for a Blackwell GPU: products of the tensor core that add to TMEM, and TMEM itself."""

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
from gpu_case import case, like, ramp, tiled
from jax import lax
from jax.experimental import pallas as pl
from jax.experimental.pallas import mosaic_gpu as plgpu

_F16 = np.float16
_M, _N, _K = 128, 64, 64
_A = (ramp(_M, _K) % 4).astype(_F16)
_B = (ramp(_K, _N) % 3).astype(_F16)
_TILES = dict(a_smem=plgpu.SMEM((_M, _K), jnp.float16, transforms=tiled(_F16)),
              b_smem=plgpu.SMEM((_K, _N), jnp.float16, transforms=tiled(_F16)),
              loaded=plgpu.Barrier(num_arrivals=2))
_DONE = plgpu.Barrier(orders_tensor_core=True)


def _product(a, b):
    return a.astype(np.float32) @ b.astype(np.float32)


def _load(a_gmem, b_gmem, a_smem, b_smem, loaded):
    plgpu.copy_gmem_to_smem(a_gmem, a_smem, loaded)
    plgpu.copy_gmem_to_smem(b_gmem, b_smem, loaded)
    plgpu.barrier_wait(loaded)


@case(_A, _B, wanted=_product, has="tcgen05_mma tcgen05_commit_arrive get")
def a_product_in_tensor_memory(a, b):
    @plgpu.kernel(out_type=like(_M, _N), scratch_types=dict(
        **_TILES, acc=plgpu.TMEM((_M, _N), jnp.float32), done=_DONE))
    def matmul(a_gmem, b_gmem, o_gmem, a_smem, b_smem, loaded, acc, done):
        _load(a_gmem, b_gmem, a_smem, b_smem, loaded)
        plgpu.tcgen05_mma(acc, a_smem, b_smem, done, accumulate=False)
        plgpu.barrier_wait(done)
        o_gmem[...] = plgpu.async_load_tmem(acc)

    return matmul(a, b)


@case(_A, _B, wanted=lambda a, b: 3 * _product(a, b), has="tcgen05_mma scan")
def products_that_add_up(a, b):
    """The first one overwrites what TMEM holds, and one commit is for all."""
    @plgpu.kernel(out_type=like(_M, _N), scratch_types=dict(
        **_TILES, acc=plgpu.TMEM((_M, _N), jnp.float32), done=_DONE))
    def matmul(a_gmem, b_gmem, o_gmem, a_smem, b_smem, loaded, acc, done):
        _load(a_gmem, b_gmem, a_smem, b_smem, loaded)

        def step(i, _):
            plgpu.tcgen05_mma(acc, a_smem, b_smem, accumulate=i > 0)

        lax.fori_loop(0, 3, step, None)
        plgpu.tcgen05_commit_arrive(done)
        plgpu.barrier_wait(done)
        o_gmem[...] = plgpu.async_load_tmem(acc)

    return matmul(a, b)


@case(_A, _B, wanted=lambda a, b: _product(a, b) + 2, has="commit_tmem swap")
def a_sum_that_begins_with_a_store(a, b):
    @plgpu.kernel(out_type=like(_M, _N), scratch_types=dict(
        **_TILES, acc=plgpu.TMEM((_M, _N), jnp.float32), done=_DONE))
    def matmul(a_gmem, b_gmem, o_gmem, a_smem, b_smem, loaded, acc, done):
        plgpu.async_store_tmem(acc, jnp.full((_M, _N), 2, jnp.float32))
        plgpu.commit_tmem()
        _load(a_gmem, b_gmem, a_smem, b_smem, loaded)
        plgpu.tcgen05_mma(acc, a_smem, b_smem, done)
        plgpu.barrier_wait(done)
        o_gmem[...] = plgpu.async_load_tmem(acc)

    return matmul(a, b)


@case(_A, _B, wanted=lambda a, b: _product(a + _F16(1), b), has="tcgen05_mma commit_tmem")
def a_left_operand_in_tensor_memory(a, b):
    @plgpu.kernel(out_type=like(_M, _N), scratch_types=dict(
        **_TILES, acc=plgpu.TMEM((_M, _N), jnp.float32), done=_DONE,
        left=plgpu.TMEM((_M, _K), jnp.float16, packed=True)))
    def matmul(a_gmem, b_gmem, o_gmem, a_smem, b_smem, loaded, acc, done, left):
        _load(a_gmem, b_gmem, a_smem, b_smem, loaded)
        plgpu.async_store_tmem(left, a_smem[...] + 1)
        plgpu.commit_tmem()
        plgpu.tcgen05_mma(acc, left, b_smem, done, accumulate=False)
        plgpu.barrier_wait(done)
        o_gmem[...] = plgpu.async_load_tmem(acc)

    return matmul(a, b)


@case(_A, _B, wanted=lambda a, b: np.concatenate([_product(a, b), 2 * _product(a, b)]),
      has="tcgen05_mma wait_load_tmem")
def a_sum_that_is_used_again(a, b):
    """What is loaded has left TMEM when the next product overwrites it."""
    @plgpu.kernel(out_type=like(2 * _M, _N), scratch_types=dict(
        **_TILES, acc=plgpu.TMEM((_M, _N), jnp.float32), done=_DONE))
    def matmul(a_gmem, b_gmem, o_gmem, a_smem, b_smem, loaded, acc, done):
        _load(a_gmem, b_gmem, a_smem, b_smem, loaded)
        plgpu.tcgen05_mma(acc, a_smem, b_smem, done, accumulate=False)
        plgpu.barrier_wait(done)
        o_gmem[:_M] = plgpu.async_load_tmem(acc)
        plgpu.wait_load_tmem()
        plgpu.tcgen05_mma(acc, a_smem, b_smem, accumulate=False)
        plgpu.tcgen05_mma(acc, a_smem, b_smem, done)
        plgpu.barrier_wait(done)
        o_gmem[_M:] = plgpu.async_load_tmem(acc)

    return matmul(a, b)


@case(_A, _B, wanted=lambda a, b: np.concatenate([_product(a, b), -_product(a, b)], axis=1),
      has="tcgen05_mma ref_at")
def two_sums_side_by_side(a, b):
    @plgpu.kernel(out_type=like(_M, 2 * _N), scratch_types=dict(
        **_TILES, acc=plgpu.TMEM((_M, 2 * _N), jnp.float32), done=_DONE))
    def matmul(a_gmem, b_gmem, o_gmem, a_smem, b_smem, loaded, acc, done):
        _load(a_gmem, b_gmem, a_smem, b_smem, loaded)
        for i in range(2):
            plgpu.tcgen05_mma(acc.at[:, pl.ds(i * _N, _N)], a_smem, b_smem, accumulate=False)
        plgpu.tcgen05_commit_arrive(done)
        plgpu.barrier_wait(done)
        o_gmem[:, :_N] = plgpu.async_load_tmem(acc.at[:, :_N])
        o_gmem[:, _N:] = -plgpu.async_load_tmem(acc.at[:, _N:])

    return matmul(a, b)


@case((ramp(4 * _M, _K) % 4).astype(_F16), _B, wanted=_product, has="warp_map tcgen05_mma scan",
      is_interpreted=False)
def warps_that_load_and_multiply(a, b):
    """One warp brings tiles, another one multiplies, and the whole warpgroup stores."""
    slots, tiles = 2, 4
    tile = plgpu.SMEM((slots, _M, _K), jnp.float16, transforms=tiled(_F16))

    @plgpu.kernel(out_type=like(tiles * _M, _N), scratch_types=dict(
        a_smem=tile, b_smem=_TILES["b_smem"], b_loaded=plgpu.Barrier(),
        loaded=plgpu.Barrier(num_barriers=slots),
        free=plgpu.Barrier(num_barriers=slots, orders_tensor_core=True), done=_DONE,
        acc=plgpu.TMEM((_M, tiles * _N), jnp.float32)))
    def matmul(a_gmem, b_gmem, o_gmem, a_smem, b_smem, b_loaded, loaded, free, done, acc):
        @plgpu.warp_map
        def _(warp):
            @pl.when(warp == 0)
            def _():
                plgpu.copy_gmem_to_smem(b_gmem, b_smem, b_loaded)

                def bring(i, _):
                    slot = lax.rem(i, slots)

                    @pl.when(i >= slots)
                    def _():
                        plgpu.barrier_wait(free.at[slot])

                    plgpu.copy_gmem_to_smem(a_gmem.at[pl.ds(i * _M, _M)], a_smem.at[slot],
                                            loaded.at[slot])

                lax.fori_loop(0, tiles, bring, None)

            @pl.when(warp == 1)
            def _():
                plgpu.barrier_wait(b_loaded)

                def multiply(i, _):
                    slot = lax.rem(i, slots)
                    plgpu.barrier_wait(loaded.at[slot])
                    plgpu.tcgen05_mma(acc.at[:, pl.ds(i * _N, _N)], a_smem.at[slot], b_smem,
                                      free.at[slot], accumulate=False)

                lax.fori_loop(0, tiles, multiply, None)
                plgpu.tcgen05_commit_arrive(done)

        plgpu.barrier_wait(done)
        for i in range(tiles):
            o_gmem[pl.ds(i * _M, _M)] = plgpu.async_load_tmem(acc.at[:, pl.ds(i * _N, _N)])

    return matmul(a, b)


@case((ramp(2 * _M, _K) % 4).astype(_F16), (ramp(_K, 2 * _N) % 3).astype(_F16), wanted=_product,
      has="tcgen05_mma tcgen05_commit_arrive cond", is_interpreted=False)
def a_product_of_a_pair_of_blocks(a, b):
    """Each block has half of the rows of a and of the sum, and half of the columns of b."""
    pair = plgpu.CopyPartition.PARTITIONED

    @plgpu.kernel(out_type=like(2 * _M, 2 * _N), cluster=(2,), cluster_names=("pair",),
                  scratch_types=dict(
        **_TILES, acc=plgpu.TMEM((_M, 2 * _N), jnp.float32, collective=True), done=_DONE))
    def matmul(a_gmem, b_gmem, o_gmem, a_smem, b_smem, loaded, acc, done):
        block = lax.axis_index("pair")
        plgpu.copy_gmem_to_smem(a_gmem, a_smem, loaded, collective_axes="pair",
                                leader_tracked=pair(0))
        plgpu.copy_gmem_to_smem(b_gmem, b_smem, loaded, collective_axes="pair",
                                leader_tracked=pair(1))

        @pl.when(block == 0)
        def _():
            plgpu.barrier_wait(loaded)
            plgpu.tcgen05_mma(acc, a_smem, b_smem, done, accumulate=False,
                              collective_axis="pair")

        plgpu.barrier_wait(done)
        o_gmem[pl.ds(block * _M, _M)] = plgpu.async_load_tmem(acc)

    return matmul(a, b)


@case(ramp(8, 128), wanted=lambda x: x * 2, has="try_cluster_cancel while",
      is_interpreted=False)
def blocks_that_claim_further_work(x):
    @plgpu.kernel(out_type=like(8, 128), grid=(8,), grid_names=("i",))
    def double(x_gmem, o_gmem):
        @plgpu.dynamic_scheduling_loop(grid_names=("i",))
        def _(loop):
            (i,) = loop.index
            o_gmem[i] = x_gmem[i] * 2

    return double(x)


_TABLE = ((np.arange(64) * 37) % 128).astype(np.int32)


def _with_rows(x, table, finish):
    """Calls finish(o_gmem, x_gmem, smem, rows, barrier); `rows` is the table in registers."""
    @plgpu.kernel(out_type=like(128, 128), scratch_types=[
        plgpu.SMEM((64, 128), jnp.float32), plgpu.SMEM((64,), jnp.int32), plgpu.Barrier()])
    def kernel(x_gmem, table_gmem, o_gmem, smem, table_smem, barrier):
        plgpu.copy_gmem_to_smem(table_gmem, table_smem, barrier)
        plgpu.barrier_wait(barrier)
        rows = plgpu.load(table_smem, layout=plgpu.Layout.TMA_INDICES, optimized=False)
        finish(o_gmem, x_gmem, smem, rows, barrier)
        plgpu.wait_smem_to_gmem(0)

    return kernel(x, table)


@case(ramp(128, 128), _TABLE, wanted=lambda x, table: x[table], has="copy_gmem_to_smem scan",
      is_interpreted=False)
def rows_that_the_tma_gathers(x, table):
    def finish(o_gmem, x_gmem, smem, rows, barrier):
        plgpu.copy_gmem_to_smem(x_gmem.at[rows], smem, barrier)
        plgpu.barrier_wait(barrier)
        plgpu.copy_smem_to_gmem(smem, o_gmem.at[:64])

    return _with_rows(x, table, finish)[:64]


@case(ramp(64, 128), _TABLE, wanted=lambda x, table: x, has="copy_smem_to_gmem scan",
      is_interpreted=False)
def rows_that_the_tma_scatters(x, table):
    def finish(o_gmem, x_gmem, smem, rows, barrier):
        plgpu.copy_gmem_to_smem(x_gmem, smem, barrier)
        plgpu.barrier_wait(barrier)
        plgpu.copy_smem_to_gmem(smem, o_gmem.at[rows])

    return _with_rows(x, table, finish)[table]


def _silu(x):
    return x / (1 + np.exp(-x))


_E4M3 = np.dtype(ml_dtypes.float8_e4m3fn)


@case((ramp(_M, 256) % 5 - 2).astype(_E4M3), (ramp(64, 256) % 3 - 1).astype(_E4M3),
      wanted=lambda a, b: _silu(a.astype(np.float32) @ b.astype(np.float32).T), tolerance=1e-5,
      has="warp_map tcgen05_mma tcgen05_commit_arrive", is_interpreted=False)
def a_product_of_bytes_by_two_warps(a, b):
    """One warp copies, one multiplies; the right operand is transposed. The sums leave TMEM by way
    of a silu."""
    slots, step = 2, 128

    def tiles(rows):
        return plgpu.SMEM((slots, rows, step), a.dtype, transforms=tiled(a.dtype))

    @plgpu.kernel(out_type=like(_M, 64), scratch_types=dict(
        a_smem=tiles(_M), b_smem=tiles(64), acc=plgpu.TMEM((_M, 64), jnp.float32),
        full=plgpu.Barrier(num_arrivals=2, num_barriers=slots), done=_DONE))
    def matmul(a_gmem, b_gmem, o_gmem, a_smem, b_smem, acc, full, done):
        @plgpu.warp_map
        def _(warp):
            @pl.when(warp == 0)
            def _():
                for i in range(slots):
                    part = pl.ds(i * step, step)
                    plgpu.copy_gmem_to_smem(a_gmem.at[:, part], a_smem.at[i], full.at[i])
                    plgpu.copy_gmem_to_smem(b_gmem.at[:, part], b_smem.at[i], full.at[i])

            @pl.when(warp == 1)
            def _():
                @pl.loop(0, slots)
                def _(i):
                    plgpu.barrier_wait(full.at[i])
                    plgpu.tcgen05_mma(acc, a_smem.at[i], b_smem.at[i].T, accumulate=i > 0)

                plgpu.tcgen05_commit_arrive(done)

        plgpu.barrier_wait(done)
        o_gmem[...] = jax.nn.silu(plgpu.async_load_tmem(acc))

    return matmul(a, b)
