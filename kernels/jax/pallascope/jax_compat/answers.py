"""Lets functions of JAX answer something else for a while."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator
from typing import Any


@contextlib.contextmanager
def replaced(answers: Iterable[tuple[Any, str, Callable[..., Any]]]) -> Iterator[None]:
    """Puts other functions into modules: (module, name, function) for each."""
    answers = list(answers)
    before = [getattr(module, name) for module, name, _ in answers]
    for module, name, answer in answers:
        setattr(module, name, answer)
    try:
        yield
    finally:
        for (module, name, _), value in zip(answers, before, strict=True):
            setattr(module, name, value)
