"""What a call of emit_pipeline brings besides refs, which JAX's equation has no place for.

What the body gets besides its blocks, and what runs before it, becomes part of the body. Buffers
that are as the pipeline would make them are taken for its own; an equation says which they were,
so that they are not there twice.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import inspect
import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import jax
import numpy
from jax._src import core as jax_core
from jax._src.pallas import core as pallas_core
from jax._src.pallas.mosaic import pipeline as mosaic_pipeline
from jax._src.state import types as state_types
from jax.experimental import pallas as pl

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

instead: Callable[..., Any] | None = None  # of emit_pipeline


def _calls_instead(*args: Any, **kwargs: Any) -> Any:
    from pallascope import lent  # it runs among the names of JAX's module
    return lent.instead(*args, **kwargs)  # type: ignore[misc]


@contextlib.contextmanager
def patched(make: Callable[[Callable[..., Any]], Callable[..., Any]]) -> Iterator[None]:
    """Who calls emit_pipeline, by whatever name, calls what `make` yields for JAX's own: the
    function stays the same one, with other code."""
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


@contextlib.contextmanager
def taken() -> Iterator[None]:
    """JAX's emit_pipeline, while it is one equation, takes scratch, buffers, a prologue and
    explicit indices. Its function raises NotImplementedError for what else it is given: capture
    then takes the pipeline apart."""
    def make(before: Callable[..., Any]) -> Callable[..., Any]:
        def emit_pipeline(body: Callable[..., None], *, _explicit_indices: bool = False,
                          **params: Any) -> Callable[..., None]:
            def run(*refs: Any, **given: Any) -> None:
                kernel = whole(body, _explicit_indices, params, **given)
                before(kernel, **lend(given.get("allocations"), refs, params))(*refs)

            return run

        return emit_pipeline

    with patched(make):
        yield


def whole(body: Callable[..., None], explicit: bool, params: Mapping[str, Any],
          scratches: Sequence[Any] | None = None, allocations: Any = None,
          body_prologue: Callable[[], None] | None = None, **others: Any) -> Callable[..., None]:
    """The body with all that a pipeline with these `params` gives it besides its blocks."""
    if others or (body_prologue is not None and not _has_prologue()):
        raise NotImplementedError
    body = _with_scratch(body, scratches or ())
    if body_prologue is not None and allocations is not None:  # else JAX forgets it
        body = _after(body_prologue, body)
    return _with_indices(body, **params) if explicit else body


def _has_prologue() -> bool:
    """Whether this JAX knows of one."""
    pipeline = getattr(mosaic_pipeline, "_emit_pipeline", None)
    return pipeline is None or "body_prologue" in inspect.signature(
        pipeline(lambda: None, grid=(1,))).parameters


def _with_scratch(body: Callable[..., None], scratches: Sequence[Any]) -> Callable[..., None]:
    """The body, which closes over what it would get behind its blocks."""
    if not scratches:
        return body

    @functools.wraps(body)
    def whole(*blocks: Any) -> None:
        body(*blocks, *scratches)

    return _named(whole, body, slice(0, -len(scratches)))


def _after(prologue: Callable[[], None], body: Callable[..., None]) -> Callable[..., None]:
    """What runs in every step before the body, when its blocks are there, and the body."""
    @functools.wraps(body)
    def whole(*blocks: Any) -> None:
        prologue()
        body(*blocks)

    return whole


def _with_indices(body: Callable[..., None], grid: Any = (), core_axis: Any = None,
                  core_axis_name: Any = None, dimension_semantics: Any = None,
                  **_: Any) -> Callable[..., None]:
    """The body, which asks for the indices that it would get before its blocks."""
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
            number: Any = numpy.int32(0)  # of the core's own steps
            for index, first, extent in zip(step, firsts, shares, strict=True):
                number = number * extent + (index - first)
            step = step_type(step, number)
        with pallas_core.grid_env(_Outside()):
            body(step, *blocks)

    return _named(whole, body, slice(1, None))


class _Outside:
    """To a body with explicit indices the grid is that of the kernel around."""

    def __getitem__(self, axis: int) -> Any:
        raise NotImplementedError


def _named(whole: Any, body: Callable[..., None], part: slice) -> Callable[..., None]:
    """With this part of the body's names, if it has one for each argument."""
    names = list(inspect.signature(body).parameters.values())
    if all(name.kind is name.POSITIONAL_OR_KEYWORD for name in names):
        whole.__signature__ = inspect.Signature(names[part])
    return whole


@dataclasses.dataclass(frozen=True)
class ReadToo(pl.Buffered):
    """The pipeline mode of an output whose blocks are fetched too, into so many buffers."""

    out_count: int = 1  # buffers on the way out, from JAX 0.12 on


def lend(allocations: Any, refs: Sequence[Any], params: dict[str, Any],
         besides: Sequence[Any] = (), **accumulates: Any) -> dict[str, Any]:
    """Notes that a pipeline has these buffers, but what is `besides` in them; yields its `params`.
    Raises NotImplementedError where it would not have made such ones, but for outputs that it
    fetches as well, or does not begin with them empty."""
    if allocations is None:
        return params
    if params.get("core_axis") is not None or params.get("core_axis_name"):
        raise NotImplementedError
    known = {name: params[name] for name in ("grid", "in_specs", "out_specs", "tiling")
             if name in params}
    make = getattr(mosaic_pipeline, "_make_pipeline_allocations", None)
    if make is None:  # 0.9
        make = mosaic_pipeline.make_pipeline_allocations
        specs = jax.tree.map(lambda _: False, as_tuple(params.get("out_specs", ())))
        known |= {"should_accumulate_out": specs} | accumulates
    own, lent = make(*refs, **known), as_tuple(allocations)
    if len(own) != len(lent):
        raise NotImplementedError
    inputs = len(as_tuple(params.get("in_specs", ())))
    outputs = list(as_tuple(params.get("out_specs", ())))
    for number, (one, other) in enumerate(zip(own, lent, strict=True)):
        if number >= inputs and getattr(other, "buffer_type", None) is _INPUT_OUTPUT:
            outputs[number - inputs] = _read_too(outputs[number - inputs], one, other)
        elif _kind(one) != _kind(other):
            raise NotImplementedError
    _equation.bind(*[leaf for leaf in jax.tree.leaves(allocations)
                     if isinstance(jax.typeof(leaf), state_types.AbstractRef)
                     and not any(leaf is ref for ref in besides)])
    return params | {"out_specs": tuple(outputs)}


_INPUT_OUTPUT = mosaic_pipeline.BufferType.INPUT_OUTPUT


def _read_too(spec: Any, own: Any, given: Any) -> Any:
    """The spec of an output that has this buffer instead of its own."""
    if (type(given) is not type(own) or not own.is_buffered
            or getattr(own, "is_trivial_windowing", False)):
        raise NotImplementedError
    counts = given.buffer_count, 1
    if hasattr(given, "in_buffer_count"):  # from 0.12 on
        counts = given.in_buffer_count, given.out_buffer_count
    elif counts[0] != 2:
        raise NotImplementedError
    maker = functools.partial(mosaic_pipeline.BufferedRef.input_output, spec, own.window_ref.dtype,
                              counts if hasattr(given, "in_buffer_count") else 2)
    if _kind(maker()) != _kind(given):
        raise NotImplementedError
    return spec.replace(pipeline_mode=ReadToo(counts[0], out_count=counts[1]))


def as_tuple(specs: Any) -> tuple[Any, ...]:
    return tuple(specs) if isinstance(specs, (list, tuple)) else (specs,)


def _kind(buffers: Any) -> Any:
    leaves, tree = jax.tree.flatten(buffers)
    return tree, [(tuple(leaf.shape), leaf.dtype) for leaf in leaves if hasattr(leaf, "shape")]
