#!/usr/bin/env python3
"""How far measured times are from predicted ones, by chip and kind of work: `residuals` of chip files.

    build/jax/bin/python bench/validate/residuals.py --keep build/validate
    python3 bench/validate/residuals.py --gpus RESULTS.json ... [--kernels RESULTS.json]

--gpus takes what gpu_predict.py has written, --kernels what bench/gpu_kernels/predict.py has.

Rows of the side for fitting, of 20 us and more. The kinds of work are those of core/analysis/band.h. Prints an entry for
each chip and kind; the 5th and 95th percentile of measured / predicted - 1, no nearer to 0 than 4 %: other rows lie
farther from figures that were fitted on these. `ratio` is for two runs: of every two rows of a family, measured ratio
/ predicted ratio, as a number from 1 on; its 90th percentile - 1, no less than 4 % for the same reason.
"""
import collections
import itertools
import json
import math
import statistics

import gpu_predict
import rows as kit

# What families on a GPU do, by how their names begin: the results that are read keep no work of units. A gated linear
# unit has as many transcendentals as attention.
GPU_WORK = {"attention": ("attention", "flash_attention", "gated_linear_unit", "triton_mha", "decode", "paged"),
            "products": ("hopper_matmul", "mixed_matmul", "ragged_dot", "transposed_ragged_dot", "own_pipelined",
                         "own_persistent", "own_triton_matmul"),
            "other": ("softmax", "own_softmax", "layer_norm", "rms_norm")}
NAMES = {"pallas_mosaic_gpu": "Mosaic GPU", "pallas_triton": "Triton"}
MOST_OF_ATTENTION = 2048  # FLOPs of the matrix unit for each transcendental
LEAST = 0.04
# v2_ragged_dot on v5p: twice as slow as similar rows, which those who collected the rows note too.
SUSPECT = {248, 254, 255}


def work_of(report):
    flops = report["flops_by_unit"].get("MXU", 0)
    if flops == 0:
        return "other"
    return "attention" if report["transcendentals"] * MOST_OF_ATTENTION >= flops else "products"


def between(ratios):
    """Where nine tenths of them lie; all, where there are fewer than five."""
    if len(ratios) < 5:
        return min(-LEAST, *ratios), max(LEAST, *ratios)
    twentieths = statistics.quantiles(ratios, n=20, method="inclusive")
    return min(-LEAST, twentieths[0]), max(LEAST, twentieths[-1])


def pairs_of(rows):
    """[(predicted, measured)]: ln of the ratio of every two rows of a family. rows: (family, measured, predicted)."""
    return [(math.log(one[2] / other[2]), math.log(one[1] / other[1]))
            for one, other in itertools.combinations(rows, 2) if one[0] == other[0]]


def ratio_of(pairs):
    """How far nine tenths of the pairs' ratios are off at most."""
    off = sorted(abs(measured - predicted) for predicted, measured in pairs)
    return max(LEAST, math.expm1(off[math.ceil(0.9 * len(off)) - 1]))


def order(pairs, ratio):
    """How many pairs are predicted to differ by more than the ratio is off, and how many of them do, in that order."""
    told = [measured * predicted for predicted, measured in pairs if abs(predicted) > math.log1p(ratio)]
    return f"{sum(product > 0 for product in told)} of {len(told)} pairs that it tells apart have that order"


def gpu_work_of(family):
    (work,) = (work for work, names in GPU_WORK.items() if family.startswith(names))
    return work


def of_gpus(paths):
    """Rows for fitting of 20 us and more with their reports, from files that gpu_predict.py has written."""
    rows = {row.number: row for row in gpu_predict.load()}
    for path in paths:
        for report in json.loads(path.read_text()):
            row = rows[report["row"]]
            if row.side == "fit" and row.measured_s >= kit.SHORTEST_S:
                yield row, report


def of_kernels(path):
    """(chip, work, family, measured, predicted) of cases of 20 us and more that bench/gpu_kernels/predict.py has run."""
    for case in json.loads(path.read_text()):
        if case["measured_s"] >= kit.SHORTEST_S:
            yield case["chip"], gpu_work_of(case["family"]), case["family"], case["measured_s"], case["time_s"]


def main():
    parser = kit.parser(__doc__)
    parser.add_argument("--gpus", nargs="+", type=kit.pathlib.Path, default=())
    parser.add_argument("--kernels", type=kit.pathlib.Path)
    arguments = parser.parse_args()
    if arguments.gpus:
        reports = of_gpus(arguments.gpus)
    else:
        chosen = [row for row in kit.fitting(arguments.keep, kit.SHORTEST_S) if row.number not in SUSPECT]
        reports = kit.run_all(chosen, arguments.keep, arguments.program)
    found = collections.defaultdict(list)
    for row, report in reports:
        if "time_s" in report:
            family = f"{row.family} ({NAMES[row.kind]})" if arguments.gpus else row.family
            work = gpu_work_of(row.family) if arguments.gpus else work_of(report)
            found[row.chip, work].append((family, row.measured_s, report["time_s"]))
    for chip, work, *row in of_kernels(arguments.kernels) if arguments.kernels else ():
        found[chip, work].append(tuple(row))
    for (chip, work), rows in sorted(found.items()):
        low, high = between([measured / predicted - 1 for _, measured, predicted in rows])
        entry = {"work": work, "rows": len(rows), "low": round(low, 3), "high": round(high, 3)}
        pairs = pairs_of(rows)
        if pairs:
            entry["ratio"] = round(ratio_of(pairs), 3)
        families = ", ".join(sorted({family for family, _, _ in rows}))
        source = "rows of side fit in bench/validate/split.csv" + (", and bench/gpu_kernels" if arguments.kernels else "")
        print(chip, json.dumps({**entry, "source": f"{source}: {families}"}))
        if pairs:
            print(f"  {len(pairs)} pairs; {order(pairs, entry['ratio'])}")


if __name__ == "__main__":
    main()
