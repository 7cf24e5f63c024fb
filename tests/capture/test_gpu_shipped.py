"""Kernels for a GPU that ship inside JAX, unchanged."""

import dataclasses

import gpu_shipped
import jax
import numpy as np
import pytest
from gpu_case import cases_of
from gpu_shipped import attention, matmul
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


def test_clusters_are_named_with_what_belongs_to_them():
    case = CASES["hopper_matmul"]
    config = dataclasses.replace(matmul.TuningConfig(**gpu_shipped.TILES),
                                 cluster_dimension=matmul.MatmulDimension.M)
    with pytest.raises(pallascope.UnsupportedError) as caught:
        pallascope.capture(lambda a, b: matmul.matmul(a, b, None, config), *case.args,
                           chip="h100")
    assert [problem.what for problem in caught.value.problems] == [
        "a kernel whose blocks form clusters", "ClusterBarrier",
        "copy_gmem_to_smem with collective axes"]
    assert all(problem.file.endswith("hopper_matmul_mgpu.py")
               for problem in caught.value.problems)
