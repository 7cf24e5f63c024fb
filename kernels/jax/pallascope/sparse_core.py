"""Kernels of a SparseCore: meshes of subcores, what their cores share, and their primitives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax

from pallascope import compat, composed, memory, pipelines, places, types
from pallascope.problems import NotCaptured
from pallascope.program import INDEX, Builder, Region, Type
from pallascope.transforms import view, window
from pallascope.walk import Leaf, Rule, Walk

# How the chip files call them, and the memory that each vector subcore has for its own.
_VECTOR, _SCALAR = "vector subcore", "scalar subcore"
_OWN, _SHARED = "tilespmem", "spmem"
_SPACES = {"vmem": _OWN, "default": _OWN, "None": _OWN, "vmem_shared": _SHARED}


def is_mesh(mesh: Any) -> bool:
    return "Subcore" in type(mesh).__name__


def on_mesh(walk: Walk, body: Any, arrays: list[int], state: list[int]) -> None:
    """The kernel on every subcore of the mesh, whose axes are walk.cores: a block for each
    SparseCore, on its subcores."""
    builder = walk.builder
    (core, cores), *further = walk.cores.items()
    subcore, subcores = further[0] if further else (f"{core} subcore", 1)
    walk.block_axes = [core]
    with (walk.by(RULES), types.spaces(_SPACES), builder.region() as region,
          _barrier(walk, body, subcores), pipelines.scratch(walk, state)):
        pipelines.inline(walk, body, arrays)
    shared = _share(builder, region, core, cores)
    with pipelines.scratch(walk, shared):
        builder.emit("core_map", [], [], {
            "axis": str(subcore), "cores": subcores, "grid": [{"name": str(core), "size": cores}],
            "agents": _VECTOR if further else _SCALAR}, [region])
    walk.block_axes = []


# ---- what the subcores of a core share -------------------------------------------------------


def _share(builder: Builder, region: Region, core: Any, cores: int) -> list[int]:
    """Memory that all subcores of a core share is there once for each core, around the kernel;
    each sees its own core's. Returns those arrays."""
    found: list[int] = []
    for entry in region.operations:
        for inner in entry["regions"]:
            found += _share(builder, inner, core, cores)
            own = [ref for ref in inner.arguments if builder.types[ref].space == _SHARED]
            if not own:
                continue
            if entry["op"] != "run_scoped":
                raise NotCaptured("a block of a pipeline in memory that subcores share")
            inner.arguments = [ref for ref in inner.arguments if ref not in own]
            place = builder.value(INDEX)
            first = [_operation("axis_index", [], place, {"text": str(core)}, entry)]
            for ref in own:
                shape = builder.types[ref].shape
                every = builder.value(Type(builder.types[ref].dtype, (cores, *shape), _SHARED),
                                      builder.values[ref].get("name", ""))
                entries = [{"slice": False, "operand": 1}] + [{"size": size} for size in shape]
                first.append(_operation("ref_at", [every, place], ref, {"entries": entries},
                                        entry))
                found.append(every)
            inner.operations[:0] = first
    region.used.update(found)
    return found


def _operation(op: str, operands: list[int], result: int, params: dict[str, Any],
               at: dict[str, Any]) -> dict[str, Any]:
    return {"op": op, "operands": operands, "results": [result], "params": params, "regions": [],
            "location": at["location"]}


def _barrier(walk: Walk, body: Any, subcores: int) -> Any:
    """The semaphore of subcore_barrier, where the kernel has one."""
    walk.subcore_barrier = None
    if not _uses(body, "barrier"):
        return pipelines.scratch(walk, [])
    semaphore = walk.builder.value(Type("int32", (), "semaphore"), "subcore_barrier")
    walk.subcore_barrier = (semaphore, subcores)
    return pipelines.scratch(walk, [semaphore])


def _uses(jaxpr: Any, name: str) -> bool:
    inner, _ = compat.open_jaxpr(jaxpr)
    return any(eqn.primitive.name == name or any(_uses(part, name)
                                                 for part in compat.jaxprs_of(eqn))
               for eqn in inner.eqns)


def _wait_for_all(walk: Walk, eqn: Any, operands: list[int]) -> list[int]:
    """Each subcore tells all of its core, and waits until all have told it."""
    if walk.subcore_barrier is None:
        raise NotCaptured("subcore_barrier outside of a kernel of vector subcores")
    builder, (semaphore, count) = walk.builder, walk.subcore_barrier
    counter = builder.value(INDEX)
    with builder.region([counter]) as region:
        builder.emit("semaphore_signal", [semaphore, builder.index(1), counter], [],
                     {"core": True})
    builder.emit("scan", [], [], {"length": count}, [region])
    return builder.emit("semaphore_wait", [semaphore, builder.index(count)], [])


# ---- loops -------------------------------------------------------------------------------------


def _parallel_loop(walk: Walk, eqn: Any, operands: list[int]) -> list[int]:
    """Rounds one after the other, which is one of the orders that it allows."""
    builder, jaxpr = walk.builder, eqn.params["jaxpr"]
    lower, upper, step, consts, carry = eqn.params["tree"].unflatten(
        [Leaf(value) for value in operands])
    first, end, by = (walk.index(bound.value) if isinstance(bound, Leaf)
                      else builder.index(int(bound)) for bound in (lower, upper, step))
    constants = [const.value for const in consts]
    carried = [leaf.value for leaf in carry]
    kinds = [builder.types[value] for value in carried]
    bounds = [builder.known(bound) for bound in (first, end, by)]

    def turn(given: list[int]) -> list[int]:
        if compat.open_jaxpr(jaxpr)[0].constvars:
            return walk.run(jaxpr, given, constants=constants)
        return walk.run(jaxpr, constants + given)  # from JAX 0.12 on

    arguments = [builder.value(kind) for kind in kinds]
    index = builder.value(INDEX)
    if None not in bounds:
        with builder.region([index, *arguments]) as region:
            at = builder.add_index(builder.scale_index(index, bounds[2]), first)
            region.results = turn([at, *arguments])
        return builder.emit("scan", carried, kinds, {"length": len(range(*bounds))}, [region])
    held = [builder.value(kind) for kind in (INDEX, *kinds)]
    with builder.region(held) as condition:
        condition.results = [builder.one("lt", [held[0], end], Type("bool"))]
    with builder.region([index, *arguments]) as body:
        found = turn([index, *arguments])
        body.results = [builder.one("add", [index, by], INDEX), *found]
    return builder.emit("while", [first, *carried], [INDEX, *kinds],
                        regions=[condition, body])[1:]


# ---- registers ---------------------------------------------------------------------------------


def _scan_count() -> Callable[..., Any]:
    """How many equal elements there are up to each that counts, and which is the last of them."""
    def function(x: Any, mask: Any) -> Any:
        equal = (x[:, None] == x[None, :]) & mask[None, :]
        place = lax.iota(jnp.int32, x.size)
        until = place[None, :] <= place[:, None]
        counts = jnp.sum((equal & until).astype(jnp.int32), axis=1)
        left = jnp.sum((equal & ~until).astype(jnp.int32), axis=1)
        return counts, mask & (left == 0)

    return function


def _cumulative(kind: str) -> Callable[..., Callable[..., Any]]:
    """Over the elements that the mask takes. Up to the first of them a maximum or minimum is the
    element itself, and a sum 0."""
    def make(**_: Any) -> Callable[..., Any]:
        def function(x: Any, mask: Any) -> Any:
            if kind == "sum":
                return lax.cumsum(jnp.where(mask, x, jnp.zeros_like(x)))
            info = jnp.finfo(x.dtype) if jnp.issubdtype(x.dtype, np.floating) else jnp.iinfo(
                x.dtype)
            least = -np.inf if info.dtype.kind == "f" else info.min
            most = np.inf if info.dtype.kind == "f" else info.max
            neutral = jnp.full_like(x, least if kind == "max" else most)
            kept = jnp.where(mask, x, neutral)
            found = lax.cummax(kept) if kind == "max" else lax.cummin(kept)
            seen = lax.cumsum(mask.astype(jnp.int32)) > 0
            return jnp.where(seen, found, x)

        return function

    return make


def _sort(descending: bool) -> Callable[..., Any]:
    """Stable; what the mask leaves out comes last."""
    def function(keys: Any, values: Any, *masks: Any) -> Any:
        order = keys
        if descending:
            order = -keys if jnp.issubdtype(keys.dtype, np.floating) else ~keys
        out = ~masks[0] if masks else jnp.zeros(keys.shape, bool)
        by = out.astype(jnp.int32)
        _, _, keys, values, left = lax.sort((by, order, keys, values, by), num_keys=2)
        return (keys, values, left == 0) if masks else (keys, values)

    return function


def _population_count(reduce: int) -> Callable[..., Any]:
    def function(x: Any) -> Any:
        return jnp.full((x.size // reduce,), jnp.sum(x.astype(jnp.int32)), jnp.int32)

    return function


def _first_set(reduce: int) -> Callable[..., Any]:
    def function(x: Any) -> Any:
        place = jnp.where(x, lax.iota(jnp.int32, x.size), jnp.int32(x.size))
        return jnp.full((x.size // reduce,), jnp.min(place), jnp.int32)

    return function


def _check_packing(eqn: Any, name: str) -> None:
    kinds = {np.dtype(v.aval.dtype).kind if v.aval.dtype.name != "bfloat16" else "f"
             for v in (*eqn.invars, *eqn.outvars)}
    if eqn.params["format"].name != "INTERLEAVED":
        raise NotCaptured(f"{name} in the format {eqn.params['format'].name}, where INTERLEAVED "
                          "is right")
    if len(kinds) != 1:
        raise NotCaptured(f"{name} of {eqn.invars[0].aval.dtype} as {eqn.outvars[0].aval.dtype}")


def _pack(walk: Walk, eqn: Any, operands: list[int]) -> list[int]:
    _check_packing(eqn, "pack")
    dtype = eqn.outvars[0].aval.dtype
    return walk.trace(lambda a, b: jnp.stack([a, b], axis=1).reshape(-1).astype(dtype), operands)


def _unpack(walk: Walk, eqn: Any, operands: list[int]) -> list[int]:
    _check_packing(eqn, "unpack")
    dtype = eqn.outvars[0].aval.dtype

    def function(ab: Any) -> Any:
        pairs = ab.reshape(-1, 2)
        return pairs[:, 0].astype(dtype), pairs[:, 1].astype(dtype)

    return walk.trace(function, operands)


# ---- masked loads and stores -------------------------------------------------------------------


def _masked(eqn: Any, leaves: list[int]) -> tuple[tuple[Any, ...], int | None]:
    mask = leaves.pop() if eqn.params["has_mask"] else None
    return tuple(eqn.params["tree"].unflatten([Leaf(value) for value in leaves])), mask


def _load(walk: Walk, eqn: Any, operands: list[int]) -> list[int]:
    """load_expanded: the i-th lane that the mask takes gets element i, others nothing."""
    ref, *leaves = operands
    transforms, mask = _masked(eqn, leaves)
    part = window(walk, ref, transforms)
    if mask is None:
        return [memory.load(walk, part)]
    builder, kind = walk.builder, walk.type_of(eqn.outvars[0])
    packed = memory.load(walk, part)
    (expanded,) = walk.trace(lambda x, mask: x[jnp.clip(_places(mask), 0, x.size - 1)],
                             [packed, mask])
    never = builder.broadcast(builder.literal("bool", 0), kind.shape)
    nothing = builder.one("masked_load", [view(walk, part), never], kind)
    return [builder.one("select_n", [mask, nothing, expanded], kind)]


def _swap(walk: Walk, eqn: Any, operands: list[int]) -> list[int]:
    """store_compressed and additions in memory: element i is that of the i-th lane taken."""
    if "has_mask" not in eqn.params:
        return memory.RULES["swap"](walk, eqn, operands)
    ref, value, *leaves = operands
    transforms, mask = _masked(eqn, leaves)
    part = window(walk, ref, transforms)
    builder = walk.builder
    kind = builder.types[value]
    if mask is not None:
        value, kept = walk.trace(_compressed, [value, mask])
    if eqn.params["add"]:
        value = builder.one("add", [memory.load(walk, part), value], kind)
    if mask is None:
        memory.store(walk, part, value)
    else:
        builder.emit("masked_swap", [view(walk, part), value, kept], [kind])
    return [value]


def _places(mask: Any) -> Any:
    """Of each lane among those that the mask takes."""
    return lax.cumsum(mask.astype(jnp.int32)) - 1


def _compressed(x: Any, mask: Any) -> Any:
    lanes = lax.iota(jnp.int32, x.size)
    target = jnp.where(mask, _places(mask), x.size)
    packed = jnp.zeros_like(x).at[target].set(x, mode="drop")
    return packed, lanes < jnp.sum(mask.astype(jnp.int32))


def _refused(what: str) -> Rule:
    def rule(walk: Walk, eqn: Any, operands: list[int]) -> list[int]:
        raise NotCaptured(f"{what} of a SparseCore")

    return rule


def _listed(base: Rule) -> Rule:
    """Of refs: load_gather, store_scatter and addupdate_scatter. `base` is the primitive of
    registers by the same name."""
    def rule(walk: Walk, eqn: Any, operands: list[int]) -> list[int]:
        if "dimension_numbers" in eqn.params:
            return base(walk, eqn, operands)
        ref, transforms, indices, *stored, mask = eqn.params["tree"].unflatten(
            [Leaf(value) for value in operands])
        part = view(walk, window(walk, ref.value, transforms))
        lists = [_int32(walk, leaf.value) for leaf in indices]
        given = [part, *(leaf.value for leaf in stored), *lists, *([mask.value] if mask else [])]
        if not stored:
            return [walk.builder.one("load_gather", given, walk.type_of(eqn.outvars[0]))]
        adds = eqn.params["add"]
        walk.builder.emit("addupdate_scatter" if adds else "store_scatter", given, [])
        return []

    return rule


def _int32(walk: Walk, value: int) -> int:
    kind = walk.builder.types[value]
    return value if kind.dtype == "int32" else walk.trace(lambda x: x.astype(jnp.int32), [value])[0]


RULES: dict[str, Rule] = {
    "barrier": _wait_for_all,
    "parallel_loop": _parallel_loop,
    "scan_count": composed.traced(_scan_count),
    "unique": composed.traced(_scan_count),  # up to JAX 0.11
    "masked_cumsum": composed.traced(_cumulative("sum")),
    "masked_cummax": composed.traced(_cumulative("max")),
    "masked_cummin": composed.traced(_cumulative("min")),
    "masked_sort": composed.traced(_sort),
    "all_reduce_population_count": composed.traced(_population_count),
    "all_reduce_ffs": composed.traced(_first_set),
    "pack": _pack,
    "unpack": _unpack,
    "load": _load,
    "swap": _swap,
    "gather": _listed(places.RULES["gather"]),
    "scatter": _listed(composed.RULES["scatter"]),
    "sc_fetch_and_add": _refused("fetch_and_add"),
}
