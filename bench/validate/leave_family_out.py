#!/usr/bin/env python3
"""Predicts each family with figures that were fitted without it.

    build/jax/bin/python bench/validate/leave_family_out.py --keep build/validate

For each family, the figures below are chosen anew on the rows of the other families (of the side for
fitting), from what a chip file holds without them: first those that all chips share, then those of each
chip, one after the other, the value with the least mean absolute error of the logarithm. Then the family's
rows of the same side are predicted.
"""
import collections
import itertools
import math
import statistics

import chips
import rows as kit

NONE = {"constants/overlap_exponent": None, "units/MXU/cycles_per_result": None, "units/MXU/cycles_per_tile": None,
        "constants/step_overhead_s": 0.33e-6, "constants/step_operand_s": None, "operations/exp2": None,
        "constants/kernel_launch_s": 2e-6, "constants/fusion_launch_s": 0.7e-6, "operations/dma_start": None}
POP = {"operations/exp2/transcendental": 1, "operations/exp2/vector": 1, "units/MXU/cycles_per_result": 1}
SHARED = [{}, {"constants/overlap_exponent": 4}, POP, {**POP, "constants/overlap_exponent": 8},
          {**POP, "constants/overlap_exponent": 4}]
OF_A_CHIP = [[{"units/MXU/cycles_per_tile": value} for value in (0, 6, 12, 20)],
             [{"constants/step_overhead_s": base * 1e-9, "constants/step_operand_s": operand * 1e-9}
              for base in (20, 60, 120) for operand in (45, 65, 85)],
             [{}, *({"operations/dma_start/scalar": value} for value in (3, 5, 7, 9, 12))]]


def logarithms(chosen, figures, arguments):
    files = {chip: chips.write(chips.edited(chips.read(chip), NONE | figures[chip]), arguments.folder)
             for chip in {row.chip for row in chosen}}
    found = kit.run_all(chosen, arguments.keep, arguments.program, chips=files)
    return [math.log(report["time_s"] / row.measured_s) for row, report in found if "time_s" in report]


def best(chosen, figures, choices, arguments):
    """The figures with the best of the choices for all the chips of the rows."""
    if not chosen:
        return figures
    names = {row.chip for row in chosen}

    def score(choice):
        tried = {chip: figures[chip] | choice for chip in names}
        return statistics.mean(map(abs, logarithms(chosen, tried, arguments)))

    choice = min(choices, key=score)
    return {chip: of | (choice if chip in names else {}) for chip, of in figures.items()}


def without(family, rows, arguments):
    others = [row for row in rows if row.family != family]
    figures = best(others, {chip: {} for chip in kit.CHIPS.values()}, SHARED, arguments)
    for chip in sorted({row.chip for row in rows if row.family == family}):
        for choices in OF_A_CHIP:
            figures = best([row for row in others if row.chip == chip], figures, choices, arguments)
    return figures


def other(every):
    """How far off families that nobody fitted to may be: the 90th percentile of these logarithms without their signs, each
    family as much as the others."""
    weighed = sorted((abs(one), 1 / len(numbers) / len(every)) for numbers in every.values() for one in numbers)
    sums = itertools.accumulate(weight for _, weight in weighed)
    return next(one for (one, _), upto in zip(weighed, sums, strict=True) if upto >= 0.9 - 1e-9)


def main():
    parser = kit.parser(__doc__)
    parser.add_argument("--family", nargs="+", help="only these")
    arguments = parser.parse_args()
    rows = kit.fitting(arguments.keep, kit.SHORTEST_S)
    every, pairs = collections.defaultdict(list), collections.defaultdict(list)
    for family in arguments.family or sorted({row.family for row in rows}):
        figures = without(family, rows, arguments)
        for chip in sorted({row.chip for row in rows if row.family == family}):
            found = logarithms([row for row in rows if (row.family, row.chip) == (family, chip)], figures, arguments)
            every[family] += found
            if len(found) > 1:
                pairs[family] += [one - two for one, two in itertools.combinations(found, 2)]
            mean = statistics.mean(100 * abs(math.exp(one) - 1) for one in found)
            print(f"{family:22} {chip:8} {len(found):4} rows  {mean:6.1f} %  {figures[chip]}", flush=True)
    far = other(every)
    print(f"the residual of other work: {math.expm1(-far):+.3f} to {math.expm1(far):+.3f}, "
          f"{sum(map(len, every.values()))} rows")
    if pairs:
        print(f"its ratio: {math.expm1(other(pairs)):.3f}, {sum(map(len, pairs.values()))} pairs of {len(pairs)} families")


if __name__ == "__main__":
    main()
