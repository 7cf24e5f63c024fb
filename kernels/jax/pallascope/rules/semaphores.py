"""Rules of semaphores that a kernel uses itself, and of delays."""

from __future__ import annotations

from typing import Any

from pallascope.problems import NotCaptured
from pallascope.program import Params, Type
from pallascope.rules import device_ids
from pallascope.rules.copies import view_of
from pallascope.walk import Leaf, Rule, Walk


def _parts(eqn: Any, operands: list[int]) -> Any:
    return eqn.params["args_tree"].unflatten([Leaf(value) for value in operands])


def _signal(walk: Walk, eqn: Any, operands: list[int]) -> list[int]:
    semaphore, transforms, amount, device, core = _parts(eqn, operands)
    device, named = device_ids.without_core(walk, device)
    if core is not None and named is not None:
        raise NotCaptured("semaphore_signal with core_index and a core in device_id: name the core "
                          "once")
    core = named if core is None else core
    taken = [view_of(walk, (semaphore, transforms)), device_ids.scalar(walk, amount)]
    params: Params = {}
    if device is not None:
        taken.append(device_ids.logical(walk, eqn, device))
        params["device"] = True
    if core is not None:
        taken.append(device_ids.scalar(walk, core))
        params["core"] = True
    return walk.builder.emit("semaphore_signal", taken, [], params)


def _wait(walk: Walk, eqn: Any, operands: list[int]) -> list[int]:
    semaphore, transforms, amount, decrement = _parts(eqn, operands)
    if isinstance(decrement, Leaf):
        decrement = walk.builder.known(decrement.value)
    if decrement is None:
        raise NotCaptured("semaphore_wait whose decrement is not known before the run")
    return walk.builder.emit(
        "semaphore_wait",
        [view_of(walk, (semaphore, transforms)), device_ids.scalar(walk, amount)], [],
        {} if decrement else {"decrement": False})


def _read(walk: Walk, eqn: Any, operands: list[int]) -> list[int]:
    semaphore, transforms = _parts(eqn, operands)
    return [walk.builder.one("semaphore_read", [view_of(walk, (semaphore, transforms))],
                             Type("int32"))]


def _barrier(walk: Walk, eqn: Any, operands: list[int]) -> list[int]:
    if walk.collective_id is None:
        raise NotCaptured("get_barrier_semaphore without a collective_id: give the kernel one")
    return [walk.builder.one("get_barrier_semaphore", [], Type("int32", (), "barrier_semaphore"),
                             {"collective_id": walk.collective_id})]


def _delay(walk: Walk, eqn: Any, operands: list[int]) -> list[int]:
    return walk.builder.emit("delay", [walk.index(operands[0])], [])


RULES: dict[str, Rule] = {
    "semaphore_signal": _signal,
    "semaphore_wait": _wait,
    "semaphore_read": _read,
    "get_barrier_semaphore": _barrier,
    "delay": _delay,
}
