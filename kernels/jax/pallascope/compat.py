"""All that differs between the versions of JAX, 0.9 to 0.12."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import inspect
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import jax
from jax._src import config as jax_config
from jax._src import core as jax_core
from jax._src.interpreters import partial_eval
from jax._src.pallas import core as pallas_core
from jax._src.state import indexing
from jax._src.state import types as state_types

from pallascope import lent

VERSION: str = jax.__version__
DIGAMMA_OF_0 = float("-inf" if jax.__version_info__ >= (0, 11) else "nan")

# The release whose pipeline rules this JAX follows, as the format names them.
SCHEDULE = ".".join(VERSION.split(".")[:2])

# What JAX calls the device of a chip.
DEVICE_KINDS = {
    "tpu_v2": "TPU v2", "tpu_v3": "TPU v3", "tpu_v4": "TPU v4", "tpu_v5e": "TPU v5 lite",
    "tpu_v5p": "TPU v5p", "tpu_v6e": "TPU v6 lite", "tpu_v7x": "TPU7x"}

# What else they are called, as in the chip files.
_ALIASES = {name.removeprefix("tpu_"): name for name in DEVICE_KINDS} | {
    "trillium": "tpu_v6e", "ironwood": "tpu_v7x"}

Literal = jax_core.Literal
DropVar = jax_core.DropVar
NDIndexer = indexing.NDIndexer
Slice = indexing.Slice
TransformedRef = state_types.TransformedRef


# Chips whose two cores are one device for JAX.
MEGACORE = ("tpu_v4", "tpu_v5p")

# None up to 0.10.0, which has no equation for emit_pipeline.
_pipeline_flag = getattr(jax_config, "use_emit_pipeline_primitive", None)

# Whether emit_pipeline is one equation when it is traced: what to try, one after the other.
PIPELINE_FORMS = (True, False)


def chip_named(name: str) -> str:
    """The name of a chip, "tpu_v6e", also by an alias, "v6e". Raises ValueError for another."""
    found = _ALIASES.get(name, name)
    if found not in DEVICE_KINDS:
        raise ValueError(f"chip {name!r} is not known; {', '.join(DEVICE_KINDS)} are")
    return found


def numbers_of_32_bits() -> contextlib.AbstractContextManager[None]:
    """While JAX takes numbers of 64 bits for such, as it does unless it is told otherwise: a chip
    has no others."""
    return jax_config.enable_x64(False)


@contextlib.contextmanager
def tracing_for(chip: str, cores: int = 1, mesh: Any = None,
                whole_pipelines: bool = True) -> Iterator[None]:
    """Traces as for cores of each device."""
    with contextlib.ExitStack() as stack:
        stack.enter_context(device_of(chip, cores, mesh))
        stack.enter_context(devices_named(chip))
        if _pipeline_flag is not None:
            stack.enter_context(_pipeline_flag(whole_pipelines))
            stack.enter_context(_lists_hidden())
            if whole_pipelines:
                stack.enter_context(lent.taken())
        elif whole_pipelines:
            from pallascope import emitted  # of JAX it needs what later versions may lack
            stack.enter_context(emitted.pipelines_whole())
        yield


# An array of indices that passes for a scalar.
LIST = "pallascope_list"
_list_p = jax_core.Primitive(LIST)
_list_p.def_abstract_eval(lambda indices: jax_core.ShapedArray((), indices.dtype))


@contextlib.contextmanager
def _lists_hidden() -> Iterator[None]:
    """The equation of emit_pipeline takes the index map of an Indirect block.

    JAX, up to 0.12, refuses every array that an index map of that equation yields, and takes it
    where the pipeline is inlined.
    """
    spec = pallas_core.BlockSpec
    before = spec.to_block_mapping

    def to_block_mapping(self: Any, *args: Any, **kwargs: Any) -> Any:
        is_listed = [type(dim).__name__ == "Indirect" for dim in self.block_shape or ()]
        index_map = self.index_map
        if not any(is_listed) or index_map is None:
            return before(self, *args, **kwargs)

        @functools.wraps(getattr(index_map, "index_map", index_map))
        def hidden(*indices: Any) -> tuple[Any, ...]:
            found = index_map(*indices)
            if len(found) != len(is_listed):
                return found
            return tuple(_list_p.bind(jax.numpy.asarray(index)) if listed else index
                         for index, listed in zip(found, is_listed, strict=True))

        return before(self.replace(index_map=hidden), *args, **kwargs)

    spec.to_block_mapping = to_block_mapping
    try:
        yield
    finally:
        spec.to_block_mapping = before


@contextlib.contextmanager
def devices_named(chip: str) -> Iterator[None]:
    """jax.devices() and jax.default_backend() answer as on the chip: kernels choose blocks by it.
    Where several devices make a mesh they stay what they are."""
    names = ("devices", "local_devices", "default_backend")
    before = {name: getattr(jax, name) for name in names}
    devices = jax.devices()
    if len(devices) != 1:
        yield
        return
    named = [_Named(devices[0], DEVICE_KINDS[chip])]
    jax.devices = jax.local_devices = lambda *_, **__: named
    jax.default_backend = lambda: "tpu"
    try:
        yield
    finally:
        for name, function in before.items():
            setattr(jax, name, function)


class _Named:
    """A device by another name."""

    platform = "tpu"

    def __init__(self, device: Any, kind: str) -> None:
        self._device = device
        self.device_kind = kind

    def __getattr__(self, name: str) -> Any:
        return getattr(self._device, name)


@contextlib.contextmanager
def device_of(chip: str, cores: int = 1, mesh: Any = None) -> Iterator[None]:
    """JAX takes so many cores of the chip for its device, though there is none. Without a mesh it
    is that of jax.set_mesh around."""
    from jax._src.mesh import use_abstract_mesh

    found, around = mesh_of(mesh or {}, chip, cores), jax.sharding.get_abstract_mesh()
    if mesh is None and not around.empty:
        found = around.update(abstract_device=found.abstract_device)
    with use_abstract_mesh(found), _meshes_of(found.abstract_device):
        yield


@contextlib.contextmanager
def _meshes_of(device: Any) -> Iterator[None]:
    """A mesh is one of such devices, whichever it was made of: of the host's own, or, within a
    shard_map, of another chip."""
    from jax._src import shard_map
    from jax._src.mesh import AbstractMesh, Mesh

    manual, abstract = shard_map._as_manual_mesh, inspect.getattr_static(Mesh, "abstract_mesh")
    shard_map._as_manual_mesh = lambda *args: manual(*args).update(abstract_device=device)
    Mesh.abstract_mesh = property(lambda self: AbstractMesh(
        self.axis_sizes, self.axis_names, axis_types=self.axis_types, abstract_device=device)
        if self.axis_names else abstract.__get__(self))
    try:
        yield
    finally:
        shard_map._as_manual_mesh, Mesh.abstract_mesh = manual, abstract


def mesh_of(axes: Any, chip: str = "tpu_v5e", cores: int = 1) -> Any:
    """A mesh of devices of the chip that need not exist: {"x": 8}, or as a mesh of JAX is."""
    from jax._src.mesh import AbstractDevice, AbstractMesh

    fields: dict[str, Any] = {"device_kind": DEVICE_KINDS[chip_named(chip)], "num_cores": cores,
                              "platform": "tpu"}
    known = {field.name for field in dataclasses.fields(AbstractDevice)}
    device = AbstractDevice(**{key: value for key, value in fields.items() if key in known})
    shape = dict(getattr(axes, "shape", axes))
    return AbstractMesh(tuple(shape.values()), tuple(shape), abstract_device=device,
                        axis_types=(jax.sharding.AxisType.Auto,) * len(shape))


def open_jaxpr(jaxpr: Any) -> tuple[Any, Sequence[Any]]:
    """A jaxpr and the values of its constvars; up to 0.10 a ClosedJaxpr has them."""
    inner = getattr(jaxpr, "jaxpr", jaxpr)
    consts = getattr(jaxpr, "consts", None)
    return inner, list(consts) if consts is not None else []


def evaluate(jaxpr: Any, arguments: Sequence[Any], constants: Sequence[Any] = ()) -> list[Any]:
    """What a jaxpr yields for these arguments, while another function is traced; its own constants
    are taken where none are given."""
    inner, consts = open_jaxpr(jaxpr)
    return jax_core.eval_jaxpr(inner, constants or consts, *arguments)


def called(eqn: Any) -> Any:
    """The jaxpr of the function that an equation calls."""
    return next(eqn.params[name] for name in ("jaxpr", "call_jaxpr", "fun_jaxpr", "call")
                if name in eqn.params)


def jaxprs_of(eqn: Any) -> list[Any]:
    """The jaxprs among the parameters of an equation."""
    found = []
    for parameter in eqn.params.values():
        for part in parameter if isinstance(parameter, (tuple, list)) else (parameter,):
            if isinstance(getattr(part, "jaxpr", part), jax_core.Jaxpr):
                found.append(part)
    return found


def without_constants(jaxpr: Any) -> Any:
    """A jaxpr whose constvars come first among its arguments."""
    return partial_eval.convert_constvars_jaxpr(getattr(jaxpr, "jaxpr", jaxpr))


def written_operands(eqn: Any) -> list[Any]:
    """The refs that an equation writes to."""
    return [eqn.invars[number] for number in sorted(written_arguments(eqn))]


def written_arguments(jaxpr: Any) -> set[int]:
    """Numbers of the refs among the arguments of a jaxpr, or an equation, that it writes to."""
    found = set()
    for effect in jaxpr.effects:
        if isinstance(effect, (state_types.WriteEffect, state_types.AccumEffect)):
            which = effect.input_index if hasattr(effect, "input_index") else effect.input
            found.add(which if isinstance(which, int) else jaxpr.invars.index(which))
    return found


def memory_space(aval: Any) -> Any:
    """Of a ref's type; None is the default of its place."""
    space = getattr(aval, "memory_space", None)
    return getattr(space, "memory_space", space)  # of a core of a mesh: the space itself


def scan_counts(params: dict[str, Any]) -> tuple[int, int]:
    """How many operands of a scan are constants, and how many are carried."""
    if "num_consts" in params:
        return params["num_consts"], params["num_carry"]
    consts, carry, _ = (len(group) for group in params["ft_in"].unpack())
    return consts, carry


def transform_kind(transform: Any) -> str:
    """"bitcast", "reshape", "transpose", "index", or the name of its class."""
    if isinstance(transform, NDIndexer):
        return "index"
    name = type(transform).__name__
    return {"BitcastTransform": "bitcast", "RefBitcaster": "bitcast",
            "ReshapeTransform": "reshape", "RefReshaper": "reshape",
            "TransposeTransform": "transpose", "RefTransposer": "transpose"}.get(name, name)


def permutation_of(transform: Any) -> tuple[int, ...]:
    return tuple(getattr(transform, "permutation", None) or transform.perm)


@dataclasses.dataclass
class PipelineParts:
    """The operands of an emit_pipeline equation by what they are."""

    index_map_consts: list[Any]  # of all block mappings, one after the other
    bounds: list[Any]
    body_consts: list[Any]
    refs: list[Any]  # of the body's arguments: operands, or TransformedRefs of such
    divided: list[int]  # grid axes that are cut already, so that each core sees its own part
    has_allocations: bool = False  # buffers that the caller made


def pipeline_parts(eqn: Any, operands: Sequence[Any]) -> PipelineParts:
    """`operands` stand for the equation's own, one for one."""
    params = eqn.params
    mapping = params["grid_mapping"]
    if "body_consts_len" not in params:  # 0.11 and later
        parts = params["args_tree"].unflatten(operands)
        return PipelineParts(
            list(parts.all_index_map_consts), list(parts.dynamic_grid_spec),
            list(parts.body_consts), _flat_refs(params["refs_tree"].unflatten(parts.refs_flat)),
            divided=[],
            has_allocations=parts.allocations is not None)
    rest = list(operands)

    def take(count: int) -> list[Any]:
        taken = rest[:count]
        del rest[:count]
        return taken

    consts = take(sum(len(open_jaxpr(block.index_map_jaxpr)[1])
                      for block in mapping.block_mappings))
    bounds = take(mapping.num_dynamic_grid_bounds)
    take(params["_num_extra_dynamic"])
    body = take(params["body_consts_len"])
    return PipelineParts(consts, bounds, body, _flat_refs(params["args_tree"].unflatten(rest)),
                         divided=[axis for axis, offset
                                  in enumerate(params["_static_grid_offsets"]) if offset != 0])


def _flat_refs(tree: Any) -> list[Any]:
    leaves, _ = jax.tree_util.tree_flatten(
        tree, is_leaf=lambda leaf: isinstance(leaf, TransformedRef))
    return leaves


def copy_parts(eqn: Any, leaves: Sequence[Any]) -> list[Any]:
    """Of dma_start and dma_wait: source, target, target's and source's semaphore, device.

    Each of the four is an operand with its transforms, or None; the device is as JAX has it.
    """
    parts = list(eqn.params["tree"].unflatten(leaves))
    if len(parts) == 9:  # 0.9
        pairs = [(parts[n], parts[n + 1]) for n in range(0, 8, 2)]
    else:
        pairs = [(part.ref, part.transforms) if isinstance(part, TransformedRef) else (part, ())
                 for part in parts[:4]]
    return [None if ref is None else (ref, tuple(transforms or ()))
            for ref, transforms in pairs] + [parts[-1]]


def _tpu_params(eqn: Any) -> Any:
    """The CompilerParams of a pallas_call or pl.kernel."""
    given = eqn.params["compiler_params"]
    return given.get("mosaic_tpu") if isinstance(given, Mapping) else given  # 0.9: a mapping


def skips_barrier(eqn: Any) -> bool:
    """Whether a kernel without a barrier of its own wants none."""
    return bool(getattr(_tpu_params(eqn), "skip_device_barrier", False))


def compiler_params(eqn: Any) -> dict[str, Any]:
    """What a pallas_call or pl.kernel asks of the compiler, as the format has it."""
    given = _tpu_params(eqn)
    found: dict[str, Any] = {}
    limit = getattr(given, "vmem_limit_bytes", None)
    if limit:
        found["vmem_limit_bytes"] = int(limit)
    semantics = getattr(given, "dimension_semantics", None)
    if semantics:
        found["dimension_semantics"] = [str(getattr(kind, "value", kind)) for kind in semantics]
    fused = [number for number, fuses in enumerate(getattr(given, "allow_input_fusion", None) or ())
             if fuses]
    if fused:
        found["allow_input_fusion"] = fused
    if getattr(given, "has_side_effects", None):
        found["has_side_effects"] = True
    if getattr(given, "collective_id", None) is not None:
        found["collective_id"] = int(given.collective_id)
    return found


def print_operands(eqn: Any, operands: Sequence[int]) -> dict[str, Any]:
    """What the fields of a debug_print's format stand for: operands, or what is static."""
    tree = eqn.params.get("in_tree")
    if tree is None:  # of Pallas up to 0.9
        return {str(number): value for number, value in enumerate(operands)}
    static = dict(eqn.params.get("static_args") or ())
    leaves = iter(operands)
    count = len(operands) + len(static)
    args, kwargs = tree.unflatten([static[number] if number in static else next(leaves)
                                   for number in range(count)])
    return {str(number): value for number, value in enumerate(args)} | kwargs


def checks(eqn: Any, leaves: Sequence[Any]) -> list[tuple[Any, str]]:
    """Of a check: leaves that are true where it does not hold, and what it says then."""
    error = jax.tree_util.tree_unflatten(eqn.params["err_tree"], leaves)
    texts = []
    for tree in error._metadata.values():
        found = tree.unflatten([None] * tree.num_leaves)
        texts.append(str(getattr(found, "fmt_string", "") or type(found).__name__))
    return [(flag, "; ".join(texts) or "a check does not hold") for flag in error._pred.values()]


def axis_names(mesh: Any) -> dict[str, int]:
    """The named axes of a mesh of cores with their extents."""
    return dict(mesh.shape)
