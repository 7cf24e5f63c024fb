"""The elements of an array as bits, a piece at a time. Recipes compare them."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np

from pallascope.program import literal_to_json

_PIECE = 1 << 18  # how many elements are compared at a time
SEEN = 1 << 16  # how many elements of a line are enough to show its period

Slices = tuple[slice, ...]


def unrepeated(array: np.ndarray) -> np.ndarray:
    """Returns a view with only one element along each axis along which a broadcast repeats
    elements."""
    return array[(*(slice(0, 1 if stride == 0 else extent)
                    for stride, extent in zip(array.strides, array.shape, strict=True)), ...)]


def as_type(array: np.ndarray, dtype: Any) -> np.ndarray:
    """Returns the array in that dtype. Elements that a broadcast repeats are still views of one
    element."""
    return np.broadcast_to(unrepeated(array).astype(dtype, copy=False), array.shape)


def is_uniform(array: np.ndarray) -> bool:
    """Returns whether all elements have the same bits."""
    codes = codes_of(unrepeated(array))
    code = codes[(0,) * array.ndim]
    return (all(codes[place] == code for place in probes_of(codes.shape))
            and all((codes[piece] == code).all() for piece in pieces_of(codes.shape)))


def codes_of(array: np.ndarray) -> np.ndarray:
    """Returns the bits of the elements. Zeros of different signs have two codes, and a NaN equals
    itself."""
    return array.view(f"u{array.itemsize}")


def json_number(element: Any) -> Any:
    """Returns the number as the file holds it, or None for a NaN, because there are many NaNs."""
    number = literal_to_json(element)
    return None if number == "nan" else number


def pieces_of(shape: tuple[int, ...]) -> Iterator[Slices]:
    """Yields slices that together cover an array, none of them with much more than _PIECE elements.
    """
    counts, room = [], _PIECE
    for extent in reversed(shape):
        counts.append(max(1, min(extent, room)))
        room //= counts[-1]
    for starts in itertools.product(*(range(0, extent, count) for extent, count
                                      in zip(shape, reversed(counts), strict=True))):
        yield tuple(slice(start, min(start + count, extent)) for start, count, extent
                    in zip(starts, reversed(counts), shape, strict=True))


def probes_of(shape: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    """Yields places whose elements rule out most wrong recipes for the array."""
    for share in (0.0, 0.5, 1.0, 0.25, 0.75, 0.1, 0.9):
        yield tuple(int(share * (extent - 1)) for extent in shape)


def index_sums(start: int, steps: list[int], piece: Slices, dtype: Any) -> np.ndarray:
    """Returns start + the sum of step * index. Axes with a step of 0 have an extent of 1."""
    found = np.full((1,) * len(steps), start, dtype)
    for axis, (step, part) in enumerate(zip(steps, piece, strict=True)):
        if step:
            shape = [-1 if at == axis else 1 for at in range(len(steps))]
            found = found + (step * np.arange(part.start, part.stop, dtype=dtype)).reshape(shape)
    return found


def range_of_sums(start: int, steps: list[int], shape: tuple[int, ...]) -> tuple[int, int]:
    ends = [step * (extent - 1) for step, extent in zip(steps, shape, strict=True)]
    return start + sum(min(end, 0) for end in ends), start + sum(max(end, 0) for end in ends)


def index_type(low: int, high: int) -> Any:
    """Returns a dtype that can hold sums in this range and what one axis adds to them."""
    fits = -2**31 <= low and high < 2**31 and high - low < 2**31
    return np.int32 if fits else np.int64


def line_of(codes: np.ndarray, place: tuple[int, ...], along: int) -> np.ndarray:
    return codes[place[:along] + (slice(None),) + place[along + 1:]]
