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


def _padded(shape: Sequence[int], bits: int) -> int:
    """Returns the number of elements, including those that fill the last tiles."""
    rows = max(1, 32 // bits)
    while rows < min(shape[-2], _ROWS):
        rows *= 2
    return (math.prod(shape[:-2]) * -(-shape[-2] // rows) * rows
            * -(-shape[-1] // _LANES) * _LANES)
