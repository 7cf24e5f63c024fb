"""Rules of inline_mgpu: barriers that `bar` of the PTX ISA names by numbers, and fences."""

from __future__ import annotations

from typing import Any

from pallascope.jax_compat import gpu_inline
from pallascope.problems import NotCaptured
from pallascope.program import Params, Region, Type
from pallascope.rules.ref_transforms import element
from pallascope.walk import Rule, Walk

_BARRIERS = 16  # of a block: PTX ISA, bar
_WARPGROUP, _WARP = 128, 32  # threads


def _inline(walk: Walk, eqn: Any, operands: list[int]) -> list[int]:
    arguments = eqn.params["pytree_args"].num_leaves
    found = gpu_inline.instructions(eqn.params["mgpu_fn"], arguments)
    if found is None or eqn.outvars:
        raise NotCaptured(f"inline_mgpu of {eqn.params['mgpu_fn'].__qualname__}, which does more "
                          "than meet at a barrier by its number, or emit a fence")
    for instruction in found:
        if isinstance(instruction, gpu_inline.Fence):
            walk.builder.emit("commit_smem", [], [])
        elif isinstance(instruction, gpu_inline.NamedBarrier):
            _meet(walk, instruction, operands)
    return []


def _meet(walk: Walk, instruction: gpu_inline.NamedBarrier, operands: list[int]) -> None:
    threads, name = instruction.threads, instruction.barrier
    number = (walk.builder.index(name) if isinstance(name, int)
              else walk.index(operands[name.number]))
    if walk.named_barriers is None:
        raise NotCaptured("bar outside of a kernel")
    if threads not in walk.named_barriers:
        walk.named_barriers[threads] = walk.builder.value(
            Type("int32", (_BARRIERS,), "barrier"), f"bar_{threads}")
    _participants(walk, threads)
    barrier = element(walk, walk.named_barriers[threads], 0, number)
    walk.builder.emit("barrier_arrive", [barrier], [])
    if instruction.waits:
        walk.builder.emit("barrier_wait", [barrier], [])


def _participants(walk: Walk, threads: int) -> int:
    """Returns how many agents meet at a barrier of so many threads: warpgroups, and at most one
    warp, for which its warpgroup stands."""
    groups, rest = divmod(threads, _WARPGROUP)
    if rest not in (0, _WARP) or (walk.warp is not None and rest == 0):
        raise NotCaptured(f"bar of {threads} threads, which are neither warpgroups nor "
                          "warpgroups and one warp")
    return groups + rest // _WARP


def in_scope(walk: Walk, region: Region) -> Region:
    """Returns the region of a kernel in a scope that has the barriers which it names."""
    named = walk.named_barriers or {}
    walk.named_barriers = None
    if not named:
        return region
    region.arguments = list(named.values())
    params: Params = {"arrivals": [_participants(walk, threads) for threads in named],
                      "named": True}
    if any(walk.cores[axis] > 1 for axis in walk.threads):
        params["collective"] = True
    with walk.builder.region() as whole:
        walk.builder.emit("run_scoped", [], [], params, [region])
    return whole


RULES: dict[str, Rule] = {"inline_mgpu": _inline}
