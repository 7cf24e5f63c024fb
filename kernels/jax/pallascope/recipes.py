"""Arrays that a file can describe by a few numbers: fills, iotas, masks, and parts that repeat.

Made-up tables are often of this kind, and may be gigabytes large. A few elements rule most recipes
out. What remains is compared with the array element by element, a piece at a time, so that a recipe
is always exact.
"""

from __future__ import annotations

import math
import operator
from typing import Any

import jax.numpy as jnp
import numpy as np

from pallascope.array_elements import (SEEN, codes_of, index_sums, index_type, is_uniform,
                                       json_number, line_of, pieces_of, probes_of, range_of_sums,
                                       unrepeated)
from pallascope.masks import mask_recipe

_FEWEST_BYTES = 1 << 16  # bytes; a recipe for a smaller array is not worth while


def recipe_of(array: np.ndarray) -> dict[str, Any] | None:
    """Returns the entry of an input that holds this array; None if only its elements can describe
    it."""
    if array.nbytes < _FEWEST_BYTES:
        return None
    part = unrepeated(array)
    return _fill(part) or _iota(part) or mask_recipe(part)


def part_of(array: np.ndarray) -> tuple[np.ndarray, list[int]]:
    """Returns a view from which numpy.tile makes the array, and how often along each axis."""
    part = unrepeated(array)
    if array.nbytes >= _FEWEST_BYTES:
        for axis in range(part.ndim):
            part = _one_period(part, axis)
    return part, [whole // one for whole, one in zip(array.shape, part.shape, strict=True)]


def _fill(array: np.ndarray) -> dict[str, Any] | None:
    origin = (0,) * array.ndim
    number = json_number(array[origin])
    if number is None or not is_uniform(array):
        return None
    return {"zeros": {}} if codes_of(array)[origin] == 0 else {"fill": {"value": number}}


def _iota(array: np.ndarray) -> dict[str, Any] | None:
    places = np.eye(array.ndim, dtype=int) * np.minimum(1, np.array(array.shape) - 1)
    first = float(array[(0,) * array.ndim])
    others = [float(array[tuple(place)]) for place in places]
    if not all(number.is_integer() for number in (first, *others)):
        return None
    start, steps = int(first), [int(other) - int(first) for other in others]
    low, high = range_of_sums(start, steps, array.shape)
    least, most = _whole_numbers(array.dtype)
    if low < least or high > most or any(
            float(array[place]) != start + sum(map(operator.mul, steps, place))
            for place in probes_of(array.shape)):
        return None
    codes, dtype = codes_of(array), index_type(low, high)
    for piece in pieces_of(array.shape):
        wanted = index_sums(start, steps, piece, dtype).astype(array.dtype)
        if not (codes[piece] == codes_of(wanted)).all():
            return None
    return {"iota": {"start": start, "steps": steps}}


def _whole_numbers(dtype: np.dtype) -> tuple[int, int]:
    """Returns the least and the greatest number between which the dtype has all whole numbers."""
    if dtype == np.bool_:
        return 0, 1
    if jnp.issubdtype(dtype, np.integer):
        info = jnp.iinfo(dtype)
        return int(info.min), int(info.max)
    most = 1 << (jnp.finfo(dtype).nmant + 1)
    return -most, most


def _one_period(array: np.ndarray, axis: int) -> np.ndarray:
    """Returns the first of several equal parts along the axis."""
    codes, extent = codes_of(array), array.shape[axis]
    lines = [line_of(codes, place, axis)[:SEEN] for place in probes_of(array.shape)]
    small = [count for count in range(1, math.isqrt(extent) + 1) if extent % count == 0]
    for period in (*small, *(extent // count for count in reversed(small[1:]))):
        seen = all((line[period:] == line[:-period]).all() for line in lines)
        if seen and period < extent and _has_period(codes, axis, period):
            return array[(slice(None),) * axis + (slice(0, period),)]
    return array


def _has_period(codes: np.ndarray, axis: int, period: int) -> bool:
    shape = codes.shape
    parts = codes.reshape(*shape[:axis], shape[axis] // period, period, *shape[axis + 1:])
    return all((parts[piece] == parts[(*piece[:axis], slice(0, 1), *piece[axis + 1:])]).all()
               for piece in pieces_of(parts.shape))
