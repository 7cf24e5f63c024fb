"""The variables in which the author keeps what operations return."""

from __future__ import annotations

import ast
import functools
import itertools
from typing import Any, NamedTuple

from pallascope.author_names.definitions import module_of
from pallascope.jax_compat.tracebacks import Span, frames_of
from pallascope.sources import is_author


def variables_of(eqns: list[Any]) -> dict[Any, str]:
    """Returns the names of results of equations, by their variables. Of several equations in a row
    that come from one expression, the last one yields its value."""
    found = {}
    for target, group in itertools.groupby(eqns, _target):
        results = list(group)[-1].outvars
        names = [] if target is None else target.names
        if len(names) == len(results):
            found |= {v: name for v, name in zip(results, names, strict=True) if name}
    return found


class _Target(NamedTuple):
    path: str
    span: Span
    names: tuple[str, ...]


def _target(eqn: Any) -> _Target | None:
    """Returns the variables that hold the results: of the innermost frame of the author's, or of
    the one that calls it if the expression is what the function returns."""
    frames = itertools.dropwhile(lambda frame: not is_author(frame[0]), frames_of(eqn))
    for path, span_of in itertools.takewhile(lambda frame: is_author(frame[0]), frames):
        span = span_of()
        use = _uses_in(path).get(span)
        if use is None or use.names:
            return _Target(path, span, use.names) if use else None
    return None


class _Use(NamedTuple):
    names: tuple[str, ...] = ()
    is_returned: bool = False


@functools.lru_cache(maxsize=64)
def _uses_in(path: str) -> dict[Span, _Use]:
    """Returns what becomes of the values of expressions, as far as a name comes of it."""
    tree = module_of(path)
    found: dict[Span, _Use] = {}
    for node in ast.walk(tree) if tree else ():
        if isinstance(node, ast.Assign) and len(node.targets) == 1:
            found[_span(node.value)] = _Use(_names(node.targets[0]))
        elif isinstance(node, (ast.AnnAssign, ast.NamedExpr)) and node.value is not None:
            found[_span(node.value)] = _Use(_names(node.target))
        elif isinstance(node, ast.AugAssign):
            found[_span(node)] = _Use(_names(node.target))
        elif isinstance(node, ast.Return) and node.value is not None:
            found[_span(node.value)] = _Use(is_returned=True)
        elif isinstance(node, ast.Lambda):
            found[_span(node.body)] = _Use(is_returned=True)
    return {span: use for span, use in found.items() if use.names or use.is_returned}


def _names(target: ast.expr) -> tuple[str, ...]:
    """Returns the names on the left side, empty for what is dropped; nothing for other targets."""
    parts = target.elts if isinstance(target, (ast.Tuple, ast.List)) else [target]
    if not all(isinstance(part, ast.Name) for part in parts):
        return ()
    names = [part.id for part in parts if isinstance(part, ast.Name)]
    return tuple(name if name.strip("_") else "" for name in names)


def _span(node: Any) -> Span:
    return Span(node.lineno, node.col_offset, node.end_lineno, node.end_col_offset)
