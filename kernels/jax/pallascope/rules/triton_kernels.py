"""pl.pallas_call on a GPU, which JAX gives to Triton: a block of threads for each point of the
grid. Its operands lie in GMEM, and blocks are only places in them."""

from __future__ import annotations

from typing import Any

from pallascope import types
from pallascope.jax_compat import jaxprs, triton_equations
from pallascope.problems import NotCaptured
from pallascope.program import INDEX, Params, Type
from pallascope.rules import (grids, triton_loops, triton_memory, triton_products,
                              triton_values)
from pallascope.rules.gpu_kernels import names_apart, refused_on_gpus
from pallascope.rules.triton_memory import Block
from pallascope.sources import arg_names
from pallascope.walk import Leaf, Rule, Walk

_WARP = 32
_AGENT = "block"  # the axis of the core_map that counts its one agent
_WARPGROUP = 128  # threads, the default of a core_map


def emit(walk: Walk, eqn: Any, body: Any, arrays: list[int]) -> None:
    """Emits the kernel in every block of the grid. `arrays` are its inputs and outputs, in GMEM."""
    mapping, asked = eqn.params["grid_mapping"], triton_equations.asked_of(eqn)
    _check(walk, mapping, body, asked)
    names = names_apart([*grids.axis_names(mapping), _AGENT])
    walk.axis_texts = dict(enumerate(names[:-1]))
    walk.axis_texts |= {name: names[axis] for axis, name in enumerate(mapping.grid_names or ())
                        if name is not None}
    walk.program_axes = [axis for axis in range(len(mapping.grid))
                         if axis not in mapping.vmapped_dims]
    walk.grid_sizes = [_known(extent) for extent in mapping.grid]
    walk.warps, walk.stages = asked.warps, asked.stages
    with walk.by(RULES), walk.builder.region() as region:
        refs = _blocks(walk, mapping, body, arrays)
        with walk.in_kernel(body):
            walk.run(body, refs + [walk.builder.value(_ref_type(v.aval))
                                   for v in body.invars[len(refs):]])
    params: Params = {"axis": names[-1], "cores": 1, "direct_access": True,
                      "compiler": "triton"}
    if mapping.grid:
        params["grid"] = [{"name": names[axis], "size": walk.grid_sizes[axis]}
                          for axis in _slowest_first(mapping)]
    if asked.warps * _WARP != _WARPGROUP:
        params["threads"] = asked.warps * _WARP
    walk.builder.emit("core_map", [], [], params, [region])


def _slowest_first(mapping: Any) -> list[int]:
    """Returns the axes in the order in which CUDA counts blocks: x is the first axis of the grid,
    and the axes that vmap adds come after all others (_process_grid_to_3d_grid in
    jax/_src/pallas/triton/lowering.py)."""
    own = [axis for axis in range(len(mapping.grid)) if axis not in mapping.vmapped_dims]
    return [*sorted(mapping.vmapped_dims), *reversed(own)]


def _known(extent: Any) -> int:
    return int(extent) if isinstance(extent, int) else 1


def _check(walk: Walk, mapping: Any, body: Any, asked: triton_equations.Asked) -> None:
    """Names what Triton does not take either."""
    if mapping.num_dynamic_grid_bounds:
        walk.problem("a grid whose extents are known only at run time, on a GPU")
    if mapping.num_index_operands:
        walk.problem("scalar prefetch on a GPU")
    if len(body.invars) > mapping.num_index_operands + len(mapping.block_mappings):
        walk.problem("scratch of a pallas_call on a GPU")
    if asked.warps not in (1, 2, 4, 8, 16, 32):
        walk.problem(f"num_warps={asked.warps}: expected a power of 2 up to 32")


def _ref_type(aval: Any) -> Type:
    """Returns the type of a block, or of scratch, for what follows from it alone."""
    inner = getattr(aval, "inner_aval", aval)
    return Type(types.dtype_of(inner.dtype), types.shape_of(inner), "hbm")


def _blocks(walk: Walk, mapping: Any, body: Any, arrays: list[int]) -> list[int]:
    """Returns a ref for each block, which only stands for its place in its array."""
    builder = walk.builder
    places = [builder.one("axis_index", [], INDEX, {"text": walk.axis_texts[axis]})
              for axis in range(len(mapping.grid))]
    names = arg_names(body, grids.roles(mapping, body))[mapping.num_index_operands:]
    scalars = [builder.value(_ref_type(v.aval)) for v in body.invars[:mapping.num_index_operands]]
    refs = []
    for block, array, v, name in zip(mapping.block_mappings, arrays,
                                     body.invars[mapping.num_index_operands:], names,
                                     strict=False):
        refs.append(builder.value(_ref_type(v.aval), name))
        try:
            walk.gpu_blocks[refs[-1]] = _block(walk, block, array, places + scalars)
        except NotCaptured as reason:
            walk.problem(str(reason))
            walk.gpu_blocks[refs[-1]] = Block(array, [
                triton_memory.Dim(builder.index(0), extent, True, False)
                for extent in builder.types[array].shape])
    return scalars + refs


def _block(walk: Walk, block: Any, array: int, places: list[int]) -> Block:
    if block.pipeline_mode is not None:
        raise NotCaptured("the pipeline mode of a block spec on a GPU")
    builder = walk.builder
    found = walk.run(block.index_map_jaxpr, places)
    tree = block.index_map_out_tree.unflatten([Leaf(value) for value in found])
    indices = tree if isinstance(tree, (tuple, list)) else (tree,)
    dims = []
    for index, dim, extent in zip(indices, block.block_shape, builder.types[array].shape,
                                  strict=True):
        kind = type(dim).__name__
        place = (walk.index(index.value) if isinstance(index, Leaf) else builder.index(int(index)))
        if kind == "Squeezed" or dim is None:
            dims.append(triton_memory.Dim(place, 1, False, False))
        elif kind in ("int", "Blocked"):
            size = int(getattr(dim, "block_size", dim))
            dims.append(triton_memory.Dim(builder.scale_index(place, size), size, True,
                                          extent % size != 0))
        elif kind == "Element" and tuple(dim.padding) == (0, 0):
            dims.append(triton_memory.Dim(place, int(dim.block_size), True, dim.block_size > 1))
        else:
            raise NotCaptured(f"the block dimension {dim} on a GPU")
    return Block(array, dims)


def _axis_index(walk: Walk, eqn: Any, operands: list[int]) -> list[int]:
    name = eqn.params["axis_name"]
    text = walk.axis_texts.get(name) or (str(name) if name in walk.devices else None)
    if text is None:
        raise NotCaptured(f"axis_index of {name}, which neither the grid nor a mesh of devices has")
    return [walk.builder.one("axis_index", [], INDEX, {"text": text})]


def _axis(walk: Walk, eqn: Any) -> int:
    axis = eqn.params["axis"]
    if axis >= len(walk.program_axes):
        raise NotCaptured(f"{eqn.primitive.name} of axis {axis} without such a grid axis")
    return walk.program_axes[axis]


def _program_id(walk: Walk, eqn: Any, operands: list[int]) -> list[int]:
    return [walk.builder.one("axis_index", [], INDEX,
                             {"text": walk.axis_texts[_axis(walk, eqn)]})]


def _num_programs(walk: Walk, eqn: Any, operands: list[int]) -> list[int]:
    return [walk.builder.index(walk.grid_sizes[_axis(walk, eqn)])]


def _of_mosaic(walk: Walk, eqn: Any, operands: list[int]) -> list[int]:
    raise NotCaptured(f"primitive {eqn.primitive.name} in a pallas_call on a GPU: use plgpu.kernel")


RULES: dict[str, Rule] = {
    **refused_on_gpus(),
    **dict.fromkeys(["run_scoped", "wgmma", "copy_gmem_to_smem", "copy_smem_to_gmem",
                     "barrier_arrive", "barrier_wait"], _of_mosaic),
    **triton_loops.RULES, **triton_memory.RULES, **triton_products.RULES, **triton_values.RULES,
    "axis_index": _axis_index,
    "program_id": _program_id,
    "num_programs": _num_programs,
}
