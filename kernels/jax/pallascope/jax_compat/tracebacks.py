"""Where in the sources an equation comes from, to the column."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from jax._src import source_info_util


class Span(NamedTuple):
    """Where an expression begins and ends. Columns count bytes, as those of `ast` do."""

    line: int
    column: int
    end_line: int
    end_column: int


def frames_of(eqn: Any) -> Iterator[tuple[str, Any]]:
    """Yields the file of each frame, the innermost first, and a function that returns the span of
    what is evaluated there."""
    traceback = eqn.source_info.traceback
    for code, instruction in zip(*traceback.raw_frames(), strict=True) if traceback else ():
        def span(code: Any = code, instruction: int = instruction) -> Span:
            frame = source_info_util.raw_frame_to_frame(code, instruction)
            return Span(frame.start_line, frame.start_column, frame.end_line, frame.end_column)

        yield code.co_filename, span
