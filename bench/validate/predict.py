#!/usr/bin/env python3
"""Predicts published timings and compares.

    build/jax/bin/python bench/validate/predict.py OUT.json [--side fit] [--family F] [--chip C] [--rows N]

Rows left out (split.csv) are predicted for a landing only: --side all. Each such look is listed in
docs/model.md.
"""
import collections
import csv
import json
import os
import pathlib
import statistics
import time

import rows as kit


def table(results):
    groups = collections.defaultdict(list)
    for row, report in results:
        groups[row.family, row.chip].append((row, report))
        groups["all", ""].append((row, report))
    print(f"{'family':22} {'chip':8} {'rows':>5} {'ran':>4} {'mean abs':>8} {'median':>8} {'in 15 %':>8}")
    for (family, chip), found in sorted(groups.items(), key=lambda item: (item[0][0] == "all", item[0])):
        errors = [100 * (report["time_s"] / row.measured_s - 1) for row, report in found if "time_s" in report]
        if not errors:
            print(f"{family:22} {chip:8} {len(found):5} {0:4}")
            continue
        mean = statistics.mean(map(abs, errors))
        inside = sum(abs(error) <= 15 for error in errors)
        print(f"{family:22} {chip:8} {len(found):5} {len(errors):4} {mean:8.1f} {statistics.median(errors):+8.1f} "
              f"{inside:4}/{len(errors)}")
    for reason, count in collections.Counter(
            f"{report['stage']}: {row.family}: {report['reason'][:200]}"
            for row, report in results if "time_s" not in report).most_common():
        print(f"{count} x {reason}")


def line(row, report):
    data = row.data
    if "time_s" not in report:
        return f"{row.number:4} {row.family:18} {row.chip[4:]:4} {report['stage']}: {report['reason'][:140]}"
    error = 100 * (report["time_s"] / row.measured_s - 1)
    busy = " ".join(f"{unit}:{100 * value / report['time_s']:.0f}" for unit, value in
                    sorted(report["busy_s"].items(), key=lambda item: -item[1]) if value > 0.02 * report["time_s"])
    part = " ".join(f"{name}:{100 * value / report['time_s']:.0f}" for name, value in report["time_split_s"].items()
                    if value > 0.005 * report["time_s"])
    return (f"{row.number:4} {row.family[:12]:12} {row.chip[4:]:4} {data['mode'][:22]:22} "
            f"{row.measured_s * 1e3:9.3f} {report['time_s'] * 1e3:9.3f} {error:+7.1f} % {report['bound_by']:16} "
            f"{busy} | {part} | {report['run_s']:.1f} s")


# The columns that `pallascope validate --csv` writes: docs/validation.md.
COLUMNS = ("line", "family", "chip", "kernel", "parameters", "measured_s", "host_s", "predicted_s", "off_percent",
           "low_s", "high_s", "in_band", "bound_by", "published", "source", "note", "error")


def cells(row, report):
    """A row of the CSV. Empty cells are what the report lacks."""
    data = row.data
    found = {"line": row.number, "family": row.family, "chip": row.chip, "kernel": f"{row.key}.pallascope",
             "parameters": data["config"], "measured_s": row.measured_s, "host_s": 0,
             "published": f"{data['median_ms']} ms", "source": data["source"],
             "note": " ".join(filter(None, (data["mode"], data["note"])))}
    if "time_s" not in report:
        return {**found, "error": f"{report['stage']}: {report['reason']}"}
    found |= {"predicted_s": report["time_s"], "off_percent": round(100 * (report["time_s"] / row.measured_s - 1), 3),
              "bound_by": report["bound_by"]}
    low, high = report["time_low_s"], report["time_high_s"]
    if low is not None:
        found |= {"low_s": low, "high_s": high, "in_band": "yes" if low <= row.measured_s <= high else "no"}
    return found


def write_csv(path, results):
    with open(path, "w", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, restval="", lineterminator="\n")
        writer.writeheader()
        writer.writerows(cells(row, report) for row, report in results)


def main():
    parser = kit.parser(__doc__)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--side", choices=("fit", "left out", "all"), default="fit")
    parser.add_argument("--family", nargs="+")
    parser.add_argument("--chip", nargs="+")
    parser.add_argument("--rows", nargs="+", type=int)
    parser.add_argument("--again", action="store_true", help="capture again")
    parser.add_argument("--set", nargs="+", default=kit.SETTINGS)
    parser.add_argument("--lines", action="store_true", help="a line for each row")
    parser.add_argument("--csv", type=pathlib.Path, help="write every row to this file as well")
    parser.add_argument("--workers", type=int, default=os.cpu_count())
    arguments = parser.parse_args()
    chosen = [row for row in kit.load()
              if (arguments.side == "all" or row.side == arguments.side)
              and (not arguments.family or row.family in arguments.family)
              and (not arguments.chip or row.chip in arguments.chip)
              and (not arguments.rows or row.number in arguments.rows)]
    kit.capture(chosen, arguments.keep, arguments.again)
    began = time.perf_counter()
    results = kit.run_all(chosen, arguments.keep, arguments.program, arguments.workers, settings=arguments.set)
    seconds = time.perf_counter() - began
    arguments.out.write_text(json.dumps([{"row": row.number, **report} for row, report in results]))
    if arguments.csv:
        write_csv(arguments.csv, results)
    if arguments.lines:
        for row, report in results:
            print(line(row, report))
    table(results)
    print(f"{len(results)} rows in {seconds:.1f} s")


if __name__ == "__main__":
    main()
