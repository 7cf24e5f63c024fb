"""Kernels of a SparseCore: meshes of subcores, what the subcores of a core share, and their loops.
"""

from __future__ import annotations

from typing import Any

from pallascope import types
from pallascope.jax_compat import jaxprs
from pallascope.problems import NotCaptured
from pallascope.program import INDEX, Builder, Region, Type
from pallascope.rules import flags_in_memory, gather_scatter, kernel_bodies, retraced
from pallascope.rules.sparse_core_memory import load_expanded, of_listed_elements, store_compressed
from pallascope.rules.sparse_core_registers import (cumulative, first_set, masked_sort, pack,
                                                    population_count, scan_count, unpack)
from pallascope.walk import Leaf, Rule, Walk

# The names of subcores in chip files, and the memory that each vector subcore has for itself.
_VECTOR, _SCALAR = "vector subcore", "scalar subcore"
_OWN, _SHARED = "tilespmem", "spmem"
_SPACES = {"vmem": _OWN, "default": _OWN, "None": _OWN, "vmem_shared": _SHARED}


def is_mesh(mesh: Any) -> bool:
    return "Subcore" in type(mesh).__name__


def on_mesh(walk: Walk, body: Any, arrays: list[int], state: list[int]) -> None:
    """Emits the kernel on every subcore of the mesh, whose axes are walk.cores: each SparseCore
    runs it on its subcores."""
    builder = walk.builder
    (core, cores), *further = walk.cores.items()
    subcore, subcores = further[0] if further else (f"{core} subcore", 1)
    walk.block_axes = [core]
    with (walk.by(RULES), types.spaces(_SPACES), builder.region() as region,
          _barrier(walk, body, subcores), kernel_bodies.scratch(walk, state)):
        kernel_bodies.inline(walk, body, arrays)
    shared = _share(builder, region, core, cores)
    with kernel_bodies.scratch(walk, shared):
        builder.emit("core_map", [], [], {
            "axis": str(subcore), "cores": subcores, "grid": [{"name": str(core), "size": cores}],
            "agents": _VECTOR if further else _SCALAR}, [region])
    walk.block_axes = []


# ---- what the subcores of a core share -------------------------------------------------------


def _share(builder: Builder, region: Region, core: Any, cores: int) -> list[int]:
    """Puts memory that all subcores of a core share around the kernel, once for each core. Each
    subcore sees that of its own core. Returns these arrays."""
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
    """Returns the semaphore of subcore_barrier, if the kernel uses it."""
    walk.subcore_barrier = None
    if not _uses(body, "barrier"):
        return kernel_bodies.scratch(walk, [])
    semaphore = walk.builder.value(Type("int32", (), "semaphore"), "subcore_barrier")
    walk.subcore_barrier = (semaphore, subcores)
    return kernel_bodies.scratch(walk, [semaphore])


def _uses(jaxpr: Any, name: str) -> bool:
    inner, _ = jaxprs.open_jaxpr(jaxpr)
    return any(eqn.primitive.name == name or any(_uses(part, name)
                                                 for part in jaxprs.jaxprs_of(eqn))
               for eqn in inner.eqns)


def _wait_for_all(walk: Walk, eqn: Any, operands: list[int]) -> list[int]:
    """Makes each subcore signal all subcores of its core, and wait until all have signalled it."""
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
    """Emits the rounds one after the other, which is one of the orders that the loop allows."""
    builder, jaxpr = walk.builder, eqn.params["jaxpr"]
    lower, upper, step, consts, carry = eqn.params["tree"].unflatten(
        [Leaf(value) for value in operands])
    first, end, by = (walk.index(bound.value) if isinstance(bound, Leaf)
                      else builder.index(int(bound)) for bound in (lower, upper, step))
    constants = [const.value for const in consts]
    carried = [leaf.value for leaf in carry]
    kinds = [builder.types[value] for value in carried]
    bounds = [builder.known(bound) for bound in (first, end, by)]

    def one_round(given: list[int]) -> list[int]:
        if jaxprs.open_jaxpr(jaxpr)[0].constvars:
            return walk.run(jaxpr, given, constants=constants)
        return walk.run(jaxpr, constants + given)  # from JAX 0.12 on

    arguments = [builder.value(kind) for kind in kinds]
    index = builder.value(INDEX)
    if None not in bounds:
        with builder.region([index, *arguments]) as region:
            at = builder.add_index(builder.scale_index(index, bounds[2]), first)
            region.results = one_round([at, *arguments])
        return builder.emit("scan", carried, kinds, {"length": len(range(*bounds))}, [region])
    held = [builder.value(kind) for kind in (INDEX, *kinds)]
    with builder.region(held) as condition:
        condition.results = [builder.one("lt", [held[0], end], Type("bool"))]
    with builder.region([index, *arguments]) as body:
        found = one_round([index, *arguments])
        body.results = [builder.one("add", [index, by], INDEX), *found]
    return builder.emit("while", [first, *carried], [INDEX, *kinds],
                        regions=[condition, body])[1:]


def _refused(what: str) -> Rule:
    def rule(walk: Walk, eqn: Any, operands: list[int]) -> list[int]:
        raise NotCaptured(f"{what} of a SparseCore")

    return rule


RULES: dict[str, Rule] = {
    "barrier": _wait_for_all,
    "parallel_loop": _parallel_loop,
    "scan_count": retraced.traced(scan_count),
    "unique": retraced.traced(scan_count),  # up to JAX 0.11
    "masked_cumsum": retraced.traced(cumulative("sum")),
    "masked_cummax": retraced.traced(cumulative("max")),
    "masked_cummin": retraced.traced(cumulative("min")),
    "masked_sort": retraced.traced(masked_sort),
    "all_reduce_population_count": retraced.traced(population_count),
    "all_reduce_ffs": retraced.traced(first_set),
    "pack": pack,
    "unpack": unpack,
    "load": flags_in_memory.loaded(load_expanded),
    "swap": flags_in_memory.loaded(store_compressed),
    "gather": of_listed_elements(gather_scatter.gather),
    "scatter": of_listed_elements(gather_scatter.scatter_by_function),
    "sc_fetch_and_add": _refused("fetch_and_add"),
}
