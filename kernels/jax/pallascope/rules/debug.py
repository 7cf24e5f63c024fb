"""Rules of debug prints and of checks."""

from __future__ import annotations

import string
from typing import Any

from pallascope.jax_compat import parameters
from pallascope.problems import NotCaptured
from pallascope.walk import Leaf, Rule, Walk


def _debug_print(walk: Walk, eqn: Any, operands: list[int]) -> list[int]:
    """Writes the format's fields in the order of the operands. Without fields, the operands follow
    the text."""
    text = str(eqn.params["fmt"])
    if not eqn.params.get("has_placeholders", True):
        return walk.builder.emit("debug_print", operands, [], {"text": _braced(text)})
    by_name = parameters.print_operands(eqn, operands)
    written, used, count = "", [], 0
    for literal, field, _, _ in string.Formatter().parse(text):
        written += _braced(literal)
        if field is not None:
            name = field.partition(".")[0].partition("[")[0] or str(count)
            count += not field
            value = by_name.get(name)
            written += "{}" if isinstance(value, int) else _braced(str(value))
            used += [value] if isinstance(value, int) else []
    return walk.builder.emit("debug_print", used, [], {"text": written})


def _trace_value(walk: Walk, eqn: Any, operands: list[int]) -> list[int]:
    """Keeps a scalar for the profiler's trace as a printed line with its label and its value."""
    text = _braced(str(eqn.params["label"])) + " = {}"
    return walk.builder.emit("debug_print", operands, [], {"text": text})


def _braced(text: str) -> str:
    return text.replace("{", "{{").replace("}", "}}")


def _check(walk: Walk, eqn: Any, operands: list[int]) -> list[int]:
    """Emits checks. An error's flag is true if the check fails."""
    for flag, text in parameters.checks(eqn, [Leaf(value) for value in operands]):
        type_ = walk.builder.types[flag.value]
        holds = walk.builder.one("not", [flag.value], type_)
        walk.builder.emit("debug_check", [holds], [], {"text": text})
    return []


def _nothing(walk: Walk, eqn: Any, operands: list[int]) -> list[int]:
    """Leaves out Python code that only watches on the host, if the program needs nothing from it.
    """
    if eqn.outvars:
        raise NotCaptured(f"primitive {eqn.primitive.name}")
    return []


RULES: dict[str, Rule] = {"debug_print": _debug_print, "trace_value": _trace_value,
                          "check": _check, "debug_callback": _nothing,
                          "io_callback": _nothing, "inspect_sharding": _nothing}
