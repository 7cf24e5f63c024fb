"""The registry of trees by which JAX takes the arguments of functions apart."""

from __future__ import annotations

from typing import Any

from jax._src import tree_util

# Up to JAX 0.9 there is one registry only.
_registry = getattr(tree_util, "tracing_registry", tree_util.default_registry)


def leaves_with_paths(tree: Any) -> list[tuple[Any, Any]]:
    """Returns the leaves of a tree, each after the keys that lead to it."""
    return list(_registry.flatten_with_path(tree)[0])


def children_of(node: Any) -> list[Any] | None:
    """Returns what a node of a tree consists of, or None for a leaf."""
    parts = _registry.flatten_one_level(node)
    return None if parts is None else list(parts[0])
