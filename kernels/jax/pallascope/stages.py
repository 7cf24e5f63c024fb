"""Operations around kernels: each brings whole arrays to VMEM, computes, and takes the result back.

On a chip XLA runs them. Here each costs its copies and its work, one after the other.
"""

from __future__ import annotations

from typing import Any

from pallascope.program import Type
from pallascope.walk import Walk


def compute(walk: Walk, eqn: Any, operands: list[int], results: list[int | None]) -> list[int]:
    """Appends the equation. `operands` are refs in HBM and scalars, `results` refs in HBM; yields
    those that are scalars instead, where `results` has None.
    """
    builder = walk.builder
    refs = [ref for ref in (*operands, *results) if ref is not None and builder.types[ref].space]
    near = {ref: builder.value(builder.types[ref]._replace(space="vmem"))
            for ref in dict.fromkeys(refs)}
    semaphore = builder.value(Type("int32", (), "dma_semaphore"))

    def copy(source: int, target: int) -> None:
        builder.emit("dma_start", [source, target, semaphore], [])
        builder.emit("dma_wait", [target, semaphore], [])

    with builder.region([*near.values(), semaphore]) as region:
        inputs = [ref for ref in dict.fromkeys(operands) if ref in near]
        for ref in inputs:
            copy(ref, near[ref])
        loaded = {ref: _whole(walk, "get", [near[ref]]) for ref in inputs}
        found = walk.equation(eqn, [loaded.get(operand, operand) for operand in operands])
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
