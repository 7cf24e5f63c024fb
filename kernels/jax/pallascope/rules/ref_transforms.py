"""Chains of ref transforms, `ref.at[...].reshape(...)[...]`, as entries of a get or as views."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

from pallascope import types
from pallascope.jax_compat import ref_types
from pallascope.problems import NotCaptured
from pallascope.program import Type
from pallascope.walk import Leaf, Walk


@dataclasses.dataclass
class Axis:
    """What is taken along one axis of a ref. `start` is a value, an int32 scalar."""

    start: int
    size: int
    stride: int = 1
    kept: bool = True  # false for a single index, whose axis is not in the result
    size_value: int | None = None  # for a slice whose size is known only at run time


@dataclasses.dataclass
class Window:
    """A part of a ref, or of a view of it."""

    ref: int
    axes: list[Axis]

    def shape(self) -> tuple[int, ...]:
        return tuple(axis.size for axis in self.axes if axis.kept)


def window(walk: Walk, ref: int, transforms: Sequence[Any]) -> Window:
    """Applies the transforms one after the other. Indices are collected in one list; other
    transforms become views."""
    found = _whole(walk, ref)
    for transform in transforms:
        kind = ref_types.transform_kind(transform)
        if kind == "index":
            _index(walk, found, transform)
        elif kind != "AccessAssumptionTransform":  # this one is only for the compiler
            found = _whole(walk, _reinterpret(walk, view(walk, found), kind, transform))
    return found


def view(walk: Walk, part: Window) -> int:
    """Returns a ref to the part, which is the ref itself if the part is all of it."""
    type_ = walk.builder.types[part.ref]
    if _is_whole(walk, part, type_):
        return part.ref
    operands = [part.ref]
    params = {"entries": entries(walk, part, operands)}
    return walk.builder.one("ref_at", operands, Type(type_.dtype, part.shape(), type_.space),
                            params)


def element(walk: Walk, ref: int, axis: int, index: int) -> int:
    """Returns a ref to the element at a place along the axis; the place is a value."""
    part = _whole(walk, ref)
    part.axes[axis] = Axis(index, 1, kept=False)
    return view(walk, part)


def elements(walk: Walk, ref: int, axis: int, start: int, size: int) -> int:
    """Returns a ref to several consecutive elements, beginning at a number."""
    part = _whole(walk, ref)
    part.axes[axis] = Axis(walk.builder.index(start), size)
    return view(walk, part)


def entries(walk: Walk, part: Window, operands: list[int]) -> list[dict[str, Any]]:
    """Returns the parameter of get, swap and ref_at. Dynamic starts and sizes are appended to the
    operands.

    A dynamic size, which get and swap lack, is at most `size`.
    """
    found = []
    extents = walk.builder.types[part.ref].shape
    for axis, extent in zip(part.axes, extents, strict=True):
        entry: dict[str, Any] = {} if axis.kept else {"slice": False}
        known = walk.builder.known(axis.start)
        # It may be out of bounds, which is not an error unless it is reached.
        if known is None or known < 0 or known + (axis.size - 1) * axis.stride >= extent:
            entry["operand"] = len(operands)
            operands.append(axis.start)
        elif known != 0:
            entry["start"] = known
        if axis.size != 1:
            entry["size"] = axis.size
        if axis.stride != 1:
            entry["stride"] = axis.stride
        if axis.size_value is not None:
            entry["size_operand"] = len(operands)
            operands.append(axis.size_value)
        found.append(entry)
    return found


def _whole(walk: Walk, ref: int) -> Window:
    zero = walk.builder.index(0)
    return Window(ref, [Axis(zero, extent) for extent in walk.builder.types[ref].shape])


def _is_whole(walk: Walk, part: Window, type_: Type) -> bool:
    return all(axis.kept and axis.size_value is None and axis.size == extent and axis.stride == 1
               and walk.builder.known(axis.start) == 0
               for axis, extent in zip(part.axes, type_.shape, strict=True))


def _index(walk: Walk, part: Window, indexer: Any) -> None:
    """Takes a part of the part: start + i * stride of what was taken before."""
    if tuple(indexer.int_indexer_shape):
        raise NotCaptured("indices that are arrays")
    builder = walk.builder
    kept = [axis for axis in part.axes if axis.kept]
    for axis, index in zip(kept, indexer.indices, strict=False):  # the words of a key are all taken
        is_slice = isinstance(index, ref_types.Slice)
        start = _value(walk, index.start if is_slice else index)
        known = walk.builder.known(start) or 0
        if not is_slice and known < 0:  # counted from the end, as in Python
            start = walk.builder.index(known + axis.size)
        axis.start = builder.add_index(axis.start, builder.scale_index(start, axis.stride))
        if not is_slice:
            axis.size, axis.stride, axis.kept = 1, 1, False
        elif isinstance(index.size, Leaf):
            axis.size_value = walk.index(index.size.value)
            axis.size, axis.stride = axis.size - known, axis.stride * index.stride
        else:
            axis.size, axis.stride = int(index.size), axis.stride * index.stride


def _value(walk: Walk, index: Any) -> int:
    return walk.index(index.value) if isinstance(index, Leaf) else walk.builder.index(int(index))


def _reinterpret(walk: Walk, ref: int, kind: str, transform: Any) -> int:
    """Returns the same memory as a ref of another shape or dtype."""
    type_ = walk.builder.types[ref]
    if kind == "reshape":
        shape = tuple(int(extent) for extent in transform.shape)
        return walk.builder.one("ref_reshape", [ref], type_._replace(shape=shape),
                                {"shape": list(shape)})
    if kind == "transpose":
        permutation = ref_types.permutation_of(transform)
        shape = tuple(type_.shape[axis] for axis in permutation)
        return walk.builder.one("ref_transpose", [ref], type_._replace(shape=shape),
                                {"permutation": list(permutation)})
    if kind == "bitcast":
        dtype = types.dtype_of(transform.dtype)
        bits = type_.shape[-2] * types.bits_of(type_.dtype) // types.bits_of(dtype)
        shape = (*type_.shape[:-2], bits, type_.shape[-1])
        return walk.builder.one("ref_bitcast", [ref], Type(dtype, shape, type_.space),
                                {"dtype": dtype})
    raise NotCaptured(f"ref transform {kind}")
