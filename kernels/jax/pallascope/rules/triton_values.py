"""Rules of primitives of Triton kernels that compute values, or nothing."""

from __future__ import annotations

import re
from typing import Any

from pallascope.problems import NotCaptured
from pallascope.walk import Rule, Walk


def _same(walk: Walk, eqn: Any, operands: list[int]) -> list[int]:
    """A hint for the compiler."""
    return operands


def _nothing(walk: Walk, eqn: Any, operands: list[int]) -> list[int]:
    """A block is one agent here, so its loads and stores are in order without a barrier."""
    return []


# Instructions of PTX that yield one number from one number, as operations of the format. The chip
# computes them approximately.
_INSTRUCTIONS = {"tanh": "tanh", "ex2": "exp2", "rcp": "reciprocal", "rsqrt": "rsqrt",
                 "sqrt": "sqrt", "sin": "sin", "cos": "cos"}
_APPROXIMATE = re.compile(r"(\w+)\.approx(\.ftz)?\.(f32|f16|bf16)\s+\$0,\s*\$1\s*;?")


def _assembly(walk: Walk, eqn: Any, operands: list[int]) -> list[int]:
    """Emits what one known instruction computes, such as that of pltriton.approx_tanh."""
    text = " ".join(eqn.params["asm"].split())
    found = _APPROXIMATE.fullmatch(text)
    name = None if found is None else _INSTRUCTIONS.get(found.group(1))
    if name is None or len(operands) != 1 or eqn.params["pack"] != 1:
        raise NotCaptured(f"elementwise_inline_asm of {text[:60]!r}")
    return [walk.builder.one(name, operands, walk.type_of(eqn.outvars[0]))]


RULES: dict[str, Rule] = {
    "multiple_of": _same,
    "max_contiguous": _same,
    "debug_barrier": _nothing,
    "elementwise_inline_asm": _assembly,
}
