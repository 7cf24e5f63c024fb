"""The rule of pl.run_state in a kernel for a GPU: accumulators and other registers that begin with a
value."""

from __future__ import annotations

from typing import Any

from pallascope import types
from pallascope.jax_compat import gpu_equations, jaxprs, ref_types
from pallascope.problems import NotCaptured
from pallascope.program import Type
from pallascope.rules.gpu_products import emit_wait
from pallascope.rules.gpu_refs import ref_type
from pallascope.sources import arg_names
from pallascope.walk import Rule, Walk


def _run_state(walk: Walk, eqn: Any, operands: list[int]) -> list[int]:
    """Emits what is written as memory of a scope that yields what they hold in the end. Refs from
    outside pass as they are, and so do values that the function closes over, which JAX makes refs.
    """
    builder, (body, _) = walk.builder, jaxprs.open_jaxpr(eqn.params["jaxpr"])
    names = arg_names(body, ["state"] * len(body.invars))
    written = jaxprs.written_arguments(body)
    given = iter(operands)
    firsts = [next(given) if is_set else None for is_set in eqn.params["is_initialized"]]
    arguments: list[int] = []
    made: dict[int, int] = {}  # accumulators, by the numbers of the arguments
    for number, (v, first, name) in enumerate(zip(body.invars, firsts, names, strict=True)):
        if first is not None and builder.types[first].space is not None:
            arguments.append(first)
        elif gpu_equations.is_accumulator(v.aval):
            made[number] = builder.value(ref_type(v.aval), name)
            arguments.append(made[number])
        elif first is None or number in written:
            made[number] = builder.value(_registers(v.aval), name)
            arguments.append(made[number])
        else:
            arguments.append(first)
    with builder.region(list(made.values())) as region:
        for number, ref in made.items():
            if firsts[number] is not None:
                builder.emit("wgmma_accumulator_store", [ref, firsts[number]], [])
        walk.run(body, arguments)
        emit_wait(walk, 0)
        region.results = [
            builder.one("wgmma_accumulator_deref", [ref], builder.types[ref]._replace(space=None))
            for ref in made.values()]
    found = builder.emit("run_scoped", [], [
        types.array_type(body.invars[number].aval.inner_aval) for number in made], {}, [region])
    return [found[list(made).index(number)] if number in made else argument
            for number, argument in enumerate(arguments)]


def _registers(aval: Any) -> Type:
    """Returns the type of memory that JAX keeps in registers, because it has no space of its own.
    """
    if str(ref_types.memory_space(aval)) not in ("None", "any"):
        raise NotCaptured("run_state of memory other than registers")
    return types.array_type(aval.inner_aval)._replace(space="accumulator")


RULES: dict[str, Rule] = {"run_state": _run_state}
