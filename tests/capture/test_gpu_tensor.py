"""Kernels for a Blackwell GPU: what of them is in the file, and their values. JAX's own
lowering for CUDA must accept every kernel."""

import gpu_shipped_blackwell
import gpu_tensor
import gpu_tensor_steps
import jax.numpy as jnp
import numpy as np
import pytest
from gpu_case import cases_of, interpreted, like, plgpu
from support import operations, pallascope
from test_gpu_values import run

CHIP = "b200"
CASES = cases_of(gpu_tensor, gpu_tensor_steps, gpu_shipped_blackwell)


@pytest.mark.parametrize("name", CASES)
def test_a_kernel_is_captured_and_run(name):
    case = CASES[name]
    kernel = pallascope.capture(case.fn, *case.args, chip=CHIP)
    assert kernel.document["lowering"] == {"accepted": "yes"}
    assert not case.has - {one["op"] for one in operations(kernel.document["body"])}
    results, findings = run(kernel)
    assert findings <= {case.finds}
    for ours, theirs in zip(results, case.results(), strict=True):
        case.compare(ours, theirs)


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if case.is_interpreted])
def test_what_is_expected_is_what_jax_yields(name):
    case = CASES[name]
    for theirs, wanted in zip(interpreted(case), case.results(), strict=True):
        case.compare(np.asarray(theirs), wanted)


def test_what_is_not_captured_is_named():
    scales = plgpu.TMEM((128, 4), jnp.float8_e8m0fnu,
                        layout=plgpu.TMEMLayout.SCALES_LAYOUT)

    @plgpu.kernel(out_type=like(128, 128), scratch_types=dict(
        a_smem=plgpu.SMEM((128, 128), jnp.float8_e5m2), b_smem=plgpu.SMEM((128, 128),
                                                                        jnp.float8_e5m2),
        acc=plgpu.TMEM((128, 128), jnp.float32), a_scale=scales, b_scale=scales))
    def scaled(o_gmem, a_smem, b_smem, acc, a_scale, b_scale):
        plgpu.tcgen05_mma(acc, a_smem, b_smem, a_scale=a_scale, b_scale=b_scale)

    with pytest.raises(pallascope.UnsupportedError, match="tcgen05_mma of "):
        pallascope.capture(lambda: scaled(), chip=CHIP)
