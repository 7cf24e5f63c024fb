"""Which device the ID in a copy or a signal means."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any

from pallascope.problems import NotCaptured
from pallascope.program import INDEX
from pallascope.walk import Leaf, Walk


def logical(walk: Walk, eqn: Any, device: Any) -> int:
    """Returns the row-major number in the mesh of the device that an equation names."""
    return named(walk, eqn.primitive.name, eqn.params["device_id_type"], device)


def named(walk: Walk, what: str, id_type: Any, device: Any) -> int:
    """Returns the number of the device that an operation or a ref (`what`) names."""
    if getattr(id_type, "name", None) == "LOGICAL":
        if isinstance(device, (tuple, list, dict)):
            raise NotCaptured(f"{what} to a logical device that is no scalar: use "
                              "one number")
        return scalar(walk, device)
    if not walk.devices:
        raise NotCaptured(f"{what} to a device of a mesh, outside of a shard_map: "
                          "use a shard_map, or DeviceIdType.LOGICAL")
    if isinstance(device, Mapping):
        places = _by_name(walk, what, device)
    else:
        given = list(device) if isinstance(device, (tuple, list)) else [device]
        if len(given) != len(walk.devices):
            raise NotCaptured(f"{what} to a device of {len(given)} coordinates in a "
                              f"mesh of {len(walk.devices)} axes: give one for each axis")
        places = dict(zip(walk.devices, given, strict=True))
    return number_of(walk, {axis: scalar(walk, place) for axis, place in places.items()})


def without_core(walk: Walk, device: Any) -> tuple[Any, Any]:
    """Returns the device as JAX has it, or None if it is this device, and the core that it also
    names."""
    if not isinstance(device, Mapping):
        return device, None
    cores = [axis for axis in device if axis in walk.cores]
    if any(axis in walk.block_axes for axis in cores):
        raise NotCaptured("a signal that names a SparseCore besides its subcore")
    if not cores:
        return device, None
    return {axis: at for axis, at in device.items() if axis not in cores} or None, device[cores[0]]


def number_of(walk: Walk, places: Mapping[str, int]) -> int:
    """Returns the number of the device with these coordinates and, on the other axes, those of this
    device."""
    return number_along(walk, walk.devices, places)


def number_along(walk: Walk, axes: Iterable[str],
                 places: Mapping[str, int] = MappingProxyType({})) -> int:
    """Returns the row-major number among the devices along the axes: this device's, except at the
    places that are given."""
    builder = walk.builder
    found = builder.index(0)
    for axis in axes:
        at = places[axis] if axis in places else axis_index(walk, axis)
        found = builder.add_index(builder.scale_index(found, walk.devices[axis]), at)
    return found


def axis_index(walk: Walk, axis: str) -> int:
    return walk.builder.one("axis_index", [], INDEX, {"text": axis})


def _by_name(walk: Walk, what: str, device: Mapping[Any, Any]) -> dict[str, Any]:
    """Returns coordinates by axis. An index along several axes at once is split."""
    places: dict[str, Any] = {}
    for names, index in device.items():
        axes = [names] if isinstance(names, str) else list(names)
        if any(axis not in walk.devices for axis in axes):
            raise NotCaptured(f"{what} to a place on {names!r}, which is no axis of "
                              "the mesh of devices")
        rest = scalar(walk, index)
        for axis in reversed(axes[1:]):
            size = walk.builder.index(walk.devices[axis])
            places[axis] = Leaf(_arithmetic(walk, "rem", rest, size))
            rest = _arithmetic(walk, "div", rest, size)
        places[axes[0]] = Leaf(rest)
    return places


def scalar(walk: Walk, value: Any) -> int:
    """Returns a number in a tree of operands as int32."""
    return walk.index(value.value) if isinstance(value, Leaf) else walk.builder.index(int(value))


def _arithmetic(walk: Walk, op: str, a: int, b: int) -> int:
    return walk.builder.one(op, [a, b], INDEX)
