"""The names of a function's arguments: of its parameters, of what it unpacks `*refs` into, and of
the fields of arguments that are trees."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from jax import tree_util

from pallascope.author_names.expressions import Listed, Slot
from pallascope.author_names.unpacking import Names, follow_function
from pallascope.jax_compat import trees


def names_of(function: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> list[str] | None:
    """Returns a name for each leaf of the arguments, in the order of JAX; or None if there is no
    source of the function.

    A field of a tree is `params.w` or `caches(3)`. A name such as "*refs[3]" says that the author
    has none: it is the fourth of the function's `*refs`.
    """
    named = sorted(kwargs)
    tops = [*((("args", number), arg) for number, arg in enumerate(args)),
            *((("kwargs", key), kwargs[key]) for key in named)]
    found = Names()
    values = [_mirrored((path,), arg) for path, arg in tops]
    if not follow_function(found, function, values[:len(args)],
                           dict(zip(named, values[len(args):], strict=True))):
        return None
    return [_name(found, (path,), arg, keys) for path, arg in tops
            for keys, _ in trees.leaves_with_paths(arg)]


def _mirrored(path: tuple[Any, ...], arg: Any) -> Any:
    """Returns what stands for an argument while the source is followed."""
    if arg is None:
        return None
    if type(arg) not in (tuple, list):
        return Slot(path)
    listed = Listed(_mirrored((*path, number), one) for number, one in enumerate(arg))
    listed.path = path
    return listed


def _name(found: Names, path: tuple[Any, ...], value: Any, keys: Sequence[Any]) -> str:
    """Returns the name of the leaf that the keys lead to, by the innermost part that has a name."""
    name, fields = "", ""
    for number in range(len(keys) + 1):
        own = found.strong.get(path)
        if own is not None:
            name, fields = own, ""
        elif number == 0:
            name = "*{}[{}]".format(*found.weak[path]) if path in found.weak else ""
        if number < len(keys):
            field, step, value = _field(value, keys[number])
            fields += field
            path = (*path, step)
    return name + fields if name else ""


def _field(value: Any, key: Any) -> tuple[str, Any, Any]:
    """Returns what a key adds to the name, the step that it is in a path, and what it leads to."""
    if isinstance(key, tree_util.SequenceKey):
        return f"({key.idx})", key.idx, _or_none(lambda: value[key.idx])
    if isinstance(key, tree_util.DictKey):
        return _of_key(key.key), key, _or_none(lambda: value[key.key])
    if isinstance(key, tree_util.GetAttrKey):
        return f".{key.name}", key, getattr(value, key.name, None)
    number = getattr(key, "key", key)
    child = _or_none(lambda: (trees.children_of(value) or [])[number])
    field = next((name for name, one in getattr(value, "__dict__", {}).items()
                  if one is child and child is not None), None)
    return f".{field}" if field else f"({number})", key, child


def _or_none(part: Callable[[], Any]) -> Any:
    """Returns a part of a tree, or None if the author's tree does not tell it by its key."""
    try:
        return part()
    except (LookupError, TypeError, ValueError):
        return None


def _of_key(key: Any) -> str:
    return f".{key}" if str(key).isidentifier() else f"({key})"
