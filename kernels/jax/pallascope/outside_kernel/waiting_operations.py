"""Operations around kernels wait until something needs them. They then become what XLA makes of
them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax
from jax import lax

from pallascope import array_elements, types
from pallascope.outside_kernel import fusible_steps, fusing, fusion_operation
from pallascope.outside_kernel.arrays import Array, Arrays
from pallascope.outside_kernel.fusible_steps import Fusion, Step, Uniform
from pallascope.outside_kernel.liveness import Frames
from pallascope.problems import NotCaptured
from pallascope.walk import Walk


class Waiting:
    """The operations that wait."""

    def __init__(self, walk: Walk, arrays: Arrays, frames: Frames) -> None:
        self._walk, self._arrays, self._frames = walk, arrays, frames
        self._steps: list[Step] = []
        self._made: set[Array] = set()

    def makes(self, array: Array) -> bool:
        """Returns whether a waiting operation makes the array."""
        return array in self._made

    def takes(self, eqn: Any, operands: Sequence[Array]) -> bool:
        """Returns whether it is an operation that others may be fused with. An operation on scalars
        alone is such only if one of them has still to be made."""
        if eqn.primitive.name == "split":
            return all(self.takes(part, operands) for part in fusible_steps.slices(eqn))
        if (len(eqn.outvars) != 1 or eqn.effects or types.moves_keys(eqn)
                or eqn.primitive.name not in fusible_steps.FUSIBLE):
            return False
        avals = [eqn.outvars[0].aval, *(array.aval for array in operands)]
        return (not any(0 in aval.shape for aval in avals)
                and (any(aval.shape for aval in avals) or any(map(self.makes, operands))))

    def add(self, eqn: Any, operands: Sequence[Array]) -> list[Array]:
        """Returns the results of an equation that it takes. Nothing is emitted yet."""
        if eqn.primitive.name == "split":
            return [result for part in fusible_steps.slices(eqn)
                    for result in self.add(part, operands)]
        aval = eqn.outvars[0].aval
        types.array_type(aval)  # the format may lack the type
        step = Step(eqn, [self._operand(array) for array in operands],
                    Array(aval, aval.str_short()), self._walk.builder.location)
        self._steps.append(step)
        self._made.add(step.result)
        return [step.result]

    def row_major(self, array: Array) -> Array:
        """Returns the array with its axes lying in HBM in their order, as kernels need it."""
        if array.layout is None:
            return array
        made = array.row_major
        if made is None or not (made in self._made or made.is_result):
            shape = tuple(array.aval.shape[axis] for axis in array.layout)
            lies = Array(jax.core.ShapedArray(shape, array.aval.dtype), array.name, base=array,
                         order=array.layout)
            made = array.row_major = self.transposed(lies, fusible_steps.inverse(array.layout))
        return made

    def transposed(self, array: Array, order: tuple[int, ...]) -> Array:
        """Returns the array with its axes in this order."""
        eqn = fusible_steps.equation(lambda one: lax.transpose(one, order), [array.aval])
        (found,) = self.add(eqn, [array])
        found.name, found.is_named = array.name, array.is_named
        return found

    def flush(self, wanted: Sequence[Array], ends: bool = False, changes: bool = True) -> None:
        """Emits what waits. Results that are `wanted`, or that a later equation needs, get memory.
        Scalars stay in registers unless the function ends with them. If what comes next `changes`
        no array, a transpose that others will transpose again goes on waiting."""
        if not self._steps:
            return
        roots = {array.root() for array in wanted}
        held = [] if changes else self._transposed_again(roots)
        steps = [step for step in self._steps if step not in held]
        self._steps, self._made = held, {step.result for step in held}
        kept = self._frames.needed() | roots
        for one in fusing.fusions(steps, kept & {step.result for step in steps},
                                  self._walk.builder.known):
            with self._walk.at_location(one.steps[-1].location):
                try:
                    self._emit(one, [array for array in one.results
                                     if array.aval.shape or (ends and array in wanted)])
                except NotCaptured as reason:
                    self._walk.problem(str(reason))

    def _transposed_again(self, wanted: set[Array]) -> list[Step]:
        read = wanted.union(*(step.arrays() for step in self._steps))
        again = self._frames.only_transposed()
        return [step for step in self._steps
                if step.name == "transpose" and step.result in again and step.result not in read
                and not self._made.intersection(step.arrays())]

    def _operand(self, array: Array) -> Array | Uniform | int:
        if array.aval.shape == () and array not in self._made:
            return self._arrays.scalar(array)
        return uniform(array) or self.row_major(array)

    def _emit(self, one: Fusion, stored: list[Array]) -> None:
        arrays, builder = self._arrays, self._walk.builder
        taken = {array: arrays.scalar(array) for array in one.inputs() if arrays.is_scalar(array)}
        inputs = {array: arrays.ref(array, "hbm") for array in one.inputs() if array not in taken}
        for array in stored:
            array.is_result = True
            arrays.ref(array, "hbm")
            arrays.results.append(array)

        def work(loaded: dict[int, int]) -> list[int]:
            values = taken | {array: loaded[ref] for array, ref in inputs.items()}

            def value(of: Array | Uniform | int) -> int:
                if isinstance(of, Uniform):
                    return builder.broadcast(builder.literal(of.dtype, of.element), of.shape)
                return values[of] if isinstance(of, Array) else of

            for step in one.steps:
                operands = [value(of) for of in step.operands]
                with self._walk.at_location(step.location):
                    (values[step.result],) = self._walk.equation(step.eqn, operands)
            return [values[array] for array in one.results]

        scalars = fusion_operation.emit(self._walk, one.name(), list(inputs.values()), [
            array.ref() if array in stored else None for array in one.results], work)
        for array, scalar in zip([array for array in one.results if array not in stored], scalars,
                                 strict=True):
            array.scalar = scalar


def uniform(array: Array) -> Uniform | None:
    """Returns the element of a constant whose elements are all equal; None for other arrays."""
    if not array.is_known:
        return None
    elements = types.stored(array.value)
    first = elements[(0,) * elements.ndim]
    if first != first or not array_elements.is_uniform(elements):  # -0.0 is not 0.0
        return None
    return Uniform(types.dtype_of(array.aval.dtype), first, tuple(array.aval.shape))
