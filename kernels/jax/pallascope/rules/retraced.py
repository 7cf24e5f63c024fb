"""Rules of primitives that the format lacks, which are traced again as others that it has."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax

from pallascope.jax_compat import jaxprs
from pallascope.walk import Rule, Walk


def traced(function: Callable[..., Callable[..., Any]]) -> Rule:
    """Inlines what `function(**params)` traces to, at the equation's line."""
    def rule(walk: Walk, eqn: Any, operands: list[int]) -> list[int]:
        shapes = [jax.ShapeDtypeStruct(v.aval.shape, v.aval.dtype) for v in eqn.invars]
        jaxpr = jax.make_jaxpr(function(**eqn.params))(*shapes)
        return walk.run_here(jaxpr, operands)

    return rule


def _expanded(_prim: Any) -> Callable[..., Any]:
    """Returns as a function what JAX 0.12 keeps whole until it is lowered, such as searchsorted."""
    return _prim.expand


def by_element(jaxpr: Any, consts: Sequence[Any] = ()) -> Callable[..., list[Any]]:
    """Applies a jaxpr of scalars to each element of arrays."""
    def function(*arrays: Any) -> list[Any]:
        shape = arrays[0].shape
        found = jax.vmap(lambda *scalars: jaxprs.evaluate(jaxpr, scalars, consts))(
            *(array.reshape(-1) for array in arrays))
        return [value.reshape(shape) for value in found]

    return function


RULES: dict[str, Rule] = {"call_hi_primitive": traced(_expanded)}
