"""Kernels for a GPU with the mistakes that authors make: JAX accepts each, and a run finds the
mistake once, at the line to change."""

import json
import pathlib
import subprocess
import tempfile

import gpu_mistakes
import gpu_mistakes_async
import gpu_mistakes_blocks
import gpu_mistakes_tensor
import jax.numpy as jnp
import pytest
from gpu_case import like, ramp
from gpu_mistakes import MISTAKES
from jax.experimental.pallas import mosaic_gpu as plgpu
from support import PALLASCOPE, pallascope

FILES = [pathlib.Path(module.__file__).name for module in (
    gpu_mistakes, gpu_mistakes_async, gpu_mistakes_blocks, gpu_mistakes_tensor)]


def findings(name):
    mistake = MISTAKES[name]
    kernel = pallascope.capture(mistake.fn, *mistake.args, chip=mistake.chip)
    assert kernel.document["lowering"] == {"accepted": "yes"}
    return findings_of(kernel)


def findings_of(kernel):
    with tempfile.TemporaryDirectory() as folder:
        kernel.save(f"{folder}/k.pallascope")
        done = subprocess.run([PALLASCOPE, "run", f"{folder}/k.pallascope", "--json"],
                              capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode in (0, 1), done.stderr
    return [one for one in json.loads(done.stdout)["findings"] if one["kind"] != "unknown_figure"]


def check_found_once(name):
    found = findings(name)
    assert [one["kind"] for one in found] == [MISTAKES[name].kind], found
    path, _, line = found[0]["source"].rpartition(":")
    assert pathlib.Path(path).name in FILES
    assert int(line) == MISTAKES[name].line(), found


@pytest.mark.parametrize(("name", "by"), [
    ("warpgroups_that_do_not_wait_for_each_other", "Order them with a barrier"),
    ("a_row_of_the_other_block_that_may_not_be_there", "Order them with a barrier"),
    ("blocks_that_store_to_the_same_row", "Order them with a semaphore"),
    ("a_slot_that_is_released_before_its_product_has_read_it",
     "An arrival before the wgmma_wait does not cover")])
def test_the_advice_is_what_the_agents_have(name, by):
    assert by in findings(name)[0]["message"]


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_is_found_once(name):
    check_found_once(name)


def test_one_mistake_does_not_hide_another():
    """What is undefined for another reason than the one that is found is found as well."""
    @plgpu.kernel(out_type=[like(2, 128), like(2, 128)], scratch_types=[
        plgpu.SMEM((128,), jnp.float32), plgpu.SMEM((128,), jnp.float32), plgpu.Barrier()])
    def copies(x_gmem, o_gmem, p_gmem, smem, empty, loaded):
        plgpu.copy_gmem_to_smem(x_gmem.at[0], smem, loaded)
        o_gmem[0] = smem[...]
        plgpu.barrier_wait(loaded)
        o_gmem[1] = smem[...]
        p_gmem[0] = empty[...]
        p_gmem[1] = empty[...] + 1

    kernel = pallascope.capture(lambda x: copies(x), ramp(2, 128), chip="h100_sxm")
    found = {one["kind"]: one["operand"] for one in findings_of(kernel)}
    assert found == {"read_before_wait": "smem", "undefined_result": "p_gmem"}
