"""`capture` traces a function with Pallas kernels and turns the trace into a kernel file."""

from __future__ import annotations

import dataclasses
import functools
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import jax
import numpy as np

from pallascope import array_elements, files, sources, types
from pallascope.author_names.functions import name_of, names_of_constants, source_of
from pallascope.author_names.parameters import names_of
from pallascope.jax_compat import chips, debug_infos, jaxprs, lowering_verdict, tracing, versions
from pallascope.outside_kernel.arrays import Array
from pallascope.outside_kernel.function import Function
from pallascope.problems import UnsupportedError
from pallascope.rules import kernel_bodies, table
from pallascope.sources import name_of_function
from pallascope.walk import Walk


@dataclasses.dataclass
class Kernel:
    """A captured kernel: the JSON object of its file, and the arrays and source texts that go with
    it."""

    name: str
    document: dict[str, Any] = dataclasses.field(repr=False)
    # The arrays of inputs whose contents are known, by the numbers of the inputs.
    arrays: dict[int, np.ndarray] = dataclasses.field(repr=False)
    constants: frozenset[int]  # those that the function closes over; always in the file
    texts: dict[str, str] = dataclasses.field(repr=False)  # the texts of source files, by name

    def save(self, path: str | os.PathLike[str], values: bool = True,
             check: Callable[[str], None] | None = None) -> None:
        """Writes FILE.kernel.json, or FILE.pallascope with the arrays and sources in it.

        With `values` the inputs hold the arrays that `capture` was given, otherwise made-up
        numbers. The file appears whole or not at all. Raises ValueError for another ending, and for
        arrays in a .kernel.json file, which has no place for them. `check` is called with the name
        of the finished file before that takes its place, and raises an exception if it must not.
        """
        kept = {number: array for number, array in self.arrays.items()
                if values or number in self.constants}
        files.save(self.document, kept, self.texts, os.fspath(path), check)


def capture(fn: Callable[..., Any], *args: Any, chip: str = "tpu_v5e", cores: int = 1,
            name: str | None = None, mesh: Any = None, donate: int | Sequence[int] = ()) -> Kernel:
    """Traces `fn(*args)` as on `chip`; nothing is run.

    `args` are arrays, jax.ShapeDtypeStruct, or trees of these. With `cores=2`, on a megacore chip,
    the cores share the parallel grid axes of each pallas_call. `mesh` is the mesh of devices for a
    function with a shard_map that does not name its mesh: {"x": 8}, or a mesh of JAX. The function
    may overwrite the arguments whose numbers are in `donate`, as with `donate_argnums` of jax.jit;
    if a kernel updates any other argument in place, it works on a copy.

    Raises UnsupportedError with everything that the kernel asks for and the format lacks. Raises
    ValueError for a chip that is not known or has fewer cores, and for donated arguments that do
    not exist.
    """
    chip = chips.chip_named(chip)
    if cores not in ((1, 2) if chip in chips.MEGACORE else (1,)):
        raise ValueError(f"cores={cores} of {chip}; expected 1 core of a device, or 2 on "
                         f"{' and '.join(chips.MEGACORE)}")
    if chips.is_gpu(chip) and not versions.HAS_GPU_KERNELS:
        raise ValueError(f"chip {chip!r} is a GPU, whose kernels are captured from JAX 0.12 on; "
                         f"this is JAX {versions.VERSION}")
    leaves, tree = jax.tree_util.tree_flatten(args)
    with tracing.numbers_of_32_bits():
        traced = _traced(fn, tree.unflatten(_shapes(leaves)), chip, cores, mesh,
                         _donated(donate, args))
        outer, walk = traced.outer, traced.outer.walk
        name = name or name_of(fn) or outer.kernels.first_name() or traced.name
        if walk.problems:
            raise UnsupportedError(name, walk.problems)
        arrays = {number: _as_traced(types.stored(leaf)) for number, leaf in enumerate(leaves)
                  if not isinstance(leaf, jax.ShapeDtypeStruct)}
        constants = {number: _as_traced(types.stored(array.value))
                     for number, array in enumerate(outer.arrays.inputs)
                     if array.value is not None}
        document = _document(name, chip, outer, walk, traced.body)
    if outer.kernels.interprets:
        document["lowering"] = {"reason": "the function asks JAX to interpret a kernel"}
    else:
        lowered = traced.for_lowering(fn, tree.unflatten(_shapes(leaves)))
        document["lowering"] = lowering_verdict.of(*lowered, chip, cores, mesh)
    return Kernel(name, document, arrays | constants,
                  frozenset(constants), walk.locations.texts())


def _shapes(leaves: Iterable[Any]) -> list[Any]:
    """Returns the shapes of arrays with the dtypes that JAX gives them now. The shape of an array
    on a mesh also says where the array lies, because JAX may require that it lies there as a
    shard_map cuts it."""
    return [jax.ShapeDtypeStruct(np.shape(leaf), jax.dtypes.canonicalize_dtype(
        _dtype(leaf), allow_extended_dtype=True), sharding=_on_mesh(leaf)) for leaf in leaves]


def _on_mesh(leaf: Any) -> Any:
    sharding = getattr(leaf, "sharding", None)
    is_asked = (isinstance(sharding, jax.sharding.NamedSharding)
                and jax.sharding.AxisType.Explicit in sharding.mesh.axis_types)
    return sharding if is_asked else None


@dataclasses.dataclass
class _Traced:
    outer: Function
    body: Any
    name: str
    jaxpr: Any  # with its constants

    def for_lowering(self, fn: Callable[..., Any], args: Any) -> tuple[Callable[..., Any], Any]:
        """Returns what JAX is to lower: the trace that exists already, because tracing large
        kernels takes seconds. JAX can lower an emit_pipeline only inlined, so a function with its
        equation is traced again. If numbers of 64 bits are enabled, JAX is asked with them."""
        inner, constants = jaxprs.open_jaxpr(self.jaxpr)
        if kernel_bodies.has_pipeline(inner) or jax.config.jax_enable_x64:
            return fn, args
        large = {number: constant for number, constant in enumerate(constants)
                 if getattr(constant, "nbytes", 0) >= _LARGE}
        return (functools.partial(_again, self.jaxpr, constants, list(large)),
                [*_shapes(large.values()), *jax.tree_util.tree_leaves(args)])


_LARGE = 1 << 20  # bytes; larger constants must not be copied, as JAX's lowering would


def _again(jaxpr: Any, constants: Sequence[Any], large: list[int], *arguments: Any) -> list[Any]:
    """Computes what was traced. The large constants with these numbers come before its arguments.
    """
    given = dict(zip(large, arguments, strict=False))
    return jaxprs.evaluate(jaxpr, arguments[len(large):],
                           [given.get(number, value) for number, value in enumerate(constants)])


def _donated(donate: int | Sequence[int], args: Sequence[Any]) -> set[int]:
    """Returns the numbers of the leaves that belong to donated arguments."""
    numbers = [donate] if isinstance(donate, int) else list(donate)
    for number in numbers:
        if not -len(args) <= number < len(args):
            raise ValueError(f"donate={number} is no argument of the function, which is given "
                             f"{len(args)}; use their numbers, from 0 on")
    chosen = {number % len(args) for number in numbers}
    leaves = [number for number, arg in enumerate(args)
              for _ in jax.tree_util.tree_leaves(arg)]
    return {leaf for leaf, number in enumerate(leaves) if number in chosen}


def _traced(fn: Callable[..., Any], shapes: Any, chip: str, cores: int, mesh: Any,
            donated: set[int]) -> _Traced:
    """Traces with emit_pipeline as one equation, or inlined if JAX or the format has no such
    equation."""
    first: _Traced | None = None
    for whole in tracing.PIPELINE_FORMS:
        closed = None
        try:
            with (tracing.tracing_for(chip, cores, mesh, whole),
                  debug_infos.noted_by(lambda of, *given: (source_of(of), names_of(of, *given)))):
                closed = jax.make_jaxpr(fn)(*shapes)
                walk = Walk(table.RULES)
                walk.multiplies_from_shared = chips.multiplies_from_shared(chip)
                outer = Function(walk, cores, names_of_constants(fn), is_tpu=not chips.is_gpu(chip))
                jaxpr, _ = jaxprs.open_jaxpr(closed)
                body = outer.run(closed, _argument_names(fn, shapes, jaxpr), donated)
        except Exception:
            if whole == tracing.PIPELINE_FORMS[-1] and (first is None or closed is None):
                raise  # JAX's own error about the function, or a mistake of ours
            continue
        found = _Traced(outer, body, name_of_function(jaxpr), closed)
        if not outer.walk.problems:
            return found
        first = first or found
    assert first is not None
    return first


def capture_many(fn: Callable[..., Any], configurations: Iterable[Mapping[str, Any]], *args: Any,
                 **options: Any) -> dict[str, Kernel]:
    """Calls `capture` of `fn(*args, **configuration)` for each configuration. Returns the kernels
    by names such as "bm=128 bn=256".

    `options` are those of `capture`. An error says in a note to which configuration it belongs.
    """
    kernels: dict[str, Kernel] = {}
    for configuration in configurations:
        label = " ".join(f"{key}={value}" for key, value in configuration.items())
        own = options.get("name") or name_of(fn) or "kernel"
        name = f"{own} {label}".strip()
        try:
            kernels[label] = capture(functools.partial(fn, **configuration), *args,
                                     **options | {"name": name})
        except Exception as error:
            error.add_note(f"This is of the configuration {label}.")
            raise
    return kernels


def _dtype(leaf: Any) -> Any:
    return leaf.dtype if hasattr(leaf, "dtype") else np.asarray(leaf).dtype


def _as_traced(array: np.ndarray) -> np.ndarray:
    """Returns the array as JAX traces it: 64-bit numbers become 32-bit numbers."""
    return array_elements.as_type(array, jax.dtypes.canonicalize_dtype(array.dtype))


def _argument_names(fn: Callable[..., Any], args: Sequence[Any], jaxpr: Any) -> list[str]:
    """Returns the author's names of the arguments. A name that is not known is empty."""
    names = names_of(fn, args, {})
    return sources.own_names(names) if names and len(names) == len(
        jaxpr.invars) else sources.arg_names(jaxpr)


def _document(name: str, chip: str, outer: Function, walk: Walk, body: Any) -> dict[str, Any]:
    return {
        "format": "pallascope.kernel", "version": 1, "name": name,
        "producer": f"pallascope with JAX {versions.VERSION}",
        "chip": chip,
        **({"mesh": outer.mesh()} if walk.devices else {}),
        "arguments": outer.arrays.arguments(),
        "inputs": [_recipe(array, number) for number, array in enumerate(outer.arrays.inputs)],
        "values": walk.builder.values,
        "body": body.to_json(),
        "locations": walk.locations.to_json(),
        "compiler_params": [kernel for kernel in outer.kernels.begun if len(kernel) > 1]}


def _recipe(array: Array, number: int) -> dict[str, Any]:
    """Returns made-up contents: zeros for scalars, because they choose places; normally distributed
    numbers for the rest."""
    if "smem" in array.refs or array.is_prefetched:
        return {"zeros": {}}
    return {"normal": {"seed": number}}
