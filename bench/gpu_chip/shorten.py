#!/usr/bin/env python3
"""Makes the results of a chip that are kept out of a run's gpu_chip.csv.

    shorten.py OUT/gpu_chip.csv > h100_sxm.csv

Leaves out what a reader does not miss: the clock during the short measurements, launches one by one on a stream
(the host bounds these), how many repeats there were, a spread below 0.5 % of its value, and parameters with their
usual value (USUAL). What passed beside wgmma stands in the line of the wgmma, in the column
other_B_per_cycle_per_SM.
"""
import csv
import sys

COLUMNS = ("group", "name", "parameters", "value", "unit", "spread", "other_B_per_cycle_per_SM")
LEFT_OUT = {("smem", "clock"), ("port", "clock"), ("mix", "clock"), ("launch", "per_kernel_stream")}
USUAL = {"smem": {"kind=bf16", "A=smem", "B=same", "other=none", "rate=0", "chunk=16384"},
         "launch": {"smem_KiB=0", "registers=few", "cluster=1", "body=empty"}}


def kept(rows):
    """The lines that stay, in their order. `other_traffic` follows the line of the wgmma that it passed beside."""
    lines = []
    for row in rows:
        if (row["group"], row["name"]) in LEFT_OUT:
            continue
        words = [word for word in row["parameters"].split() if word not in USUAL.get(row["group"], ())]
        line = {**row, "parameters": " ".join(words)}
        if float(row["spread"]) < 0.005 * abs(float(row["value"])):
            line["spread"] = ""
        if row["name"] == "other_traffic" and lines and lines[-1]["parameters"] == line["parameters"]:
            lines[-1]["other_B_per_cycle_per_SM"] = row["value"]
        else:
            lines.append(line)
    return lines


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    with open(sys.argv[1], newline="") as file:
        lines = kept(csv.DictReader(file))
    writer = csv.DictWriter(sys.stdout, COLUMNS, restval="", extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    writer.writerows(lines)


if __name__ == "__main__":
    main()
