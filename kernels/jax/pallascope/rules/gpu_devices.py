"""Several GPUs: what a kernel reaches in the memory of another one, and its semaphores.

Semaphores are in global memory and new in each launch (JAX 0.12, jax/_src/pallas/mosaic_gpu/
lowering.py). The file allocates them around the kernel: those of pl.get_global once for all blocks,
those of a run_scoped once for each block, which takes its own by its number.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from typing import Any

from pallascope import types
from pallascope.problems import NotCaptured
from pallascope.program import Region
from pallascope.rules import device_ids, gpu_clusters, memory, ref_transforms, semaphores
from pallascope.rules.copies import view_of
from pallascope.rules.gpu_refs import leaves, remote, window
from pallascope.walk import Rule, Walk


def of_block(walk: Walk, aval: Any, name: str) -> int:
    """Returns a ref to semaphores that this block has for itself."""
    axes = [axis for axis in walk.axis_texts if axis not in walk.threads and axis in walk.cores]
    blocks = math.prod(walk.cores[axis] for axis in axes)
    type_ = types.semaphore_type(aval)
    assert type_ is not None
    found = walk.builder.value(type_._replace(shape=(blocks, *type_.shape)), name)
    walk.kernel_semaphores.append(found)
    return ref_transforms.element(walk, found, 0, gpu_clusters.number_along(walk, axes))


def _get_global(walk: Walk, eqn: Any, operands: list[int]) -> list[int]:
    type_ = types.semaphore_type(eqn.params["what"].inner_aval)
    if type_ is None:
        raise NotCaptured("get_global of what is no semaphore")
    walk.kernel_semaphores.append(walk.builder.value(type_, "global_semaphore"))
    return [walk.kernel_semaphores[-1]]


def launch(walk: Walk, region: Region) -> None:
    """Emits the launch of a kernel, in a scope that has the kernel's semaphores."""
    region.arguments, walk.kernel_semaphores = walk.kernel_semaphores, []
    if region.arguments:
        walk.builder.emit("run_scoped", [], [], {}, [region])
    else:
        walk.builder.append(region)


def along(walk: Walk, eqn: Any, axes: Any) -> Iterator[int]:
    """Returns the numbers of all devices along the axes."""
    axes = axes if isinstance(axes, tuple) else (axes,)
    if any(axis not in walk.devices for axis in axes):
        raise NotCaptured(f"{eqn.primitive.name} along {axes}, which are no axes of a mesh of "
                          "devices")
    index = walk.builder.index
    for places in itertools.product(*(range(walk.devices[axis]) for axis in axes)):
        yield device_ids.number_of(walk, {axis: index(place) for axis, place
                                          in zip(axes, places, strict=True)})


def _devices(walk: Walk, eqn: Any) -> Iterator[int]:
    return along(walk, eqn, eqn.params["collective_axes"])


def _signal_all(walk: Walk, eqn: Any, operands: list[int]) -> list[int]:
    semaphore, transforms, amount = eqn.params["args_tree"].unflatten(leaves(operands))
    seen = view_of(walk, (semaphore, transforms))
    for device in _devices(walk, eqn):
        walk.builder.emit("semaphore_signal", [seen, device_ids.scalar(walk, amount), device], [],
                          {"device": True})
    return []


def _signal_several(walk: Walk, eqn: Any, operands: list[int]) -> list[int]:
    """Emits one signal after the other. JAX promises no order among them."""
    refs, transforms, amounts, devices = eqn.params["args_tree"].unflatten(leaves(operands))
    for ref, chain, amount, device in zip(refs, transforms, amounts, devices, strict=True):
        taken = [view_of(walk, (ref, chain)), device_ids.scalar(walk, amount)]
        if device is not None:
            taken.append(device_ids.named(walk, "semaphore_signal_parallel", None, device))
        walk.builder.emit("semaphore_signal", taken, [], {} if device is None else {"device": True})
    return []


def _store_all(walk: Walk, eqn: Any, operands: list[int]) -> list[int]:
    """Emits a store to each device. The switch makes them of one."""
    value, ref, *further = operands
    tree = eqn.params["transforms_tree"]
    transforms = tuple(tree.unflatten(leaves(further))) if tree is not None else ()
    for device in _devices(walk, eqn):
        memory.store(walk, window(walk, remote(walk, ref, device), transforms), value)
    return []


def _load_reduced(walk: Walk, eqn: Any, operands: list[int]) -> list[int]:
    """Emits a load from each device, and the sum or the like, which the switch works out in the
    dtype of the elements."""
    ref, *further = operands
    transforms = tuple(eqn.params["tree"].unflatten(leaves(further)))
    found: int | None = None
    for device in _devices(walk, eqn):
        term = memory.load(walk, window(walk, remote(walk, ref, device), transforms))
        found = term if found is None else walk.builder.one(
            eqn.params["reduction_op"], [found, term], walk.builder.types[term])
    assert found is not None
    return [found]


RULES: dict[str, Rule] = {
    **{name: semaphores.RULES[name]
       for name in ("semaphore_signal", "semaphore_wait", "semaphore_read")},
    "get_global": _get_global,
    "semaphore_signal_multicast": _signal_all,
    "semaphore_signal_parallel": _signal_several,
    "multimem_store": _store_all,
    "multimem_load_reduce": _load_reduced,
}
