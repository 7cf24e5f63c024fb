"""Rules of copies between the global and the shared memory of a GPU, and of waiting for them."""

from __future__ import annotations

import math
from typing import Any

from pallascope.jax_compat import gpu_equations
from pallascope.problems import NotCaptured
from pallascope.program import Params
from pallascope.rules import gpu_clusters, gpu_devices, gpu_gathers, ref_transforms
from pallascope.rules.gpu_refs import barrier, leaves, remote, view, window
from pallascope.walk import Leaf, Rule, Walk


def _to_smem(walk: Walk, eqn: Any, operands: list[int]) -> list[int]:
    copy = gpu_equations.copy_of(eqn, leaves(operands))
    if copy.barrier is None:  # a copy of cp.async
        return _emit(walk, eqn, [view(walk, copy.source), view(walk, copy.target)], copy.predicate,
                     _outside(eqn))
    blocks = _blocks(walk, eqn)
    if gpu_gathers.is_by_row(copy.source):
        return _gather(walk, eqn, copy)
    params: Params = {}
    source, met = view(walk, copy.source), copy.barrier
    if blocks > 1 and eqn.params.get("leader_tracked") is not None:
        source, met, params = _for_leader(walk, eqn, copy)
    elif blocks > 1:
        params["blocks"] = blocks
        if blocks != gpu_clusters.size(walk):
            params["along"] = [walk.axis_texts[axis] for axis in _axes(eqn)]
    params |= _outside(eqn)
    taken = [source, view(walk, copy.target), barrier(walk, met)]
    return _emit(walk, eqn, taken, copy.predicate, params)


def _outside(eqn: Any) -> Params:
    """Returns what the copy brings of what lies outside of its array, unless it is zeros."""
    mode = eqn.params.get("oob_mode")
    name = "zeros" if mode is None else mode.name.lower()
    return {} if name == "zeros" else {"oob_mode": name}


def _gather(walk: Walk, eqn: Any, copy: gpu_equations.Copy) -> list[int]:
    if _axes(eqn):
        raise NotCaptured("copy_gmem_to_smem of listed rows, or of im2col_ref, for several "
                          "blocks")
    target, met = view(walk, copy.target), barrier(walk, copy.barrier)
    rows = walk.builder.types[target].shape[0]
    gpu_gathers.by_row(walk, target, copy.source, lambda row, place: _emit(
        walk, eqn, [place, row, met], copy.predicate, {"parts": rows}))
    return []


def _scatter(walk: Walk, eqn: Any, copy: gpu_equations.Copy, params: Params) -> list[int]:
    gpu_gathers.by_row(walk, view(walk, copy.source), copy.target, lambda row, place: _emit(
        walk, eqn, [row, place], copy.predicate, params | {"commit": False}))
    if eqn.params["commit_group"]:
        walk.builder.emit("commit_group", [], [])
    return []


def _for_leader(walk: Walk, eqn: Any,
                copy: gpu_equations.Copy) -> tuple[int, gpu_equations.Part, Params]:
    """Returns what one block brings of a copy that the blocks of a cluster make together, the
    barrier of the first block, and that only all of them together are an arrival there."""
    axis, *others = _axes(eqn)
    if others or gpu_clusters.size(walk) != walk.cores[axis]:
        raise NotCaptured("copy_gmem_to_smem of some blocks of a cluster for their leader")
    blocks = walk.cores[axis]
    ref, transforms = copy.source
    part = window(walk, ref.value, transforms)
    along = getattr(eqn.params["leader_tracked"], "axis", None)
    if along is not None:  # otherwise each block gets all
        cut = [one for one in part.axes if one.kept][along]
        cut.size //= blocks
        cut.start = walk.builder.add_index(cut.start, walk.builder.scale_index(
            gpu_clusters.position(walk, axis), cut.size * cut.stride))
    leader = gpu_clusters.of_block(walk, copy.barrier, walk.builder.index(0))
    return ref_transforms.view(walk, part), leader, {"parts": blocks}


def _blocks(walk: Walk, eqn: Any) -> int:
    """Returns how many blocks of a cluster fetch the same tile for each other. Each has the copy
    bring all of it, and the barrier of each learns of it."""
    axes = _axes(eqn)
    if any(axis not in walk.cluster for axis in axes):
        raise NotCaptured("copy_gmem_to_smem with collective axes other than the cluster's")
    return math.prod(walk.cores[axis] for axis in axes)


def _axes(eqn: Any) -> tuple[Any, ...]:
    axes = eqn.params["collective_axes"] or ()
    return axes if isinstance(axes, tuple) else (axes,)


def _to_gmem(walk: Walk, eqn: Any, operands: list[int]) -> list[int]:
    copy = gpu_equations.copy_of(eqn, leaves(operands))
    params: Params = {} if eqn.params["commit_group"] else {"commit": False}
    if eqn.params["reduction_op"] is not None:
        params["reduction"] = _reduction(walk, eqn.params["reduction_op"],
                                         walk.builder.types[copy.target[0].value].dtype)
    if gpu_gathers.is_by_row(copy.target):
        return _scatter(walk, eqn, copy, params)
    source, (ref, transforms) = view(walk, copy.source), copy.target
    everywhere = [one for one in transforms if type(one).__name__ == "MulticastRef"]
    if not everywhere:
        return _emit(walk, eqn, [source, view(walk, copy.target)], copy.predicate, params)
    # The switch makes copies to all devices of one; they are one group.
    rest = tuple(one for one in transforms if one is not everywhere[0])
    *first, last = gpu_devices.along(walk, eqn, everywhere[0].collective_axes)
    for device in (*first, last):
        there = Leaf(remote(walk, ref.value, device)), rest
        _emit(walk, eqn, [source, view(walk, there)], copy.predicate,
              params if device == last else params | {"commit": False})
    return []


def _reduction(walk: Walk, name: str, dtype: str) -> str:
    """Returns what the operation of a copy that reduces is called here."""
    is_signed = not dtype.startswith("uint")
    plain = name[-3:] if name[:1] == ("s" if is_signed else "u") else name
    if plain not in ("add", "max", "min", "and", "or", "xor"):
        raise NotCaptured(f"copy_smem_to_gmem with reduction_op={name!r} of {dtype}")
    return plain


def _emit(walk: Walk, eqn: Any, taken: list[int], predicate: Any, params: Params) -> list[int]:
    if predicate is not None:
        taken.append(predicate.value)
        params["predicate"] = True
    return walk.builder.emit(eqn.primitive.name, taken, [], params)


def _wait(walk: Walk, eqn: Any, operands: list[int]) -> list[int]:
    params: Params = {"n": int(eqn.params["n"])} if eqn.params["n"] else {}
    if eqn.params.get("wait_read_only"):
        params["read_only"] = True
    return walk.builder.emit(eqn.primitive.name, [], [], params)


def _plain(walk: Walk, eqn: Any, operands: list[int]) -> list[int]:
    return walk.builder.emit(eqn.primitive.name, [], [])


def _prefetch(walk: Walk, eqn: Any, operands: list[int]) -> list[int]:
    """Emits nothing: this is a hint."""
    return []


RULES: dict[str, Rule] = {
    "copy_gmem_to_smem": _to_smem,
    "copy_smem_to_gmem": _to_gmem,
    "wait_smem_to_gmem": _wait,
    "wait_gmem_to_smem": _wait,
    "commit_group": _plain,
    "commit_smem": _plain,
    "async_prefetch": _prefetch,
}
