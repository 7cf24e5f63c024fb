"""Walks the jaxprs of a kernel: its equations in order, each by the rule of its primitive."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import jax
import numpy as np

from pallascope import types
from pallascope.jax_compat import jaxprs, lowering_rules
from pallascope.problems import NotCaptured, Problem
from pallascope.program import INDEX, Builder, Region, Type
from pallascope.sources import Locations, is_author, place_of, place_of_function, short_name

# Takes an equation and its operands, as values of the program. Returns the values of its results.
Rule = Callable[["Walk", Any, list[int]], list[int]]

_MOST_OF_A_TABLE = 64


@dataclasses.dataclass(frozen=True)
class Leaf:
    """An operand in the tree of a primitive's arguments. A plain number in that tree is static."""

    value: int


def _is_empty(variable: Any) -> bool:
    """Returns whether it is an array without elements."""
    return 0 in getattr(variable.aval, "shape", ())


class Walk:
    """The state of one capture, and the rules by which it walks."""

    def __init__(self, rules: dict[str, Rule]) -> None:
        self.builder = Builder()
        self.locations = Locations()
        self.problems: list[Problem] = []
        self.grid_axes: list[int] = []  # for each axis that a body knows, the pipeline's axis
        self.grid_names: dict[str, int] = {}  # these axes by the names that the grid gives them
        self.cores: dict[str, int] = {}  # extents of the named axes of the mesh of cores
        self.block_axes: list[str] = []  # those that count SparseCores, not subcores
        # The semaphore of subcore_barrier, and how many subcores meet.
        self.subcore_barrier: tuple[int, int] | None = None
        self.devices: dict[str, int] = {}  # extents of the axes of the mesh of devices
        self.collective_id: int | None = None  # says which barrier semaphore the kernel uses
        self.generator: int | None = None  # the state of the chip's random numbers
        # Whether the refs of each enclosing run_scoped are a pipeline's own buffers.
        self.scoped: dict[int, bool] = {}
        self.matrix_unit: dict[tuple[Any, ...], int] = {}  # the memory that it keeps for the kernel
        self.threads: frozenset[Any] = frozenset()  # the axis of a mesh that counts warpgroups
        self.axis_texts: dict[Any, str] = {}  # the names of axes of a GPU's grid in the file
        self.cluster: frozenset[Any] = frozenset()  # those that count the blocks of a cluster
        self.cluster_axes: list[Any] = []  # the same in their order
        self.grid_axis_names: list[Any] = []  # the axes of a GPU's grid
        # For what one block has of a ref that the blocks of its cluster allocate together: that ref.
        self.of_cluster: dict[int, int] = {}
        # In a warp_map: the name of its axis, and the number of the warp.
        self.warp: tuple[Any, int] | None = None
        # In a kernel for a GPU: the barriers that `bar` names, by the threads that meet there.
        self.named_barriers: dict[int, int] | None = None
        self.kernel_semaphores: list[int] = []  # those that a kernel for a GPU has in global memory
        # The members of a RefUnion, by the value that stands for it: by group and offset.
        self.unions: dict[int, dict[tuple[int, int], int]] = {}
        # For a ref in the shared memory of a GPU, the transforms that come first wherever it is used
        # and that only undo the order of its elements.
        self.layout_transforms: dict[int, tuple[Any, ...]] = {}
        # Of a pallas_call on a GPU: the places of its blocks, by the refs that stand for them, which
        # axes of its grid a program knows, and the extents of all axes.
        self.gpu_blocks: dict[int, Any] = {}
        self.program_axes: list[int] = []
        self.grid_sizes: list[int] = []
        self.warps = 4  # of a block of a pallas_call on a GPU
        self.stages = 1  # of the pipelines that Triton makes of loops
        # Whether the tensor core of a GPU reads operands from shared memory by itself, while the
        # program goes on.
        self.multiplies_from_shared = False
        self.given: dict[int, Rule] = {}  # rules of single equations, by their id()
        self.guard: int | None = None  # whether the current branch of an index map is taken
        self._jaxpr: Any = None  # which is walked
        self._rules = rules
        self._fixed = False  # whether the location stays as it is

    def run(self, jaxpr: Any, arguments: Sequence[int],
            constants: Sequence[int] | None = None) -> list[int]:
        """Inlines a jaxpr. `constants` are the values of its constvars, if the caller has them as
        operands."""
        inner, consts = jaxprs.open_jaxpr(jaxpr)
        if constants is None:
            constants = [self.constant(const) for const in consts]
        env = dict(zip(inner.constvars, constants, strict=True))
        env |= dict(zip(inner.invars, arguments, strict=True))

        around, self._jaxpr = self._jaxpr, inner
        try:
            for eqn in inner.eqns:
                env |= dict(zip(eqn.outvars, self.equation(eqn, [self.read(env, v)
                                                                 for v in eqn.invars]),
                                strict=True))
        finally:
            self._jaxpr = around
        return [self.read(env, v) for v in inner.outvars]

    def read(self, env: dict[Any, int], atom: Any) -> int:
        """Returns the value of a variable, or of a literal."""
        return self._literal(atom) if isinstance(atom, jaxprs.Literal) else env[atom]

    def uses(self, eqn: Any) -> bool:
        """Returns whether the jaxpr that is walked uses what the equation yields."""
        jaxpr = self._jaxpr
        read = [v for other in jaxpr.eqns for v in other.invars] + list(jaxpr.outvars)
        return any(v is found for v in read for found in eqn.outvars)

    def run_here(self, jaxpr: Any, arguments: Sequence[int]) -> list[int]:
        """Inlines a jaxpr that the current equation stands for. All of it gets the equation's line.
        """
        with self._at_this_line(True):
            return self.run(jaxpr, arguments)

    def trace(self, function: Callable[..., Any], values: Sequence[int]) -> list[int]:
        """Inlines what the function of these values traces to."""
        shapes = [types.struct(self.builder.types[value]) for value in values]
        return self.run_here(jax.make_jaxpr(function)(*shapes), values)

    @contextlib.contextmanager
    def by(self, rules: dict[str, Rule]) -> Iterator[None]:
        """Puts these rules before the usual ones for a while."""
        outer, self._rules = self._rules, self._rules | rules
        try:
            yield
        finally:
            self._rules = outer

    def call(self, jaxpr: Any, arguments: Sequence[int]) -> list[int]:
        """Inlines a function that the current equation calls."""
        with self.inside(jaxpr):
            return self.run(jaxpr, arguments)

    def inside(self, jaxpr: Any) -> contextlib.AbstractContextManager[None]:
        """Walks the equations of a function meanwhile. JAX traces its own functions only once, so
        their equations know only the line of the first call."""
        inner, _ = jaxprs.open_jaxpr(jaxpr)
        place = place_of_function(inner)
        return self._at_this_line(
            self._fixed or (place is not None and not is_author(place.path)))

    @property
    def knows_lines(self) -> bool:
        """Returns whether equations are at lines of the function that is walked."""
        return not self._fixed

    def in_kernel(self, jaxpr: Any = None) -> contextlib.AbstractContextManager[None]:
        """Walks a kernel meanwhile. An author's own kernel knows its lines, even if a function of
        JAX calls it, as shard_map calls the kernel of a pallas_call. Without a jaxpr the kernel is
        an author's."""
        if jaxpr is None:
            return self._at_this_line(False)
        inner, _ = jaxprs.open_jaxpr(jaxpr)
        place = place_of_function(inner)
        return self._at_this_line(
            self._fixed and (place is None or not is_author(place.path)))

    @contextlib.contextmanager
    def _at_this_line(self, fixed: bool) -> Iterator[None]:
        outer, self._fixed = self._fixed, fixed
        try:
            yield
        finally:
            self._fixed = outer

    @contextlib.contextmanager
    def at(self, eqn: Any) -> Iterator[None]:
        """Gives what is emitted the line of the equation, or that of the enclosing equation if it
        has none."""
        outer = self.builder.location
        place = None if self._fixed else place_of(eqn.source_info)
        if place is not None:
            self.builder.location = self.locations.number(place)
        try:
            yield
        finally:
            self.builder.location = outer

    @contextlib.contextmanager
    def at_location(self, location: int) -> Iterator[None]:
        """Gives all that is emitted this place, whatever its equations say."""
        outer, self.builder.location = self.builder.location, location
        try:
            with self._at_this_line(True):
                yield
        finally:
            self.builder.location = outer

    def equation(self, eqn: Any, operands: list[int]) -> list[int]:
        """Returns the results of one equation. If it is not supported, they are values of the right
        types."""
        with self.at(eqn):
            try:
                if not eqn.effects and eqn.outvars and all(map(_is_empty, eqn.outvars)):
                    return [self.builder.index(0)] * len(eqn.outvars)  # nobody reads these values
                given = self.given.get(id(eqn))
                return given(self, eqn, operands) if given else self.plainly(eqn, operands)
            except NotCaptured as reason:
                self.problem(str(reason))
                return [self.builder.value(self._type_or_any(v.aval)) for v in eqn.outvars]

    def plainly(self, eqn: Any, operands: list[int]) -> list[int]:
        """Returns the results of one equation by the rule of its primitive, whatever is given."""
        rule = self._rule(eqn)
        if rule is None:
            return self._by_jax(eqn, operands)
        types.check_elements(eqn)
        return rule(self, eqn, operands)

    def _rule(self, eqn: Any) -> Rule | None:
        return self._rules.get("keys" if types.moves_keys(eqn) else eqn.primitive.name)

    def has_rule(self, eqn: Any) -> bool:
        return self._rule(eqn) is not None

    def _by_jax(self, eqn: Any, operands: list[int]) -> list[int]:
        """Returns the results of the equations that JAX uses for the primitive when it lowers it.
        """
        jaxpr = lowering_rules.jaxpr_of(eqn)
        if jaxpr is None:
            raise NotCaptured(f"primitive {eqn.primitive.name}")
        with self.as_a_whole(eqn):
            return self.run_here(jaxpr, operands)

    @contextlib.contextmanager
    def as_a_whole(self, eqn: Any) -> Iterator[None]:
        """Walks the equations that the primitive is lowered to. If some of them are not supported
        and the function is JAX's, the author is told that the primitive is not supported."""
        count = len(self.problems)
        yield
        if len(self.problems) > count and lowering_rules.is_of_jax(eqn):
            del self.problems[count:]
            self.problem(f"primitive {eqn.primitive.name}")

    def problem(self, what: str) -> None:
        """Records what is not supported, at the current line. The walk goes on."""
        place = self.locations.place(self.builder.location)
        self.problems.append(
            Problem(what, short_name(place.path), place.line, place.function) if place
            else Problem(what))

    def region(self, jaxpr: Any, arguments: Sequence[int], operands: Sequence[int]) -> Region:
        """Returns a region with its own `arguments` that inlines the jaxpr with `operands` as its
        arguments."""
        with self.builder.region(arguments) as region:
            region.results = self.run(jaxpr, operands)
        return region

    def type_of(self, variable: Any) -> Type:
        """Returns the type of the array that an equation yields."""
        return types.array_type(variable.aval)

    def constant(self, const: Any) -> int:
        """Returns what a jaxpr closes over: a scalar, or the short table of a function that the
        format lacks."""
        array = types.stored(const)
        dtype = types.dtype_of(array.dtype)
        if array.size > _MOST_OF_A_TABLE:
            self.problem(f"an array constant of shape {array.shape} inside the kernel: give it to "
                         "the kernel as an argument")
            return self.builder.value(Type(dtype, array.shape))
        parts = [self.builder.literal(dtype, element) for element in array.flat]
        if array.shape == ():
            return parts[0]
        flat = [self.builder.broadcast(part, (1,)) for part in parts]
        table = self.builder.one("concatenate", flat, Type(dtype, (len(flat),)), {"axis": 0})
        return self.builder.one("reshape", [table], Type(dtype, array.shape),
                                {"shape": list(array.shape)})

    def index(self, value: int) -> int:
        """Returns the value as int32, the dtype of all indices of the format."""
        if self.builder.types[value].shape:
            raise NotCaptured("an index that is an array")
        return self.builder.convert(value, INDEX.dtype)

    def _literal(self, atom: Any) -> int:
        dtype = atom.aval.dtype if types.is_code(atom.aval.dtype) else None
        number = types.stored(np.asarray(atom.val, dtype))[()]
        value = self.builder.literal(types.dtype_of(atom.aval.dtype), number)
        return self.builder.broadcast(value, tuple(atom.aval.shape))

    @staticmethod
    def _type_or_any(aval: Any) -> Type:
        """Returns a type that at least has the shape if the dtype is not supported, so that this is
        reported only once."""
        found = INDEX
        try:
            found = INDEX._replace(shape=types.shape_of(aval))
            return types.ref_type(aval) if hasattr(aval, "inner_aval") else types.array_type(aval)
        except (NotCaptured, AttributeError):
            return found
