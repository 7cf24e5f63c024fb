"""Rules of jax.random: traced again as JAX computes it, on keys as their words.

A key of shape [] is uint32[2] here, as jax.random.key_data has it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import numpy as np

from pallascope.problems import NotCaptured
from pallascope.types import DTYPES
from pallascope.walk import Rule, Walk

_NUMPY = {ours: theirs for theirs, ours in DTYPES.items()}


def _retraced(function: Callable[[Any, dict[str, Any]], Callable[..., Any]]) -> Rule:
    """Inlines what `function(implementation, params)` traces to, at the equation's line."""

    def rule(walk: Walk, eqn: Any, operands: list[int]) -> list[int]:
        key = next(aval for aval in (v.aval for v in (*eqn.invars, *eqn.outvars))
                   if hasattr(aval.dtype, "_impl"))
        if key.shape:
            raise NotCaptured("an array of random keys")
        shapes = []
        for operand in operands:
            type_ = walk.builder.types[operand]
            shapes.append(jax.ShapeDtypeStruct(type_.shape, np.dtype(_NUMPY[type_.dtype])))
        jaxpr = jax.make_jaxpr(function(key.dtype._impl, eqn.params))(*shapes)
        return walk.run_here(jaxpr, operands)

    return rule


def _seed(implementation: Any, params: dict[str, Any]) -> Callable[..., Any]:
    return implementation.seed


def _fold_in(implementation: Any, params: dict[str, Any]) -> Callable[..., Any]:
    return lambda key, data: implementation.fold_in(key, data.astype(np.uint32))


def _bits(implementation: Any, params: dict[str, Any]) -> Callable[..., Any]:
    return lambda key: implementation.random_bits(key, params["bit_width"], params["shape"])


def _same_words(walk: Walk, eqn: Any, operands: list[int]) -> list[int]:
    if eqn.outvars[0].aval.shape not in ((), (2,)):
        raise NotCaptured("an array of random keys")
    return operands


RULES: dict[str, Rule] = {
    "random_seed": _retraced(_seed),
    "random_fold_in": _retraced(_fold_in),
    "random_bits": _retraced(_bits),
    "random_wrap": _same_words,
    "random_unwrap": _same_words,
}
