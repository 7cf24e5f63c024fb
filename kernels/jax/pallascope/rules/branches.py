"""Branches that rules add to what a kernel does."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pallascope.walk import Walk


def branch(walk: Walk, condition: int, emit: Callable[[], Any]) -> None:
    """Emits a branch that is taken if the bool holds."""
    with walk.builder.region() as nothing:
        pass
    with walk.builder.region() as taken:
        emit()
    walk.builder.emit("cond", [condition], [], regions=[nothing, taken])


def when(walk: Walk, condition: int, emit: Callable[[], Any]) -> None:
    """The same, without a branch where it is known now whether it is taken."""
    known = walk.builder.known(condition)
    if known is None:
        branch(walk, condition, emit)
    elif known:
        emit()
