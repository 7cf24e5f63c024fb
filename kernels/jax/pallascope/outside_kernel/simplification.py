"""How XLA simplifies operations between kernels before it fuses them, as docs/xla.md describes."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import jax
import numpy as np

from pallascope.outside_kernel.arrays import Array
from pallascope.outside_kernel.fusible_steps import (BY_ELEMENT, Step, Uniform, equation, inverse,
                                                     is_bitcast, only_reshapes)


def _renamed(step: Step, same: dict[Array, Array]) -> None:
    step.operands = [same.get(of, of) if isinstance(of, Array) else of for of in step.operands]


def _told_apart(operand: Array | Uniform | int) -> Any:
    """Returns a key for an operand. -0.0 and 0.0 are different constants."""
    if isinstance(operand, Uniform):
        return operand.dtype, np.asarray(operand.element).tobytes(), operand.shape
    return operand


def without_repeats(steps: list[Step], kept: set[Array]) -> list[Step]:
    """Returns the steps without those that compute what an earlier step has computed (HloCSE)."""
    first: dict[Any, Array] = {}
    same: dict[Array, Array] = {}
    found = []
    for step in steps:
        _renamed(step, same)
        try:
            key: Any = (step.name, tuple(map(_told_apart, step.operands)),
                        tuple(sorted(step.eqn.params.items())),
                        step.result.aval.shape, step.result.aval.dtype)
            known = first.setdefault(key, step.result)
        except TypeError:  # parameters that cannot be compared
            known = step.result
        if known is not step.result and step.result not in kept:
            same[step.result] = known
        else:
            found.append(step)
    return found


def simplified(steps: list[Step], kept: set[Array], known: Callable[[int], Any]) -> list[Step]:
    """Returns the steps without those whose result is one of their operands."""
    made: dict[Any, Step] = {}
    same: dict[Array, Array] = {}
    found = []
    for step in steps:
        _renamed(step, same)
        if step.name == "transpose":
            _merge_transposes(step, made.get(step.operands[0]))
            _reshape_if_nothing_moves(step)
        elif step.name in BY_ELEMENT:
            before = _before_transposes(step, made)
            if before is not None:
                made[before.result] = before
                found.append(before)
        source = _is_operand(step, known)
        if source is None:
            made[step.result] = step
            found.append(step)
            source = _is_view(step, made)
        else:
            same[step.result] = source
        if step.result in kept and source is not None:
            kept.remove(step.result)
            step.result.base = source
            if source in made:
                kept.add(source)
    return found


def _before_transposes(step: Step, made: dict[Any, Step]) -> Step | None:
    """Moves an elementwise operation before the transposes of its operands, if these are all
    transposed alike: the operation then works on what was transposed, and `step` becomes the
    transpose of its result. Layouts go through such operations (LayoutAssignment)."""
    orders = {_order(made.get(array)) for array in step.arrays()}
    order = orders.pop() if len(orders) == 1 else None
    if order is None:
        return None
    back = inverse(order)

    def taken(of: Array | Uniform | int, aval: Any) -> tuple[Any, Any]:
        if isinstance(of, Array):
            source: Any = made[of].operands[0]
            return source, source.aval
        shape = tuple(aval.shape[axis] for axis in back) if aval.shape else ()
        aval = jax.core.ShapedArray(shape, aval.dtype)
        return (dataclasses.replace(of, shape=shape) if isinstance(of, Uniform) else of), aval

    found = [taken(of, v.aval) for of, v in zip(step.operands, step.eqn.invars, strict=True)]
    bind, params = step.eqn.primitive.bind, step.eqn.params
    eqn = equation(lambda *args: bind(*args, **params), [aval for _, aval in found])
    result = Array(eqn.outvars[0].aval, step.result.name)
    before = Step(eqn, [of for of, _ in found], result, step.location)
    step.eqn = equation(lambda one: jax.lax.transpose(one, order), [result.aval])
    step.operands = [result]
    return before


def _order(step: Step | None) -> tuple[int, ...] | None:
    """Returns the order of axes that a transpose makes."""
    is_transpose = step is not None and step.name == "transpose"
    return tuple(step.eqn.params["permutation"]) if is_transpose else None


def _merge_transposes(step: Step, before: Step | None) -> None:
    """Merges a transpose of a transpose into one (AlgebraicSimplifier::HandleTranspose)."""
    if before is not None and before.name == "transpose":
        inner = before.eqn.params["permutation"]
        order = tuple(inner[axis] for axis in step.eqn.params["permutation"])
        step.operands = list(before.operands)
        step.eqn = step.eqn.replace(invars=before.eqn.invars,
                                    params=step.eqn.params | {"permutation": order})


def _moves_nothing(transpose: Step) -> bool:
    """Returns whether it moves only axes of 1."""
    order, shape = transpose.eqn.params["permutation"], transpose.eqn.invars[0].aval.shape
    wide = [axis for axis in order if shape[axis] > 1]
    return wide == sorted(wide)


def _reshape_if_nothing_moves(step: Step) -> None:
    """Makes a transpose that moves only axes of 1 a reshape (AlgebraicSimplifier::HandleTranspose)."""
    aval, shape = step.eqn.invars[0].aval, step.result.aval.shape
    if _moves_nothing(step) and shape != aval.shape:
        step.eqn = equation(lambda one: jax.lax.reshape(one, shape), [aval])


def _is_operand(step: Step, known: Callable[[int], Any]) -> Array | None:
    """Returns the operand that the result is equal to: for a transpose that moves only axes of 1
    among others of 1, or for a choice by a constant."""
    source: Any = None
    if step.name == "transpose":
        source = step.operands[0] if _moves_nothing(step) else None
    elif step.name == "select_n" and isinstance(step.operands[0], int):
        which = known(step.operands[0])
        source = None if which is None else step.operands[1 + int(which)]
    return source if isinstance(source, Array) else None


def _is_view(step: Step, made: dict[Any, Step]) -> Array | None:
    """Returns the array that a reshape shows in another shape, if none of its elements moves."""
    source: Any = None
    shown = step.result.aval.shape
    while step is not None and only_reshapes(step.eqn) and step.result.aval.shape != ():
        source = step.operands[0]
        step = made.get(source)
    if not isinstance(source, Array) or source.aval.shape == ():
        return None
    moves = source.is_of_kernel and not is_bitcast(source.aval.shape, shown, of_kernel=True)
    return None if moves else source
