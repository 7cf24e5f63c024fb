"""Rules of the primitives that compute element by element."""

from __future__ import annotations

from typing import Any

from pallascope.rules.renamed import renamed, same_name
from pallascope.walk import Rule, Walk

ELEMENTWISE = """
    neg abs sign square floor ceil exp exp2 expm1 log log1p tanh logistic sqrt rsqrt cbrt sin cos
    tan erf erf_inv population_count clz is_finite not add add_any sub mul div rem max min
    nextafter atan2 pow shift_left shift_right_logical shift_right_arithmetic and or xor eq ne lt
    le gt ge""".split()


def _elementwise(walk: Walk, eqn: Any, operands: list[int]) -> list[int]:
    """Emits the operation. JAX accepts scalars in place of arrays; they become arrays."""
    result = walk.type_of(eqn.outvars[0])
    operands = [walk.builder.broadcast(operand, result.shape) for operand in operands]
    return [walk.builder.one(eqn.primitive.name, operands, result)]


def _select_n(walk: Walk, eqn: Any, operands: list[int]) -> list[int]:
    if len(operands) <= 3:
        return same_name(walk, eqn, operands, {})
    builder, (which, found, *cases) = walk.builder, operands
    type_ = builder.types[which]
    flag = type_._replace(dtype="bool")
    for number, case in enumerate(cases, 1):
        wanted = builder.broadcast(builder.literal(type_.dtype, number), type_.shape)
        found = builder.one("select_n", [builder.one("eq", [which, wanted], flag), found, case],
                            walk.type_of(eqn.outvars[0]))
    return [found]


def _integer_pow(walk: Walk, eqn: Any, operands: list[int]) -> list[int]:
    return same_name(walk, eqn, operands, {"exponent": int(eqn.params["y"])})


def _round(walk: Walk, eqn: Any, operands: list[int]) -> list[int]:
    method = eqn.params["rounding_method"].name.lower()
    return same_name(walk, eqn, operands, {"method": method})


def _reciprocal(walk: Walk, eqn: Any, operands: list[int]) -> list[int]:
    return same_name(walk, eqn, operands, {"approx": bool(eqn.params["approx"])})


RULES: dict[str, Rule] = {
    **dict.fromkeys(ELEMENTWISE, _elementwise),
    "select_n": _select_n,
    "clamp": renamed(),
    "integer_pow": _integer_pow,
    "round": _round,
    "reciprocal": _reciprocal,
}
