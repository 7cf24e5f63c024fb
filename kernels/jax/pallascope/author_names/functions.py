"""The author's function behind what JAX is given: partial, decorated, jitted, or transformed."""

from __future__ import annotations

import ast
import functools
import inspect
import types
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from pallascope.author_names.definitions import definition_of
from pallascope.sources import is_author

_MOST_WRAPPERS = 16


class Function(NamedTuple):
    """A function of the author's, with arguments that it is given besides."""

    of: types.FunctionType
    args: tuple[Any, ...] = ()
    kwargs: dict[str, Any] = {}

    def is_authors(self) -> bool:
        return is_author(self.of.__code__.co_filename)


def functions_behind(given: Any) -> list[Function]:
    """Returns the Python functions that a call reaches, the innermost first. A wrapper that says
    what it wraps, and a function of JAX that holds a function of the author's, come after it."""
    found = list(_chain(given))
    return [one for one in reversed(found) if one.is_authors()] or found[-1:]


def _chain(given: Any) -> Iterator[Function]:
    args: tuple[Any, ...] = ()
    kwargs: dict[str, Any] = {}
    for _ in range(_MOST_WRAPPERS):
        if isinstance(given, functools.partial):
            args, kwargs, given = given.args + args, given.keywords | kwargs, given.func
        elif isinstance(given, types.MethodType):
            args, given = (given.__self__, *args), given.__func__
        elif isinstance(given, types.FunctionType):
            yield Function(given, args, kwargs)
            given = _wrapped(given)
        elif hasattr(given, "__wrapped__"):  # what jax.jit returns
            given = given.__wrapped__
        elif isinstance(getattr(type(given), "__call__", None), types.FunctionType):
            given = types.MethodType(type(given).__call__, given)
        else:
            return


def _wrapped(function: types.FunctionType) -> Any:
    """Returns what a function says it wraps, or passes all its arguments on to. A function of JAX
    may hold the author's without saying so, as what pallas_call returns does."""
    if "__signature__" in vars(function):  # it takes other arguments than what it wraps
        return None
    wrapped = getattr(function, "__wrapped__", None)
    if wrapped is not None:
        return wrapped
    held = variables_around(function)
    if is_author(function.__code__.co_filename):
        return held.get(_passes_on_to(function))
    return next((one for one in held.values() if callable(one) and any(
        inner.is_authors() for inner in _chain(one))), None)


def _passes_on_to(function: types.FunctionType) -> str:
    """Returns the name of what a function such as `def wrapped(*refs): kernel(*refs)` calls."""
    definition = definition_of(function.__code__)
    if definition is None or function.__code__.co_argcount or definition.node.args.vararg is None:
        return ""
    body = definition.node.body
    for statement in body if isinstance(body, list) else [ast.Return(body)]:
        call = getattr(statement, "value", None)
        if (isinstance(statement, (ast.Return, ast.Expr)) and isinstance(call, ast.Call)
                and isinstance(call.func, ast.Name) and len(call.args) == 1
                and isinstance(call.args[0], ast.Starred)
                and ast.unparse(call.args[0].value) == definition.node.args.vararg.arg):
            return call.func.id
    return ""


def variables_around(function: types.FunctionType) -> dict[str, Any]:
    """Returns the variables of enclosing functions that a function uses, as far as they are set."""
    found = {}
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        try:
            found[name] = cell.cell_contents
        except ValueError:
            continue
    return found


def source_of(given: Any) -> str:
    """Returns "name at file:line" of the author's function behind what JAX is given, or an empty
    text."""
    name = name_of(given)
    for function in functions_behind(given) if name else ():
        if function.is_authors():
            code = function.of.__code__
            return f"{name} at {code.co_filename}:{code.co_firstlineno}"
    return ""


def name_of(given: Callable[..., Any]) -> str:
    """Returns the name of the author's function behind what JAX is given, or an empty text."""
    for function in functions_behind(given):
        definition = definition_of(function.of.__code__)
        name = definition.name() if definition else function.of.__name__
        if name.isidentifier():
            return name
    return ""


_DEEPEST = 4  # functions that hold functions


def names_of_constants(given: Any) -> dict[int, str]:
    """Returns the names of arrays that a function uses without being given them, by their ids."""
    found: dict[int, str] = {}
    seen: set[int] = set()

    def visit(of: Any, depth: int) -> None:
        for function in functions_behind(of) if callable(of) and depth else ():
            if id(function.of) in seen or not function.is_authors():
                continue
            seen.add(id(function.of))
            around = function.of.__globals__
            used = {name: around[name] for name in function.of.__code__.co_names if name in around}
            for name, value in (used | variables_around(function.of)).items():
                if hasattr(value, "dtype") and hasattr(value, "shape"):
                    found.setdefault(id(value), name)
                elif not isinstance(value, type):
                    visit(value, depth - 1)

    visit(given, _DEEPEST)
    return found
