"""Rules of the barriers between the warpgroups of a block, and their copies."""

from __future__ import annotations

from typing import Any

from pallascope.jax_compat import gpu_equations
from pallascope.program import INDEX, Params
from pallascope.rules import gpu_clusters
from pallascope.rules.gpu_refs import barrier, leaves
from pallascope.walk import Rule, Walk


def arrivals(walk: Walk, aval: Any) -> int:
    """Returns how many arrivals complete a phase. The agents of other blocks arrive at a barrier of
    a cluster, too."""
    further = sum(walk.cores[axis] - 1 for axis in gpu_equations.cluster_axes(aval))
    return gpu_equations.arrivals(aval) * (1 + further)


def _arrive(walk: Walk, eqn: Any, operands: list[int]) -> list[int]:
    part, predicate = gpu_equations.barrier_of(eqn, leaves(operands))
    given = [] if predicate is None else [predicate.value]
    params: Params = {} if predicate is None else {"predicate": True}
    walk.builder.emit("barrier_arrive", [barrier(walk, part), *given], [], params)
    for axis in gpu_equations.cluster_axes(eqn.invars[0].aval.inner_aval):
        for block in _others(walk, axis):
            there = gpu_clusters.of_block(walk, part, block)
            walk.builder.emit("barrier_arrive", [barrier(walk, there), *given], [], params)
    return []


def _others(walk: Walk, axis: Any) -> list[int]:
    """Returns the numbers of the other blocks along an axis of the cluster, as values."""
    builder, extent = walk.builder, walk.cores[axis]
    found = []
    for further in range(1, extent):
        here = gpu_clusters.position(walk, axis)
        there = builder.one("rem", [builder.add_index(here, builder.index(further)),
                                    builder.index(extent)], INDEX)
        apart = builder.one("sub", [there, here], INDEX)
        found.append(builder.add_index(
            gpu_clusters.number(walk),
            builder.scale_index(apart, gpu_clusters.stride(walk, axis))))
    return found


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
