"""Bools in the memories of a TPU, where they are int32 (BOOL_MEMREF_TYPE in JAX's
jax/_src/pallas/mosaic/lowering.py): a load compares them with 0, and a store widens them."""

from __future__ import annotations

from typing import Any

from pallascope.walk import Rule, Walk


def loaded(rule: Rule) -> Rule:
    """Returns the rule of a primitive that loads elements, which may be bools."""
    def as_values(walk: Walk, eqn: Any, operands: list[int]) -> list[int]:
        return [walk.builder.convert(value, walk.type_of(v).dtype)
                if is_flag(v.aval) else value
                for v, value in zip(eqn.outvars, rule(walk, eqn, operands), strict=True)]

    return as_values


def stored(walk: Walk, ref: int, value: int) -> int:
    """Returns the value as the ref holds it."""
    builder = walk.builder
    return (builder.convert(value, builder.types[ref].dtype)
            if builder.types[value].dtype == "bool" else value)


def is_flag(aval: Any) -> bool:
    """Returns whether it is an array of bools."""
    return getattr(getattr(aval, "dtype", None), "name", "") == "bool"
