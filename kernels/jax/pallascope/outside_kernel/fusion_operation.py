"""The format's operation `fusion`: what XLA makes of operations around kernels. It loads arrays
from HBM, computes, and stores what it made there, all at the same time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from pallascope.program import Type
from pallascope.walk import Walk

# Takes the values that were loaded, by their refs. Returns those of the results.
Work = Callable[[dict[int, int]], list[int]]


def emit(walk: Walk, name: str, inputs: Sequence[int], results: Sequence[int | None], work: Work,
         launches: bool = True) -> list[int]:
    """Appends a fusion. `inputs` and `results` are refs in HBM. If a result is None in `results`,
    it is a scalar whose value is returned. Without `launches`, the fusion is a part of something
    that runs already."""
    builder = walk.builder
    with builder.region() as region:
        found = work({ref: _whole(walk, "get", [ref]) for ref in dict.fromkeys(inputs)})
        for value, result in zip(found, results, strict=True):
            if result is None:
                region.results.append(value)
            else:
                _whole(walk, "swap", [result, value])
    params = {"name": name} | ({} if launches else {"launches": False})
    return builder.emit("fusion", [], [builder.types[value] for value in region.results], params,
                        [region])


def compute(walk: Walk, eqn: Any, operands: Sequence[int], results: Sequence[int | None],
            launches: bool = True) -> list[int]:
    """Appends an equation as a fusion. `operands` are refs in HBM and scalars, and `results` are
    refs in HBM. A result that is None in `results` is a scalar, which is returned."""
    inputs = [ref for ref in operands if walk.builder.types[ref].space]
    return emit(walk, eqn.primitive.name, inputs, results, lambda loaded: walk.equation(
        eqn, [loaded.get(operand, operand) for operand in operands]), launches)


def copy(walk: Walk, source: int, target: int, launches: bool = True) -> None:
    """Copies the whole of an array to another one."""
    emit(walk, "copy", [source], [target], lambda loaded: [loaded[source]], launches)


def load(walk: Walk, ref: int) -> int:
    """Returns the only element of an array of rank 0."""
    return emit(walk, "copy", [ref], [None], lambda loaded: [loaded[ref]])[0]


def store(walk: Walk, scalar: int, ref: int) -> None:
    """Fills an array of rank 0."""
    emit(walk, "copy", [], [ref], lambda _: [scalar])


def fill(walk: Walk, ref: int, element: Any = 0, launches: bool = True) -> None:
    """Fills an array with this number."""
    dtype, shape, _ = walk.builder.types[ref]
    number = walk.builder.literal(dtype, element)
    emit(walk, "fill", [], [ref], lambda _: [walk.builder.broadcast(number, shape)], launches)


def _whole(walk: Walk, op: str, operands: list[int]) -> int:
    """Emits a get or a swap of a whole ref."""
    ref = walk.builder.types[operands[0]]
    return walk.builder.one(op, operands, Type(ref.dtype, ref.shape),
                            {"entries": [{"size": extent} for extent in ref.shape]})
