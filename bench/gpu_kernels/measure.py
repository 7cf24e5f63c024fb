#!/usr/bin/env python3
"""Times the kernels of cases.py on the GPU, and compares what they yield with a plain reference.

    build/jaxgpu/bin/python bench/gpu_kernels/measure.py OUT.csv [--only WORD]

Needs JAX for CUDA, and a ptxas in the PATH or under CUDA_ROOT. README.md says what the columns mean.
"""
import argparse
import csv
import os
import pathlib
import re
import sys

import compiler

COLUMNS = ("family", "name", "mode", "median_us", "q1_us", "q3_us", "repeats", "all_us", "registers", "spill_stores",
           "spill_loads", "max_rel_error", "jax")
# After such an error nothing more runs in the process.
_BROKEN = re.compile(r"CUDA_ERROR|CUDA error|ILLEGAL|INTERNAL|misaligned|unspecified launch")


def skip(reason):
    print(f"Skipped: {reason}.")
    sys.exit()


def check_machine():
    """Ends the program if it cannot time anything here. JAX is imported here for the first time."""
    if not compiler.prepare():
        skip("there is no ptxas in the PATH or under CUDA_ROOT")
    try:
        import jax
    except ImportError:
        skip("this Python has no JAX")
    if jax.default_backend() != "gpu":
        skip("JAX finds no GPU")


def worst_error(made, results, args):
    """The largest error of any result, relative to its largest element."""
    import jax
    import jax.numpy as jnp

    def find(results, args):
        pairs = [(ours.astype(jnp.float32), theirs.astype(jnp.float32)) for ours, theirs in made.check(results, args)]
        found = jnp.stack([jnp.max(jnp.abs(ours - theirs)) / jnp.max(jnp.abs(theirs)) for ours, theirs in pairs])
        return jnp.max(jnp.where(jnp.isfinite(found), found, jnp.inf))

    return float(jax.jit(find)(results, args))


def timed(case):
    """The rows of a case: warm, and cold if it wants that."""
    import inputs
    import jax
    import timer
    from case import shapes_of
    made = case.make()
    with compiler.Caught() as compiling:
        compiled = jax.jit(made.fn).lower(*shapes_of(made.args)).compile()
    args = inputs.on_device(made.args)
    with compiler.Caught() as running:  # some kernels are compiled when they run for the first time
        results = jax.tree_util.tree_leaves(jax.block_until_ready(compiled(*args)))
    error = worst_error(made, results, args)
    row = {"family": case.family, "name": case.name, "max_rel_error": f"{error:.3g}", "jax": jax.__version__,
           **compiler.resources(compiling.text + running.text)}
    rows = [{**row, "mode": "warm", **timer.warm(lambda: compiled(*args))}]
    if case.cold:
        rows.append({**row, "mode": "cold", **timer.cold(lambda: compiled(*args))})
    print(*(f"{one['median_us']:9.1f} us {one['mode']}" for one in rows), case.name,
          "" if error <= made.tolerance else f"WRONG: an error of {error:.3g}", flush=True)
    return rows


def run(cases, first, writer):
    for number, case in enumerate(cases[first:], first):
        try:
            writer(timed(case))
        except Exception as error:  # noqa: BLE001: whatever a kernel raises is told, and the next one runs
            reason = " ".join(f"{type(error).__name__}: {error}".split())
            print(f"{case.name}: {reason[:300]}", flush=True)
            if _BROKEN.search(reason):
                os.execv(sys.executable, [sys.executable, *sys.argv, "--first", str(number + 1)])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--only", default="", help="cases with this word in their names")
    parser.add_argument("--first", type=int, default=0, help="go on from this case, in the same file")
    arguments = parser.parse_args()
    check_machine()
    import cases
    chosen = [case for case in cases.CASES if arguments.only in case.name]
    with open(arguments.out, "a" if arguments.first else "w", newline="") as file:
        csv_file = csv.DictWriter(file, COLUMNS, restval="", lineterminator="\n")
        if not arguments.first:
            csv_file.writeheader()

        def writer(rows):
            csv_file.writerows(rows)
            file.flush()

        run(chosen, arguments.first, writer)


if __name__ == "__main__":
    main()
