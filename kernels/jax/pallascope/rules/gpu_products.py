"""Rules of the matrix products of a warpgroup (wgmma), of their accumulators, and of registers."""

from __future__ import annotations

from typing import Any

from pallascope.jax_compat import gpu_equations
from pallascope.program import Params
from pallascope.rules.gpu_refs import leaves, view
from pallascope.walk import Rule, Walk


def _wgmma(walk: Walk, eqn: Any, operands: list[int]) -> list[int]:
    total, lhs, rhs = gpu_equations.product_of(eqn, leaves(operands))
    params: Params = {}
    if gpu_equations.is_ref(eqn.invars[1]):
        left = view(walk, lhs)
    else:
        left = lhs[0].value
        params["lhs_in_registers"] = True
    return walk.builder.emit("wgmma", [view(walk, total), left, view(walk, rhs)], [], params)


def emit_wait(walk: Walk, pending: int) -> list[int]:
    """Emits a wait until at most so many products are under way."""
    return walk.builder.emit("wgmma_wait", [], [], {"n": pending} if pending else {})


def _wait(walk: Walk, eqn: Any, operands: list[int]) -> list[int]:
    return emit_wait(walk, int(eqn.params["n"]))


def _load(walk: Walk, eqn: Any, operands: list[int]) -> list[int]:
    """Emits a load of an accumulator, which waits first unless it is told not to."""
    if eqn.params["wait_n"] is not None:
        emit_wait(walk, int(eqn.params["wait_n"]))
    return [walk.builder.one("wgmma_accumulator_deref", operands, walk.type_of(eqn.outvars[0]))]


def _store(walk: Walk, eqn: Any, operands: list[int]) -> list[int]:
    """Emits a store to an accumulator. JAX gives it a result, which is what was stored."""
    walk.builder.emit("wgmma_accumulator_store", operands, [])
    return [operands[1]]


def _mma(walk: Walk, eqn: Any, operands: list[int]) -> list[int]:
    """Emits the product of values by the warps themselves, which is there at once."""
    total, lhs, rhs = operands
    type_ = walk.type_of(eqn.outvars[0])
    product = walk.builder.one("dot_general", [lhs, rhs], type_, {
        "lhs_contracting": [1], "rhs_contracting": [0], "lhs_batch": [], "rhs_batch": [],
        "dtype": type_.dtype})
    return [walk.builder.one("add", [total, product], type_)]


def _set_max_registers(walk: Walk, eqn: Any, operands: list[int]) -> list[int]:
    params: Params = {"n": int(eqn.params["n"])}
    if eqn.params["action"] == "increase":
        params["increase"] = True
    return walk.builder.emit("set_max_registers", [], [], params)


def _reduce(op: str) -> Rule:
    def rule(walk: Walk, eqn: Any, operands: list[int]) -> list[int]:
        return [walk.builder.one(op, operands, walk.type_of(eqn.outvars[0]),
                                 {"axes": [int(axis) for axis in eqn.params["axes"]]})]

    return rule


RULES: dict[str, Rule] = {
    "wgmma_ref": _wgmma,
    "wgmma_wait": _wait,
    "wgmma_accumulator_deref": _load,
    "wgmma_accumulator_store": _store,
    "mma": _mma,
    "set_max_registers": _set_max_registers,
    **{f"mosaic_gpu_reduce_{kind}": _reduce(f"reduce_{kind}")
       for kind in ("sum", "max", "min", "prod")},
}
