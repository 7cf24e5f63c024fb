"""Rules of matrix decompositions and of solving linear equations."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax._src.lax import linalg

from pallascope.rules.retraced import traced
from pallascope.walk import Rule, Walk


def _triangular_solve(left_side: bool, lower: bool, transpose_a: bool, unit_diagonal: bool,
                      **params: Any) -> Callable[..., Any]:
    """Solves row by row, by substitution."""
    def function(a: Any, b: Any) -> Any:
        matrix = a if left_side != transpose_a else jnp.swapaxes(a, -1, -2)
        right = b if left_side else jnp.swapaxes(b, -1, -2)
        downwards = lower == (left_side != transpose_a)
        size = matrix.shape[-1]
        diagonal = jnp.eye(size, dtype=bool)

        def one_round(i: Any, x: Any) -> Any:
            at = i if downwards else size - 1 - i
            row = lax.dynamic_slice_in_dim(matrix, at, 1, axis=-2)
            here = lax.dynamic_slice_in_dim(diagonal, at, 1, axis=-2)
            known = jnp.where(here, 0, row)
            rest = lax.dynamic_slice_in_dim(right, at, 1, axis=-2) - jnp.matmul(
                known, x, precision=lax.Precision.HIGHEST)
            if not unit_diagonal:
                rest = rest / jnp.sum(jnp.where(here, row, 0), axis=-1, keepdims=True)
            return lax.dynamic_update_slice_in_dim(x, rest, at, axis=-2)

        x = lax.fori_loop(0, size, one_round, jnp.zeros_like(right))
        return x if left_side else jnp.swapaxes(x, -1, -2)

    return function


def _cholesky(**params: Any) -> Callable[..., Any]:
    """Factors column by column. The whole result is NaN if a pivot is not positive."""
    def function(a: Any) -> Any:
        size = a.shape[-1]
        rows = lax.broadcasted_iota(jnp.int32, (size, 1), 0)

        def one_round(j: Any, state: Any) -> Any:
            found, is_right = state
            column = lax.dynamic_slice_in_dim(a, j, 1, axis=-1)
            left = lax.dynamic_slice_in_dim(found, j, 1, axis=-2)
            rest = column - jnp.matmul(found, jnp.swapaxes(left, -1, -2),
                                       precision=lax.Precision.HIGHEST)
            pivot = lax.dynamic_slice_in_dim(rest, j, 1, axis=-2)
            rest = jnp.where(rows >= j, rest / jnp.sqrt(pivot), 0)
            return (lax.dynamic_update_slice_in_dim(found, rest, j, axis=-1),
                    is_right & (pivot > 0))

        start = jnp.zeros_like(a), jnp.full((*a.shape[:-2], 1, 1), True)
        found, is_right = lax.fori_loop(0, size, one_round, start)
        return jnp.where(is_right, found, np.asarray(np.nan, a.dtype))

    return function


def _lu(**params: Any) -> Callable[..., Any]:
    """Factors column by column, as JAX does if it has nothing better."""
    def function(x: Any) -> Any:
        one = linalg._lu_unblocked
        for _ in x.shape[:-2]:
            one = jax.vmap(one)
        pivots, permutation, found = one(x)
        return found, pivots, permutation

    return function


def _linear_solve(walk: Walk, eqn: Any, operands: list[int]) -> list[int]:
    """Runs the function among the parameters that says how to solve the equation."""
    counts = eqn.params["const_lengths"]
    skipped = counts.matvec + counts.vecmat
    consts = operands[skipped:skipped + counts.solve]
    rest = operands[skipped + counts.solve + counts.transpose_solve:]
    return walk.run_here(eqn.params["jaxprs"].solve, consts + rest)


RULES: dict[str, Rule] = {
    "triangular_solve": traced(_triangular_solve),
    "cholesky": traced(_cholesky),
    "lu": traced(_lu),
    "custom_linear_solve": _linear_solve,
}
