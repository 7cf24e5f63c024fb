"""Kernels of the function: pallas_call, and pl.kernel on a mesh of cores."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator
from typing import Any

from pallascope import sources, types
from pallascope.jax_compat import jaxprs, parameters, ref_types, stand_in_devices
from pallascope.outside_kernel import refs, start_barrier
from pallascope.outside_kernel.arrays import Array, Arrays
from pallascope.outside_kernel.in_place import InPlace
from pallascope.outside_kernel.liveness import Frames
from pallascope.problems import NotCaptured
from pallascope.rules import (chip_generator, gpu_kernels, grids, kernel_bodies, matrix_unit,
                              pipelines, sparse_core, triton_kernels)
from pallascope.walk import Walk


class Kernels:
    """The rules of kernels, for devices of this many cores."""

    def __init__(self, walk: Walk, arrays: Arrays, frames: Frames, in_place: InPlace, cores: int,
                 is_tpu: bool) -> None:
        self.walk = walk
        self.is_tpu = is_tpu
        self.arrays = arrays
        self.cores = cores
        self.interprets = False  # whether a kernel is not meant for a TPU
        self.begun: list[dict[str, Any]] = []  # names, and what each kernel asks of the compiler
        self._frames = frames
        self._in_place = in_place
        self._needs_barrier = False  # whether the kernel that begins does

    def first_name(self) -> str:
        return str(self.begun[0]["kernel"]) if self.begun else ""

    def _outputs(self, avals: Any, names: list[str], operands: list[Array],
                 aliases: dict[int, int]) -> list[Array]:
        """Returns the outputs, in HBM. An output that shares the array of an operand is that array,
        unless others still need it."""
        operand_of = {number: operand for operand, number in aliases.items()}
        found = [self._in_place.updated(operand_of[number], operands, aval, name)
                 if number in operand_of else self.arrays.new_result(aval, name)
                 for number, (aval, name) in enumerate(zip(avals, names, strict=True))]
        for array in found:
            array.of_kernel = self.is_tpu
        return found

    def _name(self, operands: list[Array], names: list[str]) -> None:
        """Names arrays that have no name yet like the refs that a kernel has for them."""
        for array, name in zip(operands, names, strict=False):
            if name and not array.is_named and array.base is None and array.value is None:
                self.arrays.rename(array, name)

    def _begin(self, eqn: Any, body: Any) -> None:
        walk, asked = self.walk, parameters.compiler_params(eqn)
        walk.collective_id = asked.get("collective_id")
        self.interprets = self.interprets or bool(eqn.params["interpret"])
        self.begun.append({"kernel": kernel_bodies.kernel_name(eqn, body)} | asked)
        self._needs_barrier = (
            walk.collective_id is None and bool(walk.devices) and not parameters.skips_barrier(eqn)
            and any(map(start_barrier.talks_to_devices, jaxprs.jaxprs_of(eqn))))

    def pallas_call(self, eqn: Any, operands: list[Array]) -> list[Array]:
        walk, mapping = self.walk, eqn.params["grid_mapping"]
        body, _ = jaxprs.open_jaxpr(eqn.params["jaxpr"])
        self._begin(eqn, body)
        num_bounds, num_prefetch = mapping.num_dynamic_grid_bounds, mapping.num_index_operands
        bounds = [walk.index(self.arrays.scalar(array)) for array in operands[:num_bounds]]
        arrays = operands[num_bounds:]
        count = num_prefetch + mapping.num_inputs
        names = sources.arg_names(body, grids.roles(mapping, body))
        self._name(arrays[:count], sources.arg_names(body))
        outputs = self._outputs(eqn.params["out_avals"],
                                names[count:count + mapping.num_outputs], arrays,
                                dict(eqn.params["input_output_aliases"]))
        if not self.is_tpu:
            blocks = [self.arrays.ref(array, "hbm") for array in arrays[num_prefetch:] + outputs]
            with self._kernel():
                triton_kernels.emit(walk, eqn, body, blocks)
            return outputs
        parallel = grids.parallel_axes(parameters.compiler_params(eqn).get("dimension_semantics"))
        shared = self.cores > 1 and bool(parallel)  # each core has scalars of its own
        for array in arrays[:num_prefetch]:
            array.is_prefetched = True
        written = jaxprs.written_arguments(body)
        prefetch = [self.arrays.ref(array, "hbm") if shared
                    else self.arrays.own_scalars(array)
                    if number in written and self._frames.lasts(array)
                    else self.arrays.ref(array, "smem")
                    for number, array in enumerate(arrays[:num_prefetch])]
        inputs = [self.arrays.ref(array, _space(array, block, ref)) for array, block, ref
                  in zip(arrays[num_prefetch:], mapping.block_mappings,
                         body.invars[num_prefetch:], strict=False)]
        blocks = inputs + [self.arrays.ref(array, "hbm") for array in outputs]
        pipeline = grids.Pipeline(
            mapping=mapping, body=body, operands=blocks, bounds=bounds, prefetch=prefetch,
            index_map_consts=[[]] * len(blocks), body_consts=[], origin="pallas_call",
            parallel=parallel)
        with (self._kernel(), types.flags_as_int32(),
              kernel_bodies.scratch(walk, _state_of(walk, body))):
            self._emit(pipeline, prefetch + blocks, shared)
        return outputs

    @contextlib.contextmanager
    def _kernel(self) -> Iterator[None]:
        """Makes what is emitted meanwhile the kernel that has begun.

        A kernel that talks to other devices and has no barrier of its own gets one from JAX:
        jax/_src/tpu_custom_call.py, and interpret_pallas_call.py, "we do a global barrier before
        running the first iteration".
        """
        walk = self.walk
        with walk.builder.region() as region:
            if self._needs_barrier:
                start_barrier.barrier(walk, range(math.prod(walk.devices.values())))
            yield
        walk.builder.emit("kernel", [], [], {"name": self.begun[-1]["kernel"]}, [region])

    def _emit(self, pipeline: grids.Pipeline, arguments: list[int], shared: bool) -> None:
        walk, mapping, body = self.walk, pipeline.mapping, pipeline.body
        if shared and walk.matrix_unit:
            raise NotCaptured("a matrix unit that the kernel uses directly, on cores that share a "
                              "grid: use cores=1")
        if shared:
            kernel_bodies.on_cores(walk, pipeline, self.cores)
        elif kernel_bodies.is_direct(walk, mapping, body, pipeline.operands):
            kernel_bodies.inline(walk, body, arguments)
        elif not mapping.grid and kernel_bodies.has_pipeline(body):
            kernel_bodies.with_blocks_copied(walk, pipeline)
        else:
            pipelines.emit(walk, pipeline)

    def mpmd_map(self, eqn: Any, operands: list[Array]) -> list[Array]:
        """Emits pl.kernel on a mesh of cores."""
        if len(eqn.params["jaxprs"]) != 1:
            raise NotCaptured("pl.kernel on several meshes: use one kernel for each")
        body, _ = jaxprs.open_jaxpr(eqn.params["jaxprs"][0])
        self._begin(eqn, body)
        count = len(eqn.params["out_avals"])
        rest = len(body.invars) - len(operands) - count
        names = sources.arg_names(body, ["in"] * len(operands) + ["out"] * count
                                  + ["scratch"] * rest)[len(operands):][:count]
        self._name(operands, sources.arg_names(body))
        outputs = self._outputs(eqn.params["out_avals"], names, operands,
                                dict(eqn.params["input_output_aliases"]))
        with types.flags_as_int32() if self.is_tpu else contextlib.nullcontext():
            self._on_mesh(eqn, eqn.params["meshes"][0], body, [*operands, *outputs])
        return outputs

    def core_map(self, eqn: Any, operands: list[Array]) -> list[Array]:
        """Emits pl.kernel in versions of JAX up to 0.10.0."""
        body = jaxprs.without_constants(eqn.params["jaxpr"])
        self._begin(eqn, body)
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
        if gpu_kernels.is_mesh(mesh) and self.is_tpu:
            raise NotCaptured('plgpu.kernel on a TPU: capture it for a GPU, such as chip="h100"')
        if not (gpu_kernels.is_mesh(mesh) or self.is_tpu):
            raise NotCaptured("a kernel on a mesh of TPU cores, on a GPU")
        if gpu_kernels.is_mesh(mesh):
            gpu_kernels.on_mesh(walk, mesh, body, arguments)
        elif sparse_core.is_mesh(mesh):
            sparse_core.on_mesh(walk, body, arguments, state)
        elif len(walk.cores) != 1:
            raise NotCaptured(f"a kernel on a mesh of {len(walk.cores)} axes: expected one")
        elif tuple(walk.cores.values()) == (1,):
            with kernel_bodies.scratch(walk, state):
                kernel_bodies.inline(walk, body, arguments)
        else:
            with walk.builder.region() as region, kernel_bodies.scratch(walk, state):
                kernel_bodies.inline(walk, body, arguments)
            ((axis, count),) = walk.cores.items()
            walk.builder.emit("core_map", [], [], {"axis": str(axis), "cores": count}, [region])


def _state_of(walk: Walk, body: Any) -> list[int]:
    """Returns the refs in which units keep state while the kernel runs."""
    return chip_generator.state_of(walk, body) + matrix_unit.state_of(walk, body)


def _mesh_space(aval: Any) -> str:
    """Returns the memory of a kernel on a mesh in which an array is. A ref from outside without a
    memory is in HBM."""
    if ref_types.memory_space(aval) is None:
        return "hbm"
    return types.ref_type(aval).space or "hbm"


def _space(array: Array, block: Any, ref: Any) -> str:
    """Returns the memory in which an array starts. Scalars that a kernel wants whole in SMEM are
    there before it starts."""
    wanted = types.ref_type(ref.aval).space == "smem" and kernel_bodies.is_whole(block)
    return "smem" if wanted else "hbm"
