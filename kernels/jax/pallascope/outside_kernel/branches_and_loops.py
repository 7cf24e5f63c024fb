"""Branches and loops around kernels. What they carry lies in HBM, or in registers if it is a
scalar."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any

from pallascope import types
from pallascope.jax_compat import jaxprs, parameters
from pallascope.outside_kernel import carried_memory, collectives
from pallascope.outside_kernel.arrays import Array, Arrays
from pallascope.outside_kernel.in_place import InPlace
from pallascope.program import INDEX, Region
from pallascope.rules.control_flow import loop_of
from pallascope.rules.ref_transforms import element
from pallascope.walk import Walk

# Inlines a jaxpr with arrays as its arguments, of which some are needed when it has ended. Returns
# its results.
Inline = Callable[[Any, list[Array], Collection[int]], list[Array]]

_OUTSIDE = parameters.KERNELS | frozenset(collectives.NAMES)


def holds_kernel(eqn: Any) -> bool:
    """Returns whether the jaxprs of the equation hold a kernel or a collective anywhere."""
    return any(inner.primitive.name in _OUTSIDE or holds_kernel(inner)
               for jaxpr in jaxprs.jaxprs_of(eqn) for inner in jaxprs.open_jaxpr(jaxpr)[0].eqns)


class BranchesAndLoops:
    """The rules of cond, while and scan. A result has the memory of the argument that becomes it."""

    def __init__(self, walk: Walk, arrays: Arrays, in_place: InPlace, inline: Inline,
                 whole: Callable[[Array], Array]) -> None:
        self.walk = walk
        self.arrays = arrays
        self._in_place = in_place
        self._inlined = inline
        self._whole = whole

    def cond(self, eqn: Any, operands: list[Array]) -> list[Array]:
        which = self.walk.builder.flag(self.arrays.scalar(operands[0]))
        if self.walk.builder.types[which].dtype != "bool":
            which = self.walk.index(which)
        results, taken = self._of_branches(eqn, operands)
        lasting = [number for number in range(len(operands) - 1) if number + 1 not in taken]
        regions = []
        for branch in eqn.params["branches"]:
            with self.arrays.inside([]) as region:
                arguments = [self._current(taken[number]) if number in taken else array
                             for number, array in enumerate(operands)][1:]
                self._store(region, self._inline(branch, arguments, lasting), results)
            regions.append(region)
        return self._emit("cond", [which], results, {}, regions)

    def scan(self, eqn: Any, operands: list[Array]) -> list[Array]:
        num_consts, num_carry = parameters.scan_counts(eqn.params)
        builder, length, jaxpr = self.walk.builder, eqn.params["length"], eqn.params["jaxpr"]
        kept = _unchanged(jaxpr, num_consts, num_carry)
        carried = self._carried(eqn.outvars[:num_carry], operands, num_consts, kept)
        made = [self.arrays.new_result(v.aval) for v in eqn.outvars[num_carry:]]
        first = self._scalars(operands[num_consts:], carried)
        counter = builder.value(INDEX)
        arguments, current = self._arguments(carried, kept)
        lasting = [number for number in range(len(operands))
                   if not 0 <= number - num_consts < num_carry or number - num_consts in kept]
        with self.arrays.inside([counter, *arguments]) as region:
            place = counter
            if eqn.params["reverse"]:
                place = builder.one("sub", [builder.index(length - 1), counter], INDEX)
            elements = [self._element(array, place) for array in operands[num_consts + num_carry:]]
            found = self._inline(jaxpr, [*operands[:num_consts], *current, *elements], lasting)
            for array, element in zip(made, found[num_carry:], strict=True):
                self.arrays.copy(self.arrays.ref(element, "hbm"),
                                 self._element(array, place).ref())
            self._store(region, found[:num_carry], carried, kept)
        return self._emit("scan", first, carried, {"length": length}, [region]) + made

    def while_(self, eqn: Any, operands: list[Array]) -> list[Array]:
        (condition, asked), (body, taken), carry = loop_of(eqn, operands)
        kept = _unchanged(body, len(taken), len(carry))
        results = self._carried(eqn.outvars, operands, len(operands) - len(carry), kept)
        first = self._scalars(carry, results)
        arguments, current = self._arguments(results, kept)
        with self.arrays.inside(arguments) as asks:
            given = asked + current
            (holds,) = self._inline(condition, given, range(len(given)))
            asks.results = [self.arrays.scalar(holds)]
        arguments, current = self._arguments(results, kept)
        lasting = [*range(len(taken)), *(len(taken) + number for number in kept)]
        with self.arrays.inside(arguments) as rounds:
            self._store(rounds, self._inline(body, taken + current, lasting), results, kept)
        return self._emit("while", first, results, {}, [asks, rounds])

    def _inline(self, jaxpr: Any, arguments: list[Array], lasting: Collection[int]) -> list[Array]:
        return [self._whole(array) for array in self._inlined(jaxpr, arguments, lasting)]

    # ---- what is carried -------------------------------------------------------------------

    def _of_branches(self, eqn: Any, operands: list[Array]) -> tuple[list[Array],
                                                                     dict[int, Array]]:
        """Returns the results of a cond, and those among them that have the memory of an operand,
        by its number. If all branches make a result of operands, it begins as one of them."""
        results: list[Array] = []
        taken: dict[int, Array] = {}
        for number, v in enumerate(eqn.outvars):
            if v.aval.shape == ():
                results.append(Array(v.aval, ""))
                continue
            origins = carried_memory.of_branches(eqn, number)
            sources = [of.argument + 1 for of in origins if of is not None]
            source = sources[0] if sources and sources[0] not in taken else None
            if source is not None and (len(sources) == len(origins)
                                       or self._in_place.is_free(source, operands)):
                taken[source] = self._for_kernels(
                    self._in_place.updated(source, operands, v.aval))
                results.append(taken[source])
            else:
                results.append(self._for_kernels(self.arrays.new_result(v.aval)))
        return results, taken

    def _carried(self, variables: Sequence[Any], operands: list[Array], first: int,
                 kept: Collection[int]) -> list[Array]:
        """Returns arrays for the results of a loop, which begin as the operands from the first on.
        Those of rank 0 have no memory; what every round keeps is the operand."""
        return [Array(v.aval, "") if v.aval.shape == () else operands[first + number]
                if number in kept else self._for_kernels(
                    self._in_place.updated(first + number, operands, v.aval))
                for number, v in enumerate(variables)]

    def _for_kernels(self, array: Array) -> Array:
        """Returns the array, which lies as the kernels of a branch or a loop have it."""
        array.of_kernel = array.base is None
        return array

    def _scalars(self, sources: list[Array], carried: list[Array]) -> list[int]:
        return [self.arrays.scalar(source) for source, array
                in zip(sources, carried, strict=False) if array.aval.shape == ()]

    def _current(self, carried: Array) -> Array:
        """Returns what is carried as a round or a branch finds it."""
        return carried if carried.is_semaphore else self._in_place.same(carried, carried.aval)

    def _arguments(self, carried: list[Array],
                   kept: Collection[int]) -> tuple[list[int], list[Array]]:
        """Returns the scalars of a region, and everything that is carried as the arrays of its
        jaxpr."""
        arguments = [self.walk.builder.value(types.array_type(array.aval)) for array in carried
                     if array.aval.shape == ()]
        rest = iter(arguments)
        current = [Array(array.aval, "", scalar=next(rest)) if array.aval.shape == ()
                   else array if number in kept else self._current(array)
                   for number, array in enumerate(carried)]
        return arguments, current

    def _store(self, region: Region, found: list[Array], targets: list[Array],
               kept: Collection[int] = ()) -> None:
        """Ends the region: its results become what is carried. An array in memory where another one
        must go moves first. If that is so for all of them, one is put aside."""
        moves = []
        for number, (array, target) in enumerate(zip(found, targets, strict=True)):
            if target.aval.shape == ():
                region.results.append(self.arrays.scalar(array))
            elif number not in kept and not self._is_in_place(array, target):
                moves.append((array, target))
        while moves:
            free = next((move for move in moves if not any(
                self._memory(array) == self._memory(move[1]) for array, target in moves
                if target is not move[1])), None)
            if free is None:
                moves[0] = (self.arrays.copied(moves[0][0]), moves[0][1])
            else:
                moves.remove(free)
                self.arrays.copy(self.arrays.ref(free[0], "hbm"), self.arrays.ref(free[1], "hbm"))

    def _memory(self, array: Array) -> int:
        return self.arrays.ref(array.root(), "hbm")

    def _is_in_place(self, array: Array, target: Array) -> bool:
        """Returns whether the array is all that the target's memory holds, in its order."""
        return (self._memory(array) == self._memory(target)
                and array.aval.shape == target.aval.shape
                and not (_is_turned(array) or _is_turned(target)))

    def _element(self, array: Array, place: int) -> Array:
        """Returns a view of one element along the first axis."""
        view = element(self.walk, self.arrays.ref(array, "hbm"), 0, place)
        return Array(array.aval.update(shape=array.aval.shape[1:]), "", refs={"hbm": view},
                     home="hbm", of_round=True)

    def _emit(self, op: str, operands: list[int], results: list[Array], params: dict[str, Any],
              regions: list[Region]) -> list[Array]:
        scalars = [array for array in results if array.aval.shape == ()]
        found = self.walk.builder.emit(op, operands, [types.array_type(a.aval) for a in scalars],
                                       params, regions)
        for array, value in zip(scalars, found, strict=True):
            array.scalar = value
        return results


def _unchanged(jaxpr: Any, first: int, count: int) -> set[int]:
    """Returns which of the arrays that a loop carries every round yields as it finds them. They are
    the arguments of its body from the first on."""
    inner, _ = jaxprs.open_jaxpr(jaxpr)
    return {number for number in range(count) if inner.invars[first + number].aval.shape
            and inner.outvars[number] is inner.invars[first + number]}


def _is_turned(array: Array) -> bool:
    """Returns whether it shows its memory with the axes in another order."""
    return array.order is not None or (array.base is not None and _is_turned(array.base))
