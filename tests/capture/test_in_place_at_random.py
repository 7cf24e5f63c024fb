"""Random functions of loops, branches, views and kernels that update arrays in place: whatever
shares its memory with what, values are JAX's."""

import random

import jax
import pytest
from jax import lax
from test_in_place import X, Y, checked, touched

CASES = 15


class Maker:
    """Makes random functions of two arrays. `draw` is called while they are traced, always with the
    same results."""

    def __init__(self, seed):
        self._seed = seed

    def function(self, x, y):
        self._draw = random.Random(self._seed)
        return tuple(self._body([x, y], 2)[-2:])

    def _body(self, arrays, depth):
        arrays = list(arrays)
        for _ in range(self._draw.randint(2, 4)):
            arrays.append(self._one(arrays, depth))
        return arrays

    def _one(self, arrays, depth):
        one, other = self._draw.choice(arrays), self._draw.choice(arrays)
        kind = self._draw.choice(["touched", "view", "viewed", "sum", "rows", "jit", "turned"]
                                 + ["loop", "loop", "branch"] * (depth > 0))
        by = self._draw.randint(1, 3)
        if kind == "touched":
            return touched(one, by)
        if kind == "view":
            return lax.reshape(lax.reshape(one, (2, 32, 128)), (64, 128))
        if kind == "viewed":
            return touched(one.reshape(32, 256), by).reshape(64, 128)
        if kind == "turned":
            return touched(one.T.reshape(64, 128), by).reshape(128, 64).T
        if kind == "rows":
            return one.at[8:16].set(other[:8] + by)
        if kind == "jit":
            return jax.jit(lambda a, b: touched(a, by) + b)(one, other)
        if kind == "loop":
            return self._loop(one, other, depth)
        if kind == "branch":
            return lax.cond(other[0, 0] > by, lambda a, b: self._last(a, b, depth),
                            lambda a, b: self._last(b, a, depth), one, other)
        return one + other

    def _last(self, one, other, depth):
        return self._body([one, other], depth - 1)[-1]

    def _loop(self, one, other, depth):
        closes_over, swaps = self._draw.random() < 0.3, self._draw.random() < 0.3

        def body(_, carried):
            found = self._body([*carried, *([other] if closes_over else [])], depth - 1)
            pair = found[-1], self._draw.choice(found)
            return pair[::-1] if swaps else pair

        return self._draw.choice(lax.fori_loop(0, 3, body, (one, other)))


@pytest.mark.parametrize("seed", range(CASES))
def test_values_are_those_of_jax(seed):
    donate = random.Random(seed).choice([(), (0,), (0, 1)])
    checked(Maker(seed).function, X, Y, donate=donate)
