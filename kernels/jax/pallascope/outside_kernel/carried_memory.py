"""Which argument a branch or a loop's body updates in place for each of its results, as its jaxpr
says. XLA gives both one memory."""

from __future__ import annotations

from typing import Any, NamedTuple

from pallascope.jax_compat import jaxprs, parameters
from pallascope.outside_kernel.liveness import is_variable
from pallascope.rules.control_flow import CALLS
from pallascope.rules.gather_scatter import COMBINED as SCATTERS
from pallascope.rules.identities import IDENTITY

_OF_FIRST = frozenset({"dynamic_update_slice", *SCATTERS, "reshape", "squeeze"})


class Origin(NamedTuple):
    """What a result was before."""

    argument: int  # its number
    is_updated: bool  # whether a slice update or a scatter changes it on the way


def origin(jaxpr: Any, number: int) -> Origin | None:
    """Returns the argument that becomes the result of this number; None if none does."""
    inner, _ = jaxprs.open_jaxpr(jaxpr)
    made = {v: (eqn, place) for eqn in inner.eqns for place, v in enumerate(eqn.outvars)}
    found, is_updated = inner.outvars[number], False
    while is_variable(found) and found in made:
        eqn, place = made[found]
        before = _operand(eqn, place)
        if before is None:
            return None
        found, is_updated = eqn.invars[before.argument], is_updated or before.is_updated
    return (Origin(inner.invars.index(found), is_updated)
            if is_variable(found) and found in inner.invars else None)


def _operand(eqn: Any, number: int) -> Origin | None:
    """Returns the operand that becomes the result of this number of an equation."""
    name, params = eqn.primitive.name, eqn.params
    if name in IDENTITY:
        return Origin(number, False)
    if name in _OF_FIRST:
        return Origin(0, name == "dynamic_update_slice" or name in SCATTERS)
    if name in CALLS:
        return origin(jaxprs.called(eqn), number)
    if name in parameters.KERNELS:
        first = parameters.grid_bounds(eqn)
        return next((Origin(first + operand, False) for operand, result
                     in dict(params["input_output_aliases"]).items() if result == number), None)
    if name == "cond":
        found = [of for of in of_branches(eqn, number) if of is not None]
        return found[0]._replace(argument=1 + found[0].argument) if found else None
    if name in ("scan", "while"):
        body, first, count = _loop(eqn)
        if number < count:
            before = origin(body, number)
            return Origin(first + number, before is not None and before.is_updated)
    return None


def of_branches(eqn: Any, number: int) -> list[Origin | None]:
    """Returns the argument of each branch that becomes its result of this number."""
    return [origin(branch, number) for branch in eqn.params["branches"]]


def _loop(eqn: Any) -> tuple[Any, int, int]:
    """Returns the body of a loop, the number of the first operand that it carries, and how many it
    carries."""
    params = eqn.params
    if eqn.primitive.name == "scan":
        return params["jaxpr"], *parameters.scan_counts(params)
    first = params["cond_nconsts"] + params["body_nconsts"]
    return params["body_jaxpr"], first, len(eqn.invars) - first


def is_updated(eqn: Any) -> bool:
    """Returns whether a branch or a loop updates an array in place by slices or scatters."""
    if eqn.primitive.name == "cond":
        return any(of is not None and of.is_updated for number, v in enumerate(eqn.outvars)
                   if v.aval.shape for of in of_branches(eqn, number))
    body, first, count = _loop(eqn)
    if eqn.primitive.name == "while":
        first = eqn.params["body_nconsts"]
    found = ((number, origin(body, number)) for number in range(count)
             if eqn.outvars[number].aval.shape)
    return any(of is not None and of.is_updated and of.argument == first + number
               for number, of in found)
