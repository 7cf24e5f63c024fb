#!/usr/bin/env python3
"""Kernels captured from JAX: the machine's `wall_s` beside JAX's two interpreters.

    against_jax.py PALLASCOPE [--venv VENV] [--rounds N] [--only WORD]

All sides take turns, and of each it is second calls in one process that count: JAX compiled before,
the machine with `--repeat`. What its first run in a process takes stands beside. Each kernel in a
process of its own. Without JAX it says so and ends.
"""

from __future__ import annotations

import argparse
import dataclasses
import functools
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from typing import Any

_ROOT = pathlib.Path(__file__).parents[1]
_PROCESSES, _RUNS = 3, 6  # of the machine in each round; many, because a run is short compared with the noise
_TIMING_ONLY = 1000  # how many times faster than the TPU interpreter every kernel must be
_SLOWER = 2.0  # how many times slower than interpret=True it may be

# For each kernel: how many times faster than JAX's TPU interpreter it must be, with all values computed and checked.
_WANTED = {"vector add": 150, "paged attention": 200, "all-gather": 500, "gmm": 60,
           "paged attention, 16 sequences": 200, "gmm, 2048 rows": 60, "matmul 1024": 50,
           "matmul 2048": 50, "flash attention": 40, "splash attention": 40}


@dataclasses.dataclass(frozen=True)
class Subject:
    """What is timed. `make(mesh_of)`: the function on a mesh of that maker, if it needs one."""

    make: Callable[[Callable[[dict[str, int]], Any]], Callable[..., Any]]
    args: tuple[Any, ...]


def subject(name: str) -> Subject:
    import device_kernels
    import jax
    import numpy as np
    import shipped
    from jax.experimental import pallas as pl
    from jax.experimental.pallas import tpu as pltpu
    from support import matmul_body, normal

    def alone(fn: Callable[..., Any], *args: Any) -> Subject:
        return Subject(lambda _: fn, args)

    def of_jax(case: str) -> Subject:
        (found,) = (one for one in shipped.CASES if one.name == case)
        return alone(found.fn, *found.args)

    def add(x: Any, y: Any) -> Any:
        def body(x_ref: Any, y_ref: Any, o_ref: Any) -> None:
            o_ref[...] = x_ref[...] + y_ref[...]

        rows = pl.BlockSpec((128, 128), lambda i: (i, 0))
        return pl.pallas_call(body, grid=(x.shape[0] // 128,), in_specs=[rows, rows],
                              out_specs=rows, out_shape=x)(x, y)

    def matmul(x: Any, y: Any) -> Any:
        steps = x.shape[0] // 128
        block = functools.partial(pl.BlockSpec, (128, 128))
        return pl.pallas_call(
            matmul_body, grid=(steps, steps, steps),
            in_specs=[block(lambda i, j, k: (i, k)), block(lambda i, j, k: (k, j))],
            out_specs=block(lambda i, j, k: (i, j)),
            scratch_shapes=[pltpu.VMEM((128, 128), np.float32)], out_shape=x)(x, y)

    def square(size: int) -> Subject:
        return alone(matmul, normal(size, size), normal(size, size, seed=1))

    def heads(*shape: int) -> tuple[np.ndarray, ...]:
        return tuple(normal(*shape, 1024, 128, seed=seed) for seed in range(3))

    def sequences() -> Subject:
        """Of 500 to 1000 tokens each: 32 query heads, 4 of keys, pages of 16."""
        lengths = np.random.default_rng(0).integers(500, 1001, 16).astype(np.int32)
        pages = np.random.default_rng(1).permutation(1024).reshape(16, 64).astype(np.int32)
        keys, values = (normal(4, 1024, 16, 128, seed=seed) for seed in (1, 2))
        return alone(functools.partial(shipped.paged_attention.paged_attention,
                                       pages_per_compute_block=8),
                     normal(16, 32, 128) * np.float32(0.1), keys, values, lengths, pages)

    def groups() -> Subject:
        """Eight, none of them a multiple of the tiling's 128 rows."""
        sizes = np.array([300, 200, 70, 410, 255, 301, 257, 255], np.int32)
        return alone(shipped._gmm.gmm, normal(2048, 512), normal(8, 512, 512, seed=1), sizes)

    def gather() -> Subject:
        axes, make, _ = device_kernels.KERNELS["all_gather_hbm"]
        return Subject(lambda mesh_of: make(mesh_of(axes)),
                       (device_kernels.argument("all_gather_hbm"),))

    causal = shipped.masks.CausalMask((1024, 1024))
    return {
        "vector add": lambda: alone(add, normal(65536, 128), normal(65536, 128, seed=1)),
        "paged attention": lambda: of_jax("paged_attention, 4 heads"),
        "all-gather": gather,
        "gmm": lambda: of_jax("gmm"),
        "paged attention, 16 sequences": sequences,
        "gmm, 2048 rows": groups,
        "matmul 1024": lambda: square(1024),
        "matmul 2048": lambda: square(2048),
        "flash attention": lambda: alone(shipped._flash, *heads(1, 2)),
        "splash attention": lambda: alone(shipped._splash(causal, causal), *heads(2)),
    }[name]()


def machine_seconds(program: str, file: pathlib.Path, values: str) -> Iterator[list[float]]:
    """Of each process: its first run, and the ones behind it."""
    for _ in range(_PROCESSES):
        done = subprocess.run([program, "run", file, "--chip", "tpu_v5e", "--json", "--values",
                               values, "--repeat", str(_RUNS)],
                              capture_output=True, text=True, check=False)
        if done.returncode not in (0, 1):
            raise SystemExit(done.stderr)
        yield json.loads(done.stdout)["wall_all_s"]


def compiled(fn: Callable[..., Any], args: tuple[Any, ...], interpreter: Any) -> Any:
    """A call that was made once; None where this interpreter does not run the kernel."""
    import jax
    from jax.experimental import pallas as pl
    from jax.experimental.pallas import tpu as pltpu
    from pallascope.jax_compat import stand_in_devices

    jax.clear_caches()  # these hold what was traced with the other interpreter
    call = jax.jit(fn)
    original = pl.pallas_call
    forced = None if interpreter is True else interpreter
    if interpreter is True:
        pl.pallas_call = lambda *a, **options: original(*a, **(options | {"interpret": True}))
    try:
        with stand_in_devices.device_of("tpu_v5e"), pltpu.force_tpu_interpret_mode(forced):
            lowered = call.lower(*args).compile()
            jax.block_until_ready(lowered(*args))
    except Exception as error:  # whatever JAX raises means that it cannot run the kernel
        print(f"  not run by {'interpret=True' if forced is None else 'the TPU interpreter'}: "
              f"{str(error).splitlines()[0][:120]}", file=sys.stderr)
        return None
    finally:
        pl.pallas_call = original
    return lambda: jax.block_until_ready(lowered(*args))


def measure(program: str, name: str, rounds: int) -> dict[str, list[float]]:
    """Seconds of each side, by its name."""
    import jax
    import numpy as np
    import pallascope
    from jax.experimental.pallas import tpu as pltpu

    what = subject(name)

    def simulated(axes: dict[str, int]) -> Any:
        devices = np.array(jax.devices()).reshape(tuple(axes.values()))
        return jax.sharding.Mesh(devices, tuple(axes))

    fn = what.make(simulated)
    args = tuple(jax.numpy.asarray(arg) for arg in what.args)
    sides = {"tpu": compiled(fn, args, pltpu.InterpretParams()),
             "interpret": compiled(fn, args, True)}
    seconds: dict[str, list[float]] = {"tpu": [], "interpret": [], "full": [], "needed": [],
                                       "first full": [], "first needed": []}
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "k.pallascope"
        pallascope.capture(what.make(pallascope.mesh_of), *what.args, name=name).save(file)
        for _ in range(rounds):
            for side, call in sides.items():
                if call is not None:
                    begin = time.perf_counter()
                    call()
                    seconds[side].append(time.perf_counter() - begin)
            for values in ("full", "needed"):
                for first, *later in machine_seconds(program, file, values):
                    seconds["first " + values].append(first)
                    seconds[values].extend(later)
    return seconds


def row(name: str, seconds: dict[str, list[float]]) -> list[str]:
    def ratio(a: str, b: str, pick: Callable[[list[float]], float]) -> str:
        return f"{pick(seconds[a]) / pick(seconds[b]):.3g}" if seconds[a] and seconds[b] else "-"

    def both(a: str, b: str) -> str:
        return f"{ratio(a, b, min)} ({ratio(a, b, statistics.median)})"

    def least(side: str) -> str:
        return f"{min(seconds[side]):.2e}" if seconds[side] else "-"

    def ours(values: str) -> str:
        return f"{least(values)} ({least('first ' + values)})"

    return [name, least("tpu"), least("interpret"), ours("full"), ours("needed"),
            both("tpu", "full"), str(_WANTED[name]), both("tpu", "needed"), str(_TIMING_ONLY),
            both("full", "interpret"), str(_SLOWER)]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program")
    parser.add_argument("--venv", default=str(_ROOT / "build" / "venv"))
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--only", default="", help="kernels whose name has this in it")
    parser.add_argument("--kernel", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.kernel:
        print(json.dumps(measure(options.program, options.kernel, options.rounds)))
        return 0
    python = str(pathlib.Path(options.venv) / "bin" / "python")
    python = python if os.path.exists(python) else sys.executable
    if subprocess.run([python, "-c", "import jax"], capture_output=True,
                      check=False).returncode != 0:
        print("Left out: no Python with jax; `make test-jax` makes one.")
        return 0
    paths = [str(_ROOT / "kernels" / "jax"), str(_ROOT / "tests" / "capture")]
    environment = os.environ | {
        "PALLASCOPE": options.program, "PYTHONPATH": os.pathsep.join(paths),
        "JAX_PLATFORMS": "cpu", "XLA_FLAGS": "--xla_force_host_platform_device_count=8"}
    rows = [["kernel", "TPU int. s", "int.=True s", "full s (first)", "timing s (first)",
             "full: times faster", "wanted", "timing: times faster", "wanted",
             "full / int.=True", "at most"]]
    print("Minimum, and ratios of minima (of medians).")
    for name in filter(lambda name: options.only in name, _WANTED):
        done = subprocess.run([python, "-B", __file__, options.program, "--rounds",
                               str(options.rounds), "--kernel", name], env=environment,
                              stdout=subprocess.PIPE, text=True, check=False)
        if done.returncode != 0:
            return done.returncode
        rows.append(row(name, json.loads(done.stdout)))
        print("  ".join(rows[-1]), file=sys.stderr)
    widths = [max(map(len, column)) for column in zip(*rows)]
    for cells in rows:
        print("  ".join(cell.rjust(width) for cell, width in zip(cells, widths)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
