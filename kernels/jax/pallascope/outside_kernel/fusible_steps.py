"""Operations between kernels that XLA may fuse, and what is known about an operation that waits.

docs/xla.md says which rules these are and where they come from.
"""

from __future__ import annotations

import contextlib
import dataclasses
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import jax

from pallascope.outside_kernel.arrays import Array
from pallascope.rules import elementwise

# For the operations of the last two lines, XLA has a chain of elementwise operations.
BY_ELEMENT = frozenset(elementwise.ELEMENTWISE) | {
    "convert_element_type", "select_n", "clamp", "integer_pow", "round", "copy", "copy_p",
    "reduce_precision", "acos", "acosh", "asin", "asinh", "atan", "atanh", "bessel_i0e",
    "bessel_i1e", "cosh", "digamma", "erfc", "lgamma", "log2", "mulhi", "one_minus_square", "sinh"}
_MOVES = frozenset({
    "bitcast_convert_type", "broadcast_in_dim", "concatenate", "dynamic_slice", "gather",
    "iota", "pad", "reshape", "rev", "slice", "squeeze", "transpose"})
_RESHAPES = frozenset({"broadcast_in_dim", "reshape", "squeeze"})
REDUCTIONS = frozenset({
    "argmax", "argmin", "reduce_and", "reduce_max", "reduce_min", "reduce_or", "reduce_prod",
    "reduce_sum"})
FUSIBLE = BY_ELEMENT | _MOVES | REDUCTIONS | {"dot_general"}
HEROES = REDUCTIONS | {"dot_general"}  # a chain has one of them
# They are written to memory and read again, instead of being computed where they are read
# (InstructionFusion::IsExpensive).
EXPENSIVE = HEROES | {
    "acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "bessel_i0e", "bessel_i1e", "cbrt",
    "cos", "cosh", "digamma", "div", "erf", "erf_inv", "erfc", "exp", "exp2", "expm1", "gather",
    "lgamma", "log", "log1p", "log2", "logistic", "pow", "rem", "rsqrt", "sin", "sinh", "sqrt",
    "tan", "tanh"}


@dataclasses.dataclass(frozen=True)
class Uniform:
    """A constant whose elements are all equal. It needs no memory."""

    dtype: str
    element: Any
    shape: tuple[int, ...]


@dataclasses.dataclass(eq=False)
class Step:
    """An equation that waits, and what it reads: arrays, or scalars as values of the program."""

    eqn: Any
    operands: list[Array | Uniform | int]
    result: Array
    location: int

    @property
    def name(self) -> str:
        return self.eqn.primitive.name

    def arrays(self) -> list[Array]:
        return [of for of in self.operands if isinstance(of, Array)]

    def reshapes_one(self) -> bool:
        """Returns whether its result is its operand's only element in another shape."""
        return only_reshapes(self.eqn) and math.prod(self.result.aval.shape) == 1


@dataclasses.dataclass
class Fusion:
    """Steps that form one operation, in order, and those of their results that get memory."""

    steps: list[Step]
    results: list[Array]

    def inputs(self) -> list[Array]:
        made = {step.result for step in self.steps}
        return [array for array in dict.fromkeys(of for step in self.steps for of in step.arrays())
                if array not in made]

    def name(self) -> str:
        """Returns the name that XLA gives to what it fuses, which consists of its operations from
        the last to the first."""
        names = dict.fromkeys(step.name for step in reversed(self.steps))
        shown = [name for name in names if name not in ("broadcast_in_dim", "convert_element_type")]
        return "_".join((shown or list(names))[:3])


_TILE_ROWS, _TILE_LANES = 8, 128


_is_in_tiles = True


@contextlib.contextmanager
def arrays_in_tiles(is_in_tiles: bool) -> Iterator[None]:
    """Says whether arrays lie in HBM in tiles, as on a TPU, or row by row, as on a GPU."""
    global _is_in_tiles
    before, _is_in_tiles = _is_in_tiles, is_in_tiles
    try:
        yield
    finally:
        _is_in_tiles = before


def is_bitcast(before: tuple[int, ...], after: tuple[int, ...], of_kernel: bool = False) -> bool:
    """Returns whether a reshape moves nothing. If arrays lie in tiles, rows of tiles must stay
    whole and in order (ReshapeIsBitcast, with the tiles of openxla.org/xla/tiled_layout). An axis
    of 1 lies nowhere, except in the lanes of what is `of_kernel`."""
    if not _is_in_tiles:
        return True
    old, new = ([extent for axis, extent in enumerate(shape, 1)
                 if extent != 1 or (of_kernel and axis == len(shape))] for shape in (before, after))
    if old == new:
        return True
    if min(len(old), len(new)) < 2:  # one of them lies in a line
        wide = max(old, new, key=len)
        return wide[-1] == _TILE_LANES and wide[-2] % _TILE_ROWS == 0
    return old[-1] == new[-1] and (
        old[-2] == new[-2] or (old[-2] % _TILE_ROWS == 0 and new[-2] % _TILE_ROWS == 0))


def only_reshapes(eqn: Any, of_kernel: bool = False) -> bool:
    """Returns whether no element moves. `of_kernel` says whether the operand lies as kernels have
    it."""
    name = eqn.primitive.name
    if name not in _RESHAPES or (name == "reshape" and eqn.params["dimensions"] is not None):
        return False
    before, after = (v.aval.shape for v in (eqn.invars[0], eqn.outvars[0]))
    return math.prod(before) == math.prod(after) and is_bitcast(before, after, of_kernel)


def inverse(order: Sequence[int]) -> tuple[int, ...]:
    return tuple(order.index(axis) for axis in range(len(order)))


def equation(function: Callable[..., Any], avals: Iterable[Any]) -> Any:
    """Returns the only equation of the function of arrays of these types."""
    (eqn,) = jax.make_jaxpr(function)(
        *(jax.ShapeDtypeStruct(aval.shape, aval.dtype) for aval in avals)).eqns
    return eqn


def slices(split: Any) -> list[Any]:
    """Returns the equations that XLA has instead of a split."""
    (aval,), axis = [v.aval for v in split.invars], split.params["axis"]
    found, start = [], [0] * aval.ndim
    for v in split.outvars:
        limit = [*aval.shape[:axis], start[axis] + v.aval.shape[axis], *aval.shape[axis + 1:]]
        found.append(equation(lambda one, start=tuple(start), limit=tuple(limit): (
            jax.lax.slice_p.bind(one, start_indices=start, limit_indices=limit, strides=None)),
            [aval]))
        start[axis] = limit[axis]
    return found


def needed_steps(steps: Iterable[Step], kept: Iterable[Array]) -> list[Step]:
    """Returns the steps that the arrays depend on."""
    wanted, found = set(kept), []
    for step in reversed(list(steps)):
        if step.result in wanted:
            wanted.update(step.arrays())
            found.append(step)
    return found[::-1]
