#!/usr/bin/env python3
"""How often the model has two choices for one problem in the order of their measured times, and what it costs to
follow it.

    build/jax/bin/python bench/validate/order.py                     both sets below
    build/jax/bin/python bench/validate/order.py --groups FILE.csv   any other

A file of groups has a row for each choice: group, what, measured_s, predicted_s and, where it is known, noise (the
spread of the measurements, as a share of their median; 0.01 else). Choices of one group do the same work. A pair
counts where its measured times differ by more than the noise of both. The sets: the block sizes of JAX's Pallas
matmul on v5e, run as the built-in kernel; and the rows of the side for fitting that differ in their configuration
or in whether they return residuals only.
"""
import collections
import csv
import itertools
import json
import math
import subprocess

import rows as kit

NOISE = 0.01
DISPATCH_S = 0.108e-3  # dispatch on the host, which that guide's published times include (bench/jax_matmul_rows.cpp)


def pairs(choices):
    """(measured ratio, predicted ratio) of the pairs that differ, the slower one over the faster one."""
    for a, b in itertools.combinations(choices, 2):
        slow, fast = (a, b) if a["measured_s"] > b["measured_s"] else (b, a)
        if slow["measured_s"] > fast["measured_s"] * (1 + max(a["noise"], b["noise"])):
            yield slow["measured_s"] / fast["measured_s"], slow["predicted_s"] / fast["predicted_s"]


def chosen(choices):
    """How much longer than the fastest choice the one takes that is predicted to be the fastest."""
    best = min(choice["measured_s"] for choice in choices)
    return min(choices, key=lambda choice: choice["predicted_s"])["measured_s"] / best - 1


def say(name, groups):
    groups = {group: choices for group, choices in groups.items() if len(choices) > 1}
    found = [pair for choices in groups.values() for pair in pairs(choices)]
    if not found:
        print(f"{name}: no two choices of one problem differ by more than the noise")
        return
    right = sum(predicted > 1 for _, predicted in found)
    clear = [pair for pair in found if pair[0] > 1.1]
    costs = [chosen(choices) for choices in groups.values()]
    print(f"{name}: {len(groups)} problems, {len(found)} pairs that differ by more than the noise, {right} in order "
          f"({100 * right / len(found):.1f} %); of {len(clear)} pairs that differ by over 10 %, "
          f"{sum(predicted > 1 for _, predicted in clear)} in order; following the model costs "
          f"{100 * sum(costs) / len(costs):.2f} % on average and {100 * max(costs):.1f} % at most; ratios are "
          f"{100 * sum(abs(math.log(p / m)) for m, p in found) / len(found):.1f} % off on average")


def of_file(path):
    groups = collections.defaultdict(list)
    with open(path, newline="") as file:
        for row in csv.DictReader(file):
            groups[row["group"]].append({"measured_s": float(row["measured_s"]), "predicted_s": float(row["predicted_s"]),
                                         "noise": float(row.get("noise") or NOISE)})
    return groups


def of_jax_matmul(program):
    """The rows that Pallas ran, none of which is XLA's own product."""
    groups = collections.defaultdict(list)
    with open(kit.MEASURED / "jax_pallas_matmul_v5e.csv", newline="") as file:
        for row in csv.DictReader(file):
            if row["impl"] != "pallas" or row["rhs_transposed"] == "1" or row["fused_relu"] == "1":
                continue
            sizes = [f"{name}={row[name]}" for name in ("m", "k", "n", "bm", "bk", "bn")] + [f"dtype={row['dtype']}"]
            sets = [word for size in sizes for word in ("-p", size)]
            ran = subprocess.run([program, "run", "matmul_scratch", "--chip", "tpu_v5e", "--values", "needed", "--no-check",
                                  "--json", *sets], capture_output=True, text=True)
            report = json.loads(ran.stdout) if ran.stdout else None
            if report is None:
                raise SystemExit(f"{' '.join(sizes)}: {ran.stderr.strip()}")
            groups[row["m"], row["k"], row["n"]].append(
                {"measured_s": float(row["seconds_host"]) - DISPATCH_S, "predicted_s": report["time_s"], "noise": NOISE})
    return groups


def of_rows(arguments):
    groups = collections.defaultdict(list)
    for row, report in kit.run_all(kit.fitting(arguments.keep), arguments.keep, arguments.program):
        if "time_s" in report:
            problem = {key: value for key, value in json.loads(row.data["problem"]).items()
                       if key != "return_residuals"}
            mode = row.data["mode"].replace("+residuals", "")
            spread = float(row.data["max_ms"]) / float(row.data["min_ms"]) - 1
            groups[row.chip, row.family, mode, json.dumps(problem, sort_keys=True)].append(
                {"measured_s": row.measured_s, "predicted_s": report["time_s"],
                 "noise": max(NOISE, spread, 1e-6 / row.measured_s)})
    return groups


def main():
    parser = kit.parser(__doc__)
    parser.add_argument("--groups", help="a CSV file of groups")
    arguments = parser.parse_args()
    if arguments.groups:
        say(arguments.groups, of_file(arguments.groups))
        return
    say("JAX's Pallas matmul on v5e", of_jax_matmul(arguments.program))
    for family, groups in itertools.groupby(sorted(of_rows(arguments).items(), key=lambda item: item[0][1]),
                                            key=lambda item: item[0][1]):
        say(family, dict(groups))


if __name__ == "__main__":
    main()
