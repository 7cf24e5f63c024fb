"""Rules of memory that lives during a part of a kernel. It may become a pipeline's own buffers."""

from __future__ import annotations

from typing import Any

from pallascope import types
from pallascope.jax_compat import caller_buffers
from pallascope.problems import NotCaptured
from pallascope.sources import arg_names
from pallascope.walk import Rule, Walk


def _run_scoped(walk: Walk, eqn: Any, operands: list[int]) -> list[int]:
    if eqn.params.get("collective_axes"):
        raise NotCaptured("run_scoped with collective axes")
    body = eqn.params["jaxpr"]
    refs = [walk.builder.value(types.ref_type(v.aval), name)
            for v, name in zip(body.invars, arg_names(body, ["scratch"] * len(body.invars)),
                               strict=True)]
    walk.scoped |= dict.fromkeys(refs, False)
    with walk.builder.region(refs) as region:
        region.results = walk.run(body, refs, constants=operands)
    given = [ref for ref in refs if walk.scoped.pop(ref)]
    if region.used.intersection(given):
        raise NotCaptured("buffers of an emit_pipeline that are used besides")
    region.arguments = [ref for ref in refs if ref not in given]
    return walk.builder.emit("run_scoped", [], [walk.type_of(v) for v in eqn.outvars],
                             regions=[region])


def _buffers_taken(walk: Walk, eqn: Any, operands: list[int]) -> list[int]:
    if not walk.scoped.keys() >= set(operands):
        raise NotCaptured("buffers of an emit_pipeline that are not of a run_scoped")
    walk.scoped |= dict.fromkeys(operands, True)
    return []


RULES: dict[str, Rule] = {"run_scoped": _run_scoped, caller_buffers.NAME: _buffers_taken}
