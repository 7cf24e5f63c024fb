"""Rules of products: of matrices, as one operation of the format or several, and of integers."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from pallascope.problems import NotCaptured
from pallascope.program import Params
from pallascope.rules.renamed import plain, same_name
from pallascope.rules.retraced import traced
from pallascope.walk import Rule, Walk


def _dot_of_floats(walk: Walk, eqn: Any, operands: list[int]) -> list[int]:
    (lhs, rhs), (lhs_batch, rhs_batch) = eqn.params["dimension_numbers"]
    params: Params = {
        "lhs_contracting": plain(lhs), "rhs_contracting": plain(rhs),
        "lhs_batch": plain(lhs_batch), "rhs_batch": plain(rhs_batch),
        "dtype": walk.type_of(eqn.outvars[0]).dtype}
    return same_name(walk, eqn, operands, params | _precision(eqn.params["precision"]))


# What the presets of lax.DotAlgorithmPreset come to, but for rounding the operands.
PRESETS = {"BF16_BF16_F32": lax.Precision.DEFAULT, "F16_F16_F32": lax.Precision.DEFAULT,
           "BF16_BF16_F32_X3": lax.Precision.HIGH, "BF16_BF16_F32_X6": lax.Precision.HIGHEST,
           "F32_F32_F32": lax.Precision.HIGHEST}


def _precision(precision: Any) -> Params:
    if isinstance(precision, lax.DotAlgorithm):  # it is a tuple as well
        raise NotCaptured(f"dot_general with {precision}: use a preset such as "
                          "DotAlgorithmPreset.BF16_BF16_F32")
    names = {str(getattr(part, "name", None) or "DEFAULT")
             for part in (precision if isinstance(precision, tuple) else (precision,))}
    if not names <= {"DEFAULT", "HIGH", "HIGHEST"}:
        raise NotCaptured(f"dot_general with precision {getattr(precision, 'name', precision)}: use "
                          f"DEFAULT, HIGH, HIGHEST or one of {', '.join(PRESETS)}")
    # The higher precision of the two operands counts, as in XLA.
    most = max(names, key=["DEFAULT", "HIGH", "HIGHEST"].index)
    return {} if most == "DEFAULT" else {"precision": most.lower()}


_MOST_PRODUCTS = 1 << 22  # how many products may exist at a time


def _whole_dot(dimension_numbers: Any, dtype: Any) -> Callable[..., Any]:
    """Multiplies 32-bit integers, which no matrix unit accepts, as elementwise products and their
    sums. Large products are computed by rows of the left operand."""
    (left, right), (left_batch, right_batch) = dimension_numbers

    def function(x: Any, y: Any) -> Any:
        def turned(array: Any, batch: Any, contracting: Any) -> tuple[Any, list[int]]:
            free = [axis for axis in range(array.ndim) if axis not in (*batch, *contracting)]
            extents = [math.prod(array.shape[axis] for axis in axes)
                       for axes in (batch, free, contracting)]
            found = lax.transpose(array, [*batch, *free, *contracting]).reshape(extents)
            return found.astype(dtype), [array.shape[axis] for axis in (*batch, *free)]

        (a, shape), (b, other) = turned(x, left_batch, left), turned(y, right_batch, right)
        if a.shape[1] * b.size <= _MOST_PRODUCTS:
            found = jnp.sum(a[:, :, None] * b[:, None], axis=-1, dtype=dtype)
        else:
            found = lax.map(lambda row: jnp.sum(row[:, None] * b, axis=-1, dtype=dtype),
                            jnp.moveaxis(a, 1, 0))
            found = jnp.moveaxis(found, 0, 1)
        return found.reshape([*shape, *other[len(left_batch):]])

    return function


def _dot_of_truths(dimension_numbers: Any, dtype: Any) -> Callable[..., Any]:
    """Multiplies bools as numbers. If the result is a bool, it says whether any product is true."""
    def function(x: Any, y: Any) -> Any:
        x, y = (array.astype(jnp.bfloat16) if array.dtype == bool else array for array in (x, y))
        found = lax.dot_general(x, y, dimension_numbers, preferred_element_type=jnp.float32)
        return found > 0 if dtype == bool else found.astype(dtype)

    return function


def dot_general(walk: Walk, eqn: Any, operands: list[int]) -> list[int]:
    """Emits a product of matrices. If an algorithm is named, it says how often the operands are
    rounded to bf16."""
    dtypes = [np.dtype(v.aval.dtype) for v in (*eqn.invars, *eqn.outvars)]
    if dtypes[2].name in ("int32", "uint32") and any(dtype.itemsize == 4 for dtype in dtypes[:2]):
        return walk.trace(_whole_dot(eqn.params["dimension_numbers"], dtypes[2]), operands)
    if np.dtype(bool) in dtypes[:2]:
        return walk.trace(_dot_of_truths(eqn.params["dimension_numbers"], dtypes[2]), operands)
    name = getattr(eqn.params["precision"], "name", "")
    precision = PRESETS.get(name)
    if precision is None or isinstance(eqn.params["precision"], lax.Precision):
        return _dot_of_floats(walk, eqn, operands)
    wanted = eqn.outvars[0].aval.dtype

    def function(x: Any, y: Any) -> Any:
        rounded = {"BF16_BF16_F32": jnp.bfloat16, "F16_F16_F32": jnp.float16}.get(name)
        if rounded is not None:
            x, y = x.astype(rounded), y.astype(rounded)
        return lax.dot_general(x, y, eqn.params["dimension_numbers"], precision,
                               jnp.float32).astype(wanted)

    return walk.trace(function, operands)


def ragged_dot(ragged_dot_dimension_numbers: Any, precision: Any, preferred_element_type: Any,
               group_offset: Any = None, **params: Any) -> Callable[..., Any]:
    """Multiplies group by group: rows of `lhs` in order, or terms of a sum."""
    numbers = ragged_dot_dimension_numbers
    (contracting, _), batch = numbers.dot_dimension_numbers
    if any(batch) or group_offset is not None or len(numbers.lhs_ragged_dimensions) != 1:
        raise NotCaptured("ragged_dot_general with a batch or an offset")
    (ragged,) = numbers.lhs_ragged_dimensions

    def function(lhs: Any, rhs: Any, sizes: Any) -> Any:
        ends = jnp.cumsum(sizes)
        total_of = jnp.int32 if jnp.issubdtype(lhs.dtype, np.integer) else jnp.float32
        places = lax.broadcasted_iota(jnp.int32, lhs.shape, ragged)
        dtype = preferred_element_type or jnp.result_type(lhs, rhs)

        def part(group: Any) -> Any:
            here = (places >= ends[group] - sizes[group]) & (places < ends[group])
            right, dims = rhs, numbers.dot_dimension_numbers
            if numbers.rhs_group_dimensions:
                (axis,) = numbers.rhs_group_dimensions
                right = lax.dynamic_index_in_dim(rhs, group, axis, keepdims=False)
                ((left,), (of_right,)), none = dims
                dims = ((left,), (of_right - (axis < of_right),)), none
            return lax.dot_general(jnp.where(here, lhs, 0), right, dims, precision, total_of)

        groups = sizes.shape[0]
        if ragged in contracting:
            return lax.map(part, jnp.arange(groups)).astype(dtype)
        shape = jax.eval_shape(part, 0).shape
        return lax.fori_loop(0, groups, lambda group, total: total + part(group),
                             jnp.zeros(shape, total_of)).astype(dtype)

    return function


def mulhi(**params: Any) -> Callable[..., Any]:
    """Returns the upper half of a product of integers. 32-bit integers are multiplied in halves."""
    def function(a: Any, b: Any) -> Any:
        width = jnp.iinfo(a.dtype).bits
        if width < 32:
            wide = np.int32 if jnp.issubdtype(a.dtype, np.signedinteger) else np.uint32
            return (a.astype(wide) * b.astype(wide) >> width).astype(a.dtype)
        x, y = (lax.bitcast_convert_type(number, np.uint32) for number in (a, b))
        (low_x, high_x), (low_y, high_y) = ((n & 0xffff, n >> 16) for n in (x, y))
        cross = (low_x * low_y >> 16) + (high_x * low_y & 0xffff) + (low_x * high_y & 0xffff)
        found = high_x * high_y + (high_x * low_y >> 16) + (low_x * high_y >> 16) + (cross >> 16)
        if jnp.issubdtype(a.dtype, np.signedinteger):
            found = found - jnp.where(a < 0, y, 0) - jnp.where(b < 0, x, 0)
        return lax.bitcast_convert_type(found, a.dtype)

    return function


RULES: dict[str, Rule] = {
    "dot_general": dot_general,
    "ragged_dot_general": traced(ragged_dot),
    "mulhi": traced(mulhi),
}
