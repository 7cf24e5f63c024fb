"""Kernels for a Blackwell GPU: what of them is in the file, and their values. JAX's own
lowering for CUDA must accept every kernel."""

import gpu_scaled
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
CASES = cases_of(gpu_tensor, gpu_scaled, gpu_tensor_steps, gpu_shipped_blackwell)


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
    @plgpu.kernel(out_type=like(128, 128), scratch_types=dict(
        a_smem=plgpu.SMEM((128, 64), jnp.float16), b_smem=plgpu.SMEM((128, 128), jnp.float16),
        acc=plgpu.TMEM((128, 128), jnp.float32), metadata=plgpu.TMEM(
            (128, 64), jnp.uint2, layout=plgpu.TMEMLayout.SPARSE_METADATA_LAYOUT)))
    def sparse(o_gmem, a_smem, b_smem, acc, metadata):
        plgpu.tcgen05_mma(acc, a_smem, b_smem, a_sparse_metadata=metadata)

    with pytest.raises(pallascope.UnsupportedError, match="tcgen05_mma of sparse operands"):
        pallascope.capture(lambda: sparse(), chip=CHIP)


def test_scales_of_blocks_with_half_the_rows_are_named():
    layout = dict(layout=plgpu.TMEMLayout.SCALES_M64_COLLECTIVE_LAYOUT, collective=True)

    @plgpu.kernel(out_type=like(128, 128), cluster=(2,), cluster_names=("pair",),
                  scratch_types=dict(lines=plgpu.SMEM((1, 1, 64, 16), jnp.float8_e8m0fnu),
                                     scales=plgpu.TMEM((256, 4), jnp.float8_e8m0fnu, **layout)))
    def copies(o_gmem, lines, scales):
        plgpu.async_copy_scales_to_tmem(lines, scales, collective_axis="pair")

    with pytest.raises(pallascope.UnsupportedError, match="laid out as"):
        pallascope.capture(lambda: copies(), chip=CHIP)
