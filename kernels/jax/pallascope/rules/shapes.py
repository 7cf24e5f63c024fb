"""Rules of the primitives that make arrays, or move elements to places known beforehand."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Callable, Sequence
from typing import Any

import jax.numpy as jnp
from jax import lax

from pallascope.problems import NotCaptured
from pallascope.program import Params, Type
from pallascope.rules.renamed import integers, plain, renamed, same_name, with_params
from pallascope.rules.retraced import traced
from pallascope.walk import Rule, Walk


def _reshape(walk: Walk, eqn: Any, operands: list[int]) -> list[int]:
    if eqn.params.get("dimensions") is not None:
        order = plain(eqn.params["dimensions"])
        dtype, shape, _ = walk.builder.types[operands[0]]
        turned = Type(dtype, tuple(shape[axis] for axis in order))
        operands = [walk.builder.one("transpose", operands, turned, {"permutation": order})]
    return same_name(walk, eqn, operands, {"shape": list(walk.type_of(eqn.outvars[0]).shape)})


def _broadcast_to(walk: Walk, eqn: Any, operands: list[int]) -> list[int]:
    shape = walk.type_of(eqn.outvars[0]).shape
    rank = len(walk.builder.types[operands[0]].shape)
    dimensions = list(range(len(shape) - rank, len(shape)))
    if walk.builder.types[operands[0]].shape == shape:
        return operands
    return [walk.builder.one("broadcast_in_dim", operands, walk.type_of(eqn.outvars[0]),
                             {"shape": list(shape), "dimensions": dimensions})]


def _slice(walk: Walk, eqn: Any, operands: list[int]) -> list[int]:
    params = {"start": plain(eqn.params["start_indices"]),
              "limit": plain(eqn.params["limit_indices"])}
    if eqn.params["strides"] is not None:
        params["strides"] = plain(eqn.params["strides"])
    return same_name(walk, eqn, operands, params)


def _pad(walk: Walk, eqn: Any, operands: list[int]) -> list[int]:
    if 0 in eqn.invars[0].aval.shape:
        return [walk.builder.broadcast(operands[1], walk.type_of(eqn.outvars[0]).shape)]
    low, high, interior = zip(*eqn.params["padding_config"], strict=True)
    return same_name(walk, eqn, operands,
                     {"low": plain(low), "high": plain(high), "interior": plain(interior)})


def _roll(walk: Walk, eqn: Any, operands: list[int]) -> list[int]:
    params: Params = {"axis": int(eqn.params["axis"])}
    if eqn.params["stride"] is not None:
        params |= {"stride": int(eqn.params["stride"]),
                   "stride_axis": int(eqn.params["stride_axis"])}
    return same_name(walk, eqn, operands, params)


def _repeat(walk: Walk, eqn: Any, operands: list[int]) -> list[int]:
    repetitions = [1] * len(eqn.outvars[0].aval.shape)
    repetitions[eqn.params["axis"]] = int(eqn.params["repeats"])
    return [walk.builder.one("tile", operands, walk.type_of(eqn.outvars[0]),
                             {"repetitions": repetitions})]


def _iota(walk: Walk, eqn: Any, operands: list[int]) -> list[int]:
    if operands:
        raise NotCaptured("iota of a shape that is not known before the run")
    result = walk.type_of(eqn.outvars[0])
    return same_name(walk, eqn, operands, {"dtype": result.dtype, "shape": list(result.shape),
                                           "dimension": int(eqn.params["dimension"])})


def _iota_2x32_shape(walk: Walk, eqn: Any, operands: list[int]) -> list[int]:
    return walk.builder.emit("iota_2x32_shape", [], [walk.type_of(v) for v in eqn.outvars],
                             {"shape": list(eqn.params["shape"])})


def _einshape(equation: str, sizes: Any, **params: Any) -> Callable[..., Any]:
    """Splits, permutes and merges axes: "a(bc)->(ba)c"."""
    left, right = ([re.findall(r"\w", group) for group in re.findall(r"\(.*?\)|\w", side)]
                   for side in equation.split("->"))

    def function(x: Any) -> Any:
        extents = dict(sizes)
        for extent, names in zip(x.shape, left, strict=True):
            known = math.prod(extents.get(name, 1) for name in names)
            extents |= {name: extent // known for name in names if name not in extents}
        before, after = (list(itertools.chain(*side)) for side in (left, right))
        split = x.reshape([extents[name] for name in before])
        turned = lax.transpose(split, [before.index(name) for name in after])
        return turned.reshape([math.prod(extents[name] for name in names) for names in right])

    return function


def _empty(shape: Sequence[int], dtype: Any, **params: Any) -> Callable[..., Any]:
    """Fills with 0, as JAX does elsewhere, what nobody may read."""
    return lambda: jnp.zeros(shape, dtype)


RULES: dict[str, Rule] = {
    "broadcast_in_dim": renamed(shape="shape", dimensions="broadcast_dimensions"),
    "broadcast_to": _broadcast_to,
    "reshape": _reshape,
    "squeeze": renamed(axes="dimensions"),
    "transpose": renamed(permutation="permutation"),
    "slice": _slice,
    "dynamic_slice": with_params(lambda params: {"sizes": integers(params["slice_sizes"])}),
    "dynamic_update_slice": with_params(lambda params: {}),
    "pad": _pad,
    "rev": with_params(lambda params: {"axes": integers(params["dimensions"])}),
    "roll": _roll,
    "tile": renamed(repetitions="reps"),
    "repeat": _repeat,
    "iota": _iota,
    "iota_2x32_shape": _iota_2x32_shape,
    "empty": traced(_empty),
    "einshape_lo": traced(_einshape),
}
