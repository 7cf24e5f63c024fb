"""What a kernel is given as a copy, which XLA fuses with what makes the operand.

A column is an array whose last axis has one element. A kernel for a TPU wants that axis in the
lanes, so that each element takes a row of a tile. What else there is has another axis there.

The slice that a round of a scan is given is read where it lies by all others, but the operand of a
kernel is an array of its own.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp

from pallascope import types
from pallascope.jax_compat import jaxprs, parameters
from pallascope.outside_kernel import fusible_steps
from pallascope.outside_kernel.arrays import Array
from pallascope.outside_kernel.liveness import Frames
from pallascope.outside_kernel.refs import is_ref
from pallascope.outside_kernel.waiting_operations import Waiting
from pallascope.rules import sparse_core


def is_column(shape: Sequence[int]) -> bool:
    return len(shape) > 1 and shape[-1] == 1 and math.prod(shape) > 1


class CopiesForKernels:
    """Copies operands of kernels. The copies wait with the operations around the kernels."""

    def __init__(self, frames: Frames, waiting: Waiting, is_tpu: bool) -> None:
        self._frames, self._waiting, self._is_tpu = frames, waiting, is_tpu

    def copied(self, eqn: Any, operands: list[Array]) -> list[Array]:
        """Returns the operands of an equation, which may be a kernel. Kernels share the copy of
        what they do not update."""
        if eqn.primitive.name not in parameters.KERNELS:
            return operands
        in_tiles = self._is_tpu and _is_for_tensor_cores(eqn)
        wanted = {number for number, array in enumerate(operands)
                  if array.is_slice or (in_tiles and _lies_else(array))}
        if not wanted:
            return operands
        wanted &= _in_hbm(eqn)
        updated = parameters.updated_operands(eqn)
        return [self._frames.instead(array, number not in updated, functools.partial(self._copy, array))
                if number in wanted else array for number, array in enumerate(operands)]

    def _copy(self, array: Array) -> Array:
        (found,) = self._waiting.add(fusible_steps.equation(jnp.copy, [array.aval]), [array])
        found.of_kernel = True
        return found


def _lies_else(array: Array) -> bool:
    """Returns whether it is a column that does not lie as kernels have it."""
    return is_column(array.aval.shape) and array.value is None and not array.is_of_kernel


def _is_for_tensor_cores(eqn: Any) -> bool:
    return not any(map(sparse_core.is_mesh, eqn.params.get("meshes", ())))


def _in_hbm(eqn: Any) -> set[int]:
    """Returns the numbers of the operands that lie in HBM, and that are no refs of the function."""
    if eqn.primitive.name == "pallas_call":
        jaxpr, prefetched = eqn.params["jaxpr"], eqn.params["grid_mapping"].num_index_operands
    else:
        jaxpr, prefetched = eqn.params["jaxprs"][0], 0
    refs = jaxprs.open_jaxpr(jaxpr)[0].invars
    first = parameters.grid_bounds(eqn)
    return {number for number in range(first + prefetched, len(eqn.invars))
            if types.ref_type(refs[number - first].aval).space != "smem"
            and not is_ref(eqn.invars[number])}
