"""Rules of the products of Blackwell's tensor core (tcgen05), and of TMEM, to which they add."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Sequence
from typing import Any

from pallascope.jax_compat import gpu_equations
from pallascope.problems import NotCaptured
from pallascope.program import INDEX, Params, Type
from pallascope.rules import gpu_clusters, memory, ref_transforms
from pallascope.rules.branches import when
from pallascope.rules.gpu_refs import barrier, leaves, view, window
from pallascope.rules.ref_transforms import Axis, Window
from pallascope.walk import Rule, Walk


def _product(walk: Walk, eqn: Any, operands: list[int]) -> list[int]:
    product = gpu_equations.tensor_product_of(eqn, leaves(operands))
    if eqn.params["sparse"]:
        raise NotCaptured("tcgen05_mma of sparse operands")
    accumulate = product.accumulate.value
    if walk.builder.types[accumulate].dtype != "bool":
        accumulate = walk.builder.one("ne", [accumulate, walk.builder.index(0)], Type("bool"))
    axis = eqn.params["collective_axis"]
    if axis is None:
        found = [view(walk, part) for part in (product.sum, product.lhs, product.rhs)]
        scales = [view(walk, part) for part in product.scales]
        walk.builder.emit("tcgen05_mma", [*found, accumulate, *scales], [])
        if product.barrier is not None:
            walk.builder.emit("tcgen05_commit_arrive", [barrier(walk, product.barrier)], [])
        return []

    def of_pair() -> None:
        def views(parts: Sequence[gpu_equations.Part], block: int) -> list[int]:
            return [view(walk, part) for part in _of_block(walk, parts, block)]

        first, second = (views((product.sum, product.lhs, product.rhs), block) for block in (0, 1))
        scales = [*views(product.scales, 0), *views(product.scales, 1)]
        walk.builder.emit("tcgen05_mma", [*first, accumulate, *second, *scales], [])
        if product.barrier is not None:
            _arrive_at_both(walk, product.barrier, [], {})

    gpu_clusters.pair(walk, axis)
    when(walk, gpu_clusters.leader_only(walk, axis), of_pair)
    return []


def _of_block(walk: Walk, parts: Sequence[gpu_equations.Part],
              block: int) -> list[gpu_equations.Part]:
    """Returns what the block with this number in the cluster has of these refs."""
    number = walk.builder.index(block)
    return [gpu_clusters.of_block(walk, part, number) for part in parts]


def _arrive_at_both(walk: Walk, part: gpu_equations.Part, predicate: list[int],
                    params: Params) -> None:
    for block in range(2):
        (there,) = _of_block(walk, [part], block)
        walk.builder.emit("tcgen05_commit_arrive", [barrier(walk, there), *predicate], [], params)


def _commit_arrive(walk: Walk, eqn: Any, operands: list[int]) -> list[int]:
    part, predicate = gpu_equations.barrier_of(eqn, leaves(operands), "barrier_transforms_tree")
    given = [] if predicate is None else [predicate.value]
    params: Params = {"predicate": True} if given else {}
    axis = eqn.params["collective_axis"]
    if axis is None:
        return walk.builder.emit("tcgen05_commit_arrive", [barrier(walk, part), *given], [], params)
    gpu_clusters.pair(walk, axis)
    when(walk, gpu_clusters.leader_only(walk, axis),
         lambda: _arrive_at_both(walk, part, given, params))
    return []


_ABSOLUTE = {"max": ("reduce_max", False), "min": ("reduce_min", False),
             "absmax": ("reduce_max", True), "absmin": ("reduce_min", True)}


def _load(walk: Walk, eqn: Any, operands: list[int]) -> list[int]:
    """Emits a load of TMEM, and its reduction along the last axis if that is asked for."""
    ref, *further = operands
    part = window(walk, ref, tuple(eqn.params["tree"].unflatten(leaves(further))))
    loaded = memory.load(walk, part)
    if eqn.params["reduce"] is None:
        return [loaded]
    operation, is_absolute = _ABSOLUTE[eqn.params["reduce"]]
    type_ = walk.builder.types[loaded]
    reduced = walk.builder.one("abs", [loaded], type_) if is_absolute else loaded
    return [loaded, walk.builder.one(operation, [reduced], walk.type_of(eqn.outvars[1]),
                                     {"axes": [len(type_.shape) - 1]})]


def _store(walk: Walk, eqn: Any, operands: list[int]) -> list[int]:
    ref, value, *further = operands
    part = window(walk, ref, tuple(eqn.params["tree"].unflatten(leaves(further))))
    memory.store(walk, part, walk.builder.broadcast(value, part.shape()))
    return []


def _copy_all(walk: Walk, source: int, target: int) -> None:
    walk.builder.emit("async_copy_smem_to_tmem", [source, target], [])


def _copy(walk: Walk, eqn: Any, operands: list[int],
          emit: Callable[[Walk, int, int], None] = _copy_all) -> list[int]:
    """Emits a copy from SMEM to TMEM, of this block or of both of a pair; `emit` does so for one
    block, from the refs to what it has of both."""
    parts = gpu_equations.tensor_copy_of(eqn, leaves(operands))

    def of_block(parts: Sequence[gpu_equations.Part]) -> None:
        source, target = (view(walk, part) for part in parts)
        emit(walk, source, target)

    def of_pair() -> None:
        for block in range(2):
            of_block(_of_block(walk, parts, block))

    axis = eqn.params["collective_axis"]
    if axis is None:
        of_block(parts)
        return []
    gpu_clusters.pair(walk, axis)
    when(walk, gpu_clusters.leader_only(walk, axis), of_pair)
    return []


# Four scales of each of 128 rows lie in SMEM as 32 rows of 16 bytes, where row r has those of the
# rows r, 32 + r, 64 + r and 96 + r (PTX ISA, layout of the scale factors of tcgen05.mma).
_ROWS, _LINES, _SCALES = 128, 32, 4


def _copy_scales(walk: Walk, source: int, target: int) -> None:
    """Emits a copy for each 32 rows with four scales, from where they lie to their logical place."""
    shape, places = (walk.builder.types[ref].shape for ref in (source, target))
    wanted = (places[0] // _ROWS, places[1] // _SCALES, _LINES, _ROWS // _LINES * _SCALES)
    if tuple(shape) != wanted:
        raise NotCaptured(f"async_copy_scales_to_tmem of scales that are laid out as {list(shape)}")

    def at(*starts: int) -> list[Axis]:
        sizes = [1, 1, _LINES, _SCALES][-len(starts):]
        return [Axis(walk.builder.index(start), size, kept=size > 1)
                for start, size in zip(starts, sizes, strict=True)]

    for tile, group, part in itertools.product(range(shape[0]), range(shape[1]),
                                               range(_ROWS // _LINES)):
        pieces = [Window(source, at(tile, group, 0, part * _SCALES)),
                  Window(target, at(tile * _ROWS + part * _LINES, group * _SCALES))]
        _copy_all(walk, *(ref_transforms.view(walk, piece) for piece in pieces))


def _plain(walk: Walk, eqn: Any, operands: list[int]) -> list[int]:
    return walk.builder.emit(eqn.primitive.name, [], [])


def _refused(what: str) -> Rule:
    def rule(walk: Walk, eqn: Any, operands: list[int]) -> list[int]:
        raise NotCaptured(what)

    return rule


def _claim(walk: Walk, eqn: Any, operands: list[int]) -> list[int]:
    """Emits the claim of the next cluster of the grid, by the first agent that takes part. It
    arrives at the barrier of every block, and the other agents that take part arrive themselves. Of
    the blocks of a cluster the first one asks, whether or not the kernel names the cluster's axes
    (that of JAX's own Blackwell matmul does not)."""
    answer, met = gpu_equations.claim_of(eqn, leaves(operands))
    axes = eqn.params["collective_axes"]
    blocks = gpu_clusters.size(walk)
    shared_axes = [axis for axis in walk.cluster_axes if walk.cores[axis] > 1]

    def ask() -> None:
        taken: list[int] = []
        for block in range(blocks):
            here = [answer, met] if blocks == 1 else _of_block(walk, [answer, met], block)
            taken += [view(walk, here[0]), barrier(walk, here[1])]
        walk.builder.emit("try_cluster_cancel", taken, [])

    first = _is_first(walk, [axis for axis in axes if axis in walk.threads])
    alone = _is_first(walk, shared_axes)
    when(walk, first, lambda: when(walk, alone, ask))
    if walk.builder.known(first) is None:
        others = walk.builder.one("not", [first], Type("bool"))
        when(walk, others,
             lambda: walk.builder.emit("barrier_arrive", [barrier(walk, met)], []))
    return []


def _is_first(walk: Walk, axes: list[Any]) -> int:
    """Returns whether this agent is the first along all these axes, a bool."""
    found = walk.builder.literal("bool", True)
    for axis in axes:
        if walk.cores[axis] == 1:
            continue
        index = walk.builder.one("axis_index", [], INDEX, {"text": walk.axis_texts[axis]})
        here = walk.builder.one("eq", [index, walk.builder.index(0)], Type("bool"))
        found = (here if walk.builder.known(found) is not None
                 else walk.builder.one("and", [found, here], Type("bool")))
    return found


def _claimed(walk: Walk, eqn: Any, operands: list[int]) -> list[int]:
    """Emits the place of the claimed cluster in the grid, from its number."""
    ref, *further = operands
    tree = eqn.params["transforms_tree"]
    transforms = tuple(tree.unflatten(leaves(further))) if tree is not None else ()
    part = window(walk, ref, transforms)
    for axis in part.axes:
        axis.size, axis.kept = (axis.size, False) if not axis.kept else (1, False)
    number = memory.load(walk, part)
    builder = walk.builder
    found: dict[Any, int] = {}
    rest = number
    for axis in reversed(walk.grid_axis_names):
        extent = builder.index(walk.cores[axis])
        found[axis] = builder.one("rem", [rest, extent], INDEX)
        rest = builder.one("div", [rest, extent], INDEX)
    success = builder.one("ge", [number, builder.index(0)], Type("bool"))
    return [*(found[axis] for axis in eqn.params["grid_names"]), success]


RULES: dict[str, Rule] = {
    "tcgen05_mma": _product,
    "tcgen05_commit_arrive": _commit_arrive,
    "async_load": _load,
    "async_store_tmem": _store,
    "async_copy_smem_to_tmem": _copy,
    "async_copy_scales_to_tmem": functools.partial(_copy, emit=_copy_scales),
    "async_copy_sparse_metadata_to_tmem": _refused("async_copy_sparse_metadata_to_tmem"),
    "wait_load_tmem": _plain,
    "commit_tmem": _plain,
    "try_cluster_cancel": _claim,
    "query_cluster_cancel": _claimed,
}
