"""Columns that a kernel for a TPU is given: arrays whose last axis has one element. A kernel wants
that axis in the lanes, so that each element takes a row of a tile. What else there is has another
axis there. Between the two lies a copy, which XLA fuses with what makes the column."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp

from pallascope import types
from pallascope.jax_compat import jaxprs
from pallascope.outside_kernel import fusible_steps
from pallascope.outside_kernel.arrays import Array
from pallascope.outside_kernel.liveness import Frames
from pallascope.outside_kernel.refs import is_ref
from pallascope.outside_kernel.waiting_operations import Waiting
from pallascope.rules import sparse_core


def is_column(shape: Sequence[int]) -> bool:
    return len(shape) > 1 and shape[-1] == 1 and math.prod(shape) > 1


class ColumnsOfKernels:
    """Copies columns for kernels. The copies wait with the operations around the kernels."""

    def __init__(self, frames: Frames, waiting: Waiting) -> None:
        self._frames, self._waiting = frames, waiting

    def copied(self, eqn: Any, operands: list[Array]) -> list[Array]:
        """Returns the operands of an equation, which may be a kernel. Kernels share the copy of
        what they do not update."""
        if eqn.primitive.name not in ("pallas_call", "mpmd_map"):
            return operands
        updated = {of + _bounds(eqn) for of in dict(eqn.params["input_output_aliases"])}
        wanted = _wanted(eqn)
        return [self._copied(array, number not in updated)
                if number in wanted and is_column(array.aval.shape) and array.value is None
                and not array.is_of_kernel else array for number, array in enumerate(operands)]

    def _copied(self, array: Array, shared: bool) -> Array:
        made = self._frames.given_for(array)
        if shared and made is not None:
            return made
        (found,) = self._waiting.add(fusible_steps.equation(jnp.copy, [array.aval]), [array])
        found.name, found.is_named, found.of_kernel = array.name, array.is_named, True
        if shared:
            self._frames.innermost.given[array, array.changes] = found
        return found


def _bounds(eqn: Any) -> int:
    """Returns how many operands come before those that the kernel's body has refs for."""
    mapping = eqn.params.get("grid_mapping")
    return mapping.num_dynamic_grid_bounds if mapping else 0


def _wanted(eqn: Any) -> set[int]:
    """Returns the numbers of the operands that lie in HBM in tiles, and that are no refs of the
    function."""
    if eqn.primitive.name == "pallas_call":
        jaxpr, prefetched = eqn.params["jaxpr"], eqn.params["grid_mapping"].num_index_operands
    else:
        jaxpr, prefetched = eqn.params["jaxprs"][0], 0
        if sparse_core.is_mesh(eqn.params["meshes"][0]):
            return set()
    refs = jaxprs.open_jaxpr(jaxpr)[0].invars
    first = _bounds(eqn)
    return {number for number in range(first + prefetched, len(eqn.invars))
            if types.ref_type(refs[number - first].aval).space != "smem"
            and not is_ref(eqn.invars[number])}
