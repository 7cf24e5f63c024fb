"""Kernels that ship inside JAX, unchanged. docs/compatibility.md says how well each of them works.
"""

import pytest
import shipped
from compatibility import Table, captured, same

TABLE = Table("Inside JAX", shipped.CASES)


@pytest.mark.parametrize("case", shipped.CASES, ids=lambda case: case.name)
def test_kernel(case, tmp_path):
    TABLE.run(case, tmp_path)


def test_the_document_says_so():
    TABLE.check()


def test_lines_are_those_of_the_kernel():
    case = next(case for case in shipped.CASES if case.name == "flash_attention")
    files = {location["file"] for location in captured(case).document["locations"]}
    assert "jax/experimental/pallas/ops/tpu/flash_attention.py" in files


def test_another_row_would_be_seen():
    row = ["a", "yes", "yes", "yes", "2e-06", "none", "8", "0.1"]
    assert same(row, row[:-1] + ["9.9"])
    assert same(row, [*row[:4], "5e-06", *row[5:]])
    for place, other in [(3, "no"), (4, "1e-05"), (4, "0"), (5, "1 race"), (6, "9")]:
        assert not same(row, [*row[:place], other, *row[place + 1:]])
