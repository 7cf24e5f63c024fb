"""Refs of kernels for a GPU: their types, and parts of them.

A ref in shared memory may be allocated in tiles and swizzled. Then the first transforms wherever it
is used undo that. The format has only the logical shape, so these transforms are left out here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pallascope import types
from pallascope.jax_compat import gpu_equations, ref_types
from pallascope.problems import NotCaptured
from pallascope.program import Type
from pallascope.rules import device_ids, gpu_clusters, ref_transforms
from pallascope.rules.ref_transforms import Axis, Window
from pallascope.walk import Leaf, Walk

# The authors' names of transforms that are not captured.
_NAMES = {"MulticastRef": "multicast_ref of what is neither stored nor copied to",
          "Im2ColTransform": "im2col_ref of what is not copied"}


def ref_type(aval: Any) -> Type:
    """Returns the type of a ref that a kernel allocates, in its logical shape."""
    inner = aval.inner_aval
    if gpu_equations.is_barrier(inner) or gpu_equations.is_cluster_barrier(inner):
        return Type("int32", types.shape_of(inner), "barrier")
    return types.ref_type(aval)


def leaves(operands: Sequence[int]) -> list[Leaf]:
    return [Leaf(value) for value in operands]


def window(walk: Walk, ref: int, transforms: Sequence[Any]) -> Window:
    """Returns the part of the ref that the transforms leave, in its logical shape."""
    if ref in walk.unions and gpu_equations.is_member(transforms):
        ref, transforms = walk.unions[ref][gpu_equations.member(transforms[0])], transforms[1:]
    undone = walk.layout_transforms.get(ref, ())
    further = tuple(transforms)[len(undone):]
    peers = [one for one in further if type(one).__name__ == "PeerMemRef"]
    for peer in peers:
        ref = remote(walk, ref, device_ids.named(walk, "remote_ref", peer.device_id_type,
                                                 peer.device_id))
    blocks = [one for one in further if type(one).__name__ == "ClusterRefTransform"]
    for block in blocks:
        ref = of_other_block(walk, ref, dict(zip(block.dims, block.idxs, strict=True)))
    further = tuple(one for one in further if not any(one is other for other in peers + blocks))
    if tuple(transforms)[:len(undone)] != undone:
        raise NotCaptured("a ref whose tiles are used themselves")
    for transform in further:
        name = _NAMES.get(type(transform).__name__)
        if name is not None:
            raise NotCaptured(name)
    return ref_transforms.window(walk, ref, further)


def of_other_block(walk: Walk, ref: int, places: Mapping[Any, Any]) -> int:
    """Returns what the block at these places in the cluster has of a ref."""
    if any(axis not in walk.cluster for axis in places):
        raise NotCaptured(f"memory of a block along {tuple(places)}, which are no axes of the "
                          "cluster")
    numbers = {axis: device_ids.scalar(walk, place) for axis, place in places.items()}
    there, _ = gpu_clusters.of_block(walk, (Leaf(ref), ()), gpu_clusters.number_at(walk, numbers))
    return there.value


def remote(walk: Walk, ref: int, device: int) -> int:
    """Returns what another device, whose number is a value, has of a ref in global memory."""
    return walk.builder.one("remote_ref", [ref, device], walk.builder.types[ref])


def view(walk: Walk, part: gpu_equations.Part) -> int:
    """Returns a ref to an operand with its transforms."""
    ref, transforms = part
    return ref_transforms.view(walk, window(walk, ref.value, transforms))


def barrier(walk: Walk, part: gpu_equations.Part) -> int:
    """Returns a ref to one barrier. Of several it is the first, as in JAX, where the index of a
    barrier may be left out."""
    ref, transforms = part
    found = window(walk, ref.value, transforms)
    found.axes = [Axis(axis.start, 1, kept=False) for axis in found.axes]
    return ref_transforms.view(walk, found)
