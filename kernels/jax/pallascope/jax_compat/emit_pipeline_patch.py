"""Replaces JAX's emit_pipeline by another function while a function is traced."""

from __future__ import annotations

import contextlib
import inspect
import types
from collections.abc import Callable, Iterator
from typing import Any

from jax._src.pallas.mosaic import pipeline as mosaic_pipeline

instead: Callable[..., Any] | None = None  # the function that replaces emit_pipeline


def _calls_instead(*args: Any, **kwargs: Any) -> Any:
    # It runs with the globals of JAX's module.
    from pallascope.jax_compat import emit_pipeline_patch
    return emit_pipeline_patch.instead(*args, **kwargs)  # type: ignore[misc]


@contextlib.contextmanager
def patched(make: Callable[[Callable[..., Any]], Callable[..., Any]]) -> Iterator[None]:
    """Makes every call of emit_pipeline, by whatever name, call what `make` yields for JAX's
    function. The function stays the same object but gets other code."""
    global instead
    function, outer = mosaic_pipeline.emit_pipeline, instead
    before = types.FunctionType(function.__code__, function.__globals__, function.__name__,
                                function.__defaults__)
    before.__kwdefaults__ = function.__kwdefaults__
    instead = make(before)
    function.__signature__ = inspect.signature(before)  # type: ignore[attr-defined]
    function.__code__ = _calls_instead.__code__
    try:
        yield
    finally:
        instead, function.__code__ = outer, before.__code__
        del function.__signature__
