"""Refs of the function around the kernels: arrays in HBM whose contents change."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pallascope import types
from pallascope.jax_compat import jaxprs
from pallascope.outside_kernel.arrays import Array, Arrays
from pallascope.outside_kernel.liveness import Frames
from pallascope.problems import NotCaptured
from pallascope.rules.ref_transforms import view, window
from pallascope.walk import Leaf, Walk

# Inlines a jaxpr with arrays as its arguments. Returns its results.
Inline = Callable[[Any, list[Array]], list[Array]]


def is_ref(variable: Any) -> bool:
    return hasattr(variable.aval, "inner_aval")


def holds_ref(eqn: Any) -> bool:
    """Returns whether an equation is given a ref."""
    return any(map(is_ref, eqn.invars))


class Refs:
    """The rules of refs. `inline` walks a function."""

    def __init__(self, walk: Walk, arrays: Arrays, frames: Frames, inline: Inline) -> None:
        self.walk = walk
        self.arrays = arrays
        self._frames = frames
        self._inline = inline
        self.rules: dict[str, Callable[[Any, list[Array]], list[Array]]] = {
            "new_ref": self._new_ref,
            "empty_ref": self._empty_ref,
            "run_state": self._run_state,
            "freeze": lambda eqn, operands: operands,
            "get": self._get,
            "swap": self._swap,
        }

    def _new_ref(self, eqn: Any, operands: list[Array]) -> list[Array]:
        is_written = self._frames.innermost.writes(eqn.outvars[0])
        return [self._made_of(operands[0], is_written)]

    def _empty_ref(self, eqn: Any, operands: list[Array]) -> list[Array]:
        return [self.arrays.new_result(eqn.outvars[0].aval.inner_aval)]

    def _run_state(self, eqn: Any, operands: list[Array]) -> list[Array]:
        inner, _ = jaxprs.open_jaxpr(eqn.params["jaxpr"])
        written, given = jaxprs.written_arguments(inner), iter(operands)
        held = [self._made_of(next(given), number in written) if known
                else self.arrays.new_result(v.aval.inner_aval) for number, (known, v)
                in enumerate(zip(eqn.params["is_initialized"], inner.invars, strict=True))]
        self._inline(eqn.params["jaxpr"], held)
        return held

    def _made_of(self, source: Array, is_written: bool) -> Array:
        """Returns a ref that holds the array. It reuses the array's memory if that is free."""
        is_free = source.is_result and source is source.root() and not self._frames.lasts(source)
        return source if is_free or not is_written else self.arrays.copied(source)

    def _get(self, eqn: Any, operands: list[Array]) -> list[Array]:
        array = operands[0]
        part = self._part(eqn, array, operands[1:])
        if part != self.arrays.ref(array, "hbm"):
            return [self._copy_of(part, eqn.outvars[0].aval)]
        return [self.arrays.copied(array) if self._frames.changes(array) else array]

    def _swap(self, eqn: Any, operands: list[Array]) -> list[Array]:
        array, value = operands[:2]
        part = self._part(eqn, array, operands[2:])
        (result,) = eqn.outvars
        old = (Array(result.aval, "") if isinstance(result, jaxprs.DropVar)
               else self._copy_of(part, result.aval))
        self.arrays.copy(self.arrays.ref(value, "hbm"), part)
        self.arrays.forget(array)
        return [old]

    def _part(self, eqn: Any, array: Array, indices: list[Array]) -> int:
        if any(index.aval.shape for index in indices):
            raise NotCaptured("indices that are arrays")
        leaves = [Leaf(self.arrays.scalar(index)) for index in indices]
        ref = self.arrays.ref(array, "hbm")
        return view(self.walk, window(self.walk, ref, eqn.params["tree"].unflatten(leaves)))

    def _copy_of(self, part: int, aval: Any) -> Array:
        found = self.arrays.new_result(aval)
        if self.walk.builder.types[part].shape != types.array_type(aval).shape:
            raise NotCaptured("a part of a ref whose size is not known before the run")
        self.arrays.copy(part, found.ref())
        return found
