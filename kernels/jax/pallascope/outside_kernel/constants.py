"""Operations on constants, which are computed when a function is captured.

JAX compiles each such operation alone. For functions that make tables of places, this takes longer
than everything else. NumPy has the same results where no float is rounded.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from pallascope import array_elements


def evaluate(eqn: Any, values: list[Any]) -> list[Any]:
    """Returns the results of the equation for these operands."""
    found = _by_numpy(eqn, values)
    if found is None:
        found = eqn.primitive.bind(*values, **eqn.params)
    return list(found) if eqn.primitive.multiple_results else [found]


def _by_numpy(eqn: Any, values: list[Any]) -> np.ndarray | None:
    name = eqn.primitive.name
    arrays = [np.asarray(value, v.aval.dtype) for value, v in zip(values, eqn.invars, strict=True)
              if isinstance(value, (np.ndarray, np.generic))]
    if len(arrays) != len(values):
        return None
    if name in _MOVES:
        found = _MOVES[name](eqn.params, *arrays)
    elif name == "convert_element_type" and eqn.params["new_dtype"] == arrays[0].dtype:
        (found,) = arrays
    elif name == "iota":
        found = _iota(eqn)
    elif name in _WHOLE and all(v.aval.dtype.kind in "iub" for v in (*eqn.invars, *eqn.outvars)):
        with np.errstate(over="ignore"):
            found = _by_element(_WHOLE[name], arrays)
    else:
        return None
    result = eqn.outvars[0].aval
    if found is None or found.shape != result.shape:
        return None
    return array_elements.as_type(np.asarray(found), result.dtype)


def _by_element(function: Callable[..., np.ndarray], arrays: Sequence[np.ndarray]) -> np.ndarray:
    """Computes only once for each element that operands repeat. Tables are often the same in all
    lanes."""
    shape = np.broadcast_shapes(*(array.shape for array in arrays))
    return np.broadcast_to(function(*map(array_elements.unrepeated, arrays)), shape)


def _broadcast(params: Any, array: np.ndarray) -> np.ndarray:
    shape = [1] * len(params["shape"])
    for extent, axis in zip(array.shape, params["broadcast_dimensions"], strict=True):
        shape[axis] = extent
    return np.broadcast_to(array.reshape(shape), params["shape"])


def _iota(eqn: Any) -> np.ndarray | None:
    aval, axis = eqn.outvars[0].aval, eqn.params["dimension"]
    if eqn.invars or aval.dtype.kind not in "iu":
        return None
    shape = [extent if at == axis else 1 for at, extent in enumerate(aval.shape)]
    return np.broadcast_to(np.arange(aval.shape[axis]).reshape(shape), aval.shape)


def _slice(params: Any, array: np.ndarray) -> np.ndarray:
    strides = params["strides"] or [1] * array.ndim
    return array[tuple(map(slice, params["start_indices"], params["limit_indices"], strides))]


def _dynamic_slice(params: Any, array: np.ndarray, *starts: np.ndarray) -> np.ndarray:
    sizes = params["slice_sizes"]
    first = [int(np.clip(start, 0, extent - size))
             for start, extent, size in zip(starts, array.shape, sizes, strict=True)]
    return array[tuple(slice(at, at + size) for at, size in zip(first, sizes, strict=True))]


def _gather(params: Any, array: np.ndarray, indices: np.ndarray) -> np.ndarray | None:
    """Computes the gather that indexing becomes. Up to JAX 0.9, constant slices with strides are
    gathers as well."""
    numbers, sizes = params["dimension_numbers"], params["slice_sizes"]
    batch = indices.shape[:-1]
    asked = [np.zeros(batch, np.int64) for _ in sizes]
    for number, axis in enumerate(numbers.start_index_map):
        asked[axis] = indices[..., number].astype(np.int64)
    for axis, number in zip(numbers.operand_batching_dims, numbers.start_indices_batching_dims,
                            strict=True):
        asked[axis] = np.indices(batch)[number]
    starts = [np.clip(start, 0, extent - size)
              for start, extent, size in zip(asked, array.shape, sizes, strict=True)]
    if params["mode"].name == "FILL_OR_DROP" and not all(map(np.array_equal, asked, starts)):
        return None
    dropped = {*numbers.collapsed_slice_dims, *numbers.operand_batching_dims}
    kept = [axis for axis in range(array.ndim) if axis not in dropped]
    places = [start.reshape((*batch, *[1] * len(kept))) for start in starts]
    for axis in kept:
        offsets = np.arange(sizes[axis])
        places[axis] = places[axis] + offsets.reshape([-1 if at == axis else 1 for at in kept])
    found = array[tuple(places)]
    return np.moveaxis(found, range(len(batch), found.ndim), numbers.offset_dims)


def _select(params: Any, which: np.ndarray, *cases: np.ndarray) -> np.ndarray | None:
    if which.dtype != bool:
        return None
    return _by_element(lambda which, *cases: np.where(which, cases[1], cases[0]), [which, *cases])


# Operations on any elements.
_MOVES: dict[str, Callable[..., np.ndarray | None]] = {
    "broadcast_in_dim": _broadcast,
    "slice": _slice,
    "dynamic_slice": _dynamic_slice,
    "gather": _gather,
    "select_n": _select,
    "reshape": lambda params, array: (
        array.reshape(params["new_sizes"]) if params["dimensions"] is None else None),
    "squeeze": lambda params, array: np.squeeze(array, params["dimensions"]),
    "transpose": lambda params, array: np.transpose(array, params["permutation"]),
    "rev": lambda params, array: np.flip(array, params["dimensions"]),
    "concatenate": lambda params, *arrays: np.concatenate(arrays, params["dimension"])}

# Operations on whole numbers and bools.
_WHOLE: dict[str, Callable[..., np.ndarray]] = {
    "add": np.add, "sub": np.subtract, "mul": np.multiply, "max": np.maximum, "min": np.minimum,
    "and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor, "not": np.invert,
    "eq": np.equal, "ne": np.not_equal, "lt": np.less, "le": np.less_equal, "gt": np.greater,
    "ge": np.greater_equal,
    "convert_element_type": lambda array: array}
