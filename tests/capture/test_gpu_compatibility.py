"""Kernels for a GPU that ship inside JAX, unchanged. docs/compatibility.md says how well each of them
works."""

import dataclasses
import pathlib
from collections import Counter
from typing import Any

import gpu_several
import gpu_shipped
import gpu_shipped_blackwell
import gpu_shipped_several
import gpu_shipped_triton
import gpu_tensor_steps
import pallascope
import pytest
from compatibility import Table, error, in_words, report_of, rounded
from gpu_case import Case, cases_of


@dataclasses.dataclass(frozen=True)
class Row:
    """A kernel, in the words of its style, and the chips that it runs on."""

    name: str
    style: str
    chips: tuple[str, ...]
    case: Case
    mesh: Any = None  # of devices


@dataclasses.dataclass(frozen=True)
class _OnChip:
    """What `report_of` wants to know."""

    chip: str
    settings: tuple[str, ...] = ()


class GpuTable(Table):
    columns = ["kernel", "style", "chips", "captured", "runs", "JAX takes it", "largest error",
               "findings", "seconds"]

    def run(self, row: Row, folder: pathlib.Path) -> None:
        worst, seconds, taken = 0.0, 0.0, set()
        kinds: Counter[str] = Counter()
        for chip in row.chips:
            kernel = pallascope.capture(row.case.fn, *row.case.args, chip=chip, mesh=row.mesh)
            report, found = report_of(_OnChip(chip), kernel, folder)
            taken.add(kernel.document["lowering"].get("accepted", "unknown"))
            seconds = max(seconds, report["wall_s"])
            kinds |= Counter(one["kind"] for one in report["findings"]
                             if one["kind"] != "unknown_figure")
            for ours, theirs in zip(found, row.case.results(), strict=True):
                worst = max(worst, error(ours, theirs))
        assert set(kinds) <= {row.case.finds}
        assert worst <= row.case.tolerance
        self.rows[row.name] = [row.name, row.style, ", ".join(row.chips), "yes", "yes",
                               " ".join(sorted(taken)), rounded(worst), in_words(kinds),
                               f"{seconds:.3f}"]


_SEVERAL = {"x": gpu_several.DEVICES}
ROWS = [Row(name.replace("_", " "), style, chips, case)
        for module, style, chips in ((gpu_shipped, "Mosaic GPU", ("h100_sxm",)),
                                     (gpu_shipped_blackwell, "Mosaic GPU", ("b200",)),
                                     (gpu_tensor_steps, "Mosaic GPU", ("b200",)),
                                     (gpu_shipped_triton, "Triton", ("h100_sxm", "a100_80")))
        for name, case in cases_of(module).items()]
ROWS += [Row(name.replace("_", " "), "Mosaic GPU", ("h100_sxm",), case, _SEVERAL)
         for name, case in cases_of(gpu_shipped_several).items()]
TABLE = GpuTable("Inside JAX, for a GPU", ROWS)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_kernel(row, tmp_path):
    TABLE.run(row, tmp_path)


def test_the_document_says_so():
    TABLE.check()
