"""Jaxprs, open or closed: their constants, their calls, and the refs that they write to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from jax._src import core as jax_core
from jax._src.interpreters import partial_eval
from jax._src.state import types as state_types

Literal = jax_core.Literal
DropVar = jax_core.DropVar


def open_jaxpr(jaxpr: Any) -> tuple[Any, Sequence[Any]]:
    """Returns a jaxpr and the values of its constvars. Up to JAX 0.10, a ClosedJaxpr holds them."""
    inner = getattr(jaxpr, "jaxpr", jaxpr)
    consts = getattr(jaxpr, "consts", None)
    return inner, list(consts) if consts is not None else []


def evaluate(jaxpr: Any, arguments: Sequence[Any], constants: Sequence[Any] = ()) -> list[Any]:
    """Returns what a jaxpr yields for these arguments, while another function is traced. If no
    constants are given, its own are used."""
    inner, consts = open_jaxpr(jaxpr)
    return jax_core.eval_jaxpr(inner, constants or consts, *arguments)


def called(eqn: Any) -> Any:
    """Returns the jaxpr of the function that an equation calls."""
    return next(eqn.params[name] for name in ("jaxpr", "call_jaxpr", "fun_jaxpr", "call")
                if name in eqn.params)


def jaxprs_of(eqn: Any) -> list[Any]:
    """Returns the jaxprs among the parameters of an equation."""
    found = []
    for parameter in eqn.params.values():
        for part in parameter if isinstance(parameter, (tuple, list)) else (parameter,):
            if isinstance(getattr(part, "jaxpr", part), jax_core.Jaxpr):
                found.append(part)
    return found


def without_constants(jaxpr: Any) -> Any:
    """Returns a jaxpr whose constvars come first among its arguments."""
    return partial_eval.convert_constvars_jaxpr(getattr(jaxpr, "jaxpr", jaxpr))


def written_operands(eqn: Any) -> list[Any]:
    """Returns the refs that an equation writes to."""
    return [eqn.invars[number] for number in sorted(written_arguments(eqn))]


def written_arguments(jaxpr: Any) -> set[int]:
    """Returns the numbers of those refs among the arguments of a jaxpr or an equation to which it
    writes."""
    found = set()
    for effect in jaxpr.effects:
        if isinstance(effect, (state_types.WriteEffect, state_types.AccumEffect)):
            which = effect.input_index if hasattr(effect, "input_index") else effect.input
            found.add(which if isinstance(which, int) else jaxpr.invars.index(which))
    return found
