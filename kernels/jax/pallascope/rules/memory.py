"""Rules of the primitives that load and store."""

from __future__ import annotations

from typing import Any

from pallascope.problems import NotCaptured
from pallascope.program import Type
from pallascope.rules import flags_in_memory
from pallascope.rules.ref_transforms import Window, entries, view, window
from pallascope.walk import Leaf, Rule, Walk


def _transforms(eqn: Any, leaves: list[int]) -> tuple[Any, ...]:
    return tuple(eqn.params["tree"].unflatten([Leaf(value) for value in leaves]))


def load(walk: Walk, part: Window) -> int:
    """Returns the elements of the part, as the ref holds them."""
    operands = [part.ref]
    result = Type(walk.builder.types[part.ref].dtype, _known_shape(part))
    return walk.builder.one("get", operands, result, {"entries": entries(walk, part, operands)})


def _known_shape(part: Window) -> tuple[int, ...]:
    if any(axis.size_value is not None for axis in part.axes):
        raise NotCaptured("a load or store whose size is not known before the run")
    return part.shape()


def store(walk: Walk, part: Window, value: int) -> int:
    """Stores the value in the part. Returns what was there before, as the ref holds it."""
    value = flags_in_memory.stored(walk, part.ref, value)
    type_ = walk.builder.types[value]
    if type_.shape != _known_shape(part):
        raise NotCaptured(f"a store of {type_.shape} where the ref has {part.shape()}")
    operands = [part.ref, value]
    return walk.builder.one("swap", operands, type_, {"entries": entries(walk, part, operands)})


def part_of(walk: Walk, eqn: Any, operands: list[int]) -> Window:
    """Returns the part that a `get` loads."""
    ref, *leaves = operands
    return window(walk, ref, _transforms(eqn, leaves))


def _get(walk: Walk, eqn: Any, operands: list[int]) -> list[int]:
    return [load(walk, part_of(walk, eqn, operands))]


def swap(walk: Walk, eqn: Any, operands: list[int]) -> list[int]:
    ref, value, *leaves = operands
    return [store(walk, window(walk, ref, _transforms(eqn, leaves)), value)]


def _addupdate(walk: Walk, eqn: Any, operands: list[int]) -> list[int]:
    ref, value, *leaves = operands
    part = window(walk, ref, _transforms(eqn, leaves))
    old = load(walk, part)
    store(walk, part, walk.builder.one("add", [old, value], walk.builder.types[value]))
    return []


def _masked_load(walk: Walk, eqn: Any, operands: list[int]) -> list[int]:
    ref, transforms, mask, other = _tree(eqn, operands)
    part = window(walk, ref.value, transforms)
    if mask is None:
        return [load(walk, part)]
    result = walk.type_of(eqn.outvars[0])._replace(dtype=walk.builder.types[part.ref].dtype)
    operands = [view(walk, part), walk.builder.broadcast(mask.value, result.shape)]
    if other is not None:
        filler = flags_in_memory.stored(walk, part.ref, other.value)
        operands.append(walk.builder.broadcast(filler, result.shape))
    return [walk.builder.one("masked_load", operands, result)]


def _masked_swap(walk: Walk, eqn: Any, operands: list[int]) -> list[int]:
    ref, transforms, value, mask = _tree(eqn, operands)
    part = window(walk, ref.value, transforms)
    if mask is None:
        return [store(walk, part, value.value)]
    held = flags_in_memory.stored(walk, part.ref, value.value)
    result = walk.builder.types[held]
    return [walk.builder.one("masked_swap", [
        view(walk, part), held, walk.builder.broadcast(mask.value, result.shape)], result)]


def _tree(eqn: Any, operands: list[int]) -> Any:
    return eqn.params["args_tree"].unflatten([Leaf(value) for value in operands])


RULES: dict[str, Rule] = {
    "get": flags_in_memory.loaded(_get),
    "swap": flags_in_memory.loaded(swap),
    "addupdate": _addupdate,
    "masked_load": flags_in_memory.loaded(_masked_load),
    "masked_swap": flags_in_memory.loaded(_masked_swap),
}
