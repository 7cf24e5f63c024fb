"""Rules of memory in kernels for a GPU: what a block or a warpgroup allocates, loads and stores."""

from __future__ import annotations

from typing import Any

from pallascope import types
from pallascope.jax_compat import gpu_equations, jaxprs
from pallascope.problems import NotCaptured
from pallascope.program import Params, Type
from pallascope.rules import memory
from pallascope.rules.gpu_refs import leaves, ref_type, window
from pallascope.rules.ref_transforms import Window, view
from pallascope.sources import arg_names
from pallascope.walk import Rule, Walk


def _run_scoped(walk: Walk, eqn: Any, operands: list[int]) -> list[int]:
    builder, body = walk.builder, eqn.params["jaxpr"]
    inner, _ = jaxprs.open_jaxpr(body)
    if not inner.invars:
        return walk.run(body, [], constants=operands)
    transforms = eqn.params["ref_transforms"]
    names = arg_names(inner, ["scratch"] * len(inner.invars))
    refs = [builder.value(_allocated(walk, gpu_equations.logical(v.aval, undone)), name)
            for v, undone, name in zip(inner.invars, transforms, names, strict=True)]
    walk.layout_transforms |= {ref: tuple(undone) for ref, undone
                               in zip(refs, transforms, strict=True)}
    with builder.region(refs) as region:
        region.results = walk.run(body, refs, constants=operands)
    return builder.emit("run_scoped", [], [walk.type_of(v) for v in eqn.outvars],
                        _scope(walk, eqn, inner), [region])


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


def _scope(walk: Walk, eqn: Any, body: Any) -> Params:
    """Returns whether the warpgroups of a block share the memory, and what its barriers wait for.
    """
    params: Params = {}
    axes = eqn.params["collective_axes"]
    axes = axes if isinstance(axes, tuple) else (axes,)
    if any(axis in walk.threads and walk.cores[axis] > 1 for axis in axes):
        params["collective"] = True
    arrivals = [gpu_equations.arrivals(v.aval.inner_aval) for v in body.invars]
    if any(arrivals):
        params["arrivals"] = arrivals
    return params


def _get(walk: Walk, eqn: Any, operands: list[int]) -> list[int]:
    ref, *further = operands
    if walk.builder.types[ref].space is None:  # a value that a run_state closes over
        if walk.builder.types[ref] != walk.type_of(eqn.outvars[0]):
            raise NotCaptured("a load of a part of a value in a run_state")
        return [ref]
    return [memory.load(walk, _part(walk, eqn, ref, further))]


def _swap(walk: Walk, eqn: Any, operands: list[int]) -> list[int]:
    ref, value, *further = operands
    part = _part(walk, eqn, ref, further)
    return [memory.store(walk, part, walk.builder.broadcast(value, part.shape()))]


def _store(walk: Walk, eqn: Any, operands: list[int]) -> list[int]:
    _swap(walk, eqn, operands)
    return []


def _addupdate(walk: Walk, eqn: Any, operands: list[int]) -> list[int]:
    ref, value, *further = operands
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


RULES: dict[str, Rule] = {
    "run_scoped": _run_scoped,
    "get": _get,
    "load": _get,
    "swap": _swap,
    "store": _store,
    "addupdate": _addupdate,
    "masked_load": _masked_load,
    "masked_swap": _masked_swap,
}
