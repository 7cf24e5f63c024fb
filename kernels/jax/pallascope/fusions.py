"""Operations around kernels that need each other are one operation, as XLA makes of them on a chip:
those by element, what moves elements, and a reduction at the end. It reads what they read, writes
what others need, and keeps what is between them in registers.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from pallascope import stages, types
from pallascope.arrays import Array, Arrays
from pallascope.problems import NotCaptured
from pallascope.walk import Walk

_MOVES = frozenset({
    "broadcast_in_dim", "concatenate", "dynamic_slice", "expand_dims", "gather", "iota", "pad",
    "reshape", "rev", "slice", "squeeze", "transpose"})
_REDUCTIONS = frozenset({
    "argmax", "argmin", "reduce_and", "reduce_max", "reduce_min", "reduce_or", "reduce_prod",
    "reduce_sum"})


@dataclasses.dataclass(frozen=True)
class _Uniform:
    """A constant whose elements are all the same, which needs no memory."""

    dtype: str
    element: Any
    shape: tuple[int, ...]


@dataclasses.dataclass
class _Step:
    eqn: Any
    operands: list[Array | _Uniform | int]  # scalars as values
    result: Array
    location: int

    @property
    def name(self) -> str:
        return self.eqn.primitive.name

    def arrays(self) -> list[Array]:
        return [of for of in self.operands if isinstance(of, Array)]


class Fusion:
    """The operations that wait."""

    def __init__(self, walk: Walk, arrays: Arrays, needed: Callable[[], set[Array]]) -> None:
        self._walk, self._arrays = walk, arrays
        self._needed = needed  # by equations to come
        self._steps: list[_Step] = []
        self._seen: set[Array] = set()  # that they read or make
        self._bytes = 0  # of those

    def makes(self, array: Array) -> bool:
        """Whether one that waits does."""
        return any(step.result is array for step in self._steps)

    def takes(self, eqn: Any, operands: Sequence[Array]) -> bool:
        """Whether it is one that others may be fused with."""
        name = eqn.primitive.name
        if len(eqn.outvars) != 1 or eqn.effects or types.moves_keys(eqn):
            return False
        shape = eqn.outvars[0].aval.shape
        if shape == () or 0 in shape or not all(
                self._arrays.is_scalar(array) or (array.aval.shape and 0 not in array.aval.shape)
                for array in operands):
            return False
        return name in _MOVES or name in _REDUCTIONS or name in stages.BY_ELEMENT

    def add(self, eqn: Any, operands: Sequence[Array]) -> list[Array]:
        """The result of an equation that it takes. Nothing is emitted yet."""
        aval = eqn.outvars[0].aval
        types.array_type(aval)  # which may lack one
        step = _Step(eqn, [self._arrays.scalar(array) if self._arrays.is_scalar(array)
                           else _uniform(array) or array for array in operands],
                     Array(aval, aval.str_short()), self._walk.builder.location)
        follows = any(before.name in _REDUCTIONS and before.result in operands
                      for before in self._steps)
        added = self._adds(step)
        if follows or (self._bytes + added > stages.MOST_BYTES
                       and not _goes_by_rows([*self._steps, step])):
            self.flush(operands)
            added = self._adds(step)
        self._steps.append(step)
        self._seen.update(step.arrays(), [step.result])
        self._bytes += added
        return [step.result]

    def flush(self, wanted: Sequence[Array]) -> None:
        """Emits what waits. Its results that are `wanted`, or that an equation to come needs, get
        memory."""
        if not self._steps:
            return
        steps, self._steps, self._seen, self._bytes = self._steps, [], set(), 0
        kept = self._needed().union(array.root() for array in wanted)
        for part in _connected(steps):
            results = [step.result for step in part if step.result in kept]
            if not results:
                continue
            with self._walk.at_location(part[-1].location):
                try:
                    self._emit(part, results)
                except NotCaptured as reason:
                    self._walk.problem(str(reason))

    def _emit(self, steps: list[_Step], kept: list[Array]) -> None:
        arrays = self._arrays
        inputs = {array: arrays.ref(array, "hbm") for array in _inputs(steps)}
        for array in kept:
            array.is_result = True
            arrays.ref(array, "hbm")
            arrays.results.append(array)

        def work(loaded: dict[int, int], block: tuple[int, ...] | None = None) -> list[int]:
            values = {array: loaded[ref] for array, ref in inputs.items()}

            def value(of: Array | _Uniform | int) -> int:
                if isinstance(of, _Uniform):
                    builder = self._walk.builder
                    return builder.broadcast(builder.literal(of.dtype, of.element),
                                             block or of.shape)
                return values[of] if isinstance(of, Array) else of

            for step in steps:
                taken = [value(of) for of in step.operands]
                with self._walk.at_location(step.location):
                    (values[step.result],) = (
                        self._walk.equation(step.eqn, taken) if block is None
                        else stages.of_blocks(self._walk, step.eqn, taken))
            return [values[array] for array in kept]

        refs = list(inputs.values()), [array.ref() for array in kept]
        if _goes_by_rows(steps) and _bytes_of([*inputs, *kept]) > stages.MOST_BYTES:
            stages.by_rows(self._walk, *refs, work)
        else:
            stages.at_once(self._walk, *refs, work)

    def _adds(self, step: _Step) -> int:
        return _bytes_of({*step.arrays(), step.result} - self._seen)


def _bytes_of(arrays: Iterable[Array]) -> int:
    return sum(stages.bytes_of(types.array_type(array.aval).dtype, math.prod(array.aval.shape))
               for array in arrays)


def _uniform(array: Array) -> _Uniform | None:
    if not array.is_known:
        return None
    elements = np.ascontiguousarray(types.stored(array.value)).reshape(-1)
    first = elements[0]
    bits = elements.view(np.uint8).reshape(elements.size, -1)  # those of -0.0 are not 0.0's
    if first != first or not (bits == bits[0]).all():
        return None
    return _Uniform(types.dtype_of(array.aval.dtype), first, tuple(array.aval.shape))


def _inputs(steps: list[_Step]) -> list[Array]:
    """The arrays that the steps read and none of them makes."""
    made = {step.result for step in steps}
    return [array for array in dict.fromkeys(of for step in steps for of in step.arrays())
            if array not in made]


def _connected(steps: list[_Step]) -> list[list[_Step]]:
    """Those that read what others of them make together, in order of their last."""
    part_of: dict[Array, list[int]] = {}  # by results: the numbers of the steps
    for number, step in enumerate(steps):
        parts = {id(part): part for array in step.arrays() if (part := part_of.get(array))}
        joined = max(parts.values(), key=len, default=[])
        for part in parts.values():
            if part is not joined:
                joined += part
                part_of.update((steps[other].result, joined) for other in part)
        joined.append(number)
        part_of[step.result] = joined
    found = {id(part): sorted(part) for part in part_of.values()}
    return [[steps[number] for number in part]
            for part in sorted(found.values(), key=lambda part: part[-1])]


def _goes_by_rows(steps: list[_Step]) -> bool:
    """Whether blocks of rows of the inputs make blocks of rows of the results."""
    return (all(step.name in stages.BY_ELEMENT for step in steps)
            and len({of.aval.shape for step in steps for of in [step.result, *step.arrays()]}) == 1)
