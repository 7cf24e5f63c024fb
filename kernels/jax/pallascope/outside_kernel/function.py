"""The function around the kernels: its equations, each by its rule, and the functions that it
calls."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

from pallascope import types
from pallascope.author_names.variables import variables_of
from pallascope.jax_compat import jaxprs, lowering_rules
from pallascope.outside_kernel import (branches_and_loops, carried_memory, collectives, constants,
                                       copies_for_kernels, device_parts, empty_arrays,
                                       flags_of_kernels, fusible_steps, fusion_operation, layouts,
                                       refs, shard_maps, updates, waiting_operations)
from pallascope.outside_kernel.arrays import Array, Arrays
from pallascope.outside_kernel.in_place import InPlace
from pallascope.outside_kernel.kernels import Kernels
from pallascope.outside_kernel.liveness import Frame, Frames, is_variable
from pallascope.problems import NotCaptured
from pallascope.program import Region
from pallascope.rules import identities
from pallascope.rules.control_flow import CALLS
from pallascope.walk import Walk

# Takes an equation and its operands. Returns its results, or None if the rule does not apply to it.
Rule = Callable[[Any, list[Array]], list[Array] | None]

# For these primitives, arrays that a shard_map cuts may stay cut outside of it.
_OF_PARTS = frozenset({"shard_map", "device_put", *shard_maps.SAME_VALUE, *identities.IDENTITY,
                       *CALLS})


class Function:
    """Walks the function on devices of this many cores: on TPUs, whose arrays lie in HBM in tiles,
    or on GPUs, whose arrays lie row by row."""

    def __init__(self, walk: Walk, cores: int = 1,
                 constant_names: Mapping[int, str] = MappingProxyType({}),
                 is_tpu: bool = True) -> None:
        self.walk = walk
        self._is_tpu = is_tpu
        self._constant_names = constant_names  # by the ids of the arrays
        self.arrays = Arrays(walk, is_tpu)
        self._frames = Frames()
        self._in_place = InPlace(walk, self.arrays, self._frames)
        self.kernels = Kernels(walk, self.arrays, self._frames, self._in_place, cores, is_tpu)
        self._collectives = collectives.Collectives(walk, self.arrays)
        self._parts = device_parts.DeviceParts(walk, self.arrays, self._collectives)
        self._waiting = waiting_operations.Waiting(walk, self.arrays, self._frames)
        self._copies = copies_for_kernels.CopiesForKernels(self._frames, self._waiting, is_tpu)
        self._flags = flags_of_kernels.FlagsOfKernels(walk, self.arrays, self._frames,
                                                      self._equation)
        self._around = False  # whether a shard_map is anywhere in the function
        self._inside = False  # whether the current equation is inside of it
        self._rules = self._table()

    def _table(self) -> dict[str, Rule]:
        """Returns the table from primitives to rules. An equation without a rule, or whose rule
        returns None, is computed on whole arrays."""
        of_refs = refs.Refs(self.walk, self.arrays, self._frames, self._inline_call)
        flow = branches_and_loops.BranchesAndLoops(
            self.walk, self.arrays, self._in_place, self._inline_call, self._whole)
        of_parts = updates.Updates(self.walk, self.arrays, self._in_place, self._is_tpu)
        return {
            **dict.fromkeys((*identities.IDENTITY, *shard_maps.SAME_VALUE), _same),
            "device_put": _device_put,
            "shard_map": self._shard_map,
            "pallas_call": self.kernels.pallas_call,
            "mpmd_map": self.kernels.mpmd_map,
            "core_map": self.kernels.core_map,
            **dict.fromkeys(collectives.NAMES, self._collectives.equation),
            **dict.fromkeys(CALLS, self._call),
            "cond": _around_kernels(flow.cond),
            "scan": _around_kernels(flow.scan),
            "while": _around_kernels(flow.while_),
            **of_refs.rules,
            **of_parts.rules,
            "empty": self._empty,
        }

    def run(self, jaxpr: Any, names: list[str], donated: Collection[int] = ()) -> Region:
        """Returns the program's body. It may overwrite the arguments that are `donated`."""
        arrays = self.arrays
        inner, consts = jaxprs.open_jaxpr(jaxpr)
        self._around = shard_maps.has_shard_map(inner)
        arrays.inputs = [Array(v.aval, name, bool(name), is_donated=number in donated,
                               of_kernel=self._around, layout=self._layout(v.aval))
                         for number, (v, name) in enumerate(zip(inner.invars, names, strict=True))]
        with (fusible_steps.arrays_in_tiles(self._is_tpu),
              self.walk.builder.region() as region):
            found = self._inline(inner, self._constants(inner, consts), list(arrays.inputs))
            found = [self._as_it_lies(array) for array in found]
            self._waiting.flush([array.root() for array in found], ends=True)
            for array in found:
                if array.is_semaphore:
                    self.walk.problem("a semaphore that the function returns")
            if self.walk.problems:
                return region
            try:
                between = arrays.order_results(found)
            except NotCaptured as reason:
                self.walk.problem(f"{reason}, that the function returns")
                return region
        region = arrays.with_memory(region, between)
        region.arguments = [] if self.walk.problems else arrays.declared()
        if not self.walk.problems:
            arrays.name_apart(between)
        return region

    def _layout(self, aval: Any) -> tuple[int, ...] | None:
        """Returns the layout of an argument or a result. Returns None also for what the format
        lacks, which `Arrays` reports."""
        if (self._around or not self._is_tpu or not hasattr(aval, "shape")
                or types.key_words(aval.dtype)):
            return None
        try:
            dtype, shape, _ = types.array_type(aval)
        except NotCaptured:
            return None
        return layouts.compact(shape, types.bits_of(dtype))

    def _as_it_lies(self, array: Array) -> Array:
        """Returns a result that was made in the layout of results."""
        order = self._layout(array.aval)
        is_made = self._waiting.makes(array) or array.root().is_result
        if order is None or not is_made or array.is_semaphore:
            return array
        return Array(array.aval, array.name, base=self._waiting.transposed(array, order),
                     order=fusible_steps.inverse(order))

    def mesh(self) -> list[dict[str, Any]]:
        """Returns the mesh of devices as the file holds it."""
        return [{"name": axis, "size": size} for axis, size in self.walk.devices.items()]

    # ---- its equations ---------------------------------------------------------------------

    def _constants(self, jaxpr: Any, consts: Any) -> list[Array]:
        return [self.arrays.constant(v.aval, const, self._constant_names.get(id(const), ""))
                for v, const in zip(jaxpr.constvars, consts, strict=True)]

    def _inline(self, jaxpr: Any, consts: list[Array], arguments: list[Array],
                lasting: Collection[int] | None = None) -> list[Array]:
        frame = Frame(jaxpr, lasting)
        env = frame.env
        env |= dict(zip(jaxpr.constvars, consts, strict=True))
        env |= dict(zip(jaxpr.invars, arguments, strict=True))

        def read(atom: Any) -> Array:
            if isinstance(atom, jaxprs.Literal):
                return Array(atom.aval, "", value=types.words_of(atom.val))
            return env[atom]

        names = variables_of(frame.eqns) if self.walk.knows_lines else {}
        with self._frames.opened(frame):
            for frame.at, eqn in enumerate(frame.eqns):
                operands = [read(v) for v in eqn.invars]
                results = self._results(eqn, operands)
                self._name(eqn, operands, results, names)
                env |= dict(zip(eqn.outvars, results, strict=True))
        return [read(v) for v in jaxpr.outvars]

    def _name(self, eqn: Any, operands: list[Array], results: list[Array],
              names: dict[Any, str]) -> None:
        """Names what an equation makes like the author's variable, else like its primitive."""
        for v, array in zip(eqn.outvars, results, strict=True):
            if array.is_named or any(array is operand for operand in operands):
                continue
            name = names.get(v, "")
            if name:
                self.arrays.rename(array, name)
            elif (array.name in ("", v.aval.str_short()) and array.base is None
                  and eqn.primitive.name not in CALLS):
                self.arrays.rename(array, eqn.primitive.name, False)

    def _results(self, eqn: Any, operands: list[Array]) -> list[Array]:
        """Returns the results of one equation. If it is not supported, they are arrays of the right
        types."""
        with self.walk.at(eqn):
            try:
                if self._is_tpu and flags_of_kernels.are_in(eqn):
                    return self._flags.with_casts(eqn, operands)
                return self._equation(eqn, operands)
            except NotCaptured as reason:
                self.walk.problem(str(reason))
                found = [Array(v.aval, "", is_result=True) for v in eqn.outvars]
                self.arrays.results += found
                return found

    def _inline_call(self, jaxpr: Any, arguments: list[Array],
                     lasting: Collection[int] | None = None) -> list[Array]:
        """Walks a function that is called. If it is a branch or the body of a loop, `lasting` says
        which of its arguments are needed when it has ended, by their numbers."""
        inner, consts = jaxprs.open_jaxpr(jaxpr)
        found = self._inline(inner, self._constants(inner, consts), arguments, lasting)
        if lasting is not None:
            self._waiting.flush(found)
        return found

    def _equation(self, eqn: Any, operands: list[Array]) -> list[Array]:
        if eqn.outvars and all(map(empty_arrays.is_empty, eqn.outvars)) and not eqn.effects:
            return [self.arrays.constant(v.aval, np.empty(v.aval.shape, v.aval.dtype))
                    for v in eqn.outvars]
        parts = empty_arrays.parts_of_split(eqn)
        if parts is not None:
            return [array for part in parts for array in (
                operands if part.outvars[0].aval.shape == operands[0].aval.shape
                else self._equation(part, operands))]
        eqn, operands = empty_arrays.removed(eqn, operands)
        name = eqn.primitive.name
        is_known = name != "axis_index" and all(operand.is_known for operand in operands)
        is_view = bool(operands) and self._is_view(eqn, operands[0])
        is_outside = self._around and not self._inside
        if not (is_known or is_view or is_outside) and self._waiting.takes(eqn, operands):
            return self._waiting.add(eqn, operands)
        if not (is_known or is_view or name in CALLS or name in identities.IDENTITY
                or (_is_scalar(eqn) and not any(map(self._waiting.makes, operands)))):
            operands = self._row_major(eqn, operands)
            self._waiting.flush(operands, changes=name in self._rules)
        found = None
        if is_outside and name not in _OF_PARTS:
            found = self._outside(eqn, operands)
        if found is None and name in self._rules:
            found = self._rules[name](eqn, operands)
        if found is None and refs.holds_ref(eqn):
            raise NotCaptured(f"{name} of a ref outside of a kernel")
        return self._computed(eqn, operands, is_known, is_view) if found is None else found

    def _is_view(self, eqn: Any, operand: Array) -> bool:
        """Returns whether the equation shows an array that has memory in another shape."""
        return (fusible_steps.only_reshapes(eqn, operand.is_of_kernel) and operand.layout is None
                and not self._waiting.makes(operand.root()))

    def _computed(self, eqn: Any, operands: list[Array], is_known: bool,
                  is_view: bool) -> list[Array]:
        """Returns the results of an equation without a rule: computed now, as a view, in registers,
        or as an operation."""
        if is_known:
            found = constants.evaluate(eqn, [
                types.with_keys(operand.value, operand.aval.dtype) for operand in operands])
            return [self.arrays.constant(v.aval, value)
                    for v, value in zip(eqn.outvars, found, strict=True)]
        if is_view:
            return [Array(eqn.outvars[0].aval, operands[0].name, base=operands[0])]
        whole = None if self.walk.has_rule(eqn) else lowering_rules.jaxpr_of(eqn)
        if whole is not None:
            with (self.walk.at_location(self.walk.builder.location),
                  self.walk.as_a_whole(eqn)):
                return self._inline_call(whole, operands)
        if _is_scalar(eqn):
            scalars = self.walk.equation(eqn, [self.arrays.scalar(array) for array in operands])
            return [Array(v.aval, "", scalar=scalar)
                    for v, scalar in zip(eqn.outvars, scalars, strict=True)]
        return self._operation(eqn, operands)

    def _call(self, eqn: Any, operands: list[Array]) -> list[Array]:
        called = jaxprs.called(eqn)
        with self.walk.inside(called):
            return self._inline_call(called, operands)

    def _empty(self, eqn: Any, operands: list[Array]) -> list[Array]:
        return [self.arrays.new_result(v.aval, "empty") for v in eqn.outvars]

    def _row_major(self, eqn: Any, operands: list[Array]) -> list[Array]:
        """Returns the operands with their axes in order, except scalars that a kernel wants before
        it starts."""
        first = 0
        if eqn.primitive.name == "pallas_call":
            mapping = eqn.params["grid_mapping"]
            first = mapping.num_dynamic_grid_bounds + mapping.num_index_operands
        operands = self._copies.copied(eqn, operands)
        return operands[:first] + [self._waiting.row_major(array) for array in operands[first:]]

    def _shard_map(self, eqn: Any, operands: list[Array]) -> list[Array]:
        """Makes every device run the function on its parts, which are what the program sees."""
        inner, consts = jaxprs.open_jaxpr(eqn.params["jaxpr"])
        parts = shard_maps.shard_map_of(eqn, inner)
        if self._inside or self.walk.devices not in ({}, parts.mesh):
            raise NotCaptured("a shard_map in another one, or on another mesh than the one before")
        self.walk.devices = parts.mesh
        operands = [self._parts.of(array, variable.aval, cut) for array, variable, cut
                    in zip(operands, inner.invars, parts.inputs, strict=True)]
        self._inside = True
        with self.walk.inside(inner):
            results = self._inline(inner, self._constants(inner, consts), operands)
        self._waiting.flush(results)
        self._inside = False
        for array, cut in zip(results, parts.outputs, strict=True):
            if array.partition not in (None, cut):
                raise NotCaptured("a result of a shard_map that is cut in two ways")
            array.partition = cut
        return results

    def _outside(self, eqn: Any, operands: list[Array]) -> list[Array] | None:
        """Returns the results of an elementwise operation on the parts of arrays that a shard_map
        cuts. For any other operation it returns None, and the operands are whole from here on."""
        name = eqn.primitive.name
        if name in ("pallas_call", "mpmd_map", "core_map"):
            raise NotCaptured(f"{name} outside of the shard_map: call it inside")
        found = self._parts.by_element(eqn, operands)
        if found is None:
            operands[:] = map(self._parts.whole, operands)
            self._frames.innermost.env |= {
                v: array for v, array in zip(eqn.invars, operands, strict=True) if is_variable(v)}
        return found

    def _whole(self, array: Array) -> Array:
        """Returns what a branch or a loop yields. Outside of a shard_map, each device carries all
        of it."""
        return array if self._inside else self._parts.whole(array)

    def _operation(self, eqn: Any, operands: list[Array]) -> list[Array]:
        """Emits an operation on whole arrays. Results of rank 0 stay in registers."""
        arrays = self.arrays
        inputs = [arrays.scalar(array) if arrays.is_scalar(array) else arrays.ref(array, "hbm")
                  for array in operands]
        results = [Array(v.aval, "") if v.aval.shape == () else arrays.new_result(v.aval)
                   for v in eqn.outvars]
        scalars = iter(fusion_operation.compute(self.walk, eqn, inputs, [
            array.ref() if array.is_result else None for array in results]))
        for array in results:
            if not array.is_result:
                array.scalar = next(scalars)
        return results


def _same(_: Any, operands: list[Array]) -> list[Array]:
    return operands


def _device_put(eqn: Any, operands: list[Array]) -> list[Array]:
    shard_maps.check_memory(eqn)
    return operands


def _around_kernels(rule: Rule) -> Rule:
    """Returns the rule of a branch or loop that holds a kernel, is given a ref or updates what it
    carries in place."""
    def checked(eqn: Any, operands: list[Array]) -> list[Array] | None:
        is_own = (branches_and_loops.holds_kernel(eqn) or refs.holds_ref(eqn)
                  or carried_memory.is_updated(eqn))
        return rule(eqn, operands) if is_own else None

    return checked


def _is_scalar(eqn: Any) -> bool:
    """Returns whether the equation has only scalars."""
    return all(getattr(v.aval, "shape", None) == () for v in (*eqn.invars, *eqn.outvars))
