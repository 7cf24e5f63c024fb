"""Loops of Triton kernels whose loads of GMEM the compiler starts early (num_stages).

Triton does this itself, behind JAX: in a loop with products, loads that products need become copies
into SMEM, which are started stages - 1 rounds ahead, at the end of a round. Here such a loop gets
these copies, slots of SMEM for them and a barrier to wait for each. Where products read their
operands from SMEM by themselves, the last product of a round goes on while the next copies start,
so they start before it here, and there is one slot more. (Seen in what Triton 3.9 makes of JAX's
attention and of products.)
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import jax

from pallascope.jax_compat import jaxprs, parameters
from pallascope.problems import NotCaptured
from pallascope.program import INDEX, Region, Type
from pallascope.rules import control_flow, memory, scans, triton_memory, triton_products
from pallascope.rules.branches import branch
from pallascope.rules.ref_transforms import Axis, Window, element, view
from pallascope.sources import apart
from pallascope.walk import Leaf, Rule, Walk

_LOADS = ("get", "masked_load")
_FLAG = Type("bool")


@dataclasses.dataclass
class Loop:
    """A loop whose body is told its round. `known` are values by the body's variables."""

    body: Any
    known: dict[Any, int]
    counter: Any  # the variable that counts
    first: int  # its value in the first round


@dataclasses.dataclass
class Stages:
    """The loads of a loop, and for each the slots of SMEM that its copies fill."""

    loop: Loop
    loads: list[Any]
    slots: list[int]
    barriers: int  # one for each slot
    count: int  # of slots
    ahead: int  # by how many rounds copies are started before their round
    last_product: Any  # before which the copies of a later round start; None: they start at the end


def _is_pure(eqn: Any) -> bool:
    return not eqn.effects and eqn.primitive.name not in _LOADS


def _computable(loop: Loop) -> set[Any]:
    """Returns the variables that follow from the round and from what stays the same."""
    found = {loop.counter, *loop.known}
    for eqn in loop.body.eqns:
        if _is_pure(eqn) and all(isinstance(v, jaxprs.Literal) or v in found for v in eqn.invars):
            found.update(eqn.outvars)
    return found


def _places(eqn: Any) -> list[Any]:
    """Returns the variables that say what a load reaches: all but its mask and what stands
    elsewhere."""
    if eqn.primitive.name == "get":
        return list(eqn.invars)
    ref, transforms, _, _ = eqn.params["args_tree"].unflatten(
        [Leaf(number) for number in range(len(eqn.invars))])
    leaves = [leaf.value for leaf in jax.tree_util.tree_leaves(
        transforms, is_leaf=lambda leaf: isinstance(leaf, Leaf)) if isinstance(leaf, Leaf)]
    return [eqn.invars[number] for number in (ref.value, *leaves)]


def _mask_of(eqn: Any) -> Any:
    """Returns the variable that is the mask of a load, or None."""
    if eqn.primitive.name == "get":
        return None
    _, _, mask, _ = eqn.params["args_tree"].unflatten(
        [Leaf(number) for number in range(len(eqn.invars))])
    return None if mask is None else eqn.invars[mask.value]


def _zeros(body: Any) -> set[Any]:
    """Returns the variables all of whose elements are 0."""
    return {eqn.outvars[0] for eqn in body.eqns if eqn.primitive.name == "broadcast_in_dim"
            and isinstance(eqn.invars[0], jaxprs.Literal) and eqn.invars[0].val == 0}


def _wanted_by_products(body: Any) -> set[Any]:
    """Returns the variables that a factor of a product comes from, be it by way of others. What a
    product is added to, zeros aside, does not count: Triton starts no load early for that."""
    zeros, products = _zeros(body), set[Any]()  # also those that zeros are added to
    for eqn in body.eqns:
        operands = {v for v in eqn.invars if not isinstance(v, jaxprs.Literal)}
        adds_zeros = eqn.primitive.name == "add" and operands & products and operands & zeros
        if eqn.primitive.name == "dot_general" or adds_zeros:
            products.add(eqn.outvars[0])
    found: set[Any] = set()
    for eqn in reversed(body.eqns):
        if eqn.primitive.name == "dot_general" or any(v in found for v in eqn.outvars):
            needed = [v for v in eqn.invars if not isinstance(v, jaxprs.Literal)]
            added_to = eqn.primitive.name == "add" and any(v in products for v in needed)
            found.update(v for v in needed if v in products or not added_to)
    return found


def _reads_shared(walk: Walk, eqn: Any) -> bool:
    """Returns whether Triton makes wgmma or tcgen05 of a product: of 64 rows at least, by 4 warps
    or a multiple."""
    shape = eqn.outvars[0].aval.shape
    return (eqn.primitive.name == "dot_general" and walk.multiplies_from_shared
            and walk.warps % 4 == 0 and len(shape) == 2 and shape[0] >= 64
            and not triton_products.is_full_precision(eqn))


def _last_product(walk: Walk, body: Any) -> Any:
    """Returns the last product of a round, if it reads SMEM by itself and what it is added to is
    only a result of the round."""
    products = [eqn for eqn in body.eqns if eqn.primitive.name == "dot_general"]
    found = products[-1].outvars[0]
    uses = [eqn for eqn in body.eqns for v in eqn.invars if v is found]
    if not _reads_shared(walk, products[-1]) or len(uses) != 1 or uses[0].primitive.name != "add":
        return None
    total = uses[0].outvars[0]
    is_result = any(v is total for v in body.outvars) and not any(v is found for v in body.outvars)
    is_used = any(v is total for eqn in body.eqns for v in eqn.invars)
    return products[-1] if is_result and not is_used else None


def _loads(walk: Walk, loop: Loop) -> list[Any]:
    """Returns the loads that can be started early: of arrays to which the loop does not store."""
    known, wanted = _computable(loop), _wanted_by_products(loop.body)

    def array_of(v: Any) -> int:
        block = walk.gpu_blocks.get(loop.known.get(v, -1))
        return -1 if block is None else block.array

    stored = {array_of(loop.body.invars[number]) for number
              in jaxprs.written_arguments(loop.body)}
    return [eqn for eqn in loop.body.eqns
            if eqn.primitive.name in _LOADS and eqn.outvars[0] in wanted
            and eqn.outvars[0].aval.shape and eqn.outvars[0].aval.dtype != bool
            and array_of(eqn.invars[0]) not in stored | {-1}
            and all(isinstance(v, jaxprs.Literal) or v in known for v in _places(eqn))
            and _is_window(walk, loop, eqn)]


def _is_window(walk: Walk, loop: Loop, eqn: Any) -> bool:
    """Returns whether a load reaches a window, not listed elements. It is worked out in a region that
    is thrown away."""
    count = len(walk.problems)
    with walk.builder.region():
        try:
            is_window = _reach(walk, loop, eqn, loop.first)[0].lists is None
        except NotCaptured:
            is_window = False
    found = is_window and len(walk.problems) == count
    del walk.problems[count:]
    return found


def _reach(walk: Walk, loop: Loop, eqn: Any,
           counter: int) -> tuple[triton_memory.Reach, int | None]:
    """Returns what the load reaches in the round of this counter, and which elements of it are
    copied. If the mask does not follow from the round, these are all that are in the array."""
    env = loop.known | {loop.counter: counter}
    places, mask = _places(eqn), _mask_of(eqn)
    is_known = mask is None or isinstance(mask, jaxprs.Literal) or mask in _computable(loop)
    if mask is not None and is_known:
        places.append(mask)
    needed = {v for v in places if not isinstance(v, jaxprs.Literal)}
    steps = []
    for step in reversed(loop.body.eqns):
        if any(v in needed for v in step.outvars) and not any(v in env for v in step.outvars):
            steps.append(step)
            needed.update(v for v in step.invars if not isinstance(v, jaxprs.Literal))
    for step in reversed(steps):
        env |= dict(zip(step.outvars, walk.equation(step, [walk.read(env, v)
                                                           for v in step.invars]), strict=True))
    operands = [walk.read(env, v) if any(v is place for place in places) else -1
                for v in eqn.invars]
    with walk.at(eqn):
        found = triton_memory.reach_of(walk, eqn, operands)
        if found.lists is not None:
            return found, None
        return found, (triton_memory.taken_by(walk, eqn, operands, found) if is_known
                       else triton_memory.all_inside(walk, operands[0], found))


def _start(walk: Walk, stages: Stages, counter: int, slot: int) -> None:
    """Starts the copies for a round into a slot."""
    barrier = element(walk, stages.barriers, 0, slot)
    for eqn, slots in zip(stages.loads, stages.slots, strict=True):
        source, taken = _reach(walk, stages.loop, eqn, counter)
        masks = [] if taken is None else [taken]
        with walk.at(eqn):
            walk.builder.emit("copy_gmem_to_smem", [
                view(walk, source.window), element(walk, slots, 0, slot), barrier, *masks], [],
                {"predicate": True} if masks else {})


def _slot(walk: Walk, stages: Stages, number: int) -> int:
    """Returns the slot of the round of this number, counted from 0."""
    return walk.builder.one("rem", [number, walk.builder.index(stages.count)], INDEX)


def _round(walk: Walk, stages: Stages, counter: int, number: int, flag: int,
           run: Callable[[], list[int]]) -> list[int]:
    """Waits for the copies of this round, runs the body, and starts the copies of a later round, if
    the flag is true. `number` counts rounds from 0."""
    builder = walk.builder
    slot = _slot(walk, stages, number)
    builder.emit("barrier_wait", [element(walk, stages.barriers, 0, slot)], [])
    zero = builder.index(0)
    ahead = builder.index(stages.ahead)

    def from_slot(slots: int) -> Rule:
        axes = [Axis(slot, 1, kept=False)]
        axes += [Axis(zero, size) for size in builder.types[slots].shape[1:]]
        return lambda walk, eqn, operands: [triton_memory.from_tile(
            walk, eqn, operands, memory.load(walk, Window(slots, axes)))]

    def start_later() -> None:
        # Triton sees to it that its copies come after what the round has loaded.
        builder.emit("commit_smem", [], [])
        free = slot if stages.ahead == stages.count else _slot(
            walk, stages, builder.add_index(number, ahead))
        later = builder.add_index(counter, ahead)
        branch(walk, flag, lambda: _start(walk, stages, later, free))

    def last_product(walk: Walk, eqn: Any, operands: list[int]) -> list[int]:
        start_later()
        return walk.plainly(eqn, operands)

    around = walk.given
    walk.given = around | {id(eqn): from_slot(slots) for eqn, slots
                           in zip(stages.loads, stages.slots, strict=True)}
    if stages.last_product is not None:
        walk.given[id(stages.last_product)] = last_product
    try:
        found = run()
    finally:
        walk.given = around
    if stages.last_product is None:
        start_later()
    return found


def _name_of(walk: Walk, loop: Loop, load: Any) -> str:
    """Returns the author's name of the ref that is loaded."""
    ref = loop.known[load.invars[0]]
    return str(walk.builder.values[ref]["name"])


def _own_name(walk: Walk, name: str) -> str:
    """Returns a name that no other ref has: that of a second such ref is name_2."""
    taken = [str(value.get("name", "")) for value in walk.builder.values]
    return apart([*taken, name])[-1]


def _staged(walk: Walk, loop: Loop, loads: list[Any], results: list[Type],
            emit: Callable[[Stages], list[int]]) -> list[int]:
    builder = walk.builder
    from_shared = any(_reads_shared(walk, eqn) for eqn in loop.body.eqns)
    ahead = walk.stages - 1
    count = ahead + from_shared
    last_product = _last_product(walk, loop.body)
    types_ = [walk.type_of(eqn.outvars[0]) for eqn in loads]
    slots = [builder.value(Type(kind.dtype, (count, *kind.shape), "smem"),
                           _own_name(walk, _name_of(walk, loop, eqn) + "_stages"))
             for kind, eqn in zip(types_, loads, strict=True)]
    barriers = builder.value(Type("int32", (count,), "barrier"), _own_name(walk, "staged"))
    with builder.region([*slots, barriers]) as region:
        region.results = emit(Stages(loop, loads, slots, barriers, count, ahead, last_product))
    return builder.emit("run_scoped", [], results,
                        {"arrivals": [0] * len(slots) + [len(slots)]}, [region])


def _scan(walk: Walk, eqn: Any, operands: list[int]) -> list[int]:
    num_consts, num_carry = parameters.scan_counts(eqn.params)
    plain = scans.RULES["scan"]
    body, _ = jaxprs.open_jaxpr(eqn.params["jaxpr"])
    length = eqn.params["length"]
    if (walk.stages < 2 or length == 0 or body.constvars or not scans.counts(body, num_consts)
            or num_consts + num_carry != len(operands) or num_carry != len(eqn.outvars)):
        return plain(walk, eqn, operands)
    loop = Loop(body, dict(zip(body.invars, operands[:num_consts], strict=False)),
                body.invars[num_consts], operands[num_consts])
    loads = _loads(walk, loop)
    if not loads:
        return plain(walk, eqn, operands)
    types_ = [walk.type_of(v) for v in eqn.outvars]
    return _staged(walk, loop, loads, types_,
                   lambda stages: _emit_scan(walk, eqn, stages, operands, num_consts))


def _emit_scan(walk: Walk, eqn: Any, stages: Stages, operands: list[int],
               num_consts: int) -> list[int]:
    builder, length = walk.builder, eqn.params["length"]
    carried = operands[num_consts:]
    for slot in range(min(stages.ahead, length)):
        _start(walk, stages, builder.add_index(stages.loop.first, builder.index(slot)),
               builder.index(slot))
    counter = builder.value(INDEX)
    arguments = [builder.value(walk.type_of(v)) for v in eqn.outvars[1:]]
    with builder.region([counter, *arguments]) as region:
        now = builder.add_index(counter, stages.loop.first)
        flag = builder.one("lt", [counter, builder.index(length - stages.ahead)], _FLAG)
        region.results = _round(
            walk, stages, now, counter, flag,
            lambda: walk.run(stages.loop.body, operands[:num_consts] + [now] + arguments))[1:]
    last = builder.add_index(carried[0], builder.index(length))
    return [last] + builder.emit("scan", carried[1:], [walk.type_of(v) for v in eqn.outvars[1:]],
                                 {"length": length}, [region])


def _limit(condition: Any, body: Any, num_consts: int) -> tuple[int, int] | None:
    """Returns the numbers of the carried counter and of the carried limit of a loop like those of
    fori_loop: it goes on while the counter, to which each round adds 1, is less than the limit."""
    if condition.constvars or body.constvars or len(condition.eqns) != 1:
        return None
    (test,) = condition.eqns
    places = [condition.invars.index(v) if not isinstance(v, jaxprs.Literal) else -1
              for v in test.invars]
    if test.primitive.name != "lt" or min(places) < 0 or test.outvars[0] is not (
            condition.outvars[0]):
        return None
    counter, limit = places
    carried = body.invars[num_consts:]
    if body.outvars[limit] is not carried[limit]:
        return None
    for eqn in body.eqns:
        if (eqn.primitive.name == "add" and eqn.outvars[0] is body.outvars[counter]
                and eqn.invars[0] is carried[counter] and isinstance(eqn.invars[1], jaxprs.Literal)
                and int(eqn.invars[1].val) == 1):
            return counter, limit
    return None


def _while(walk: Walk, eqn: Any, operands: list[int]) -> list[int]:
    conditions, num_consts = eqn.params["cond_nconsts"], eqn.params["body_nconsts"]
    condition, body = (jaxprs.open_jaxpr(eqn.params[name])[0]
                       for name in ("cond_jaxpr", "body_jaxpr"))
    found = None if conditions or walk.stages < 2 else _limit(condition, body, num_consts)
    if found is None:
        return control_flow.RULES["while"](walk, eqn, operands)
    counter, limit = found
    consts, carried = operands[:num_consts], operands[num_consts:]
    loop = Loop(body, dict(zip(body.invars, consts, strict=False)),
                body.invars[num_consts + counter], carried[counter])
    loads = _loads(walk, loop)
    if not loads:
        return control_flow.RULES["while"](walk, eqn, operands)
    types_ = [walk.type_of(v) for v in eqn.outvars]

    def emit(stages: Stages) -> list[int]:
        builder = walk.builder
        for number in range(stages.ahead):
            now = builder.add_index(loop.first, builder.index(number))
            flag = builder.one("lt", [now, carried[limit]], _FLAG)
            branch(walk, flag, lambda now=now, number=number: _start(
                walk, stages, now, builder.index(number)))
        arguments = [builder.value(type_) for type_ in types_]
        test = walk.region(condition, arguments, arguments)
        arguments = [builder.value(type_) for type_ in types_]
        with builder.region(arguments) as region:
            region.results = _while_round(walk, stages, arguments, counter, arguments[limit],
                                          lambda: walk.run(body, consts + arguments))
        regions: list[Region] = [test, region]
        return builder.emit("while", carried, types_, regions=regions)

    return _staged(walk, loop, loads, types_, emit)


def _while_round(walk: Walk, stages: Stages, arguments: list[int], counter: int, limit: int,
                 run: Callable[[], list[int]]) -> list[int]:
    builder, now = walk.builder, arguments[counter]
    number = now if builder.known(stages.loop.first) == 0 else builder.one(
        "sub", [now, stages.loop.first], INDEX)
    later = builder.add_index(now, builder.index(stages.ahead))
    flag = builder.one("lt", [later, limit], _FLAG)
    return _round(walk, stages, now, number, flag, run)


RULES: dict[str, Rule] = {"scan": _scan, "while": _while}
