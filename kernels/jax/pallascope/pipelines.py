"""Grids and block specs, of pallas_call and of emit_pipeline, as the operation `pipeline`."""

from __future__ import annotations

import contextlib
import dataclasses
import math
from collections.abc import Iterator
from typing import Any

from pallascope import compat, lent, straight, types
from pallascope.memory import arg_names
from pallascope.problems import NotCaptured
from pallascope.program import INDEX, Params, Region, Type
from pallascope.sources import name_of_function, place_of_function
from pallascope.transforms import view, window
from pallascope.walk import Leaf, Rule, Walk


@dataclasses.dataclass
class Pipeline:
    """A pipeline whose operands are refs of the program."""

    mapping: Any  # JAX's GridMapping
    body: Any  # its jaxpr
    operands: list[int]  # one ref per block mapping
    bounds: list[int]  # one int32 scalar per dynamic grid axis
    prefetch: list[int]  # the refs that index maps and body get besides: scalar prefetch
    index_map_consts: list[list[int]]
    body_consts: list[int]
    origin: str
    no_pipelining: bool = False
    core_axis: str = ""  # of a mesh of several cores that share the grid
    block_axes: list[str] = dataclasses.field(default_factory=list)  # whose blocks share it too
    parallel: list[int] = dataclasses.field(default_factory=list)  # grid axes that they may share
    divided: list[int] = dataclasses.field(default_factory=list)  # cut among them already


def emit(walk: Walk, pipeline: Pipeline) -> None:
    """Appends the operation to the innermost region."""
    mapping = pipeline.mapping
    names = arg_names(pipeline.body)
    first = mapping.num_index_operands
    count = len(mapping.block_mappings)
    blocks = [number for number in range(count)  # semaphores have none
              if not walk.builder.types[pipeline.operands[number]].space.endswith("semaphore")]
    specs = []
    for number in blocks:
        is_output = number >= mapping.num_inputs
        name = names[first + number] or f"operand {number}"
        specs.append(_spec(walk, mapping.block_mappings[number], name, is_output,
                           pipeline.origin))
    refs = [walk.builder.value(types.ref_type(v.aval), names[first + number])
            if number in blocks or number >= count else pipeline.operands[number]
            for number, v in enumerate(pipeline.body.invars[first:])]
    regions = [_body(walk, pipeline, refs, [ref for ref in refs if ref not in pipeline.operands])]
    for number in blocks:
        regions.append(_index_map(walk, pipeline, mapping.block_mappings[number],
                                  pipeline.index_map_consts[number]))
    params: Params = {
        "origin": pipeline.origin,
        "schedule": compat.SCHEDULE if pipeline.origin == "emit_pipeline" else "0.12",
        "no_pipelining": pipeline.no_pipelining,
        "grid": _grid(walk, pipeline),
        "core_axis": pipeline.core_axis,
        "block_axes": pipeline.block_axes,
        "parallel": pipeline.parallel,
        "axis_names": _axis_names(mapping),
        "specs": specs,
        "scratch_names": [name or "scratch" for name in names[first + count:]]}
    operands = [pipeline.operands[number] for number in blocks]
    walk.builder.emit("pipeline", operands + pipeline.bounds, [],
                      {key: value for key, value in params.items()
                       if value or key in ("grid", "specs")}, regions)


def _grid(walk: Walk, pipeline: Pipeline) -> list[int]:
    """Of all cores together."""
    grid = [extent if isinstance(extent, int) else -1 for extent in pipeline.mapping.grid]
    for axis in pipeline.divided:
        if grid[axis] < 0:
            raise NotCaptured("emit_pipeline whose grid does not divide among cores")
        sharing = [*pipeline.block_axes, *([pipeline.core_axis] if pipeline.core_axis else [])]
        grid[axis] *= math.prod(walk.cores[name] for name in sharing)
    return grid


def _body(walk: Walk, pipeline: Pipeline, refs: list[int], arguments: list[int]) -> Region:
    mapping = pipeline.mapping
    outer = walk.grid_axes, walk.grid_names
    walk.grid_axes = [axis for axis in range(len(mapping.grid))
                      if axis not in mapping.vmapped_dims]
    walk.grid_names = dict(zip(_given_names(mapping), walk.grid_axes, strict=False))
    with walk.builder.region(arguments) as region, walk.in_kernel(pipeline.body):
        walk.run(pipeline.body, pipeline.prefetch + refs, constants=pipeline.body_consts)
    walk.grid_axes, walk.grid_names = outer
    return region


def _index_map(walk: Walk, pipeline: Pipeline, block: Any, consts: list[int]) -> Region:
    """Scalars in, scalars out; a BoundedSlice yields its start and its size.

    An Indirect dimension yields an array of indices.
    """
    arguments = [walk.builder.value(INDEX, name) for name in _axis_names(pipeline.mapping)]
    outer = walk.builder.location
    jaxpr, _ = compat.open_jaxpr(block.index_map_jaxpr)
    walk.builder.location = _place(walk, jaxpr)
    with walk.builder.region(arguments) as region, walk.by(straight.RULES):
        found = walk.run(jaxpr, arguments + pipeline.prefetch, constants=consts)
        tree = block.index_map_out_tree.unflatten([Leaf(value) for value in found])
        indices = tree if isinstance(tree, (tuple, list)) else (tree,)
        for index, dim in zip(indices, block.block_shape, strict=True):
            if type(dim).__name__ == "Indirect":
                region.results.append(_list(walk, index, int(dim.block_size)))
                continue
            parts = [index.start, index.size] if isinstance(index, compat.Slice) else [index]
            region.results += [walk.index(part.value) if isinstance(part, Leaf)
                               else walk.builder.index(int(part)) for part in parts]
        region.results += [walk.builder.index(0) for _ in _words(block)]
    walk.builder.location = outer
    return region


def _place(walk: Walk, index_map: Any) -> int:
    """Of an index map, or of the pipeline where it is a partial or a function of no author."""
    number = walk.locations.number(place_of_function(index_map))
    return number if number >= 0 else walk.builder.location


def _list(walk: Walk, index: Any, size: int) -> int:
    """The indices of an Indirect block; with fewer the rest of its slot is left."""
    shape = walk.builder.types[index.value].shape if isinstance(index, Leaf) else ()
    if len(shape) != 1 or shape[0] > size:
        raise NotCaptured(f"an Indirect block of {size} whose index map yields indices of shape "
                          f"{shape}")
    return walk.builder.convert(index.value, INDEX.dtype)


def _spec(walk: Walk, block: Any, name: str, is_output: bool, origin: str) -> Params:
    if getattr(block, "transforms", ()):
        raise NotCaptured(f"the transforms of the block spec of {name}")
    spec: Params = {"name": name, "block": [_dim(walk, dim, name) for dim in block.block_shape]
                    + [{"size": extent} for extent in _words(block)]}
    if is_output:
        spec["direction"] = "out"
    mode = block.pipeline_mode
    if isinstance(mode, lent.ReadToo):
        spec |= {"direction": "inout", "in_buffers": mode.buffer_count,
                 "out_buffers": mode.out_count}
    elif mode is not None:
        count = getattr(mode, "buffer_count", None)
        if not isinstance(count, int):
            walk.problem(f"the pipeline mode {mode} of {name}")
        elif count != 2:
            spec["out_buffers" if is_output else "in_buffers"] = count
        if getattr(mode, "use_lookahead", False):
            spec["lookahead"] = True
        if getattr(mode, "prefetched_count", 0):
            spec["prefetched"] = mode.prefetched_count
        revisit = getattr(getattr(mode, "revisit", None), "name", None)
        if revisit == "ANY" and is_output and origin == "pallas_call":
            spec["restores"] = True
    if any(dim.get("kind") == "indirect" for dim in spec["block"]):
        if spec.get("lookahead") or spec.get("in_buffers", 2) > 2:
            raise NotCaptured(f"the Indirect block of {name} with lookahead or more than two "
                              "buffers, which JAX does not take either")
    jaxpr, _ = compat.open_jaxpr(block.index_map_jaxpr)
    location = _place(walk, jaxpr)
    return spec | ({"location": location} if location >= 0 else {})


def _words(block: Any) -> tuple[int, ...]:
    """Axes that an array of random keys has besides."""
    return types.key_words(block.array_aval.dtype) or ()


def _dim(walk: Walk, dim: Any, name: str) -> Params:
    kind = type(dim).__name__
    if kind == "Squeezed" or dim is None:
        return {"size": 1, "kind": "squeezed"}
    if kind in ("int", "Blocked"):
        return {"size": int(getattr(dim, "block_size", dim))}
    if kind == "Element":
        low, high = dim.padding
        found: Params = {"size": int(dim.block_size), "kind": "element"}
        return found | {key: int(pad) for key, pad in (("pad_low", low), ("pad_high", high))
                        if pad}
    if kind == "Indirect":
        return {"size": int(dim.block_size), "kind": "indirect"}
    if kind == "BoundedSlice":
        return {"size": int(dim.block_size), "kind": "bounded_slice"}
    walk.problem(f"the block dimension {dim} of {name}")
    return {"size": 1}


def _given_names(mapping: Any) -> list[str]:
    """Of a grid of pairs of name and extent; axes that vmap adds have None, before 0.11 nothing."""
    return [str(name) for name in mapping.grid_names or () if name is not None]


def _axis_names(mapping: Any) -> list[str]:
    """As the index maps call them, where one names them all; else i, j, k, ..."""
    given = iter(_given_names(mapping))
    if mapping.grid_names:
        return [f"vmap{axis}" if axis in mapping.vmapped_dims else next(given)
                for axis in range(len(mapping.grid))]
    rank = len(mapping.grid)
    fallback = [chr(ord("i") + axis) for axis in range(rank)]
    for block in mapping.block_mappings:
        jaxpr, _ = compat.open_jaxpr(block.index_map_jaxpr)
        names = arg_names(jaxpr)[:rank]
        if all(name.isidentifier() and len(name) < 16 for name in names) and not any(
                name.startswith(("args", "_")) for name in names):
            return names
    return fallback


def on_cores(walk: Walk, pipeline: Pipeline, cores: int) -> None:
    """The cores share the parallel axes; each has its own scalars, copied from HBM."""
    builder = walk.builder
    sources = pipeline.prefetch
    pipeline.prefetch = [builder.value(builder.types[ref]._replace(space="smem"))
                         for ref in sources]
    pipeline.core_axis = "core"
    semaphore = builder.value(Type("int32", (), "dma_semaphore"), "scalars")
    with builder.region([*pipeline.prefetch, semaphore]) as inner:
        for source, target in zip(sources, pipeline.prefetch, strict=True):
            builder.emit("dma_start", [source, target, semaphore], [])
            builder.emit("dma_wait", [target, semaphore], [])
        emit(walk, pipeline)
    with builder.region() as core:
        builder.emit("run_scoped", [], [], regions=[inner])
    builder.emit("core_map", [], [], {"axis": "core", "cores": cores}, [core])


def staged(walk: Walk, pipeline: Pipeline) -> None:
    """A kernel of one step with pipelines of its own: its blocks are copied by hand."""
    builder, mapping, body = walk.builder, pipeline.mapping, pipeline.body
    blocks = [types.ref_type(v.aval) for v in body.invars[mapping.num_index_operands:]]
    copied = [number for number, array in enumerate(pipeline.operands)
              if blocks[number].space != builder.types[array].space]
    names = arg_names(body)[mapping.num_index_operands:]
    refs = {number: builder.value(blocks[number], names[number]) for number in copied}
    semaphore = builder.value(Type("int32", (), "dma_semaphore"), "blocks")

    def copy(number: int, out: bool) -> None:
        ends = [pipeline.operands[number], refs[number]]
        source, target = reversed(ends) if out else ends
        builder.emit("dma_start", [source, target, semaphore], [])
        builder.emit("dma_wait", [target, semaphore], [])

    with builder.region([*refs.values(), semaphore]) as region:
        for number in copied:
            if number < mapping.num_inputs:
                copy(number, out=False)
        inline(walk, body, pipeline.prefetch + [refs.get(number, array) for number, array
                                                in enumerate(pipeline.operands)])
        for number in copied:
            if number >= mapping.num_inputs:
                copy(number, out=True)
    builder.emit("run_scoped", [], [], regions=[region])


def has_pipeline(jaxpr: Any) -> bool:
    """Whether an emit_pipeline is anywhere in the jaxpr."""
    inner, _ = compat.open_jaxpr(jaxpr)
    return any(eqn.primitive.name == "emit_pipeline"
               or any(has_pipeline(part) for part in compat.jaxprs_of(eqn))
               for eqn in inner.eqns)


def is_whole(block: Any) -> bool:
    """Whether the block is the array, at every step."""
    jaxpr, _ = compat.open_jaxpr(block.index_map_jaxpr)
    sizes = tuple(getattr(dim, "block_size", None) for dim in block.block_shape)
    return (sizes == tuple(block.array_aval.shape) and not jaxpr.eqns
            and all(isinstance(index, compat.Literal) for index in jaxpr.outvars))


def is_direct(walk: Walk, mapping: Any, body: Any, arrays: list[int]) -> bool:
    """Whether there is neither a grid nor a copy: the kernel sees all arrays where they are."""
    blocks = body.invars[mapping.num_index_operands:][:len(arrays)]
    return not mapping.grid and all(
        types.ref_type(v.aval).space == walk.builder.types[array].space
        for v, array in zip(blocks, arrays, strict=True))


def _emit_pipeline(walk: Walk, eqn: Any, operands: list[int]) -> list[int]:
    if eqn.params.get("tiling") is not None:
        raise NotCaptured(f"emit_pipeline with tiling {eqn.params['tiling']}")
    parts = compat.pipeline_parts(eqn, [Leaf(value) for value in operands])
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
        operands=[_ref(walk, ref) for ref in parts.refs],
        bounds=[walk.index(bound.value) for bound in parts.bounds], prefetch=[],
        index_map_consts=[
            [next(consts).value for _ in compat.open_jaxpr(block.index_map_jaxpr)[0].constvars]
            for block in mapping.block_mappings],
        body_consts=[leaf.value for leaf in parts.body_consts],
        origin="emit_pipeline", no_pipelining=bool(eqn.params["no_pipelining"]),
        core_axis=core_axis, block_axes=block_axes, divided=parts.divided,
        parallel=parallel_axes(eqn.params["dimension_semantics"]) if shared else []))
    return []


def _sharing(walk: Walk, eqn: Any) -> tuple[list[str], str]:
    """Of the axes whose cores share the grid, those of a core_map's blocks, and that of its
    cores, or nothing."""
    names = eqn.params["core_axis_name"]
    if eqn.params["core_axis"] is not None:
        raise NotCaptured("emit_pipeline that is divided otherwise than by named axes")
    given = [str(name) for name in (names if isinstance(names, (tuple, list)) else [names])]
    several = [name for name in given if walk.cores.get(name, 1) > 1]
    blocks = [name for name in several if name in walk.block_axes]
    cores = [name for name in several if name not in walk.block_axes]
    if blocks + cores != several or len(cores) > 1:
        raise NotCaptured(f"emit_pipeline that is divided by the axes {', '.join(given)} in this "
                          "order: that of the mesh is right")
    return blocks, cores[0] if cores else ""


def parallel_axes(semantics: Any) -> list[int]:
    return [axis for axis, kind in enumerate(semantics or ())
            if getattr(kind, "value", kind) == "parallel"]


def _ref(walk: Walk, ref: Any) -> int:
    if isinstance(ref, compat.TransformedRef):
        return view(walk, window(walk, ref.ref.value, ref.transforms))
    return ref.value


def kernel_name(eqn: Any, body: Any) -> str:
    return str(eqn.params.get("name") or name_of_function(body))


@contextlib.contextmanager
def scratch(walk: Walk, refs: list[int]) -> Iterator[None]:
    """What is emitted meanwhile sees the refs, which live as long."""
    if not refs:
        yield
        return
    with walk.builder.region(refs) as region:
        yield
    walk.builder.emit("run_scoped", [], [], regions=[region])


def inline(walk: Walk, body: Any, refs: list[int]) -> None:
    """A kernel without blocks; its further arguments are scratch that lives while it runs."""
    own = [walk.builder.value(types.ref_type(v.aval), name) for v, name
           in zip(body.invars[len(refs):], arg_names(body)[len(refs):], strict=True)]
    with scratch(walk, own), walk.in_kernel(body):
        walk.run(body, refs + own)


def _same(_: Walk, __: Any, operands: list[int]) -> list[int]:
    return operands


RULES: dict[str, Rule] = {"emit_pipeline": _emit_pipeline, compat.LIST: _same}
