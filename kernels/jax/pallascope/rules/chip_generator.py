"""Rules of the random generator of a TPU. Nobody but the chip knows its bits.

Threefry replaces it. Its state is in SMEM: two words of key, which a seed sets, and how many bits
were drawn.
"""

from __future__ import annotations

import math
from typing import Any

from pallascope.jax_compat import jaxprs
from pallascope.program import Type
from pallascope.types import key_words
from pallascope.walk import Rule, Walk

_STATE = Type("uint32", (3,), "smem")  # two words of key, and how many bits were drawn


def state_of(walk: Walk, body: Any) -> list[int]:
    """Returns what a kernel needs besides its arguments: the generator's state, if it uses one."""
    names = ("prng_seed", "prng_random_bits")
    walk.generator = walk.builder.value(_STATE, "prng") if _has(body, names) else None
    return [] if walk.generator is None else [walk.generator]


def _has(jaxpr: Any, names: tuple[str, ...]) -> bool:
    inner, _ = jaxprs.open_jaxpr(jaxpr)
    return any(eqn.primitive.name in names or "_pl_stateful" in str(eqn.params.get("impl", ""))
               or _draws_by_key(eqn) or any(_has(part, names) for part in jaxprs.jaxprs_of(eqn))
               for eqn in inner.eqns)


def _draws_by_key(eqn: Any) -> bool:
    """Returns whether it draws with a key of the chip's own generator."""
    return (eqn.primitive.name == "random_bits"
            and len(key_words(eqn.invars[0].aval.dtype) or ()) == 2)


def _state_word(walk: Walk, number: int, value: int | None = None) -> int:
    """Loads a word of the state, or stores it."""
    operands = [walk.generator] + ([] if value is None else [value])
    return walk.builder.one("get" if value is None else "swap", operands, Type("uint32"),
                            {"entries": [{"slice": False, "start": number}]})


def _tpu_seed(walk: Walk, eqn: Any, operands: list[int]) -> list[int]:
    """Sets the key. The first two words are the key; every two further words are encrypted with it
    and replace it."""
    builder = walk.builder
    words = [builder.convert(word, "uint32") for operand in operands
             for word in (_words_of(walk, operand) if builder.types[operand].shape else [operand])]
    zero = builder.literal("uint32", 0)
    words += [zero] * (max(2, len(words) + len(words) % 2) - len(words))
    key = words[:2]
    for place in range(2, len(words), 2):
        key = builder.emit("threefry2x32", [*key, *words[place:place + 2]], [Type("uint32")] * 2)
    for number, word in enumerate((*key, zero)):
        _state_word(walk, number, word)
    return []


def _words_of(walk: Walk, key: int) -> list[int]:
    """Returns the words of a key of shape (1, n)."""
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
    """Draws with one instruction for each register of bits. A word of the state says how many were
    drawn."""
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
    "prng_split": lambda walk, eqn, operands: _words_of(walk, operands[0]),
    "prng_join": _join,
}
