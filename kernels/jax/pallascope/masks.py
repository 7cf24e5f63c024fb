"""Masks as recipes: arrays of two values, where a linear sum of the indices decides which value an
element has."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from pallascope.array_elements import (SEEN, codes_of, index_sums, index_type, json_number,
                                       line_of, pieces_of, probes_of, range_of_sums)

_LONGEST = 1 << 20  # the longest line of a mask; a line is looked at as a whole


def mask_recipe(array: np.ndarray) -> dict[str, Any] | None:
    """Returns the recipe of a mask, or None if the array is not a mask."""
    codes = codes_of(array)
    steps = None if max(codes.shape) > _LONGEST else _steps_of_mask(codes)
    bounds = None if steps is None else _bounds(codes, steps)
    if bounds is None:
        return None
    low, high, inside, outside = bounds
    dtype = index_type(*range_of_sums(0, steps, codes.shape))
    for piece in pieces_of(codes.shape):
        sums = index_sums(0, steps, piece, dtype)
        within = (low <= sums) if high is None else (sums <= high)
        if low is not None and high is not None:
            within &= low <= sums
        if not (codes[piece] == np.where(within, inside, outside)).all():
            return None
    found: dict[str, Any] = {"steps": steps, "low": low, "high": high}
    for key, code, default in (("inside", inside, 1), ("outside", outside, 0)):
        number = json_number(code.reshape(1).view(array.dtype)[0])
        if number is None:
            return None
        found[key] = None if number == default and str(number)[0] != "-" else number
    return {"mask": {key: value for key, value in found.items() if value is not None}}


def _edges(line: np.ndarray) -> dict[tuple[int, int], int] | None:
    """Returns where a line changes from one value to another, by these two values; None if it
    changes too often."""
    if np.count_nonzero(line[1:SEEN] != line[:SEEN - 1][:len(line) - 1]) > 2:
        return None
    places = np.flatnonzero(line[1:] != line[:-1]) + 1
    if len(places) > 2:
        return None
    found = {(int(line[place - 1]), int(line[place])): int(place) for place in places}
    return None if len(set(itertools.chain(*found))) > 2 else found


def _steps_of_mask(codes: np.ndarray) -> list[int] | None:
    """Returns steps such that the elements depend on the sum of step * index. They are derived from
    how edges move from one line to the next. The step along lines is 1."""
    for along in reversed(range(codes.ndim)):
        for place in probes_of(codes.shape):
            edges = _edges(line_of(codes, place, along))
            if edges is None:
                return None
            if edges:
                steps = [1 if axis == along else _step(codes, place, along, axis, edges)
                         for axis in range(codes.ndim)]
                if None not in steps:
                    return steps
    return None


def _step(codes: np.ndarray, place: tuple[int, ...], along: int, axis: int,
          edges: dict[tuple[int, int], int]) -> int | None:
    if codes.shape[axis] == 1:
        return 0
    for move in (1, -1):
        other = list(place)
        other[axis] += move
        if 0 <= other[axis] < codes.shape[axis]:
            moved = _edges(line_of(codes, tuple(other), along)) or {}
            for values in edges.keys() & moved.keys():
                return move * (edges[values] - moved[values])
    return None


def _bounds(codes: np.ndarray, steps: list[int]) -> tuple[Any, Any, Any, Any] | None:
    """Returns the least and the greatest sum inside, one of which may be None, and the codes inside
    and outside. It follows a path through the array on which the sum grows from its least to its
    greatest value."""
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
        if axis != along:  # only the part that the line before did not cover
            piece[along] = slice(max(0, codes.shape[along] - abs(step)), codes.shape[along])
        sums = index_sums(0, steps, tuple(piece), np.int64) + np.zeros(
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
