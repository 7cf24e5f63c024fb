"""Rules of the primitives on values: mostly the same operation, its parameters renamed."""

from __future__ import annotations

from typing import Any

from jax import lax

from pallascope import types
from pallascope.problems import NotCaptured
from pallascope.program import Params, Type
from pallascope.walk import Rule, Walk

ELEMENTWISE = """
    neg abs sign square floor ceil exp exp2 expm1 log log1p tanh logistic sqrt rsqrt cbrt sin cos
    tan erf erf_inv population_count clz is_finite not add add_any sub mul div rem max min
    nextafter atan2 pow shift_left shift_right_logical shift_right_arithmetic and or xor eq ne lt
    le gt ge""".split()

_MOST_OPERANDS = 64

# Of no meaning to a run: the operand itself. (Of one that makes a promise, JAX keeps nothing else.)
IDENTITY = """
    optimization_barrier pvary reshard sharding_constraint layout_cast layout_constraint name
    stop_gradient
    with_memory_space_constraint""".split()


def _elementwise(walk: Walk, eqn: Any, operands: list[int]) -> list[int]:
    """Scalars, which JAX lets stand for arrays, become arrays."""
    result = walk.type_of(eqn.outvars[0])
    operands = [walk.builder.broadcast(operand, result.shape) for operand in operands]
    return [walk.builder.one(eqn.primitive.name, operands, result)]


def _identity(walk: Walk, eqn: Any, operands: list[int]) -> list[int]:
    return operands


def _same(**renamed: str) -> Rule:
    """The operation of the primitive's name; `renamed` has its parameters by JAX's names."""

    def rule(walk: Walk, eqn: Any, operands: list[int]) -> list[int]:
        params = {ours: _plain(eqn.params[theirs]) for ours, theirs in renamed.items()}
        return walk.builder.emit(eqn.primitive.name, operands,
                                 [walk.type_of(v) for v in eqn.outvars], params)

    return rule


def _plain(parameter: Any) -> Any:
    if isinstance(parameter, (tuple, list)):
        return [_plain(entry) for entry in parameter]
    return parameter if parameter is None or isinstance(parameter, bool) else int(parameter)


def _one(walk: Walk, eqn: Any, operands: list[int], params: Params) -> list[int]:
    result = walk.type_of(eqn.outvars[0])
    return [walk.builder.one(eqn.primitive.name, operands, result, params)]


def _convert(walk: Walk, eqn: Any, operands: list[int]) -> list[int]:
    return [walk.builder.convert(operands[0], types.dtype_of(eqn.params["new_dtype"]))]


def _dtype(parameter: str) -> Rule:
    def rule(walk: Walk, eqn: Any, operands: list[int]) -> list[int]:
        return _one(walk, eqn, operands, {"dtype": types.dtype_of(eqn.params[parameter])})

    return rule


def _bitcast_convert_type(walk: Walk, eqn: Any, operands: list[int]) -> list[int]:
    result = walk.type_of(eqn.outvars[0])
    if walk.builder.types[operands[0]].shape != result.shape:
        raise NotCaptured("bitcast_convert_type to another width")
    return _one(walk, eqn, operands, {"dtype": result.dtype})


def _select_n(walk: Walk, eqn: Any, operands: list[int]) -> list[int]:
    if len(operands) <= 3:
        return _one(walk, eqn, operands, {})
    builder, (which, found, *cases) = walk.builder, operands
    type_ = builder.types[which]
    flag = type_._replace(dtype="bool")
    for number, case in enumerate(cases, 1):
        wanted = builder.broadcast(builder.literal(type_.dtype, number), type_.shape)
        found = builder.one("select_n", [builder.one("eq", [which, wanted], flag), found, case],
                            walk.type_of(eqn.outvars[0]))
    return [found]


def _integer_pow(walk: Walk, eqn: Any, operands: list[int]) -> list[int]:
    return _one(walk, eqn, operands, {"exponent": int(eqn.params["y"])})


def _round(walk: Walk, eqn: Any, operands: list[int]) -> list[int]:
    method = eqn.params["rounding_method"].name.lower()
    return _one(walk, eqn, operands, {"method": method})


def _reciprocal(walk: Walk, eqn: Any, operands: list[int]) -> list[int]:
    return _one(walk, eqn, operands, {"approx": bool(eqn.params["approx"])})


def _multiple_of(walk: Walk, eqn: Any, operands: list[int]) -> list[int]:
    value = operands[0]
    for multiple in eqn.params["values"]:
        value = walk.builder.one("multiple_of", [value], walk.builder.types[value],
                                 {"multiple": int(multiple)})
    return [value]


def _arg_reduction(walk: Walk, eqn: Any, operands: list[int]) -> list[int]:
    (axis,) = eqn.params["axes"]
    return _one(walk, eqn, operands,
                {"axis": int(axis), "dtype": types.dtype_of(eqn.params["index_dtype"])})


def _reshape(walk: Walk, eqn: Any, operands: list[int]) -> list[int]:
    if eqn.params.get("dimensions") is not None:
        order = _plain(eqn.params["dimensions"])
        dtype, shape, _ = walk.builder.types[operands[0]]
        turned = Type(dtype, tuple(shape[axis] for axis in order))
        operands = [walk.builder.one("transpose", operands, turned, {"permutation": order})]
    return _one(walk, eqn, operands, {"shape": list(walk.type_of(eqn.outvars[0]).shape)})


def _broadcast_to(walk: Walk, eqn: Any, operands: list[int]) -> list[int]:
    shape = walk.type_of(eqn.outvars[0]).shape
    rank = len(walk.builder.types[operands[0]].shape)
    dimensions = list(range(len(shape) - rank, len(shape)))
    if walk.builder.types[operands[0]].shape == shape:
        return operands
    return [walk.builder.one("broadcast_in_dim", operands, walk.type_of(eqn.outvars[0]),
                             {"shape": list(shape), "dimensions": dimensions})]


def _slice(walk: Walk, eqn: Any, operands: list[int]) -> list[int]:
    params = {"start": _plain(eqn.params["start_indices"]),
              "limit": _plain(eqn.params["limit_indices"])}
    if eqn.params["strides"] is not None:
        params["strides"] = _plain(eqn.params["strides"])
    return _one(walk, eqn, operands, params)


def _pad(walk: Walk, eqn: Any, operands: list[int]) -> list[int]:
    low, high, interior = zip(*eqn.params["padding_config"], strict=True)
    return _one(walk, eqn, operands,
                {"low": _plain(low), "high": _plain(high), "interior": _plain(interior)})


def _roll(walk: Walk, eqn: Any, operands: list[int]) -> list[int]:
    params: Params = {"axis": int(eqn.params["axis"])}
    if eqn.params["stride"] is not None:
        params |= {"stride": int(eqn.params["stride"]),
                   "stride_axis": int(eqn.params["stride_axis"])}
    return _one(walk, eqn, operands, params)


def _repeat(walk: Walk, eqn: Any, operands: list[int]) -> list[int]:
    repetitions = [1] * len(eqn.outvars[0].aval.shape)
    repetitions[eqn.params["axis"]] = int(eqn.params["repeats"])
    return [walk.builder.one("tile", operands, walk.type_of(eqn.outvars[0]),
                             {"repetitions": repetitions})]


def _iota(walk: Walk, eqn: Any, operands: list[int]) -> list[int]:
    if operands:
        raise NotCaptured("iota of a shape that is not known before the run")
    result = walk.type_of(eqn.outvars[0])
    return _one(walk, eqn, operands, {"dtype": result.dtype, "shape": list(result.shape),
                                      "dimension": int(eqn.params["dimension"])})


def _iota_2x32_shape(walk: Walk, eqn: Any, operands: list[int]) -> list[int]:
    return walk.builder.emit("iota_2x32_shape", [], [walk.type_of(v) for v in eqn.outvars],
                             {"shape": list(eqn.params["shape"])})


def _dot_general(walk: Walk, eqn: Any, operands: list[int]) -> list[int]:
    (lhs, rhs), (lhs_batch, rhs_batch) = eqn.params["dimension_numbers"]
    params: Params = {
        "lhs_contracting": _plain(lhs), "rhs_contracting": _plain(rhs),
        "lhs_batch": _plain(lhs_batch), "rhs_batch": _plain(rhs_batch),
        "dtype": walk.type_of(eqn.outvars[0]).dtype}
    return _one(walk, eqn, operands, params | _precision(eqn.params["precision"]))


def _precision(precision: Any) -> Params:
    if isinstance(precision, lax.DotAlgorithm):  # which is a tuple too
        raise NotCaptured(f"dot_general with {precision}; presets are captured "
                          "(DotAlgorithmPreset.BF16_BF16_F32, ...)")
    names = {str(getattr(part, "name", None) or "DEFAULT")
             for part in (precision if isinstance(precision, tuple) else (precision,))}
    if not names <= {"DEFAULT", "HIGH", "HIGHEST"}:
        raise NotCaptured(f"dot_general with precision {precision}")
    most = max(names, key=["DEFAULT", "HIGH", "HIGHEST"].index)  # of the two operands, as in XLA
    return {} if most == "DEFAULT" else {"precision": most.lower()}


def _threefry(walk: Walk, eqn: Any, operands: list[int]) -> list[int]:
    results = [walk.type_of(v) for v in eqn.outvars]
    operands = [walk.builder.broadcast(operand, results[0].shape) for operand in operands]
    return walk.builder.emit("threefry2x32", operands, results)


def _unpack(walk: Walk, eqn: Any, operands: list[int]) -> list[int]:
    return _one(walk, eqn, operands,
                {"index": int(eqn.params["index"]),
                 "packed": types.dtype_of(eqn.params["packed_dtype"]),
                 "unpacked": types.dtype_of(eqn.params["unpacked_dtype"])})


def _concatenate(walk: Walk, eqn: Any, operands: list[int]) -> list[int]:
    """Of many arrays in groups: one operation takes so many."""
    axis = int(eqn.params["dimension"])
    operands = [operand for operand, v in zip(operands, eqn.invars, strict=True)
                if 0 not in v.aval.shape]
    while len(operands) > _MOST_OPERANDS:
        operands = [_joined(walk, group, axis) for group in _groups(operands)]
    return [_joined(walk, operands, axis)]


def _groups(operands: list[int]) -> list[list[int]]:
    return [operands[first:first + _MOST_OPERANDS]
            for first in range(0, len(operands), _MOST_OPERANDS)]


def _joined(walk: Walk, operands: list[int], axis: int) -> int:
    dtype, first, _ = walk.builder.types[operands[0]]
    extent = sum(walk.builder.types[operand].shape[axis] for operand in operands)
    result = Type(dtype, (*first[:axis], extent, *first[axis + 1:]))
    return walk.builder.one("concatenate", operands, result, {"axis": axis})


def _stack(walk: Walk, eqn: Any, operands: list[int]) -> list[int]:
    if len(operands) <= _MOST_OPERANDS:
        return _one(walk, eqn, operands, {"axis": int(eqn.params["axis"])})
    axis = int(eqn.params["axis"])
    dtype, shape, _ = walk.builder.types[operands[0]]
    stacked = [walk.builder.one("stack", group, Type(dtype, (*shape[:axis], len(group),
                                                             *shape[axis:])), {"axis": axis})
               for group in _groups(operands)]
    return [_joined(walk, stacked, axis)]


def _split(walk: Walk, eqn: Any, operands: list[int]) -> list[int]:
    results = [walk.type_of(v) for v in eqn.outvars]
    axis = int(eqn.params["axis"])
    if len(results) > _MOST_OPERANDS:
        return _slices(walk, operands[0], axis, results, results)
    return walk.builder.emit("split", operands, results,
                             {"sizes": _plain(eqn.params["sizes"]), "axis": axis})


def _unstack(walk: Walk, eqn: Any, operands: list[int]) -> list[int]:
    results = [walk.type_of(v) for v in eqn.outvars]
    axis = int(eqn.params["axis"])
    if len(results) > _MOST_OPERANDS:
        return _slices(walk, operands[0], axis, [
            type_._replace(shape=(*type_.shape[:axis], 1, *type_.shape[axis:]))
            for type_ in results], results)
    return walk.builder.emit("unstack", operands, results, {"axis": axis})


def _slices(walk: Walk, operand: int, axis: int, parts: list[Type],
            results: list[Type]) -> list[int]:
    """The parts, one after the other along the axis, in the shapes of the results."""
    found = []
    start = [0] * len(parts[0].shape)
    for part, result in zip(parts, results, strict=True):
        limit = [at + extent for at, extent in zip(start, part.shape, strict=True)]
        value = walk.builder.one("slice", [operand], part, {"start": list(start), "limit": limit})
        if part != result:
            value = walk.builder.one("reshape", [value], result, {"shape": list(result.shape)})
        found.append(value)
        start[axis] = limit[axis]
    return found


RULES: dict[str, Rule] = {
    **dict.fromkeys(ELEMENTWISE, _elementwise),
    **dict.fromkeys([*IDENTITY, "copy", "copy_p"], _identity),
    **dict.fromkeys(["reduce_sum", "reduce_prod", "reduce_max", "reduce_min", "reduce_and",
                    "reduce_or"],
                    _same(axes="axes")),
    **dict.fromkeys(["argmax", "argmin"], _arg_reduction),
    "select_n": _select_n,
    "clamp": _same(),
    "convert_element_type": _convert,
    "bitcast_convert_type": _bitcast_convert_type,
    "stochastic_round": _dtype("target_dtype"),
    "pack_elementwise": _dtype("packed_dtype"),
    "unpack_elementwise": _unpack,
    "threefry2x32": _threefry,
    "integer_pow": _integer_pow,
    "round": _round,
    "reciprocal": _reciprocal,
    "multiple_of": _multiple_of,
    "broadcast_in_dim": _same(shape="shape", dimensions="broadcast_dimensions"),
    "broadcast_to": _broadcast_to,
    "reshape": _reshape,
    "squeeze": _same(axes="dimensions"),
    "transpose": _same(permutation="permutation"),
    "concatenate": _concatenate,
    "stack": _stack,
    "unstack": _unstack,
    "split": _split,
    "slice": _slice,
    "pad": _pad,
    "tile": _same(repetitions="reps"),
    "repeat": _repeat,
    "roll": _roll,
    "iota": _iota,
    "iota_2x32_shape": _iota_2x32_shape,
    "dot_general": _dot_general,
}
