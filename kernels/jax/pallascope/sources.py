"""Where equations come from, and the texts of the source files."""

from __future__ import annotations

import functools
import itertools
import os
import re
import sys
import sysconfig
from collections.abc import Sequence
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
    """Returns the place of the function that a jaxpr was traced from, if an author wrote it; JAX's
    default index maps are its own."""
    place = _function_of(jaxpr)
    return place if place and is_author(place.path) else None


def _function_of(jaxpr: Any) -> Place | None:
    """Returns what JAX gives as "name at file:line"."""
    text = str(getattr(jaxpr.debug_info, "func_src_info", "") or "")
    name, _, where = text.rpartition(" at ")
    path, _, line = where.rpartition(":")
    return Place(path, int(line), name) if path and line.isdigit() else None


def name_of_function(jaxpr: Any) -> str:
    place = _function_of(jaxpr)
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
    packages; the whole path if it is in none of these. An installed package goes by its own name
    even if it is installed inside of the working directory."""
    found = sorted(map(os.path.abspath, filter(None, sys.path)), key=len, reverse=True)
    installed = [root for root in found
                 if os.path.basename(root) in ("site-packages", "dist-packages")]
    for root in (*installed, os.getcwd(), *found):
        if path.startswith(root + os.sep):
            return path[len(root) + 1:]
    return path


def arg_names(jaxpr: Any, roles: Sequence[str] = ()) -> list[str]:
    """Returns the names of the arguments of the function that the jaxpr was traced from. An
    argument to which the author gives no name is called by its role, such as in0, out, scratch1, or
    has an empty name if no roles are given."""
    names = [str(name or "") for name in getattr(jaxpr.debug_info, "arg_names", None) or ()]
    count = len(jaxpr.invars)
    if len(names) != count:
        names = [""] * count
    by_roles = role_names(roles) if roles else [""] * count
    return apart([name or by_role for name, by_role
                  in zip(own_names(names, roles), by_roles, strict=True)])


def own_names(names: Sequence[str], roles: Sequence[str] = ()) -> list[str]:
    """Returns the author's names, in the form that the file has. An argument without one has an
    empty name. `*scratch[1]` is a name if all of `*scratch` have the same role."""
    kinds: dict[str, set[str]] = {}
    for name, role in zip(names, roles, strict=bool(roles)):
        match = _OF_MANY.fullmatch(name)
        if match:
            kinds.setdefault(match["list"], set()).add(role)
    return [_own_name(name, kinds) for name in names]


# A name that says which of a function's `*refs` it is.
_OF_MANY = re.compile(
    r"(?:\*(?=\w)|(?=(?:args|refs)\b))(?P<list>\w+)\[(?P<number>\d+)\](?P<rest>.*)")
_ANYTHING = frozenset({"args", "refs"})


def _own_name(name: str, kinds: dict[str, set[str]]) -> str:
    match = _OF_MANY.fullmatch(name)
    if match:
        is_one_kind = len(kinds.get(match["list"], ())) < 2
        name = ("" if match["list"] in _ANYTHING or not is_one_kind
                else f"{match['list']}({match['number']}){match['rest']}")
    fields = re.sub(r"\['(\w+)'\]", r".\1", name)
    return re.sub(r"\[([^\]]*)\]", r"(\1)", fields)


def role_names(roles: Sequence[str]) -> list[str]:
    """Returns in0, in1, out, scratch0: the numbers count each role. A single output has none."""
    counts = {role: itertools.count() for role in roles}
    return [role if role == "out" and roles.count(role) == 1 else f"{role}{next(counts[role])}"
            for role in roles]


def apart(names: Sequence[str]) -> list[str]:
    """Returns the names, each only once: the second x is x_2. Empty names stay."""
    taken = set(names)
    seen: set[str] = set()
    found = []
    for name in names:
        if name and name in seen:
            name = next(other for number in itertools.count(2)
                        if (other := f"{name}_{number}") not in taken)
            taken.add(name)
        seen.add(name)
        found.append(name)
    return found
