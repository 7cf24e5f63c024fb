"""What XLA makes of the operations between kernels, as rules on a graph of them: docs/xla.md says
which rules these are and where they are from.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import jax
import numpy as np

from pallascope import primitives
from pallascope.arrays import Array

# The last two lines: what XLA has for them is a chain of operations by element.
BY_ELEMENT = frozenset(primitives.ELEMENTWISE) | {
    "convert_element_type", "select_n", "clamp", "integer_pow", "round", "copy", "copy_p",
    "reduce_precision", "acos", "acosh", "asin", "asinh", "atan", "atanh", "bessel_i0e",
    "bessel_i1e", "cosh", "digamma", "erfc", "lgamma", "log2", "mulhi", "one_minus_square", "sinh"}
_MOVES = frozenset({
    "bitcast_convert_type", "broadcast_in_dim", "concatenate", "dynamic_slice", "gather",
    "iota", "pad", "reshape", "rev", "slice", "squeeze", "transpose"})
_RESHAPES = frozenset({"broadcast_in_dim", "reshape", "squeeze"})
_REDUCTIONS = frozenset({
    "argmax", "argmin", "reduce_and", "reduce_max", "reduce_min", "reduce_or", "reduce_prod",
    "reduce_sum"})
FUSIBLE = BY_ELEMENT | _MOVES | _REDUCTIONS | {"dot_general"}
_HEROES = _REDUCTIONS | {"dot_general"}  # one of them to a chain
# Computed where they are read rather than written and read again (InstructionFusion::IsExpensive).
_EXPENSIVE = _HEROES | {
    "acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "bessel_i0e", "bessel_i1e", "cbrt",
    "cos", "cosh", "digamma", "div", "erf", "erf_inv", "erfc", "exp", "exp2", "expm1", "gather",
    "lgamma", "log", "log1p", "log2", "logistic", "pow", "rem", "rsqrt", "sin", "sinh", "sqrt",
    "tan", "tanh"}


@dataclasses.dataclass(frozen=True)
class Uniform:
    """A constant whose elements are all the same, which needs no memory."""

    dtype: str
    element: Any
    shape: tuple[int, ...]


@dataclasses.dataclass(eq=False)
class Step:
    """An equation that waits, and what it reads: arrays, or scalars as values of the program."""

    eqn: Any
    operands: list[Array | Uniform | int]
    result: Array
    location: int

    @property
    def name(self) -> str:
        return self.eqn.primitive.name

    def arrays(self) -> list[Array]:
        return [of for of in self.operands if isinstance(of, Array)]


@dataclasses.dataclass
class Fusion:
    """Steps that are one operation, in order, and those of their results that get memory."""

    steps: list[Step]
    results: list[Array]

    def inputs(self) -> list[Array]:
        made = {step.result for step in self.steps}
        return [array for array in dict.fromkeys(of for step in self.steps for of in step.arrays())
                if array not in made]

    def name(self) -> str:
        """As XLA names what it fuses, by its operations from the last to the first."""
        names = dict.fromkeys(step.name for step in reversed(self.steps))
        shown = [name for name in names if name not in ("broadcast_in_dim", "convert_element_type")]
        return "_".join((shown or list(names))[:3])


_TILE_ROWS, _TILE_LANES = 8, 128


def is_bitcast(before: tuple[int, ...], after: tuple[int, ...]) -> bool:
    """Whether a reshape moves nothing: rows of tiles stay whole and in order (ReshapeIsBitcast,
    with the tiles of openxla.org/xla/tiled_layout)."""
    old, new = ([extent for extent in shape if extent != 1] for shape in (before, after))
    if old == new:
        return True
    if min(len(old), len(new)) < 2:  # one of them lies in a line
        wide = max(old, new, key=len)
        return wide[-1] == _TILE_LANES and wide[-2] % _TILE_ROWS == 0
    return old[-1] == new[-1] and (
        old[-2] == new[-2] or (old[-2] % _TILE_ROWS == 0 and new[-2] % _TILE_ROWS == 0))


def only_reshapes(eqn: Any) -> bool:
    """Whether no element moves."""
    name = eqn.primitive.name
    if name not in _RESHAPES or (name == "reshape" and eqn.params["dimensions"] is not None):
        return False
    before, after = (v.aval.shape for v in (eqn.invars[0], eqn.outvars[0]))
    return math.prod(before) == math.prod(after) and is_bitcast(before, after)


def inverse(order: Sequence[int]) -> tuple[int, ...]:
    return tuple(order.index(axis) for axis in range(len(order)))


def equation(function: Callable[..., Any], avals: Iterable[Any]) -> Any:
    """The one that the function of arrays of these types is."""
    (eqn,) = jax.make_jaxpr(function)(
        *(jax.ShapeDtypeStruct(aval.shape, aval.dtype) for aval in avals)).eqns
    return eqn


def slices(split: Any) -> list[Any]:
    """The equations that XLA has instead of a split."""
    (aval,), axis = [v.aval for v in split.invars], split.params["axis"]
    found, start = [], [0] * aval.ndim
    for v in split.outvars:
        limit = [*aval.shape[:axis], start[axis] + v.aval.shape[axis], *aval.shape[axis + 1:]]
        found.append(equation(lambda one, start=tuple(start), limit=tuple(limit): (
            jax.lax.slice_p.bind(one, start_indices=start, limit_indices=limit, strides=None)),
            [aval]))
        start[axis] = limit[axis]
    return found


def fusions(steps: list[Step], kept: set[Array], known: Callable[[int], Any]) -> list[Fusion]:
    """The steps that `kept` arrays need, as operations of which each comes after those that it
    reads. A kept array that is another one becomes a view of that. `known` yields the number of a
    scalar that is a constant, else None."""
    steps = _simplified(_needed(_unique(steps, kept), kept), kept, known)
    return _fused(_needed(steps, kept), kept)


def _renamed(step: Step, same: dict[Array, Array]) -> None:
    step.operands = [same.get(of, of) if isinstance(of, Array) else of for of in step.operands]


def _told_apart(operand: Array | Uniform | int) -> Any:
    """A key of an operand: -0.0 and 0.0 are two constants."""
    if isinstance(operand, Uniform):
        return operand.dtype, np.asarray(operand.element).tobytes(), operand.shape
    return operand


def _unique(steps: list[Step], kept: set[Array]) -> list[Step]:
    """Without those that compute what one before them has (HloCSE)."""
    first: dict[Any, Array] = {}
    same: dict[Array, Array] = {}
    found = []
    for step in steps:
        _renamed(step, same)
        try:
            key: Any = (step.name, tuple(map(_told_apart, step.operands)), tuple(sorted(step.eqn.params.items())),
                        step.result.aval.shape, step.result.aval.dtype)
            known = first.setdefault(key, step.result)
        except TypeError:  # parameters that cannot be told apart
            known = step.result
        if known is not step.result and step.result not in kept:
            same[step.result] = known
        else:
            found.append(step)
    return found


def _simplified(steps: list[Step], kept: set[Array], known: Callable[[int], Any]) -> list[Step]:
    """Without those whose result is one of their operands."""
    made: dict[Any, Step] = {}
    same: dict[Array, Array] = {}
    found = []
    for step in steps:
        _renamed(step, same)
        if step.name == "transpose":
            _merge_transposes(step, made.get(step.operands[0]))
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
    """An operation by element of arrays that are all transposed alike is one of what they are made
    of, which is then transposed: `step` becomes that. Layouts go through such operations
    (LayoutAssignment)."""
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
    """Of axes, that a transpose makes."""
    is_transpose = step is not None and step.name == "transpose"
    return tuple(step.eqn.params["permutation"]) if is_transpose else None


def _merge_transposes(step: Step, before: Step | None) -> None:
    """A transpose of a transpose is one (AlgebraicSimplifier::HandleTranspose)."""
    if before is not None and before.name == "transpose":
        inner = before.eqn.params["permutation"]
        order = tuple(inner[axis] for axis in step.eqn.params["permutation"])
        step.operands = list(before.operands)
        step.eqn = step.eqn.replace(invars=before.eqn.invars,
                                    params=step.eqn.params | {"permutation": order})


def _is_operand(step: Step, known: Callable[[int], Any]) -> Array | None:
    """What a transpose that moves no axis but those of 1, or a choice by a constant, is."""
    source: Any = None
    if step.name == "transpose":
        order, shape = step.eqn.params["permutation"], step.eqn.invars[0].aval.shape
        wide = [axis for axis in order if shape[axis] > 1]
        source = step.operands[0] if wide == sorted(wide) else None
    elif step.name == "select_n" and isinstance(step.operands[0], int):
        which = known(step.operands[0])
        source = None if which is None else step.operands[1 + int(which)]
    return source if isinstance(source, Array) else None


def _is_view(step: Step, made: dict[Any, Step]) -> Array | None:
    """The array that a reshape shows the elements of in another shape, where none of them moves."""
    source: Any = None
    while step is not None and only_reshapes(step.eqn) and step.result.aval.shape != ():
        source = step.operands[0]
        step = made.get(source)
    return source if isinstance(source, Array) and source.aval.shape != () else None


def _needed(steps: Iterable[Step], kept: Iterable[Array]) -> list[Step]:
    """Those that the arrays depend on."""
    wanted, found = set(kept), []
    for step in reversed(list(steps)):
        if step.result in wanted:
            wanted.update(step.arrays())
            found.append(step)
    return found[::-1]


def _fused(steps: list[Step], kept: set[Array]) -> list[Fusion]:
    """Chains are one operation up to a reduction, which is its last, and have one product at most.
    What is cheap is computed again where another operation reads it (InstructionFusion)."""
    made = {step.result: step for step in steps}
    level = _levels(steps, made)
    order = {step: number for number, step in enumerate(steps)}
    groups = _connected(steps, made, level)
    memory = set(kept)
    again: list[set[Step]] = []

    def take(step: Step, chain: set[Step]) -> None:
        if step.name in _EXPENSIVE or step.result in kept:
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
            kept_steps = _needed(sorted({*group, *chain}, key=order.__getitem__), results)
            found.append((max((level[step], order[step]) for step in group),
                          Fusion(kept_steps, results)))
    return [fusion for _, fusion in sorted(found, key=lambda entry: entry[0])]


def _levels(steps: list[Step], made: dict[Array, Step]) -> dict[Step, int]:
    """How many operations before it a step waits for."""
    level: dict[Step, int] = {}
    multiplies: dict[Step, bool] = {}  # it or what it is fused with
    for step in steps:
        before = [made[array] for array in step.arrays() if array in made]
        level[step] = max((level[one] + (
            one.name in _REDUCTIONS or (step.name in _HEROES and multiplies[one]))
            for one in before), default=0)
        multiplies[step] = step.name == "dot_general" or any(
            multiplies[one] and level[one] == level[step] for one in before)
    return level


def _connected(steps: list[Step], made: dict[Array, Step],
               level: dict[Step, int]) -> list[list[Step]]:
    """Steps of one level that read what others of them make."""
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
