"""Branches and loops around kernels. What they carry lies in HBM, or in registers if it is a
scalar."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from pallascope import types
from pallascope.jax_compat import jaxprs, parameters
from pallascope.outside_kernel import collectives
from pallascope.outside_kernel.arrays import Array, Arrays
from pallascope.program import INDEX, Region
from pallascope.rules.control_flow import loop_of
from pallascope.rules.ref_transforms import element
from pallascope.walk import Walk

# Inlines a jaxpr with arrays as its arguments. Returns its results.
Inline = Callable[[Any, list[Array]], list[Array]]

_OUTSIDE = frozenset({"pallas_call", "mpmd_map", *collectives.NAMES})


def holds_kernel(eqn: Any) -> bool:
    """Returns whether the jaxprs of the equation hold a kernel or a collective anywhere."""
    return any(inner.primitive.name in _OUTSIDE or holds_kernel(inner)
               for jaxpr in jaxprs.jaxprs_of(eqn) for inner in jaxprs.open_jaxpr(jaxpr)[0].eqns)


class BranchesAndLoops:
    """The rules of cond, while and scan."""

    def __init__(self, walk: Walk, arrays: Arrays, inline: Inline,
                 whole: Callable[[Array], Array]) -> None:
        self.walk = walk
        self.arrays = arrays
        self._inlined = inline
        self._whole = whole

    def cond(self, eqn: Any, operands: list[Array]) -> list[Array]:
        which = self.walk.builder.flag(self.arrays.scalar(operands[0]))
        if self.walk.builder.types[which].dtype != "bool":
            which = self.walk.index(which)
        results = self._targets(eqn.outvars)
        regions = []
        for branch in eqn.params["branches"]:
            with self.arrays.inside([]) as region:
                self._store(region, self._inline(branch, operands[1:]), results)
            regions.append(region)
        return self._emit("cond", [which], results, {}, regions)

    def scan(self, eqn: Any, operands: list[Array]) -> list[Array]:
        num_consts, num_carry = parameters.scan_counts(eqn.params)
        builder, length = self.walk.builder, eqn.params["length"]
        results = self._targets(eqn.outvars)
        carried, made = results[:num_carry], results[num_carry:]
        first = self._begin(operands[num_consts:num_consts + num_carry], carried)
        counter = builder.value(INDEX)
        arguments, current = self._arguments(carried)
        with self.arrays.inside([counter, *arguments]) as region:
            place = counter
            if eqn.params["reverse"]:
                place = builder.one("sub", [builder.index(length - 1), counter], INDEX)
            elements = [self._element(array, place) for array in operands[num_consts + num_carry:]]
            found = self._inline(eqn.params["jaxpr"],
                                 [*operands[:num_consts], *current, *elements])
            for array, element in zip(made, found[num_carry:], strict=True):
                self.arrays.copy(self.arrays.ref(element, "hbm"),
                                 self._element(array, place).ref())
            self._store(region, found[:num_carry], carried)
        return self._emit("scan", first, carried, {"length": length}, [region]) + made

    def while_(self, eqn: Any, operands: list[Array]) -> list[Array]:
        (condition, asked), (body, taken), carried = loop_of(eqn, operands)
        results = self._targets(eqn.outvars)
        first = self._begin(carried, results)
        arguments, current = self._arguments(results)
        with self.arrays.inside(arguments) as asks:
            (holds,) = self._inline(condition, asked + current)
            asks.results = [self.arrays.scalar(holds)]
        arguments, current = self._arguments(results)
        with self.arrays.inside(arguments) as rounds:
            self._store(rounds, self._inline(body, taken + current), results)
        return self._emit("while", first, results, {}, [asks, rounds])

    def _inline(self, jaxpr: Any, arguments: list[Array]) -> list[Array]:
        return [self._whole(array) for array in self._inlined(jaxpr, arguments)]

    # ---- what is carried -------------------------------------------------------------------

    def _targets(self, variables: Sequence[Any]) -> list[Array]:
        """Returns arrays in HBM for results. Those of rank 0 have no memory."""
        return [Array(v.aval, "") if v.aval.shape == () else self.arrays.new_result(v.aval)
                for v in variables]

    def _begin(self, sources: list[Array], targets: list[Array]) -> list[int]:
        """Fills the memory. Returns the scalars."""
        scalars = []
        for source, target in zip(sources, targets, strict=True):
            if target.is_result:
                self.arrays.copy(self.arrays.ref(source, "hbm"), target.ref())
            else:
                scalars.append(self.arrays.scalar(source))
        return scalars

    def _arguments(self, carried: list[Array]) -> tuple[list[int], list[Array]]:
        """Returns the scalars of a region, and everything that is carried as the arrays of its
        jaxpr."""
        arguments = [self.walk.builder.value(types.array_type(array.aval)) for array in carried
                     if not array.is_result]
        rest = iter(arguments)
        current = [Array(array.aval, array.name, is_result=True, refs=dict(array.refs), home="hbm")
                   if array.is_result else Array(array.aval, "", scalar=next(rest))
                   for array in carried]
        return arguments, current

    def _store(self, region: Region, found: list[Array], targets: list[Array]) -> None:
        """Ends the region: its results become what is carried. An array in memory where another one
        must go is first put aside."""
        taken = {target.ref() for target in targets if target.is_result}
        pairs = []
        for array, target in zip(found, targets, strict=True):
            if not target.is_result:
                region.results.append(self.arrays.scalar(array))
                continue
            source = self.arrays.ref(array, "hbm")
            if source != target.ref():
                if self.arrays.ref(array.root(), "hbm") in taken:
                    source = self.arrays.copied(array).ref()
                pairs.append((source, target.ref()))
        for source, target_ref in pairs:
            self.arrays.copy(source, target_ref)

    def _element(self, array: Array, place: int) -> Array:
        """Returns a view of one element along the first axis."""
        view = element(self.walk, self.arrays.ref(array, "hbm"), 0, place)
        return Array(array.aval.update(shape=array.aval.shape[1:]), "", refs={"hbm": view},
                     home="hbm")

    def _emit(self, op: str, operands: list[int], results: list[Array], params: dict[str, Any],
              regions: list[Region]) -> list[Array]:
        scalars = [array for array in results if not array.is_result]
        found = self.walk.builder.emit(op, operands, [types.array_type(a.aval) for a in scalars],
                                       params, regions)
        for array, value in zip(scalars, found, strict=True):
            array.scalar = value
        return results
