"""Blocks of a cluster: which one an agent belongs to, and what of the others it reaches.

What the blocks of a cluster allocate is one ref in the file. Its first axis says whose part it is,
and each block sees its own part, as a view.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any

from pallascope.jax_compat import gpu_equations
from pallascope.problems import NotCaptured
from pallascope.program import INDEX, Type
from pallascope.rules import ref_transforms
from pallascope.walk import Leaf, Walk


def size(walk: Walk) -> int:
    """Returns how many blocks a cluster has."""
    found = 1
    for axis in walk.cluster_axes:
        found *= walk.cores[axis]
    return found


def position(walk: Walk, axis: Any) -> int:
    """Returns the place of this block along an axis of the grid or of its cluster, a value."""
    if walk.cores[axis] == 1:
        return walk.builder.index(0)
    return walk.builder.one("axis_index", [], INDEX, {"text": walk.axis_texts[axis]})


def number(walk: Walk) -> int:
    """Returns the number of this block in its cluster, a value."""
    return number_along(walk, walk.cluster_axes)


def number_at(walk: Walk, places: Mapping[Any, int]) -> int:
    """Returns the number of the block at these places and, on the other axes of the cluster, at
    those of this block."""
    return number_along(walk, walk.cluster_axes, places)


def number_along(walk: Walk, axes: Iterable[Any],
                 places: Mapping[Any, int] = MappingProxyType({})) -> int:
    """Returns the row-major number among those along the axes of this block, except at the places
    that are given, a value."""
    found = walk.builder.index(0)
    for axis in axes:
        here = places[axis] if axis in places else position(walk, axis)
        found = walk.builder.add_index(walk.builder.scale_index(found, walk.cores[axis]), here)
    return found


def shared(walk: Walk, type_: Type) -> Type:
    """Returns the type of what all blocks of the cluster allocate together."""
    return type_._replace(shape=(size(walk), *type_.shape))


def own(walk: Walk, ref: int, block: int) -> int:
    """Returns what a block, whose number is a value, has of a ref that blocks allocate together."""
    found = ref_transforms.element(walk, ref, 0, block)
    walk.of_cluster[found] = ref
    walk.layout_transforms[found] = walk.layout_transforms.get(ref, ())
    return found


def of_block(walk: Walk, part: gpu_equations.Part, block: int) -> gpu_equations.Part:
    """Returns the same part of what another block has. The block is a value."""
    ref, transforms = part
    found = ref.value
    if found in walk.unions and gpu_equations.is_member(transforms):
        found = walk.unions[found][gpu_equations.member(transforms[0])]
        transforms = transforms[1:]
    if found not in walk.of_cluster:
        raise NotCaptured("memory of another block that no scope of the cluster allocates")
    return Leaf(own(walk, walk.of_cluster[found], block)), transforms


def pair(walk: Walk, axis: Any) -> None:
    """Makes sure that the cluster is a pair along the axis."""
    if size(walk) != 2 or axis not in walk.cluster or walk.cores[axis] != 2:
        raise NotCaptured(f"an operation of a pair of blocks along {axis}, which is not the "
                          "cluster")


def leader_only(walk: Walk, axis: Any) -> int:
    """Returns whether this block is the first of its pair, a bool."""
    return walk.builder.one("eq", [position(walk, axis), walk.builder.index(0)], Type("bool"))
