"""Rules of branches, loops, and calls, which are inlined."""

from __future__ import annotations

import math
from typing import Any

import jax
from jax import lax

from pallascope import compat
from pallascope.problems import NotCaptured
from pallascope.program import INDEX, Params, Type
from pallascope.walk import Rule, Walk


def _called(walk: Walk, eqn: Any, operands: list[int]) -> list[int]:
    return walk.call(compat.called(eqn), operands)


def _cond(walk: Walk, eqn: Any, operands: list[int]) -> list[int]:
    which, *rest = operands
    branches = eqn.params["branches"]
    if len(branches) == 1:
        return walk.run(branches[0], rest)
    which = walk.builder.flag(which)
    if walk.builder.types[which].dtype != "bool":
        which = walk.index(which)
    if walk.builder.known(which) is not None:
        number = min(max(walk.builder.known(which), 0), len(branches) - 1)
        return walk.run(branches[number], rest)
    return walk.builder.emit("cond", [which], [walk.type_of(v) for v in eqn.outvars],
                             regions=[walk.region(branch, [], rest) for branch in branches])


def loop_of(eqn: Any, operands: list[Any]) -> tuple[tuple[Any, list[Any]], tuple[Any, list[Any]],
                                                    list[Any]]:
    """Of a while: its condition and its body, each with its constants, and what is carried."""
    number = eqn.params["cond_nconsts"]
    first = number + eqn.params["body_nconsts"]
    condition, body = eqn.params["cond_jaxpr"], eqn.params["body_jaxpr"]
    flag = compat.open_jaxpr(condition)[0].outvars[0].aval
    if flag.shape == ():
        return (condition, operands[:number]), (body, operands[number:first]), operands[first:]

    # vmap made it: a flag each. It goes on while one holds, and changes what belongs to such.
    def holds(*args: Any) -> Any:
        return compat.evaluate(condition, args)[0].any()

    def turn(*args: Any) -> list[Any]:
        (flags,) = compat.evaluate(condition, [*args[:number], *args[first:]])
        return [lax.select(lax.broadcast_in_dim(flags, new.shape, range(flag.ndim)), new, old)
                for new, old in zip(compat.evaluate(body, args[number:]), args[first:],
                                    strict=True)]

    shapes = [jax.ShapeDtypeStruct(v.aval.shape, v.aval.dtype) for v in eqn.invars]
    return ((jax.make_jaxpr(holds)(*shapes[:number], *shapes[first:]), operands[:number]),
            (jax.make_jaxpr(turn)(*shapes), operands[:first]), operands[first:])


def _while(walk: Walk, eqn: Any, operands: list[int]) -> list[int]:
    condition, body, carried = loop_of(eqn, operands)
    results = [walk.type_of(v) for v in eqn.outvars]
    regions = []
    for jaxpr, consts in (condition, body):
        arguments = [walk.builder.value(type_) for type_ in results]
        regions.append(walk.region(jaxpr, arguments, consts + arguments))
    return walk.builder.emit("while", carried, results, regions=regions)


def _scan(walk: Walk, eqn: Any, operands: list[int]) -> list[int]:
    """A loop with a carry. A first carry that counts up by one is the loop's own counter. Elements
    of arrays are taken out and put in by the round's number."""
    num_consts, num_carry = compat.scan_counts(eqn.params)
    consts, carried = operands[:num_consts], operands[num_consts:num_consts + num_carry]
    stacked = operands[num_consts + num_carry:]
    builder, length = walk.builder, eqn.params["length"]
    jaxpr = eqn.params["jaxpr"]
    counts = _counts(jaxpr, num_consts)
    types_ = [walk.type_of(v) for v in eqn.outvars]
    made = [builder.broadcast(builder.literal(type_.dtype, 0), type_.shape)
            for type_ in types_[num_carry:]]
    if length == 0:
        return carried + made
    counter = builder.value(INDEX)
    arguments = [builder.value(type_) for type_ in types_[counts:]]
    with builder.region([counter, *arguments]) as region:
        first = [builder.add_index(counter, carried[0])] if counts else []
        place = counter
        if eqn.params["reverse"] and (stacked or made):
            place = builder.one("sub", [builder.index(length - 1), counter], INDEX)
        held = num_carry - counts
        found = walk.run(jaxpr, consts + first + arguments[:held]
                         + [_element(walk, array, place) for array in stacked])
        region.results = found[counts:num_carry] + [
            _with_element(walk, array, place, element) for array, element
            in zip(arguments[held:], found[num_carry:], strict=True)]
    last = [builder.add_index(carried[0], builder.index(length))] if counts else []
    return last + builder.emit("scan", carried[counts:] + made, types_[counts:],
                               {"length": length} | _unroll(eqn), [region])


def _unroll(eqn: Any) -> Params:
    """Rounds that are written out one after the other, where these are several."""
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


def _counts(jaxpr: Any, num_consts: int) -> int:
    """1 if the first carry is an int32 that every round adds 1 to, else 0."""
    inner, _ = compat.open_jaxpr(jaxpr)
    if len(inner.invars) <= num_consts:
        return 0
    start, end = inner.invars[num_consts], inner.outvars[0]
    if start.aval.shape or start.aval.dtype.name != "int32":
        return 0
    for eqn in inner.eqns:
        if (eqn.primitive.name == "add" and eqn.outvars[0] is end and eqn.invars[0] is start
                and isinstance(eqn.invars[1], compat.Literal) and int(eqn.invars[1].val) == 1):
            return 1
    return 0


def _platform_index(walk: Walk, eqn: Any, operands: list[int]) -> list[int]:
    """Which of several implementations is for a TPU: known here."""
    for number, platforms in enumerate(eqn.params["platforms"]):
        if platforms is None or "tpu" in platforms:
            return [walk.builder.index(number)]
    raise NotCaptured("platform_dependent without a case for a TPU")


def _axis_index(walk: Walk, eqn: Any, operands: list[int]) -> list[int]:
    name = eqn.params["axis_name"]
    if name in walk.grid_names:
        return [walk.builder.one("program_id", [], INDEX, {"axis": walk.grid_names[name]})]
    extents = walk.cores | walk.devices
    if name not in extents:
        raise NotCaptured(f"axis_index of {name}, which no grid and no mesh of cores or devices "
                          "has")
    if extents[name] == 1:
        return [walk.builder.index(0)]
    return [walk.builder.one("axis_index", [], INDEX, {"text": name})]


def _axis_size(walk: Walk, eqn: Any, operands: list[int]) -> list[int]:
    names = eqn.params["axis_name"]
    return [walk.builder.index(math.prod(
        walk.cores[name] for name in (names if isinstance(names, tuple) else (names,))))]


def _grid_query(walk: Walk, eqn: Any, operands: list[int]) -> list[int]:
    axis = eqn.params["axis"]
    if axis >= len(walk.grid_axes):
        raise NotCaptured(f"{eqn.primitive.name} of axis {axis} without such a grid axis")
    return [walk.builder.one(eqn.primitive.name, [], Type("int32"),
                             {"axis": walk.grid_axes[axis]})]


# Primitives that do no more than call a function.
CALLS = """
    jit pjit closed_call core_call eval_jaxpr composite remat remat2 checkpoint custom_jvp_call
    custom_vjp_call custom_vjp_call_jaxpr custom_vmap_call custom_partitioning""".split()

RULES: dict[str, Rule] = {
    "cond": _cond,
    "while": _while,
    "scan": _scan,
    "platform_index": _platform_index,
    "axis_index": _axis_index,
    "axis_size": _axis_size,
    "program_id": _grid_query,
    "num_programs": _grid_query,
    **dict.fromkeys(CALLS, _called),
}
