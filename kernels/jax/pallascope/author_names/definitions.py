"""Definitions of functions in source files, found by their first lines."""

from __future__ import annotations

import ast
import functools
import types
from typing import NamedTuple

Node = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda

# Names that say nothing: what lambdas are called, and functions that nobody calls by their names.
_NO_NAMES = frozenset({"", "<lambda>", "_", "__", "<unknown>"})


class Definition(NamedTuple):
    """A function, and the nodes that it lies in, the outermost first."""

    node: Node
    around: tuple[ast.AST, ...]

    def name(self) -> str:
        """Returns the function's name. A function without one is called like the variable that it
        is given to, or like the function that it is written in. The text may be empty."""
        if not isinstance(self.node, ast.Lambda) and self.node.name not in _NO_NAMES:
            return self.node.name
        for number, outer in reversed(list(enumerate(self.around))):
            if (isinstance(outer, ast.Assign) and outer.value is self.node
                    and isinstance(outer.targets[0], ast.Name)):
                return outer.targets[0].id
            if isinstance(outer, Node):
                return Definition(outer, self.around[:number]).name()
        return ""


def arguments_of(node: Node) -> list[str]:
    """Returns the names of its parameters, in the order in which code objects have them."""
    args = node.args
    listed = [*args.posonlyargs, *args.args, *args.kwonlyargs]
    return [arg.arg for arg in (*listed, *filter(None, (args.vararg, args.kwarg)))]


def definition_of(code: types.CodeType) -> Definition | None:
    """Returns the definition of a function, or None if there is no source of it."""
    count = (code.co_argcount + code.co_kwonlyargcount
             + bool(code.co_flags & 4) + bool(code.co_flags & 8))  # CO_VARARGS, CO_VARKEYWORDS
    found = [one for one in _functions_of(code.co_filename).get(code.co_firstlineno, [])
             if getattr(one.node, "name", "<lambda>") == code.co_name
             and arguments_of(one.node) == list(code.co_varnames[:count])]
    return found[0] if found else None


def definition_at(path: str, line: int) -> Definition | None:
    """Returns the function that begins at this line, if there is one only."""
    found = _functions_of(path).get(line, [])
    return found[0] if len(found) == 1 else None


@functools.lru_cache(maxsize=64)
def module_of(path: str) -> ast.Module | None:
    """Returns the tree of a source file, or None if it cannot be read."""
    try:
        with open(path, "rb") as file:
            return ast.parse(file.read())
    except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
        return None


@functools.lru_cache(maxsize=64)
def _functions_of(path: str) -> dict[int, list[Definition]]:
    found: dict[int, list[Definition]] = {}

    def visit(node: ast.AST, around: tuple[ast.AST, ...]) -> None:
        if isinstance(node, Node):
            first = min([node.lineno, *(one.lineno for one in getattr(node, "decorator_list", []))])
            found.setdefault(first, []).append(Definition(node, around))
        for child in ast.iter_child_nodes(node):
            visit(child, (*around, node))

    tree = module_of(path)
    if tree is not None:
        visit(tree, ())
    return found
