"""emit_pipeline as one equation, for versions of JAX without such an equation (up to 0.10.0).

In these versions, emit_pipeline becomes loops, branches and manual DMAs. While a function is traced
for capture, `pipelines_whole` replaces it by a function that becomes an equation like that of JAX
0.10.2.
"""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Callable, Iterator
from typing import Any

import jax
import numpy
from jax._src import api_util, linear_util, tree_util
from jax._src import core as jax_core
from jax._src.interpreters import partial_eval
from jax._src.pallas import core as pallas_core
from jax._src.pallas.mosaic import pipeline as mosaic_pipeline
from jax._src.state import types as state_types

from pallascope.jax_compat import (accumulating_outputs, caller_buffers, emit_pipeline_patch,
                                   pipeline_bodies)

# The registry in which a TransformedRef is a tree. Up to JAX 0.9 it is in none.
_trees = getattr(tree_util, "tracing_registry", tree_util.default_registry)


class _View:
    """A TransformedRef in a tree of refs that is flattened. It becomes a TransformedRef again when
    the tree is built."""

    def __init__(self, view: Any) -> None:
        self.parts = (view.ref, view.transforms)


jax.tree_util.register_pytree_node(
    _View, lambda view: (view.parts, None), lambda _, parts: state_types.TransformedRef(*parts))

# Keeps JAX from reusing traces that were made without this replacement, and the other way round.
_whole = jax.make_user_context(False)

_equation = jax_core.Primitive("emit_pipeline")
_equation.multiple_results = True

caller_buffers.keep_equation(_equation)


@contextlib.contextmanager
def pipelines_whole() -> Iterator[None]:
    """Makes emit_pipeline become one equation."""
    with emit_pipeline_patch.patched(lambda _: _emit_pipeline), _whole(True):
        yield


def _emit_pipeline(body: Callable[..., None], *, trace_scopes: bool = True,
                   _explicit_indices: bool = False, should_accumulate_out: Any = False,
                   **params: Any) -> Callable[..., None]:
    """Replaces emit_pipeline. The function that it returns raises NotImplementedError for what the
    equation cannot express; capture then takes the pipeline apart, as JAX does."""
    def run(*refs: Any, **given: Any) -> None:
        starts_at_zero = accumulating_outputs.check_alone(given)
        kernel = pipeline_bodies.with_all_arguments(body, _explicit_indices, params, **given)
        allocations = given.get("allocations")
        if any(jax.tree.leaves(should_accumulate_out)):
            accumulating_outputs.bind(_bind, kernel, refs, allocations, should_accumulate_out,
                                      starts_at_zero, **params)
            return
        if allocations is not None and starts_at_zero is not False:
            raise NotImplementedError  # outputs that are also fetched would then not be
        _bind(kernel, refs, **caller_buffers.take_buffers(allocations, refs, params))

    return run


def _bind(body: Callable[..., None], refs: tuple[Any, ...], grid: Any, in_specs: Any = (),
          out_specs: Any = (), tiling: Any = None, core_axis: Any = None,
          core_axis_name: Any = None, dimension_semantics: Any = None,
          no_pipelining: bool = False) -> None:
    shares, offsets = mosaic_pipeline._partition_grid(
        grid, core_axis_name if core_axis is None else core_axis, dimension_semantics)
    mapping, blocks, bounds = _mapped(shares, _specs(in_specs), _specs(out_specs), refs)
    with mapping.trace_env():
        jaxpr, consts, results = _jaxpr_of(body, blocks)
    if results.num_leaves:
        raise NotImplementedError
    of_maps = [const for block in mapping.block_mappings
               for const in block.index_map_jaxpr.consts]
    moved = [offset for offset in offsets if isinstance(offset, jax.Array)]
    operands, tree = jax.tree.flatten(jax.tree.map(
        lambda leaf: _View(leaf) if _is_view(leaf) else leaf, refs, is_leaf=_is_view))
    _equation.bind(
        *of_maps, *bounds, *moved, *consts, *operands,
        body_jaxpr=jaxpr, body_consts_len=len(consts), grid_mapping=mapping, args_tree=tree,
        tiling=tiling, core_axis=core_axis, core_axis_name=core_axis_name,
        dimension_semantics=dimension_semantics, no_pipelining=no_pipelining,
        _num_extra_dynamic=len(moved),
        _static_grid_offsets=tuple(None if isinstance(offset, jax.Array) else offset
                                   for offset in offsets))


def _specs(specs: Any) -> tuple[Any, ...]:
    return tuple(jax.tree.leaves(specs))


def _is_view(leaf: Any) -> bool:
    return isinstance(leaf, state_types.TransformedRef)


def _mapped(grid: Any, in_specs: tuple[Any, ...], out_specs: tuple[Any, ...],
            refs: tuple[Any, ...]) -> tuple[Any, Any, list[Any]]:
    """Returns JAX's grid mapping, the blocks that the body gets (as a tree like refs), and the
    dynamic bounds."""
    leaves, tree = _trees.flatten(refs, _is_view)
    avals = [mosaic_pipeline._ref_to_value_aval(leaf) for leaf in leaves]
    maps = [_open_map(spec, len(grid)) for spec in in_specs + out_specs]
    specs = tuple(spec for spec, _ in maps)
    spec, bounds = pallas_core.unzip_dynamic_grid_bounds(pallas_core.GridSpec(
        grid=grid, in_specs=specs[:len(in_specs)], out_specs=specs[len(in_specs):]))
    ends = [(part, jax.tree.structure(tuple(part)), [""] * len(part))
            for part in (avals[:len(in_specs)], avals[len(in_specs):])]
    blocks, mapping = pallas_core.get_grid_mapping(spec, *ends[0], *ends[1])
    mapping = dataclasses.replace(mapping, block_mappings=tuple(
        block if own is None else dataclasses.replace(block, index_map_jaxpr=own)
        for block, (_, own) in zip(mapping.block_mappings, maps, strict=True)))
    return mapping, tree.unflatten(blocks), list(bounds)


def _open_map(spec: Any, rank: int) -> tuple[Any, Any]:
    """JAX refuses an index map that uses values of the enclosing kernel. For such a map, returns
    the spec with a map that uses none, and the jaxpr of the spec's own map. For any other map,
    returns the spec as it is, and None."""
    if getattr(spec, "index_map", None) is None:
        return spec, None
    index = jax_core.ShapedArray((), numpy.dtype("int32"))
    jaxpr, consts, results = _jaxpr_of(spec.index_map, (index,) * rank)
    if not consts:
        return spec, None
    zeros = results.unflatten([numpy.int32(0)] * results.num_leaves)
    return spec.replace(index_map=lambda *_: zeros), jax_core.ClosedJaxpr(jaxpr, consts)


def _jaxpr_of(function: Callable[..., Any], arguments: Any) -> tuple[Any, list[Any], Any]:
    """Returns the jaxpr, what it closes over, and the tree of its results."""
    flat, tree = _trees.flatten(arguments, _is_view)
    about = api_util.debug_info("emit_pipeline", function, arguments, {})
    flattened, results = api_util.flatten_fun_nokwargs(
        linear_util.wrap_init(function, debug_info=about), tree)
    jaxpr, _, consts = partial_eval.trace_to_jaxpr_dynamic(flattened, tuple(flat))
    return jaxpr, list(consts), results()
