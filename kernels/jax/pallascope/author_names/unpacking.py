"""Follows the arguments of a function through its body: how `*refs` are unpacked, and to which
functions they are passed on. Nothing is run; what cannot be told from the source stays unknown."""

from __future__ import annotations

import ast
import dataclasses
import types
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from pallascope.author_names import expressions
from pallascope.author_names.definitions import Definition, definition_of
from pallascope.author_names.expressions import UNKNOWN, Listed, Mismatch, Slot
from pallascope.author_names.functions import Function, functions_behind, variables_around

_DEEPEST = 6  # calls in calls
_MOST_CALLS = 200  # that are followed for one function


@dataclasses.dataclass
class Names:
    """The names that were found, by the paths of what they name. A weak name is that of a list
    which holds it, its number there, and the length of the list."""

    strong: dict[Any, str] = dataclasses.field(default_factory=dict)
    weak: dict[Any, tuple[str, int, int]] = dataclasses.field(default_factory=dict)
    calls: int = 0  # that were followed

    def give(self, name: str, value: Any) -> None:
        if name.strip("_") == "":
            return
        if isinstance(value, (Slot, Listed)):
            self.strong.setdefault(value.path, name)
        elif isinstance(value, (tuple, list)):
            for number, one in enumerate(value):
                if isinstance(one, (Slot, Listed)) and len(value) < self.weak.get(
                        one.path, (name, 0, len(value) + 1))[2]:
                    self.weak[one.path] = (name, number, len(value))

    def lacks(self, value: Any) -> bool:
        """Returns whether it is an argument without a name."""
        return isinstance(value, Slot) and value.path not in self.strong


@dataclasses.dataclass
class Local:
    """A function that is defined in the body of another one."""

    node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
    outer: Body


class Body:
    """The body of a function whose parameters are known."""

    def __init__(self, names: Names, node: Any, around: Callable[[str], Any], depth: int) -> None:
        self._names, self._node, self._around, self._depth = names, node, around, depth
        self._known: dict[str, Any] = {}

    def look_up(self, name: str) -> Any:
        return self._known[name] if name in self._known else self._around(name)

    def begin(self, args: Sequence[Any], kwargs: dict[str, Any], defaults: dict[str, Any]) -> None:
        """Gives the parameters their values. Raises Mismatch if they do not fit."""
        given = self._node.args
        names = [arg.arg for arg in (*given.posonlyargs, *given.args)]
        rest = dict(kwargs)
        values = dict(zip(names, args, strict=False))
        if len(args) > len(names) and given.vararg is None:
            raise Mismatch
        for name in [*names[len(args):], *(arg.arg for arg in given.kwonlyargs)]:
            values[name] = rest.pop(name, defaults.get(name, UNKNOWN))
        for name, value in values.items():
            self._bind(name, value)
        if given.vararg is not None:
            self._bind(given.vararg.arg, tuple(args[len(names):]))
        if given.kwarg is not None:
            self._known[given.kwarg.arg] = rest

    def follow(self) -> None:
        """Names what the body unpacks, then what it passes on."""
        body = self._node.body
        if isinstance(self._node, ast.Lambda):
            body = [ast.Expr(body)]
        self._statements(body)
        if self._depth > 0:
            self._follow_calls(body)

    # ---- statements ------------------------------------------------------------------------

    def _bind(self, name: str, value: Any) -> None:
        self._known[name] = value
        self._names.give(name, value)

    def _value(self, node: ast.expr) -> Any:
        return expressions.evaluate(node, self.look_up)

    def _statements(self, statements: Iterable[ast.stmt]) -> None:
        for statement in statements:
            if isinstance(statement, (ast.Assign, ast.AnnAssign)) and statement.value is not None:
                targets = getattr(statement, "targets", None) or [statement.target]
                value = (Local(statement.value, self) if isinstance(statement.value, ast.Lambda)
                         else self._value(statement.value))
                for target in targets:
                    self._assign(target, value)
            elif isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef)):
                self._known[statement.name] = Local(statement, self)
            elif isinstance(statement, ast.If):
                holds = expressions.truth(self._value(statement.test))
                if holds is None:
                    expressions.spend(statement, self.look_up)
                if holds is not False:
                    self._statements(statement.body)
                if holds is not True:
                    self._statements(statement.orelse)
            elif isinstance(statement, (ast.With, ast.Try)):
                self._statements(statement.body)
            elif isinstance(statement, ast.Expr):
                self._value(statement.value)
            else:
                expressions.spend(statement, self.look_up)

    def _assign(self, target: ast.expr, value: Any) -> None:
        if isinstance(target, ast.Name):
            self._bind(target.id, value)
        elif isinstance(target, (ast.Tuple, ast.List)):
            for part, one in expressions.unpacked(target.elts, value):
                self._assign(part, one)

    # ---- calls -----------------------------------------------------------------------------

    def _follow_calls(self, body: Iterable[ast.stmt]) -> None:
        calls = [node for statement in body for node in ast.walk(statement)
                 if isinstance(node, ast.Call)]
        for call in sorted(calls, key=lambda node: (node.lineno, node.col_offset)):
            args = expressions.arguments(call, self.look_up)
            if self._names.calls >= _MOST_CALLS:
                return
            kwargs = {word.arg: self._value(word.value) for word in call.keywords if word.arg}
            for word in call.keywords:
                more = UNKNOWN if word.arg else self._value(word.value)
                kwargs |= more if isinstance(more, dict) else {}
            if args is not None and any(map(self._names.lacks, (*args, *kwargs.values()))):
                self._names.calls += 1
                self._pass_on(call.func, args, kwargs)

    def _pass_on(self, callee: ast.expr, args: list[Any], kwargs: dict[str, Any]) -> None:
        """Names arguments by the parameters of what is called. What a function makes of another
        one, as jax.vmap(f) or pl.pallas_call(kernel) do, has the parameters of that function."""
        called = self._value(callee)
        is_made = called is UNKNOWN and isinstance(callee, ast.Call) and bool(callee.args)
        if is_made:
            called = self._value(callee.args[0])
        if isinstance(called, Local):
            follow(self._names, Definition(called.node, ()), called.outer.look_up, args, kwargs,
                   {}, self._depth - 1, is_made)
        elif callable(called) and not isinstance(called, (type, Slot)):
            follow_function(self._names, called, args, kwargs, self._depth - 1, is_made)


def follow(names: Names, definition: Definition, around: Callable[[str], Any],
           args: Sequence[Any], kwargs: dict[str, Any], defaults: dict[str, Any], depth: int,
           is_made: bool = False) -> bool:
    """Names arguments by a definition. Returns whether they fit it."""
    body = Body(names, definition.node, around, depth)
    try:
        body.begin(args, kwargs, defaults)
    except Mismatch:
        return False
    if not is_made:
        body.follow()
    return True


def follow_function(names: Names, given: Any, args: Sequence[Any], kwargs: dict[str, Any],
                    depth: int = _DEEPEST, is_made: bool = False) -> bool:
    """Names arguments by the author's function behind what is called, the innermost that they fit.
    """
    for function in functions_behind(given):
        definition = definition_of(function.of.__code__)
        if definition is None or not function.is_authors():
            continue
        found = Names(dict(names.strong), dict(names.weak), names.calls)
        if follow(found, definition, _around(function.of), [*function.args, *args],
                  function.kwargs | kwargs, _defaults(function), depth, is_made):
            names.strong, names.weak, names.calls = found.strong, found.weak, found.calls
            return True
    return False


def _around(function: types.FunctionType) -> Callable[[str], Any]:
    held = variables_around(function)

    def look_up(name: str) -> Any:
        return held.get(name, function.__globals__.get(name, expressions.builtin(name)))

    return look_up


def _defaults(function: Function) -> dict[str, Any]:
    code, values = function.of.__code__, function.of.__defaults__ or ()
    names = code.co_varnames[:code.co_argcount]
    return dict(zip(names[len(names) - len(values):], values, strict=True)) | (
        function.of.__kwdefaults__ or {})
