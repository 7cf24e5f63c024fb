#!/usr/bin/env python3
"""Lets NumPy read results and write inputs, with the real NumPy and ml_dtypes.

    check_numpy.py PALLASCOPE VENV

They are looked for in this Python, then in the one of VENV, which has them because JAX needs them. Exits with 77,
which ctest counts as skipped, if neither has them.
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

try:
    import ml_dtypes
    import numpy
except ImportError as error:
    other = pathlib.Path(sys.argv[2], "bin", "python")
    if other.exists() and pathlib.Path(sys.prefix) != pathlib.Path(sys.argv[2]):
        os.execv(other, [str(other), "-B", *sys.argv])
    print(f"skipped: {error}")
    sys.exit(77)

# The program's names of dtypes and NumPy's types. Those that add_vectors accepts are tried.
DTYPES = {
    "f32": numpy.float32,
    "bf16": ml_dtypes.bfloat16,
    "f16": numpy.float16,
    "f8e4m3fn": ml_dtypes.float8_e4m3fn,
    "f8e5m2": ml_dtypes.float8_e5m2,
    "f8e4m3b11fnuz": ml_dtypes.float8_e4m3b11fnuz,
    "int8": numpy.int8,
    "uint8": numpy.uint8,
    "int16": numpy.int16,
    "uint16": numpy.uint16,
    "int32": numpy.int32,
    "uint32": numpy.uint32,
}


def dtypes_of(pallascope, kernel):
    described = json.loads(subprocess.run([pallascope, "describe", kernel, "--json"], check=True,
                                          stdout=subprocess.PIPE).stdout)
    return next(p["choices"] for p in described["parameters"] if p["name"] == "dtype")


def check(pallascope, folder, name, dtype, save):
    shape = (24, 40)
    random = numpy.random.default_rng(0)
    x, y = (random.integers(0, 8, shape).astype(dtype) for _ in range(2))
    if numpy.dtype(dtype).kind not in "iu":  # numbers that need all of their bits
        x, y = (random.standard_normal(shape).astype(dtype) for _ in range(2))
    save(folder / "in.npz", arg0=x, arg1=y)
    subprocess.run([pallascope, "run", "add_vectors", "-p", "shape=24,40", "-p", f"dtype={name}",
                    "-p", "block=8", "--inputs", folder / "in.npz", "--results",
                    folder / "out.npz"], check=True, stdout=subprocess.DEVNULL)
    with numpy.load(folder / "out.npz") as results:
        assert results.files == ["result0"], results.files
        found = results["result0"]
    if found.dtype.kind == "V":  # NumPy knows the bytes, but not their dtype
        found = found.view(dtype)
    assert found.dtype == dtype and found.shape == shape, (found.dtype, found.shape)
    numpy.testing.assert_array_equal(found, x + y)


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for dtype in dtypes_of(sys.argv[1], "add_vectors"):
            for save in (numpy.savez, numpy.savez_compressed):
                check(sys.argv[1], folder, dtype, DTYPES[dtype], save)


if __name__ == "__main__":
    main()
