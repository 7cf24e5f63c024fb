"""Arrays that a file can say in a few numbers: fills, iotas, masks, and parts that repeat.

Made-up tables are often such, and gigabytes large. A few elements rule most arrays out; what
remains is compared element by element, a piece at a time, so that a recipe is always exact.
"""

from __future__ import annotations

import itertools
import math
import operator
from collections.abc import Iterator
from typing import Any

import jax.numpy as jnp
import numpy as np

from pallascope.program import literal_to_json

_FEWEST_BYTES = 1 << 16  # of an array that is worth a recipe
_PIECE = 1 << 18  # elements that are compared at a time
_SEEN = 1 << 16  # elements of a line that show its period
_LONGEST = 1 << 20  # line of a mask, which is looked at as a whole

Slices = tuple[slice, ...]


def recipe_of(array: np.ndarray) -> dict[str, Any] | None:
    """The entry of an input that holds this; None where only the elements say it."""
    if array.nbytes < _FEWEST_BYTES:
        return None
    part = unrepeated(array)
    return _fill(part) or _iota(part) or _mask(part)


def unrepeated(array: np.ndarray) -> np.ndarray:
    """A view with one element along each axis where a broadcast repeats it."""
    return array[(*(slice(0, 1 if stride == 0 else extent)
                    for stride, extent in zip(array.strides, array.shape, strict=True)), ...)]


def as_type(array: np.ndarray, dtype: Any) -> np.ndarray:
    """Of that dtype, where a broadcast repeats elements still a view of one."""
    return np.broadcast_to(unrepeated(array).astype(dtype, copy=False), array.shape)


def is_uniform(array: np.ndarray) -> bool:
    """Whether all elements are the same bits."""
    codes = _codes(unrepeated(array))
    code = codes[(0,) * array.ndim]
    return (all(codes[place] == code for place in _probes(codes.shape))
            and all((codes[piece] == code).all() for piece in _pieces(codes.shape)))


def part_of(array: np.ndarray) -> tuple[np.ndarray, list[int]]:
    """A view that numpy.tile makes the array of, and how often along each axis."""
    part = unrepeated(array)
    if array.nbytes >= _FEWEST_BYTES:
        for axis in range(part.ndim):
            part = _one_period(part, axis)
    return part, [whole // one for whole, one in zip(array.shape, part.shape, strict=True)]


# ---- elements ----------------------------------------------------------------------------------


def _codes(array: np.ndarray) -> np.ndarray:
    """The elements' bits: zeros of either sign are two, and a NaN is like itself."""
    return array.view(f"u{array.itemsize}")


def _number(element: Any) -> Any:
    """As the file has it; None for a NaN, of which there are many."""
    number = literal_to_json(element)
    return None if number == "nan" else number


def _pieces(shape: tuple[int, ...]) -> Iterator[Slices]:
    """Slices that together cover an array, none of much more than _PIECE elements."""
    counts, room = [], _PIECE
    for extent in reversed(shape):
        counts.append(max(1, min(extent, room)))
        room //= counts[-1]
    for starts in itertools.product(*(range(0, extent, count) for extent, count
                                      in zip(shape, reversed(counts), strict=True))):
        yield tuple(slice(start, min(start + count, extent)) for start, count, extent
                    in zip(starts, reversed(counts), shape, strict=True))


def _probes(shape: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    """Places that show most of what an array is not."""
    for share in (0.0, 0.5, 1.0, 0.25, 0.75, 0.1, 0.9):
        yield tuple(int(share * (extent - 1)) for extent in shape)


def _sums(start: int, steps: list[int], piece: Slices, dtype: Any) -> np.ndarray:
    """start + the sum of step * index, with axes of 1 where the step is 0."""
    found = np.full((1,) * len(steps), start, dtype)
    for axis, (step, part) in enumerate(zip(steps, piece, strict=True)):
        if step:
            shape = [-1 if at == axis else 1 for at in range(len(steps))]
            found = found + (step * np.arange(part.start, part.stop, dtype=dtype)).reshape(shape)
    return found


def _range(start: int, steps: list[int], shape: tuple[int, ...]) -> tuple[int, int]:
    ends = [step * (extent - 1) for step, extent in zip(steps, shape, strict=True)]
    return start + sum(min(end, 0) for end in ends), start + sum(max(end, 0) for end in ends)


def _index_type(low: int, high: int) -> Any:
    """For sums in this range, and for what one axis adds to them."""
    fits = -2**31 <= low and high < 2**31 and high - low < 2**31
    return np.int32 if fits else np.int64


# ---- recipes -----------------------------------------------------------------------------------


def _fill(array: np.ndarray) -> dict[str, Any] | None:
    origin = (0,) * array.ndim
    number = _number(array[origin])
    if number is None or not is_uniform(array):
        return None
    return {"zeros": {}} if _codes(array)[origin] == 0 else {"fill": {"value": number}}


def _iota(array: np.ndarray) -> dict[str, Any] | None:
    places = np.eye(array.ndim, dtype=int) * np.minimum(1, np.array(array.shape) - 1)
    first = float(array[(0,) * array.ndim])
    others = [float(array[tuple(place)]) for place in places]
    if not all(number.is_integer() for number in (first, *others)):
        return None
    start, steps = int(first), [int(other) - int(first) for other in others]
    low, high = _range(start, steps, array.shape)
    least, most = _whole_numbers(array.dtype)
    if low < least or high > most or any(
            float(array[place]) != start + sum(map(operator.mul, steps, place))
            for place in _probes(array.shape)):
        return None
    codes, dtype = _codes(array), _index_type(low, high)
    for piece in _pieces(array.shape):
        wanted = _sums(start, steps, piece, dtype).astype(array.dtype)
        if not (codes[piece] == _codes(wanted)).all():
            return None
    return {"iota": {"start": start, "steps": steps}}


def _whole_numbers(dtype: np.dtype) -> tuple[int, int]:
    """The least and the greatest between which it has all whole numbers."""
    if dtype == np.bool_:
        return 0, 1
    if jnp.issubdtype(dtype, np.integer):
        info = jnp.iinfo(dtype)
        return int(info.min), int(info.max)
    most = 1 << (jnp.finfo(dtype).nmant + 1)
    return -most, most


def _mask(array: np.ndarray) -> dict[str, Any] | None:
    codes = _codes(array)
    steps = None if max(codes.shape) > _LONGEST else _steps_of_mask(codes)
    bounds = None if steps is None else _bounds(codes, steps)
    if bounds is None:
        return None
    low, high, inside, outside = bounds
    dtype = _index_type(*_range(0, steps, codes.shape))
    for piece in _pieces(codes.shape):
        sums = _sums(0, steps, piece, dtype)
        within = (low <= sums) if high is None else (sums <= high)
        if low is not None and high is not None:
            within &= low <= sums
        if not (codes[piece] == np.where(within, inside, outside)).all():
            return None
    found: dict[str, Any] = {"steps": steps, "low": low, "high": high}
    for key, code, default in (("inside", inside, 1), ("outside", outside, 0)):
        number = _number(code.reshape(1).view(array.dtype)[0])
        if number is None:
            return None
        found[key] = None if number == default and str(number)[0] != "-" else number
    return {"mask": {key: value for key, value in found.items() if value is not None}}


def _edges(line: np.ndarray) -> dict[tuple[int, int], int] | None:
    """Where a line goes from one value to another, by both; None if it does so too often."""
    if np.count_nonzero(line[1:_SEEN] != line[:_SEEN - 1][:len(line) - 1]) > 2:
        return None
    places = np.flatnonzero(line[1:] != line[:-1]) + 1
    if len(places) > 2:
        return None
    found = {(int(line[place - 1]), int(line[place])): int(place) for place in places}
    return None if len(set(itertools.chain(*found))) > 2 else found


def _steps_of_mask(codes: np.ndarray) -> list[int] | None:
    """Such that the elements depend on the sum of step * index, by how edges move from one line to
    the next; the step along lines is 1."""
    for along in reversed(range(codes.ndim)):
        for place in _probes(codes.shape):
            edges = _edges(_line(codes, place, along))
            if edges is None:
                return None
            if edges:
                steps = [1 if axis == along else _step(codes, place, along, axis, edges)
                         for axis in range(codes.ndim)]
                if None not in steps:
                    return steps
    return None


def _line(codes: np.ndarray, place: tuple[int, ...], along: int) -> np.ndarray:
    return codes[place[:along] + (slice(None),) + place[along + 1:]]


def _step(codes: np.ndarray, place: tuple[int, ...], along: int, axis: int,
          edges: dict[tuple[int, int], int]) -> int | None:
    if codes.shape[axis] == 1:
        return 0
    for move in (1, -1):
        other = list(place)
        other[axis] += move
        if 0 <= other[axis] < codes.shape[axis]:
            moved = _edges(_line(codes, tuple(other), along)) or {}
            for values in edges.keys() & moved.keys():
                return move * (edges[values] - moved[values])
    return None


def _bounds(codes: np.ndarray, steps: list[int]) -> tuple[Any, Any, Any, Any] | None:
    """The least and greatest sum inside, one of them maybe None, and the codes inside and outside:
    by a way through the array on which the sum grows from its least to its greatest."""
    along = max(axis for axis, step in enumerate(steps) if step == 1)
    place = [0 if step >= 0 else extent - 1
             for step, extent in zip(steps, codes.shape, strict=True)]
    way = []
    order = [along] + [axis for axis in range(codes.ndim) if axis != along and steps[axis]]
    for axis in order:
        extent, step = codes.shape[axis], steps[axis]
        if extent * abs(step) > _LONGEST:
            return None
        piece = [slice(at, at + 1) for at in place]
        piece[axis] = slice(0, extent)
        if axis != along:  # where the line before had not been
            piece[along] = slice(max(0, codes.shape[along] - abs(step)), codes.shape[along])
        sums = _sums(0, steps, tuple(piece), np.int64) + np.zeros(
            [part.stop - part.start for part in piece], np.int64)
        way.append((sums.ravel(), codes[tuple(piece)].ravel()))
        place[axis] = extent - 1 if step > 0 else 0
    sums, found = (np.concatenate(parts) for parts in zip(*way, strict=True))
    order_of = np.argsort(sums, kind="stable")
    sums, found = sums[order_of], found[order_of]
    edges = np.flatnonzero(found[1:] != found[:-1]) + 1
    if len(edges) == 2 and found[0] == found[-1]:
        return int(sums[edges[0]]), int(sums[edges[1] - 1]), found[edges[0]], found[0]
    if len(edges) != 1:
        return None
    low, high = int(sums[edges[0]]), int(sums[edges[0] - 1])
    first, last = found[0], found[-1]
    return (low, None, last, first) if first == 0 else (None, high, first, last)


# ---- parts that repeat -------------------------------------------------------------------------


def _one_period(array: np.ndarray, axis: int) -> np.ndarray:
    """The first part along the axis, of several that are equal."""
    codes, extent = _codes(array), array.shape[axis]
    lines = [_line(codes, place, axis)[:_SEEN] for place in _probes(array.shape)]
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
               for piece in _pieces(parts.shape))
