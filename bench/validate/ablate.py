#!/usr/bin/env python3
"""How far predictions are off with one term of the model taken away, by family.

    build/jax/bin/python bench/validate/ablate.py --keep build/validate

Rows of the side for fitting; the terms are figures of chip files that may be absent.
"""
import collections
import statistics

import chips
import rows as kit

TERMS = {
    "all terms": {},
    "no launches": {"constants/kernel_launch_s": None, "constants/fusion_launch_s": None,
                    "constants/near_fusion_launch_s": None},
    "every fusion launched alike": {"constants/near_fusion_launch_s": None},
    "nothing stays in VMEM": {"memories/VMEM/default_limit": 128 << 20},
    "manual DMA starts for nothing": {"operations/dma_start": None},
    "units overlap fully": {"constants/overlap_exponent": None},
    "results leave the MXU for nothing": {"units/MXU/cycles_per_result": None},
    "tiles enter the MXU for nothing": {"units/MXU/cycles_per_tile": None},
    "one instruction for exp2, exp, logistic and div": {
        f"operations/{name}": None for name in ("exp2", "exp", "logistic", "div")},
    "0.33 us for each step": {"constants/step_overhead_s": 0.33e-6, "constants/step_operand_s": None},
    "HBM at its datasheet rate": {"links/HBM/efficiency": 1},
}


def errors(chosen, files, arguments):
    """The absolute errors in per cent, by family and by family and chip."""
    found = collections.defaultdict(list)
    for row, report in kit.run_all(chosen, arguments.keep, arguments.program, chips=files):
        if "time_s" in report:
            found[row.family].append(100 * abs(report["time_s"] / row.measured_s - 1))
    return found


def main():
    arguments = kit.parser(__doc__).parse_args()
    chosen = kit.fitting(arguments.keep)
    families = sorted({row.family for row in chosen})
    print("| term | " + " | ".join(families) + " | all |")
    print("|---|" + "--:|" * (len(families) + 1))
    for term, figures in TERMS.items():
        files = {chip: chips.write(chips.edited(chips.read(chip), figures), arguments.folder)
                 for chip in kit.CHIPS.values()}
        found = errors(chosen, files, arguments)
        every = [error for family in families for error in found[family]]
        print(f"| {term} | " + " | ".join(f"{statistics.mean(found[family]):.1f}" for family in families)
              + f" | {statistics.mean(every):.1f} |", flush=True)


if __name__ == "__main__":
    main()
