"""Rules of gathers and scatters, whose places are known only at run time."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax

from pallascope.jax_compat import jaxprs
from pallascope.problems import NotCaptured
from pallascope.program import Type
from pallascope.rules import retraced
from pallascope.rules.flat_places import Windows, flat_places, flattened, windows_of_scatter
from pallascope.rules.gathered_rows import Rows
from pallascope.rules.renamed import integers
from pallascope.rules.retraced import traced
from pallascope.types import is_code, key_words
from pallascope.walk import Rule, Walk

MODES = ("fill_or_drop", "promise_in_bounds", "clip")

# How each scatter combines what is there with the updates. One by a function counts as `replace`.
COMBINED = {"scatter": "replace"} | {
    f"scatter{sign}{word}": word for sign in "-_" for word in ("add", "sub", "mul", "min", "max")}


def _mode(eqn: Any) -> str:
    mode = eqn.params["mode"].name.lower()
    if mode not in MODES:
        raise NotCaptured(f"{eqn.primitive.name} with mode {mode}: use one of {', '.join(MODES)}")
    return mode


def gather(walk: Walk, eqn: Any, operands: list[int]) -> list[int]:
    builder, mode = walk.builder, _mode(eqn)
    numbers, sizes = eqn.params["dimension_numbers"], integers(eqn.params["slice_sizes"])
    type_, result = builder.types[operands[0]], walk.type_of(eqn.outvars[0])
    dropped = (*numbers.collapsed_slice_dims, *numbers.operand_batching_dims)
    filler = eqn.params.get("fill_value")
    indices = builder.types[operands[1]].shape
    if _is_usual(filler, eqn.invars[0].aval.dtype):
        if len(indices) == len(sizes) + 1 and _is_along(numbers, sizes):
            axis = int(numbers.collapsed_slice_dims[0])
            return [builder.one("gather", operands, result, {"axis": axis, "mode": mode})]
        if rows := Rows.of(numbers, sizes, type_.shape, indices):
            return [rows.take(builder, operands[0], operands[1], mode, result)]
    windows = Windows(
        type_.shape, result.shape, integers(numbers.offset_dims),
        [axis for axis in range(len(sizes)) if axis not in dropped],
        integers(numbers.start_index_map), integers(numbers.operand_batching_dims),
        integers(numbers.start_indices_batching_dims), sizes)
    places, inside = flat_places(builder, windows, operands[1], mode)
    found = builder.one("gather", [flattened(builder, operands[0]), places],
                        Type(type_.dtype, builder.types[places].shape[:1]),
                        {"axis": 0, "mode": mode})
    found = builder.one("reshape", [found], result, {"shape": list(result.shape)})
    if filler is not None and mode == "fill_or_drop":
        other = builder.broadcast(builder.literal(type_.dtype, filler), result.shape)
        found = builder.one("select_n", [inside, other, found], result)
    return [found]


def _is_usual(filler: Any, dtype: Any) -> bool:
    """Returns whether the format's gather fills in the same for an index outside."""
    if is_code(dtype) or key_words(dtype) is not None:
        return False
    if filler is None:
        return True
    if jnp.issubdtype(dtype, jnp.inexact):
        return bool(np.isnan(filler))
    if dtype == bool:
        return bool(filler)
    limits = jnp.iinfo(dtype)
    return int(filler) == (limits.min if limits.min < 0 else limits.max)


def _is_along(numbers: Any, sizes: list[int]) -> bool:
    """Returns whether it has the form that take_along_axis makes, the only one that a TPU has."""
    return (sizes == [1] * len(sizes) and not numbers.offset_dims
            and len(numbers.collapsed_slice_dims) == 1
            and numbers.collapsed_slice_dims == numbers.start_index_map
            and numbers.operand_batching_dims == numbers.start_indices_batching_dims
            and len(numbers.operand_batching_dims) == len(sizes) - 1)


def _scatter(combine: str) -> Rule:
    """Returns the rule that combines by this operation. To subtract, the negated values are added.
    """
    def rule(walk: Walk, eqn: Any, operands: list[int]) -> list[int]:
        builder, mode = walk.builder, _mode(eqn)
        target, indices, updates = operands
        if combine == "sub":
            updates = builder.one("neg", [updates], builder.types[updates])
        type_ = builder.types[target]
        windows = windows_of_scatter(eqn.params["dimension_numbers"], type_.shape,
                                     builder.types[updates].shape)
        places, _ = flat_places(builder, windows, indices, mode)
        flat = flattened(builder, target)
        found = builder.one("scatter", [flat, places, flattened(builder, updates)],
                            builder.types[flat],
                            {"axis": 0, "combine": {"sub": "add"}.get(combine, combine),
                             "mode": mode})
        return [builder.one("reshape", [found], type_, {"shape": list(type_.shape)})]

    return rule


def is_by_function(eqn: Any) -> bool:
    """Returns whether a scatter replaces what is there by a function of it."""
    if COMBINED[eqn.primitive.name] != "replace" or eqn.params.get("update_jaxpr") is None:
        return False
    inner, _ = jaxprs.open_jaxpr(eqn.params["update_jaxpr"])
    return inner.outvars[0] is not inner.invars[1]


def scatter_by_function(walk: Walk, eqn: Any, operands: list[int]) -> list[int]:
    """Scatters by a function, as `at[...].apply` does: the function is computed on all elements,
    and its results are used only for the elements that are named."""
    if not is_by_function(eqn):
        return _scatter("replace")(walk, eqn, operands)
    jaxpr = eqn.params["update_jaxpr"]
    inner = jaxprs.open_jaxpr(jaxpr)[0]
    uses_updates = any(v is inner.invars[1] for step in inner.eqns for v in step.invars)
    if uses_updates or eqn.params.get("update_consts"):
        raise NotCaptured("scatter with a function of its updates")
    if not eqn.params["unique_indices"]:
        raise NotCaptured("scatter with a function, at places that unique_indices does not promise "
                          "to be different: use unique_indices=True if they are")
    numbers, mode = eqn.params["dimension_numbers"], eqn.params["mode"]

    def function(target: Any, indices: Any, updates: Any) -> Any:
        named = lax.scatter(jnp.zeros(target.shape, jnp.int32), indices,
                            jnp.ones(updates.shape, jnp.int32), numbers, mode=mode)
        (new,) = retraced.by_element(jaxpr)(target, target)
        return jnp.where(named != 0, new, target)

    return traced(lambda **params: function)(walk, eqn, operands)


RULES: dict[str, Rule] = {
    "gather": gather,
    **{name: _scatter(combine) for name, combine in COMBINED.items()},
    "scatter": scatter_by_function,
}
