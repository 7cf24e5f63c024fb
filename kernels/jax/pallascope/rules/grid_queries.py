"""Rules of the primitives that ask for the place in the grid, or on a mesh of cores or devices."""

from __future__ import annotations

import math
from typing import Any

from pallascope.problems import NotCaptured
from pallascope.program import INDEX, Type
from pallascope.walk import Rule, Walk


def _axis_index(walk: Walk, eqn: Any, operands: list[int]) -> list[int]:
    name = eqn.params["axis_name"]
    if name in walk.grid_names:
        return [walk.builder.one("program_id", [], INDEX, {"axis": walk.grid_names[name]})]
    extents = walk.cores | walk.devices
    if name not in extents:
        raise NotCaptured(f"axis_index of {name}, which no grid and no mesh of cores or devices "
                          "has")
    if extents[name] == 1:
        return [walk.builder.index(0)]
    return [walk.builder.one("axis_index", [], INDEX, {"text": name})]


def _axis_size(walk: Walk, eqn: Any, operands: list[int]) -> list[int]:
    names = eqn.params["axis_name"]
    return [walk.builder.index(math.prod(
        walk.cores[name] for name in (names if isinstance(names, tuple) else (names,))))]


def _grid_query(walk: Walk, eqn: Any, operands: list[int]) -> list[int]:
    axis = eqn.params["axis"]
    if axis >= len(walk.grid_axes):
        raise NotCaptured(f"{eqn.primitive.name} of axis {axis} without such a grid axis")
    return [walk.builder.one(eqn.primitive.name, [], Type("int32"),
                             {"axis": walk.grid_axes[axis]})]


RULES: dict[str, Rule] = {
    "axis_index": _axis_index,
    "axis_size": _axis_size,
    "program_id": _grid_query,
    "num_programs": _grid_query,
}
