#!/usr/bin/env python3
"""Predicts the published timings of JAX's all-gather matmul on several H100
(jax_mosaic_gpu_collective_matmul_h100.csv in the folder that MEASURED names), and compares.

    build/venv12/bin/python bench/validate/gpu_collective.py [--devices 2 4 8] [--set clock=boost]

The kernel is the one that ships inside JAX. Its published time is that of the best of many configurations, which
are not named; the shortest time of those below, which its own search has among others, counts here.
"""
import sys

import gpu_steps
import rows as kit

TILES = ((128, 64), (128, 128))  # tile_m, tile_n of a warpgroup; larger ones do not fit


def main():
    parser = kit.parser(__doc__)
    parser.add_argument("--devices", nargs="+", type=int, default=(2, 4, 8))
    parser.add_argument("--set", nargs="+", default=[])
    arguments = parser.parse_args()
    published = [row for row in kit.published("jax_mosaic_gpu_collective_matmul_h100.csv")
                 if int(row["devices"]) in arguments.devices]
    sys.dont_write_bytecode = True
    sys.path[:0] = [str(kit.ROOT / "kernels" / "jax")]
    print(f"{'devices':>7} {'published us':>12} {'ours us':>8} {'off':>7}  tile_m, tile_n")
    for row in published:
        times = {tiles: gpu_steps.predicted_s(arguments.program, captured(row, *tiles), arguments.set)
                 for tiles in TILES}
        best = min(times, key=times.get)
        theirs, ours = float(row["kernel_us"]), times[best] * 1e6
        print(f"{row['devices']:>7} {theirs:12.1f} {ours:8.1f} {100 * (ours / theirs - 1):+6.1f} %  {best}", flush=True)


def captured(row, tile_m, tile_n):
    import jax
    import numpy as np
    import pallascope
    from jax.experimental.pallas.ops.gpu import collective_matmul_mgpu, hopper_matmul_mgpu

    devices, m, k, n = (int(row[name]) for name in ("devices", "m_shard", "k", "n_shard"))
    spec = jax.sharding.PartitionSpec

    def multiply(a, b):
        return collective_matmul_mgpu.all_gather_lhs_matmul(
            a, b, "x", dtype=np.float16, config=hopper_matmul_mgpu.TuningConfig(
                tile_m=tile_m, tile_n=tile_n, tile_k=64, max_concurrent_steps=4, epi_tile_n=64, epi_tile_m=64,
                grid_minor_dim=hopper_matmul_mgpu.MatmulDimension.N, grid_tile_width=8,
                wg_dimension=hopper_matmul_mgpu.MatmulDimension.M))

    whole = jax.shard_map(multiply, in_specs=(spec("x"), spec(None, "x")), out_specs=spec(None, "x"), check_vma=False)
    arguments = (jax.ShapeDtypeStruct((m * devices, k), np.float16), jax.ShapeDtypeStruct((k, n * devices), np.float16))
    return pallascope.capture(whole, *arguments, chip="h100_sxm", mesh={"x": devices})


if __name__ == "__main__":
    main()
