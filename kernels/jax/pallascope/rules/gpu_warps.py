"""The rule of warp_map: the four warps of a warpgroup, each of which does something else."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from pallascope.problems import NotCaptured
from pallascope.program import Region
from pallascope.rules import elementwise
from pallascope.walk import Rule, Walk

_WARPS = 4


def _warp_map(walk: Walk, eqn: Any, operands: list[int]) -> list[int]:
    """Emits what the warps do. If only one does anything, the agent of its warpgroup stands for it.
    What each warp does is known once its number is."""
    (mesh,), (body,) = eqn.params["meshes"], eqn.params["jaxprs"]
    if type(mesh).__name__ != "WarpMesh":
        raise NotCaptured("a kernel in a kernel")
    busy: dict[int, Region] = {}
    for warp in range(_WARPS):
        walk.warp = (mesh.axis_name, warp)
        with walk.by(_FOLDING), walk.builder.region() as region:
            walk.run(body, operands)
        if region.operations:
            busy[warp] = region
    walk.warp = None
    if len(busy) > 1:
        return walk.builder.emit("warp_map", [], [], {"warps": list(busy)}, list(busy.values()))
    for region in busy.values():
        walk.builder.append(region)
    return []


def _folded(name: str, compute: Callable[[Any, Any], Any]) -> Rule:
    """Returns the rule of a primitive of two operands that is computed here if both are known."""
    def rule(walk: Walk, eqn: Any, operands: list[int]) -> list[int]:
        known = [walk.builder.known(operand) for operand in operands]
        if name == "and" and 0 in known:
            return [walk.builder.literal("bool", False)]
        if None in known:
            return elementwise.RULES[name](walk, eqn, operands)
        return [walk.builder.literal("bool", bool(compute(*known)))]

    def of_bools(walk: Walk, eqn: Any, operands: list[int]) -> list[int]:
        is_flag = walk.type_of(eqn.outvars[0]) == ("bool", (), None)
        return (rule if is_flag else elementwise.RULES[name])(walk, eqn, operands)

    return of_bools


_FOLDING: dict[str, Rule] = {name: _folded(name, getattr(operator, name))
                             for name in ("eq", "ne", "lt", "le", "gt", "ge")}
_FOLDING["and"] = _folded("and", operator.and_)

RULES: dict[str, Rule] = {"mpmd_map": _warp_map}
