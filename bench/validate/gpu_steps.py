#!/usr/bin/env python3
"""Predicts the published timings of JAX's guide to matmuls on Blackwell, step by step
(jax_mosaic_gpu_blackwell_matmul.csv in the folder that MEASURED names), and compares.

    build/venv12/bin/python bench/validate/gpu_steps.py [--steps 0 3 6] [--set clock=boost]

The kernels are those of tests/capture/gpu_tensor_steps.py, which do what the guide describes. It does not
say which tiles its figures are of, so each step is run with several, and the shortest time counts.
"""
import functools
import json
import pathlib
import subprocess
import sys
import tempfile

import rows as kit

SIZES = 4096, 4096, 8192  # m, k, n
# (tile_n of one block, slots): what fits into the shared memory of an SM beside the output's tile.
ONE_BLOCK = {0: ((128, 4), (256, 3)), 1: ((128, 4), (256, 3)), 2: ((128, 6), (256, 4))}
PAIR = ((128, 6),)


def predicted_s(program, kernel, settings):
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "step.pallascope"
        kernel.save(path)
        arguments = [str(program), "sweep", str(path), "--json", "--set", "detect_races=false"]
        for setting in settings:
            arguments += ["--set", setting]
        done = subprocess.run(arguments, capture_output=True, text=True, check=True)
    (report,) = json.loads(done.stdout)["rows"]
    return report["time_s"]


def main():
    parser = kit.parser(__doc__)
    parser.add_argument("--steps", nargs="+", type=int, default=range(7))
    parser.add_argument("--set", nargs="+", default=[])
    arguments = parser.parse_args()
    published = [row for row in kit.published("jax_mosaic_gpu_blackwell_matmul.csv") if row["step"][0].isdigit()]
    sys.dont_write_bytecode = True
    sys.path[:0] = [str(kit.ROOT / "kernels" / "jax"), str(kit.ROOT / "tests" / "capture")]
    import gpu_tensor_steps
    import jax
    import numpy as np
    import pallascope

    m, k, n = SIZES
    a, b = (jax.ShapeDtypeStruct(shape, np.float16) for shape in ((m, k), (k, n)))
    print(f"{'step':34} {'published us':>12} {'ours us':>8} {'off':>7}  tile_n, slots")
    for step in arguments.steps:
        times = {}
        for tile_n, slots in ONE_BLOCK.get(step, PAIR):
            config = gpu_tensor_steps.Config(step, tile_n=tile_n, slots=slots, width=8)
            kernel = pallascope.capture(functools.partial(gpu_tensor_steps.matmul, config=config), a, b, chip="b200")
            times[tile_n, slots] = predicted_s(arguments.program, kernel, arguments.set)
        best = min(times, key=times.get)
        theirs, ours = float(published[step]["us_at_2250e12"]), times[best] * 1e6
        print(f"{published[step]['step']:34} {theirs:12.1f} {ours:8.1f} {100 * (ours / theirs - 1):+6.1f} %  {best}",
              flush=True)


if __name__ == "__main__":
    main()
