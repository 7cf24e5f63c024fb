"""Arrays without elements, which the format lacks: what is computed of them and others is computed
of the others alone."""

from __future__ import annotations

from typing import Any

from jax import lax

from pallascope.outside_kernel import fusible_steps
from pallascope.outside_kernel.arrays import Array


def is_empty(variable: Any) -> bool:
    return 0 in getattr(variable.aval, "shape", ())


def parts_of_split(eqn: Any) -> list[Any] | None:
    """Returns the slices that XLA has instead of a split if some of them are empty, else None."""
    if eqn.primitive.name != "split" or not any(map(is_empty, eqn.outvars)):
        return None
    return fusible_steps.slices(eqn)


def removed(eqn: Any, operands: list[Array]) -> tuple[Any, list[Array]]:
    """Returns an equation with a result that has elements, and its operands, without those that are
    empty if it joins arrays. What pads an empty array is a broadcast."""
    name = eqn.primitive.name
    if any(map(is_empty, eqn.outvars)) or not any(map(is_empty, eqn.invars)):
        return eqn, operands
    if name == "concatenate":
        kept = [number for number, v in enumerate(eqn.invars) if not is_empty(v)]
        return (eqn.replace(invars=[eqn.invars[number] for number in kept]),
                [operands[number] for number in kept])
    if name == "pad":
        shape = eqn.outvars[0].aval.shape
        return fusible_steps.equation(lambda around: lax.broadcast_in_dim(around, shape, ()),
                                      [eqn.invars[1].aval]), operands[1:]
    return eqn, operands
