"""Writes docs/compatibility.md: a section with a table for each group of kernels, made by their
tests.

With PALLASCOPE_WRITE=1 in the environment, a section is written. Otherwise what it says must be
true, except for the seconds. The document is for one version of JAX; with other versions the
kernels are only run and compared.
"""

from __future__ import annotations

import json
import math
import os
import pathlib
import subprocess
from collections import Counter
from typing import Any

import jax
import numpy as np
import pallascope
import pytest
import shipped
from pallascope.jax_compat import stand_in_devices, versions
from support import PALLASCOPE, compare, pltpu

_DOCUMENT = pathlib.Path(__file__).parents[2] / "docs" / "compatibility.md"
_COLUMNS = ["kernel", "captured", "runs", "JAX takes it", "largest error", "findings", "steps",
            "seconds"]
# Errors that differ by a smaller factor count as equal, because they depend on the processor.
_NEARLY = 4.0
_ROUNDING = 1e-6  # a few roundings of float32, of the largest element


def captured(case: shipped.Case) -> pallascope.Kernel:
    return pallascope.capture(case.fn, *case.args, chip=case.chip, cores=case.cores)


def report_of(case: shipped.Case, kernel: pallascope.Kernel,
              folder: pathlib.Path) -> tuple[dict[str, Any], list[np.ndarray]]:
    kernel.save(folder / "k.pallascope")
    done = subprocess.run(
        [PALLASCOPE, "run", folder / "k.pallascope", "--chip", case.chip, "--json", "--results",
         folder / "out.npz", *(f"--set={setting}" for setting in case.settings)],
        capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode in (0, 1), done.stderr
    report = json.loads(done.stdout)
    assert done.returncode == (1 if report["findings"] else 0)
    with np.load(folder / "out.npz") as archive:
        return report, [archive[f"result{i}"] for i in range(len(archive.files))]


def wanted(case: shipped.Case) -> list[np.ndarray]:
    """Returns the results that are expected, where they are defined."""
    if case.wanted is not None:
        return [np.asarray(leaf) for leaf in jax.tree_util.tree_leaves(case.wanted())]
    jax.clear_caches()
    options = pltpu.InterpretParams(num_cores_or_threads=case.cores)
    with stand_in_devices.device_of(case.chip), pltpu.force_tpu_interpret_mode(options):
        leaves = jax.tree_util.tree_leaves(jax.jit(case.fn)(*case.args))
    return [np.asarray(leaf)[case.defined] for leaf in leaves]


def error(ours: np.ndarray, theirs: np.ndarray) -> float:
    if ours.dtype != theirs.dtype:
        ours = ours.view(theirs.dtype)
    wide = theirs.astype(np.float64)
    return float(np.abs(ours.astype(np.float64) - wide).max() / max(np.abs(wide).max(), 1e-30))


def rounded(worst: float) -> str:
    return f"{worst:.0e}" if worst else "0"


def in_words(kinds: Counter[str]) -> str:
    return ", ".join(f"{count} {kind}" for kind, count in sorted(kinds.items())) or "none"


class Table:
    """The section with this heading. `run` adds its rows."""

    columns = _COLUMNS

    def __init__(self, heading: str, cases: list[Any]) -> None:
        self.heading = f"## {heading}"
        self.cases = cases
        self.rows: dict[str, list[str]] = {}

    def run(self, case: shipped.Case, folder: pathlib.Path) -> None:
        """Captures and runs the kernel, compares the results, and notes the row."""
        kernel = captured(case)
        report, found = report_of(case, kernel, folder)
        worst = 0.0
        for ours, theirs in zip(found, wanted(case), strict=True):
            compare(ours[case.defined], theirs, case.terms, case.ulps)
            worst = max(worst, error(ours[case.defined], theirs))
        kinds = Counter(finding["kind"] for finding in report["findings"])
        assert set(kinds) <= set(case.findings), report["findings"]
        self.rows[case.name] = [
            case.name, "yes", "yes", kernel.document["lowering"].get("accepted", "unknown"),
            rounded(worst), in_words(kinds), str(report["steps"]), f"{report['wall_s']:.3f}"]

    def check(self) -> None:
        """Checks that what was run is as the document says."""
        if os.environ.get("PALLASCOPE_WRITE"):
            self._write()
        version, written = self._read()
        if version != versions.VERSION:
            pytest.skip(f"the table is of JAX {version}")
        assert list(written) == [case.name for case in self.cases]
        wrong = [f"now {row}, written {written[name]}" for name, row in self.rows.items()
                 if not same(row, written[name], self.columns)]
        assert not wrong, "\n".join(wrong)

    def _sections(self) -> list[str]:
        text = _DOCUMENT.read_text()
        return [part if number == 0 else f"## {part}"
                for number, part in enumerate(text.split("\n## "))]

    def _write(self) -> None:
        rows = [self.columns, ["---"] * len(self.columns), *self.rows.values()]
        lines = [self.heading, "", f"Captured from JAX {versions.VERSION}.", "",
                 *(f"| {' | '.join(row)} |" for row in rows), ""]
        parts = ["\n".join(lines) if part.splitlines()[:1] == [self.heading] else part
                 for part in self._sections()]
        _DOCUMENT.write_text("\n".join(parts))

    def _read(self) -> tuple[str, dict[str, list[str]]]:
        (part,) = (part for part in self._sections() if part.splitlines()[:1] == [self.heading])
        lines = [line for line in part.splitlines() if line.startswith("| ")]
        rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]
        version = part.partition("from JAX ")[2].partition(".\n")[0]
        return version, {row[0]: row for row in rows}


def same(ours: list[str], theirs: list[str], columns: list[str] = _COLUMNS) -> bool:
    place = columns.index("largest error")
    exact = [n for n in range(len(columns)) if n not in (place, columns.index("seconds"))]
    a, b = float(ours[place]), float(theirs[place])
    # The order of float32 sums depends on the processor, and so does whether they round alike.
    rounded = max(a, b) <= _ROUNDING
    near = a == b or rounded or (a > 0 and b > 0 and abs(math.log(a / b)) < math.log(_NEARLY))
    return near and all(ours[n] == theirs[n] for n in exact)
