"""Grids of pipelines: their extents, and the names of their axes."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

from pallascope.jax_compat import jaxprs
from pallascope.problems import NotCaptured
from pallascope.sources import arg_names
from pallascope.walk import Walk


@dataclasses.dataclass
class Pipeline:
    """A pipeline whose operands are refs of the program."""

    mapping: Any  # JAX's GridMapping
    body: Any  # the jaxpr of the body
    operands: list[int]  # one ref for each block mapping
    bounds: list[int]  # one int32 scalar for each dynamic grid axis
    prefetch: list[int]  # scalar prefetch: more refs for index maps and body
    index_map_consts: list[list[int]]
    body_consts: list[int]
    origin: str
    no_pipelining: bool = False
    core_axis: str = ""  # of a mesh of several cores that share the grid
    # Axes whose blocks share the grid, too.
    block_axes: list[str] = dataclasses.field(default_factory=list)
    parallel: list[int] = dataclasses.field(default_factory=list)  # grid axes that may be shared
    # Grid axes that are cut among the cores already.
    divided: list[int] = dataclasses.field(default_factory=list)


def grid_of(walk: Walk, pipeline: Pipeline) -> list[int]:
    """Returns the grid of all cores together."""
    grid = [extent if isinstance(extent, int) else -1 for extent in pipeline.mapping.grid]
    for axis in pipeline.divided:
        if grid[axis] < 0:
            raise NotCaptured("emit_pipeline whose grid does not divide evenly among cores")
        sharing = [*pipeline.block_axes, *([pipeline.core_axis] if pipeline.core_axis else [])]
        grid[axis] *= math.prod(walk.cores[name] for name in sharing)
    return grid


def given_names(mapping: Any) -> list[str]:
    """Returns the names of a grid that is given as pairs of name and extent. Axes that vmap adds
    have the name None; before JAX 0.11 they have no entry."""
    return [str(name) for name in mapping.grid_names or () if name is not None]


def roles(mapping: Any, body: Any) -> list[str]:
    """Returns what each argument of the body is: a scalar, an input, an output, or scratch."""
    blocks = len(mapping.block_mappings)
    known = (["scalars"] * mapping.num_index_operands + ["in"] * mapping.num_inputs
             + ["out"] * (blocks - mapping.num_inputs))
    return known + ["scratch"] * (len(body.invars) - len(known))


def axis_names(mapping: Any) -> list[str]:
    """Returns the names that an index map gives to all axes, if there is such a map; otherwise i,
    j, k, ..."""
    given = iter(given_names(mapping))
    if mapping.grid_names:
        return [f"vmap{axis}" if axis in mapping.vmapped_dims else next(given)
                for axis in range(len(mapping.grid))]
    rank = len(mapping.grid)
    fallback = [chr(ord("i") + axis) for axis in range(rank)]
    for block in mapping.block_mappings:
        jaxpr, _ = jaxprs.open_jaxpr(block.index_map_jaxpr)
        names = arg_names(jaxpr)[:rank]
        if all(name.isidentifier() and len(name) < 16 for name in names) and not any(
                name.startswith(("args", "_")) for name in names):
            return names
    return fallback


def parallel_axes(semantics: Any) -> list[int]:
    return [axis for axis, kind in enumerate(semantics or ())
            if getattr(kind, "value", kind) == "parallel"]
