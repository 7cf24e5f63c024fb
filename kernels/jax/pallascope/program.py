"""The program of a kernel file while it is built: values, regions, operations.

Values are named by their numbers, as in the file. A region is filled inside `Builder.region`, and
`Builder.emit` appends to the innermost region that is open.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

Params = dict[str, Any]


class Type(NamedTuple):
    """The type of an array in registers (space None), or of a ref to memory in `space`."""

    dtype: str
    shape: tuple[int, ...] = ()
    space: str | None = None


INDEX = Type("int32")

# Operations that stay even if nobody uses their results, because they do more than yield results,
# or because they may reach out of bounds.
_EFFECTS = frozenset({
    "swap", "masked_swap", "cond", "while", "scan", "pipeline", "run_scoped", "core_map", "kernel",
    "fusion", "debug_print", "debug_check", "dma_start", "dma_wait", "semaphore_signal",
    "semaphore_wait", "delay", "get", "masked_load", "load_gather", "store_scatter",
    "addupdate_scatter", "atomic_rmw", "atomic_cas",
    "matmul_push_rhs", "matmul_acc_lhs", "matmul_pop", "matmul_lhs_fifo", "matmul_pop_fifo",
    "copy_gmem_to_smem", "copy_smem_to_gmem", "commit_group", "wait_smem_to_gmem",
    "wait_gmem_to_smem", "barrier_test", "commit_smem",
    "barrier_arrive", "barrier_wait", "wgmma", "wgmma_wait", "wgmma_accumulator_deref",
    "wgmma_accumulator_store", "set_max_registers", "tcgen05_mma", "tcgen05_commit_arrive",
    "async_copy_smem_to_tmem", "wait_load_tmem", "commit_tmem", "try_cluster_cancel", "warp_map"})


class Region:
    """A straight list of operations with arguments and results."""

    def __init__(self, arguments: Sequence[int]) -> None:
        self.arguments = list(arguments)
        self.operations: list[dict[str, Any]] = []
        self.results: list[int] = []
        self.used: set[int] = set()  # the values that it uses, once it is closed

    def to_json(self) -> dict[str, Any]:
        fields = {"arguments": self.arguments,
                  "operations": [_operation_to_json(entry) for entry in self.operations],
                  "results": self.results}
        return {key: value for key, value in fields.items() if value}


def _operation_to_json(entry: dict[str, Any]) -> dict[str, Any]:
    found = dict(entry)
    found["regions"] = [region.to_json() for region in entry["regions"]]
    if found["location"] < 0:
        del found["location"]
    return {key: value for key, value in found.items() if value != [] and value != {}}


class Builder:
    """Builds one program. What is emitted gets the place `location`."""

    def __init__(self) -> None:
        self.types: list[Type] = []
        self.values: list[dict[str, Any]] = []
        self.location = -1
        self._literals: dict[tuple[str, Any], int] = {}
        self._flags: dict[int, int] = {}  # for an integer that was made from a bool, that bool
        self._open: list[Region] = []
        self.made: dict[int, dict[str, Any]] = {}  # the operations, by the values that they define

    def value(self, type_: Type, name: str = "") -> int:
        """Returns a new value, which an operation or a region is to define."""
        fields: dict[str, Any] = {"name": name} if name else {}
        fields["dtype"] = type_.dtype
        if type_.shape:
            fields["shape"] = list(type_.shape)
        if type_.space:
            fields["space"] = type_.space
        self.types.append(type_)
        self.values.append(fields)
        return len(self.values) - 1

    def literal(self, dtype: str, number: Any) -> int:
        """Returns a scalar constant. There is one value for each dtype and number."""
        written = literal_to_json(number)
        key = (dtype, repr(written))
        if key not in self._literals:
            self._literals[key] = self.value(Type(dtype))
            self.values[-1]["literal"] = written
        return self._literals[key]

    def index(self, number: int) -> int:
        """Returns an int32 constant."""
        return self.literal("int32", number)

    def known(self, value: int) -> Any:
        """Returns the number of a constant, or None for a value that is known only at run time."""
        return self.values[value].get("literal")

    @contextlib.contextmanager
    def region(self, arguments: Sequence[int] = ()) -> Iterator[Region]:
        """Opens a region. The caller sets its results."""
        region = Region(arguments)
        self._open.append(region)
        try:
            yield region
        finally:
            self._open.pop()
        _drop_unused(region)

    @contextlib.contextmanager
    def before(self) -> Iterator[None]:
        """Puts what is emitted meanwhile before the operation to which the innermost region
        belongs."""
        inner = self._open.pop()
        try:
            yield
        finally:
            self._open.append(inner)

    def emit(self, op: str, operands: Sequence[int], results: Sequence[Type],
             params: Params | None = None, regions: Sequence[Region] = ()) -> list[int]:
        """Appends an operation to the innermost region. Returns the values that it defines."""
        defined = [self.value(type_) for type_ in results]
        entry = {
            "op": op, "operands": list(operands), "results": defined, "params": params or {},
            "regions": list(regions), "location": self.location}
        self._open[-1].operations.append(entry)
        self.made |= dict.fromkeys(defined, entry)
        return defined

    def one(self, op: str, operands: Sequence[int], result: Type,
            params: Params | None = None) -> int:
        """Appends an operation with one result, as `emit` does, and returns the result."""
        return self.emit(op, operands, [result], params)[0]

    def define_first(self, op: str, operands: Sequence[int], result: int, params: Params) -> None:
        """Puts an operation that defines `result` before all others of the open region."""
        self._open[-1].operations.insert(0, {
            "op": op, "operands": list(operands), "results": [result], "params": params,
            "regions": [], "location": -1})

    def append(self, region: Region) -> None:
        """Appends the operations of a closed region without arguments to the innermost region."""
        self._open[-1].operations.extend(region.operations)

    # ---- what several rules need -----------------------------------------------------------

    def broadcast(self, value: int, shape: tuple[int, ...]) -> int:
        """Returns an array of `shape`, every element of which has the given value: a scalar, or an
        array with axes of 1."""
        type_ = self.types[value]
        if type_.shape == tuple(shape):
            return value
        assert len(type_.shape) in (0, len(shape)), f"{type_} has no implicit form in {shape}"
        params: Params = {"shape": list(shape)}
        if type_.shape:
            params["dimensions"] = list(range(len(shape)))
        return self.one("broadcast_in_dim", [value], Type(type_.dtype, tuple(shape)), params)

    def convert(self, value: int, dtype: str) -> int:
        type_ = self.types[value]
        if type_.dtype == dtype:
            return value
        known = self.known(value)
        if known is not None and dtype == "int32" and isinstance(known, int):
            return self.index(known)
        found = self.one("convert_element_type", [value], Type(dtype, type_.shape),
                         {"dtype": dtype})
        if type_.dtype == "bool":
            self._flags[found] = value
        return found

    def flag(self, value: int) -> int:
        """Returns the bool from which the value was converted, or the value itself if it was not.
        """
        return self._flags.get(value, value)

    def add_index(self, a: int, b: int) -> int:
        """Returns the sum of two int32 scalars, which is computed here if both are known."""
        if self.known(a) is not None and self.known(b) is not None:
            return self.index(self.known(a) + self.known(b))
        if self.known(a) == 0 or self.known(b) == 0:
            return b if self.known(a) == 0 else a
        return self.one("add", [a, b], INDEX)

    def scale_index(self, a: int, factor: int) -> int:
        if self.known(a) is not None:
            return self.index(self.known(a) * factor)
        return a if factor == 1 else self.one("mul", [a, self.index(factor)], INDEX)


def literal_to_json(number: Any) -> int | float | str:
    """Returns the number as a file holds it."""
    if isinstance(number, (bool, np.bool_)):
        return int(number)
    if isinstance(number, (int, np.integer)):
        return int(number)
    number = float(number)
    if math.isnan(number):
        return "nan"
    if math.isinf(number):
        return "inf" if number > 0 else "-inf"
    return number


def _drop_unused(region: Region) -> None:
    """Removes values that nobody uses, as a compiler would."""
    used = set(region.results)
    for entry in region.operations:
        used = used.union(*(inner.used for inner in entry["regions"]))
    kept = []
    for entry in reversed(region.operations):
        if entry["op"] in _EFFECTS or used & set(entry["results"]):
            used.update(entry["operands"])
            kept.append(entry)
    region.operations = kept[::-1]
    region.used = used
