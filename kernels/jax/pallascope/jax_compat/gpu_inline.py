"""What a function of inline_mgpu does, for those functions that are a few instructions of the PTX
ISA which the format has: barriers by number, and fences."""

from __future__ import annotations

import contextlib
import inspect
import re
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from pallascope.jax_compat.answers import replaced


class NamedBarrier(NamedTuple):
    """A `bar.sync` or a `bar.arrive`. The barrier is a number, or an argument of the function."""

    waits: bool
    barrier: int | Argument
    threads: int


class Fence(NamedTuple):
    """Makes what was loaded and stored before known to copies and products, as commit_smem does."""


class Nothing(NamedTuple):
    """A meeting of the warps of a warpgroup, which is one agent here."""


class Argument:
    """Stands for an argument of the function while it is called."""

    def __init__(self, number: int) -> None:
        self.number = number

    @property
    def registers(self) -> Argument:
        return self

    def __getitem__(self, place: Any) -> Argument:
        return self


_BARRIER = re.compile(r"\s*bar(?:rier)?\.(?:cta\.)?(sync|arrive)(?:\.aligned)?\s+(\$0|\d+)\s*,"
                      r"\s*(\d+)\s*;\s*")

_FENCE = re.compile(r"\s*fence\.proxy\.async")

Instruction = NamedBarrier | Fence | Nothing


def instructions(function: Callable[..., Any], arguments: int) -> list[Instruction] | None:
    """Returns the instructions that the function emits when JAX lowers it, in order. None: it is
    something else."""
    found: list[Instruction] = []
    if _FENCE.match(_text_of(function)):
        return [Fence()]
    try:
        with _recorded(found):
            result = function(None, *map(Argument, range(arguments)))
    except Exception:  # noqa: BLE001: it uses more of Mosaic GPU than what is recorded
        return None
    return found if result is None or found else None


def _text_of(function: Callable[..., Any]) -> str:
    """Returns the PTX of JAX's own helper for a text, an empty text for other functions."""
    if getattr(function, "__qualname__", "") != "inline_ptx.<locals>.ptx":
        return ""
    return str(inspect.getclosurevars(function).nonlocals.get("asm", ""))


def _barrier(text: str, operands: tuple[Any, ...]) -> NamedBarrier:
    match = _BARRIER.fullmatch(text)
    if match is None:
        raise ValueError(text)
    name = match[2]
    return NamedBarrier(match[1] == "sync", operands[0] if name == "$0" else int(name),
                        int(match[3]))


@contextlib.contextmanager
def _recorded(found: list[Instruction]) -> Iterator[None]:
    """Makes the functions of Mosaic GPU note what they are called for, and emit nothing."""
    from jax.experimental.mosaic import gpu
    from jax.experimental.mosaic.gpu import utils
    from jaxlib.mlir.dialects import nvvm

    def ptx(text: str, *operands: Any, **_: Any) -> None:
        found.append(_barrier(text, operands))

    def fence(kind: Any, *_: Any, **__: Any) -> None:
        if kind not in (nvvm.ProxyKind.async_shared, nvvm.ProxyKind.async_):
            raise ValueError(kind)
        found.append(Fence())

    def meeting(*_: Any, **__: Any) -> None:
        found.append(Nothing())

    answers = [(utils, "inline_ptx", ptx), (nvvm, "fence_proxy", fence),
               (utils, "warpgroup_barrier", meeting), (gpu, "warpgroup_barrier", meeting)]
    with replaced(answers):
        yield
