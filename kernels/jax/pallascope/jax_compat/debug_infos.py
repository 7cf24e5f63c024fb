"""What JAX notes about functions that it traces: their names, and the names of their arguments."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from jax._src import api_util

# Takes a function and its arguments. Returns "name at file:line" or an empty text, and a name for
# each leaf of the arguments or None.
Notes = Callable[[Any, Sequence[Any], Mapping[str, Any]], tuple[str, list[str] | None]]


@contextlib.contextmanager
def noted_by(notes: Notes) -> Iterator[None]:
    """Makes JAX note other names while it traces. A jaxpr has these names, and no function that
    they could be asked of later."""
    usual = api_util.debug_info

    def debug_info(traced_for: str, fun: Any, args: Any, kwargs: Any, **options: Any) -> Any:
        about = usual(traced_for, fun, args, kwargs, **options)
        if hasattr(fun, "__fun_debug_info__") or any(
                options.get(key) for key in ("static_argnums", "static_argnames", "sourceinfo")):
            return about
        source, names = notes(fun, args, kwargs)
        if names is not None and len(names) == len(about.arg_names or ()):
            about = about._replace(arg_names=tuple(names))
        return about._replace(func_src_info=source or about.func_src_info)

    api_util.debug_info = debug_info
    try:
        yield
    finally:
        api_util.debug_info = usual
