"""Rules of the primitives that reinterpret the bits of elements as elements of another dtype."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax

from pallascope import types
from pallascope.problems import NotCaptured
from pallascope.rules.renamed import same_name
from pallascope.rules.retraced import traced
from pallascope.walk import Rule, Walk


def _bitcast_convert_type(walk: Walk, eqn: Any, operands: list[int]) -> list[int]:
    result = walk.type_of(eqn.outvars[0])
    if walk.builder.types[operands[0]].shape != result.shape:
        raise NotCaptured("bitcast_convert_type to another width")
    return same_name(walk, eqn, operands, {"dtype": result.dtype})


def _bitcast_to_width(new_dtype: Any) -> Callable[..., Any]:
    """Returns a bitcast to another width. An additional last axis holds the parts of an element,
    the lowest bits first."""
    def function(x: Any) -> Any:
        before, after = (8 * np.dtype(dtype).itemsize for dtype in (x.dtype, new_dtype))
        words = lax.bitcast_convert_type(x, f"uint{before}").astype(np.uint32)
        if before > after:
            parts = [words >> shift & (2**after - 1) for shift in range(0, before, after)]
            found = jnp.stack(parts, axis=-1)
        else:
            found = words[..., 0]
            for number in range(1, after // before):
                found = found | words[..., number] << (number * before)
        return lax.bitcast_convert_type(found.astype(f"uint{after}"), new_dtype)

    return function


def _bitcast(walk: Walk, eqn: Any, operands: list[int]) -> list[int]:
    sizes = [np.dtype(v.aval.dtype).itemsize for v in (*eqn.invars, *eqn.outvars)]
    same = eqn.invars[0].aval.shape == eqn.outvars[0].aval.shape or max(sizes) > 4
    rule = _bitcast_convert_type if same else traced(_bitcast_to_width)
    return rule(walk, eqn, operands)


def _bitcast_of_rows(walk: Walk, eqn: Any, operands: list[int]) -> list[int]:
    """Emits pltpu.bitcast, which is an operation of the format if it packs rows. Along the last
    axis (from JAX 0.12 on, and on a SparseCore) the low bits come first, as in
    bitcast_convert_type."""
    (before,), (after,) = eqn.invars, eqn.outvars
    if before.aval.shape[:-1] != after.aval.shape[:-1] or before.aval.shape == after.aval.shape:
        kind = walk.type_of(after)
        name = "bitcast_convert_type" if before.aval.shape == after.aval.shape else "bitcast"
        return [walk.builder.one(name, operands, kind, {"dtype": kind.dtype})]
    sizes = [types.bits_of(types.dtype_of(v.aval.dtype)) for v in (before, after)]

    def function(x: Any) -> Any:
        if sizes[0] < sizes[1]:
            x = x.reshape(*x.shape[:-1], -1, sizes[1] // sizes[0])
        return lax.bitcast_convert_type(x, after.aval.dtype).reshape(after.aval.shape)

    return walk.trace(function, operands)


RULES: dict[str, Rule] = {
    "bitcast": _bitcast_of_rows,
    "bitcast_convert_type": _bitcast,
}
