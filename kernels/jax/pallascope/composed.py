"""Rules of primitives that the format lacks: traced again as others that it has."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax._src.lax import linalg

from pallascope import (compat, functions, philox, places, primitives, products, types,
                        windows)
from pallascope.problems import NotCaptured
from pallascope.walk import Rule, Walk


def traced(function: Callable[..., Callable[..., Any]]) -> Rule:
    """Inlines what `function(**params)` traces to, at the equation's line."""
    def rule(walk: Walk, eqn: Any, operands: list[int]) -> list[int]:
        shapes = [jax.ShapeDtypeStruct(v.aval.shape, v.aval.dtype) for v in eqn.invars]
        jaxpr = jax.make_jaxpr(function(**eqn.params))(*shapes)
        return walk.run_here(jaxpr, operands)

    return rule


def _top_k(k: int, **params: Any) -> Callable[..., Any]:
    """The first of a stable sort, the largest first. Floats are in the order of their bits: -0 is
    below 0, a NaN beyond the infinity of its sign."""
    def function(x: Any) -> Any:
        axis = int(params.get("axis", x.ndim - 1)) % x.ndim
        order = x
        if jnp.issubdtype(x.dtype, np.floating):
            width = jnp.finfo(x.dtype).bits
            bits = lax.bitcast_convert_type(x, f"int{width}")
            order = jnp.where(bits < 0, bits ^ (2 ** (width - 1) - 1), bits)
        places = lax.broadcasted_iota(jnp.int32, x.shape, axis)
        _, places, found = lax.sort((~order, places, x), dimension=axis, num_keys=1)
        return (lax.slice_in_dim(found, 0, k, axis=axis),
                lax.slice_in_dim(places, 0, k, axis=axis))

    return function


def _triangular_solve(left_side: bool, lower: bool, transpose_a: bool, unit_diagonal: bool,
                      **params: Any) -> Callable[..., Any]:
    """Row after row, by substitution."""
    def function(a: Any, b: Any) -> Any:
        matrix = a if left_side != transpose_a else jnp.swapaxes(a, -1, -2)
        right = b if left_side else jnp.swapaxes(b, -1, -2)
        downwards = lower == (left_side != transpose_a)
        size = matrix.shape[-1]
        diagonal = jnp.eye(size, dtype=bool)

        def turn(i: Any, x: Any) -> Any:
            at = i if downwards else size - 1 - i
            row = lax.dynamic_slice_in_dim(matrix, at, 1, axis=-2)
            here = lax.dynamic_slice_in_dim(diagonal, at, 1, axis=-2)
            known = jnp.where(here, 0, row)
            rest = lax.dynamic_slice_in_dim(right, at, 1, axis=-2) - jnp.matmul(
                known, x, precision=lax.Precision.HIGHEST)
            if not unit_diagonal:
                rest = rest / jnp.sum(jnp.where(here, row, 0), axis=-1, keepdims=True)
            return lax.dynamic_update_slice_in_dim(x, rest, at, axis=-2)

        x = lax.fori_loop(0, size, turn, jnp.zeros_like(right))
        return x if left_side else jnp.swapaxes(x, -1, -2)

    return function


def _cholesky(**params: Any) -> Callable[..., Any]:
    """Column after column; NaN throughout where a pivot is not positive."""
    def function(a: Any) -> Any:
        size = a.shape[-1]
        rows = lax.broadcasted_iota(jnp.int32, (size, 1), 0)

        def turn(j: Any, state: Any) -> Any:
            found, is_right = state
            column = lax.dynamic_slice_in_dim(a, j, 1, axis=-1)
            left = lax.dynamic_slice_in_dim(found, j, 1, axis=-2)
            rest = column - jnp.matmul(found, jnp.swapaxes(left, -1, -2),
                                       precision=lax.Precision.HIGHEST)
            pivot = lax.dynamic_slice_in_dim(rest, j, 1, axis=-2)
            rest = jnp.where(rows >= j, rest / jnp.sqrt(pivot), 0)
            return (lax.dynamic_update_slice_in_dim(found, rest, j, axis=-1),
                    is_right & (pivot > 0))

        start = jnp.zeros_like(a), jnp.full((*a.shape[:-2], 1, 1), True)
        found, is_right = lax.fori_loop(0, size, turn, start)
        return jnp.where(is_right, found, np.asarray(np.nan, a.dtype))

    return function


def _lu(**params: Any) -> Callable[..., Any]:
    """Column after column, as JAX has it where nothing better is."""
    def function(x: Any) -> Any:
        one = linalg._lu_unblocked
        for _ in x.shape[:-2]:
            one = jax.vmap(one)
        pivots, permutation, found = one(x)
        return found, pivots, permutation

    return function


def _linear_solve(walk: Walk, eqn: Any, operands: list[int]) -> list[int]:
    """How to solve it is a function among the parameters."""
    counts = eqn.params["const_lengths"]
    skipped = counts.matvec + counts.vecmat
    consts = operands[skipped:skipped + counts.solve]
    rest = operands[skipped + counts.solve + counts.transpose_solve:]
    return walk.run_here(eqn.params["jaxprs"].solve, consts + rest)


def _polynomial(unroll: int | None = None) -> Callable[..., Any]:
    """By Horner's rule, with the product by which a long one begins as JAX's loop does."""
    def function(x: Any, *coefficients: Any) -> Any:
        found = coefficients[-1]
        if len(coefficients) > (8 if unroll is None else unroll):
            found = 0 * x + found
        for coefficient in reversed(coefficients[:-1]):
            found = found * x + coefficient
        return found

    return function


def _expanded(_prim: Any) -> Callable[..., Any]:
    """What JAX 0.12 keeps whole until it is lowered, such as searchsorted."""
    return _prim.expand


def _einshape(equation: str, sizes: Any, **params: Any) -> Callable[..., Any]:
    """Axes are split, permuted and merged: "a(bc)->(ba)c"."""
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


def _cumlogsumexp(axis: int, reverse: bool) -> Callable[..., Any]:
    return lambda x: lax.associative_scan(jnp.logaddexp, x, reverse=reverse, axis=axis)


def _log2(**params: Any) -> Callable[..., Any]:
    return lambda x: lax.log(x) * np.asarray(1 / np.log(2), x.dtype)


def _empty(shape: Sequence[int], dtype: Any, **params: Any) -> Callable[..., Any]:
    """What is in it nobody may ask; it is 0, as elsewhere."""
    return lambda: jnp.zeros(shape, dtype)


def _reduce_precision(exponent_bits: int, mantissa_bits: int) -> Callable[..., Any]:
    """To nearest, ties to even, by adding to the bits; too large is infinite, too small is 0."""
    def function(x: Any) -> Any:
        own = jnp.finfo(x.dtype)
        if exponent_bits >= own.nexp and mantissa_bits >= own.nmant:
            return x
        if (x.dtype, exponent_bits, mantissa_bits) == (np.float32, 8, 7):
            return x.astype(jnp.bfloat16).astype(x.dtype)
        wide = x.astype(jnp.float32)
        finite = jnp.isfinite(wide)
        bits = lax.bitcast_convert_type(jnp.where(finite, wide, 0), jnp.int32)
        if mantissa_bits < own.nmant:
            drop = 23 - mantissa_bits
            odd = lax.shift_right_logical(bits, drop) & 1
            bits = (bits + (1 << (drop - 1)) - 1 + odd) & ~((1 << drop) - 1)
        found = lax.bitcast_convert_type(bits, jnp.float32)
        if exponent_bits < own.nexp:
            most = 2 ** (exponent_bits - 1) - 1
            sign = jnp.where(bits < 0, np.float32(-1), np.float32(1))
            size = jnp.abs(found)
            found = jnp.where(size >= 2.0 ** (most + 1), sign * np.float32(np.inf), found)
            found = jnp.where(size < 2.0 ** (1 - most), sign * np.float32(0), found)
        return jnp.where(finite, found, wide).astype(x.dtype)

    return function


def _widened(codes: Any) -> Any:
    """float8_e8m0fnu: a power of two, of which the code is a float32's exponent; 255 is NaN."""
    number = codes.astype(jnp.int32)
    bits = jnp.where(number == 0, jnp.int32(1 << 22), jnp.where(number == 255, 0, number << 23))
    return jnp.where(number == 255, np.float32(np.nan),
                     lax.bitcast_convert_type(bits, np.float32))


def _narrowed(x: Any) -> Any:
    """To nearest, ties away from zero; neither 0 nor what is negative has a code."""
    wide = x.astype(jnp.float32)
    bits = lax.bitcast_convert_type(jnp.where(jnp.isfinite(wide), wide, 0), jnp.int32)
    below = bits < 1 << 23  # subnormal: 2^-127, or nearer to 2^-126
    code = jnp.where(below, (bits > 1 << 22).astype(jnp.int32), (bits + (1 << 22)) >> 23)
    return jnp.where(bits <= 0, 255, code).astype(jnp.uint8)


def _convert(walk: Walk, eqn: Any, operands: list[int]) -> list[int]:
    source, target = eqn.invars[0].aval, eqn.params["new_dtype"]
    if not types.is_code(source.dtype) and not types.is_code(target):
        return primitives.RULES["convert_element_type"](walk, eqn, operands)

    def function(x: Any) -> Any:
        wide = _widened(x) if types.is_code(source.dtype) else x
        return _narrowed(wide) if types.is_code(target) else wide.astype(target)

    dtype = np.uint8 if types.is_code(source.dtype) else source.dtype
    return walk.run_here(jax.make_jaxpr(function)(jax.ShapeDtypeStruct(source.shape, dtype)),
                         operands)


def _approx_top_k(k: int, reduction_dimension: int, is_max_k: bool,
                  **params: Any) -> Callable[..., Any]:
    """Exact, as where JAX has nothing better: not by the bins of a TPU."""
    def function(x: Any) -> Any:
        found, places = _top_k(k, axis=reduction_dimension)(x if is_max_k else -x)
        return found if is_max_k else -found, places

    return function


def _bitcast(walk: Walk, eqn: Any, operands: list[int]) -> list[int]:
    sizes = [np.dtype(v.aval.dtype).itemsize for v in (*eqn.invars, *eqn.outvars)]
    same = eqn.invars[0].aval.shape == eqn.outvars[0].aval.shape or max(sizes) > 4
    rule = primitives.RULES["bitcast_convert_type"] if same else traced(functions.bitcast)
    return rule(walk, eqn, operands)


def _bitcast_of_rows(walk: Walk, eqn: Any, operands: list[int]) -> list[int]:
    """pltpu.bitcast, an operation where it packs rows. Along the last axis (from JAX 0.12 on, and
    on a SparseCore) the low bits come first, as in bitcast_convert_type."""
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


def _reduce(jaxpr: Any, dimensions: Sequence[int], consts: Sequence[Any] = (),
            **params: Any) -> Callable[..., Any]:
    """By a function of its own: neighbours in pairs, until one is left for each result."""
    combine = functions.by_element(jaxpr, consts)

    def function(*operands: Any) -> list[Any]:
        arrays, starts = operands[:len(operands) // 2], operands[len(operands) // 2:]
        kept = [axis for axis in range(arrays[0].ndim) if axis not in dimensions]
        shape = [arrays[0].shape[axis] for axis in kept]
        length = math.prod(arrays[0].shape[axis] for axis in dimensions)
        arrays = [jnp.transpose(x, [*dimensions, *kept]).reshape([length, *shape]) for x in arrays]
        while length > 1:
            even = length // 2 * 2
            pairs = combine(*(x[0:even:2] for x in arrays), *(x[1:even:2] for x in arrays))
            arrays = [jnp.concatenate([x, y[even:]]) for x, y in zip(pairs, arrays, strict=True)]
            length = arrays[0].shape[0]
        starts = [jnp.broadcast_to(start, shape) for start in starts]
        return combine(*starts, *(x[0] for x in arrays)) if length else starts

    return function


def _reduce_xor(axes: Sequence[int], **params: Any) -> Callable[..., Any]:
    def function(x: Any) -> Any:
        nothing = np.zeros((), x.dtype)
        (found,) = _reduce(jax.make_jaxpr(lax.bitwise_xor)(nothing, nothing), axes)(x, nothing)
        return found

    return function


def _scatter(walk: Walk, eqn: Any, operands: list[int]) -> list[int]:
    """With a function of its own, as of `at[...].apply`: that of all elements, for those that are
    named."""
    jaxpr = eqn.params.get("update_jaxpr")
    inner = None if jaxpr is None else compat.open_jaxpr(jaxpr)[0]
    if inner is None or inner.outvars[0] is inner.invars[1]:
        return places.RULES["scatter"](walk, eqn, operands)
    uses_updates = any(v is inner.invars[1] for step in inner.eqns for v in step.invars)
    if uses_updates or eqn.params.get("update_consts"):
        raise NotCaptured("scatter with a function of its updates")
    if not eqn.params["unique_indices"]:
        raise NotCaptured("scatter with a function, at places that unique_indices does not promise "
                          "to be different")
    numbers, mode = eqn.params["dimension_numbers"], eqn.params["mode"]

    def function(target: Any, indices: Any, updates: Any) -> Any:
        named = lax.scatter(jnp.zeros(target.shape, jnp.int32), indices,
                            jnp.ones(updates.shape, jnp.int32), numbers, mode=mode)
        (new,) = functions.by_element(jaxpr)(target, target)
        return jnp.where(named != 0, new, target)

    return traced(lambda **params: function)(walk, eqn, operands)


RULES: dict[str, Rule] = {
    "reduce": traced(_reduce), "reduce_xor": traced(_reduce_xor), "scatter": _scatter,
    "ragged_dot_general": traced(products.ragged_dot),
    **{name: traced(functions.of_numbers(function))
       for name, function in functions.FUNCTIONS.items()},
    **{name: traced(functions.by_jax(name)) for name in functions.BY_JAX},
    **{name: traced(function) for name, function in windows.REDUCTIONS.items()},
    "reduce_window": traced(windows.reduced_by),
    "select_and_scatter": traced(windows.select_and_scatter),
    "conv_general_dilated": traced(windows.convolution),
    "rng_bit_generator": traced(philox.bits), "empty": traced(_empty),
    "conv": traced(windows.added_convolution), "mulhi": traced(functions.mulhi),
    "bitcast": _bitcast_of_rows, "bitcast_convert_type": _bitcast,
    "dot_general": products.dot_general,
    "call_hi_primitive": traced(_expanded), "top_k": traced(_top_k),
    "triangular_solve": traced(_triangular_solve), "log2": traced(_log2),
    "cholesky": traced(_cholesky), "custom_linear_solve": _linear_solve,
    "lu": traced(_lu), "polynomial": traced(_polynomial),
    "cumlogsumexp": traced(_cumlogsumexp),
    "approx_top_k": traced(_approx_top_k), "einshape_lo": traced(_einshape),
    "convert_element_type": _convert,
    "reduce_precision": traced(_reduce_precision)}
