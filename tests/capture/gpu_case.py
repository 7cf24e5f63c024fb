"""What a test of a kernel for a GPU is: the kernel, its arguments, and what it yields."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import jax
import numpy as np
import pytest

if jax.__version_info__ < (0, 12):
    pytest.skip("kernels for a GPU are captured from JAX 0.12 on", allow_module_level=True)

from jax.experimental.pallas import mosaic_gpu as plgpu  # noqa: E402


@dataclasses.dataclass(frozen=True)
class Case:
    fn: Callable[..., Any]
    args: tuple[Any, ...]
    wanted: Callable[..., Any]  # in NumPy, of the same arguments
    has: frozenset[str] = frozenset()  # operations that the file must have
    tolerance: float = 0.0  # relative to the largest element
    is_interpreted: bool = True  # whether JAX's interpreter runs it, too
    finds: str = ""  # a finding that a run may have
    chip: str = "h100_sxm"

    def results(self) -> list[np.ndarray]:
        """Returns the wanted results. NumPy computes some of them in double precision."""
        found = self.wanted(*map(np.asarray, self.args))
        arrays = map(np.asarray, found if isinstance(found, tuple) else (found,))
        return [array.astype(np.float32) if array.dtype == np.float64 else array
                for array in arrays]

    def compare(self, ours: np.ndarray, theirs: np.ndarray) -> None:
        ours, theirs = ours.astype(np.float64), theirs.astype(np.float64)
        np.testing.assert_allclose(ours, theirs, rtol=0,
                                   atol=self.tolerance * np.abs(theirs).max())


def interpreted(case: Case) -> list[Any]:
    """Returns what JAX's interpreter of GPUs yields."""
    jax.clear_caches()
    with plgpu.force_gpu_interpret_mode(plgpu.InterpretGPUParams()):
        return jax.tree_util.tree_leaves(jax.jit(case.fn)(*case.args))


_CASES: list[Case] = []


def cases_of(*modules: Any) -> dict[str, Case]:
    """Returns the cases of these files, file by file, by the names of their functions."""
    found = [made for module in modules for made in _CASES
             if made.fn.__module__ == module.__name__]
    cases = {made.fn.__name__: made for made in found}
    assert len(cases) == len(found), "two cases have one name"
    return cases


def case(*args: Any, wanted: Callable[..., Any], has: str = "", **options: Any) -> Any:
    """Makes a case of a function."""
    def made(fn: Callable[..., Any]) -> Callable[..., Any]:
        _CASES.append(Case(fn, args, wanted, frozenset(has.split()), **options))
        return fn

    return made


def like(*shape: int, dtype: Any = np.float32) -> jax.ShapeDtypeStruct:
    return jax.ShapeDtypeStruct(shape, dtype)


def ramp(*shape: int, dtype: Any = np.float32) -> np.ndarray:
    """Returns small whole numbers, so that sums are exact."""
    return (np.arange(np.prod(shape)).reshape(shape) * 7 % 31 - 15).astype(dtype)


def tiled(dtype: Any) -> tuple[Any, ...]:
    """Returns the transforms of an operand of a product."""
    return (plgpu.TilingTransform((8, 128 // np.dtype(dtype).itemsize)),
            plgpu.SwizzleTransform(128))
