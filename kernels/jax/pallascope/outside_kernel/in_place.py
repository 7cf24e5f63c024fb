"""Whose memory an array has that is an updated operand (CopyInsertion): the operand's own if nothing
needs it as it was, else that of a copy."""

from __future__ import annotations

from typing import Any

from pallascope import types
from pallascope.outside_kernel import fusion_operation
from pallascope.outside_kernel.arrays import Array, Arrays
from pallascope.outside_kernel.liveness import Frames
from pallascope.outside_kernel.waiting_operations import uniform
from pallascope.walk import Walk


class InPlace:
    """Gives memory to arrays that are updated. `operands` are those of the current equation."""

    def __init__(self, walk: Walk, arrays: Arrays, frames: Frames) -> None:
        self._walk, self._arrays, self._frames = walk, arrays, frames

    def is_free(self, number: int, operands: list[Array]) -> bool:
        """Returns whether an operand's memory may change: the function made it or is given it, and
        neither a later equation nor another operand needs it."""
        source = operands[number]
        others = (*operands[:number], *operands[number + 1:])
        return (_is_own(source) and not self._frames.needs(source)
                and all(other.root() is not source.root() for other in others))

    def updated(self, number: int, operands: list[Array], aval: Any, name: str = "") -> Array:
        """Returns an array that begins as the operand of this number, for an operation to change.
        If it is a copy, the copy takes the operand's place: they always share their memory. What a
        loop carries stays where the next round finds it: a copy keeps it as it was."""
        source = operands[number]
        if source.is_semaphore:
            return source
        if not self.is_free(number, operands):
            source = operands[number] = (self._put_aside(source) if self._frames.owns(source)
                                         else self._copied(source, name))
        if source.is_donated:
            self._arrays.ref(source, "hbm")
            found = self._arrays.new_result(aval, name or source.name)
            found.alias_of = source
            return found
        return self.same(source, aval, name)

    def same(self, array: Array, aval: Any, name: str = "") -> Array:
        """Returns another array in the memory of one that the function made."""
        name = name or array.name
        if array.base is not None:
            return Array(aval, name, base=array)
        return Array(aval, name, is_result=True, alias_of=array.alias_of, home="hbm",
                     of_kernel=array.of_kernel,
                     refs={"hbm": self._arrays.ref(array, "hbm")})

    def _put_aside(self, source: Array) -> Array:
        """Returns what takes the array's place in its memory, and moves the array to other memory.
        """
        found = self.same(source, source.aval)
        self._arrays.move(source, self._frames.views_of(source))
        return found

    def _copied(self, source: Array, name: str) -> Array:
        """Returns a copy of the operand. A constant whose elements are all equal is filled in."""
        is_of_keys = types.key_words(source.aval.dtype) is not None
        constant = None if is_of_keys else uniform(source)
        if constant is None:
            return self._arrays.copied(source, name)
        found = self._arrays.new_result(source.aval, name or source.name)
        fusion_operation.fill(self._walk, found.ref(), constant.element)
        return found


def _is_own(array: Array) -> bool:
    if array.is_donated:
        return array.home in ("", "hbm")
    return array.root().is_result
