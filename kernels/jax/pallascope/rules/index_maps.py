"""Rules of index maps. The format has them as straight code: every branch is computed and one
result is taken.

A load in a branch that is not taken loads the first element, so that it is never out of bounds.
"""

from __future__ import annotations

import dataclasses
from typing import Any

from pallascope.jax_compat import parameters
from pallascope.problems import NotCaptured
from pallascope.program import INDEX, Type
from pallascope.rules import control_flow, flags_in_memory, grid_queries, memory
from pallascope.rules.ref_transforms import Window
from pallascope.walk import Rule, Walk

_MOST_ROUNDS = 64
_FLAG = Type("bool")


def _cond(walk: Walk, eqn: Any, operands: list[int]) -> list[int]:
    which, *rest = operands
    builder, branches = walk.builder, eqn.params["branches"]
    which = builder.flag(which)
    if len(branches) == 1 or builder.known(which) is not None:
        return control_flow.cond(walk, eqn, operands)
    if builder.types[which].dtype == "bool":
        taken = [builder.one("not", [which], _FLAG), which]
    else:
        last = builder.index(len(branches) - 1)
        number = builder.one("min", [builder.one(
            "max", [walk.index(which), builder.index(0)], INDEX), last], INDEX)
        taken = [builder.one("eq", [number, builder.index(i)], _FLAG)
                 for i in range(len(branches))]
    found: list[int] = []
    outer = walk.guard
    for flag, branch in zip(taken, branches, strict=True):
        walk.guard = flag if outer is None else builder.one("and", [outer, flag], _FLAG)
        results = walk.run(branch, rest)
        found = results if not found else [
            old if old == new else builder.one("select_n", [flag, old, new], builder.types[new])
            for old, new in zip(found, results, strict=True)]
    walk.guard = outer
    return found


def _scan(walk: Walk, eqn: Any, operands: list[int]) -> list[int]:
    """Unrolls the loop, if it only carries numbers."""
    num_consts, num_carry = parameters.scan_counts(eqn.params)
    length = eqn.params["length"]
    if length > _MOST_ROUNDS or num_consts + num_carry != len(operands) \
            or num_carry != len(eqn.outvars):
        raise NotCaptured(f"a loop of {length} rounds in an index map: expected {_MOST_ROUNDS} at "
                          "most, that carry numbers alone")
    consts, carried = operands[:num_consts], operands[num_consts:]
    for _ in range(length):
        carried = walk.run(eqn.params["jaxpr"], consts + carried)
    return carried


def _while(walk: Walk, eqn: Any, operands: list[int]) -> list[int]:
    raise NotCaptured("a loop in an index map whose number of rounds is not known before the run")


def _get(walk: Walk, eqn: Any, operands: list[int]) -> list[int]:
    part = memory.part_of(walk, eqn, operands)
    if walk.guard is not None:
        zero = walk.builder.index(0)
        part = Window(part.ref, [dataclasses.replace(axis, start=axis.start if axis.start == zero
                                 else walk.builder.one("select_n", [walk.guard, zero, axis.start],
                                                       INDEX)) for axis in part.axes])
    return [memory.load(walk, part)]


def _before(walk: Walk, eqn: Any, operands: list[int]) -> list[int]:
    """Emits what stays the same while the pipeline runs, and what index maps cannot hold, before
    the pipeline."""
    with walk.builder.before():
        return grid_queries.RULES[eqn.primitive.name](walk, eqn, operands)


RULES: dict[str, Rule] = {
    "cond": _cond, "scan": _scan, "while": _while, "get": flags_in_memory.loaded(_get),
    **dict.fromkeys(("program_id", "num_programs", "axis_index"), _before)}
