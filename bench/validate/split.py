#!/usr/bin/env python3
"""Which published timings the model may be fitted on, and which are left out for scoring it.

    python3 bench/validate/split.py --measured FOLDER --write

Reads kernel_timings.csv and published_kernels/calibration.csv below FOLDER, the measured data, and
writes split.csv beside this file: a line for each problem, which is a chip, an operation, its mode and
the shapes and dtypes of its arguments, without return_residuals and without the configuration. Rows of
one problem stand on one side, whichever file they are in. Of each operation on each chip, problems are
left out in the order of their hash until these are at least 40 % of its rows in each of the files. On a
GPU, where kernels of two kinds compute the same problems, they are at least 40 % of the rows of each kind.
"""
import argparse
import collections
import csv
import hashlib
import json
import math
import pathlib
import re

HERE = pathlib.Path(__file__).resolve().parent
SPLIT = HERE / "split.csv"
LEFT_OUT = 0.4
GPU_KINDS = ("pallas_mosaic_gpu", "pallas_triton")
ARRAY = re.compile(r"(\w+)\[([\d,]*)\]")


def read(path):
    csv.field_size_limit(10**9)
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def _types(value):
    """The array types in a value of a problem, in order."""
    if isinstance(value, dict):
        return [found for key in sorted(value) for found in _types(value[key])]
    return [value] if isinstance(value, str) and ARRAY.fullmatch(value) else []


def problem_of(row):
    """The text that is hashed, the same for a row of either file."""
    mode = row["mode"].replace("+residuals", "")
    if "problem" in row:
        problem = json.loads(row["problem"])
        types = [found for key in sorted(problem) for found in _types(problem[key])]
        causal = "causal" in row["note"].replace("not causal", "")
    else:
        types = [match.group(0) for match in ARRAY.finditer(row["shapes"])]
        causal = row["causal"] == "1"
    causal = "causal" if causal else "full"
    return "|".join([row["chip"], row["op"], mode, causal, *sorted(types)])


def hash_of(row):
    return hashlib.sha1(problem_of(row).encode()).hexdigest()[:12]


def sides():
    """Hash of a problem -> "fit" or "left out", as committed."""
    return {row["problem"]: row["side"] for row in read(SPLIT)}


def split(files):
    """[(hash, operation, chip, side, rows in each file)]"""
    groups = collections.defaultdict(lambda: collections.defaultdict(lambda: [0] * len(files)))
    for number, rows in enumerate(files):
        for row in rows:
            groups[row["op"], row["chip"]][hash_of(row)][number] += 1
    found = []
    for (op, chip), problems in sorted(groups.items()):
        total = [sum(counts) for counts in zip(*problems.values())]
        wanted = [math.ceil(LEFT_OUT * rows) for rows in total]
        out = [0] * len(files)
        for problem, counts in sorted(problems.items()):
            takes = any(have < want and count for have, want, count in zip(out, wanted, counts))
            if takes:
                out = [have + count for have, count in zip(out, counts)]
            found.append((problem, op, chip, "left out" if takes else "fit", *counts))
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--measured", type=pathlib.Path, default=HERE.parents[1].parent / "shared" / "measured")
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    calibration = read(arguments.measured / "published_kernels" / "calibration.csv")
    timings = read(arguments.measured / "kernel_timings.csv")
    found = split([calibration, [row for row in timings if row["chip"].startswith("TPU")]])
    on_gpus = [row for row in timings if not row["chip"].startswith("TPU")]
    found += [(*problem, 0, mosaic + triton) for *problem, mosaic, triton in split([
        [row for row in on_gpus if row["backend"] == kind] for kind in GPU_KINDS])]
    if arguments.write:
        with open(SPLIT, "w", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(["problem", "op", "chip", "side", "rows_calibration", "rows_timings"])
            writer.writerows(found)
    rows = collections.defaultdict(lambda: [0, 0, 0, 0])
    for _, op, chip, side, one, two in found:
        at = 0 if side == "left out" else 1
        rows[op, chip][at] += one
        rows[op, chip][2 + at] += two
    for (op, chip), (out, fit, out2, fit2) in sorted(rows.items()):
        print(f"{op:24}{chip:28} calibration: {out} left out, {fit} to fit; timings: {out2}, {fit2}")


if __name__ == "__main__":
    main()
