#!/usr/bin/env python3
"""Predicts the times of kernels that measure.py took on a GPU (h100_sxm.csv), and compares.

    build/venv12/bin/python bench/gpu_kernels/predict.py [--only WORD] [--lines] [--out FILE.json] [--program PALLASCOPE]

The kernels are captured into --keep, where they are not there yet; that needs JAX 0.12. A case is all the GPU does for
it, XLA's kernels beside those of Pallas too, so it is compared with all_us.
"""
import collections
import concurrent.futures
import csv
import hashlib
import json
import os
import pathlib
import statistics
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.append(str(HERE.parent / "validate"))

import gpu_predict  # noqa: E402
import rows as kit  # noqa: E402

CHIP = "h100_sxm"
# These leave the tensor core idle most of the time, and the GPU keeps its highest clock: see clocks.csv for others.
AT_BOOST = ("layer_norm", "rms_norm", "softmax", "own_softmax", "decode_", "paged_attention")


class Row:
    """A line of the measured times."""

    def __init__(self, data):
        self.family, self.name, self.measured_s = data["family"], data["name"], float(data["all_us"]) * 1e-6
        self.key = hashlib.sha1(self.name.encode()).hexdigest()[:12]

    @property
    def settings(self):
        clock = ("clock=boost",) if self.family.startswith(AT_BOOST) else ()
        return (*gpu_predict.SETTINGS, *clock)


def skip(reason):
    print(f"Skipped: {reason}.")
    sys.exit()


def load(only):
    with open(HERE / f"{CHIP}.csv", newline="") as file:
        return [Row(data) for data in csv.DictReader(file) if data["mode"] == "warm" and only in data["name"]]


def arguments_of(case):
    """The function of a case and its arguments: shapes, and the numbers that a kernel reads its way from."""
    import numpy as np
    from case import shapes_of
    made = case.make()
    given = [arg for arg in made.args if isinstance(arg, np.ndarray)]
    shapes = shapes_of(made.args)
    return made.fn, [*shapes[:len(shapes) - len(given)], *given]  # those with numbers are the last ones


def capture(rows, folder, again):
    """Captures the rows that `folder` lacks."""
    missing = [row for row in rows if again or not (folder / f"{row.key}.json").exists()]
    if not missing:
        return
    try:
        import jax
    except ImportError:
        skip("this Python has no JAX to capture kernels with")
    if jax.__version_info__ < (0, 12):
        skip(f"kernels for a GPU are captured from JAX 0.12, and this is {jax.__version__}")
    folder.mkdir(parents=True, exist_ok=True)
    sys.dont_write_bytecode = True
    sys.path.append(str(kit.ROOT / "kernels" / "jax"))
    import cases
    by_name = {case.name: case for case in cases.CASES}
    for row in missing:
        tell = gpu_predict.capture_one(lambda row=row: arguments_of(by_name[row.name]),
                                       folder / f"{row.key}.pallascope", CHIP)
        print(f"captured in {tell['capture_s']:6.2f} s {row.name} {tell.get('refused', '')[:200]}", flush=True)


def line(row, report):
    if "time_s" not in report:
        return f"{row.name} {report['stage']}: {report['reason'][:140]}"
    return (f"{row.name:112} {row.measured_s * 1e6:9.1f} {report['time_s'] * 1e6:9.1f} "
            f"{gpu_predict.off(report['time_s'], row):+7.1f} % {report['bound_by']:14} {report['run_s']:.1f} s")


def table(results):
    groups = collections.defaultdict(list)
    for row, report in results:
        groups[row.family].append((row, report))
    print(f"{'family':32} {'cases':>5} {'ran':>4} {'mean abs':>8} {'mean':>8} {'worst':>8}")
    for family, found in (*groups.items(), ("all", results)):
        errors = [gpu_predict.off(report["time_s"], row) for row, report in found if "time_s" in report]
        told = (f"{statistics.mean(map(abs, errors)):8.1f} {statistics.mean(errors):+8.1f} {max(errors, key=abs):+8.1f}"
                if errors else "")
        print(f"{family:32} {len(found):5} {len(errors):4} {told}")
    for reason, count in collections.Counter(f"{report['stage']}: {row.family}: {report['reason'][:300]}"
                                             for row, report in results if "time_s" not in report).most_common():
        print(f"{count} x {reason}")


def main():
    parser = kit.parser(__doc__)
    parser.set_defaults(keep=kit.ROOT / "build/gpu_kernels")
    parser.add_argument("--only", default="", help="cases with this word in their names")
    parser.add_argument("--again", action="store_true", help="capture again")
    parser.add_argument("--out", type=pathlib.Path, help="both times of each case, for bench/validate/residuals.py")
    parser.add_argument("--lines", action="store_true", help="a line for each case")
    parser.add_argument("--limit", type=float, default=300, help="seconds of a run")
    parser.add_argument("--workers", type=int, default=os.cpu_count())
    arguments = parser.parse_args()
    if not arguments.program.exists():
        skip(f"there is no program at {arguments.program}; --program names another")
    rows = load(arguments.only)
    capture(rows, arguments.keep, arguments.again)
    results = []
    with concurrent.futures.ThreadPoolExecutor(arguments.workers) as pool:
        for row, report in zip(rows, pool.map(
                lambda row: gpu_predict.sweep(arguments.keep / f"{row.key}.pallascope", arguments.program,
                                              arguments.limit, row.settings), rows)):
            results.append((row, report))
            if arguments.lines:
                print(line(row, report), flush=True)
    table(results)
    if arguments.out:
        arguments.out.write_text(json.dumps([
            {"chip": CHIP, "family": row.family, "name": row.name, "measured_s": row.measured_s, "time_s": report["time_s"]}
            for row, report in results if "time_s" in report]))


if __name__ == "__main__":
    main()
