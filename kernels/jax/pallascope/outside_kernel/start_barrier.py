"""The barrier before a kernel that talks to other devices and has no barrier of its own.

JAX 0.12 says nothing of one on GPUs. But reduce_scatter in
jax/experimental/pallas/ops/gpu/reduce_scatter_mgpu.py relies on it: it loads the operands of all
devices and waits for none, and what comes before may still write them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import jax

from pallascope.jax_compat import jaxprs, parameters
from pallascope.program import Type
from pallascope.walk import Leaf, Walk

# The barrier semaphore of kernels that do not ask for one and get a barrier before they start.
START_BARRIER = 2**31 - 1

# Operations of a GPU that reach all devices along their axes.
_OF_ALL_DEVICES = {"multimem_load_reduce", "multimem_store", "semaphore_signal_multicast"}


def talks_to_devices(jaxpr: Any) -> bool:
    """Returns whether a copy or signal in it names a device."""
    inner, _ = jaxprs.open_jaxpr(jaxpr)
    return any(_names_device(eqn) or any(map(talks_to_devices, jaxprs.jaxprs_of(eqn)))
               for eqn in inner.eqns)


def _names_device(eqn: Any) -> bool:
    if eqn.primitive.name in _OF_ALL_DEVICES or any(
            "PeerMemRef" in str(tree) for tree in eqn.params.values()
            if isinstance(tree, jax.tree_util.PyTreeDef)):
        return True
    leaves: Sequence[Any] = [Leaf(0)] * len(eqn.invars)
    if eqn.primitive.name == "dma_start":
        return parameters.copy_parts(eqn, leaves)[4] is not None
    if eqn.primitive.name == "semaphore_signal":
        return eqn.params["args_tree"].unflatten(leaves)[3] is not None
    return False


def barrier(walk: Walk, devices: Iterable[int]) -> None:
    """Makes all devices arrive here before any of them goes on."""
    builder = walk.builder
    numbers = list(devices)
    semaphore = builder.one("get_barrier_semaphore", [], Type("int32", (), "barrier_semaphore"),
                            {"collective_id": START_BARRIER})
    for number in numbers:
        builder.emit("semaphore_signal", [semaphore, builder.index(1), builder.index(number)], [],
                     {"device": True})
    builder.emit("semaphore_wait", [semaphore, builder.index(len(numbers))], [])
