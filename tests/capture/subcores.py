"""Kernels on the subcores of a SparseCore and what their tests share. JAX, up to 0.12, interprets
none of these on a CPU, so NumPy computes the expected results."""

import pathlib
import subprocess
import tempfile

import jax
import numpy as np
import pytest
from support import PALLASCOPE, on_mesh, pallascope, pltpu

plsc = pytest.importorskip("jax.experimental.pallas.tpu_sc", reason="this JAX has no SparseCore")
if not hasattr(plsc, "parallel_loop") or not hasattr(pltpu, "sync_copy"):
    pytest.skip("this JAX has another SparseCore API", allow_module_level=True)
if jax.__version_info__ < (0, 10, 1):
    pytest.skip("up to JAX 0.10.0 these meshes have other parameters",
                allow_module_level=True)

CHIP, LANES, SUBCORES = "tpu_v7x", 16, 16


def vector(out, scratch=(), **sizes):
    mesh = plsc.VectorSubcoreMesh(core_axis_name="core", subcore_axis_name="subcore", **sizes)
    return on_mesh(mesh, out, scratch)


def scalar(out, scratch=(), cores=2):
    return on_mesh(plsc.ScalarSubcoreMesh(axis_name="core", num_cores=cores), out, scratch)


def run(kernel, chip, *options):
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "k.pallascope"
        kernel.save(path)
        return subprocess.run([PALLASCOPE, "run", path, "--chip", chip, *options],
                              capture_output=True, text=True, timeout=120, check=False)


def check(fn, *args, wanted, findings=(), chip=CHIP, mesh=None):
    """Checks that the run yields `wanted` and has these findings, besides the one about unknown
    figures."""
    kernel = pallascope.capture(fn, *args, chip=chip, mesh=mesh)
    with tempfile.TemporaryDirectory() as folder:
        done = run(kernel, chip, "--results", f"{folder}/out.npz")
        assert done.returncode == 1, done.stdout + done.stderr
        found = [line.split()[1].rstrip(":") for line in done.stdout.splitlines()
                 if line.startswith("finding")]
        assert sorted(found) == sorted(["unknown_figure", *findings]), done.stdout
        with np.load(f"{folder}/out.npz") as archive:
            results = [archive[f"result{i}"] for i in range(len(archive.files))]
    leaves = wanted if isinstance(wanted, (list, tuple)) else [wanted]
    for ours, theirs in zip(results, leaves, strict=True):
        ours = ours if ours.dtype == theirs.dtype else ours.view(theirs.dtype)
        np.testing.assert_array_equal(ours, theirs)
    return done.stdout


def on_one(body, *args, out, **checked):
    """Runs `body` on one subcore, with its arguments and results in the subcore's own memory."""
    outs = out if isinstance(out, (list, tuple)) else [out]

    def fn(*arrays):
        scratch = [pltpu.VMEM(x.shape, x.dtype) for x in (*arrays, *outs)]

        @vector(list(outs), scratch, num_cores=1, num_subcores=1)
        def kernel(*refs):
            far, near = refs[:len(refs) // 2], refs[len(refs) // 2:]
            for source, target in zip(far[:len(arrays)], near[:len(arrays)], strict=True):
                pltpu.sync_copy(source, target)
            body(*near)
            for target, source in zip(far[len(arrays):], near[len(arrays):], strict=True):
                pltpu.sync_copy(source, target)

        return kernel(*arrays)

    return check(fn, *args, **checked)


__all__ = ["CHIP", "LANES", "SUBCORES", "check", "on_one", "plsc", "run", "scalar", "vector"]
