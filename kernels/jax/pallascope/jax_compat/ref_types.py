"""Refs of JAX: their memory spaces, and the transforms of a TransformedRef."""

from __future__ import annotations

from typing import Any

from jax._src.state import indexing
from jax._src.state import types as state_types

NDIndexer = indexing.NDIndexer
Slice = indexing.Slice
TransformedRef = state_types.TransformedRef


def memory_space(aval: Any) -> Any:
    """Returns the memory space in a ref's type; None is the default of where the ref is."""
    space = getattr(aval, "memory_space", None)
    return getattr(space, "memory_space", space)  # for a core of a mesh, the space itself


def transform_kind(transform: Any) -> str:
    """Returns "bitcast", "reshape", "transpose", "index", or the name of the transform's class."""
    if isinstance(transform, NDIndexer):
        return "index"
    name = type(transform).__name__
    return {"BitcastTransform": "bitcast", "RefBitcaster": "bitcast",
            "ReshapeTransform": "reshape", "RefReshaper": "reshape",
            "TransposeTransform": "transpose", "RefTransposer": "transpose"}.get(name, name)


def permutation_of(transform: Any) -> tuple[int, ...]:
    return tuple(getattr(transform, "permutation", None) or transform.perm)
