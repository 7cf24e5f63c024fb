"""The order of axes in which arrays lie in HBM. docs/xla.md says where the rules come from."""

from __future__ import annotations

import math
from collections.abc import Sequence

_ROWS, _LANES = 8, 128


def compact(shape: Sequence[int], bits: int) -> tuple[int, ...] | None:
    """Returns the order of axes, slowest first, of an argument or result of the whole function;
    None for the usual order. If tiles would be padded, another axis lies along the lanes, provided
    that this needs less padding."""
    rank = len(shape)
    if rank < 2:
        return None
    usual = tuple(range(rank))
    orders = [usual] + [(*usual[:axis], *usual[axis + 1:], axis)
                        for axis in reversed(range(rank - 1))]
    best = min(orders, key=lambda order: _padded([shape[axis] for axis in order], bits))
    return None if best == usual else best


def tile(shape: Sequence[int], bits: int) -> list[int]:
    """Returns the extents of a tile of an array whose axes lie in the usual order."""
    rows = max(1, 32 // bits)
    if len(shape) < 2:
        return [rows * _LANES] * len(shape)
    while rows < min(shape[-2], _ROWS):
        rows *= 2
    return [*[1] * (len(shape) - 2), rows, _LANES]


def _padded(shape: Sequence[int], bits: int) -> int:
    """Returns the number of elements, including those that fill the last tiles."""
    return math.prod(-(-extent // of_tile) * of_tile
                     for extent, of_tile in zip(shape, tile(shape, bits), strict=True))
