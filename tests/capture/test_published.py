"""Kernels of ejkernel, which this project did not write. Skipped if the package is not installed.
"""

import pytest

pytest.importorskip("ejkernel")

import published
from compatibility import Table

TABLE = Table("ejkernel 0.0.80.3", published.CASES)


@pytest.mark.parametrize("case", published.CASES, ids=lambda case: case.name)
def test_kernel(case, tmp_path):
    TABLE.run(case, tmp_path)


def test_the_document_says_so():
    TABLE.check()
