"""Kernels on several GPUs, captured and run."""

import gpu_several
import gpu_shipped_several
import pytest
from gpu_case import cases_of
from support import operations, pallascope
from test_gpu_values import run

CASES = cases_of(gpu_several, gpu_shipped_several)


@pytest.mark.parametrize("name", CASES)
def test_values(name):
    case = CASES[name]
    kernel = pallascope.capture(case.fn, *case.args, chip="h100_sxm",
                                mesh={"x": gpu_several.DEVICES})
    assert not case.has - {one["op"] for one in operations(kernel.document["body"])}
    results, findings = run(kernel)
    assert findings <= {case.finds}
    for ours, theirs in zip(results, case.results(), strict=True):
        case.compare(ours, theirs)


@pytest.mark.parametrize("name", [one for one, case in CASES.items() if case.finds == "race"])
def test_stores_after_the_end(name):
    case = CASES[name]
    kernel = pallascope.capture(case.fn, *case.args, chip="h100_sxm",
                                mesh={"x": gpu_several.DEVICES})
    _, findings = run(kernel)
    assert findings == {"race"}
