"""The rule of a loop with a given number of rounds, which may take elements of arrays and make
arrays."""

from __future__ import annotations

from typing import Any

from pallascope.jax_compat import jaxprs, parameters
from pallascope.program import INDEX, Params, Type
from pallascope.walk import Rule, Walk


def _scan(walk: Walk, eqn: Any, operands: list[int]) -> list[int]:
    """Emits a loop with a carry. If the first carry counts up by one, it is the loop's own counter.
    The number of the round says which elements of arrays are taken and stored."""
    num_consts, num_carry = parameters.scan_counts(eqn.params)
    consts, carried = operands[:num_consts], operands[num_consts:num_consts + num_carry]
    stacked = operands[num_consts + num_carry:]
    builder, length = walk.builder, eqn.params["length"]
    jaxpr = eqn.params["jaxpr"]
    counted = counts(jaxpr, num_consts)
    types_ = [walk.type_of(v) for v in eqn.outvars]
    made = [builder.broadcast(builder.literal(type_.dtype, 0), type_.shape)
            for type_ in types_[num_carry:]]
    if length == 0:
        return carried + made
    counter = builder.value(INDEX)
    arguments = [builder.value(type_) for type_ in types_[counted:]]
    with builder.region([counter, *arguments]) as region:
        first = [builder.add_index(counter, carried[0])] if counted else []
        place = counter
        if eqn.params["reverse"] and (stacked or made):
            place = builder.one("sub", [builder.index(length - 1), counter], INDEX)
        held = num_carry - counted
        found = walk.run(jaxpr, consts + first + arguments[:held]
                         + [_element(walk, array, place) for array in stacked])
        region.results = found[counted:num_carry] + [
            _with_element(walk, array, place, element) for array, element
            in zip(arguments[held:], found[num_carry:], strict=True)]
    last = [builder.add_index(carried[0], builder.index(length))] if counted else []
    return last + builder.emit("scan", carried[counted:] + made, types_[counted:],
                               {"length": length} | _unroll(eqn), [region])


def _unroll(eqn: Any) -> Params:
    """Returns how many rounds are unrolled, if there are several."""
    rounds = int(eqn.params.get("unroll", 1))
    return {"unroll": rounds} if rounds > 1 else {}


def _starts(walk: Walk, array: int, place: int) -> list[int]:
    return [place] + [walk.builder.index(0)] * (len(walk.builder.types[array].shape) - 1)


def _element(walk: Walk, array: int, place: int) -> int:
    builder, (dtype, shape, _) = walk.builder, walk.builder.types[array]
    row = Type(dtype, (1, *shape[1:]))
    part = builder.one("dynamic_slice", [array, *_starts(walk, array, place)], row,
                       {"sizes": list(row.shape)})
    return builder.one("reshape", [part], Type(dtype, shape[1:]), {"shape": list(shape[1:])})


def _with_element(walk: Walk, array: int, place: int, element: int) -> int:
    builder, type_ = walk.builder, walk.builder.types[array]
    row = (1, *type_.shape[1:])
    update = builder.one("reshape", [element], type_._replace(shape=row), {"shape": list(row)})
    return builder.one("dynamic_update_slice", [array, update, *_starts(walk, array, place)],
                       type_)


def counts(jaxpr: Any, num_consts: int) -> int:
    """Returns 1 if the first carry is an int32 to which every round adds 1, and 0 otherwise."""
    inner, _ = jaxprs.open_jaxpr(jaxpr)
    if len(inner.invars) <= num_consts or not inner.outvars:
        return 0
    start, end = inner.invars[num_consts], inner.outvars[0]
    if start.aval.shape or start.aval.dtype.name != "int32":
        return 0
    for eqn in inner.eqns:
        if (eqn.primitive.name == "add" and eqn.outvars[0] is end and eqn.invars[0] is start
                and isinstance(eqn.invars[1], jaxprs.Literal) and int(eqn.invars[1].val) == 1):
            return 1
    return 0


RULES: dict[str, Rule] = {"scan": _scan}
