#!/usr/bin/env python3
"""Fits figures of chip files to rows of the side that is for fitting.

    build/jax/bin/python bench/validate/fit.py --chip tpu_v7x --family flash_attention splash_attention \\
        --fit constants/step_operand_s=1.2e-7 units/MXU/cycles_per_tile=8

Each figure begins at the value that is given; PLACE=VALUE:0.02 tries 2 % more first. Nelder-Mead on the mean of
|ln(predicted / measured)| and a fifth of the root of its mean square; needs scipy.
"""
import math
import statistics

import chips
import rows as kit


def errors(chosen, files, arguments):
    return [(row, math.log(report["time_s"] / row.measured_s) if "time_s" in report else None)
            for row, report in kit.run_all(chosen, arguments.keep, arguments.program, chips=files)]


def main():
    from scipy.optimize import minimize

    parser = kit.parser(__doc__)
    parser.add_argument("--fit", nargs="+", required=True, metavar="PLACE=VALUE[:SHARE]", dest="figures")
    parser.add_argument("--chip", nargs="+", required=True)
    parser.add_argument("--family", nargs="+")
    parser.add_argument("--rows", nargs="+", type=int)
    parser.add_argument("--without", nargs="+", type=int, default=[])
    parser.add_argument("--fixed", nargs="+", default=[], metavar="PLACE=VALUE")
    parser.add_argument("--steps", type=int, default=60)
    arguments = parser.parse_args()
    chosen = [row for row in kit.fitting(arguments.keep)
              if row.chip in arguments.chip and row.number not in arguments.without
              and (not arguments.family or row.family in arguments.family)
              and (not arguments.rows or row.number in arguments.rows)]
    pairs = [figure.split("=") for figure in arguments.figures]
    places = [place for place, _ in pairs]
    begin = [float(value.split(":")[0]) for _, value in pairs]
    widths = [float((value.split(":") + ["0.3"])[1]) for _, value in pairs]
    fixed = {place: float(value) for place, value in (figure.split("=") for figure in arguments.fixed)}
    original = {chip: chips.read(chip) for chip in arguments.chip}

    def files(values):
        figures = fixed | dict(zip(places, values))
        figures = {place: round(value) if value > 1e6 else value for place, value in figures.items()}
        return {chip: chips.write(chips.edited(original[chip], figures), arguments.folder) for chip in original}

    def objective(factors):
        if min(factors) < 0:
            return 10 - 10 * min(factors)
        values = [factor * first for factor, first in zip(factors, begin)]
        found = [error for _, error in errors(chosen, files(values), arguments) if error is not None]
        score = statistics.mean(map(abs, found)) + 0.2 * math.sqrt(statistics.mean(e * e for e in found))
        print(" ".join(f"{value:.4g}" for value in values), f"{100 * score:.3f}", flush=True)
        return score

    result = minimize(objective, [1.0] * len(begin), method="Nelder-Mead",
                      options={"maxfev": arguments.steps, "xatol": 0.01, "fatol": 1e-4,
                               "initial_simplex": [[1.0] * len(begin)] + [
                                   [1.0 if i != j else 1 + widths[j] for i in range(len(begin))]
                                   for j in range(len(begin))]})
    best = [factor * first for factor, first in zip(result.x, begin)]
    for place, value in zip(places, best):
        print(f"{place} = {value:.6g}")
    final = errors(chosen, files(best), arguments)
    for row, error in final:
        print(f"  {row.number:4} {row.family:18} {row.data['mode'][:24]:24} {100 * (math.exp(error) - 1):+6.1f} %")
    print(f"{len(final)} rows, mean absolute error "
          f"{100 * statistics.mean(abs(math.exp(error) - 1) for _, error in final):.2f} %")


if __name__ == "__main__":
    main()
