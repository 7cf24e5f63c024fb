"""Operations around kernels: each brings whole arrays to VMEM, computes, and takes the result back.

On a chip XLA runs them. Here each, or what `fusions` makes of several, costs its copies and its
work, one after the other; an elementwise one of arrays that would not fit is a pipeline over rows,
whose copies and work overlap.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import jax
from jax import lax

from pallascope import primitives
from pallascope.program import INDEX, Builder, Type
from pallascope.types import bits_of, struct
from pallascope.walk import Walk

BY_ELEMENT = frozenset(primitives.ELEMENTWISE) | {
    "convert_element_type", "select_n", "clamp", "integer_pow", "round", "copy", "copy_p"}
MOST_BYTES = 8 << 20  # of all arrays of an operation at once; half of what a kernel may use


# Takes the values of refs that were loaded, and the shape of their blocks where it is not all;
# yields values for the results.
Work = Callable[..., list[int]]


def compute(walk: Walk, eqn: Any, operands: list[int], results: list[int | None]) -> list[int]:
    """Appends the equation. `operands` are refs in HBM and scalars, `results` refs in HBM; yields
    those that are scalars instead, where `results` has None.
    """
    builder = walk.builder
    inputs = [ref for ref in dict.fromkeys(operands) if builder.types[ref].space]
    arrays = dict.fromkeys([*inputs, *(ref for ref in results if ref is not None)])

    def work(loaded: dict[int, int], block: tuple[int, ...] | None = None) -> list[int]:
        taken = [loaded.get(operand, operand) for operand in operands]
        return walk.equation(eqn, taken) if block is None else of_blocks(walk, eqn, taken)

    if (eqn.primitive.name in BY_ELEMENT and _bytes(builder, arrays) > MOST_BYTES
            and len({builder.types[ref].shape for ref in arrays}) == 1):
        by_rows(walk, inputs, [ref for ref in results if ref is not None], work)
        return []
    return at_once(walk, inputs, results, work)


def of_blocks(walk: Walk, eqn: Any, operands: list[int]) -> list[int]:
    """The results of an equation by element for blocks instead of arrays."""
    shapes = [jax.ShapeDtypeStruct(struct(walk.builder.types[value]).shape, v.aval.dtype)
              for value, v in zip(operands, eqn.invars, strict=True)]
    jaxpr = jax.make_jaxpr(lambda *args: eqn.primitive.bind(*args, **eqn.params))(*shapes)
    return walk.run_here(jaxpr, operands)


def at_once(walk: Walk, inputs: list[int], results: list[int | None], work: Work) -> list[int]:
    """Brings all of the arrays to VMEM; yields results that have no ref."""
    builder = walk.builder
    near = {ref: builder.value(builder.types[ref]._replace(space="vmem"))
            for ref in dict.fromkeys([*inputs, *results]) if ref is not None}
    semaphore = builder.value(Type("int32", (), "dma_semaphore"))

    def copy(source: int, target: int) -> None:
        builder.emit("dma_start", [source, target, semaphore], [])
        builder.emit("dma_wait", [target, semaphore], [])

    with builder.region([*near.values(), semaphore]) as region:
        for ref in inputs:
            copy(ref, near[ref])
        found = work({ref: _whole(walk, "get", [near[ref]]) for ref in inputs})
        for value, result in zip(found, results, strict=True):
            if result is None:
                region.results.append(value)
            else:
                _whole(walk, "swap", [near[result], value])
                copy(near[result], result)
    return builder.emit("run_scoped", [], [builder.types[value] for value in region.results],
                        regions=[region])


def _whole(walk: Walk, op: str, operands: list[int]) -> int:
    """A get or a swap of all of a ref."""
    ref = walk.builder.types[operands[0]]
    return walk.builder.one(op, operands, Type(ref.dtype, ref.shape),
                            {"entries": [{"size": extent} for extent in ref.shape]})


def fill(walk: Walk, ref: int) -> None:
    """Puts zeros in all of a ref in HBM."""
    zero = walk.builder.literal(walk.builder.types[ref].dtype, 0)
    by_rows(walk, [], [ref], lambda _, block: walk.trace(
        lambda number: lax.broadcast(number, block), [zero]))


def bytes_of(dtype: str, elements: int) -> int:
    return elements * max(8, bits_of(dtype)) // 8


def _bytes(builder: Builder, refs: Any) -> int:
    return sum(bytes_of(builder.types[ref].dtype, math.prod(builder.types[ref].shape))
               for ref in refs)


def by_rows(walk: Walk, inputs: list[int], outputs: list[int], work: Work) -> None:
    """A pipeline over blocks of rows of the first axis whose rows are not too large, row by row of
    those before it."""
    builder = walk.builder
    shape = builder.types[outputs[0]].shape
    block = _block(shape, MOST_BYTES * math.prod(shape)
                   // (2 * _bytes(builder, inputs + outputs)))
    cut = [axis for axis, (extent, size) in enumerate(zip(shape, block, strict=True))
           if size < extent] or [0]
    near = {ref: builder.value(Type(builder.types[ref].dtype, block, "vmem"))
            for ref in inputs + outputs}

    with builder.region(list(near.values())) as body:
        loaded = {ref: _whole(walk, "get", [near[ref]]) for ref in inputs}
        for ref, value in zip(outputs, work(loaded, block), strict=True):
            _whole(walk, "swap", [near[ref], value])
    names = ["i"] if len(cut) == 1 else [f"i{axis}" for axis in cut]
    maps = []
    for _ in near:
        steps = {axis: builder.value(INDEX, name) for axis, name in zip(cut, names, strict=True)}
        with builder.region(list(steps.values())) as region:
            region.results = [steps[axis] if axis in steps else builder.index(0)
                              for axis in range(len(shape))]
        maps.append(region)
    specs = [{"name": str(builder.values[ref].get("name", "")),
              "block": [{"size": extent} for extent in block]}
             | ({"direction": "out"} if ref in outputs else {}) for ref in near]
    builder.emit("pipeline", list(near), [],
                 {"grid": [shape[axis] // block[axis] for axis in cut], "axis_names": names,
                  "specs": specs}, [body, *maps])


def _block(shape: tuple[int, ...], most: int) -> tuple[int, ...]:
    """The largest of so many elements at most that cuts the array evenly, whole in its last axes.
    """
    block = list(shape)
    for axis, extent in enumerate(shape):
        rows = most // math.prod(shape[axis + 1:])
        block[axis] = next((n for n in range(min(rows, extent), 0, -1) if extent % n == 0), 1)
        if rows > 0 and extent > 1:
            break
    return tuple(block)
