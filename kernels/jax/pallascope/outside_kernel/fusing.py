"""Decides which operations between kernels XLA fuses into one, as docs/xla.md describes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pallascope.outside_kernel.arrays import Array
from pallascope.outside_kernel.fusible_steps import (EXPENSIVE, HEROES, REDUCTIONS, Fusion, Step,
                                                     needed_steps)
from pallascope.outside_kernel.simplification import simplified, without_repeats


def fusions(steps: list[Step], kept: set[Array], known: Callable[[int], Any]) -> list[Fusion]:
    """Returns the steps that `kept` arrays need as operations, each after those that it reads. A
    kept array that is the same as another one becomes a view of it. `known` returns the number of a
    scalar that is a constant, and None for others."""
    steps = simplified(needed_steps(without_repeats(steps, kept), kept), kept, known)
    return _fused(needed_steps(steps, kept), kept)


def _fused(steps: list[Step], kept: set[Array]) -> list[Fusion]:
    """Fuses chains into operations. A chain ends with a reduction and has at most one product. What
    is cheap is computed again if another operation reads it (InstructionFusion)."""
    made = {step.result: step for step in steps}
    level = _levels(steps, made)
    order = {step: number for number, step in enumerate(steps)}
    groups = _connected(steps, made, level)
    memory = set(kept)
    again: list[set[Step]] = []

    def take(step: Step, chain: set[Step]) -> None:
        if step.name in EXPENSIVE or step.result in kept:
            memory.add(step.result)
        elif step not in chain:
            chain.add(step)
            for array in step.arrays():
                if array in made:
                    take(made[array], chain)

    for group in groups:
        again.append(set())
        for step in group:
            for array in step.arrays():
                if array in made and level[made[array]] < level[step]:
                    take(made[array], again[-1])
    found = []
    for group, chain in zip(groups, again, strict=True):
        results = [step.result for step in group if step.result in memory]
        if results:
            kept_steps = needed_steps(sorted({*group, *chain}, key=order.__getitem__), results)
            found.append((max((level[step], order[step]) for step in group),
                          Fusion(kept_steps, results)))
    return [fusion for _, fusion in sorted(found, key=lambda entry: entry[0])]


def _levels(steps: list[Step], made: dict[Array, Step]) -> dict[Step, int]:
    """Returns the level of each step: how many fused operations must come before it."""
    level: dict[Step, int] = {}
    # Whether the step, or one that it is fused with, is a product.
    multiplies: dict[Step, bool] = {}
    reduced: set[Step] = set()  # reductions, and what is their only element in another shape
    for step in steps:
        before = [made[array] for array in step.arrays() if array in made]
        is_view = step.reshapes_one()
        if step.name in REDUCTIONS or (is_view and not reduced.isdisjoint(before)):
            reduced.add(step)
        level[step] = max((level[one] + (
            (one in reduced and not is_view) or (step.name in HEROES and multiplies[one]))
            for one in before), default=0)
        multiplies[step] = step.name == "dot_general" or any(
            multiplies[one] and level[one] == level[step] for one in before)
    return level


def _connected(steps: list[Step], made: dict[Array, Step],
               level: dict[Step, int]) -> list[list[Step]]:
    """Returns groups of steps of one level that read what others in the group make."""
    group_of: dict[Step, list[Step]] = {}
    for step in steps:
        joined = [step]
        for array in step.arrays():
            other = group_of.get(made[array]) if array in made else None
            if other is None or other is joined or level[other[0]] != level[step]:
                continue
            if len(other) > len(joined):
                joined, other = other, joined
            joined += other
            group_of.update((one, joined) for one in other)
        group_of[step] = joined
    return list({id(group): group for group in group_of.values()}.values())
