"""Bools that a kernel for a TPU is given or yields. It has them as int32, so JAX casts them before
it and after it (jax/_src/pallas/mosaic/pallas_call_registration.py). XLA fuses these casts with
what is around them, and makes one of those that are equal."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import numpy as np
from jax import lax

from pallascope.jax_compat import jaxprs, parameters
from pallascope.outside_kernel import fusible_steps, fusion_operation
from pallascope.outside_kernel.arrays import Array, Arrays
from pallascope.outside_kernel.liveness import Frames
from pallascope.outside_kernel.refs import is_ref
from pallascope.rules.flags_in_memory import is_flag
from pallascope.walk import Walk

Evaluate = Callable[[Any, list[Array]], list[Array]]


def are_in(eqn: Any) -> bool:
    """Returns whether the equation is a kernel with bools."""
    return eqn.primitive.name in parameters.KERNELS and any(is_flag(v.aval) for v in (*eqn.invars,
                                                                         *eqn.outvars))


class FlagsOfKernels:
    """Casts bools around kernels. `evaluate` takes an equation and its operands, and returns its
    results."""

    def __init__(self, walk: Walk, arrays: Arrays, frames: Frames, evaluate: Evaluate) -> None:
        self._walk, self._arrays, self._frames, self._evaluate = walk, arrays, frames, evaluate

    def with_casts(self, eqn: Any, operands: list[Array]) -> list[Array]:
        """Returns the results of a kernel with bools."""
        updated = parameters.updated_operands(eqn)
        given = [self._widened(array, shared=not is_ref(v) and number not in updated)
                 if is_flag(v.aval) else array
                 for number, (v, array) in enumerate(zip(eqn.invars, operands, strict=True))]
        kernel = eqn.replace(
            invars=list(map(_in_kernel, eqn.invars)), outvars=list(map(_in_kernel, eqn.outvars)),
            params=eqn.params | {"out_avals": tuple(map(_widened_aval, eqn.params["out_avals"]))})
        found = self._evaluate(kernel, given)
        for number in sorted(jaxprs.written_arguments(eqn)):
            if is_flag(eqn.invars[number].aval):
                self._write_back(given[number], operands[number])
        return [self._cast(array, v.aval.dtype) if is_flag(v.aval) else array
                for v, array in zip(eqn.outvars, found, strict=True)]

    def _widened(self, array: Array, shared: bool) -> Array:
        """Returns an array of bools as int32. Kernels share what they do not update."""
        return self._frames.instead(array, shared, lambda: self._cast(array, np.int32))

    def _cast(self, array: Array, dtype: Any) -> Array:
        return self._evaluate(_conversion(array.aval, dtype), [array])[0]

    def _write_back(self, array: Array, ref: Array) -> None:
        """Makes a ref hold what a kernel wrote to its cast."""
        fusion_operation.compute(self._walk, _conversion(array.aval, ref.aval.dtype),
                                 [self._arrays.ref(array, "hbm")], [self._arrays.ref(ref, "hbm")])
        self._arrays.forget(ref)


def _conversion(aval: Any, dtype: Any) -> Any:
    return fusible_steps.equation(lambda one: lax.convert_element_type(one, dtype), [aval])


def _in_kernel(v: Any) -> Any:
    is_cast = is_flag(v.aval) and not isinstance(v, jaxprs.Literal)
    return type(v)(_widened_aval(v.aval)) if is_cast else v


def _widened_aval(aval: Any) -> Any:
    return jax.core.ShapedArray(aval.shape, np.int32) if is_flag(aval) else aval
