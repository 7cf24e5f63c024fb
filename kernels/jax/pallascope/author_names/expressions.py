"""Expressions of a function's source as far as they are known without running it: lists of
arguments, numbers, conditions."""

from __future__ import annotations

import ast
import builtins
import collections
import dataclasses
import functools
import inspect
import operator
import types
from collections.abc import Callable, Iterator
from typing import Any

UNKNOWN = type("Unknown", (), {"__repr__": lambda _: "UNKNOWN"})()

LookUp = Callable[[str], Any]


class Mismatch(Exception):
    """The arguments are not those that the function takes."""


@dataclasses.dataclass(frozen=True)
class Slot:
    """An argument that only a run has. Its path says where in the arguments it is."""

    path: tuple[Any, ...]


class Listed(tuple):  # type: ignore[type-arg]
    """An argument that is a list or a tuple of others."""

    path: tuple[Any, ...] = ()


_OPERATORS: dict[type, Callable[..., Any]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod,
    ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Lt: operator.lt, ast.LtE: operator.le,
    ast.Gt: operator.gt, ast.GtE: operator.ge}
_KNOWN_CALLS = (tuple, list, iter, next, len, reversed, bool, int)
_PLAIN = (bool, int, str, type(None))


def builtin(name: str) -> Any:
    return getattr(builtins, name, UNKNOWN)


def evaluate(node: ast.expr, look_up: LookUp) -> Any:
    """Returns the value of an expression: arguments, lists of them, what the function closes over;
    or UNKNOWN."""
    try:
        return _evaluate(node, look_up)
    except (ArithmeticError, LookupError, TypeError, ValueError, AttributeError, StopIteration):
        return UNKNOWN


def truth(value: Any) -> bool | None:
    """Returns whether a condition holds, or None if that is not known."""
    return bool(value) if isinstance(value, (*_PLAIN, tuple, list)) else None


def arguments(call: ast.Call, look_up: LookUp) -> list[Any] | None:
    """Returns the positional arguments of a call, or None if their number is not known."""
    found: list[Any] = []
    for node in call.args:
        if not isinstance(node, ast.Starred):
            found.append(evaluate(node, look_up))
            continue
        several = evaluate(node.value, look_up)
        if not isinstance(several, (tuple, list)):
            return None
        found += several
    return found


def unpacked(targets: list[ast.expr], value: Any) -> Iterator[tuple[ast.expr, Any]]:
    """Yields what each target of an assignment is given. Yields nothing if there are too many or
    too few values, because the assignment is then in a branch that is not taken."""
    if not isinstance(value, (tuple, list)):
        yield from ((target, UNKNOWN) for target in targets)
        return
    stars = [number for number, one in enumerate(targets) if isinstance(one, ast.Starred)]
    behind = len(targets) - 1 - stars[0] if stars else 0
    if len(value) < len(targets) - len(stars) or (not stars and len(value) > len(targets)):
        return
    first = stars[0] if stars else len(targets)
    yield from zip(targets[:first], value[:first], strict=True)
    if stars:
        star = targets[first]
        assert isinstance(star, ast.Starred)
        yield star.value, tuple(value[first:len(value) - behind])
        yield from zip(targets[first + 1:], value[len(value) - behind:], strict=True)


def _evaluate(node: ast.expr, look_up: LookUp) -> Any:
    of = functools.partial(_evaluate, look_up=look_up)
    match node:
        case ast.Name():
            return look_up(node.id)
        case ast.Constant():
            return node.value
        case ast.Tuple() | ast.List():
            return _list_of(node.elts, look_up)
        case ast.Starred():
            return UNKNOWN
        case ast.Subscript():
            return _element(of(node.value), node.slice, of)
        case ast.Attribute():
            return _attribute(of(node.value), node.attr)
        case ast.UnaryOp(op=ast.Not()):
            holds = truth(of(node.operand))
            return UNKNOWN if holds is None else not holds
        case ast.UnaryOp(op=ast.USub()):
            return -_plain(of(node.operand))
        case ast.BinOp():
            sides = of(node.left), of(node.right)
            if all(isinstance(side, (tuple, list)) for side in sides):
                return tuple(sides[0]) + tuple(sides[1])
            return _OPERATORS[type(node.op)](*map(_plain, sides))
        case ast.Compare(ops=[op], comparators=[right]):
            return _compared(op, of(node.left), of(right))
        case ast.BoolOp():
            return _all_or_any(node, [truth(of(value)) for value in node.values])
        case ast.IfExp():
            holds = truth(of(node.test))
            if holds is None:
                spend(node, look_up)
                return UNKNOWN
            return of(node.body if holds else node.orelse)
        case ast.Call():
            return _called(node, look_up)
        case _:
            return UNKNOWN


def spend(node: ast.AST, look_up: LookUp) -> None:
    """Forgets how far iterators have come that code takes from, when it is not known whether that
    code runs."""
    for call in ast.walk(node):
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.args and (
                call.func.id == "next"):
            taken = evaluate(call.args[0], look_up)
            if isinstance(taken, Iterator):
                collections.deque(taken, maxlen=0)


def _list_of(nodes: list[ast.expr], look_up: LookUp) -> Any:
    found = arguments(ast.Call(ast.Name("tuple"), nodes, []), look_up)
    return UNKNOWN if found is None else tuple(found)


def _plain(value: Any) -> Any:
    if not isinstance(value, _PLAIN):
        raise TypeError
    return value


def _element(of: Any, index: ast.expr, value: Callable[[ast.expr], Any]) -> Any:
    if not isinstance(of, (tuple, list, dict)):
        return UNKNOWN
    if isinstance(index, ast.Slice):
        ends = [None if end is None else _plain(value(end))
                for end in (index.lower, index.upper, index.step)]
        return of[slice(*ends)]  # type: ignore[index]
    return of[_plain(value(index))]


def _attribute(of: Any, name: str) -> Any:
    """Returns an attribute without running code of the author's."""
    if of is UNKNOWN or isinstance(of, Slot):
        return UNKNOWN
    if isinstance(of, types.ModuleType):
        return getattr(of, name, UNKNOWN)
    found = inspect.getattr_static(of, name, UNKNOWN)
    if isinstance(found, staticmethod):
        return found.__func__
    if isinstance(found, types.FunctionType):
        return found if isinstance(of, type) else types.MethodType(found, of)
    return found if not hasattr(type(found), "__get__") else UNKNOWN


def _compared(op: ast.cmpop, left: Any, right: Any) -> Any:
    if left is UNKNOWN or right is UNKNOWN:
        return UNKNOWN
    if isinstance(op, (ast.Is, ast.IsNot)):
        is_same = left is right
        return is_same == isinstance(op, ast.Is) if left is None or right is None else UNKNOWN
    return _OPERATORS[type(op)](_plain(left), _plain(right))


def _all_or_any(node: ast.BoolOp, parts: list[bool | None]) -> Any:
    is_and = isinstance(node.op, ast.And)
    if (not is_and) in parts:
        return not is_and
    return UNKNOWN if None in parts else is_and


def _called(node: ast.Call, look_up: LookUp) -> Any:
    function = _evaluate(node.func, look_up)
    args = arguments(node, look_up)
    if args is None or any(one is UNKNOWN for one in args):
        return UNKNOWN
    if function is functools.partial and args:
        words = {word.arg: evaluate(word.value, look_up) for word in node.keywords if word.arg}
        return functools.partial(args[0], *args[1:], **words) if callable(args[0]) else UNKNOWN
    if any(function is one for one in _KNOWN_CALLS) and not node.keywords:
        return function(*args)
    return UNKNOWN
