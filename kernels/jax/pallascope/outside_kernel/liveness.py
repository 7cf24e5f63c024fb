"""Says which arrays of the function later equations still need, and to which they write."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Callable, Collection, Iterator
from typing import Any

from pallascope.jax_compat import jaxprs
from pallascope.outside_kernel.arrays import Array


class Frame:
    """A jaxpr while it is walked: which of its arrays are needed later. Of a branch or a loop,
    `lasting` says which of its arguments are needed when it has ended, by their numbers."""

    def __init__(self, jaxpr: Any, lasting: Collection[int] | None = None) -> None:
        self.again = lasting is not None
        self.eqns = _used(jaxpr)
        self.env: dict[Any, Array] = {}
        # What kernels are given instead of an array after so many changes.
        self.given: dict[tuple[Array, int], Array] = {}
        self.at = 0
        self._alive: list[Any] = []  # among the arrays made so far
        self._seen = 0
        ends = [*jaxpr.outvars, *(jaxpr.invars[number] for number in lasting or [])]
        self._own = [v for number, v in enumerate(jaxpr.invars)
                     if lasting is not None and number not in lasting]
        self._last = {v: len(self.eqns) for v in ends if is_variable(v)}
        for number, eqn in reversed(list(enumerate(self.eqns))):
            for v in filter(is_variable, eqn.invars):
                self._last.setdefault(v, number)

    def needs(self, root: Array) -> bool:
        """Returns whether an equation after the current one, or the caller, reads the array. It may
        be what was made of an input whose axes do not lie in order, and stands for it."""
        return any(root in (array, array.row_major) for array in self.needed())

    def needed(self) -> set[Array]:
        """Returns the arrays, as they were made, that an equation after the current one or the
        caller reads."""
        fresh = itertools.islice(self.env, self._seen, None)
        self._seen = len(self.env)
        self._alive = [v for v in (*self._alive, *fresh) if self._last.get(v, -1) > self.at]
        return {self.env[v].root() for v in self._alive}

    def owns(self, array: Array) -> bool:
        """Returns whether it is an argument of the branch or the round that nothing outside of it
        needs as it was."""
        return any(self.env[v] is array for v in self._own)

    def readers(self) -> Iterator[tuple[Array, str]]:
        """Yields the arrays that an equation after the current one or the caller reads, each with
        the name of the equation's primitive, or nothing for the caller."""
        for eqn in self.eqns[self.at + 1:]:
            yield from ((self.env[v].root(), eqn.primitive.name)
                        for v in eqn.invars if is_variable(v) and v in self.env)
        yield from ((self.env[v].root(), "") for v, last in self._last.items()
                    if last == len(self.eqns) and v in self.env)

    def writes(self, ref: Any) -> bool:
        """Returns whether an equation writes to a ref."""
        return any(v is ref for eqn in self.eqns for v in jaxprs.written_operands(eqn))

    def writes_to(self, root: Array) -> bool:
        """Returns whether an equation after the current one, or one in the next round, writes to
        it."""
        return any(v in self.env and self.env[v].root() is root
                   for eqn in self.eqns[0 if self.again else self.at + 1:]
                   for v in jaxprs.written_operands(eqn))


class Frames:
    """The jaxprs that are being walked, each called by an equation of the one before it."""

    def __init__(self) -> None:
        self._open: list[Frame] = []

    @property
    def innermost(self) -> Frame:
        return self._open[-1]

    @contextlib.contextmanager
    def opened(self, frame: Frame) -> Iterator[None]:
        """Walks the jaxpr of this frame meanwhile."""
        self._open.append(frame)
        try:
            yield
        finally:
            self._open.pop()

    def instead(self, array: Array, shared: bool, make: Callable[[], Array]) -> Array:
        """Returns what a kernel is given instead of the array, under its name: what `make` returns.
        If kernels share it, that is what an earlier one was given."""
        key = (array, array.changes)
        known = next((frame.given[key] for frame in self._open if key in frame.given), None)
        if shared and known is not None:
            return known
        found = make()
        found.name, found.is_named = array.name, array.is_named
        if shared:
            self.innermost.given[key] = found
        return found

    def needed(self) -> set[Array]:
        """Returns the arrays that later equations read."""
        return set().union(*(frame.needed() for frame in self._open))

    def needs(self, array: Array) -> bool:
        """Returns whether a later equation reads the array."""
        return any(frame.needs(array.root()) for frame in self._open)

    def owns(self, array: Array) -> bool:
        """Returns whether only the branch or the round that is being walked needs an array that it
        was given as it was."""
        again = [frame for frame in self._open if frame.again]
        return bool(again) and again[-1].owns(array)

    def views_of(self, root: Array) -> set[Array]:
        """Returns the arrays that show this one in another shape or order."""
        found = set()
        for array in (array for frame in self._open for array in frame.env.values()):
            while array.base is not None and array.root() is root:
                found.add(array)
                array = array.base
        return found

    def only_transposed(self) -> set[Array]:
        """Returns the arrays that later equations transpose, and do nothing else with."""
        found: dict[Array, set[str]] = {}
        for frame in self._open:
            for array, name in frame.readers():
                found.setdefault(array, set()).add(name)
        return {array for array, names in found.items() if names == {"transpose"}}

    def lasts(self, array: Array) -> bool:
        """Returns whether its contents are needed again, by later equations or in the next round.
        """
        return any(frame.again or frame.needs(array.root()) for frame in self._open)

    def changes(self, array: Array) -> bool:
        """Returns whether a later equation, or one of the next round, writes to the array."""
        return any(frame.writes_to(array.root()) for frame in self._open)


def _used(jaxpr: Any) -> list[Any]:
    """Returns the equations that a result or an effect depends on."""
    needed = set(filter(is_variable, jaxpr.outvars))
    kept = []
    for eqn in reversed(jaxpr.eqns):
        if eqn.effects or needed.intersection(eqn.outvars):
            needed.update(filter(is_variable, eqn.invars))
            kept.append(eqn)
    return kept[::-1]


def is_variable(atom: Any) -> bool:
    return not isinstance(atom, jaxprs.Literal)
