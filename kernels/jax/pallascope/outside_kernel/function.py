"""The function around the kernels: its operations, what it calls, and its kernels."""

from __future__ import annotations

import contextlib
import functools
import math
from collections.abc import Collection, Iterator
from typing import Any

import numpy as np

from pallascope import sources, types
from pallascope.jax_compat import jaxprs, lowering_rules, parameters, ref_types, stand_in_devices
from pallascope.outside_kernel import (branches_and_loops, collectives, constants, device_parts,
                                       fusible_steps, fusion_operation, layouts, refs, shard_maps,
                                       start_barrier, waiting_operations)
from pallascope.outside_kernel.arrays import Array, Arrays
from pallascope.outside_kernel.liveness import Frame, is_variable
from pallascope.problems import NotCaptured
from pallascope.program import Region
from pallascope.rules import (chip_generator, grids, identities, kernel_bodies, matrix_unit,
                              pipelines, sparse_core)
from pallascope.rules.control_flow import CALLS
from pallascope.walk import Walk


class Function:
    """Walks the function."""

    def __init__(self, walk: Walk, cores: int = 1) -> None:
        self.walk = walk
        self.cores = cores  # of the device
        self.interprets = False  # a kernel is not meant for a TPU
        self._needs_barrier = False  # the kernel that begins
        self.arrays = Arrays(walk)
        self.collectives = collectives.Collectives(walk, self.arrays)
        self._parts = device_parts.DeviceParts(walk, self.arrays, self.collectives)
        self._refs = refs.Refs(walk, self.arrays, self._inline_call, self._lasts, self._changes)
        self.flow = branches_and_loops.BranchesAndLoops(
            walk, self.arrays, functools.partial(self._inline_call, again=True), self._whole)
        self.kernels: list[dict[str, Any]] = []  # what each asks of the compiler
        self._frames: list[Frame] = []
        self._waiting = waiting_operations.Waiting(walk, self.arrays, lambda: set().union(
            *(frame.needed() for frame in self._frames)))
        self._around = False  # a shard_map is somewhere in the function
        self._inside = False  # of it

    def run(self, jaxpr: Any, names: list[str], donated: Collection[int] = ()) -> Region:
        """The program's body. It may write over the arguments that are `donated`."""
        arrays = self.arrays
        inner, consts = jaxprs.open_jaxpr(jaxpr)
        self._around = shard_maps.has_shard_map(inner)
        arrays.inputs = [Array(v.aval, name, is_donated=number in donated,
                               layout=self._layout(v.aval))
                         for number, (v, name) in enumerate(zip(inner.invars, names, strict=True))]
        with self.walk.builder.region() as region:
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
        return region

    def _layout(self, aval: Any) -> tuple[int, ...] | None:
        """Of an argument or a result; None too for what the format lacks, which `Arrays` names."""
        if self._around or not hasattr(aval, "shape") or types.key_words(aval.dtype):
            return None
        try:
            dtype, shape, _ = types.array_type(aval)
        except NotCaptured:
            return None
        return layouts.compact(shape, types.bits_of(dtype))

    def _as_it_lies(self, array: Array) -> Array:
        """A result that was made, in the layout of results."""
        order = self._layout(array.aval)
        is_made = self._waiting.makes(array) or array.root().is_result
        if order is None or not is_made or array.is_semaphore:
            return array
        return Array(array.aval, array.name, base=self._waiting.transposed(array, order),
                     order=fusible_steps.inverse(order))

    def mesh(self) -> list[dict[str, Any]]:
        """Of the devices, as the file has it."""
        return [{"name": axis, "size": size} for axis, size in self.walk.devices.items()]

    # ---- the function's own equations ------------------------------------------------------

    def _constants(self, jaxpr: Any, consts: Any) -> list[Array]:
        return [self.arrays.constant(v.aval, const)
                for v, const in zip(jaxpr.constvars, consts, strict=True)]

    def _inline(self, jaxpr: Any, consts: list[Array], arguments: list[Array],
                again: bool = False) -> list[Array]:
        frame = Frame(jaxpr, again)
        env = frame.env
        env |= dict(zip(jaxpr.constvars, consts, strict=True))
        env |= dict(zip(jaxpr.invars, arguments, strict=True))
        self._frames.append(frame)

        def read(atom: Any) -> Array:
            if isinstance(atom, jaxprs.Literal):
                return Array(atom.aval, "", value=types.words_of(atom.val))
            return env[atom]

        for frame.at, eqn in enumerate(frame.eqns):
            operands = [read(v) for v in eqn.invars]
            with self.walk.at(eqn):
                try:
                    results = self._equation(eqn, operands)
                except NotCaptured as reason:
                    self.walk.problem(str(reason))
                    results = [Array(v.aval, "", is_result=True) for v in eqn.outvars]
                    self.arrays.results += results
            env |= dict(zip(eqn.outvars, results, strict=True))
        self._frames.pop()
        return [read(v) for v in jaxpr.outvars]

    def _inline_call(self, jaxpr: Any, arguments: list[Array], again: bool = False) -> list[Array]:
        """`again`: in a branch or a loop, whose arguments are needed again in the next round."""
        inner, consts = jaxprs.open_jaxpr(jaxpr)
        found = self._inline(inner, self._constants(inner, consts), arguments, again)
        if again:
            self._waiting.flush(found)
        return found

    def _equation(self, eqn: Any, operands: list[Array]) -> list[Array]:
        name = eqn.primitive.name
        is_known = name != "axis_index" and all(operand.is_known for operand in operands)
        is_view = (fusible_steps.only_reshapes(eqn) and not self._waiting.makes(operands[0].root())
                   and operands[0].layout is None)
        is_outside = self._around and not self._inside
        if not (is_known or is_view or is_outside) and self._waiting.takes(eqn, operands):
            return self._waiting.add(eqn, operands)
        if not (is_known or is_view or name in CALLS or name in identities.IDENTITY
                or (_is_scalar(eqn) and not any(map(self._waiting.makes, operands)))):
            operands = self._row_major(eqn, operands)
            self._waiting.flush(operands)
        if name == "shard_map":
            return self._shard_map(eqn, operands)
        if name in identities.IDENTITY or shard_maps.keeps_values(eqn):
            return operands
        if is_outside and name not in CALLS:
            found = self._outside(eqn, operands)
            if found is not None:
                return found
        if name == "pallas_call":
            return self._pallas_call(eqn, operands)
        if name == "mpmd_map":
            return self._mpmd_map(eqn, operands)
        if name == "core_map":
            return self._core_map(eqn, operands)
        if name in collectives.NAMES:
            return self.collectives.equation(eqn, operands)
        if name in CALLS:
            called = jaxprs.called(eqn)
            with self.walk.inside(called):
                return self._inline_call(called, operands)
        if name in ("cond", "scan", "while") and (
                branches_and_loops.holds_kernel(eqn) or refs.holds_ref(eqn)):
            rules = {"cond": self.flow.cond, "scan": self.flow.scan, "while": self.flow.while_}
            return rules[name](eqn, operands)
        if refs.holds_ref(eqn) or name in ("new_ref", "empty_ref", "run_state"):
            return self._refs.equation(eqn, operands, self._frames[-1].writes)
        if name == "empty":
            return [self.arrays.new_result(v.aval, "empty") for v in eqn.outvars]
        if all(0 in v.aval.shape for v in eqn.outvars) and not eqn.effects:
            return [self.arrays.constant(v.aval, np.empty(v.aval.shape, v.aval.dtype))
                    for v in eqn.outvars]
        if name == "concatenate":
            operands, eqn = _with_elements(eqn, operands)
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
        return self._compute(eqn, operands)

    def _row_major(self, eqn: Any, operands: list[Array]) -> list[Array]:
        """But for scalars that a kernel wants before it starts."""
        first = 0
        if eqn.primitive.name == "pallas_call":
            mapping = eqn.params["grid_mapping"]
            first = mapping.num_dynamic_grid_bounds + mapping.num_index_operands
        return operands[:first] + [self._waiting.row_major(array) for array in operands[first:]]

    def _shard_map(self, eqn: Any, operands: list[Array]) -> list[Array]:
        """Every device runs the function on its parts, which are what the program sees."""
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
        """The results of an operation by element, of the parts of arrays that a shard_map cuts. Of
        others None, and the operands are whole from here on."""
        name = eqn.primitive.name
        if name in ("pallas_call", "mpmd_map", "core_map"):
            raise NotCaptured(f"{name} outside of the shard_map")
        found = self._parts.by_element(eqn, operands)
        if found is None:
            operands[:] = map(self._parts.whole, operands)
            self._frames[-1].env |= {v: array for v, array in zip(eqn.invars, operands, strict=True)
                                     if is_variable(v)}
        return found

    def _whole(self, array: Array) -> Array:
        """What a branch or a loop yields; outside of a shard_map each device carries all of it."""
        return array if self._inside else self._parts.whole(array)

    def _compute(self, eqn: Any, operands: list[Array]) -> list[Array]:
        """An operation on whole arrays; results of rank 0 stay in registers."""
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

    # ---- kernels ---------------------------------------------------------------------------

    def _outputs(self, avals: Any, names: list[str], operands: list[Array],
                 aliases: dict[int, int]) -> list[Array]:
        """In HBM. One that is the array of an operand is that, unless others still need it."""
        sources = {number: operand for operand, number in aliases.items()}
        outputs = []
        for number, (aval, name) in enumerate(zip(avals, names, strict=True)):
            source = operands[sources[number]] if number in sources else None
            needed = source is not None and any(
                frame.needs(source.root()) for frame in self._frames)
            if source is not None and source.is_semaphore:
                outputs.append(source)
                continue
            if source is None or (source.is_donated and not needed):
                outputs.append(self.arrays.new_result(aval, name))
                outputs[-1].alias_of = source
                continue
            taken = source
            if needed or not source.root().is_result:
                taken = self.arrays.copied(source, name)
            operands[sources[number]] = taken
            output = Array(aval, name, base=taken)
            if taken is taken.root():
                output = Array(aval, name, is_result=True, alias_of=taken.alias_of,
                               refs={"hbm": self.arrays.ref(taken, "hbm")}, home="hbm")
                self.arrays.results[self.arrays.results.index(taken)] = output
            outputs.append(output)
        return outputs

    def _lasts(self, array: Array) -> bool:
        """Whether its contents are wanted again, by what follows or in the next round."""
        return any(frame.again or frame.needs(array.root()) for frame in self._frames)

    def _begin_kernel(self, eqn: Any, body: Any) -> None:
        walk, asked = self.walk, parameters.compiler_params(eqn)
        walk.collective_id = asked.get("collective_id")
        self.interprets = self.interprets or bool(eqn.params["interpret"])
        self.kernels.append({"kernel": kernel_bodies.kernel_name(eqn, body)} | asked)
        self._needs_barrier = (
            walk.collective_id is None and bool(walk.devices) and not parameters.skips_barrier(eqn)
            and any(map(start_barrier.talks_to_devices, jaxprs.jaxprs_of(eqn))))

    def _pallas_call(self, eqn: Any, operands: list[Array]) -> list[Array]:
        walk, mapping = self.walk, eqn.params["grid_mapping"]
        body, _ = jaxprs.open_jaxpr(eqn.params["jaxpr"])
        self._begin_kernel(eqn, body)
        num_bounds, num_prefetch = mapping.num_dynamic_grid_bounds, mapping.num_index_operands
        bounds = [walk.index(self.arrays.scalar(array)) for array in operands[:num_bounds]]
        arrays = operands[num_bounds:]
        count = num_prefetch + mapping.num_inputs
        names = sources.arg_names(body)[count:count + mapping.num_outputs]
        outputs = self._outputs(eqn.params["out_avals"], names, arrays,
                                dict(eqn.params["input_output_aliases"]))
        parallel = grids.parallel_axes(parameters.compiler_params(eqn).get("dimension_semantics"))
        shared = self.cores > 1 and bool(parallel)  # each core has scalars of its own
        for array in arrays[:num_prefetch]:
            array.is_prefetched = True
        written = jaxprs.written_arguments(body)
        prefetch = [self.arrays.ref(array, "hbm") if shared
                    else self.arrays.own_scalars(array) if number in written and self._lasts(array)
                    else self.arrays.ref(array, "smem")
                    for number, array in enumerate(arrays[:num_prefetch])]
        inputs = [self.arrays.ref(array, _space(array, block, ref)) for array, block, ref
                  in zip(arrays[num_prefetch:], mapping.block_mappings,
                         body.invars[num_prefetch:], strict=False)]
        blocks = inputs + [self.arrays.ref(array, "hbm") for array in outputs]
        pipeline = grids.Pipeline(
            mapping=mapping, body=body, operands=blocks, bounds=bounds, prefetch=prefetch,
            index_map_consts=[[]] * len(blocks), body_consts=[], origin="pallas_call")
        with self._kernel(), kernel_bodies.scratch(walk, _state_of(walk, body)):
            self._emit(pipeline, prefetch + blocks, parallel if shared else [])
        return outputs

    @contextlib.contextmanager
    def _kernel(self) -> Iterator[None]:
        """What is emitted meanwhile is the kernel that has begun. One that talks to other devices
        and has no barrier of its own gets one from JAX: jax/_src/tpu_custom_call.py, and
        interpret_pallas_call.py, "we do a global barrier before running the first iteration".
        """
        walk = self.walk
        with walk.builder.region() as region:
            if self._needs_barrier:
                start_barrier.barrier(walk, range(math.prod(walk.devices.values())))
            yield
        walk.builder.emit("kernel", [], [], {"name": self.kernels[-1]["kernel"]}, [region])

    def _emit(self, pipeline: grids.Pipeline, arguments: list[int],
              parallel: list[int]) -> None:
        walk, mapping, body = self.walk, pipeline.mapping, pipeline.body
        if parallel and walk.matrix_unit:
            raise NotCaptured("a matrix unit asked by hand on cores that share a grid")
        if parallel:
            pipeline.parallel = parallel
            kernel_bodies.on_cores(walk, pipeline, self.cores)
        elif kernel_bodies.is_direct(walk, mapping, body, pipeline.operands):
            kernel_bodies.inline(walk, body, arguments)
        elif not mapping.grid and kernel_bodies.has_pipeline(body):
            kernel_bodies.with_blocks_copied(walk, pipeline)
        else:
            pipelines.emit(walk, pipeline)

    def _mpmd_map(self, eqn: Any, operands: list[Array]) -> list[Array]:
        """pl.kernel on a mesh of cores."""
        if len(eqn.params["jaxprs"]) != 1:
            raise NotCaptured("pl.kernel on several meshes")
        body, _ = jaxprs.open_jaxpr(eqn.params["jaxprs"][0])
        self._begin_kernel(eqn, body)
        names = sources.arg_names(body)[len(operands):][:len(eqn.params["out_avals"])]
        outputs = self._outputs(eqn.params["out_avals"], names, operands,
                                dict(eqn.params["input_output_aliases"]))
        self._on_mesh(eqn, eqn.params["meshes"][0], body, [*operands, *outputs])
        return outputs

    def _core_map(self, eqn: Any, operands: list[Array]) -> list[Array]:
        """pl.kernel up to JAX 0.10.0."""
        body = jaxprs.without_constants(eqn.params["jaxpr"])
        self._begin_kernel(eqn, body)
        with self.walk.in_kernel():  # the body of pl.kernel lies in a function of JAX
            self._on_mesh(eqn, eqn.params["mesh"], body, operands)
        return []

    def _on_mesh(self, eqn: Any, mesh: Any, body: Any, arrays: list[Array]) -> None:
        walk = self.walk
        cores = stand_in_devices.axis_names(mesh)
        found = [self.arrays.ref(array, _mesh_space(v.aval))
                 for array, v in zip(arrays, body.invars, strict=False)]
        walk.cores = cores
        with self._kernel():
            self._on_cores(mesh, body, found)
        walk.cores = {}
        for number in jaxprs.written_arguments(body):
            if number < len(eqn.invars) and refs.is_ref(eqn.invars[number]):
                self.arrays.forget(arrays[number])

    def _on_cores(self, mesh: Any, body: Any, arguments: list[int]) -> None:
        walk, state = self.walk, _state_of(self.walk, body)
        if sparse_core.is_mesh(mesh):
            sparse_core.on_mesh(walk, body, arguments, state)
        elif len(walk.cores) != 1:
            raise NotCaptured(f"a kernel on a mesh of {len(walk.cores)} axes")
        elif tuple(walk.cores.values()) == (1,):
            with kernel_bodies.scratch(walk, state):
                kernel_bodies.inline(walk, body, arguments)
        else:
            with walk.builder.region() as region, kernel_bodies.scratch(walk, state):
                kernel_bodies.inline(walk, body, arguments)
            ((axis, count),) = walk.cores.items()
            walk.builder.emit("core_map", [], [], {"axis": str(axis), "cores": count}, [region])

    def _changes(self, array: Array) -> bool:
        """Whether an equation after the current one, or in the next round, writes to it."""
        return any(frame.writes_to(array.root()) for frame in self._frames)


def _state_of(walk: Walk, body: Any) -> list[int]:
    """What units keep while the kernel runs."""
    return chip_generator.state_of(walk, body) + matrix_unit.state_of(walk, body)


def _mesh_space(aval: Any) -> str:
    """Where a kernel on a mesh has an array; a ref from outside that says nothing is in HBM."""
    if ref_types.memory_space(aval) is None:
        return "hbm"
    return types.ref_type(aval).space or "hbm"


def _space(array: Array, block: Any, ref: Any) -> str:
    """Scalars that a kernel wants all of in smem are there before it starts."""
    wanted = types.ref_type(ref.aval).space == "smem" and kernel_bodies.is_whole(block)
    return "smem" if wanted else "hbm"


def _with_elements(eqn: Any, operands: list[Array]) -> tuple[list[Array], Any]:
    """A concatenation of those arrays that have elements."""
    kept = [number for number, v in enumerate(eqn.invars) if 0 not in v.aval.shape]
    return ([operands[number] for number in kept],
            eqn.replace(invars=[eqn.invars[number] for number in kept]))


def _is_scalar(eqn: Any) -> bool:
    """Whether it is of scalars alone."""
    return all(getattr(v.aval, "shape", None) == () for v in (*eqn.invars, *eqn.outvars))
