"""Block specs of a pipeline, with their index maps as regions."""

from __future__ import annotations

from typing import Any

from pallascope import types
from pallascope.jax_compat import caller_buffers, jaxprs, ref_types
from pallascope.problems import NotCaptured
from pallascope.program import INDEX, Params, Region
from pallascope.rules import index_maps
from pallascope.rules.grids import Pipeline, axis_names
from pallascope.sources import place_of_function
from pallascope.walk import Leaf, Walk


def index_map_region(walk: Walk, pipeline: Pipeline, block: Any, consts: list[int]) -> Region:
    """Returns the region of an index map, which takes scalars and yields scalars.

    For a BoundedSlice it yields the start and the size, and for an Indirect dimension an array of
    indices.
    """
    arguments = [walk.builder.value(INDEX, name) for name in axis_names(pipeline.mapping)]
    outer = walk.builder.location
    jaxpr, _ = jaxprs.open_jaxpr(block.index_map_jaxpr)
    walk.builder.location = _location(walk, jaxpr)
    with walk.builder.region(arguments) as region, walk.by(index_maps.RULES):
        found = walk.run(jaxpr, arguments + pipeline.prefetch, constants=consts)
        tree = block.index_map_out_tree.unflatten([Leaf(value) for value in found])
        indices = tree if isinstance(tree, (tuple, list)) else (tree,)
        for index, dim in zip(indices, block.block_shape, strict=True):
            if type(dim).__name__ == "Indirect":
                region.results.append(_list(walk, index, int(dim.block_size)))
                continue
            parts = [index.start, index.size] if isinstance(index, ref_types.Slice) else [index]
            region.results += [walk.index(part.value) if isinstance(part, Leaf)
                               else walk.builder.index(int(part)) for part in parts]
        region.results += [walk.builder.index(0) for _ in _words(block)]
    walk.builder.location = outer
    return region


def _location(walk: Walk, index_map: Any) -> int:
    """Returns the place of an index map, or that of the pipeline if the map is a partial or not an
    author's function."""
    number = walk.locations.number(place_of_function(index_map))
    return number if number >= 0 else walk.builder.location


def _list(walk: Walk, index: Any, size: int) -> int:
    """Returns the indices of an Indirect block. If there are fewer than the block holds, the rest
    of its slot is not filled."""
    shape = walk.builder.types[index.value].shape if isinstance(index, Leaf) else ()
    if len(shape) != 1 or shape[0] > size:
        raise NotCaptured(f"an Indirect block of {size} whose index map yields indices of shape "
                          f"{shape}")
    return walk.builder.convert(index.value, INDEX.dtype)


def block_spec(walk: Walk, block: Any, name: str, is_output: bool, origin: str) -> Params:
    if getattr(block, "transforms", ()):
        raise NotCaptured(f"the transforms of the block spec of {name}")
    spec: Params = {"name": name, "block": [_dim(walk, dim, name) for dim in block.block_shape]
                    + [{"size": extent} for extent in _words(block)]}
    if is_output:
        spec["direction"] = "out"
    mode = block.pipeline_mode
    if isinstance(mode, caller_buffers.ReadToo):
        spec |= {"direction": "inout", "in_buffers": mode.buffer_count,
                 "out_buffers": mode.out_count}
    elif mode is not None:
        count = getattr(mode, "buffer_count", None)
        if not isinstance(count, int):
            walk.problem(f"the pipeline mode {mode} of {name}")
        elif count > 2 and origin == "pallas_call":
            walk.problem(f"{count} buffers of {name}, of which JAX gives a pallas_call 1 or 2; "
                         "pltpu.emit_pipeline takes any number")
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
    jaxpr, _ = jaxprs.open_jaxpr(block.index_map_jaxpr)
    location = _location(walk, jaxpr)
    return spec | ({"location": location} if location >= 0 else {})


def _words(block: Any) -> tuple[int, ...]:
    """Returns the additional axes of an array of random keys, which hold the keys' words."""
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
