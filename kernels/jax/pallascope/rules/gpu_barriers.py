"""Rules of the barriers between the warpgroups of a block, and their copies."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping
from typing import Any

from pallascope.jax_compat import gpu_equations
from pallascope.program import INDEX, Params, Type
from pallascope.rules import gpu_clusters
from pallascope.rules.gpu_refs import barrier, leaves
from pallascope.walk import Rule, Walk


def arrivals(walk: Walk, aval: Any) -> int:
    """Returns how many arrivals complete a phase. The agents of other blocks arrive at a barrier of
    a cluster, too."""
    further = sum(math.prod(walk.cores[axis] for axis in axes) - 1
                  for axes in gpu_equations.cluster_axes(aval))
    return gpu_equations.arrivals(aval) * (1 + further)


def _arrive(walk: Walk, eqn: Any, operands: list[int]) -> list[int]:
    part, predicate = gpu_equations.barrier_of(eqn, leaves(operands))
    given = [] if predicate is None else [predicate.value]
    params: Params = {} if predicate is None else {"predicate": True}
    aval = eqn.invars[0].aval.inner_aval
    groups = gpu_equations.cluster_axes(aval)
    if gpu_equations.is_of_leader(aval):
        first = {axis: walk.builder.index(0) for axes in groups for axis in axes}
        met = [gpu_clusters.of_block(walk, part, gpu_clusters.number_at(walk, first))]
    else:
        met = [part, *(gpu_clusters.of_block(walk, part, gpu_clusters.number_at(walk, places))
                       for axes in groups for places in _others(walk, axes))]
    for one in met:
        walk.builder.emit("barrier_arrive", [barrier(walk, one), *given], [], params)
    return []


def _others(walk: Walk, axes: tuple[Any, ...]) -> Iterator[Mapping[Any, int]]:
    """Returns the places of the other blocks along axes of the cluster, as values."""
    builder = walk.builder
    for further in itertools.product(*(range(walk.cores[axis]) for axis in axes)):
        if any(further):
            yield {axis: builder.one("rem", [
                builder.add_index(gpu_clusters.position(walk, axis), builder.index(by)),
                builder.index(walk.cores[axis])], INDEX)
                for axis, by in zip(axes, further, strict=True) if by}


def _wait(walk: Walk, eqn: Any, operands: list[int]) -> list[int]:
    part, _ = gpu_equations.barrier_of(eqn, leaves(operands))
    return walk.builder.emit("barrier_wait", [barrier(walk, part)], [])


def _test(walk: Walk, eqn: Any, operands: list[int]) -> list[int]:
    part, _ = gpu_equations.barrier_of(eqn, leaves(operands))
    return [walk.builder.one("barrier_test", [barrier(walk, part)], Type("bool"))]


def _arrive_and_wait(walk: Walk, eqn: Any, operands: list[int]) -> list[int]:
    _arrive(walk, eqn, operands)
    return _wait(walk, eqn, operands)


RULES: dict[str, Rule] = {
    "barrier_arrive": _arrive,
    "barrier_wait": _wait,
    "barrier_arrive_and_wait": _arrive_and_wait,
    "barrier_test": _test,
}
