"""Primitives that JAX lowers for a TPU as a function of other primitives."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

import jax
from jax._src.interpreters import mlir

_TABLES = (mlir._platform_specific_lowerings.get("tpu", {}), mlir._lowerings)
_MADE = f"{mlir.lower_fun.__name__}.<locals>."


def _function(primitive: Any) -> Callable[..., Any] | None:
    """Returns the function with which the primitive was registered: `mlir.lower_fun(function)`."""
    entry = next((table[primitive] for table in _TABLES if primitive in table), None)
    rule = getattr(entry, "rule", entry)
    if not (inspect.isfunction(rule) and rule.__qualname__.startswith(_MADE)):
        return None
    function = inspect.getclosurevars(rule).nonlocals.get("fun")
    return function if callable(function) else None


def jaxpr_of(eqn: Any) -> Any:
    """Returns the jaxpr of that function for the equation's operands, or None if JAX has no such
    function."""
    function = _function(eqn.primitive)
    if function is None or any(not hasattr(v.aval, "shape") for v in eqn.invars):
        return None
    shapes = [jax.ShapeDtypeStruct(v.aval.shape, v.aval.dtype) for v in eqn.invars]
    return jax.make_jaxpr(functools.partial(function, **eqn.params))(*shapes)


def is_of_jax(eqn: Any) -> bool:
    """Returns whether the function is JAX's own, so that an author knows only the primitive."""
    function = _function(eqn.primitive)
    while isinstance(function, functools.partial):
        function = function.func
    return str(getattr(function, "__module__", "")).startswith("jax.")
