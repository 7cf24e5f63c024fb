"""What cannot be captured. Problems are collected while a program is walked, and raised together.
"""

from __future__ import annotations

import dataclasses


class NotCaptured(Exception):
    """Raised by the rule of an equation. The walk records it and goes on."""


@dataclasses.dataclass(frozen=True)
class Problem:
    """Something that is not supported, and the author's line that asks for it."""

    what: str
    file: str = ""
    line: int = 0
    function: str = ""

    def __str__(self) -> str:
        if not self.file:
            return self.what
        where = f"{self.file}:{self.line}" + (f" ({self.function})" if self.function else "")
        return f"{where}: {self.what}"


class UnsupportedError(Exception):
    """Raised for a kernel that cannot be captured. `problems` holds each reason once."""

    def __init__(self, name: str, problems: list[Problem]) -> None:
        self.problems = list(dict.fromkeys(problems))
        count = len(self.problems)
        things = "1 thing" if count == 1 else f"{count} things"
        listing = "".join(f"\n  {problem}" for problem in self.problems)
        super().__init__(f"{things} in {name} cannot be captured:{listing}")
