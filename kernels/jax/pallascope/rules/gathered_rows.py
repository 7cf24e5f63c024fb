"""Gathers of whole rows: of parts of an array along one axis, as by `table[ids]`.

The format's gather goes along one axis, with an index for every element of the result. So the
indices are repeated along the other axes, and only the rows that are taken are read.
"""

from __future__ import annotations

import dataclasses
import math
from typing import Any

from pallascope.program import Builder, Type
from pallascope.rules.renamed import integers


@dataclasses.dataclass
class Rows:
    """What a gather takes along `axis`: windows of `width`, as many for each place on the batching
    axes as `picks` says."""

    axis: int
    width: int
    collapsed: bool
    batching: dict[int, int]  # axis of the indices for each batching axis of the array
    picks: list[int]  # axes of the indices
    offsets: list[int]  # axes of the result that those of the array become

    @classmethod
    def of(cls, numbers: Any, sizes: list[int], shape: tuple[int, ...],
           index_shape: tuple[int, ...]) -> Rows | None:
        """Returns None if the gather has another form."""
        index_map, collapsed = integers(numbers.start_index_map), integers(
            numbers.collapsed_slice_dims)
        batching = dict(zip(integers(numbers.operand_batching_dims),
                            integers(numbers.start_indices_batching_dims), strict=True))
        if len(index_map) != 1 or collapsed not in ([], index_map) or 0 in (*shape, *index_shape):
            return None
        (axis,) = index_map
        if any(sizes[other] != extent for other, extent in enumerate(shape)
               if other != axis and other not in batching):
            return None
        picks = [d for d in range(len(index_shape) - 1) if d not in batching.values()]
        return cls(axis, sizes[axis], bool(collapsed), batching, picks,
                   integers(numbers.offset_dims))

    def take(self, builder: Builder, array: int, indices: int, mode: str, result: Type) -> int:
        shape = builder.types[array].shape
        places = self._places(builder, indices, shape[self.axis], mode)
        count = builder.types[places].shape[self._place_of_axis()]
        taken = (*shape[:self.axis], count, *shape[self.axis + 1:])
        spread = builder.one("broadcast_in_dim", [places], Type("int32", (*taken, 1)), {
            "shape": [*taken, 1], "dimensions": sorted([*self.batching, self.axis])})
        found = builder.one("gather", [array, spread], Type(result.dtype, taken),
                            {"axis": self.axis, "mode": mode})
        return self._arranged(builder, found, builder.types[indices].shape, result)

    def _place_of_axis(self) -> int:
        return sorted([*self.batching, self.axis]).index(self.axis)

    def _places(self, builder: Builder, indices: int, length: int, mode: str) -> int:
        """Returns the place along the axis of each row that is taken. The axes of the result are
        the batching axes and this one, in the order in which the array has them."""
        shape = builder.types[indices].shape[:-1]
        groups = [self.picks if axis == self.axis else [self.batching[axis]]
                  for axis in sorted([*self.batching, self.axis])]
        starts = builder.convert(_reshaped(builder, indices, shape), "int32")
        starts = _transposed(builder, starts, [d for group in groups for d in group])
        lengths = tuple(math.prod(shape[d] for d in group) for group in groups)
        starts = _reshaped(builder, starts, lengths)
        return starts if self.width == 1 else self._windows(builder, starts, length, mode)

    def _windows(self, builder: Builder, starts: int, length: int, mode: str) -> int:
        """Returns the places of all rows of the windows. A window that is not inside has no rows,
        or moves inside."""
        at, lengths = self._place_of_axis(), builder.types[starts].shape
        wide = Type("int32", (*lengths[:at + 1], self.width, *lengths[at + 1:]))
        zero, last = builder.index(0), builder.index(length - self.width)
        if mode != "fill_or_drop":
            like = builder.types[starts]
            starts = builder.one("clamp", [builder.broadcast(zero, lengths), starts,
                                           builder.broadcast(last, lengths)], like)
        starts = builder.one("broadcast_in_dim", [starts], wide, {
            "shape": list(wide.shape), "dimensions": [d for d in range(len(wide.shape))
                                                      if d != at + 1]})
        steps = builder.one("iota", [], wide, {"dtype": "int32", "shape": list(wide.shape),
                                               "dimension": at + 1})
        places = builder.one("add", [starts, steps], wide)
        if mode == "fill_or_drop":
            flag = Type("bool", wide.shape)
            inside = builder.one("and", [
                builder.one("ge", [starts, builder.broadcast(zero, wide.shape)], flag),
                builder.one("le", [starts, builder.broadcast(last, wide.shape)], flag)], flag)
            nowhere = builder.broadcast(builder.index(-1), wide.shape)
            places = builder.one("select_n", [inside, nowhere, places], wide)
        return _reshaped(builder, places, (*lengths[:at], lengths[at] * self.width,
                                           *lengths[at + 1:]))

    def _arranged(self, builder: Builder, found: int, index_shape: tuple[int, ...],
                  result: Type) -> int:
        """Divides the axis of rows into those of the indices and of the window, and brings all axes
        into the order of the result."""
        index_axes: list[int | None] = []  # for each axis the one of the indices
        shape: list[int] = []
        for axis, extent in enumerate(builder.types[found].shape):
            if axis == self.axis:
                index_axes += self.picks
                shape += [index_shape[d] for d in self.picks]
                if self.collapsed:
                    continue
            index_axes.append(self.batching.get(axis))
            shape.append(self.width if axis == self.axis else extent)
        found = _reshaped(builder, found, tuple(shape))
        windows = iter([axis for axis, index in enumerate(index_axes) if index is None])
        batch = iter(range(len(index_shape) - 1))
        order = [next(windows) if axis in self.offsets else index_axes.index(next(batch))
                 for axis in range(len(result.shape))]
        return _transposed(builder, found, order)


def _reshaped(builder: Builder, value: int, shape: tuple[int, ...]) -> int:
    type_ = builder.types[value]
    if tuple(type_.shape) == shape:
        return value
    return builder.one("reshape", [value], Type(type_.dtype, shape), {"shape": list(shape)})


def _transposed(builder: Builder, value: int, order: list[int]) -> int:
    type_ = builder.types[value]
    if order == list(range(len(order))):
        return value
    return builder.one("transpose", [value],
                       Type(type_.dtype, tuple(type_.shape[axis] for axis in order)),
                       {"permutation": order})
