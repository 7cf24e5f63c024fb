"""The draws of `rbg` and `unsafe_rbg` keys, as XLA makes them for a CPU: Philox 4x32 with ten
rounds (J. Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", 2011). A TPU draws other
numbers, whose algorithm nobody has published."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax

from pallascope.problems import NotCaptured
from pallascope.rules import products
from pallascope.rules.retraced import traced
from pallascope.walk import Rule

_FACTORS = np.uint32(0xD2511F53), np.uint32(0xCD9E8D57)
_STEPS = np.uint32(0x9E3779B9), np.uint32(0xBB67AE85)
_ROUNDS = 10


def _scrambled(counter: Sequence[Any], key: Sequence[Any]) -> Sequence[Any]:
    upper = products.mulhi()
    (a, b, c, d), (k, m) = counter, key
    for _ in range(_ROUNDS):
        a, b, c, d = (upper(c, _FACTORS[1]) ^ b ^ k, c * _FACTORS[1],
                      upper(a, _FACTORS[0]) ^ d ^ m, a * _FACTORS[0])
        k, m = k + _STEPS[0], m + _STEPS[1]
    return a, b, c, d


def bits(shape: Sequence[int], dtype: Any, algorithm: Any, **params: Any) -> Callable[..., Any]:
    """Computes rng_bit_generator. Of the four words of a state, the first two are both the key and
    the upper half of the counter; the others are its lower half. Every count makes four words."""
    if str(getattr(algorithm, "name", algorithm)).endswith("THREE_FRY"):
        raise NotCaptured("rng_bit_generator with RNG_THREE_FRY")

    def function(state: Any) -> Any:
        if state.shape != (4,) or np.dtype(dtype).itemsize > 4:
            raise NotCaptured("rng_bit_generator of 64 bits")
        size = math.prod(shape)
        count = -(-size // 4)

        def behind(number: Any) -> tuple[Any, Any]:
            low = state[2] + number
            return low, state[3] + (low < number).astype(np.uint32)

        low, high = behind(lax.iota(np.uint32, count))
        key = [jnp.broadcast_to(state[at], (count,)) for at in (0, 1)]
        words = jnp.stack(_scrambled([low, high, *key], key), axis=1).reshape(-1)[:size]
        mask = np.uint32(2**(8 * np.dtype(dtype).itemsize) - 1)
        return (jnp.stack([state[0], state[1], *behind(np.uint32(count))]),
                (words & mask).astype(dtype).reshape(shape))

    return function


RULES: dict[str, Rule] = {"rng_bit_generator": traced(bits)}
