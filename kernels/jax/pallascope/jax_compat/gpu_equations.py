"""Parameters of the equations of Mosaic GPU, and how their operands are arranged: refs first, then
the leaves of the transforms of each, then a predicate if there is one."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import jax
from jax._src.state import types as state_types

from pallascope.jax_compat import jaxprs

Part = tuple[Any, tuple[Any, ...]]  # a ref, or an array, with its transforms


def is_ref(variable: Any) -> bool:
    return isinstance(variable.aval, state_types.AbstractRef)


def is_accumulator(aval: Any) -> bool:
    return type(aval).__name__ == "WGMMAAbstractAccumulatorRef"


def _unflattened(trees: Sequence[Any], leaves: list[Any]) -> list[tuple[Any, ...]]:
    """Takes the leaves of each tree from the front of the list."""
    found: list[tuple[Any, ...]] = []
    for tree in trees:
        count = tree.num_leaves if tree is not None else 0
        found.append(tuple(tree.unflatten(leaves[:count])) if tree is not None else ())
        del leaves[:count]
    return found


def _parts(eqn: Any, operands: Sequence[Any], trees: Sequence[str]) -> list[Part]:
    """Pairs the first operands with their transforms. `trees` are the names of the parameters for
    these, whose leaves follow."""
    count = len(trees)
    return list(zip(operands[:count], _unflattened([eqn.params[tree] for tree in trees],
                                                   list(operands[count:])), strict=True))


@dataclasses.dataclass
class Copy:
    """The operands of a copy between global and shared memory."""

    source: Part
    target: Part
    barrier: Part | None
    predicate: Any


def copy_of(eqn: Any, operands: Sequence[Any]) -> Copy:
    params = eqn.params
    has_barrier = params.get("has_barrier", False)
    names = ["src", "dst"] + (["barrier"] if has_barrier else [])
    refs, leaves = list(operands[:len(names)]), list(operands[len(names):])
    predicate = leaves.pop() if params["has_user_predicate"] else None
    transforms = _unflattened([params[f"{name}_transforms_treedef"] for name in names], leaves)
    parts = list(zip(refs, transforms, strict=True))
    return Copy(parts[0], parts[1], parts[2] if has_barrier else None, predicate)


def barrier_of(eqn: Any, operands: Sequence[Any],
               tree: str = "transforms_treedef") -> tuple[Part, Any]:
    """Returns the barrier of an arrival or a wait, and the predicate or None. `tree` is the name of
    the parameter for its transforms."""
    ref, *leaves = operands
    predicate = leaves.pop() if eqn.params.get("has_user_predicate") else None
    (transforms,) = _unflattened([eqn.params[tree]], leaves)
    return (ref, transforms), predicate


@dataclasses.dataclass
class TensorProduct:
    """The operands of a tcgen05_mma without sparsity."""

    sum: Part
    lhs: Part
    rhs: Part
    accumulate: Any
    barrier: Part | None
    scales: list[Part]  # of the left and the right operand, or none


def tensor_product_of(eqn: Any, operands: Sequence[Any]) -> TensorProduct:
    params = eqn.params
    total, lhs, rhs, accumulate, *further = operands
    barriers = [further.pop(0)] if params["arrive"] else []
    scales = [further.pop(0), further.pop(0)] if params["scaled"] else []
    further = further[1 if params["sparse"] else 0:]
    names = ["acc", "a", "b", *(["barrier"] if barriers else []),
             *(["a_scale", "b_scale"] if scales else [])]
    transforms = _unflattened([params[f"{name}_transforms_tree"] for name in names], further)
    parts = list(zip([total, lhs, rhs, *barriers, *scales], transforms, strict=True))
    return TensorProduct(parts[0], parts[1], parts[2], accumulate, parts[3] if barriers else None,
                         parts[3 + len(barriers):])


def tensor_copy_of(eqn: Any, operands: Sequence[Any]) -> list[Part]:
    """Returns the source and the target of a copy from SMEM to TMEM."""
    return _parts(eqn, operands, ("smem_tree", "tmem_tree"))


def claim_of(eqn: Any, operands: Sequence[Any]) -> list[Part]:
    """Returns where the answer of a try_cluster_cancel goes, and its barrier."""
    return _parts(eqn, operands, ("result_transforms_tree", "barrier_transforms_tree"))


def cluster_axes(aval: Any) -> list[tuple[Any, ...]]:
    """Returns the axes along which blocks share a barrier of a cluster, an empty list for other
    barriers. Axes that belong together are in one tuple."""
    if not is_cluster_barrier(aval):
        return []
    return [axis if isinstance(axis, tuple) else (axis,) for axis in aval.dtype.collective_axes]


def is_of_leader(aval: Any) -> bool:
    """Returns whether only the first block along the axes of a barrier is told of arrivals."""
    return bool(getattr(aval.dtype, "leader_tracked", False))


def stored_of(eqn: Any, operands: Sequence[Any]) -> tuple[Any, Part, Part, Any]:
    """Returns the value of an async_store_smem, its target, the barrier and the other block."""
    value, ref, barrier, block, *leaves = operands
    transforms = _unflattened([eqn.params["ref_transforms_treedef"],
                               eqn.params["barrier_transforms_treedef"]], leaves)
    return value, (ref, transforms[0]), (barrier, transforms[1]), block


def claims(jaxpr: Any) -> bool:
    """Returns whether a jaxpr, or one in it, claims further work."""
    return any(eqn.primitive.name == "try_cluster_cancel" or any(
        claims(jaxprs.open_jaxpr(inner)[0]) for inner in jaxprs.jaxprs_of(eqn))
        for eqn in jaxpr.eqns)


def is_answer(aval: Any) -> bool:
    """Returns whether a ref may hold answers of try_cluster_cancel: of 16 bytes each."""
    inner = aval.inner_aval
    return str(inner.dtype) == "int8" and tuple(inner.shape)[-1:] == (16,)


def product_of(eqn: Any, operands: Sequence[Any]) -> list[Part]:
    """Returns the accumulator and both operands of a wgmma."""
    return _parts(eqn, operands, [f"{name}_transforms_tree" for name in ("acc", "a", "b")])


def arrivals(aval: Any) -> int:
    """Returns how many arrivals complete a phase of these barriers. It is 0 for other memory."""
    return int(getattr(aval.dtype, "num_arrivals", 0))


def is_cluster_barrier(aval: Any) -> bool:
    return getattr(aval.dtype, "name", "") == "cluster_barrier"


def is_barrier(aval: Any) -> bool:
    return getattr(aval.dtype, "name", "") == "barrier"


def is_member(transforms: Sequence[Any]) -> bool:
    """Returns whether the transforms begin with the choice of a member of a RefUnion."""
    return bool(transforms) and type(transforms[0]).__name__ == "ExtractAliasedRef"


def member(transform: Any) -> tuple[int, int]:
    """Returns the group of a member of a RefUnion, and its offset in bytes."""
    return transform.alias_group_idx, transform.offset


def members(aval: Any) -> list[tuple[tuple[int, int], Any, tuple[Any, ...]]]:
    """Returns the members of a RefUnion, an empty list for another ref: the group and offset, the
    ref as it lies in memory, and the transforms that undo that."""
    if not hasattr(aval, "refs"):
        return []
    from jax._src.pallas.mosaic_gpu import core

    refs = jax.tree_util.tree_leaves(core.flatten_ref_union(aval),
                                     is_leaf=lambda one: hasattr(one, "transforms"))
    found = []
    for chosen, *undone in (ref.transforms for ref in refs):
        inner = jax.core.ShapedArray(chosen.shape, chosen.dtype)
        found.append((member(chosen), state_types.AbstractRef(inner, aval.memory_space),
                      tuple(undone)))
    return found


def logical(aval: Any, transforms: Sequence[Any]) -> Any:
    """Returns the type of a ref as the kernel sees it, given the transforms that undo the order in
    which its elements lie."""
    for transform in transforms:
        aval = transform.transform_type(aval)
    return aval
