"""Rules of primitives whose elements come from, or go to, places that are known at run time.

The format's gather and scatter go along one axis, as on a TPU. Any other becomes one of the flat
array: the place of each element is computed first.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Sequence
from typing import Any

from pallascope.problems import NotCaptured
from pallascope.program import Builder, Params, Type
from pallascope.types import bits_of
from pallascope.walk import Rule, Walk

_MODES = ("fill_or_drop", "promise_in_bounds", "clip")


def _plain(numbers: Sequence[Any]) -> list[int]:
    return [int(number) for number in numbers]


def _renamed(make: Callable[[Any], Params]) -> Rule:
    """The operation of the primitive's name with the parameters that `make` makes of its own."""
    def rule(walk: Walk, eqn: Any, operands: list[int]) -> list[int]:
        return walk.builder.emit(eqn.primitive.name, operands,
                                 [walk.type_of(v) for v in eqn.outvars], make(eqn.params))

    return rule


def _mode(eqn: Any) -> str:
    mode = eqn.params["mode"].name.lower()
    if mode not in _MODES:
        raise NotCaptured(f"{eqn.primitive.name} with mode {mode}")
    return mode


@dataclasses.dataclass
class _Windows:
    """Windows of `whole`, one for each index vector; an array `around` has an element for each
    element of each window."""

    whole: tuple[int, ...]
    around: tuple[int, ...]
    window_axes: list[int]  # of `around`, for each axis of `whole` that is kept
    kept: list[int]
    index_map: list[int]  # the axis of `whole` for each element of an index vector
    batching: list[int]
    index_batching: list[int]
    sizes: list[int]


def _flat_places(builder: Builder, windows: _Windows, indices: int, mode: str) -> tuple[int, int]:
    """The place of every element of `around` in the flat `whole`, -1 outside, and whether it is
    inside."""
    shape = builder.types[indices].shape
    batch, count = shape[:-1], len(shape) - 1
    batch_axes = [axis for axis in range(len(windows.around)) if axis not in windows.window_axes]
    strides = [math.prod(windows.whole[axis + 1:]) for axis in range(len(windows.whole))]
    if math.prod(windows.whole) >= 2**31:
        raise NotCaptured("a gather or scatter in an array of 2^31 elements")
    indices = builder.convert(indices, "int32")
    number, flag = Type("int32", batch), Type("bool", batch)

    def fill(value: int, like: Type) -> int:
        return builder.broadcast(builder.index(value), like.shape)

    def count_along(axis: int, like: Type) -> int:
        return builder.one("iota", [], like, {"dtype": "int32", "shape": list(like.shape),
                                              "dimension": axis})

    def add_scaled(total: int, value: int, factor: int, like: Type) -> int:
        scaled = builder.one("mul", [value, fill(factor, like)], like)
        return builder.one("add", [total, scaled], like)

    place = fill(0, number)
    inside = builder.broadcast(builder.literal("bool", True), batch)
    for k, axis in enumerate(windows.index_map):
        part = builder.one("slice", [indices], Type("int32", (*batch, 1)), {
            "start": [0] * count + [k], "limit": [*batch, k + 1]})
        start = builder.one("reshape", [part], number, {"shape": list(batch)})
        last = fill(windows.whole[axis] - windows.sizes[axis], number)
        zero = fill(0, number)
        if mode == "fill_or_drop":
            for op, bound in (("ge", zero), ("le", last)):
                inside = builder.one("and", [inside, builder.one(op, [start, bound], flag)], flag)
        else:
            start = builder.one("clamp", [zero, start, last], number)
        place = add_scaled(place, start, strides[axis], number)
    for axis, index_axis in zip(windows.batching, windows.index_batching, strict=True):
        place = add_scaled(place, count_along(index_axis, number), strides[axis], number)
    around = Type("int32", windows.around)

    def spread(value: int) -> int:
        return builder.one("broadcast_in_dim", [value],
                           Type(builder.types[value].dtype, windows.around),
                           {"shape": list(windows.around), "dimensions": batch_axes})

    place, inside = spread(place), spread(inside)
    for axis, kept in zip(windows.window_axes, windows.kept, strict=True):
        place = add_scaled(place, count_along(axis, around), strides[kept], around)
    if mode == "fill_or_drop":
        place = builder.one("select_n", [inside, fill(-1, around), place], around)
    flat = Type("int32", (math.prod(windows.around), 1))
    return builder.one("reshape", [place], flat, {"shape": list(flat.shape)}), inside


def _flat(builder: Builder, value: int) -> int:
    type_ = builder.types[value]
    shape = (math.prod(type_.shape),)
    return builder.one("reshape", [value], Type(type_.dtype, shape), {"shape": list(shape)})


def _gather(walk: Walk, eqn: Any, operands: list[int]) -> list[int]:
    builder, mode = walk.builder, _mode(eqn)
    numbers, sizes = eqn.params["dimension_numbers"], _plain(eqn.params["slice_sizes"])
    type_, result = builder.types[operands[0]], walk.type_of(eqn.outvars[0])
    dropped = (*numbers.collapsed_slice_dims, *numbers.operand_batching_dims)
    filler = eqn.params.get("fill_value")
    rank = len(builder.types[operands[1]].shape)
    if filler is None and rank == len(sizes) + 1 and _is_along(numbers, sizes):
        axis = int(numbers.collapsed_slice_dims[0])
        return [builder.one("gather", operands, result, {"axis": axis, "mode": mode})]
    windows = _Windows(
        type_.shape, result.shape, _plain(numbers.offset_dims),
        [axis for axis in range(len(sizes)) if axis not in dropped],
        _plain(numbers.start_index_map), _plain(numbers.operand_batching_dims),
        _plain(numbers.start_indices_batching_dims), sizes)
    places, inside = _flat_places(builder, windows, operands[1], mode)
    found = builder.one("gather", [_flat(builder, operands[0]), places],
                        Type(type_.dtype, builder.types[places].shape[:1]),
                        {"axis": 0, "mode": mode})
    found = builder.one("reshape", [found], result, {"shape": list(result.shape)})
    if filler is not None and mode == "fill_or_drop":
        other = builder.broadcast(builder.literal(type_.dtype, filler), result.shape)
        found = builder.one("select_n", [inside, other, found], result)
    return [found]


def _is_along(numbers: Any, sizes: list[int]) -> bool:
    """As take_along_axis makes it, which is all that a TPU has."""
    return (sizes == [1] * len(sizes) and not numbers.offset_dims
            and len(numbers.collapsed_slice_dims) == 1
            and numbers.collapsed_slice_dims == numbers.start_index_map
            and numbers.operand_batching_dims == numbers.start_indices_batching_dims
            and len(numbers.operand_batching_dims) == len(sizes) - 1)


def _scatter(combine: str) -> Rule:
    """What is taken away ("sub") is added, its sign changed."""
    def rule(walk: Walk, eqn: Any, operands: list[int]) -> list[int]:
        builder, mode = walk.builder, _mode(eqn)
        numbers = eqn.params["dimension_numbers"]
        target, indices, updates = operands
        if combine == "sub":
            updates = builder.one("neg", [updates], builder.types[updates])
        type_, around = builder.types[target], builder.types[updates].shape
        dropped = (*numbers.inserted_window_dims, *numbers.operand_batching_dims)
        kept = [axis for axis in range(len(type_.shape)) if axis not in dropped]
        sizes = [1] * len(type_.shape)
        for axis, window_axis in zip(kept, numbers.update_window_dims, strict=True):
            sizes[axis] = around[window_axis]
        windows = _Windows(
            type_.shape, around, _plain(numbers.update_window_dims), kept,
            _plain(numbers.scatter_dims_to_operand_dims), _plain(numbers.operand_batching_dims),
            _plain(numbers.scatter_indices_batching_dims), sizes)
        places, _ = _flat_places(builder, windows, indices, mode)
        flat = _flat(builder, target)
        found = builder.one("scatter", [flat, places, _flat(builder, updates)],
                            builder.types[flat],
                            {"axis": 0, "combine": {"sub": "add"}.get(combine, combine),
                             "mode": mode})
        return [builder.one("reshape", [found], type_, {"shape": list(type_.shape)})]

    return rule


def _total_order(op: str) -> Rule:
    """lt_to, le_to and eq_to: of floats by their bits, which orders -0 before 0."""
    def rule(walk: Walk, eqn: Any, operands: list[int]) -> list[int]:
        builder, result = walk.builder, walk.type_of(eqn.outvars[0])

        def ordered(value: int) -> int:
            type_ = builder.types[value]
            if "int" in type_.dtype or type_.dtype == "bool":
                return value
            bits = bits_of(type_.dtype)
            whole = Type(f"int{bits}", type_.shape)
            code = builder.one("bitcast_convert_type", [value], whole, {"dtype": whole.dtype})

            def filled(number: int) -> int:
                return builder.broadcast(builder.literal(whole.dtype, number), type_.shape)

            sign = builder.one("shift_right_arithmetic", [code, filled(bits - 1)], whole)
            flip = builder.one("and", [sign, filled(2**(bits - 1) - 1)], whole)
            return builder.one("xor", [code, flip], whole)

        values = [ordered(builder.broadcast(value, result.shape)) for value in operands]
        return [builder.one(op, values, result)]

    return rule


RULES: dict[str, Rule] = {
    **dict.fromkeys(["cumsum", "cumprod", "cummax", "cummin"], _renamed(
        lambda params: {"axis": int(params["axis"])}
        | ({"reverse": True} if params["reverse"] else {}))),
    "sort": _renamed(lambda params: {"axis": int(params["dimension"]),
                                     "keys": int(params["num_keys"])}),
    "rev": _renamed(lambda params: {"axes": _plain(params["dimensions"])}),
    "dynamic_slice": _renamed(lambda params: {"sizes": _plain(params["slice_sizes"])}),
    "dynamic_update_slice": _renamed(lambda params: {}),
    "gather": _gather,
    **{name + ending: _scatter(ending[1:] or "replace") for name in ("scatter",)
       for ending in ("", *(sign + word for sign in "-_"
                            for word in ("add", "sub", "mul", "min", "max")))},
    "lt_to": _total_order("lt"),
    "le_to": _total_order("le"),
    "eq_to": _total_order("eq"),
}
