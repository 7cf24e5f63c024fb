"""Kernels for a GPU, captured and run: their values are those that JAX computes."""

import json
import pathlib
import subprocess
import tempfile

import gpu_ampere
import gpu_around
import gpu_authors
import gpu_authors_triton
import gpu_blocks
import gpu_kernels
import gpu_loops
import gpu_numbers
import gpu_places
import gpu_products
import gpu_shared
import gpu_shipped
import gpu_shipped_triton
import gpu_triton
import gpu_triton_loops
import jax.numpy as jnp
import numpy as np
import pytest
from gpu_case import cases_of
from jax import lax
from support import PALLASCOPE, pallascope, report

CASES = cases_of(gpu_kernels, gpu_loops, gpu_numbers, gpu_places, gpu_products, gpu_shared,
                 gpu_ampere, gpu_authors, gpu_blocks, gpu_shipped, gpu_triton, gpu_triton_loops,
                 gpu_authors_triton, gpu_shipped_triton, gpu_around)


def run(kernel, *options):
    """Returns the results of a run, and its findings besides the one about unknown figures."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "k.pallascope"
        kernel.save(path)
        done = subprocess.run(
            [PALLASCOPE, "run", path, "--json", "--results", f"{folder}/out.npz", *options],
            capture_output=True, text=True, timeout=300, check=False)
        assert done.returncode in (0, 1), done.stdout[-2000:] + done.stderr
        findings = {one["kind"] for one in json.loads(done.stdout)["findings"]}
        with np.load(f"{folder}/out.npz") as archive:
            return ([archive[f"result{i}"] for i in range(len(archive.files))],
                    findings - {"unknown_figure"})


@pytest.mark.parametrize("name", CASES)
def test_values(name):
    case = CASES[name]
    kernel = pallascope.capture(case.fn, *case.args, chip=case.chip)
    results, findings = run(kernel)
    assert findings <= {case.finds}
    for ours, theirs in zip(results, case.results(), strict=True):
        case.compare(ours if ours.dtype == theirs.dtype else ours.view(theirs.dtype), theirs)


def test_a_function_without_a_kernel_runs_on_a_gpu():
    x = np.arange(64, dtype=np.float32)
    kernel = pallascope.capture(lambda x: (jnp.cumsum(x), x.sum() > 3), x, chip="h100_sxm")
    (sums, is_more), findings = run(kernel)
    assert not findings
    np.testing.assert_array_equal(sums, np.cumsum(x))
    assert is_more


def test_blocks_of_a_cluster_fetch_each_byte_once():
    """Two clusters of two blocks read all of x, each block half of its cluster's rows for both."""
    case = CASES["a_cluster_that_shares_its_copies"]
    kernel = pallascope.capture(case.fn, *case.args, chip="h100_sxm")
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "k.pallascope"
        kernel.save(path)
        done = subprocess.run([PALLASCOPE, "run", path, "--json"], capture_output=True, text=True,
                              timeout=300, check=False)
    assert json.loads(done.stdout)["hbm_read_bytes"] == case.args[0].nbytes


def test_an_update_moves_only_what_it_changes():
    x, at, given = CASES["a_row_that_is_put_in_place"].args
    for donate, copied in ((0, 0), ((), x.nbytes)):
        kernel = pallascope.capture(
            lambda x, at, row: lax.dynamic_update_slice(x, row, (at, 0)), x, at, given,
            chip="h100_sxm", donate=donate)
        found, row = report(kernel), given.nbytes
        assert found["hbm_write_bytes"] == copied + row
        assert found["hbm_read_bytes"] <= copied + row + 64  # and the place
