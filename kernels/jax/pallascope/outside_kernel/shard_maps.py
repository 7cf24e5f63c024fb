"""What a shard_map says: its mesh of devices, and the part of each array that a device has."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from typing import Any

from pallascope.jax_compat import jaxprs
from pallascope.problems import NotCaptured
from pallascope.rules.device_ids import number_along
from pallascope.walk import Walk

# Primitives with which the function of a shard_map says how values vary between devices.
SAME_VALUE = frozenset({"pvary", "pcast"})


@dataclasses.dataclass
class ShardMap:
    """What an equation says about the mesh: for each operand or result, and each of its axes, the
    mesh axes that cut it."""

    mesh: dict[str, int]
    inputs: list[list[list[str]]]
    outputs: list[list[list[str]]]


def check_memory(eqn: Any) -> None:
    """Raises NotCaptured for a device_put to memory of the host."""
    for place in eqn.params["devices"]:  # a sharding, a device, a kind of memory, or nothing
        memory = getattr(place, "memory_kind", None) or getattr(place, "name", "device")
        if "host" in str(memory).lower():
            raise NotCaptured(f"device_put to the memory {str(memory).lower()}: use memory of the "
                              "device")


def shard_map_of(eqn: Any, jaxpr: Any) -> ShardMap:
    """Returns what the equation's parameters say. `jaxpr` is that of its function."""
    mesh = {str(axis): int(size) for axis, size in dict(eqn.params["mesh"].shape).items()}
    manual = eqn.params.get("newly_manual_axes", eqn.params.get("manual_axes", mesh))
    if set(manual) != set(mesh):
        raise NotCaptured("shard_map over some axes of its mesh: expected all of them")
    return ShardMap(
        mesh,
        [_partition(spec, v) for spec, v in zip(eqn.params["in_specs"], jaxpr.invars, strict=True)],
        [_partition(spec, v) for spec, v in zip(eqn.params["out_specs"], jaxpr.outvars,
                                                strict=True)])


def _partition(spec: Any, variable: Any) -> list[list[str]]:
    """Returns one list for each axis of the array, empty if the axis is not cut."""
    cut = [[] if names is None else [names] if isinstance(names, str) else list(names)
           for names in spec]
    cut += [[]] * (len(variable.aval.shape) - len(cut))
    return cut if any(cut) else []


def part_of(walk: Walk, ref: int, cut: Sequence[Sequence[str]]) -> int:
    """Returns a view of this device's part of a whole array. `cut` has the mesh axes that cut each
    of its axes."""
    builder = walk.builder
    type_ = builder.types[ref]
    operands, entries, shape = [ref], [], []
    for extent, axes in zip(type_.shape, cut, strict=True):
        shape.append(extent // math.prod(walk.devices[axis] for axis in axes))
        entries.append({"size": shape[-1]})
        if axes:
            entries[-1]["operand"] = len(operands)
            operands.append(builder.scale_index(number_along(walk, axes), shape[-1]))
    return builder.one("ref_at", operands, type_._replace(shape=tuple(shape)),
                       {"entries": entries})


def has_shard_map(jaxpr: Any) -> bool:
    inner, _ = jaxprs.open_jaxpr(jaxpr)
    return any(eqn.primitive.name == "shard_map" or any(map(has_shard_map, jaxprs.jaxprs_of(eqn)))
               for eqn in inner.eqns)
