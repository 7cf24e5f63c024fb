"""Rules of the primitives that compute nothing, so that the result is the operand."""

from __future__ import annotations

from typing import Any

from pallascope.walk import Rule, Walk

# These mean nothing to a run, so the result is the operand. (They are all that JAX keeps of a
# promise.)
IDENTITY = """
    optimization_barrier pvary reshard sharding_constraint layout_cast layout_constraint name
    stop_gradient
    with_memory_space_constraint""".split()


def _identity(walk: Walk, eqn: Any, operands: list[int]) -> list[int]:
    return operands


def _multiple_of(walk: Walk, eqn: Any, operands: list[int]) -> list[int]:
    value = operands[0]
    for multiple in eqn.params["values"]:
        value = walk.builder.one("multiple_of", [value], walk.builder.types[value],
                                 {"multiple": int(multiple)})
    return [value]


def _touch(walk: Walk, eqn: Any, operands: list[int]) -> list[int]:
    """Emits nothing: this is a dependency for the compiler."""
    return []


RULES: dict[str, Rule] = {
    **dict.fromkeys([*IDENTITY, "copy", "copy_p"], _identity),
    "multiple_of": _multiple_of,
    "add_dependency": _touch,
}
