"""Rules of primitives of Triton kernels that compute values, or nothing."""

from __future__ import annotations

from typing import Any

from pallascope.problems import NotCaptured
from pallascope.walk import Rule, Walk


def _same(walk: Walk, eqn: Any, operands: list[int]) -> list[int]:
    """A hint for the compiler."""
    return operands


def _nothing(walk: Walk, eqn: Any, operands: list[int]) -> list[int]:
    """A block is one agent here, so its loads and stores are in order without a barrier."""
    return []


def _assembly(walk: Walk, eqn: Any, operands: list[int]) -> list[int]:
    """Emits the tanh of pltriton.approx_tanh, the only instruction that is known."""
    text = eqn.params["asm"].strip()
    if text.startswith("tanh.approx.") and len(operands) == 1:
        return [walk.builder.one("tanh", operands, walk.type_of(eqn.outvars[0]))]
    raise NotCaptured(f"elementwise_inline_asm of {' '.join(text.split())[:60]!r}")


RULES: dict[str, Rule] = {
    "multiple_of": _same,
    "max_contiguous": _same,
    "debug_barrier": _nothing,
    "elementwise_inline_asm": _assembly,
}
