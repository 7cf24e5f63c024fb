"""Rules of the barriers between the warpgroups of a block, and their copies."""

from __future__ import annotations

from typing import Any

from pallascope.jax_compat import gpu_equations
from pallascope.rules.gpu_refs import barrier, leaves
from pallascope.walk import Rule, Walk


def _arrive(walk: Walk, eqn: Any, operands: list[int]) -> list[int]:
    part, predicate = gpu_equations.barrier_of(eqn, leaves(operands))
    if predicate is None:
        return walk.builder.emit("barrier_arrive", [barrier(walk, part)], [])
    return walk.builder.emit("barrier_arrive", [barrier(walk, part), predicate.value], [],
                             {"predicate": True})


def _wait(walk: Walk, eqn: Any, operands: list[int]) -> list[int]:
    part, _ = gpu_equations.barrier_of(eqn, leaves(operands))
    return walk.builder.emit("barrier_wait", [barrier(walk, part)], [])


def _arrive_and_wait(walk: Walk, eqn: Any, operands: list[int]) -> list[int]:
    _arrive(walk, eqn, operands)
    return _wait(walk, eqn, operands)


RULES: dict[str, Rule] = {
    "barrier_arrive": _arrive,
    "barrier_wait": _wait,
    "barrier_arrive_and_wait": _arrive_and_wait,
}
