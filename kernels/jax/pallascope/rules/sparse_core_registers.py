"""Rules of a SparseCore's primitives on registers, traced as operations that the format has."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax

from pallascope.problems import NotCaptured
from pallascope.walk import Walk


def scan_count() -> Callable[..., Any]:
    """Returns, for each element that counts, how many equal elements there are up to it, and
    whether it is the last of them."""
    def function(x: Any, mask: Any) -> Any:
        equal = (x[:, None] == x[None, :]) & mask[None, :]
        place = lax.iota(jnp.int32, x.size)
        until = place[None, :] <= place[:, None]
        counts = jnp.sum((equal & until).astype(jnp.int32), axis=1)
        left = jnp.sum((equal & ~until).astype(jnp.int32), axis=1)
        return counts, mask & (left == 0)

    return function


def cumulative(kind: str) -> Callable[..., Callable[..., Any]]:
    """Accumulates over the elements that the mask selects. Before the first of them, a maximum or
    minimum is the element itself, and a sum is 0."""
    def make(**_: Any) -> Callable[..., Any]:
        def function(x: Any, mask: Any) -> Any:
            if kind == "sum":
                return lax.cumsum(jnp.where(mask, x, jnp.zeros_like(x)))
            info = jnp.finfo(x.dtype) if jnp.issubdtype(x.dtype, np.floating) else jnp.iinfo(
                x.dtype)
            least = -np.inf if info.dtype.kind == "f" else info.min
            most = np.inf if info.dtype.kind == "f" else info.max
            neutral = jnp.full_like(x, least if kind == "max" else most)
            kept = jnp.where(mask, x, neutral)
            found = lax.cummax(kept) if kind == "max" else lax.cummin(kept)
            seen = lax.cumsum(mask.astype(jnp.int32)) > 0
            return jnp.where(seen, found, x)

        return function

    return make


def masked_sort(descending: bool) -> Callable[..., Any]:
    """Sorts stably. What the mask leaves out comes last."""
    def function(keys: Any, values: Any, *masks: Any) -> Any:
        order = keys
        if descending:
            order = -keys if jnp.issubdtype(keys.dtype, np.floating) else ~keys
        out = ~masks[0] if masks else jnp.zeros(keys.shape, bool)
        by = out.astype(jnp.int32)
        _, _, keys, values, left = lax.sort((by, order, keys, values, by), num_keys=2)
        return (keys, values, left == 0) if masks else (keys, values)

    return function


def population_count(reduce: int) -> Callable[..., Any]:
    def function(x: Any) -> Any:
        return jnp.full((x.size // reduce,), jnp.sum(x.astype(jnp.int32)), jnp.int32)

    return function


def first_set(reduce: int) -> Callable[..., Any]:
    def function(x: Any) -> Any:
        place = jnp.where(x, lax.iota(jnp.int32, x.size), jnp.int32(x.size))
        return jnp.full((x.size // reduce,), jnp.min(place), jnp.int32)

    return function


def _check_packing(eqn: Any, name: str) -> None:
    kinds = {np.dtype(v.aval.dtype).kind if v.aval.dtype.name != "bfloat16" else "f"
             for v in (*eqn.invars, *eqn.outvars)}
    if eqn.params["format"].name != "INTERLEAVED":
        raise NotCaptured(f"{name} in the format {eqn.params['format'].name}: use INTERLEAVED")
    if len(kinds) != 1:
        raise NotCaptured(f"{name} of {eqn.invars[0].aval.dtype} as {eqn.outvars[0].aval.dtype}: "
                          "expected two dtypes of one kind")


def pack(walk: Walk, eqn: Any, operands: list[int]) -> list[int]:
    _check_packing(eqn, "pack")
    dtype = eqn.outvars[0].aval.dtype
    return walk.trace(lambda a, b: jnp.stack([a, b], axis=1).reshape(-1).astype(dtype), operands)


def unpack(walk: Walk, eqn: Any, operands: list[int]) -> list[int]:
    _check_packing(eqn, "unpack")
    dtype = eqn.outvars[0].aval.dtype

    def function(ab: Any) -> Any:
        pairs = ab.reshape(-1, 2)
        return pairs[:, 0].astype(dtype), pairs[:, 1].astype(dtype)

    return walk.trace(function, operands)
