"""Arrays of indices that count: what they begin with, and how far it is from one to the next."""

from __future__ import annotations

import dataclasses
from typing import Any

from pallascope.program import Builder


@dataclasses.dataclass(frozen=True)
class Line:
    """An int32 array that is start + step * the place along one axis. `start` is a value, a scalar.
    With a step of 0 all elements are equal."""

    start: int
    step: int = 0
    axis: int = 0


def line_of(builder: Builder, value: int) -> Line | None:
    """Returns what the array counts, as far as its operations show it. May emit what computes the
    start."""
    type_, made = builder.types[value], builder.made.get(value)
    if type_.shape == ():
        return Line(value)
    if type_.dtype != "int32" or made is None:
        return None
    name, operands, params = made["op"], made["operands"], made["params"]
    if name == "iota":
        return Line(builder.index(0), 1, params["dimension"])
    if name == "broadcast_in_dim":
        return _spread(builder, operands[0], params)
    if name == "reshape":
        return _reshaped(builder, operands[0], type_.shape)
    if name in ("add", "sub", "mul"):
        lines = [line_of(builder, operand) for operand in operands]
        return None if None in lines else _combined(builder, name, *lines)
    return None


def _spread(builder: Builder, operand: int, params: dict[str, Any]) -> Line | None:
    found = line_of(builder, operand)
    if found is None or found.step == 0:
        return found
    return dataclasses.replace(found, axis=params["dimensions"][found.axis])


def _reshaped(builder: Builder, operand: int, shape: tuple[int, ...]) -> Line | None:
    """A line stays a line if only axes of 1 come or go."""
    found = line_of(builder, operand)
    if found is None or found.step == 0:
        return found
    before = [axis for axis, extent in enumerate(builder.types[operand].shape) if extent > 1]
    after = [axis for axis, extent in enumerate(shape) if extent > 1]
    if len(before) != 1 or len(after) != 1 or before[0] != found.axis:
        return None
    return dataclasses.replace(found, axis=after[0])


def _combined(builder: Builder, name: str, a: Line, b: Line) -> Line | None:
    if name == "mul":
        a, b = (a, b) if b.step == 0 else (b, a)
        factor = builder.known(b.start)
        if b.step != 0 or factor is None:
            return None
        return Line(builder.scale_index(a.start, factor), a.step * factor, a.axis)
    if a.step and b.step and a.axis != b.axis:
        return None
    axis = a.axis if a.step else b.axis
    if name == "add":
        return Line(builder.add_index(a.start, b.start), a.step + b.step, axis)
    if builder.known(b.start) is None:
        return None
    return Line(builder.add_index(a.start, builder.index(-builder.known(b.start))),
                a.step - b.step, axis)
