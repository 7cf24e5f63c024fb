"""Rules of memory in kernels for a GPU: what a block or a warpgroup allocates, loads and stores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from pallascope import types
from pallascope.jax_compat import gpu_equations, jaxprs
from pallascope.problems import NotCaptured
from pallascope.program import Params, Type
from pallascope.rules import gpu_barriers, gpu_clusters, gpu_devices, memory
from pallascope.rules.gpu_refs import barrier, leaves, of_other_block, ref_type, window
from pallascope.rules.ref_transforms import Window, view
from pallascope.sources import arg_names
from pallascope.walk import Leaf, Rule, Walk


def _run_scoped(walk: Walk, eqn: Any, operands: list[int]) -> list[int]:
    builder, body = walk.builder, eqn.params["jaxpr"]
    inner, _ = jaxprs.open_jaxpr(body)
    if not inner.invars:
        return walk.run(body, [], constants=operands)
    names = arg_names(inner, ["scratch"] * len(inner.invars))
    arguments: list[int] = []  # what the variables of the body stand for
    memory: list[_Allocation] = []
    claims = gpu_equations.claims(inner)
    for v, undone, name in zip(inner.invars, eqn.params["ref_transforms"], names, strict=True):
        if types.semaphore_type(v.aval.inner_aval) is not None:
            arguments.append(gpu_devices.of_block(walk, v.aval.inner_aval, name))
            continue
        members = gpu_equations.members(v.aval)
        if not members:
            memory.append(_allocation(walk, v.aval, undone, name, answers=claims))
            arguments.append(memory[-1].ref)
            continue
        union = max((one.union for one in memory), default=0) + 1
        own = [_allocation(walk, aval, layout, f"{name}({number})", union, place[0])
               for number, (place, aval, layout) in enumerate(members)]
        walk.unions[own[0].ref] = {place: one.ref for (place, *_), one
                                   in zip(members, own, strict=True)}
        memory += own
        arguments.append(own[0].ref)
    if not memory:
        return walk.run(body, arguments, constants=operands)
    blocks = gpu_clusters.size(walk)
    alone = [one for one in memory if blocks == 1 or _is_in_registers(walk, one.ref)]
    shared = [one for one in memory if one not in alone]
    if not shared:
        return _scoped(walk, eqn, operands, arguments, alone)
    refs = [_of_all_blocks(walk, one.ref) for one in shared]
    with builder.region(refs) as region:
        views = _own_parts(walk, [one.ref for one in shared], refs)
        arguments = [views.get(argument, argument) for argument in arguments]
        region.results = _scoped(walk, eqn, operands, arguments, alone)
    return builder.emit("run_scoped", [], [walk.type_of(v) for v in eqn.outvars],
                        _scope(walk, eqn, shared, blocks), [region])


def _scoped(walk: Walk, eqn: Any, operands: list[int], arguments: list[int],
            memory: Sequence[_Allocation]) -> list[int]:
    """Runs the body in a scope of what each block allocates by itself, if it allocates any."""
    body = eqn.params["jaxpr"]
    if not memory:
        return walk.run(body, arguments, constants=operands)
    with walk.builder.region([one.ref for one in memory]) as region:
        region.results = walk.run(body, arguments, constants=operands)
    return walk.builder.emit("run_scoped", [], [walk.type_of(v) for v in eqn.outvars],
                             _scope(walk, eqn, memory, 1), [region])


def _of_all_blocks(walk: Walk, ref: int) -> int:
    """Returns a ref like this one that the blocks of the cluster allocate together."""
    builder = walk.builder
    found = builder.value(gpu_clusters.shared(walk, builder.types[ref]),
                          builder.values[ref].get("name", ""))
    walk.layout_transforms[found] = walk.layout_transforms[ref]
    return found


def _own_parts(walk: Walk, refs: list[int], shared: list[int]) -> dict[int, int]:
    """Returns what this block has of each ref."""
    block = gpu_clusters.number(walk)
    parts = {ref: gpu_clusters.own(walk, whole, block)
             for ref, whole in zip(refs, shared, strict=True)}
    for ref in refs:
        if ref in walk.unions:
            walk.unions[parts[ref]] = {place: parts[one]
                                       for place, one in walk.unions[ref].items()}
    return parts


class _Allocation(NamedTuple):
    """A ref that a scope allocates. Without a union it has memory of its own."""

    ref: int
    arrivals: int
    union: int
    group: int


def _allocation(walk: Walk, aval: Any, undone: Sequence[Any], name: str, union: int = 0,
                group: int = 0, answers: bool = False) -> _Allocation:
    """`answers`: refs of 16 bytes each hold answers of try_cluster_cancel, which are numbers here.
    """
    type_ = _allocated(walk, gpu_equations.logical(aval, undone))
    if answers and gpu_equations.is_answer(aval):
        type_ = type_._replace(dtype="int32")
    ref = walk.builder.value(type_, name)
    walk.layout_transforms[ref] = tuple(undone)
    return _Allocation(ref, gpu_barriers.arrivals(walk, aval.inner_aval), union, group)


def _allocated(walk: Walk, aval: Any) -> Type:
    """Returns the type of the ref. If it is not supported, that is recorded, and the walk goes on
    with another memory, so that everything that the kernel does with it is named too."""
    try:
        return ref_type(aval)
    except NotCaptured as reason:
        walk.problem(str(reason))
        is_array = not gpu_equations.arrivals(aval.inner_aval)
        return Type(types.dtype_of(aval.dtype) if is_array else "int32", tuple(aval.shape),
                    "smem" if is_array else "barrier")


def _scope(walk: Walk, eqn: Any, memory: Sequence[_Allocation], blocks: int) -> Params:
    """Returns whether the warpgroups of a block share the memory, what its barriers wait for, and
    which refs share memory with each other."""
    params: Params = {}
    axes = eqn.params["collective_axes"]
    axes = axes if isinstance(axes, tuple) else (axes,)
    if blocks > 1 or any(axis in walk.threads and walk.cores[axis] > 1 for axis in axes):
        params["collective"] = True
    if blocks > 1:
        params["blocks"] = blocks
    if any(one.arrivals for one in memory):
        params["arrivals"] = [one.arrivals for one in memory]
    if any(one.union for one in memory):
        params["unions"] = [one.union for one in memory]
        params["groups"] = [one.group for one in memory]
    return params


def _is_in_registers(walk: Walk, ref: int) -> bool:
    """Returns whether it is memory of a run_state that a warpgroup keeps in registers."""
    return walk.builder.types[ref].space == "accumulator"


def _whole(walk: Walk, eqn: Any, ref: int, shape: tuple[int, ...]) -> Type:
    """Returns the type of all that registers hold. Parts of them are not captured."""
    type_ = walk.builder.types[ref]._replace(space=None)
    if type_.shape != tuple(shape):
        raise NotCaptured(f"{eqn.primitive.name} of a part of the registers of a run_state")
    return type_


def _get(walk: Walk, eqn: Any, operands: list[int]) -> list[int]:
    ref, *further = operands
    if walk.builder.types[ref].space is None:  # a value that a run_state closes over
        if walk.builder.types[ref] != walk.type_of(eqn.outvars[0]):
            raise NotCaptured("a load of a part of a value in a run_state")
        return [ref]
    if _is_in_registers(walk, ref):
        type_ = _whole(walk, eqn, ref, eqn.outvars[0].aval.shape)
        return [walk.builder.one("wgmma_accumulator_deref", [ref], type_)]
    return [memory.load(walk, _part(walk, eqn, ref, further))]


def _swap(walk: Walk, eqn: Any, operands: list[int]) -> list[int]:
    ref, value, *further = operands
    if _is_in_registers(walk, ref):
        type_ = _whole(walk, eqn, ref, eqn.outvars[0].aval.shape)
        old = walk.builder.one("wgmma_accumulator_deref", [ref], type_)
        walk.builder.emit("wgmma_accumulator_store",
                          [ref, walk.builder.broadcast(value, type_.shape)], [])
        return [old]
    part = _part(walk, eqn, ref, further)
    return [memory.store(walk, part, walk.builder.broadcast(value, part.shape()))]


def _store(walk: Walk, eqn: Any, operands: list[int]) -> list[int]:
    _swap(walk, eqn, operands)
    return []


def _addupdate(walk: Walk, eqn: Any, operands: list[int]) -> list[int]:
    ref, value, *further = operands
    if _is_in_registers(walk, ref):
        type_ = _whole(walk, eqn, ref, walk.builder.types[value].shape)
        old = walk.builder.one("wgmma_accumulator_deref", [ref], type_)
        walk.builder.emit("wgmma_accumulator_store",
                          [ref, walk.builder.one("add", [old, value], type_)], [])
        return []
    part = _part(walk, eqn, ref, further)
    old = memory.load(walk, part)
    memory.store(walk, part, walk.builder.one("add", [old, value], walk.builder.types[value]))
    return []


def _part(walk: Walk, eqn: Any, ref: int, further: list[int]) -> Window:
    return window(walk, ref, tuple(eqn.params["tree"].unflatten(leaves(further))))


def _masked_load(walk: Walk, eqn: Any, operands: list[int]) -> list[int]:
    ref, transforms, mask, other = eqn.params["args_tree"].unflatten(leaves(operands))
    part = window(walk, ref.value, transforms)
    if mask is None:
        return [memory.load(walk, part)]
    result = walk.type_of(eqn.outvars[0])
    taken = [view(walk, part), *(walk.builder.broadcast(leaf.value, result.shape)
                                 for leaf in (mask, other) if leaf is not None)]
    return [walk.builder.one("masked_load", taken, result)]


def _masked_swap(walk: Walk, eqn: Any, operands: list[int]) -> list[int]:
    ref, transforms, value, mask = eqn.params["args_tree"].unflatten(leaves(operands))
    part = window(walk, ref.value, transforms)
    if mask is None:
        return [memory.store(walk, part, value.value)]
    result = walk.builder.types[value.value]
    return [walk.builder.one("masked_swap", [
        view(walk, part), value.value, walk.builder.broadcast(mask.value, result.shape)], result)]


def _atomic_store(walk: Walk, eqn: Any, operands: list[int]) -> list[int]:
    ref, transforms, value = eqn.params["args_tree"].unflatten(leaves(operands))
    part = window(walk, ref.value, transforms)
    given = walk.builder.broadcast(value.value, part.shape())
    walk.builder.one("atomic_rmw", [view(walk, part), given], walk.builder.types[given],
                     {"atomic_type": eqn.params["atomic_type"].name.lower()})
    return []


def _store_to_block(walk: Walk, eqn: Any, operands: list[int]) -> list[int]:
    """Emits a store to the memory of another block, and the arrival at that block's barrier. The
    block does not know of the store before it has waited there."""
    value, target, met, place = gpu_equations.stored_of(eqn, leaves(operands))
    there = [_in_block(walk, part, {eqn.params["cluster_dim"]: place}) for part in (target, met)]
    atomic = eqn.params["atomic"]
    part = window(walk, there[0][0].value, there[0][1])
    given = walk.builder.broadcast(value.value, part.shape())
    if atomic is None:
        memory.store(walk, part, given)
    else:
        walk.builder.one("atomic_rmw", [view(walk, part), given], walk.builder.types[given],
                         {"atomic_type": atomic})
    return walk.builder.emit("barrier_arrive", [barrier(walk, there[1])], [])


def _in_block(walk: Walk, part: gpu_equations.Part, places: Mapping[Any, Any]) -> (
        gpu_equations.Part):
    ref, transforms = part
    return Leaf(of_other_block(walk, ref.value, places)), transforms


RULES: dict[str, Rule] = {
    "async_store_smem": _store_to_block,
    "run_scoped": _run_scoped,
    "get": _get,
    "load": _get,
    "swap": _swap,
    "store": _store,
    "addupdate": _addupdate,
    "masked_load": _masked_load,
    "masked_swap": _masked_swap,
    "mgpu_atomic_store": _atomic_store,
}
