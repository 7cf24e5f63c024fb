#!/usr/bin/env python3
"""Predicts the published timings of kernels for a GPU, rows of kernel_timings.csv in the folder that
MEASURED names, and compares.

    build/jaxgpu/bin/python bench/validate/gpu_predict.py OUT.json [--family F] [--kind K] [--rows N]

Rows left out (split.csv) are predicted for a landing only: --side all. Each such look is listed in
docs/model.md. Needs what gpu_cases.py needs.
"""
import collections
import concurrent.futures
import contextlib
import importlib
import io
import json
import math
import os
import statistics
import subprocess
import sys
import time

import rows as kit
import split

CHIPS = {"H100 80GB HBM3": "h100_sxm", "B200": "b200"}
# Peak of products of 16 bits and bandwidth of the datasheets, for the roofline.
PEAKS = {"h100_sxm": (989.4e12, 3.35e12), "b200": (2250e12, 8e12)}
BITS = {"f32": 32, "int32": 32, "bf16": 16, "f16": 16, "bool": 8, "int8": 8, "uint8": 8}


# What is never waited for is compared with all that comes later: that takes time, and changes none.
SETTINGS = (*kit.SETTINGS, "detect_races=false")
# A sweep tells only of which kinds its findings are. At these a run may stop, and then its time means nothing.
STOPS = {"out_of_bounds", "barrier_misuse", "deadlock", "no_such_device", "undefined_branch"}


class Row:
    """A line of kernel_timings.csv that was measured on a GPU."""

    def __init__(self, number, data):
        self.number, self.data = number, data
        self.family, self.kind, self.chip = data["op"], data["backend"], CHIPS[data["chip"]]
        self.measured_s = float(data["median_ms"]) * 1e-3
        self.side = kit.SIDES[split.hash_of(data)]
        self.key = f"{data['backend']}.{number}"


def load():
    """The rows of GPUs. Ends the program if there is no folder of measured timings."""
    if not kit.MEASURED.is_dir():
        print(f"Skipped: there is no folder of measured timings at {kit.MEASURED}; MEASURED names another.")
        sys.exit()
    return [Row(number, data) for number, data in enumerate(split.read(kit.MEASURED / "kernel_timings.csv"))
            if data["chip"] in CHIPS]


def argument_bytes(document):
    """Of a captured function: the bytes of its arguments and results, each counted once."""
    types = [document["values"][argument["ref"]] for argument in document["arguments"]]
    return sum(BITS[one["dtype"]] * math.prod(one.get("shape", [])) // 8 for one in types)


def capture(rows, folder, again=False):
    """Captures the rows that `folder` lacks. A row that is refused leaves a .json that says why."""
    folder.mkdir(parents=True, exist_ok=True)
    missing = [row for row in rows if again or not (folder / f"{row.key}.json").exists()]
    if not missing:
        return
    sys.dont_write_bytecode = True
    sys.path[:0] = [str(kit.MEASURED / "published_kernels"), str(kit.ROOT / "kernels" / "jax")]
    gpu_cases = importlib.import_module("gpu_cases")
    for row in missing:
        def make(row=row):
            function, arguments, values = gpu_cases.case(row.data)
            return function, [values.get(number, one) for number, one in enumerate(arguments)]

        tell = capture_one(make, folder / f"{row.key}.pallascope", row.chip)
        print(f"{row.number:4} {row.family:20} {row.chip:8} captured in {tell['capture_s']:6.2f} s "
              f"{tell.get('refused', '')[:200]}", flush=True)


def capture_one(make, path, chip):
    """Captures the function for the arguments that `make` returns, into `path`. What it tells, such as why the kernel
    was refused, stands in a .json beside it too."""
    import pallascope
    began, tell = time.perf_counter(), {}
    path.unlink(missing_ok=True)
    try:
        function, arguments = make()
        with contextlib.redirect_stdout(io.StringIO()):
            kernel = pallascope.capture(function, *arguments, chip=chip)
        kernel.save(path)
        tell["bytes"] = argument_bytes(kernel.document)
    except Exception as error:  # noqa: BLE001: whatever a package raises becomes the row's result
        tell["refused"] = f"{type(error).__name__}: {' '.join(str(error).split())}"
    tell["capture_s"] = round(time.perf_counter() - began, 3)
    path.with_suffix(".json").write_text(json.dumps(tell))
    return tell


def sweep(path, program, limit_s, settings=SETTINGS):
    """What `program` says of a kernel that capture_one kept: a row of a sweep, whose runs keep no trace."""
    tell = json.loads(path.with_suffix(".json").read_text())
    if "refused" in tell:
        return {"stage": "capture", "reason": tell["refused"]}
    arguments = [str(program), "sweep", str(path), "--json"]
    for setting in settings:
        arguments += ["--set", setting]
    began = time.perf_counter()
    try:
        done = subprocess.run(arguments, capture_output=True, text=True, timeout=limit_s, check=False)
    except subprocess.TimeoutExpired:
        return {"stage": "run", "reason": f"more than {limit_s} s", "run_s": limit_s}
    seconds = time.perf_counter() - began
    try:
        (report,) = json.loads(done.stdout)["rows"]
    except ValueError:
        return {"stage": "run", "reason": (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1],
                "run_s": seconds}
    if report["error"] or report.get("time_s") is None:
        reason = report["error"] or f"needs {report.get('vmem_bytes')} bytes of shared memory"
        return {"stage": "run", "reason": reason, "run_s": seconds}
    stops = sorted(STOPS.intersection(report["findings"]))
    if stops:
        return {"stage": "stopped", "reason": ", ".join(stops), "run_s": seconds}
    return {**report, "bytes": tell["bytes"], "run_s": seconds}


def run(row, folder, program, limit_s):
    """What `program` says of the captured row, beside the roofline."""
    report = sweep(folder / f"{row.key}.pallascope", program, limit_s)
    if "time_s" not in report:
        return report
    peak, bandwidth = PEAKS[row.chip]
    return {**report, "roofline_s": max(float(row.data["flops_useful"] or 0) / peak, report["bytes"] / bandwidth)}


def off(seconds, row):
    return 100 * (seconds / row.measured_s - 1)


def table(results):
    groups = collections.defaultdict(list)
    for row, report in results:
        groups[row.family, row.kind, row.chip].append((row, report))
    print(f"{'family':20} {'kind':18} {'chip':8} {'rows':>5} {'ran':>4} {'mean abs':>8} {'median':>8} {'worst':>8} "
          f"{'roofline: mean abs':>18} {'s a row':>8}")
    for (family, kind, chip), found in sorted(groups.items()):
        ran = [(row, report) for row, report in found if "time_s" in report]
        line = f"{family:20} {kind:18} {chip:8} {len(found):5} {len(ran):4} "
        if ran:
            errors = [off(report["time_s"], row) for row, report in ran]
            roofs = [off(report["roofline_s"], row) for row, report in ran]
            line += (f"{statistics.mean(map(abs, errors)):8.1f} {statistics.median(errors):+8.1f} "
                     f"{max(errors, key=abs):+8.1f} {statistics.mean(map(abs, roofs)):18.1f} "
                     f"{statistics.mean(report['run_s'] for _, report in ran):8.1f}")
        print(line)
    for reason, count in collections.Counter(
            f"{report['stage']}: {row.family}: {report['reason'][:300]}"
            for row, report in results if "time_s" not in report).most_common():
        print(f"{count} x {reason}")


def line(row, report):
    head = f"{row.number:4} {row.family:20} {row.data['mode'][:22]:22} {row.data['shapes'][:44]:44} "
    if "time_s" not in report:
        return f"{head} {report['stage']}: {report['reason'][:140]}"
    return (f"{head} {row.measured_s * 1e3:9.3f} {report['time_s'] * 1e3:9.3f} {off(report['time_s'], row):+7.1f} % "
            f"(roofline {off(report['roofline_s'], row):+6.1f} %) {report['bound_by']:14} {report['run_s']:.1f} s")


def chosen(arguments):
    return [row for row in load()
            if (arguments.side == "all" or row.side == arguments.side)
            and (not arguments.family or row.family in arguments.family)
            and (not arguments.kind or row.kind in arguments.kind)
            and (not arguments.chip or row.chip in arguments.chip)
            and (not arguments.rows or row.number in arguments.rows)]


def main():
    parser = kit.parser(__doc__)
    parser.add_argument("out", type=kit.pathlib.Path)
    parser.add_argument("--side", choices=("fit", "left out", "all"), default="fit")
    for name in ("family", "kind", "chip"):
        parser.add_argument(f"--{name}", nargs="+")
    parser.add_argument("--rows", nargs="+", type=int)
    parser.add_argument("--again", action="store_true", help="capture again")
    parser.add_argument("--lines", action="store_true", help="a line for each row")
    parser.add_argument("--limit", type=float, default=300, help="seconds of a run")
    parser.add_argument("--workers", type=int, default=os.cpu_count())
    arguments = parser.parse_args()
    rows = chosen(arguments)
    capture(rows, arguments.keep, arguments.again)
    with concurrent.futures.ThreadPoolExecutor(arguments.workers) as pool:
        results = []
        for row, report in zip(rows, pool.map(
                lambda row: run(row, arguments.keep, arguments.program, arguments.limit), rows)):
            results.append((row, report))
            if arguments.lines:
                print(line(row, report), flush=True)
    arguments.out.write_text(json.dumps([{"row": row.number, **report} for row, report in results]))
    table(results)


if __name__ == "__main__":
    main()
