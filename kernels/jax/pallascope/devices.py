"""Functions that several devices run under one shard_map: its specs, and who is meant by an id."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from pallascope import compat
from pallascope.problems import NotCaptured
from pallascope.program import INDEX, Type
from pallascope.walk import Leaf, Walk

# Of what a shard_map's function says about how values vary between devices.
_SAME_VALUE = frozenset({"pvary", "pcast"})

# Barrier semaphore of the kernels that ask for none and get a barrier before they start.
START_BARRIER = 2**31 - 1


@dataclasses.dataclass
class ShardMap:
    """What an equation says about the mesh; per operand or result, per axis, the axes that cut."""

    mesh: dict[str, int]
    inputs: list[list[list[str]]]
    outputs: list[list[list[str]]]


def keeps_values(eqn: Any) -> bool:
    """Whether its results are its operands, said to vary or to lie between devices otherwise."""
    if eqn.primitive.name != "device_put":
        return eqn.primitive.name in _SAME_VALUE
    for place in eqn.params["devices"]:  # a sharding, a device, a kind of memory or nothing
        memory = getattr(place, "memory_kind", None) or getattr(place, "name", "device")
        if "host" in str(memory).lower():
            raise NotCaptured(f"device_put to the memory {str(memory).lower()}")
    return True


def shard_map_of(eqn: Any, jaxpr: Any) -> ShardMap:
    """The equation's parameters; `jaxpr` is its function's."""
    mesh = {str(axis): int(size) for axis, size in dict(eqn.params["mesh"].shape).items()}
    manual = eqn.params.get("newly_manual_axes", eqn.params.get("manual_axes", mesh))
    if set(manual) != set(mesh):
        raise NotCaptured("shard_map over some axes of its mesh")
    return ShardMap(
        mesh,
        [_partition(spec, v) for spec, v in zip(eqn.params["in_specs"], jaxpr.invars, strict=True)],
        [_partition(spec, v) for spec, v in zip(eqn.params["out_specs"], jaxpr.outvars,
                                                strict=True)])


def _partition(spec: Any, variable: Any) -> list[list[str]]:
    """One list per axis of the array; empty where no axis is cut."""
    cut = [[] if names is None else [names] if isinstance(names, str) else list(names)
           for names in spec]
    cut += [[]] * (len(variable.aval.shape) - len(cut))
    return cut if any(cut) else []


def part_of(walk: Walk, ref: int, cut: Sequence[Sequence[str]]) -> int:
    """A view of this device's part of a whole array; `cut` has mesh axes for each of its axes."""
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


def logical(walk: Walk, eqn: Any, device: Any) -> int:
    """The number of a device that an equation names: row-major in the mesh."""
    if getattr(eqn.params["device_id_type"], "name", None) == "LOGICAL":
        if isinstance(device, (tuple, list, dict)):
            raise NotCaptured(f"{eqn.primitive.name} to a logical device that is no scalar")
        return scalar(walk, device)
    if not walk.devices:
        raise NotCaptured(f"{eqn.primitive.name} to a device of a mesh, outside of a shard_map")
    if isinstance(device, Mapping):
        places = _by_name(walk, eqn, device)
    else:
        given = list(device) if isinstance(device, (tuple, list)) else [device]
        if len(given) != len(walk.devices):
            raise NotCaptured(f"{eqn.primitive.name} to a device of {len(given)} coordinates in a "
                              f"mesh of {len(walk.devices)} axes")
        places = dict(zip(walk.devices, given, strict=True))
    return number_of(walk, {axis: scalar(walk, place) for axis, place in places.items()})


def without_core(walk: Walk, device: Any) -> tuple[Any, Any]:
    """A device as JAX has it, None where that is this one, and the core that it names besides."""
    if not isinstance(device, Mapping):
        return device, None
    cores = [axis for axis in device if axis in walk.cores]
    if any(axis in walk.block_axes for axis in cores):
        raise NotCaptured("a signal that names a SparseCore besides its subcore")
    if not cores:
        return device, None
    return {axis: at for axis, at in device.items() if axis not in cores} or None, device[cores[0]]


def number_of(walk: Walk, places: Mapping[str, int]) -> int:
    """Of the device with these coordinates, and those of this one on the other axes."""
    return number_along(walk, walk.devices, places)


def number_along(walk: Walk, axes: Iterable[str],
                 places: Mapping[str, int] = MappingProxyType({})) -> int:
    """Row-major among the devices along the axes: this one's, but at the places that are given."""
    builder = walk.builder
    found = builder.index(0)
    for axis in axes:
        at = places[axis] if axis in places else axis_index(walk, axis)
        found = builder.add_index(builder.scale_index(found, walk.devices[axis]), at)
    return found


def axis_index(walk: Walk, axis: str) -> int:
    return walk.builder.one("axis_index", [], INDEX, {"text": axis})


def _by_name(walk: Walk, eqn: Any, device: Mapping[Any, Any]) -> dict[str, Any]:
    """Coordinates by axis; an index along several axes at once is split."""
    places: dict[str, Any] = {}
    for names, index in device.items():
        axes = [names] if isinstance(names, str) else list(names)
        if any(axis not in walk.devices for axis in axes):
            raise NotCaptured(f"{eqn.primitive.name} to a place on {names!r}, which is no axis of "
                              "the mesh of devices")
        rest = scalar(walk, index)
        for axis in reversed(axes[1:]):
            size = walk.builder.index(walk.devices[axis])
            places[axis] = Leaf(_arithmetic(walk, "rem", rest, size))
            rest = _arithmetic(walk, "div", rest, size)
        places[axes[0]] = Leaf(rest)
    return places


def scalar(walk: Walk, value: Any) -> int:
    """A number in a tree of operands, as int32."""
    return walk.index(value.value) if isinstance(value, Leaf) else walk.builder.index(int(value))


def _arithmetic(walk: Walk, op: str, a: int, b: int) -> int:
    return walk.builder.one(op, [a, b], INDEX)


def has_shard_map(jaxpr: Any) -> bool:
    inner, _ = compat.open_jaxpr(jaxpr)
    return any(eqn.primitive.name == "shard_map" or any(map(has_shard_map, compat.jaxprs_of(eqn)))
               for eqn in inner.eqns)


def talks_to_devices(jaxpr: Any) -> bool:
    """Some copy or signal in it names a device."""
    inner, _ = compat.open_jaxpr(jaxpr)
    return any(_names_device(eqn) or any(map(talks_to_devices, compat.jaxprs_of(eqn)))
               for eqn in inner.eqns)


def _names_device(eqn: Any) -> bool:
    leaves: Sequence[Any] = [Leaf(0)] * len(eqn.invars)
    if eqn.primitive.name == "dma_start":
        return compat.copy_parts(eqn, leaves)[4] is not None
    if eqn.primitive.name == "semaphore_signal":
        return eqn.params["args_tree"].unflatten(leaves)[3] is not None
    return False


def barrier(walk: Walk, devices: Iterable[int]) -> None:
    """All devices come to this place before one of them goes on."""
    builder = walk.builder
    numbers = list(devices)
    semaphore = builder.one("get_barrier_semaphore", [], Type("int32", (), "barrier_semaphore"),
                            {"collective_id": START_BARRIER})
    for number in numbers:
        builder.emit("semaphore_signal", [semaphore, builder.index(1), builder.index(number)], [],
                     {"device": True})
    builder.emit("semaphore_wait", [semaphore, builder.index(len(numbers))], [])
