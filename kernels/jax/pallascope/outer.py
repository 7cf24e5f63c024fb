"""The function around the kernels: its arguments, its results, and what it calls.

Arrays of the function are refs in HBM, or in SMEM where a kernel wants scalars before it starts.
Which of the two an argument is shows at its first use, so its ref is made then.
"""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np

from pallascope import compat, devices, pipelines, stages, types
from pallascope.problems import NotCaptured
from pallascope.program import Region, Type
from pallascope.walk import Walk


@dataclasses.dataclass(eq=False)
class Array:
    """An array of the function: an argument, a constant, or what was made of such."""

    aval: Any
    name: str
    value: Any = None  # of a constant
    is_result: bool = False
    ref: int | None = None
    scalar: int | None = None  # its one element, once it was loaded
    alias_of: Array | None = None
    base: Array | None = None  # the array that this one is in another shape
    # On several devices `aval` is of one device's part; per axis, the mesh axes that cut it.
    partition: list[list[str]] | None = None

    def root(self) -> Array:
        return self.base.root() if self.base else self


_RESHAPES = frozenset({"reshape", "squeeze", "broadcast_in_dim"})

_CALLS = {"jit": "jaxpr", "pjit": "jaxpr", "closed_call": "call_jaxpr", "core_call": "call_jaxpr",
          "custom_jvp_call": "call_jaxpr", "custom_vjp_call": "call_jaxpr",
          "custom_vjp_call_jaxpr": "fun_jaxpr", "remat": "jaxpr", "checkpoint": "jaxpr"}


class Outer:
    """Walks the function. `inputs` and `results` are in the order of the file afterwards."""

    def __init__(self, walk: Walk) -> None:
        self.walk = walk
        self.inputs: list[Array] = []
        self.results: list[Array] = []
        self.kernel_names: list[str] = []
        self._around = False  # a shard_map is somewhere in the function
        self._inside = False  # of it

    def run(self, jaxpr: Any, names: list[str]) -> Region:
        """The program's body."""
        inner, consts = compat.open_jaxpr(jaxpr)
        self._around = devices.has_shard_map(inner)
        self.inputs = [Array(v.aval, name) for v, name in zip(inner.invars, names, strict=True)]
        with self.walk.builder.region() as region:
            found = self._inline(inner, [self._constant(v.aval, const) for v, const
                                         in zip(inner.constvars, consts, strict=True)],
                                 list(self.inputs))
            between = self._order_results(found)
        region = self._with_memory(region, between)
        region.arguments = [self._ref(array, "hbm") if array.ref is None else array.ref
                            for array in (*self.inputs, *self.results)]
        return region

    def arguments(self) -> list[dict[str, Any]]:
        """As the file has them."""
        listed = [{"name": array.name, "ref": array.ref} for array in self.inputs]
        for array in self.results:
            listed.append({"name": array.name, "kind": "output", "ref": array.ref})
            if array.alias_of is not None:
                listed[-1]["alias_of"] = self.inputs.index(array.alias_of)
        for entry, array in zip(listed, [*self.inputs, *self.results], strict=True):
            cut = array.partition or (array.alias_of and array.alias_of.partition)
            if cut:
                entry["partition"] = cut
        return listed

    def mesh(self) -> list[dict[str, Any]]:
        """Of the devices, as the file has it."""
        return [{"name": axis, "size": size} for axis, size in self.walk.devices.items()]

    # ---- the function's own equations ------------------------------------------------------

    def _inline(self, jaxpr: Any, consts: list[Array], arguments: list[Array]) -> list[Array]:
        env = dict(zip(jaxpr.constvars, consts, strict=True))
        env |= dict(zip(jaxpr.invars, arguments, strict=True))

        def read(atom: Any) -> Array:
            if isinstance(atom, compat.Literal):
                return Array(atom.aval, "", value=np.asarray(atom.val))
            return env[atom]

        for eqn in _used(jaxpr):
            operands = [read(v) for v in eqn.invars]
            with self.walk.at(eqn):
                try:
                    results = self._equation(eqn, operands)
                except NotCaptured as reason:
                    self.walk.problem(str(reason))
                    results = [Array(v.aval, "", is_result=True) for v in eqn.outvars]
            env |= dict(zip(eqn.outvars, results, strict=True))
        return [read(v) for v in jaxpr.outvars]

    def _equation(self, eqn: Any, operands: list[Array]) -> list[Array]:
        name = eqn.primitive.name
        if name == "shard_map":
            return self._shard_map(eqn, operands)
        if self._around and not self._inside and name not in _CALLS:
            raise NotCaptured(f"{name} outside of the shard_map")
        if name == "pallas_call":
            return self._pallas_call(eqn, operands)
        if name == "mpmd_map":
            return self._mpmd_map(eqn, operands)
        if name in devices.SAME_VALUE:
            return operands
        if name in _CALLS:
            inner, consts = compat.open_jaxpr(eqn.params[_CALLS[name]])
            with self.walk.inside(inner):
                return self._inline(inner, [self._constant(v.aval, const) for v, const in
                                            zip(inner.constvars, consts, strict=True)], operands)
        if name != "axis_index" and all(operand.value is not None for operand in operands):
            found = _evaluate(eqn, [operand.value for operand in operands])
            return [Array(v.aval, "constant", value=value)
                    for v, value in zip(eqn.outvars, found, strict=True)]
        if _only_reshapes(eqn):
            return [Array(eqn.outvars[0].aval, operands[0].name, base=operands[0])]
        if all(v.aval.shape == () for v in (*eqn.invars, *eqn.outvars)):
            scalars = self.walk.equation(eqn, [self._scalar(operand) for operand in operands])
            return [Array(v.aval, "", scalar=scalar)
                    for v, scalar in zip(eqn.outvars, scalars, strict=True)]
        return self._compute(eqn, operands)

    def _shard_map(self, eqn: Any, operands: list[Array]) -> list[Array]:
        """Every device runs the function on its parts, which are what the program sees."""
        inner, consts = compat.open_jaxpr(eqn.params["jaxpr"])
        parts = devices.shard_map_of(eqn, inner)
        if self._inside or self.walk.devices not in ({}, parts.mesh):
            raise NotCaptured("a shard_map in another one, or on another mesh than the one before")
        self.walk.devices = parts.mesh
        for array, variable, cut in zip(operands, inner.invars, parts.inputs, strict=True):
            if array.base is not None or array.partition not in (None, cut):
                raise NotCaptured(f"{array.name or 'an array'} cut in another way than before it")
            if array.ref is None and not array.is_result:
                array.aval = variable.aval
            array.partition = cut
        self._inside = True
        with self.walk.inside(inner):
            results = self._inline(inner, [self._constant(v.aval, const) for v, const in
                                           zip(inner.constvars, consts, strict=True)], operands)
        self._inside = False
        for array, cut in zip(results, parts.outputs, strict=True):
            if array.partition not in (None, cut):
                raise NotCaptured("a result of a shard_map that is cut in two ways")
            array.partition = cut
        return results

    def _compute(self, eqn: Any, operands: list[Array]) -> list[Array]:
        """An operation on whole arrays."""
        results = [Array(v.aval, v.aval.str_short(), is_result=True) for v in eqn.outvars]
        inputs = [self._scalar(array) if array.scalar is not None or array.value is not None
                  and array.aval.shape == () else self._ref(array, "hbm") for array in operands]
        stages.compute(self.walk, eqn, inputs, [self._ref(array, "hbm") for array in results])
        self.results += results
        return results

    def _constant(self, aval: Any, value: Any) -> Array:
        return Array(aval, "constant", value=np.asarray(value))

    def _scalar(self, array: Array) -> int:
        """The one element of an array of rank 0."""
        builder = self.walk.builder
        if array.scalar is None:
            if array.value is not None:
                array.scalar = builder.literal(types.dtype_of(array.aval.dtype), array.value[()])
            else:
                ref = self._ref(array, "smem")
                array.scalar = builder.one("get", [ref], Type(builder.types[ref].dtype),
                                           {"entries": []})
        return array.scalar

    def _ref(self, array: Array, space: str) -> int:
        """The ref of the whole array, in the memory that its first use asks for."""
        builder = self.walk.builder
        if array.ref is None and array.base is not None:
            shape = types.shape_of(array.aval)
            base = self._ref(array.base, space)
            array.ref = builder.one("ref_reshape", [base], builder.types[base]._replace(
                shape=shape), {"shape": list(shape)})
        elif array.ref is None:
            if array.scalar is not None:
                raise NotCaptured("a scalar computed outside of a kernel as its array")
            if array.value is not None and array not in self.inputs:
                self.inputs.append(array)
            array.ref = builder.value(
                Type(types.dtype_of(array.aval.dtype), types.shape_of(array.aval), space),
                array.name)
        elif builder.types[array.ref].space != space:
            raise NotCaptured(f"{array.name or 'an array'} both as an array in hbm and as scalars "
                              "in smem")
        return array.ref

    def _with_memory(self, region: Region, between: list[Array]) -> Region:
        """The region, with arrays that live in HBM while it runs."""
        if not between:
            return region
        builder = self.walk.builder
        region.arguments = [self._ref(array, "hbm") for array in between]
        with builder.region() as whole:
            builder.emit("run_scoped", [], [], regions=[region])
        return whole

    def _order_results(self, found: list[Array]) -> list[Array]:
        """Results in the order of the function; yields what its kernels make and it drops."""
        roots = [array.root() for array in found]
        for number, root in enumerate(roots):
            if not root.is_result:
                self.walk.problem(f"result {number} of the function, which no kernel makes")
            elif roots.index(root) != number:
                self.walk.problem(f"result {number} of the function, which is another one again")
        dropped = [array for array in self.results if array not in roots]
        updated = [array for array in dropped if array.alias_of is not None]  # of the caller
        self.results = [self._in_shape(array) for array in found
                        if array.root() in self.results] + updated
        return [array for array in dropped if array not in updated]

    def _in_shape(self, array: Array) -> Array:
        """The result as the function returns it; its kernel sees it in the shape it makes."""
        root = array.root()
        if array is root:
            return root
        if root.alias_of is not None:
            self.walk.problem("an output in another shape that is the array of an input")
            return root
        builder = self.walk.builder
        ref = self._ref(root, "hbm")
        type_ = builder.types[ref]
        whole = builder.value(type_._replace(shape=types.shape_of(array.aval)), root.name)
        builder.define_first("ref_reshape", [whole], ref, {"shape": list(type_.shape)})
        return Array(array.aval, root.name, is_result=True, ref=whole, partition=array.partition)

    # ---- kernels ---------------------------------------------------------------------------

    def _outputs(self, avals: Any, names: list[str], operands: list[Array],
                 aliases: dict[int, int]) -> list[Array]:
        outputs = [Array(aval, name, is_result=True)
                   for aval, name in zip(avals, names, strict=True)]
        for operand, number in aliases.items():
            source = operands[operand]
            if source not in self.inputs:
                raise NotCaptured("an output that is the array of another kernel's result")
            outputs[number].alias_of = source
        for output in outputs:
            self._ref(output, "hbm")
        self.results += outputs
        return outputs

    def _start(self, eqn: Any) -> None:
        """A kernel that talks to other devices and has no barrier of its own gets one from JAX."""
        walk = self.walk
        walk.collective_id = compat.collective_id_of(eqn)
        if walk.collective_id is None and walk.devices and any(
                map(devices.talks_to_devices, compat.jaxprs_of(eqn))):
            devices.barrier(walk, range(math.prod(walk.devices.values())))

    def _pallas_call(self, eqn: Any, operands: list[Array]) -> list[Array]:
        walk, mapping = self.walk, eqn.params["grid_mapping"]
        body, _ = compat.open_jaxpr(eqn.params["jaxpr"])
        self.kernel_names.append(pipelines.kernel_name(eqn, body))
        num_bounds, num_prefetch = mapping.num_dynamic_grid_bounds, mapping.num_index_operands
        bounds = [walk.index(self._scalar(array)) for array in operands[:num_bounds]]
        arrays = operands[num_bounds:]
        prefetch = [self._ref(array, "smem") for array in arrays[:num_prefetch]]
        inputs = [self._ref(array, self._space(array, block, ref)) for array, block, ref
                  in zip(arrays[num_prefetch:], mapping.block_mappings,
                         body.invars[num_prefetch:], strict=False)]
        self._start(eqn)
        count = num_prefetch + mapping.num_inputs
        names = pipelines.arg_names(body)[count:count + mapping.num_outputs]
        outputs = self._outputs(eqn.params["out_avals"], names, arrays,
                                dict(eqn.params["input_output_aliases"]))
        refs = inputs + [self._ref(array, "hbm") for array in outputs]
        pipeline = pipelines.Pipeline(
            mapping=mapping, body=body, operands=refs, bounds=bounds, prefetch=prefetch,
            index_map_consts=[[]] * len(refs), body_consts=[], origin="pallas_call")
        if pipelines.is_direct(walk, mapping, body, refs):
            pipelines.inline(walk, body, prefetch + refs)
        elif not mapping.grid and pipelines.has_pipeline(body):
            pipelines.staged(walk, pipeline)
        else:
            pipelines.emit(walk, pipeline)
        return outputs

    def _space(self, array: Array, block: Any, ref: Any) -> str:
        """Scalars that a kernel wants all of in smem are there before it starts."""
        wanted = types.ref_type(ref.aval).space == "smem" and pipelines.is_whole(block)
        if not wanted or array.is_result:
            return "hbm"
        if array.ref is None:
            return "smem"
        return self.walk.builder.types[array.ref].space or "hbm"

    def _mpmd_map(self, eqn: Any, operands: list[Array]) -> list[Array]:
        """pl.kernel on a mesh of cores."""
        walk = self.walk
        if len(eqn.params["jaxprs"]) != 1:
            raise NotCaptured("pl.kernel on several meshes")
        body, _ = compat.open_jaxpr(eqn.params["jaxprs"][0])
        cores = compat.axis_names(eqn.params["meshes"][0])
        if len(cores) != 1:
            raise NotCaptured(f"pl.kernel on a mesh of {len(cores)} axes")
        ((axis, count),) = cores.items()
        self.kernel_names.append(pipelines.kernel_name(eqn, body))
        names = pipelines.arg_names(body)[len(operands):][:len(eqn.params["out_avals"])]
        outputs = self._outputs(eqn.params["out_avals"], names, operands,
                                dict(eqn.params["input_output_aliases"]))
        self._start(eqn)
        refs = [self._ref(array, types.ref_type(v.aval).space or "hbm") for array, v
                in zip([*operands, *outputs], body.invars, strict=False)]
        walk.cores = cores
        if count == 1:
            pipelines.inline(walk, body, refs)
        else:
            with walk.builder.region() as region:
                pipelines.inline(walk, body, refs)
            walk.builder.emit("core_map", [], [], {"axis": str(axis), "cores": count}, [region])
        walk.cores = {}
        return outputs


def _used(jaxpr: Any) -> list[Any]:
    """The equations that a result or an effect depends on."""
    needed = set(filter(_is_variable, jaxpr.outvars))
    kept = []
    for eqn in reversed(jaxpr.eqns):
        if eqn.effects or needed.intersection(eqn.outvars):
            needed.update(filter(_is_variable, eqn.invars))
            kept.append(eqn)
    return kept[::-1]


def _is_variable(atom: Any) -> bool:
    return not isinstance(atom, compat.Literal)


def _only_reshapes(eqn: Any) -> bool:
    """No element moves."""
    name = eqn.primitive.name
    if name not in _RESHAPES or (name == "reshape" and eqn.params["dimensions"] is not None):
        return False
    before, after = (v.aval.shape for v in (eqn.invars[0], eqn.outvars[0]))
    return math.prod(before) == math.prod(after)


def _evaluate(eqn: Any, values: list[Any]) -> list[np.ndarray]:
    """An operation on constants, here and now."""
    found = eqn.primitive.bind(*values, **eqn.params)
    return [np.asarray(value) for value in (found if eqn.primitive.multiple_results else [found])]
