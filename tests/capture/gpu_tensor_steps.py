"""A matmul for a Blackwell GPU in seven steps, each of which adds one improvement to the one
before, as JAX's guide to such matmuls describes them."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
from gpu_case import case, ramp
from jax import lax
from jax.experimental import pallas as pl
from jax.experimental.pallas import mosaic_gpu as plgpu

STEPS = ("basic", "specialized_warps", "tiled_epilogue", "pair_of_blocks", "persistent",
         "epilogue_warpgroup", "tiled_grid")


@dataclasses.dataclass(frozen=True)
class Config:
    """`tile_n` is what one block has of the right operand; a pair has twice as many rows and
    columns together."""

    step: int
    tile_m: int = 128
    tile_n: int = 128
    tile_k: int = 64
    slots: int = 2
    epilogue_n: int = 64
    width: int = 4  # of the grid's stripes, in the last step
    multiprocessors: int = 148

    @property
    def blocks(self):
        return 2 if self.step >= 3 else 1

    @property
    def rows(self):
        return self.tile_m * self.blocks

    @property
    def columns(self):
        return self.tile_n * self.blocks


def _transforms(columns, dtype):
    swizzle = plgpu.find_swizzle(columns * jnp.dtype(dtype).itemsize * 8)
    return (plgpu.TilingTransform((8, swizzle // jnp.dtype(dtype).itemsize)),
            plgpu.SwizzleTransform(swizzle))


def _smem(rows, columns, dtype, slots=None):
    shape = (rows, columns) if slots is None else (slots, rows, columns)
    return plgpu.SMEM(shape, dtype, transforms=_transforms(columns, dtype))


def matmul(a, b, config):
    """Returns a[m,k] @ b[k,n] in the dtype of a, by the kernel of config.step."""
    if config.step == 0:
        return _basic(a, b, config)
    return (_one_tile if config.step < 4 else _persistent)(a, b, config)


def _basic(a, b, config):
    (m, k), n, dtype = a.shape, b.shape[1], a.dtype
    tile_m, tile_n, tile_k = config.tile_m, config.tile_n, config.tile_k
    steps = k // tile_k

    @plgpu.kernel(out_type=jax.ShapeDtypeStruct((m, n), dtype),
                  grid=(m // tile_m, n // tile_n), grid_names=("m", "n"), scratch_types=dict(
        acc=plgpu.TMEM((tile_m, tile_n), jnp.float32), out=_smem(tile_m, tile_n, dtype),
        done=plgpu.Barrier(num_barriers=2, orders_tensor_core=True)))
    def kernel(a_gmem, b_gmem, o_gmem, acc, out, done):
        row, column = lax.axis_index("m"), lax.axis_index("n")
        plgpu.barrier_arrive(done.at[1])  # before the first product there is none to wait for

        def multiply(indices, a_smem, b_smem):
            (i,) = indices
            plgpu.tcgen05_mma(acc, a_smem, b_smem, done.at[lax.rem(i, 2)], accumulate=i > 0)
            plgpu.barrier_wait(done.at[1 - lax.rem(i, 2)])

        plgpu.emit_pipeline(
            multiply, grid=(steps,), max_concurrent_steps=config.slots, in_specs=[
                plgpu.BlockSpec((tile_m, tile_k), lambda i: (row, i), delay_release=1,
                                transforms=_transforms(tile_k, dtype)),
                plgpu.BlockSpec((tile_k, tile_n), lambda i: (i, column), delay_release=1,
                                transforms=_transforms(tile_n, dtype))])(a_gmem, b_gmem)
        plgpu.barrier_wait(done.at[(steps - 1) % 2])
        out[...] = plgpu.async_load_tmem(acc).astype(dtype)
        plgpu.commit_smem()
        plgpu.copy_smem_to_gmem(out, o_gmem.at[pl.ds(row * tile_m, tile_m),
                                               pl.ds(column * tile_n, tile_n)])
        plgpu.wait_smem_to_gmem(0)

    return kernel(a, b)


class _Work:
    """What the warps of a block do for one tile of the output: one brings tiles of the operands,
    another one asks for the products."""

    def __init__(self, config, steps, refs):
        self.config, self.steps = config, steps
        self.a_gmem, self.b_gmem, self.a_smem, self.b_smem = refs[:4]
        self.loaded, self.free = refs[4:]
        self.axis = "pair" if config.blocks == 2 else None

    def bring(self, row, column, is_later):
        """`is_later`: whether slots have been filled before this tile."""
        config = self.config
        rows = pl.ds(row * config.rows, config.rows)
        columns = pl.ds(column * config.columns, config.columns)

        def leader(axis):
            return plgpu.CopyPartition.PARTITIONED(axis) if self.axis else None

        def step(i, _):
            slot, along = lax.rem(i, config.slots), pl.ds(i * config.tile_k, config.tile_k)

            @pl.when(jnp.logical_or(i >= config.slots, is_later))
            def _():
                plgpu.barrier_wait(self.free.at[slot])

            plgpu.copy_gmem_to_smem(
                self.a_gmem.at[rows, along], self.a_smem.at[slot], self.loaded.at[slot],
                collective_axes=self.axis, leader_tracked=leader(0))
            plgpu.copy_gmem_to_smem(
                self.b_gmem.at[along, columns], self.b_smem.at[slot], self.loaded.at[slot],
                collective_axes=self.axis, leader_tracked=leader(1))

        lax.fori_loop(0, self.steps, step, None)

    def multiply(self, acc, done):
        def step(i, _):
            slot = lax.rem(i, self.config.slots)
            plgpu.barrier_wait(self.loaded.at[slot])
            plgpu.tcgen05_mma(acc, self.a_smem.at[slot], self.b_smem.at[slot],
                              self.free.at[slot], accumulate=i > 0, collective_axis=self.axis)

        lax.fori_loop(0, self.steps, step, None)
        plgpu.tcgen05_commit_arrive(done, collective_axis=self.axis)


def _store(config, acc, out, target, dtype):
    """Stores a tile of the output part by part, by way of two slots in SMEM."""
    part = config.epilogue_n if config.step >= 2 else config.columns
    for i in range(config.columns // part):
        slot = out.at[i % 2] if config.step >= 2 else out
        columns = pl.ds(i * part, part)
        if config.step >= 2:
            plgpu.wait_smem_to_gmem(1, wait_read_only=True)
        slot[...] = plgpu.async_load_tmem(acc.at[:, columns]).astype(dtype)
        plgpu.commit_smem()
        plgpu.copy_smem_to_gmem(slot, target.at[:, columns])


def _scratch(config, dtype, sums=1):
    slots = config.slots
    out = (_smem(config.tile_m, config.epilogue_n, dtype, 2) if config.step >= 2
           else _smem(config.tile_m, config.columns, dtype))
    return dict(
        a_smem=_smem(config.tile_m, config.tile_k, dtype, slots),
        b_smem=_smem(config.tile_k, config.tile_n, dtype, slots),
        loaded=plgpu.Barrier(num_arrivals=2, num_barriers=slots),
        free=plgpu.Barrier(num_barriers=slots, orders_tensor_core=True),
        done=plgpu.Barrier(num_barriers=sums, orders_tensor_core=True),
        acc=plgpu.TMEM((config.tile_m, config.columns * sums), jnp.float32,
                       collective=config.blocks == 2),
        out=out)


def _cluster(config):
    return dict(cluster=(2,), cluster_names=("pair",)) if config.blocks == 2 else {}


def _block(config):
    return lax.axis_index("pair") if config.blocks == 2 else jnp.int32(0)


def _one_tile(a, b, config):
    (m, k), n, dtype = a.shape, b.shape[1], a.dtype

    @plgpu.kernel(out_type=jax.ShapeDtypeStruct((m, n), dtype),
                  grid=(m // config.rows, n // config.columns), grid_names=("m", "n"),
                  scratch_types=_scratch(config, dtype), **_cluster(config))
    def kernel(a_gmem, b_gmem, o_gmem, a_smem, b_smem, loaded, free, done, acc, out):
        row, column, block = lax.axis_index("m"), lax.axis_index("n"), _block(config)
        work = _Work(config, k // config.tile_k, (a_gmem, b_gmem, a_smem, b_smem, loaded, free))

        @plgpu.warp_map
        def _(warp):
            @pl.when(warp == 0)
            def _():
                work.bring(row, column, False)

            @pl.when(jnp.logical_and(warp == 1, block == 0))
            def _():
                work.multiply(acc, done.at[0])

        plgpu.barrier_wait(done.at[0])
        _store(config, acc, out, o_gmem.at[
            pl.ds((row * config.blocks + block) * config.tile_m, config.tile_m),
            pl.ds(column * config.columns, config.columns)], dtype)
        plgpu.wait_smem_to_gmem(0)

    return kernel(a, b)


def _persistent(a, b, config):
    """Each pair of blocks works on one tile after the other. From step 5 on a second warpgroup
    stores a tile while the products of the next one run."""
    (m, k), n, dtype = a.shape, b.shape[1], a.dtype
    tiles = m // config.rows, n // config.columns
    overlaps = config.step >= 5
    sums = 2 if overlaps else 1
    stored = plgpu.ClusterBarrier(collective_axes=("pair",), num_barriers=sums,
                                  orders_tensor_core=True)

    @plgpu.kernel(out_type=jax.ShapeDtypeStruct((m, n), dtype),
                  grid=(config.multiprocessors // 2,), grid_names=("sm",), num_threads=1 + overlaps,
                  thread_name="wg", scratch_types=dict(**_scratch(config, dtype, sums),
                                                       stored=stored), **_cluster(config))
    def kernel(a_gmem, b_gmem, o_gmem, a_smem, b_smem, loaded, free, done, acc, out, stored):
        block, wg = _block(config), lax.axis_index("wg")
        work = _Work(config, k // config.tile_k, (a_gmem, b_gmem, a_smem, b_smem, loaded, free))

        @plgpu.nd_loop((tiles[0] * tiles[1],), collective_axes="sm")
        def _(loop):
            (number,) = loop.index
            if config.step >= 6:
                row, column = plgpu.planar_snake(number, tiles, 1, config.width)
            else:
                row, column = number // tiles[1], lax.rem(number, tiles[1])
            turn = loop.local_index
            which = lax.rem(turn, jnp.int32(sums))
            here = acc.at[:, pl.ds(which * config.columns, config.columns)]

            @pl.when(wg == 0)
            def _():
                @plgpu.warp_map
                def _(warp):
                    @pl.when(warp == 0)
                    def _():
                        work.bring(row, column, turn > 0)

                    @pl.when(jnp.logical_and(warp == 1, turn >= sums))
                    def _():
                        plgpu.barrier_wait(stored.at[which])

                    @pl.when(jnp.logical_and(warp == 1, block == 0))
                    def _():
                        work.multiply(here, done.at[which])

            @pl.when(wg == (1 if overlaps else 0))
            def _():
                plgpu.barrier_wait(done.at[which])
                _store(config, here, out, o_gmem.at[
                    pl.ds((row * config.blocks + block) * config.tile_m, config.tile_m),
                    pl.ds(column * config.columns, config.columns)], dtype)
                plgpu.wait_load_tmem()
                plgpu.barrier_arrive(stored.at[which])

        plgpu.wait_smem_to_gmem(0)

    return kernel(a, b)


_A = (ramp(512, 256) % 4).astype(np.float16)
_B = (ramp(256, 512) % 3).astype(np.float16)


def _case(step):
    config = Config(step, multiprocessors=4)

    def product(a, b):
        return matmul(a, b, config)

    product.__name__ = f"step_{step}_{STEPS[step]}"
    product.__module__ = __name__
    case(_A, _B, has="tcgen05_mma", is_interpreted=False,
         wanted=lambda a, b: (a.astype(np.float32) @ b.astype(np.float32)).astype(np.float16))(
             product)


for _step in range(len(STEPS)):
    _case(_step)
