"""Rules of jax.random, which are traced again as JAX computes them, on keys given by their words.

A key is its words here: uint32[..., 2], or uint32[1,2] for the chip's own generator, as
jax.random.key_data returns them.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from pallascope.problems import NotCaptured
from pallascope.types import dtype_of, key_words, struct
from pallascope.walk import Rule, Walk


def _keys_of(eqn: Any) -> Any:
    """Returns the type of an equation's random keys. Keys of the chip's own generator come one at a
    time."""
    key = next(v.aval for v in (*eqn.invars, *eqn.outvars) if key_words(v.aval.dtype) is not None)
    if key.shape and len(key_words(key.dtype) or ()) == 2:
        raise NotCaptured("an array of random keys of the chip's own generator")
    return key


def _retraced(function: Callable[[Any, dict[str, Any]], Callable[..., Any]]) -> Rule:
    """Inlines what `function(implementation, params)` traces to for each element of the operands,
    at the equation's line."""

    def rule(walk: Walk, eqn: Any, operands: list[int]) -> list[int]:
        key = _keys_of(eqn)
        each = function(key.dtype._impl, eqn.params)
        around = np.broadcast_shapes(*(v.aval.shape for v in eqn.invars))
        for _ in around:
            each = jax.vmap(each)

        def traced(*arrays: Any) -> Any:
            return each(*(array if v.aval.shape == around
                          else jnp.broadcast_to(array, around + array.shape[len(v.aval.shape):])
                          for v, array in zip(eqn.invars, arrays, strict=True)))

        shapes = [struct(walk.builder.types[operand]) for operand in operands]
        if len(key_words(key.dtype) or ()) == 2:  # its functions take keys
            shapes = [jax.ShapeDtypeStruct((), key.dtype) if v.aval is key else shape
                      for v, shape in zip(eqn.invars, shapes, strict=True)]
        try:
            jaxpr = jax.make_jaxpr(traced)(*shapes)
        except NotImplementedError as error:  # keys of the chip's own generator cannot be split
            raise NotCaptured(str(error).partition("\n")[0]) from error
        return [_as_declared(walk, value, variable.aval) for value, variable
                in zip(walk.run_here(jaxpr, operands), eqn.outvars, strict=True)]

    return rule


def _moved(walk: Walk, eqn: Any, operands: list[int]) -> list[int]:
    """Moves each word of the keys as the equation moves the keys."""
    _keys_of(eqn)
    axes = [None if key_words(v.aval.dtype) is None else -1 for v in eqn.invars]
    moved = jax.vmap(functools.partial(eqn.primitive.bind, **eqn.params), axes, -1)
    return walk.trace(moved, operands)


def _as_declared(walk: Walk, value: int, aval: Any) -> int:
    """Returns unsigned bits if JAX says that they are unsigned. The chip's generator yields signed
    ones."""
    type_ = walk.builder.types[value]
    if key_words(aval.dtype) is not None or type_.dtype == dtype_of(aval.dtype):
        return value
    dtype = dtype_of(aval.dtype)
    return walk.builder.one("bitcast_convert_type", [value], type_._replace(dtype=dtype),
                            {"dtype": dtype})


def _seed(implementation: Any, params: dict[str, Any]) -> Callable[..., Any]:
    return implementation.seed


def _split_keys(implementation: Any, params: dict[str, Any]) -> Callable[..., Any]:
    return lambda key: implementation.split(key, params["shape"])


def _fold_in(implementation: Any, params: dict[str, Any]) -> Callable[..., Any]:
    return lambda key, data: implementation.fold_in(key, data.astype(np.uint32))


def _bits(implementation: Any, params: dict[str, Any]) -> Callable[..., Any]:
    return lambda key: implementation.random_bits(key, params["bit_width"], params["shape"])


def _same_words(walk: Walk, eqn: Any, operands: list[int]) -> list[int]:
    return operands


def _threefry(walk: Walk, eqn: Any, operands: list[int]) -> list[int]:
    results = [walk.type_of(v) for v in eqn.outvars]
    operands = [walk.builder.broadcast(operand, results[0].shape) for operand in operands]
    return walk.builder.emit("threefry2x32", operands, results)


RULES: dict[str, Rule] = {
    "random_seed": _retraced(_seed),
    "random_fold_in": _retraced(_fold_in),
    "random_bits": _retraced(_bits),
    "random_split": _retraced(_split_keys),
    "random_clone": _same_words,
    "random_wrap": _same_words,
    "random_unwrap": _same_words,
    "threefry2x32": _threefry,
    "keys": _moved,
}
