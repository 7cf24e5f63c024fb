"""Captures a function, runs the file with the command line, and compares the results with those of
JAX's interpreter."""

from __future__ import annotations

import contextlib
import inspect
import json
import os
import pathlib
import subprocess
import tempfile
from collections.abc import Iterator
from typing import Any

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import pallascope
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu
from pallascope.jax_compat import stand_in_devices

PALLASCOPE = os.environ["PALLASCOPE"]
_interpret: Any = True
# JAX keeps traces for each value of this context apart, so that none is used with another
# interpreter. To clear JAX's caches instead would also forget what was compiled.
_interpreter: Any = jax.make_user_context("")


def matmul_body(x_ref: Any, y_ref: Any, o_ref: Any, acc_ref: Any) -> None:
    """A product of blocks, accumulated over the last axis of a grid with three axes."""
    @pl.when(pl.program_id(2) == 0)
    def _() -> None:
        acc_ref[...] = jnp.zeros_like(acc_ref)

    acc_ref[...] += jnp.dot(x_ref[...], y_ref[...], preferred_element_type=jnp.float32)

    @pl.when(pl.program_id(2) == pl.num_programs(2) - 1)
    def _() -> None:
        o_ref[...] = acc_ref[...].astype(o_ref.dtype)


def call(kernel: Any, *args: Any, **params: Any) -> Any:
    """Calls pl.pallas_call, interpreted as `check` wants if it is the oracle."""
    return pl.pallas_call(kernel, *args, interpret=_interpret, **params)


def tensor_cores(count: int = 1) -> Any:
    """Returns a mesh of TensorCores, whose class JAX makes by a function in earlier versions."""
    if hasattr(pltpu, "TensorCoreMesh"):
        return pltpu.TensorCoreMesh(axis_name="core", num_cores=count)
    return pltpu.create_tensorcore_mesh("core", num_cores=count)


def on_mesh(mesh: Any, out: Any, scratch: Any = ()) -> Any:
    """Calls pl.kernel, whose parameters have other names up to JAX 0.10.0."""
    word = "type" if "out_type" in inspect.signature(pl.kernel).parameters else "shape"
    return pl.kernel(mesh=mesh, **{f"out_{word}": out, f"scratch_{word}s": list(scratch)})


def like(*shape: int, dtype: Any = np.float32) -> jax.ShapeDtypeStruct:
    return jax.ShapeDtypeStruct(shape, dtype)


def normal(*shape: int, dtype: Any = np.float32, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(shape).astype(dtype)


def integers(*shape: int, least: int = -100, most: int = 100, dtype: Any = np.int32,
             seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).integers(least, most, shape).astype(dtype)


def whole(array: Any) -> pl.BlockSpec:
    """Returns the block spec of a single step with the whole array as its block."""
    return pl.BlockSpec(np.shape(array), lambda *_: (0,) * np.ndim(array))


@contextlib.contextmanager
def interpreted(mode: Any, chip: str = "") -> Any:
    """Lets `call` be interpreted in this mode, by an interpreter that is asked as on `chip`."""
    global _interpret
    before, _interpret = _interpret, mode
    try:
        with _interpreter(f"{mode} {chip}"):
            yield
    finally:
        _interpret = before


def run(kernel: pallascope.Kernel, *args: Any, expect: int = 0) -> list[np.ndarray]:
    """Returns the results of the program, with JAX's dtypes if NumPy has them."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "k.pallascope"
        kernel.save(path)
        done = subprocess.run([PALLASCOPE, "run", path, "--results", f"{folder}/out.npz", *args],
                              capture_output=True, text=True, timeout=120, check=False)
        assert done.returncode == expect, done.stdout + done.stderr
        with np.load(f"{folder}/out.npz") as archive:
            return [archive[f"result{i}"] for i in range(len(archive.files))]


def report(kernel: pallascope.Kernel, *args: str) -> dict[str, Any]:
    """Returns the report of a run of the program."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "k.pallascope"
        kernel.save(path)
        done = subprocess.run([PALLASCOPE, "run", path, "--json", *args], capture_output=True,
                              text=True, timeout=120, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        return json.loads(done.stdout)


def operations(region: Any) -> Iterator[Any]:
    """Yields the operations of a region of a document, each before those inside it."""
    for operation in region.get("operations", []):
        yield operation
        for inner in operation.get("regions", []):
            yield from operations(inner)


def fusions(kernel: pallascope.Kernel) -> list[tuple[int, int]]:
    """Returns for each fusion, in order, how many arrays it loads from HBM and how many it stores
    there."""
    return [tuple(sum(inner["op"] == op for inner in operations(fusion["regions"][0]))
                  for op in ("get", "swap"))
            for fusion in operations(kernel.document["body"]) if fusion["op"] == "fusion"]


def pipeline_of(kernel: pallascope.Kernel) -> Any:
    """Returns the only pipeline operation of the file."""
    (found,) = (operation for operation in operations(kernel.document["body"])
                if operation["op"] == "pipeline")
    return found


def check(fn: Any, *args: Any, oracle: Any = True, terms: float = 0.0, ulps: float = 4.0,
          wanted: Any = None, chip: str = "tpu_v5e") -> pallascope.Kernel:
    """Checks that the captured kernel yields what JAX yields, or `wanted` if JAX cannot run it.

    `oracle` is True or pltpu.InterpretParams(...). Integers, bools and, if `ulps` is 0, all results
    are compared bit by bit. Otherwise a result may differ by `ulps` of its roundings, plus 8 *
    2^-24 * `terms`, where `terms` is the sum of the magnitudes that were added up.
    """
    kernel = pallascope.capture(fn, *args, chip=chip)
    if wanted is None:
        with interpreted(oracle, chip), stand_in_devices.device_of(chip):
            wanted = jax.jit(fn)(*args)
    found = run(kernel)
    leaves = jax.tree_util.tree_leaves(wanted)
    assert leaves
    for ours, theirs in zip(found, leaves, strict=True):
        compare(ours, np.asarray(theirs), terms, ulps)
    return kernel


def compare(ours: np.ndarray, theirs: np.ndarray, terms: float, ulps: float) -> None:
    if ours.dtype != theirs.dtype:
        ours = ours.view(theirs.dtype)
    assert ours.shape == theirs.shape
    kind = theirs.dtype.kind
    if kind in "iub" or theirs.dtype.name in ("int2", "uint2", "int4", "uint4") or ulps == 0:
        np.testing.assert_array_equal(ours.astype(np.float64), theirs.astype(np.float64))
        return
    eps = float(ml_dtypes.finfo(theirs.dtype).eps)
    np.testing.assert_allclose(ours.astype(np.float64), theirs.astype(np.float64),
                               rtol=ulps * eps, atol=8 * 2.0**-24 * terms)


__all__ = ["call", "check", "compare", "fusions", "integers", "interpreted", "like", "normal",
           "on_mesh", "operations", "pallascope", "pipeline_of", "pl", "pltpu", "report", "run",
           "tensor_cores", "whole"]
