"""Rules of loads, stores and atomic operations in kernels for Triton. A block of an array is a
place in GMEM; what is accessed is worked out from there, element by element if need be."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator, Sequence
from typing import Any

from pallascope.jax_compat import ref_types
from pallascope.problems import NotCaptured
from pallascope.program import INDEX, Type
from pallascope.rules import memory
from pallascope.rules.lines import Line, line_of
from pallascope.rules.ref_transforms import Axis, Window, view
from pallascope.walk import Leaf, Rule, Walk


@dataclasses.dataclass
class Dim:
    """A block along one axis of its array. `start` is a value, an int32 scalar."""

    start: int
    size: int
    kept: bool  # false for an axis that the kernel's ref does not have
    is_masked: bool  # whether Triton leaves out what is not in the array


@dataclasses.dataclass
class Block:
    array: int  # a ref in GMEM
    dims: list[Dim]


@dataclasses.dataclass
class Reach:
    """What an access reaches: a window of the array or, if indices are arrays, listed elements."""

    window: Window
    lists: list[int] | None  # for each axis of the array
    shape: tuple[int, ...]  # of what is loaded or stored
    inside: int | None  # a mask of that shape: which elements Triton takes to be in the array


def _start(walk: Walk, index: Any) -> int:
    return walk.index(index.value) if isinstance(index, Leaf) else walk.builder.index(int(index))


def _is_list(walk: Walk, index: Any) -> bool:
    return isinstance(index, Leaf) and walk.builder.types[index.value].shape != ()


def _by_dim(block: Block, indices: list[Any]) -> Iterator[tuple[Dim, Any]]:
    """Returns the index of each axis of the block; 0 for one that the ref does not have."""
    given = iter(indices)
    return ((dim, next(given) if dim.kept else 0) for dim in block.dims)


def _sliced(walk: Walk, dim: Dim, index: Any) -> Axis:
    start = walk.builder.add_index(dim.start, _start(walk, index.start))
    return Axis(start, int(index.size), int(index.stride))


def reach(walk: Walk, ref: int, transforms: Sequence[Any]) -> Reach:
    """Applies one indexer to the place of the block, as Triton's lowering does
    (_compute_offsets_from_indices in jax/_src/pallas/triton/lowering.py)."""
    block = walk.gpu_blocks.get(ref)
    if block is None:
        raise NotCaptured("memory that is no operand of the pallas_call, on a GPU")
    if len(transforms) > 1 or any(ref_types.transform_kind(one) != "index" for one in transforms):
        raise NotCaptured("a ref that is indexed twice, or reshaped, in a pallas_call on a GPU")
    kept = [dim for dim in block.dims if dim.kept]
    indices: list[Any] = ([ref_types.Slice(0, dim.size) for dim in kept] if not transforms
                          else list(transforms[0].indices))
    if any(_is_list(walk, index) for index in indices):
        return _listed(walk, block, indices, tuple(transforms[0].int_indexer_shape))
    axes = [_sliced(walk, dim, index) if isinstance(index, ref_types.Slice) else Axis(
        walk.builder.add_index(dim.start, _start(walk, index)), 1, kept=False)
        for dim, index in _by_dim(block, indices)]
    window = Window(block.array, axes)
    return Reach(window, None, window.shape(), _inside_window(walk, block, window))


def _inside_window(walk: Walk, block: Block, window: Window, also: bool = False) -> int | None:
    """Returns a mask of what Triton takes to be in the array; `also`: of what is, along every axis.
    """
    shape, axis_of = window.shape(), 0
    found: int | None = None
    extents = walk.builder.types[block.array].shape
    for dim, axis, extent in zip(block.dims, window.axes, extents, strict=True):
        known = walk.builder.known(axis.start)
        certain = known is not None and 0 <= known and (
            known + (axis.size - 1) * axis.stride < extent)
        if (dim.is_masked or also) and not certain:
            places = _places(walk, axis, shape, axis_of)
            found = _both(walk, found, _below(walk, places, extent))
        axis_of += axis.kept
    return found


def _places(walk: Walk, axis: Axis, shape: tuple[int, ...], number: int) -> int:
    """Returns the place along an axis of the array of each element of the shape, in which the axis
    has this number."""
    builder = walk.builder
    if not axis.kept:
        return builder.broadcast(axis.start, shape)
    line = Type("int32", (axis.size,))
    steps = builder.one("iota", [], line, {"dtype": "int32", "shape": [axis.size], "dimension": 0})
    if axis.stride != 1:
        steps = builder.one("mul", [steps, builder.broadcast(builder.index(axis.stride),
                                                             line.shape)], line)
    if builder.known(axis.start) != 0:
        steps = builder.one("add", [builder.broadcast(axis.start, line.shape), steps], line)
    return _along(walk, steps, shape, number)


def _along(walk: Walk, line: int, shape: tuple[int, ...], number: int) -> int:
    type_ = walk.builder.types[line]
    if type_.shape == shape:
        return line
    return walk.builder.one("broadcast_in_dim", [line], Type(type_.dtype, shape),
                            {"shape": list(shape), "dimensions": [number]})


def _below(walk: Walk, places: int, extent: int) -> int:
    """Returns where the places are in the array. Triton compares them without a sign."""
    builder = walk.builder
    shape = builder.types[places].shape
    found = builder.convert(places, "uint32")
    end = builder.broadcast(builder.literal("uint32", extent), shape)
    return builder.one("lt", [found, end], Type("bool", shape))


def _both(walk: Walk, a: int | None, b: int | None) -> int | None:
    if a is None or b is None:
        return b if a is None else a
    return walk.builder.one("and", [a, b], walk.builder.types[b])


def _listed(walk: Walk, block: Block, indices: list[Any], lists: tuple[int, ...]) -> Reach:
    """Lists the elements. The axes of the indices that are arrays come first, then those of slices.
    """
    builder = walk.builder
    window = _counted(walk, block, indices, lists)
    if window is not None:
        return Reach(window, None, window.shape(), _inside_window(walk, block, window))
    shape = lists + tuple(int(index.size) for index in indices
                          if isinstance(index, ref_types.Slice))
    number, inside = len(lists), None
    found = []
    for (dim, index), extent in zip(_by_dim(block, indices), builder.types[block.array].shape,
                                    strict=True):
        if isinstance(index, ref_types.Slice):
            places = _places(walk, _sliced(walk, dim, index), shape, number)
            number += 1
        elif _is_list(walk, index):
            places = _spread(walk, builder.convert(index.value, INDEX.dtype), shape, lists)
            if builder.known(dim.start) != 0:
                places = builder.one("add", [builder.broadcast(dim.start, shape), places],
                                     builder.types[places])
        else:
            places = builder.broadcast(builder.add_index(dim.start, _start(walk, index)), shape)
        if dim.is_masked:
            inside = _both(walk, inside, _below(walk, places, extent))
        found.append(flat(walk, places))
    axes = [Axis(builder.index(0), extent) for extent in builder.types[block.array].shape]
    return Reach(Window(block.array, axes), found, shape, inside)


def _counted(walk: Walk, block: Block, indices: list[Any],
             lists: tuple[int, ...]) -> Window | None:
    """Returns the window that the indices reach if each array of them counts along an axis of its
    own, so that they come to a slice."""
    axes: list[Axis] = []
    count = 0
    for dim, index in _by_dim(block, indices):
        if isinstance(index, ref_types.Slice):
            axes.append(_sliced(walk, dim, index))
            if count < len(lists):
                return None
            continue
        line = Line(_start(walk, index)) if not _is_list(walk, index) else line_of(
            walk.builder, index.value)
        if line is not None and line.step == 0:
            axes.append(Axis(walk.builder.add_index(dim.start, line.start), 1, kept=False))
            continue
        missing = 0 if line is None else len(lists) - len(walk.builder.types[index.value].shape)
        if line is None or line.step < 1 or line.axis + missing != count:
            return None
        axes.append(Axis(walk.builder.add_index(dim.start, line.start), lists[count], line.step))
        count += 1
    return Window(block.array, axes) if count == len(lists) else None


def _spread(walk: Walk, value: int, shape: tuple[int, ...], lists: tuple[int, ...]) -> int:
    type_ = walk.builder.types[value]
    if type_.shape == shape:
        return value
    first = len(lists) - len(type_.shape)
    return walk.builder.one("broadcast_in_dim", [value], Type(type_.dtype, shape), {
        "shape": list(shape), "dimensions": list(range(first, len(lists)))})


def flat(walk: Walk, value: int) -> int:
    """Returns the elements in a row."""
    type_ = walk.builder.types[value]
    return _shaped(walk, value, (math.prod(type_.shape),))


def _shaped(walk: Walk, value: int, shape: tuple[int, ...]) -> int:
    type_ = walk.builder.types[value]
    if type_.shape == shape:
        return value
    return walk.builder.one("reshape", [value], type_._replace(shape=shape),
                            {"shape": list(shape)})


def _full(walk: Walk, value: int, shape: tuple[int, ...]) -> int:
    """Returns the value as an array of the shape; axes in front may be missing."""
    type_ = walk.builder.types[value]
    if type_.shape and len(type_.shape) < len(shape):
        value = _shaped(walk, value, (1,) * (len(shape) - len(type_.shape)) + type_.shape)
    return walk.builder.broadcast(value, shape)


def _mask(walk: Walk, mask: Any, to: Reach) -> int | None:
    given = None if mask is None else _full(walk, mask.value, to.shape)
    return _both(walk, given, to.inside)


def load(walk: Walk, to: Reach, mask: Any = None, other: Any = None) -> int:
    """Returns what is loaded. Where the mask is false it is `other`, or undefined."""
    builder = walk.builder
    wanted, taken = Type(builder.types[to.window.ref].dtype, to.shape), _mask(walk, mask, to)
    rest = None if other is None else builder.convert(_full(walk, other.value, to.shape),
                                                      wanted.dtype)
    if to.lists is not None:
        masks = [] if taken is None else [flat(walk, taken)]
        row = builder.one("load_gather", [to.window.ref, *to.lists, *masks],
                          Type(wanted.dtype, (math.prod(to.shape),)))
        found = _shaped(walk, row, to.shape)
        return found if taken is None or rest is None else builder.one(
            "select_n", [taken, rest, found], wanted)
    if taken is None:
        return memory.load(walk, to.window)
    return builder.one("masked_load", [view(walk, to.window), taken]
                       + ([] if rest is None else [rest]), wanted)


def store(walk: Walk, to: Reach, value: int, mask: Any, is_old_used: bool) -> list[int]:
    """Returns what was there before, which nearly nobody uses."""
    builder = walk.builder
    value, taken = _full(walk, value, to.shape), _mask(walk, mask, to)
    if to.lists is not None:
        masks = [] if taken is None else [flat(walk, taken)]
        old = (load(walk, to, mask) if is_old_used else builder.value(builder.types[value]))
        builder.emit("store_scatter", [to.window.ref, flat(walk, value), *to.lists, *masks], [])
        return [old]
    if taken is None:
        return [memory.store(walk, to.window, value)]
    return builder.emit("masked_swap", [view(walk, to.window), value, taken],
                        [builder.types[value]])


def _get(walk: Walk, eqn: Any, operands: list[int]) -> list[int]:
    ref, *further = operands
    if walk.builder.types[ref].space is None:
        return [ref]
    return [load(walk, reach(walk, ref, _tree(eqn, further)))]


def _tree(eqn: Any, further: list[int]) -> tuple[Any, ...]:
    return tuple(eqn.params["tree"].unflatten([Leaf(value) for value in further]))


def _swap(walk: Walk, eqn: Any, operands: list[int]) -> list[int]:
    ref, value, *further = operands
    return store(walk, reach(walk, ref, _tree(eqn, further)), value, None, walk.uses(eqn))


def _args(eqn: Any, operands: list[int]) -> Any:
    return eqn.params["args_tree"].unflatten([Leaf(value) for value in operands])


def reach_of(walk: Walk, eqn: Any, operands: list[int]) -> Reach:
    """Returns what a get or masked_load reaches."""
    if eqn.primitive.name == "get":
        return reach(walk, operands[0], _tree(eqn, operands[1:]))
    ref, transforms, _, _ = _args(eqn, operands)
    return reach(walk, ref.value, transforms)


def taken_by(walk: Walk, eqn: Any, operands: list[int], to: Reach) -> int | None:
    """Returns which elements of what it reaches a get or masked_load takes; None: all."""
    return _mask(walk, None if eqn.primitive.name == "get" else _args(eqn, operands)[2], to)


def all_inside(walk: Walk, ref: int, to: Reach) -> int | None:
    """Returns which elements are in the array; None: certainly all."""
    return _inside_window(walk, walk.gpu_blocks[ref], to.window, also=True)


def from_tile(walk: Walk, eqn: Any, operands: list[int], tile: int) -> int:
    """Returns what a get or masked_load yields, given what it reaches, which was brought before."""
    if eqn.primitive.name == "get":
        return tile
    ref, transforms, mask, other = _args(eqn, operands)
    to = reach(walk, ref.value, transforms)
    taken = _mask(walk, mask, to)
    if taken is None or other is None:
        return tile
    kind = walk.builder.types[tile]
    rest = walk.builder.convert(_full(walk, other.value, to.shape), kind.dtype)
    return walk.builder.one("select_n", [taken, rest, tile], kind)


def _masked_load(walk: Walk, eqn: Any, operands: list[int]) -> list[int]:
    ref, transforms, mask, other = _args(eqn, operands)
    return [load(walk, reach(walk, ref.value, transforms), mask, other)]


def _masked_swap(walk: Walk, eqn: Any, operands: list[int]) -> list[int]:
    ref, transforms, value, mask = _args(eqn, operands)
    return store(walk, reach(walk, ref.value, transforms), value.value, mask, walk.uses(eqn))


def atomic(walk: Walk, to: Reach, kind: str, value: int, mask: Any = None) -> int:
    """Returns what was there before."""
    builder = walk.builder
    value, taken = _full(walk, value, to.shape), _mask(walk, mask, to)
    wanted = builder.types[value]
    masks = [] if taken is None else [taken]
    if to.lists is None:
        return builder.one("atomic_rmw", [view(walk, to.window), value, *masks], wanted,
                           {"atomic_type": kind})
    row = flat(walk, value)
    found = builder.one("atomic_rmw", [to.window.ref, row, *to.lists,
                                       *(flat(walk, one) for one in masks)],
                        builder.types[row], {"atomic_type": kind, "listed": True})
    return _shaped(walk, found, to.shape)


def _atomic_rmw(walk: Walk, eqn: Any, operands: list[int]) -> list[int]:
    ref, transforms, value, mask = _args(eqn, operands)
    to = reach(walk, ref.value, transforms)
    return [atomic(walk, to, str(eqn.params["atomic_type"].value), value.value, mask)]


def _addupdate(walk: Walk, eqn: Any, operands: list[int]) -> list[int]:
    """Adds atomically, as Triton does."""
    ref, value, *further = operands
    atomic(walk, reach(walk, ref, _tree(eqn, further)), "add", value)
    return []


def _atomic_cas(walk: Walk, eqn: Any, operands: list[int]) -> list[int]:
    ref, expected, value = operands
    to = reach(walk, ref, ())
    return [walk.builder.one("atomic_cas", [view(walk, to.window), expected, value],
                             walk.type_of(eqn.outvars[0]))]


RULES: dict[str, Rule] = {
    "get": _get,
    "swap": _swap,
    "masked_load": _masked_load,
    "masked_swap": _masked_swap,
    "addupdate": _addupdate,
    "atomic_rmw": _atomic_rmw,
    "atomic_cas": _atomic_cas,
}
