"""Updates of slices, and scatters: they change parts of an array in place."""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any

from pallascope import types
from pallascope.outside_kernel import empty_arrays, fusion_operation, layouts
from pallascope.outside_kernel.arrays import Array, Arrays
from pallascope.outside_kernel.fusible_steps import Uniform
from pallascope.outside_kernel.in_place import InPlace
from pallascope.outside_kernel.tile_windows import TileWindow, bounded, place_of
from pallascope.outside_kernel.waiting_operations import uniform
from pallascope.program import Type
from pallascope.rules import gather_scatter
from pallascope.rules.flat_places import Windows, windows_of_scatter
from pallascope.walk import Walk

_MOST_UPDATES = 64  # of one scatter; if there are more, the whole array is read and written


@dataclasses.dataclass
class _Scatter:
    """What a scatter updates: a window for each index vector."""

    combine: str  # the operation with what is there; `replace`: none
    drops: bool  # whether a window that is not inside is dropped
    windows: Windows
    vectors: tuple[int, ...]  # how many index vectors there are, along each axis


class Updates:
    """The rules of dynamic_update_slice and of scatters."""

    def __init__(self, walk: Walk, arrays: Arrays, in_place: InPlace, is_tpu: bool) -> None:
        self._walk, self._arrays, self._in_place = walk, arrays, in_place
        self._is_tpu = is_tpu
        self.rules = {"dynamic_update_slice": self._slice,
                      **dict.fromkeys(gather_scatter.COMBINED, self._scatter)}

    def _slice(self, eqn: Any, operands: list[Array]) -> list[Array] | None:
        aval = eqn.outvars[0].aval
        if _is_not_ours(aval, operands):
            return None
        if empty_arrays.is_empty(operands[1]):
            return operands[:1]
        types.array_type(aval)  # the format may lack the type
        target = self._in_place.updated(0, operands, aval)
        sizes = types.shape_of(operands[1].aval)
        given = [self._given(array) for array in operands[1:]]

        def work(ref: int, update: int, *starts: int) -> None:
            lasts = [extent - size for extent, size in zip(aval.shape, sizes, strict=True)]
            places = [bounded(self._walk, place_of(self._walk, start, last), last)
                      for start, last in zip(starts, lasts, strict=True)]
            self._window(ref, places, sizes).store(update)

        return [self._emit(eqn, target, given, work)]

    def _scatter(self, eqn: Any, operands: list[Array]) -> list[Array] | None:
        aval = eqn.outvars[0].aval
        if _is_not_ours(aval, operands):
            return None
        if empty_arrays.is_empty(operands[2]):
            return operands[:1]
        scatter = _scatter_of(eqn)
        if scatter is None or not self._are_few(scatter, types.array_type(aval)):
            return self._anew(eqn, operands)
        target = self._in_place.updated(0, operands, aval)
        known = types.stored(operands[1].value) if operands[1].is_known else None
        given = [self._given(operands[2])]
        given += [] if known is not None else [self._given(operands[1])]

        def work(ref: int, updates: int, *indices: int) -> None:
            for vector in itertools.product(*map(range, scatter.vectors)):
                index = [self._element(indices[0], (*vector, number)) if known is None
                         else self._walk.builder.index(int(known[(*vector, number)]))
                         for number in range(len(scatter.windows.index_map))]
                self._put(ref, scatter, vector, index, updates)

        return [self._emit(eqn, target, given, work)]

    def _anew(self, eqn: Any, operands: list[Array]) -> list[Array] | None:
        """Computes the whole array, in the memory of the old one if that is free."""
        if not self._in_place.is_free(0, operands):
            return None
        sources = [self._arrays.ref(array, "hbm") for array in operands]
        target = self._in_place.updated(0, operands, eqn.outvars[0].aval)
        fusion_operation.compute(self._walk, eqn, sources, [self._arrays.ref(target, "hbm")])
        return [target]

    def _emit(self, eqn: Any, target: Array, given: list[Uniform | int],
              work: Callable[..., None]) -> Array:
        """Emits a fusion whose `work` updates the target with what it is given."""
        builder, ref = self._walk.builder, self._arrays.ref(target, "hbm")
        inputs = [of for of in given if isinstance(of, int) and builder.types[of].space]

        def update(loaded: dict[int, int]) -> list[int]:
            work(ref, *(builder.broadcast(builder.literal(of.dtype, of.element), of.shape)
                        if isinstance(of, Uniform) else loaded.get(of, of) for of in given))
            return []

        fusion_operation.emit(self._walk, eqn.primitive.name, inputs, [], update)
        return target

    def _given(self, array: Array) -> Uniform | int:
        if array.aval.shape == () and (self._is_tpu or self._arrays.is_scalar(array)):
            return self._arrays.scalar(array)
        return uniform(array) or self._arrays.ref(array, "hbm")

    # ---- windows ---------------------------------------------------------------------------

    def _tile(self, type_: Type) -> list[int]:
        """Returns what moves as a whole: arrays of a GPU lie row by row."""
        return (layouts.tile(type_.shape, types.bits_of(type_.dtype)) if self._is_tpu
                else [1] * len(type_.shape))

    def _window(self, ref: int, places: Sequence[int], sizes: Sequence[int]) -> TileWindow:
        return TileWindow(self._walk, ref, places, sizes,
                          self._tile(self._walk.builder.types[ref]))

    def _are_few(self, scatter: _Scatter, type_: Type) -> bool:
        """Returns whether all tiles that are updated are less than the array."""
        count = math.prod(scatter.vectors)
        of_one = math.prod(-(-size // extent) * extent for size, extent
                           in zip(scatter.windows.sizes, self._tile(type_), strict=True))
        return count <= _MOST_UPDATES and count * of_one < math.prod(type_.shape)

    def _put(self, ref: int, scatter: _Scatter, vector: Sequence[int], index: Sequence[int],
             updates: int) -> None:
        """Puts the window of one index vector into the array."""
        builder, windows = self._walk.builder, scatter.windows
        extents = builder.types[ref].shape
        places = [builder.index(0)] * len(extents)
        for axis, of_index in zip(windows.batching, windows.index_batching, strict=True):
            places[axis] = builder.index(vector[of_index])
        inside = None
        for axis, scalar in zip(windows.index_map, index, strict=True):
            last = extents[axis] - windows.sizes[axis]
            place = place_of(self._walk, scalar, last)
            places[axis] = bounded(self._walk, place, last)
            if scatter.drops and builder.known(place) is None:
                inside = self._both(inside, self._is_inside(place, last))
            elif scatter.drops and not 0 <= builder.known(place) <= last:
                return
        window = self._window(ref, places, windows.sizes)
        update = self._update(windows, vector, updates)
        type_ = builder.types[update]
        if scatter.combine != "replace":
            update = builder.one(scatter.combine, [window.load(), update], type_)
        if inside is not None:
            is_put = builder.broadcast(inside, type_.shape)
            update = builder.one("select_n", [is_put, window.load(), update], type_)
        window.store(update)

    def _update(self, windows: Windows, vector: Sequence[int], updates: int) -> int:
        """Returns the updates for one index vector, with the axes of the array."""
        shape, axes = self._walk.builder.types[updates].shape, iter(vector)
        start = [0 if axis in windows.window_axes else next(axes) for axis in range(len(shape))]
        sizes = [extent if axis in windows.window_axes else 1 for axis, extent in enumerate(shape)]
        return self._part(updates, start, sizes, tuple(windows.sizes))

    def _element(self, indices: int, place: Sequence[int]) -> int:
        return self._part(indices, place, [1] * len(place), ())

    def _part(self, array: int, start: Sequence[int], sizes: Sequence[int],
              shape: tuple[int, ...]) -> int:
        """Returns a part of an array, in another shape."""
        builder = self._walk.builder
        type_ = builder.types[array]
        if tuple(sizes) != type_.shape:
            limit = [at + size for at, size in zip(start, sizes, strict=True)]
            type_ = type_._replace(shape=tuple(sizes))
            array = builder.one("slice", [array], type_, {"start": list(start), "limit": limit})
        return array if type_.shape == shape else builder.one(
            "reshape", [array], type_._replace(shape=shape), {"shape": list(shape)})

    def _is_inside(self, place: int, last: int) -> int:
        builder, flag = self._walk.builder, Type("bool")
        return builder.one("and", [builder.one("ge", [place, builder.index(0)], flag),
                                   builder.one("le", [place, builder.index(last)], flag)], flag)

    def _both(self, a: int | None, b: int) -> int:
        return b if a is None else self._walk.builder.one("and", [a, b], Type("bool"))


def _is_not_ours(aval: Any, operands: list[Array]) -> bool:
    """Returns whether the result is a constant, random keys or empty."""
    return (all(array.is_known for array in operands) or 0 in aval.shape
            or types.key_words(aval.dtype) is not None)


def _scatter_of(eqn: Any) -> _Scatter | None:
    """Returns what a scatter updates. Returns None for one by a function."""
    target, indices, updates = (v.aval for v in eqn.invars)
    mode = eqn.params["mode"].name.lower()
    if gather_scatter.is_by_function(eqn) or mode not in gather_scatter.MODES:
        return None
    windows = windows_of_scatter(eqn.params["dimension_numbers"], types.shape_of(target),
                                 types.shape_of(updates))
    return _Scatter(gather_scatter.COMBINED[eqn.primitive.name], mode == "fill_or_drop", windows,
                    types.shape_of(indices)[:-1])
