#!/usr/bin/env python3
"""Writes cases.json: what each operation of the IR computes, according to JAX or to NumPy in
float64.

    pip install jax==0.10.2 scipy
    python make_cases.py > cases.json

Arrays are [dtype, shape, bytes in hex]. A case is exact unless it has "ulp": then every element is
within that many units in the last place of its dtype. Exact cases come from JAX on a CPU, without
excess precision; cases with "ulp" come from float64, rounded once.
"""

import json
import os

os.environ["JAX_PLATFORMS"] = "cpu"
os.environ["XLA_FLAGS"] = "--xla_allow_excess_precision=false"

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import scipy.special
from jax import lax
from jax._src.random import prng, threefry2x32
from jax.experimental.pallas import tpu as pltpu

assert jax.__version__ == "0.10.2", jax.__version__

rng = np.random.default_rng(4)
cases = []

F32, BF16, F16 = np.float32, ml_dtypes.bfloat16, np.float16
INTS = [np.int32, np.uint32, np.int8, np.uint8, np.int16, np.uint16]


def packed(array):
    array = np.asarray(array)
    return [array.dtype.name, list(array.shape), np.ascontiguousarray(array).tobytes().hex()]


def case(op, inputs, outputs, params=None, ulp=0):
    outputs = outputs if isinstance(outputs, (list, tuple)) else [outputs]
    entry = {"op": op, "in": [packed(x) for x in inputs], "out": [packed(y) for y in outputs]}
    if params:
        entry["params"] = params
    if ulp:
        entry["ulp"] = ulp
    cases.append(entry)


def by_jax(op, function, *inputs, params=None, ulp=0):
    case(op, inputs, jax.jit(function)(*inputs), params, ulp)


def ints(dtype, shape=(4, 9)):
    """Returns the extreme numbers of the dtype and numbers between them."""
    info = np.iinfo(dtype)
    values = rng.integers(info.min, info.max, shape, dtype=dtype, endpoint=True)
    corners = [0, 1, 2, 3, info.max, info.max - 1, info.min, info.min + 1]
    if info.min < 0:
        corners += [-1, -2]
    flat = values.reshape(-1)
    flat[: len(corners)] = np.array(corners, dtype)
    rng.shuffle(flat)
    return values


def small(dtype, shape):
    """Returns whole numbers so small that sums and products of a few stay exact."""
    low = -4 if dtype is not np.bool_ and np.dtype(dtype).kind != "u" else 0
    return rng.integers(low, 5, shape).astype(dtype)


def floats(dtype, shape=(4, 9)):
    values = rng.normal(0, 8, shape).astype(dtype)
    corners = [0.0, -0.0, np.inf, -np.inf, np.nan, 0.5, -0.5, 1.5, 2.5, -2.5, 1.0, -1.0, 3.0]
    flat = values.reshape(-1)
    flat[: len(corners)] = np.array(corners, dtype)
    rng.shuffle(flat)
    return values


def bools(shape=(4, 9)):
    return rng.integers(0, 2, shape).astype(np.bool_)


def elementwise():
    for dtype in [F32, BF16, F16]:
        for op, f in [("neg", lax.neg), ("abs", lax.abs), ("sign", lax.sign), ("floor", lax.floor),
                      ("ceil", lax.ceil), ("is_finite", lax.is_finite), ("square", lax.square)]:
            by_jax(op, f, floats(dtype))
        for op, f in [("add", lax.add), ("sub", lax.sub), ("mul", lax.mul), ("max", lax.max),
                      ("min", lax.min), ("eq", lax.eq), ("ne", lax.ne), ("lt", lax.lt),
                      ("le", lax.le), ("gt", lax.gt), ("ge", lax.ge)]:
            by_jax(op, f, floats(dtype), floats(dtype))
        by_jax("clamp", lax.clamp, floats(dtype), floats(dtype), floats(dtype))
        for method in lax.RoundingMethod:
            by_jax("round", lambda x: lax.round(x, method), floats(dtype),
                   params={"round": int(method)})
    for op, f in [("div", lax.div), ("rem", lax.rem)]:
        by_jax(op, f, floats(F32), floats(F32))
    by_jax("add_any", jax._src.ad_util.add_any_p.bind, floats(F32), floats(F32))
    by_jax("nextafter", lax.nextafter, 1 + np.abs(floats(F32)), floats(F32))
    by_jax("nextafter", lax.nextafter, np.array([0, -0.0, 1, np.inf], F32),
           np.array([-0.0, 0, np.nan, 0], F32))
    for dtype in INTS:
        for op, f in [("neg", lax.neg), ("sign", lax.sign), ("square", lax.square),
                      ("not", lax.bitwise_not), ("population_count", lax.population_count),
                      ("clz", lax.clz)]:
            by_jax(op, f, ints(dtype))
        if np.iinfo(dtype).min < 0:
            by_jax("abs", lax.abs, ints(dtype))
        for op, f in [("add", lax.add), ("sub", lax.sub), ("mul", lax.mul), ("max", lax.max),
                      ("min", lax.min), ("eq", lax.eq), ("ne", lax.ne), ("lt", lax.lt),
                      ("le", lax.le), ("gt", lax.gt), ("ge", lax.ge), ("div", lax.div),
                      ("rem", lax.rem), ("and", lax.bitwise_and), ("or", lax.bitwise_or),
                      ("xor", lax.bitwise_xor)]:
            by_jax(op, f, ints(dtype), ints(dtype))
        by_jax("clamp", lax.clamp, ints(dtype), ints(dtype), ints(dtype))
        by_jax("clamp", lax.clamp, dtype(3), ints(dtype), dtype(9))
        by = rng.integers(0, np.iinfo(dtype).bits + 3, (4, 9)).astype(dtype)
        for op, f in [("shift_left", lax.shift_left),
                      ("shift_right_logical", lax.shift_right_logical),
                      ("shift_right_arithmetic", lax.shift_right_arithmetic)]:
            by_jax(op, f, ints(dtype), by)
        by_jax("integer_pow", lambda x: lax.integer_pow(x, 5), ints(dtype), params={"pow": 5})
    for op, f in [("and", lax.bitwise_and), ("or", lax.bitwise_or), ("xor", lax.bitwise_xor),
                  ("eq", lax.eq), ("lt", lax.lt), ("max", lax.max), ("min", lax.min)]:
        by_jax(op, f, bools(), bools())
    by_jax("not", lax.bitwise_not, bools())
    for dtype in [F32, BF16, np.int8, np.int32, np.bool_]:
        x, y = small(dtype, (4, 9)), small(dtype, (4, 9))
        by_jax("select_n", lax.select_n, bools(), x, y)
        by_jax("select_n", lax.select_n, np.bool_(True), x, y)
        by_jax("select_n", lax.select_n, rng.integers(0, 2, (4, 9)).astype(np.int32), x, y)
        by_jax("copy", lambda v: lax.copy_p.bind(v), x)
        case("stop_gradient", [x], x)
    for x in [np.array([4, 8], np.int32), np.int32(12)]:
        case("multiple_of", [x], x, {"multiple": 4})
    # Scalars, which are handled apart from arrays.
    for x, y in [(np.int32(7), np.int32(-2)), (np.uint32(2**32 - 1), np.uint32(2)),
                 (np.int8(-128), np.int8(-1)), (F32(0.1), F32(3)), (BF16(0.1), BF16(3))]:
        for op, f in [("add", lax.add), ("mul", lax.mul), ("div", lax.div), ("lt", lax.lt)]:
            by_jax(op, f, np.array(x), np.array(y))
    by_jax("population_count", lax.population_count, np.array(-2, np.int16))
    by_jax("not", lax.bitwise_not, np.array(True))


def transcendental():
    def exact(op, function, ulp, *inputs, params=None):
        with np.errstate(all="ignore"):
            wide = function(*[np.asarray(x, np.float64) for x in inputs])
            narrow = wide.astype(inputs[0].dtype)
        case(op, inputs, narrow, params, ulp)

    def edges(dtype, values):
        return np.array(list(values) + [0.0, -0.0, np.inf, -np.inf, np.nan], dtype)

    normal = rng.normal(0, 3, 40)
    positive = np.exp(rng.normal(0, 8, 40))
    inside = np.concatenate([rng.uniform(-1, 1, 30), 1 - np.exp(rng.uniform(-16, -2, 10)), [1, -1]])
    for dtype, ulp in [(F32, 2), (BF16, 1), (F16, 1)]:
        exact("exp", np.exp, ulp, edges(dtype, normal))
        exact("exp2", np.exp2, ulp, edges(dtype, normal))
        exact("expm1", np.expm1, ulp, edges(dtype, normal))
        exact("log", np.log, ulp, edges(dtype, np.minimum(positive, 6e4)))
        exact("log1p", np.log1p, ulp, edges(dtype, np.minimum(positive, 6e4)))
        exact("tanh", np.tanh, ulp, edges(dtype, normal))
        exact("logistic", scipy.special.expit, ulp, edges(dtype, normal))
        exact("sqrt", np.sqrt, ulp if dtype is not F32 else 0, edges(dtype, np.minimum(positive, 6e4)))
        exact("rsqrt", lambda x: 1 / np.sqrt(x), ulp, edges(dtype, np.clip(positive, 1e-4, 6e4)))
        exact("cbrt", np.cbrt, ulp, edges(dtype, normal))
        exact("sin", np.sin, ulp, edges(dtype, normal))
        exact("cos", np.cos, ulp, edges(dtype, normal))
        exact("tan", np.tan, ulp, edges(dtype, normal))
        exact("erf", scipy.special.erf, ulp, edges(dtype, normal))
        exact("erf_inv", scipy.special.erfinv, ulp, edges(dtype, inside))
        exact("reciprocal", lambda x: 1 / x, ulp if dtype is not F32 else 0, edges(dtype, normal),
              params={"approx": False})
        exact("atan2", np.arctan2, ulp, edges(dtype, normal), edges(dtype, normal[::-1]))
        exact("pow", np.power, ulp, edges(dtype, np.abs(normal) + 0.1),
              edges(dtype, np.clip(normal[::-1], -3, 3)))
        exact("integer_pow", lambda x: x**-3, 4 if dtype is F32 else 1,
              edges(dtype, np.clip(np.abs(normal), 0.1, None)), params={"pow": -3})
        exact("integer_pow", lambda x: x**0, 0, edges(dtype, normal), params={"pow": 0})
    exact("pow", np.power, 2, np.array([0, 0, -0.0, -2, -2, np.nan, -np.inf, 2], F32),
          np.array([0, -1, -1, 2, 3, 0, 3, 10], np.int32))
    x = edges(F32, normal)
    with np.errstate(all="ignore"):
        rough = (F32(1) / x.astype(BF16).astype(F32)).astype(BF16).astype(F32)
    case("reciprocal", [x], rough, {"approx": True})


def conversions():
    for f, t in [(F32, np.int32), (np.int32, F32), (np.int32, np.int8), (F32, BF16), (BF16, F32),
                 (np.int8, np.bool_), (np.bool_, F32), (F32, np.uint8)]:
        x = bools() if f is np.bool_ else floats(f) if f in (F32, BF16) else ints(f)
        by_jax("convert_element_type", lambda v: lax.convert_element_type(v, t), x,
               params={"dtype": np.dtype(t).name})
    for f, t in [(F32, np.int32), (np.int32, F32), (np.uint32, np.int32), (BF16, np.int16),
                 (np.uint8, np.int8)]:
        x = rng.integers(0, 100, (4, 8)).astype(f)
        for value in [x, x[1, 2]]:
            by_jax("bitcast_convert_type", lambda v: lax.bitcast_convert_type(v, t),
                   np.asarray(value), params={"dtype": np.dtype(t).name})
    for f, t in [(F32, np.int32), (BF16, np.uint32), (np.uint32, BF16), (np.int8, np.int32),
                 (np.int32, np.uint8), (np.int16, np.int8)]:
        x = rng.integers(0, 100, (3, 8, 5)).astype(f)
        by_jax("bitcast", lambda v: pltpu.bitcast(v, t), x, params={"dtype": np.dtype(t).name})
    # JAX has no rules for these on a CPU, so they follow their documentation.
    a, b = rng.normal(0, 1, (2, 4, 8)).astype(F32)
    word = a.astype(BF16).view(np.uint16).astype(np.uint32)
    word |= b.astype(BF16).view(np.uint16).astype(np.uint32) << 16
    case("pack_elementwise", [a, b], word, {"dtype": "bfloat16"})
    for index, half in enumerate([a, b]):
        case("unpack_elementwise", [word], half.astype(BF16).astype(F32),
             {"index": index, "packed": "bfloat16", "unpacked": "float32"})
    parts = [ints(np.int32, (2, 8)) for _ in range(4)]
    word = sum((p.astype(np.int64) & 255).astype(np.uint32) << np.uint32(8 * i)
               for i, p in enumerate(parts)).astype(np.uint32)
    case("pack_elementwise", parts, word, {"dtype": "int8"})
    for index, p in enumerate(parts):
        case("unpack_elementwise", [word.view(np.int32)], p.astype(np.int8).astype(np.int32),
             {"index": index, "packed": "int8", "unpacked": "int32"})
        case("unpack_elementwise", [word], p.astype(np.uint8).astype(np.uint32),
             {"index": index, "packed": "uint8", "unpacked": "uint32"})
    x = rng.normal(0, 1, (4, 8)).astype(F32)
    bits = rng.integers(0, 2**32, (4, 8), dtype=np.uint32)
    cut = ((x.view(np.uint32).astype(np.uint64) + (bits & 0xFFFF)) & 0xFFFF0000).astype(np.uint32)
    case("stochastic_round", [x, bits], (cut >> 16).astype(np.uint16).view(BF16),
         {"dtype": "bfloat16"})
    cut = ((x.view(np.uint32).astype(np.uint64) + (bits & 0xFFFFF)) & 0xFFF00000).astype(np.uint32)
    case("stochastic_round", [x, bits], cut.view(F32).astype(ml_dtypes.float8_e4m3fn),
         {"dtype": "float8_e4m3fn"})


def reductions():
    for dtype in [F32, BF16, np.int32, np.uint32, np.int8]:
        x = small(dtype, (3, 4, 5))
        for axes in [(0,), (1,), (2,), (0, 2), (0, 1, 2), ()]:
            for op, f in [("reduce_sum", lax.reduce_sum), ("reduce_max", lax.reduce_max),
                          ("reduce_min", lax.reduce_min)]:
                by_jax(op, lambda v: f(v, axes), x, params={"axes": axes})
    for dtype in [np.bool_, np.int32, np.uint8]:
        x = bools((3, 4, 5)) if dtype is np.bool_ else ints(dtype, (3, 4, 5))
        for axes in [(0,), (1, 2), (0, 2)]:
            for op, f in [("reduce_and", lax.reduce_and), ("reduce_or", lax.reduce_or)]:
                by_jax(op, lambda v: f(v, axes), x, params={"axes": axes})
    for op, f in [("reduce_max", lax.reduce_max), ("reduce_min", lax.reduce_min)]:
        for x in [floats(F32), np.zeros((3, 0), F32), np.zeros((3, 0), np.int8),
                  np.zeros((3, 0), np.uint32)]:
            by_jax(op, lambda v: f(v, (1,)), x, params={"axes": (1,)})
    for op, f in [("argmax", lax.argmax), ("argmin", lax.argmin)]:
        for x in [small(F32, (3, 4, 5)), small(np.int8, (3, 4, 5)), small(BF16, (3, 4, 5)),
                  np.array([[1, np.nan, 3, np.nan], [0, -0.0, 0, -1], [3, 3, 2, 3]], F32)]:
            for axis in range(x.ndim):
                by_jax(op, lambda v: f(v, axis, np.int32), x,
                       params={"axis": axis, "index_dtype": "int32"})
        by_jax(op, lambda v: f(v, 0, np.int32), small(F32, (7,)),
               params={"axis": 0, "index_dtype": "int32"})


def shapes():
    for dtype in [F32, BF16, np.int8, np.bool_]:
        x, y = small(dtype, (3, 4, 5)), small(dtype, (3, 2, 5))
        by_jax("broadcast_in_dim", lambda v: lax.broadcast_in_dim(v, (2, 3, 4, 6, 5), (1, 2, 4)), x,
               params={"shape": (2, 3, 4, 6, 5), "dimensions": (1, 2, 4)})
        by_jax("broadcast_in_dim", lambda v: lax.broadcast_in_dim(v, (4, 3), (0, 1)),
               small(dtype, (4, 1)), params={"shape": (4, 3), "dimensions": (0, 1)})
        by_jax("broadcast_in_dim", lambda v: lax.broadcast_in_dim(v, (2, 3), ()), np.array(x[0, 0, 0]),
               params={"shape": (2, 3), "dimensions": ()})
        by_jax("reshape", lambda v: lax.reshape(v, (5, 12)), x, params={"shape": (5, 12)})
        by_jax("reshape", lambda v: lax.reshape(v, ()), x[:1, :1, :1], params={"shape": ()})
        by_jax("reshape", lambda v: lax.reshape(v, (1, 1)), np.array(x[0, 0, 0]),
               params={"shape": (1, 1)})
        by_jax("squeeze", lambda v: lax.squeeze(v, (0, 2)), small(dtype, (1, 4, 1)),
               params={"axes": (0, 2)})
        for order in [(2, 0, 1), (0, 2, 1)]:
            by_jax("transpose", lambda v: lax.transpose(v, order), x, params={"permutation": order})
        by_jax("concatenate", lambda a, b, c: lax.concatenate([a, b, c], 1), x, y, x,
               params={"axis": 1})
        by_jax("concatenate", lambda *v: lax.concatenate(v, 0), *[small(dtype, (2, 3))] * 6,
               params={"axis": 0})
        for axis in range(4):
            by_jax("stack", lambda a, b: jnp.stack([a, b], axis), x, x[::-1], params={"axis": axis})
        for value in [small(dtype, (3,))]:
            by_jax("stack", lambda a, b: jnp.stack([a, b], 0), value[0], value[1],
                   params={"axis": 0})
            by_jax("unstack", lambda v: list(jnp.unstack(v)), value, params={"axis": 0})
        for axis in range(3):
            by_jax("unstack", lambda v: list(jnp.unstack(v, axis=axis)), x, params={"axis": axis})
        by_jax("split", lambda v: lax.split(v, (1, 3, 0), 1), x,
               params={"sizes": (1, 3, 0), "axis": 1})
        by_jax("slice", lambda v: lax.slice(v, (1, 0, 2), (3, 4, 5)), x,
               params={"start": (1, 0, 2), "limit": (3, 4, 5), "strides": ()})
        by_jax("slice", lambda v: lax.slice(v, (0, 1, 0), (3, 4, 5), (2, 2, 3)), x,
               params={"start": (0, 1, 0), "limit": (3, 4, 5), "strides": (2, 2, 3)})
        for config in [((1, 2, 0), (0, 0, 0), (0, 3, 0)), ((-1, 0, 0), (1, -2, 0), (-1, -1, 0)),
                       ((0, 0, 1), (2, 0, 2), (-3, -2, 2)), ((-4, 2, 0), (0, 0, 0), (0, 0, 0)),
                       ((0, 0, 0), (0, 0, 0), (9, -7, 0))]:
            low, high, interior = zip(*config)
            by_jax("pad", lambda v, f: lax.pad(v, f, config), x, np.array(x[0, 0, 1]),
                   params={"low": low, "high": high, "interior": interior})
        by_jax("tile", lambda v: jnp.tile(v, (2, 1, 3)), x, params={"repetitions": (2, 1, 3)})
        for shift in [0, 1, 4, 13]:
            by_jax("roll", lambda v, s: pltpu.roll(v, s, 2), x, np.array(shift, np.int32),
                   params={"axis": 2, "stride": 0, "stride_axis": -1})
        by_jax("roll", lambda v, s: pltpu.roll(v, s, 1, stride=3, stride_axis=0), x,
               np.array(2, np.int32), params={"axis": 1, "stride": 3, "stride_axis": 0})
        for axis, mode in [(0, "fill"), (1, "clip"), (2, "fill"), (1, "fill")]:
            shape = [3, 4, 5]
            shape[axis] = 6
            where = rng.integers(-1, [3, 4, 5][axis] + 1, shape).astype(np.int32)
            dims = lax.GatherDimensionNumbers(
                offset_dims=(), collapsed_slice_dims=(axis,), start_index_map=(axis,),
                operand_batching_dims=tuple(i for i in range(3) if i != axis),
                start_indices_batching_dims=tuple(i for i in range(3) if i != axis))
            by_jax("gather", lambda v, i: lax.gather(v, i, dims, (1, 1, 1), mode=mode), x,
                   where[..., None], params={"axis": axis, "mode": mode})
    for dtype in [np.int32, F32, np.uint8, BF16]:
        for dimension in range(3):
            by_jax("iota", lambda: lax.broadcasted_iota(dtype, (3, 4, 5), dimension),
                   params={"dtype": np.dtype(dtype).name, "shape": (3, 4, 5), "dimension": dimension})
    by_jax("iota_2x32_shape", lambda: prng.iota_2x32_shape((3, 4)), params={"shape": (3, 4)})
    words = [ints(np.uint32, (3, 7)) for _ in range(4)]
    by_jax("threefry2x32", threefry2x32.threefry2x32_p.bind, *words)
    by_jax("threefry2x32", threefry2x32.threefry2x32_p.bind, *[np.array(w[0, 0]) for w in words])
    key, drawn = (np.uint32(0x9e3779b9), np.uint32(7)), np.uint32(0xfffffffe)
    for shape in [(3, 5), ()]:
        counts = drawn + np.arange(np.prod(shape, dtype=int), dtype=np.uint32).reshape(shape)
        a, b = threefry2x32.threefry2x32_p.bind(*(np.full(shape, word) for word in key),
                                                np.zeros_like(counts), counts)
        case("prng_random_bits", [np.array(word) for word in (*key, drawn)], a ^ b,
             {"shape": shape})


def dots():
    forms = [((4, 6), (6, 5), ((1,), (0,)), ((), ())), ((4, 6), (5, 6), ((1,), (1,)), ((), ())),
             ((6, 4), (6, 5), ((0,), (0,)), ((), ())), ((6, 4), (5, 6), ((0,), (1,)), ((), ())),
             ((2, 4, 6), (2, 6, 5), ((2,), (1,)), ((0,), (0,))),
             ((4, 2, 6), (6, 5, 2), ((2,), (0,)), ((1,), (2,))),
             ((3, 4, 6), (6, 5, 4), ((1, 2), (2, 0)), ((), ())),
             ((2, 3, 4, 6), (6, 3, 2), ((3,), (0,)), ((1, 0), (1, 2))),
             ((6,), (6,), ((0,), (0,)), ((), ())), ((4, 6), (6,), ((1,), (0,)), ((), ())),
             ((4, 2), (3, 5), ((), ()), ((), ())), ((4, 0), (0, 3), ((1,), (0,)), ((), ()))]
    for left, right, contracting, batch in forms:
        for a, b, out in [(F32, F32, F32), (BF16, BF16, F32), (BF16, BF16, BF16),
                          (np.int8, np.int8, np.int32), (np.int32, np.int32, np.int32)]:
            x, y = small(a, left), small(b, right)
            if not contracting[0]:  # a single product may be -0, but a sum of products starts at +0
                x, y = abs(x), abs(y)
            by_jax("dot_general", lambda x, y: lax.dot_general(
                x, y, (contracting, batch), preferred_element_type=out), x, y,
                params={"contracting": contracting, "batch": batch, "dtype": np.dtype(out).name})
    for a, b in [(F32, BF16), (F16, F16), (ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e4m3fn)]:
        by_jax("dot_general", lambda x, y: lax.dot_general(
            x.astype(F32), y.astype(F32), (((1,), (0,)), ((), ())), preferred_element_type=F32),
            small(a, (4, 6)), small(b, (6, 5)),
            params={"contracting": ((1,), (0,)), "batch": ((), ()), "dtype": "float32"})


def places():
    def along(axis):
        others = tuple(i for i in range(3) if i != axis)
        return lax.ScatterDimensionNumbers(
            update_window_dims=(), inserted_window_dims=(axis,), scatter_dims_to_operand_dims=(axis,),
            operand_batching_dims=others, scatter_indices_batching_dims=others)

    combines = {"replace": lax.scatter, "add": lax.scatter_add, "mul": lax.scatter_mul,
                "min": lax.scatter_min, "max": lax.scatter_max}
    for dtype in [F32, BF16, np.int8, np.uint32, np.bool_]:
        x = small(dtype, (3, 4, 5))
        for axis, mode in [(0, "drop"), (1, "clip"), (2, "drop")]:
            shape = [3, 4, 5]
            shape[axis] = 2
            # Each place occurs once, so that the order makes no difference; some are out of bounds.
            where = np.argsort(rng.random([3, 4, 5]), axis).astype(np.int32)
            where = np.take(where, range(2), axis) + (2 if mode == "drop" else 0)
            update = small(dtype, shape)
            for combine, f in combines.items():
                if dtype is np.bool_ and combine != "replace":
                    continue
                by_jax("scatter", lambda v, i, u: f(v, i, u, along(axis), mode=mode,
                                                    unique_indices=True),
                       x, where[..., None], update,
                       params={"axis": axis, "combine": combine, "mode": mode})
        start = [np.array(n, np.int32) for n in (2, -1, 1)]
        by_jax("dynamic_slice", lambda v, *s: lax.dynamic_slice_p.bind(v, *s, slice_sizes=(2, 3, 4)),
               x, *start, params={"sizes": (2, 3, 4)})
        by_jax("dynamic_update_slice", lambda *v: lax.dynamic_update_slice_p.bind(*v), x,
               small(dtype, (2, 3, 4)), *start)
        for axes in [(0,), (2,), (0, 1, 2)]:
            by_jax("rev", lambda v: lax.rev(v, axes), x, params={"axes": axes})
        by_jax("sort", lambda v: lax.sort(v, dimension=1), x, params={"axis": 1, "keys": 1})
    x = small(np.int32, (6,))  # the same place again and again gets the sum of all
    by_jax("scatter", lambda v, i, u: v.at[i[:, 0]].add(u), x,
           np.array([[1], [1], [9], [1], [0]], np.int32), small(np.int32, (5,)),
           params={"axis": 0, "combine": "add", "mode": "drop"})
    for dtype in [F32, BF16, np.int32, np.uint8]:
        x = small(dtype, (3, 4, 5))
        for op, f in [("cumsum", lax.cumsum), ("cumprod", lax.cumprod), ("cummax", lax.cummax),
                      ("cummin", lax.cummin)]:
            for axis, reverse in [(0, False), (1, True), (2, False)]:
                by_jax(op, lambda v: f(v, axis, reverse), x,
                       params={"axis": axis, "reverse": reverse})
        by_jax("reduce_prod", lambda v: lax.reduce_prod(v, (0, 2)), x, params={"axes": (0, 2)})
    for keys, dtypes in [(1, [F32, np.int32]), (2, [np.int8, F32, np.uint8])]:
        arrays = [floats(d, (5, 9)) if d is F32 else small(d, (5, 9)) for d in dtypes]
        by_jax("sort", lambda *v: lax.sort(v, dimension=1, num_keys=keys), *arrays,
               params={"axis": 1, "keys": keys})


def products_with_scalars():
    for left, right in [((), ()), ((), (3, 5)), ((4,), ())]:
        for a, b, out in [(F32, F32, F32), (BF16, BF16, F32), (np.int8, np.int8, np.int32)]:
            by_jax("dot_general", lambda x, y: lax.dot_general(
                x, y, (((), ()), ((), ())), preferred_element_type=out),
                abs(small(a, left)), abs(small(b, right)),
                params={"contracting": ((), ()), "batch": ((), ()), "dtype": np.dtype(out).name})


def narrow_floats():
    """Each product of a power is rounded to the dtype; the next number is that of the dtype."""
    for dtype in [BF16, F16, ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2,
                  ml_dtypes.float8_e4m3b11fnuz]:
        x, y = (np.clip(rng.normal(0, 1, (4, 9)), -1.5, 1.5).astype(dtype) for _ in range(2))
        y[0, :3], x[0, 1] = [0, 2, -2], 0
        by_jax("integer_pow", lambda v: lax.integer_pow(v, 7), x, params={"pow": 7})
        by_jax("nextafter", lax.nextafter, x, y)
        by_jax("nextafter", lax.nextafter, y, np.full((4, 9), np.nan, dtype))


for family in [elementwise, transcendental, conversions, reductions, shapes, dots, places,
               products_with_scalars, narrow_floats]:
    family()
print('{"jax": "%s", "cases": [' % jax.__version__)
print(",\n".join(json.dumps(entry, separators=(",", ":")) for entry in cases))
print("]}")
