"""Kernels of the project's tests of captured kernels (tests/capture), at the sizes of real work."""
import importlib
import pathlib
import sys

import jax

from case import F16, F32, Made, case, normal, product_check

_TESTS = pathlib.Path(__file__).resolve().parents[2] / "tests" / "capture"


def _tests(name):
    if jax.__version_info__ < (0, 12):  # the tests would skip themselves, which is no error to catch
        raise ImportError("kernels of the tests need JAX 0.12")
    if str(_TESTS) not in sys.path:
        sys.path.append(str(_TESTS))
    return importlib.import_module(name)


def _of_matrices(fn, m, n, k):
    return Made(fn, [normal(m, k, dtype=F16), normal(k, n, dtype=F16)], product_check, 1.5e-2)


def pipelined(m, n, k, tm, tn, step, stages):
    tests = _tests("gpu_authors")
    return _of_matrices(lambda a, b: tests._pipelined(a, b, lambda total: total, out_dtype=F16, tile=(tm, tn),
                                                      step=step, stages=stages), m, n, k)


def persistent(m, n, k, tm, tn, step, stages, snake):
    tests = _tests("gpu_authors")
    return _of_matrices(lambda a, b: tests._persistent(a, b, snake, blocks=132, tile=(tm, tn), step=step,
                                                       stages=stages), m, n, k)


def softmax(rows, n):
    tests = _tests("gpu_authors")
    return Made(tests.softmax_of_long_rows, [normal(rows, n, dtype=F32)],
                lambda outs, args: [(outs[0], jax.nn.softmax(args[0], axis=-1))], 1e-4)


def triton_matmul(m, n, k, block, warps, stages):
    tests = _tests("gpu_triton_loops")
    return _of_matrices(lambda a, b: tests._matmul(a, b, warps=warps, stages=stages, block=block), m, n, k)


def _square(maker, size, **params):
    return case(f"own_{maker.__name__}", maker, m=size, n=size, k=size, **params)


CASES = [
    _square(pipelined, 4096, tm=128, tn=128, step=64, stages=3),
    _square(pipelined, 4096, tm=64, tn=128, step=64, stages=3),
    _square(pipelined, 4096, tm=64, tn=128, step=64, stages=2),
    _square(pipelined, 4096, tm=128, tn=128, step=64, stages=4),
    _square(pipelined, 2048, tm=64, tn=128, step=64, stages=4),
    _square(pipelined, 4096, tm=64, tn=128, step=128, stages=3),
    _square(persistent, 4096, tm=64, tn=128, step=64, stages=4, snake=True),
    _square(persistent, 4096, tm=64, tn=64, step=64, stages=2, snake=True),
    _square(persistent, 4096, tm=128, tn=128, step=64, stages=4, snake=True),
    _square(persistent, 4096, tm=64, tn=128, step=64, stages=4, snake=False),
    case("own_softmax", softmax, rows=8192, n=4096),
    case("own_softmax", softmax, rows=4096, n=16384),
    _square(triton_matmul, 4096, block=128, warps=8, stages=3),
    _square(triton_matmul, 4096, block=64, warps=4, stages=2),
    _square(triton_matmul, 4096, block=64, warps=4, stages=4),
    _square(triton_matmul, 4096, block=128, warps=4, stages=3),
    _square(triton_matmul, 4096, block=128, warps=8, stages=2),
    _square(triton_matmul, 2048, block=32, warps=4, stages=2),
    _square(triton_matmul, 2048, block=32, warps=1, stages=2),
]
