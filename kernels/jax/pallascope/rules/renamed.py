"""Rules of primitives that the format has under the same name, but with other names of parameters.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from pallascope.program import Params
from pallascope.walk import Rule, Walk


def renamed(**parameters: str) -> Rule:
    """Returns the rule for the operation with the primitive's name. `parameters` gives JAX's name
    for each of its parameters."""

    def rule(walk: Walk, eqn: Any, operands: list[int]) -> list[int]:
        params = {ours: plain(eqn.params[theirs]) for ours, theirs in parameters.items()}
        return walk.builder.emit(eqn.primitive.name, operands,
                                 [walk.type_of(v) for v in eqn.outvars], params)

    return rule


def plain(parameter: Any) -> Any:
    if isinstance(parameter, (tuple, list)):
        return [plain(entry) for entry in parameter]
    return parameter if parameter is None or isinstance(parameter, bool) else int(parameter)


def same_name(walk: Walk, eqn: Any, operands: list[int], params: Params) -> list[int]:
    result = walk.type_of(eqn.outvars[0])
    return [walk.builder.one(eqn.primitive.name, operands, result, params)]


def with_params(make: Callable[[Any], Params]) -> Rule:
    """Returns the rule for the operation with the primitive's name. `make` makes its parameters
    from the primitive's."""
    def rule(walk: Walk, eqn: Any, operands: list[int]) -> list[int]:
        return walk.builder.emit(eqn.primitive.name, operands,
                                 [walk.type_of(v) for v in eqn.outvars], make(eqn.params))

    return rule


def integers(numbers: Sequence[Any]) -> list[int]:
    return [int(number) for number in numbers]
