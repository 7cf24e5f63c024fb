"""Rules of jax.random: traced again as JAX computes it, on keys as their words.

Keys are their words here, uint32[..., 2] or, of the chip's own generator, uint32[1,2], as
jax.random.key_data has them.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from pallascope import compat
from pallascope.problems import NotCaptured
from pallascope.program import Type
from pallascope.types import dtype_of, key_words, struct
from pallascope.walk import Rule, Walk


def _keys_of(eqn: Any) -> Any:
    """The type of an equation's random keys. The chip's own come one at a time."""
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
        except NotImplementedError as error:  # of the chip's own, which can not be split
            raise NotCaptured(str(error).partition("\n")[0]) from error
        return [_as_declared(walk, value, variable.aval) for value, variable
                in zip(walk.run_here(jaxpr, operands), eqn.outvars, strict=True)]

    return rule


def _moved(walk: Walk, eqn: Any, operands: list[int]) -> list[int]:
    """What moves keys moves each of their words."""
    _keys_of(eqn)
    axes = [None if key_words(v.aval.dtype) is None else -1 for v in eqn.invars]
    moved = jax.vmap(functools.partial(eqn.primitive.bind, **eqn.params), axes, -1)
    return walk.trace(moved, operands)


def _as_declared(walk: Walk, value: int, aval: Any) -> int:
    """The chip's generator yields signed bits where JAX says unsigned ones."""
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


# ---- the generator of a TPU -----------------------------------------------------------------

# Its bits are known to no one but the chip. Threefry stands in: two words of key, which a seed
# sets, and how many bits were drawn, in SMEM.
_STATE = Type("uint32", (3,), "smem")


def state_of(walk: Walk, body: Any) -> list[int]:
    """What a kernel needs besides its arguments: the generator's state, where it has one."""
    names = ("prng_seed", "prng_random_bits")
    walk.generator = walk.builder.value(_STATE, "prng") if _has(body, names) else None
    return [] if walk.generator is None else [walk.generator]


def _has(jaxpr: Any, names: tuple[str, ...]) -> bool:
    inner, _ = compat.open_jaxpr(jaxpr)
    return any(eqn.primitive.name in names or "_pl_stateful" in str(eqn.params.get("impl", ""))
               or _draws_by_key(eqn) or any(_has(part, names) for part in compat.jaxprs_of(eqn))
               for eqn in inner.eqns)


def _draws_by_key(eqn: Any) -> bool:
    """Draws with a key of the chip's own generator."""
    return (eqn.primitive.name == "random_bits"
            and len(key_words(eqn.invars[0].aval.dtype) or ()) == 2)


def _state_word(walk: Walk, number: int, value: int | None = None) -> int:
    """Loads a word of the state, or stores it."""
    operands = [walk.generator] + ([] if value is None else [value])
    return walk.builder.one("get" if value is None else "swap", operands, Type("uint32"),
                            {"entries": [{"slice": False, "start": number}]})


def _tpu_seed(walk: Walk, eqn: Any, operands: list[int]) -> list[int]:
    """The key is the first two words; every two more are encrypted with it and take its place."""
    builder = walk.builder
    words = [builder.convert(word, "uint32") for operand in operands
             for word in (_split(walk, operand) if builder.types[operand].shape else [operand])]
    zero = builder.literal("uint32", 0)
    words += [zero] * (max(2, len(words) + len(words) % 2) - len(words))
    key = words[:2]
    for place in range(2, len(words), 2):
        key = builder.emit("threefry2x32", [*key, *words[place:place + 2]], [Type("uint32")] * 2)
    for number, word in enumerate((*key, zero)):
        _state_word(walk, number, word)
    return []


def _split(walk: Walk, key: int) -> list[int]:
    """The words of a key of shape (1, n)."""
    words = []
    for number in range(walk.builder.types[key].shape[1]):
        word = walk.builder.one("slice", [key], Type("uint32", (1, 1)), {
            "start": [0, number], "limit": [1, number + 1]})
        words.append(walk.builder.one("reshape", [word], Type("uint32"), {"shape": []}))
    return words


def _join(walk: Walk, eqn: Any, operands: list[int]) -> list[int]:
    builder = walk.builder
    words = [builder.broadcast(builder.convert(operand, "uint32"), (1, 1)) for operand in operands]
    return [builder.one("concatenate", words, Type("uint32", (1, len(words))), {"axis": 1})]


def _tpu_bits(walk: Walk, eqn: Any, operands: list[int]) -> list[int]:
    """One instruction for each register of bits; how many were drawn is a word of the state."""
    builder, result = walk.builder, walk.type_of(eqn.outvars[0])
    *key, drawn = (_state_word(walk, number) for number in range(3))
    count = builder.literal("uint32", math.prod(result.shape))
    bits = builder.one("prng_random_bits", [*key, drawn], Type("uint32", result.shape),
                       {"shape": list(result.shape)})
    _state_word(walk, 2, builder.one("add", [drawn, count], Type("uint32")))
    if result.dtype == "uint32":
        return [bits]
    return [builder.one("bitcast_convert_type", [bits], result, {"dtype": result.dtype})]


RULES: dict[str, Rule] = {
    "prng_seed": _tpu_seed,
    "prng_random_bits": _tpu_bits,
    "prng_split": lambda walk, eqn, operands: _split(walk, operands[0]),
    "prng_join": _join,
    "random_seed": _retraced(_seed),
    "random_fold_in": _retraced(_fold_in),
    "random_bits": _retraced(_bits),
    "random_split": _retraced(_split_keys),
    "random_clone": _same_words,
    "random_wrap": _same_words,
    "random_unwrap": _same_words,
    "keys": _moved,
}
