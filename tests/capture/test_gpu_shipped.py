"""Kernels for a GPU that ship inside JAX, unchanged."""

import gpu_shipped
import jax
import numpy as np
import pytest
from gpu_case import cases_of
from gpu_shipped import attention
from support import operations, pallascope

CASES = cases_of(gpu_shipped)


@pytest.mark.parametrize("name", CASES)
def test_a_kernel_is_captured_and_jax_accepts_it(name):
    case = CASES[name]
    document = pallascope.capture(case.fn, *case.args, chip="h100").document
    assert document["lowering"] == {"accepted": "yes"}
    assert not case.has - {one["op"] for one in operations(document["body"])}


def test_a_kernel_has_the_name_of_its_function():
    case = CASES["hopper_matmul"]  # a functools.partial, which JAX calls "anonymous"
    document = pallascope.capture(case.fn, *case.args, chip="h100").document
    (kernel,) = (one for one in operations(document["body"]) if one["op"] == "kernel")
    assert kernel["params"] == {"name": "kernel"}


def test_attention_is_expected_as_jax_computes_it():
    for name, causal in (("attend", False), ("attend_causally", True)):
        case = CASES[name]
        theirs = np.asarray(attention.attention_reference(*case.args, causal=causal))
        case.compare(theirs, *case.results())
    case = CASES["attend_and_differentiate"]
    of_sum = jax.grad(lambda *qkv: attention.attention_reference(*qkv).astype("float32").sum(),
                      argnums=(0, 1, 2))
    for theirs, ours in zip(of_sum(*case.args), case.results(), strict=True):
        case.compare(np.asarray(theirs), ours)


def test_blocks_of_a_cluster_fetch_for_each_other():
    case = CASES["hopper_matmul_of_clusters"]
    document = pallascope.capture(case.fn, *case.args, chip="h100").document
    copies = [one.get("params", {}) for one in operations(document["body"])
              if one["op"] == "copy_gmem_to_smem"]
    assert {"blocks": 2} in copies
    assert {} in copies
