"""Rules of the primitives that join arrays along an axis, or cut them into parts."""

from __future__ import annotations

from typing import Any

from pallascope.program import Type
from pallascope.rules.renamed import plain, same_name
from pallascope.walk import Rule, Walk

_MOST_OPERANDS = 64


def _concatenate(walk: Walk, eqn: Any, operands: list[int]) -> list[int]:
    """Concatenates many arrays in groups, because one operation takes only a limited number of
    arrays."""
    axis = int(eqn.params["dimension"])
    operands = [operand for operand, v in zip(operands, eqn.invars, strict=True)
                if 0 not in v.aval.shape]
    while len(operands) > _MOST_OPERANDS:
        operands = [_joined(walk, group, axis) for group in _groups(operands)]
    return [_joined(walk, operands, axis)]


def _groups(operands: list[int]) -> list[list[int]]:
    return [operands[first:first + _MOST_OPERANDS]
            for first in range(0, len(operands), _MOST_OPERANDS)]


def _joined(walk: Walk, operands: list[int], axis: int) -> int:
    dtype, first, _ = walk.builder.types[operands[0]]
    extent = sum(walk.builder.types[operand].shape[axis] for operand in operands)
    result = Type(dtype, (*first[:axis], extent, *first[axis + 1:]))
    return walk.builder.one("concatenate", operands, result, {"axis": axis})


def _stack(walk: Walk, eqn: Any, operands: list[int]) -> list[int]:
    if len(operands) <= _MOST_OPERANDS:
        return same_name(walk, eqn, operands, {"axis": int(eqn.params["axis"])})
    axis = int(eqn.params["axis"])
    dtype, shape, _ = walk.builder.types[operands[0]]
    stacked = [walk.builder.one("stack", group, Type(dtype, (*shape[:axis], len(group),
                                                             *shape[axis:])), {"axis": axis})
               for group in _groups(operands)]
    return [_joined(walk, stacked, axis)]


def _split(walk: Walk, eqn: Any, operands: list[int]) -> list[int]:
    axis, sizes = int(eqn.params["axis"]), plain(eqn.params["sizes"])
    results = [walk.type_of(v) for v, size in zip(eqn.outvars, sizes, strict=True) if size]
    if len(results) == 1:
        found = operands
    elif len(results) > _MOST_OPERANDS:
        found = _slices(walk, operands[0], axis, results, results)
    else:
        found = walk.builder.emit("split", operands, results, {
            "sizes": [size for size in sizes if size], "axis": axis})
    with_elements = iter(found)  # nobody reads the others
    return [next(with_elements) if size else walk.builder.index(0) for size in sizes]


def _unstack(walk: Walk, eqn: Any, operands: list[int]) -> list[int]:
    results = [walk.type_of(v) for v in eqn.outvars]
    axis = int(eqn.params["axis"])
    if len(results) > _MOST_OPERANDS:
        return _slices(walk, operands[0], axis, [
            type_._replace(shape=(*type_.shape[:axis], 1, *type_.shape[axis:]))
            for type_ in results], results)
    return walk.builder.emit("unstack", operands, results, {"axis": axis})


def _slices(walk: Walk, operand: int, axis: int, parts: list[Type],
            results: list[Type]) -> list[int]:
    """Returns the parts, one after the other along the axis, in the shapes of the results."""
    found = []
    start = [0] * len(parts[0].shape)
    for part, result in zip(parts, results, strict=True):
        limit = [at + extent for at, extent in zip(start, part.shape, strict=True)]
        value = walk.builder.one("slice", [operand], part, {"start": list(start), "limit": limit})
        if part != result:
            value = walk.builder.one("reshape", [value], result, {"shape": list(result.shape)})
        found.append(value)
        start[axis] = limit[axis]
    return found


RULES: dict[str, Rule] = {
    "concatenate": _concatenate,
    "stack": _stack,
    "unstack": _unstack,
    "split": _split,
}
