"""Kernels that ship inside JAX, as they are: docs/compatibility.md says how each does.

PALLASCOPE_WRITE=1 in the environment writes that document; else what it says must be so, but for
the seconds. It is of one version of JAX; with others the kernels are run and compared alone.
"""

from __future__ import annotations

import json
import math
import os
import pathlib
import re
import subprocess
from collections import Counter
from typing import Any

import jax
import numpy as np
import pallascope
import pytest
import shipped
from pallascope import compat
from support import PALLASCOPE, compare, pltpu

DOCUMENT = pathlib.Path(__file__).parents[2] / "docs" / "compatibility.md"
WRITES = bool(os.environ.get("PALLASCOPE_WRITE"))
COLUMNS = ["kernel", "captured", "runs", "JAX takes it", "largest error", "findings", "steps",
           "seconds"]
NEARLY = 4.0  # errors that differ less are the same: they depend on the processor

TEXT = """# Kernels of others

The TPU kernels that ship inside JAX, captured from JAX {version} as they are and run on the machine. A test writes this table
(`PALLASCOPE_WRITE=1` with `make test-jax`) and fails when it no longer holds.

* **JAX takes it**: JAX's own lowering for a TPU accepts the kernel. It is another question than whether it runs here.
* **largest error**: the largest difference from JAX's result, of the largest element of that result. The result is that of JAX's
  TPU interpreter, of ragged paged attention, which no interpreter runs, that of the reference function beside it. 0 means
  every bit; of results that are bits or whole numbers nothing else is accepted.
* **findings**: what the run found, by kind. Those listed are no mistakes of the machine: rows that belong to groups of
  another device stay undefined, and nothing is stored for a sequence without tokens.
* **seconds**: of wall time for the run, on the machine that wrote the table.

"""

_rows: dict[str, list[str]] = {}


def captured(case: shipped.Case) -> pallascope.Kernel:
    return pallascope.capture(case.fn, *case.args, chip=case.chip, cores=case.cores)


def report_of(case: shipped.Case, kernel: pallascope.Kernel,
              folder: pathlib.Path) -> tuple[dict[str, Any], list[np.ndarray]]:
    kernel.save(folder / "k.pallascope")
    done = subprocess.run(
        [PALLASCOPE, "run", folder / "k.pallascope", "--chip", case.chip, "--json", "--results",
         folder / "out.npz"], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode in (0, 1), done.stderr
    report = json.loads(done.stdout)
    assert done.returncode == (1 if report["findings"] else 0)
    with np.load(folder / "out.npz") as archive:
        return report, [archive[f"result{i}"] for i in range(len(archive.files))]


def wanted(case: shipped.Case) -> list[np.ndarray]:
    """Where the result is defined."""
    if case.wanted is not None:
        return [np.asarray(case.wanted())]
    jax.clear_caches()
    options = pltpu.InterpretParams(num_cores_or_threads=case.cores)
    with compat.device_of(case.chip), pltpu.force_tpu_interpret_mode(options):
        leaves = jax.tree_util.tree_leaves(jax.jit(case.fn)(*case.args))
    return [np.asarray(leaf)[case.defined] for leaf in leaves]


def error(ours: np.ndarray, theirs: np.ndarray) -> float:
    if ours.dtype != theirs.dtype:
        ours = ours.view(theirs.dtype)
    wide = theirs.astype(np.float64)
    return float(np.abs(ours.astype(np.float64) - wide).max() / max(np.abs(wide).max(), 1e-30))


@pytest.mark.parametrize("case", shipped.CASES, ids=lambda case: case.name)
def test_kernel(case, tmp_path):
    kernel = captured(case)
    report, found = report_of(case, kernel, tmp_path)
    worst = 0.0
    for ours, theirs in zip(found, wanted(case), strict=True):
        compare(ours[case.defined], theirs, case.terms, case.ulps)
        worst = max(worst, error(ours[case.defined], theirs))
    kinds = Counter(finding["kind"] for finding in report["findings"])
    assert set(kinds) <= set(case.findings), report["findings"]
    _rows[case.name] = [
        case.name, "yes", "yes", kernel.document["lowering"].get("accepted", "unknown"),
        f"{worst:.0e}" if worst else "0",
        ", ".join(f"{count} {kind}" for kind, count in sorted(kinds.items())) or "none",
        str(report["steps"]), f"{report['wall_s']:.3f}"]


def table() -> dict[str, list[str]]:
    """Of the document, by the kernel's name."""
    lines = [line for line in DOCUMENT.read_text().splitlines() if line.startswith("| ")]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[1:]]
    return {row[0]: row for row in rows if not row[0].startswith("---")}


def same(ours: list[str], theirs: list[str]) -> bool:
    place = COLUMNS.index("largest error")
    exact = [n for n in range(len(COLUMNS)) if n not in (place, COLUMNS.index("seconds"))]
    a, b = float(ours[place]), float(theirs[place])
    near = a == b or (a > 0 and b > 0 and abs(math.log(a / b)) < math.log(NEARLY))
    return near and all(ours[n] == theirs[n] for n in exact)


def test_the_document_says_so():
    if WRITES:
        rows = [COLUMNS, ["---"] * len(COLUMNS), *_rows.values()]
        DOCUMENT.write_text(TEXT.format(version=compat.VERSION) + "".join(
            f"| {' | '.join(row)} |\n" for row in rows))
    version = re.search(r"JAX (\d+\.\d+\.\d+)", DOCUMENT.read_text())
    assert version
    if version[1] != compat.VERSION:
        pytest.skip(f"the table is of JAX {version[1]}")
    written = table()
    assert list(written) == [case.name for case in shipped.CASES]
    for name, row in _rows.items():
        assert same(row, written[name]), f"now {row}, written {written[name]}"


def test_lines_are_those_of_the_kernel():
    case = next(case for case in shipped.CASES if case.name == "flash_attention")
    files = {location["file"] for location in captured(case).document["locations"]}
    assert "jax/experimental/pallas/ops/tpu/flash_attention.py" in files


def test_a_refused_error_would_be_seen():
    row = ["a", "yes", "yes", "yes", "2e-06", "none", "8", "0.1"]
    assert same(row, row[:-1] + ["9.9"])
    assert same(row, [*row[:4], "5e-06", *row[5:]])
    for place, other in [(3, "no"), (4, "1e-05"), (4, "0"), (5, "1 race"), (6, "9")]:
        assert not same(row, [*row[:place], other, *row[place + 1:]])


