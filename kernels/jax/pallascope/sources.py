"""Where equations come from, and the texts of the source files."""

from __future__ import annotations

import functools
import itertools
import os
import sys
import sysconfig
from typing import Any, NamedTuple

import jax

_JAX = os.path.dirname(jax.__file__) + os.sep
_KERNELS_OF_JAX = os.path.join(_JAX, "experimental", "pallas", "ops") + os.sep
_STDLIB = sysconfig.get_path("stdlib") + os.sep
_PACKAGES = sysconfig.get_path("purelib") + os.sep
_OWN = os.path.dirname(__file__) + os.sep


class Place(NamedTuple):
    """A line of the author's source. `path` is the file on this machine."""

    path: str
    line: int
    function: str
    caller: Place | None = None  # where the function, a helper, is called


_MOST_CALLERS = 8


def place_of(source_info: Any) -> Place | None:
    """Returns the innermost frame that belongs neither to JAX nor to Python, with its callers up to
    JAX, which traces the kernel. Kernels inside JAX count as an author's."""
    traceback = source_info.traceback
    frames = list(traceback.frames) if traceback else []
    authors = itertools.takewhile(
        lambda frame: is_author(frame.file_name),
        itertools.dropwhile(lambda frame: not is_author(frame.file_name), frames))
    place = None
    for frame in reversed(list(itertools.islice(authors, 1 + _MOST_CALLERS))):
        if place is None or place[:2] != (frame.file_name, frame.line_num):
            place = Place(frame.file_name, frame.line_num, frame.function_name, place)
        else:  # a comprehension, or a lambda on the same line
            place = place._replace(function=frame.function_name)
    return place


def place_of_function(jaxpr: Any) -> Place | None:
    """Returns the place of the function that a jaxpr was traced from, given as "name at file:line".
    """
    text = str(getattr(jaxpr.debug_info, "func_src_info", "") or "")
    name, _, where = text.rpartition(" at ")
    path, _, line = where.rpartition(":")
    return Place(path, int(line), name) if path and line.isdigit() else None


def name_of_function(jaxpr: Any) -> str:
    place = place_of_function(jaxpr)
    return place.function if place else "kernel"


@functools.cache
def is_author(path: str) -> bool:
    """Returns whether the file belongs neither to JAX nor to Python. Kernels inside JAX count as an
    author's."""
    if path.startswith(_PACKAGES):
        return not path.startswith(_JAX) or path.startswith(_KERNELS_OF_JAX)
    return not path.startswith((_JAX, _STDLIB, _OWN)) and not path.startswith("<frozen")


class Locations:
    """The places of one program, numbered. Files have names as short as a reader can still find
    them by."""

    def __init__(self) -> None:
        self._numbers: dict[Place, int] = {}

    def number(self, place: Place | None) -> int:
        """Returns the number of the place in the file, or -1 if there is no place."""
        if place is None or place.line < 1:
            return -1
        self.number(place.caller)  # the caller must come before it
        return self._numbers.setdefault(place, len(self._numbers))

    def place(self, number: int) -> Place | None:
        return list(self._numbers)[number] if number >= 0 else None

    def to_json(self) -> list[dict[str, Any]]:
        return [{"file": short_name(place.path), "line": place.line}
                | ({"function": place.function} if place.function else {})
                | ({"caller": self._numbers[place.caller]} if place.caller else {})
                for place in self._numbers]

    def texts(self) -> dict[str, str]:
        """Returns the texts of the files that can be read, by the files' names."""
        found = {}
        for path in dict.fromkeys(place.path for place in self._numbers):
            try:
                with open(path, encoding="utf-8") as file:
                    found[short_name(path)] = file.read()
            except (OSError, UnicodeDecodeError):
                continue
        return found


def short_name(path: str) -> str:
    """Returns the path relative to the working directory or to a folder where Python finds
    packages; the whole path if it is in none of these."""
    for root in (os.getcwd(), *sorted(map(os.path.abspath, filter(None, sys.path)), key=len,
                                      reverse=True)):
        if path.startswith(root + os.sep):
            return path[len(root) + 1:]
    return path


def arg_names(jaxpr: Any) -> list[str]:
    """Returns the names of the arguments of the function that the jaxpr was traced from. A name
    that JAX lost is empty."""
    names = [str(name or "") for name in getattr(jaxpr.debug_info, "arg_names", None) or ()]
    count = len(jaxpr.invars)
    return names if len(names) == count else [""] * count
