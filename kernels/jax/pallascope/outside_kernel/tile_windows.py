"""Parts of an array in HBM that a fusion updates. What moves are whole tiles: a tile of which only
a part is updated is read first."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from pallascope.program import INDEX, Type
from pallascope.walk import Walk


class _Axis(NamedTuple):
    """The elements of an axis that move, and the place among them of the first that is updated.
    Places are values of the program."""

    start: int
    size: int
    offset: int


class TileWindow:
    """A part of a ref: as many elements along each axis as `sizes` says, from `places` on, which are
    values of the program and lie inside."""

    def __init__(self, walk: Walk, ref: int, places: Sequence[int], sizes: Sequence[int],
                 tile: Sequence[int]) -> None:
        self._walk, self._ref = walk, ref
        self._sizes = tuple(sizes)
        self._axes = [self._axis(*of) for of in zip(
            places, sizes, walk.builder.types[ref].shape, tile, strict=True)]
        self._type = Type(walk.builder.types[ref].dtype, tuple(axis.size for axis in self._axes))
        self._is_whole_tiles = self._type.shape == self._sizes
        self._before: int | None = None  # what was read

    def load(self) -> int:
        """Returns what is there."""
        if self._is_whole_tiles:
            return self._read()
        return self._walk.builder.one(
            "dynamic_slice", [self._read(), *(axis.offset for axis in self._axes)],
            self._type._replace(shape=self._sizes), {"sizes": list(self._sizes)})

    def store(self, update: int) -> None:
        if not self._is_whole_tiles:
            update = self._walk.builder.one(
                "dynamic_update_slice",
                [self._read(), update, *(axis.offset for axis in self._axes)], self._type)
        operands = [self._ref, update]
        self._walk.builder.one("swap", operands, self._type, self._entries(operands))

    def _read(self) -> int:
        if self._before is None:
            operands = [self._ref]
            self._before = self._walk.builder.one("get", operands, self._type,
                                                  self._entries(operands))
        return self._before

    def _entries(self, operands: list[int]) -> dict[str, Any]:
        """Returns the parameters of a get or swap, to whose operands it adds the starts."""
        entries = []
        for axis in self._axes:
            known = self._walk.builder.known(axis.start)
            entry = {"size": axis.size}
            if known is None:
                entry["operand"] = len(operands)
                operands.append(axis.start)
            elif known:
                entry["start"] = known
            entries.append(entry)
        return {"entries": entries}

    def _axis(self, place: int, size: int, extent: int, tile: int) -> _Axis:
        """Returns what moves along one axis. A place that is not known is taken to be that of a tile
        if whole tiles are updated."""
        builder = self._walk.builder
        known = builder.known(place)
        if known is not None:
            start = known // tile * tile
            end = min(extent, -(-(known + size) // tile) * tile)
            return _Axis(builder.index(start), end - start, builder.index(known - start))
        if size % tile == 0:
            return _Axis(place, size, builder.index(0))
        most = min(extent, tile if size == 1 else (size + 2 * (tile - 1)) // tile * tile)
        start = builder.one("and", [place, builder.index(-tile)], INDEX)
        if most == extent:
            start = builder.index(0)
        elif size > 1 or extent % tile:
            start = builder.one("min", [start, builder.index(extent - most)], INDEX)
        return _Axis(start, most, builder.one("sub", [place, start], INDEX))


def bounded(walk: Walk, place: int, last: int) -> int:
    """Returns the place, an int32, moved so that it is from 0 to `last`."""
    builder = walk.builder
    known = builder.known(place)
    if known is not None or last == 0:
        return builder.index(min(max(known or 0, 0), last))
    return builder.one("clamp", [builder.index(0), place, builder.index(last)], INDEX)


def place_of(walk: Walk, scalar: int, last: int) -> int:
    """Returns an integer scalar as int32. What is too large for that stays larger than `last`."""
    builder = walk.builder
    if builder.types[scalar].dtype == "uint32" and builder.known(scalar) is None:
        scalar = builder.one("min", [scalar, builder.literal("uint32", last + 1)], Type("uint32"))
    return walk.index(scalar)
