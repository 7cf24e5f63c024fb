"""Rules of branches, of loops that run until a condition fails, and of calls, which are inlined."""

from __future__ import annotations

from typing import Any

import jax
from jax import lax

from pallascope.jax_compat import jaxprs
from pallascope.problems import NotCaptured
from pallascope.walk import Rule, Walk


def _called(walk: Walk, eqn: Any, operands: list[int]) -> list[int]:
    return walk.call(jaxprs.called(eqn), operands)


def cond(walk: Walk, eqn: Any, operands: list[int]) -> list[int]:
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
    """Returns the condition and the body of a while, each with its constants, and what is carried.
    """
    number = eqn.params["cond_nconsts"]
    first = number + eqn.params["body_nconsts"]
    condition, body = eqn.params["cond_jaxpr"], eqn.params["body_jaxpr"]
    flag = jaxprs.open_jaxpr(condition)[0].outvars[0].aval
    if flag.shape == ():
        return (condition, operands[:number]), (body, operands[number:first]), operands[first:]

    # vmap made this loop, with a flag for each element. It goes on while any flag holds, and
    # changes only the elements whose flag holds.
    def holds(*args: Any) -> Any:
        return jaxprs.evaluate(condition, args)[0].any()

    def one_round(*args: Any) -> list[Any]:
        (flags,) = jaxprs.evaluate(condition, [*args[:number], *args[first:]])
        return [lax.select(lax.broadcast_in_dim(flags, new.shape, range(flag.ndim)), new, old)
                for new, old in zip(jaxprs.evaluate(body, args[number:]), args[first:],
                                    strict=True)]

    shapes = [jax.ShapeDtypeStruct(v.aval.shape, v.aval.dtype) for v in eqn.invars]
    return ((jax.make_jaxpr(holds)(*shapes[:number], *shapes[first:]), operands[:number]),
            (jax.make_jaxpr(one_round)(*shapes), operands[:first]), operands[first:])


def _while(walk: Walk, eqn: Any, operands: list[int]) -> list[int]:
    condition, body, carried = loop_of(eqn, operands)
    results = [walk.type_of(v) for v in eqn.outvars]
    regions = []
    for jaxpr, consts in (condition, body):
        arguments = [walk.builder.value(type_) for type_ in results]
        regions.append(walk.region(jaxpr, arguments, consts + arguments))
    return walk.builder.emit("while", carried, results, regions=regions)


def _platform_index(walk: Walk, eqn: Any, operands: list[int]) -> list[int]:
    """Returns which of several implementations is for a TPU, which is known here."""
    for number, platforms in enumerate(eqn.params["platforms"]):
        if platforms is None or "tpu" in platforms:
            return [walk.builder.index(number)]
    raise NotCaptured("platform_dependent without a case for a TPU")


# Primitives that only call a function.
CALLS = """
    jit pjit closed_call core_call eval_jaxpr composite remat remat2 checkpoint custom_jvp_call
    custom_vjp_call custom_vjp_call_jaxpr custom_vmap_call custom_partitioning""".split()


RULES: dict[str, Rule] = {
    "cond": cond,
    "while": _while,
    "platform_index": _platform_index,
    **dict.fromkeys(CALLS, _called),
}
