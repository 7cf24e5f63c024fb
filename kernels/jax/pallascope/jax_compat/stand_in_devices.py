"""Devices of a chip that JAX takes for its own while it traces, although they do not exist."""

from __future__ import annotations

import contextlib
import dataclasses
import inspect
import math
from collections.abc import Iterator
from typing import Any

import jax

from pallascope.jax_compat import chips, gpu_chips, gpu_devices


@contextlib.contextmanager
def devices_named(chip: str, mesh: Any = None) -> Iterator[None]:
    """Makes jax.devices() and jax.default_backend() answer as on the chip, because kernels choose
    blocks by them; of GPUs jax.device_count() too. Where several TPUs form a mesh, they stay what
    they are."""
    names = ("devices", "local_devices", "default_backend", "device_count", "local_device_count")
    before = {name: getattr(jax, name) for name in names}
    devices = jax.devices()
    if len(devices) != 1 and not chips.is_gpu(chip):
        yield
        return
    named = [_Named(device, chip) for device in devices]
    jax.devices = jax.local_devices = lambda *_, **__: named
    jax.default_backend = lambda: chips.platform(chip)
    if mesh is not None and chips.is_gpu(chip):
        count = math.prod(dict(getattr(mesh, "shape", mesh)).values())
        jax.device_count = jax.local_device_count = lambda *_, **__: count
    try:
        with (gpu_devices.asked_as(chip, named[0]) if chips.is_gpu(chip)
              else contextlib.nullcontext()):
            yield
    finally:
        for name, function in before.items():
            setattr(jax, name, function)


class _Named:
    """A device under another name."""

    def __init__(self, device: Any, chip: str) -> None:
        self._device = device
        self.platform = chips.platform(chip)
        self.device_kind = chips.device_kind(chip)
        if chips.is_gpu(chip):
            self.__dict__ |= gpu_devices.attributes(chip)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._device, name)


@contextlib.contextmanager
def device_of(chip: str, cores: int = 1, mesh: Any = None) -> Iterator[None]:
    """Makes JAX take this many cores of the chip for its device, although they do not exist.
    Without a mesh, the mesh is the enclosing one of jax.set_mesh."""
    from jax._src.mesh import use_abstract_mesh

    found, around = mesh_of(mesh or {}, chip, cores), jax.sharding.get_abstract_mesh()
    if mesh is None and not around.empty:
        found = around.update(abstract_device=found.abstract_device)
    with use_abstract_mesh(found), _meshes_of(found.abstract_device):
        yield


@contextlib.contextmanager
def _meshes_of(device: Any) -> Iterator[None]:
    """Makes every mesh a mesh of such devices, whatever devices it was made of: the host's own or,
    within a shard_map, those of another chip."""
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
    """Returns a mesh of devices of the chip, which need not exist. It is given as {"x": 8}, or like
    a mesh of JAX."""
    from jax._src.mesh import AbstractDevice, AbstractMesh

    chip = chips.chip_named(chip)
    if chips.is_gpu(chip):
        cores = gpu_chips.GPUS[chip].multiprocessors
    fields: dict[str, Any] = {"device_kind": chips.device_kind(chip), "num_cores": cores,
                              "platform": chips.platform(chip)}
    known = {field.name for field in dataclasses.fields(AbstractDevice)}
    device = AbstractDevice(**{key: value for key, value in fields.items() if key in known})
    shape = dict(getattr(axes, "shape", axes))
    return AbstractMesh(tuple(shape.values()), tuple(shape), abstract_device=device,
                        axis_types=(jax.sharding.AxisType.Auto,) * len(shape))


def axis_names(mesh: Any) -> dict[str, int]:
    """Returns the named axes of a mesh of cores with their extents."""
    return dict(mesh.shape)
