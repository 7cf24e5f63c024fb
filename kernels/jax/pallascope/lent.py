"""What a call of emit_pipeline brings besides refs, which JAX's equation has no place for.

Scratch of the body becomes what the body closes over. Buffers that are as the pipeline would make
them are taken for its own; an equation says which they were, so that they are not there twice.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import jax
from jax._src import core as jax_core
from jax._src.pallas.mosaic import pipeline as mosaic_pipeline
from jax._src.state import types as state_types
from jax.experimental.pallas import tpu as pltpu

NAME = "pallascope_lent"

_equation = jax_core.Primitive(NAME)
_equation.multiple_results = True


def keep(primitive: Any) -> None:
    """JAX drops an equation that has neither results nor effects: this one changes its refs."""
    @primitive.def_effectful_abstract_eval
    def _(*avals: Any, **__: Any) -> tuple[list[Any], set[Any]]:
        return [], {state_types.WriteEffect(number) for number, aval in enumerate(avals)
                    if isinstance(aval, state_types.AbstractRef)}


keep(_equation)


@contextlib.contextmanager
def patched(emit_pipeline: Callable[..., Any]) -> Iterator[None]:
    """What asks for emit_pipeline by its module gets this one."""
    homes = (mosaic_pipeline, pltpu)
    before = mosaic_pipeline.emit_pipeline
    for home in homes:
        home.emit_pipeline = emit_pipeline
    try:
        yield
    finally:
        for home in homes:
            home.emit_pipeline = before


@contextlib.contextmanager
def taken() -> Iterator[None]:
    """JAX's emit_pipeline, while it is one equation, takes scratch and buffers. Its function raises
    NotImplementedError for what else it is given: capture then takes the pipeline apart."""
    before = mosaic_pipeline.emit_pipeline

    def emit_pipeline(body: Callable[..., None], **params: Any) -> Callable[..., None]:
        def run(*refs: Any, scratches: Any = None, allocations: Any = None, **others: Any) -> None:
            if others:
                raise NotImplementedError
            if allocations is not None:
                lend(allocations, refs, **params)
            before(with_scratch(body, scratches or ()), **params)(*refs)

        return run

    with patched(emit_pipeline):
        yield


def with_scratch(body: Callable[..., None], scratches: Sequence[Any]) -> Callable[..., None]:
    """The body, which closes over what it would get behind its blocks."""
    if not scratches:
        return body

    @functools.wraps(body)
    def whole(*blocks: Any) -> None:
        body(*blocks, *scratches)

    names = list(inspect.signature(body).parameters.values())
    if all(name.kind is name.POSITIONAL_OR_KEYWORD for name in names):
        whole.__signature__ = inspect.Signature(names[:-len(scratches)])  # type: ignore
    return whole


def lend(allocations: Any, refs: Sequence[Any], grid: Any = (), in_specs: Any = (),
         out_specs: Any = (), tiling: Any = None, **others: Any) -> None:
    """Notes that a pipeline has these buffers. Raises NotImplementedError where it would not have
    made such ones, or does not begin with them empty."""
    make = getattr(mosaic_pipeline, "_make_pipeline_allocations", None)
    if make is None or others.get("core_axis") is not None or others.get("core_axis_name"):
        raise NotImplementedError
    own = make(*refs, in_specs=in_specs, out_specs=out_specs, tiling=tiling, grid=grid)
    if jax.tree.structure(own) != jax.tree.structure(tuple(allocations)):
        raise NotImplementedError
    _equation.bind(*[leaf for leaf in jax.tree.leaves(allocations)
                     if isinstance(jax.typeof(leaf), state_types.AbstractRef)])
