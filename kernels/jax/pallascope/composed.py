"""Rules of primitives that the format lacks: traced again as others that it has."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from pallascope.walk import Rule, Walk


def _traced(function: Callable[..., Callable[..., Any]]) -> Rule:
    """Inlines what `function(**params)` traces to, at the equation's line."""
    def rule(walk: Walk, eqn: Any, operands: list[int]) -> list[int]:
        shapes = [jax.ShapeDtypeStruct(v.aval.shape, v.aval.dtype) for v in eqn.invars]
        jaxpr = jax.make_jaxpr(function(**eqn.params))(*shapes)
        return walk.run_here(jaxpr, operands)

    return rule


def _top_k(k: int, **params: Any) -> Callable[..., Any]:
    """The first of a stable sort, the largest first; NaN is the smallest here."""
    def function(x: Any) -> Any:
        axis = int(params.get("axis", x.ndim - 1)) % x.ndim
        reversed_ = -x if jnp.issubdtype(x.dtype, np.floating) else ~x
        places = lax.broadcasted_iota(jnp.int32, x.shape, axis)
        _, places, found = lax.sort((reversed_, places, x), dimension=axis, num_keys=1)
        return (lax.slice_in_dim(found, 0, k, axis=axis),
                lax.slice_in_dim(places, 0, k, axis=axis))

    return function


def _triangular_solve(left_side: bool, lower: bool, transpose_a: bool, unit_diagonal: bool,
                      **params: Any) -> Callable[..., Any]:
    """Row after row, by substitution."""
    def function(a: Any, b: Any) -> Any:
        matrix = a if left_side != transpose_a else jnp.swapaxes(a, -1, -2)
        right = b if left_side else jnp.swapaxes(b, -1, -2)
        downwards = lower == (left_side != transpose_a)
        size = matrix.shape[-1]
        diagonal = jnp.eye(size, dtype=bool)

        def turn(i: Any, x: Any) -> Any:
            at = i if downwards else size - 1 - i
            row = lax.dynamic_slice_in_dim(matrix, at, 1, axis=-2)
            here = lax.dynamic_slice_in_dim(diagonal, at, 1, axis=-2)
            known = jnp.where(here, 0, row)
            rest = lax.dynamic_slice_in_dim(right, at, 1, axis=-2) - jnp.matmul(
                known, x, precision=lax.Precision.HIGHEST)
            if not unit_diagonal:
                rest = rest / jnp.sum(jnp.where(here, row, 0), axis=-1, keepdims=True)
            return lax.dynamic_update_slice_in_dim(x, rest, at, axis=-2)

        x = lax.fori_loop(0, size, turn, jnp.zeros_like(right))
        return x if left_side else jnp.swapaxes(x, -1, -2)

    return function


def _expanded(_prim: Any) -> Callable[..., Any]:
    """What JAX 0.12 keeps whole until it is lowered, such as searchsorted."""
    return _prim.expand


RULES: dict[str, Rule] = {"call_hi_primitive": _traced(_expanded), "top_k": _traced(_top_k),
                          "triangular_solve": _traced(_triangular_solve)}
