"""Rules of manual DMAs: copies that a kernel itself starts and waits for."""

from __future__ import annotations

from typing import Any

from pallascope.jax_compat import parameters, ref_types
from pallascope.problems import NotCaptured
from pallascope.program import Params
from pallascope.rules import device_ids
from pallascope.rules.listed_rows import has_list, listed
from pallascope.rules.ref_transforms import view, window
from pallascope.walk import Leaf, Rule, Walk


def view_of(walk: Walk, part: Any) -> int:
    ref, transforms = part
    return view(walk, window(walk, ref.value, transforms))


def _dma_start(walk: Walk, eqn: Any, operands: list[int]) -> list[int]:
    parts = parameters.copy_parts(eqn, [Leaf(value) for value in operands])
    selected = next((number for number in (0, 1) if _is_selected(parts[number])), None)
    if selected is not None:
        return _start_selected(walk, eqn, parts, selected)
    return _start(walk, eqn, parts)


def _is_selected(part: Any) -> bool:
    """Returns whether it is one of several refs, chosen by a number: pl.select_ref."""
    return isinstance(part[0], (list, tuple))


def _choices(part: Any) -> list[Any]:
    refs, (_, *further) = part
    return [(ref.ref, (*ref.transforms, *further)) if isinstance(ref, ref_types.TransformedRef)
            else (ref, tuple(further)) for ref in refs]


def _start_selected(walk: Walk, eqn: Any, parts: list[Any], selected: int) -> list[int]:
    """Emits a branch for each ref that may be chosen."""
    which = walk.builder.flag(parts[selected][1][0].idx.value)
    if walk.builder.types[which].dtype != "bool":
        which = walk.index(which)
    regions = []
    for choice in _choices(parts[selected]):
        with walk.builder.region([]) as region:
            _start(walk, eqn, [*parts[:selected], choice, *parts[selected + 1:]])
        regions.append(region)
    return walk.builder.emit("cond", [which], [], regions=regions)


def _start(walk: Walk, eqn: Any, parts: list[Any]) -> list[int]:
    source, target, target_semaphore, source_semaphore, device = parts
    if target_semaphore is None:
        raise NotCaptured("dma_start with a semaphore of the source only: give the target one "
                          "too")
    lists = [listed(walk, part) for part in (source, target)]
    taken = [view_of(walk, part if rows is None else rows.part)
             for part, rows in zip((source, target), lists, strict=True)]
    taken.append(view_of(walk, target_semaphore))
    if walk.builder.types[taken[2]].space not in ("dma_semaphore", "semaphore"):
        raise NotCaptured("dma_start with a barrier semaphore: use SemaphoreType.DMA")
    params: Params = {}
    if source_semaphore is not None:
        taken.append(view_of(walk, source_semaphore))
        params["source_semaphore"] = True
    if device is not None:
        taken.append(device_ids.logical(walk, eqn, device))
        params["device"] = True
    if eqn.params["priority"]:
        params["priority"] = int(eqn.params["priority"])
    if eqn.params.get("add"):
        params["add"] = True
    if all(lists):
        raise NotCaptured("dma_start with lists of rows at both ends: list the rows of one end")
    for rows, end in zip(lists, ("source", "target"), strict=True):
        if rows is not None:
            count = walk.builder.types[rows.list].shape[0]
            room = walk.builder.types[taken[0 if end == "target" else 1]].shape[:1]
            if room != (count,):
                raise NotCaptured(f"a copy of {count} listed rows where the other end has "
                                  f"{room[0] if room else 'none'}: expected as many")
            taken.append(rows.list)
            params["rows"] = end
            if rows.ignored is not None:
                params["ignored"] = rows.ignored
    return walk.builder.emit("dma_start", taken, [], params)


def _dma_wait(walk: Walk, eqn: Any, operands: list[int]) -> list[int]:
    """Emits a wait. Only the bytes of the target and its semaphore matter. A wait for a read has
    source and target swapped."""
    source, target, semaphore, _, _ = parameters.copy_parts(
        eqn, [Leaf(value) for value in operands])
    if semaphore is None:
        raise NotCaptured("dma_wait without a semaphore")
    if _is_selected(target):
        target = _choices(target)[0]
    if has_list(target, walk):  # the other end has as many bytes
        target = source
    return walk.builder.emit("dma_wait", [view_of(walk, target), view_of(walk, semaphore)], [])


RULES: dict[str, Rule] = {"dma_start": _dma_start, "dma_wait": _dma_wait}
