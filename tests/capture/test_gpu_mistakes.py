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
import pytest
from gpu_mistakes import MISTAKES
from support import PALLASCOPE, pallascope

FILES = [pathlib.Path(module.__file__).name for module in (
    gpu_mistakes, gpu_mistakes_async, gpu_mistakes_blocks, gpu_mistakes_tensor)]


def findings(name):
    mistake = MISTAKES[name]
    kernel = pallascope.capture(mistake.fn, *mistake.args, chip=mistake.chip)
    assert kernel.document["lowering"] == {"accepted": "yes"}
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
    ("blocks_that_store_to_the_same_row", "Order them with a semaphore")])
def test_the_advice_is_what_the_agents_have(name, by):
    assert by in findings(name)[0]["message"]


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_is_found_once(name):
    check_found_once(name)
