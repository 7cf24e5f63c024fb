"""Kernels of eight devices, against JAX's interpreter on eight simulated ones."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from device_kernels import ANY, DMA, KERNELS, LOGICAL, argument, permute_right, sharded
from jax import lax
from jax.sharding import PartitionSpec as P
from support import pallascope, pl, pltpu

RACY = ["all_gather_vmem", "all_gather_hbm"]  # JAX's own


@pytest.fixture(scope="module")
def oracle():
    """JAX's results by mode and name, and where it found a race."""
    script = pathlib.Path(__file__).parent / "device_kernels.py"
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        for mode in ("eager", "on_wait"):
            done = subprocess.run(
                [sys.executable, script, f"{folder}/{mode}.npz", mode, *KERNELS],
                capture_output=True, text=True, timeout=300, check=False)
            assert done.returncode == 0, done.stdout + done.stderr
            found[mode] = dict(np.load(f"{folder}/{mode}.npz"))
            found[mode + " races"] = [line.removesuffix(" race") for line
                                      in done.stdout.splitlines()
                                      if line.endswith(" race") and "no race" not in line]
    return found


def captured(name):
    axes, make, _ = KERNELS[name]
    return pallascope.capture(make(pallascope.mesh_of(axes)), argument(name), name=name)


def run(kernel, *options):
    """Its result, the kinds of its findings, and its report."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "k.pallascope"
        kernel.save(path)
        done = subprocess.run([os.environ["PALLASCOPE"], "run", path, "--json", "--results",
                               f"{folder}/out.npz", *options],
                              capture_output=True, text=True, timeout=120, check=False)
        assert done.returncode in (0, 1), done.stdout + done.stderr
        report = json.loads(done.stdout)
        with np.load(f"{folder}/out.npz") as archive:
            return archive["result0"], [f["kind"] for f in report["findings"]], report


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("mode", ["eager", "on_wait", "timed"])
def test_results_and_races_are_those_of_jax(oracle, name, mode):
    ours, findings, _ = run(captured(name), "--set", f"dma_execution_mode={mode}")
    wanted = oracle["eager"][name]
    assert not oracle["eager races"]
    if mode == "on_wait" and name in RACY:
        assert name in oracle["on_wait races"]
        assert not np.array_equal(oracle["on_wait"][name], wanted)
        assert "read_before_wait" in findings
        assert not np.array_equal(ours, wanted)
        return
    assert name not in oracle["eager races"]
    # Our own mode has the times of a link, which keep copies in order; the race is there all the
    # same.
    assert findings == (["read_before_wait"] * 2 if mode == "timed" and name in RACY else [])
    np.testing.assert_allclose(ours, wanted, rtol=8 * 2.0**-24, atol=8 * 2.0**-24)
    if not name.startswith(("all_reduce", "reduce")):  # moves data only
        np.testing.assert_array_equal(ours, wanted)
