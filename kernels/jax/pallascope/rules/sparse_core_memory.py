"""Rules of a SparseCore's loads and stores with masks, and of listed elements."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
from jax import lax

from pallascope.rules import flags_in_memory, memory
from pallascope.rules.ref_transforms import view, window
from pallascope.walk import Leaf, Rule, Walk


def _masked(eqn: Any, leaves: list[int]) -> tuple[tuple[Any, ...], int | None]:
    mask = leaves.pop() if eqn.params["has_mask"] else None
    return tuple(eqn.params["tree"].unflatten([Leaf(value) for value in leaves])), mask


def load_expanded(walk: Walk, eqn: Any, operands: list[int]) -> list[int]:
    """Loads element i for the i-th lane that the mask selects, and nothing for other lanes."""
    ref, *leaves = operands
    transforms, mask = _masked(eqn, leaves)
    part = window(walk, ref, transforms)
    if mask is None:
        return [memory.load(walk, part)]
    packed = memory.load(walk, part)
    builder, kind = walk.builder, walk.builder.types[packed]
    (expanded,) = walk.trace(lambda x, mask: x[jnp.clip(_places(mask), 0, x.size - 1)],
                             [packed, mask])
    never = builder.broadcast(builder.literal("bool", 0), kind.shape)
    nothing = builder.one("masked_load", [view(walk, part), never], kind)
    return [builder.one("select_n", [mask, nothing, expanded], kind)]


def store_compressed(walk: Walk, eqn: Any, operands: list[int]) -> list[int]:
    """Stores the i-th lane that the mask selects in element i, or adds it to that element."""
    if "has_mask" not in eqn.params:
        return memory.swap(walk, eqn, operands)
    ref, value, *leaves = operands
    transforms, mask = _masked(eqn, leaves)
    part = window(walk, ref, transforms)
    builder = walk.builder
    value = flags_in_memory.stored(walk, part.ref, value)
    kind = builder.types[value]
    if mask is not None:
        value, kept = walk.trace(_compressed, [value, mask])
    if eqn.params["add"]:
        value = builder.one("add", [memory.load(walk, part), value], kind)
    if mask is None:
        memory.store(walk, part, value)
    else:
        builder.emit("masked_swap", [view(walk, part), value, kept], [kind])
    return [value]


def _places(mask: Any) -> Any:
    """Returns the place of each lane among those that the mask selects."""
    return lax.cumsum(mask.astype(jnp.int32)) - 1


def _compressed(x: Any, mask: Any) -> Any:
    lanes = lax.iota(jnp.int32, x.size)
    target = jnp.where(mask, _places(mask), x.size)
    packed = jnp.zeros_like(x).at[target].set(x, mode="drop")
    return packed, lanes < jnp.sum(mask.astype(jnp.int32))


def of_listed_elements(base: Rule) -> Rule:
    """Returns the rule of load_gather, store_scatter and addupdate_scatter, which access refs.
    `base` is the rule of the primitive with the same name that works on registers."""
    def rule(walk: Walk, eqn: Any, operands: list[int]) -> list[int]:
        if "dimension_numbers" in eqn.params:
            return base(walk, eqn, operands)
        ref, transforms, indices, *stored, mask = eqn.params["tree"].unflatten(
            [Leaf(value) for value in operands])
        part = view(walk, window(walk, ref.value, transforms))
        lists = [_int32(walk, leaf.value) for leaf in indices]
        given = [part, *(leaf.value for leaf in stored), *lists, *([mask.value] if mask else [])]
        if not stored:
            return [walk.builder.one("load_gather", given, walk.type_of(eqn.outvars[0]))]
        adds = eqn.params["add"]
        walk.builder.emit("addupdate_scatter" if adds else "store_scatter", given, [])
        return []

    return rule


def _int32(walk: Walk, value: int) -> int:
    kind = walk.builder.types[value]
    return value if kind.dtype == "int32" else walk.trace(lambda x: x.astype(jnp.int32), [value])[0]
