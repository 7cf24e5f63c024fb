"""Kernels of Mosaic GPU (plgpu.kernel): their grid of blocks, the warpgroups of a block, and the
table of rules that hold in them."""

from __future__ import annotations

from typing import Any

from pallascope import types
from pallascope.problems import NotCaptured
from pallascope.program import INDEX, Params
from pallascope.rules import (chip_generator, conversions, copies, gpu_barriers, gpu_clusters,
                              gpu_copies, gpu_devices, gpu_inline, gpu_memory, gpu_products,
                              gpu_states, gpu_warps, kernel_bodies, matrix_unit, pipelines,
                              semaphores, tcgen05)
from pallascope.walk import Rule, Walk

_SPACES = {"regs": "accumulator", "tmem": "tmem"}


def is_mesh(mesh: Any) -> bool:
    return getattr(mesh, "core_type", "") == "gpu"


def on_mesh(walk: Walk, mesh: Any, body: Any, arrays: list[int]) -> None:
    """Emits the kernel in every block of the grid, or cluster of blocks, on each warpgroup of the
    blocks."""
    threads = mesh.num_threads or 1
    axes, sizes = [*mesh.grid_names, *mesh.cluster_names], [*mesh.grid, *mesh.cluster]
    walk.cluster, walk.cluster_axes = frozenset(mesh.cluster_names), list(mesh.cluster_names)
    walk.grid_axis_names = list(mesh.grid_names)
    of_grid = len(mesh.grid) if gpu_clusters.size(walk) > 1 else len(axes)
    walk.threads = frozenset({mesh.thread_name} if mesh.num_threads else ())
    names = names_apart([*axes, mesh.thread_name if mesh.num_threads else "thread"])
    walk.axis_texts = dict(zip([*axes, mesh.thread_name], names, strict=True))
    walk.named_barriers = {}
    with walk.by(RULES), types.spaces(_SPACES), walk.builder.region() as region:
        kernel_bodies.inline(walk, body, arrays)
    region = gpu_inline.in_scope(walk, region)
    params: Params = {"axis": names[-1], "cores": threads, "direct_access": True}
    extents = [{"name": name, "size": int(size)}
               for name, size in zip(names, sizes, strict=False)]
    if extents[:of_grid]:
        params["grid"] = extents[:of_grid]
    if extents[of_grid:]:
        params["cluster"] = extents[of_grid:]
    with walk.builder.region() as launched:
        walk.builder.emit("core_map", [], [], params, [region])
    gpu_devices.launch(walk, launched)


def names_apart(axes: list[Any]) -> list[str]:
    """Returns the names of the axes as texts, each another one. jax.vmap adds axes whose names are
    no texts."""
    found: list[str] = []
    for axis in axes:
        name = axis if isinstance(axis, str) else "vmap"
        while name in found:
            name += "_"
        found.append(name)
    return found


def _axis_index(walk: Walk, eqn: Any, operands: list[int]) -> list[int]:
    name = eqn.params["axis_name"]
    if walk.warp is not None and name == walk.warp[0]:
        return [walk.builder.index(walk.warp[1])]
    if walk.cores.get(name) == 1:
        return [walk.builder.index(0)]
    if name in walk.axis_texts:
        return [walk.builder.one("axis_index", [], INDEX, {"text": walk.axis_texts[name]})]
    if name in walk.devices:
        return [walk.builder.one("axis_index", [], INDEX, {"text": str(name)})]
    raise NotCaptured(f"axis_index of {name}, which neither the grid nor a mesh of devices has")


def _nothing(walk: Walk, eqn: Any, operands: list[int]) -> list[int]:
    """Emits nothing: layouts have no part in values, and a kernel here begins after the one before
    it has ended."""
    return []


def _refused(what: str) -> Rule:
    def rule(walk: Walk, eqn: Any, operands: list[int]) -> list[int]:
        raise NotCaptured(what)

    return rule


def refused_on_gpus() -> dict[str, Rule]:
    """Returns rules for primitives whose names mean something else on a TPU, or do not exist on a
    GPU."""
    return {name: _refused(f"primitive {name}")
            for module in (chip_generator, copies, matrix_unit, pipelines, semaphores)
            for name in module.RULES}


RULES: dict[str, Rule] = {
    **refused_on_gpus(),
    **gpu_barriers.RULES, **gpu_copies.RULES, **gpu_devices.RULES, **gpu_memory.RULES,
    **gpu_products.RULES,
    **gpu_inline.RULES, **gpu_states.RULES, **gpu_warps.RULES, **tcgen05.RULES,
    **conversions.OF_MOSAIC_GPU,
    "axis_index": _axis_index,
    "print_layout": _nothing,
    "griddepcontrol_wait": _nothing,
    "griddepcontrol_launch_dependents": _nothing,
}
