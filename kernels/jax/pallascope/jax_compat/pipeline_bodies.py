"""Bodies of emit_pipeline with everything that a call gives them besides their blocks.

JAX's equation has no place for scratch, explicit indices, and code that runs before the body. They
become a part of the body.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy
from jax._src.pallas import core as pallas_core
from jax._src.pallas.mosaic import pipeline as mosaic_pipeline
from jax.experimental import pallas as pl

from pallascope.jax_compat.caller_buffers import take_buffers
from pallascope.jax_compat.emit_pipeline_patch import patched


@contextlib.contextmanager
def all_arguments_taken() -> Iterator[None]:
    """Makes JAX's emit_pipeline, while it is one equation, accept scratch, buffers, a prologue and
    explicit indices. The function that it returns raises NotImplementedError if it is given
    anything else; capture then takes the pipeline apart."""
    def make(before: Callable[..., Any]) -> Callable[..., Any]:
        def emit_pipeline(body: Callable[..., None], *, _explicit_indices: bool = False,
                          **params: Any) -> Callable[..., None]:
            def run(*refs: Any, **given: Any) -> None:
                kernel = with_all_arguments(body, _explicit_indices, params, **given)
                before(kernel, **take_buffers(given.get("allocations"), refs, params))(*refs)

            return run

        return emit_pipeline

    with patched(make):
        yield


def with_all_arguments(body: Callable[..., None], explicit: bool, params: Mapping[str, Any],
                       scratches: Sequence[Any] | None = None, allocations: Any = None,
                       body_prologue: Callable[[], None] | None = None,
                       **others: Any) -> Callable[..., None]:
    """Returns the body with everything that a pipeline with these `params` gives it besides its
    blocks."""
    if others or (body_prologue is not None and not _has_prologue()):
        raise NotImplementedError
    body = _with_scratch(body, scratches or ())
    # Without allocations, JAX forgets the prologue.
    if body_prologue is not None and allocations is not None:
        body = _after(body_prologue, body)
    return _with_indices(body, **params) if explicit else body


def _has_prologue() -> bool:
    """Returns whether this JAX knows prologues."""
    pipeline = getattr(mosaic_pipeline, "_emit_pipeline", None)
    return pipeline is None or "body_prologue" in inspect.signature(
        pipeline(lambda: None, grid=(1,))).parameters


def _with_scratch(body: Callable[..., None], scratches: Sequence[Any]) -> Callable[..., None]:
    """Returns the body with the arguments filled in that would follow its blocks."""
    if not scratches:
        return body

    @functools.wraps(body)
    def whole(*blocks: Any) -> None:
        body(*blocks, *scratches)

    return _named(whole, body, slice(0, -len(scratches)))


def _after(prologue: Callable[[], None], body: Callable[..., None]) -> Callable[..., None]:
    """Returns a body that runs the prologue in every step, once the blocks are there, and then the
    body."""
    @functools.wraps(body)
    def whole(*blocks: Any) -> None:
        prologue()
        body(*blocks)

    return whole


def _with_indices(body: Callable[..., None], grid: Any = (), core_axis: Any = None,
                  core_axis_name: Any = None, dimension_semantics: Any = None,
                  **_: Any) -> Callable[..., None]:
    """Returns a body that asks for the indices itself, which would otherwise come before its
    blocks."""
    step_type = getattr(mosaic_pipeline, "PipelineStep", None)
    shares, firsts = grid, (0,) * len(grid)
    if step_type is not None and (core_axis is not None or core_axis_name is not None):
        cores = mosaic_pipeline._resolve_core_info(
            core_axis_name if core_axis is None else core_axis)
        shares, firsts = mosaic_pipeline._partition_grid(grid, dimension_semantics, *cores)

    @functools.wraps(body)
    def whole(*blocks: Any) -> None:
        step: Any = tuple(pl.program_id(axis) for axis in range(len(grid)))
        if step_type is not None:
            number: Any = numpy.int32(0)  # among the core's own steps
            for index, first, extent in zip(step, firsts, shares, strict=True):
                number = number * extent + (index - first)
            step = step_type(step, number)
        with pallas_core.grid_env(_Outside()):
            body(step, *blocks)

    return _named(whole, body, slice(1, None))


class _Outside:
    """The grid of a body with explicit indices, which is the grid of the enclosing kernel."""

    def __getitem__(self, axis: int) -> Any:
        raise NotImplementedError


def _named(whole: Any, body: Callable[..., None], part: slice) -> Callable[..., None]:
    """Gives the function this part of the names of the body's arguments, if each argument has a
    name."""
    names = list(inspect.signature(body).parameters.values())
    is_plain = all(name.kind is name.POSITIONAL_OR_KEYWORD for name in names)
    whole.__signature__ = inspect.Signature(
        names[part] if is_plain
        else [inspect.Parameter("refs", inspect.Parameter.VAR_POSITIONAL)])
    return whole
