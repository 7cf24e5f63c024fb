"""Parameters of equations, which each version of JAX arranges in its own way."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import jax

from pallascope.jax_compat.jaxprs import open_jaxpr
from pallascope.jax_compat.ref_types import TransformedRef

KERNELS = frozenset({"pallas_call", "mpmd_map"})  # the primitives that run a kernel on arrays


def grid_bounds(eqn: Any) -> int:
    """Returns how many operands of a kernel are bounds of its grid. They come first, and its body
    has no refs for them."""
    return getattr(eqn.params.get("grid_mapping"), "num_dynamic_grid_bounds", 0)


def updated_operands(eqn: Any) -> set[int]:
    """Returns the numbers of the operands that a kernel updates in place."""
    return {grid_bounds(eqn) + number for number in dict(eqn.params["input_output_aliases"])}


def scan_counts(params: dict[str, Any]) -> tuple[int, int]:
    """Returns how many operands of a scan are constants, and how many are carried."""
    if "num_consts" in params:
        return params["num_consts"], params["num_carry"]
    consts, carry, _ = (len(group) for group in params["ft_in"].unpack())
    return consts, carry


@dataclasses.dataclass
class PipelineParts:
    """The operands of an emit_pipeline equation, sorted by what they are."""

    index_map_consts: list[Any]  # those of all block mappings, one after the other
    bounds: list[Any]
    body_consts: list[Any]
    refs: list[Any]  # the body's arguments: operands, or TransformedRefs of operands
    divided: list[int]  # grid axes that are cut already, so that each core has its own part
    has_allocations: bool = False  # whether the caller made the buffers


def pipeline_parts(eqn: Any, operands: Sequence[Any]) -> PipelineParts:
    """Sorts `operands`, which replace the equation's own, one for one."""
    params = eqn.params
    mapping = params["grid_mapping"]
    if "body_consts_len" not in params:  # JAX 0.11 and later
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
    """Returns the parts of a dma_start or dma_wait: source, target, the semaphores of the target
    and of the source, and the device.

    Each of the first four is an operand with its transforms, or None. The device is as JAX has it.
    """
    parts = list(eqn.params["tree"].unflatten(leaves))
    if len(parts) == 9:  # JAX 0.9
        pairs = [(parts[n], parts[n + 1]) for n in range(0, 8, 2)]
    else:
        pairs = [(part.ref, part.transforms) if isinstance(part, TransformedRef) else (part, ())
                 for part in parts[:4]]
    return [None if ref is None else (ref, tuple(transforms or ()))
            for ref, transforms in pairs] + [parts[-1]]


def _tpu_params(eqn: Any) -> Any:
    """Returns the CompilerParams of a pallas_call or pl.kernel."""
    given = eqn.params["compiler_params"]
    return given.get("mosaic_tpu") if isinstance(given, Mapping) else given  # a mapping in JAX 0.9


def skips_barrier(eqn: Any) -> bool:
    """Returns whether a kernel without a barrier of its own asks not to get one."""
    return bool(getattr(_tpu_params(eqn), "skip_device_barrier", False))


def compiler_params(eqn: Any) -> dict[str, Any]:
    """Returns what a pallas_call or pl.kernel asks of the compiler, as the format holds it."""
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
    """Returns what the fields of a debug_print's format stand for: operands, or static values."""
    tree = eqn.params.get("in_tree")
    if tree is None:  # a Pallas debug_print up to JAX 0.9
        return {str(number): value for number, value in enumerate(operands)}
    static = dict(eqn.params.get("static_args") or ())
    leaves = iter(operands)
    count = len(operands) + len(static)
    args, kwargs = tree.unflatten([static[number] if number in static else next(leaves)
                                   for number in range(count)])
    return {str(number): value for number, value in enumerate(args)} | kwargs


def checks(eqn: Any, leaves: Sequence[Any]) -> list[tuple[Any, str]]:
    """Returns for each part of a check a leaf that is true if the check fails, and the message for
    that."""
    error = jax.tree_util.tree_unflatten(eqn.params["err_tree"], leaves)
    texts = []
    for tree in error._metadata.values():
        found = tree.unflatten([None] * tree.num_leaves)
        texts.append(str(getattr(found, "fmt_string", "") or type(found).__name__))
    return [(flag, "; ".join(texts) or "a check does not hold") for flag in error._pred.values()]
