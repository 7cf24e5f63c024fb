"""Places in the flat array, for a gather or scatter along several axes.

The format's gather and scatter go along one axis, as on a TPU. Any other becomes a gather or
scatter on the flat array, for which the place of each element is computed first.
"""

from __future__ import annotations

import dataclasses
import math
from typing import Any

from pallascope.problems import NotCaptured
from pallascope.program import Builder, Type
from pallascope.rules.renamed import integers


@dataclasses.dataclass
class Windows:
    """The windows of `whole`, one for each index vector. An array `around` has one element for each
    element of each window."""

    whole: tuple[int, ...]
    around: tuple[int, ...]
    window_axes: list[int]  # axes of `around`, one for each axis of `whole` that is kept
    kept: list[int]
    index_map: list[int]  # for each element of an index vector, the axis of `whole`
    batching: list[int]
    index_batching: list[int]
    sizes: list[int]


def windows_of_scatter(numbers: Any, whole: tuple[int, ...], around: tuple[int, ...]) -> Windows:
    """Returns what a scatter into `whole` updates, of which `around` are the updates."""
    batching, window_axes = integers(numbers.operand_batching_dims), integers(
        numbers.update_window_dims)
    dropped = (*integers(numbers.inserted_window_dims), *batching)
    kept = [axis for axis in range(len(whole)) if axis not in dropped]
    sizes = [1] * len(whole)
    for axis, window_axis in zip(kept, window_axes, strict=True):
        sizes[axis] = around[window_axis]
    return Windows(whole, around, window_axes, kept, integers(numbers.scatter_dims_to_operand_dims),
                   batching, integers(numbers.scatter_indices_batching_dims), sizes)


def flat_places(builder: Builder, windows: Windows, indices: int, mode: str) -> tuple[int, int]:
    """Returns the place of every element of `around` in the flat `whole`, which is -1 outside, and
    whether the element is inside."""
    shape = builder.types[indices].shape
    batch, count = shape[:-1], len(shape) - 1
    batch_axes = [axis for axis in range(len(windows.around)) if axis not in windows.window_axes]
    strides = [math.prod(windows.whole[axis + 1:]) for axis in range(len(windows.whole))]
    if math.prod(windows.whole) >= 2**31:
        raise NotCaptured("a gather or scatter in an array of 2^31 elements or more")
    indices = builder.convert(indices, "int32")
    number, flag = Type("int32", batch), Type("bool", batch)

    def fill(value: int, like: Type) -> int:
        return builder.broadcast(builder.index(value), like.shape)

    def count_along(axis: int, like: Type) -> int:
        return builder.one("iota", [], like, {"dtype": "int32", "shape": list(like.shape),
                                              "dimension": axis})

    def add_scaled(total: int, value: int, factor: int, like: Type) -> int:
        scaled = builder.one("mul", [value, fill(factor, like)], like)
        return builder.one("add", [total, scaled], like)

    place = fill(0, number)
    inside = builder.broadcast(builder.literal("bool", True), batch)
    for k, axis in enumerate(windows.index_map):
        part = builder.one("slice", [indices], Type("int32", (*batch, 1)), {
            "start": [0] * count + [k], "limit": [*batch, k + 1]})
        start = builder.one("reshape", [part], number, {"shape": list(batch)})
        last = fill(windows.whole[axis] - windows.sizes[axis], number)
        zero = fill(0, number)
        if mode == "fill_or_drop":
            for op, bound in (("ge", zero), ("le", last)):
                inside = builder.one("and", [inside, builder.one(op, [start, bound], flag)], flag)
        else:
            start = builder.one("clamp", [zero, start, last], number)
        place = add_scaled(place, start, strides[axis], number)
    for axis, index_axis in zip(windows.batching, windows.index_batching, strict=True):
        place = add_scaled(place, count_along(index_axis, number), strides[axis], number)
    around = Type("int32", windows.around)

    def spread(value: int) -> int:
        return builder.one("broadcast_in_dim", [value],
                           Type(builder.types[value].dtype, windows.around),
                           {"shape": list(windows.around), "dimensions": batch_axes})

    place, inside = spread(place), spread(inside)
    for axis, kept in zip(windows.window_axes, windows.kept, strict=True):
        place = add_scaled(place, count_along(axis, around), strides[kept], around)
    if mode == "fill_or_drop":
        place = builder.one("select_n", [inside, fill(-1, around), place], around)
    flat = Type("int32", (math.prod(windows.around), 1))
    return builder.one("reshape", [place], flat, {"shape": list(flat.shape)}), inside


def flattened(builder: Builder, value: int) -> int:
    type_ = builder.types[value]
    shape = (math.prod(type_.shape),)
    return builder.one("reshape", [value], Type(type_.dtype, shape), {"shape": list(shape)})
