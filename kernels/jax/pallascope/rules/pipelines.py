"""Pipelines of pallas_call and of emit_pipeline, as the operation `pipeline`."""

from __future__ import annotations

from typing import Any

from pallascope import types
from pallascope.jax_compat import indirect_blocks, jaxprs, parameters, ref_types, versions
from pallascope.problems import NotCaptured
from pallascope.program import Params, Region
from pallascope.rules.block_specs import block_spec, index_map_region
from pallascope.rules.grids import (Pipeline, axis_names, given_names, grid_of, parallel_axes,
                                    roles)
from pallascope.rules.ref_transforms import view, window
from pallascope.sources import arg_names
from pallascope.walk import Leaf, Rule, Walk


def emit(walk: Walk, pipeline: Pipeline) -> None:
    """Appends the operation to the innermost region."""
    mapping = pipeline.mapping
    names = arg_names(pipeline.body, roles(mapping, pipeline.body))
    first = mapping.num_index_operands
    count = len(mapping.block_mappings)
    blocks = [number for number in range(count)  # without semaphores
              if not walk.builder.types[pipeline.operands[number]].space.endswith("semaphore")]
    specs = []
    for number in blocks:
        is_output = number >= mapping.num_inputs
        specs.append(block_spec(walk, mapping.block_mappings[number], names[first + number],
                                is_output, pipeline.origin))
    refs = [walk.builder.value(types.ref_type(v.aval), names[first + number])
            if number in blocks or number >= count else pipeline.operands[number]
            for number, v in enumerate(pipeline.body.invars[first:])]
    regions = [_body(walk, pipeline, refs, [ref for ref in refs if ref not in pipeline.operands])]
    for number in blocks:
        regions.append(index_map_region(walk, pipeline, mapping.block_mappings[number],
                                        pipeline.index_map_consts[number]))
    params: Params = {
        "origin": pipeline.origin,
        "schedule": versions.SCHEDULE if pipeline.origin == "emit_pipeline" else "0.12",
        "no_pipelining": pipeline.no_pipelining,
        "grid": grid_of(walk, pipeline),
        "core_axis": pipeline.core_axis,
        "block_axes": pipeline.block_axes,
        "parallel": pipeline.parallel,
        "axis_names": axis_names(mapping),
        "specs": specs,
        "scratch_names": names[first + count:]}
    operands = [pipeline.operands[number] for number in blocks]
    walk.builder.emit("pipeline", operands + pipeline.bounds, [],
                      {key: value for key, value in params.items()
                       if value or key in ("grid", "specs")}, regions)


def _body(walk: Walk, pipeline: Pipeline, refs: list[int], arguments: list[int]) -> Region:
    mapping = pipeline.mapping
    outer = walk.grid_axes, walk.grid_names
    walk.grid_axes = [axis for axis in range(len(mapping.grid))
                      if axis not in mapping.vmapped_dims]
    walk.grid_names = dict(zip(given_names(mapping), walk.grid_axes, strict=False))
    with walk.builder.region(arguments) as region, walk.in_kernel(pipeline.body):
        walk.run(pipeline.body, pipeline.prefetch + refs, constants=pipeline.body_consts)
    walk.grid_axes, walk.grid_names = outer
    return region


def _emit_pipeline(walk: Walk, eqn: Any, operands: list[int]) -> list[int]:
    if eqn.params.get("tiling") is not None:
        raise NotCaptured(f"emit_pipeline with tiling {eqn.params['tiling']}")
    parts = parameters.pipeline_parts(eqn, [Leaf(value) for value in operands])
    if parts.has_allocations:
        raise NotCaptured("emit_pipeline with buffers from outside")
    if eqn.params.get("_explicit_indices"):
        raise NotCaptured("emit_pipeline with explicit indices")
    mapping = eqn.params["grid_mapping"]
    block_axes, core_axis = _sharing(walk, eqn)
    shared = bool(block_axes or core_axis)
    consts = iter(parts.index_map_consts)
    emit(walk, Pipeline(
        mapping=mapping, body=eqn.params["body_jaxpr"],
        operands=[_ref_of(walk, ref) for ref in parts.refs],
        bounds=[walk.index(bound.value) for bound in parts.bounds], prefetch=[],
        index_map_consts=[
            [next(consts).value for _ in jaxprs.open_jaxpr(block.index_map_jaxpr)[0].constvars]
            for block in mapping.block_mappings],
        body_consts=[leaf.value for leaf in parts.body_consts],
        origin="emit_pipeline", no_pipelining=bool(eqn.params["no_pipelining"]),
        core_axis=core_axis, block_axes=block_axes, divided=parts.divided,
        parallel=parallel_axes(eqn.params["dimension_semantics"]) if shared else []))
    return []


def _sharing(walk: Walk, eqn: Any) -> tuple[list[str], str]:
    """Returns which of the axes whose cores share the grid are axes of a core_map's blocks, and
    which one is that of its cores, or an empty text."""
    names = eqn.params["core_axis_name"]
    if eqn.params["core_axis"] is not None:
        raise NotCaptured("emit_pipeline with core_axis: use core_axis_name")
    given = [str(name) for name in (names if isinstance(names, (tuple, list)) else [names])]
    several = [name for name in given if walk.cores.get(name, 1) > 1]
    blocks = [name for name in several if name in walk.block_axes]
    cores = [name for name in several if name not in walk.block_axes]
    if blocks + cores != several or len(cores) > 1:
        raise NotCaptured(f"emit_pipeline that is divided by the axes {', '.join(given)} in this "
                          "order: name them in the order of the mesh")
    return blocks, cores[0] if cores else ""


def _ref_of(walk: Walk, ref: Any) -> int:
    if isinstance(ref, ref_types.TransformedRef):
        return view(walk, window(walk, ref.ref.value, ref.transforms))
    return ref.value


def _list_of_indices(_: Walk, __: Any, operands: list[int]) -> list[int]:
    return operands


RULES: dict[str, Rule] = {"emit_pipeline": _emit_pipeline, indirect_blocks.LIST: _list_of_indices}
