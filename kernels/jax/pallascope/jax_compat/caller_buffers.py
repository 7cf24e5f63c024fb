"""Buffers that the caller of an emit_pipeline made, for which JAX's equation has no place.

If they are the buffers that the pipeline would make itself, they are taken for its own. An equation
says which buffers they were, so that they do not exist twice.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Sequence
from typing import Any

import jax
from jax._src import core as jax_core
from jax._src.pallas.mosaic import pipeline as mosaic_pipeline
from jax._src.state import types as state_types
from jax.experimental import pallas as pl

NAME = "pallascope_lent"

_equation = jax_core.Primitive(NAME)
_equation.multiple_results = True


def keep_equation(primitive: Any) -> None:
    """Makes JAX keep the equation, which it would remove because it has neither results nor
    effects. This one changes its refs."""
    @primitive.def_effectful_abstract_eval
    def _(*avals: Any, **__: Any) -> tuple[list[Any], set[Any]]:
        return [], {state_types.WriteEffect(number) for number, aval in enumerate(avals)
                    if isinstance(aval, state_types.AbstractRef)}


keep_equation(_equation)


@dataclasses.dataclass(frozen=True)
class ReadToo(pl.Buffered):
    """The pipeline mode of an output whose blocks are also fetched, into this many buffers."""

    out_count: int = 1  # buffers for writing back, from JAX 0.12 on


def take_buffers(allocations: Any, refs: Sequence[Any], params: dict[str, Any],
                 besides: Sequence[Any] = (), **accumulates: Any) -> dict[str, Any]:
    """Notes that a pipeline has these buffers, except for what is `besides` in them. Returns its
    `params`. Raises NotImplementedError if the pipeline would have made other buffers, except for
    outputs that it also fetches or does not begin with empty buffers."""
    if allocations is None:
        return params
    if params.get("core_axis") is not None or params.get("core_axis_name"):
        raise NotImplementedError
    known = {name: params[name] for name in ("grid", "in_specs", "out_specs", "tiling")
             if name in params}
    make = getattr(mosaic_pipeline, "_make_pipeline_allocations", None)
    if make is None:  # JAX 0.9
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
    """Returns the spec of an output that has this buffer instead of its own."""
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
