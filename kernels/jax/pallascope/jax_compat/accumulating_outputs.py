"""What only JAX 0.9 gives to an emit_pipeline: outputs that accumulate, schedules, cycles.

When a step enters a block of an accumulating output, what the block holds is put aside. When a step
leaves the block, that is added to what the body made.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
from jax._src.pallas.mosaic import pipeline as mosaic_pipeline
from jax.experimental import pallas as pl

from pallascope.jax_compat import caller_buffers

_IS_THERE = hasattr(mosaic_pipeline, "get_pipeline_schedule")

# What a pipeline is given that neither continues another pipeline nor is continued by one.
_ALONE = {"first_cycle": True, "last_cycle": True, "prefetch": None, "postyeet": None}


def check_alone(given: dict[str, Any]) -> bool:
    """Removes from the arguments of a call those that only JAX 0.9 accepts. Returns whether sums
    start at zero. Raises NotImplementedError for one of several pipelines that run into each other,
    and for schedules of its own."""
    if not _IS_THERE:
        return False
    if any(given.pop(name, usual) is not usual for name, usual in _ALONE.items()):
        raise NotImplementedError
    known = [mosaic_pipeline.get_pipeline_schedule(name) for name in ("default", "fixed")]
    for schedule in jax.tree.leaves(given.pop("schedule", None),
                                    is_leaf=lambda tree: isinstance(tree, dict)):
        if mosaic_pipeline.get_pipeline_schedule(schedule) not in known:
            raise NotImplementedError
    return given.pop("init_accumulators", False)


def bind(bind_plain: Callable[..., None], body: Callable[..., None], refs: Sequence[Any],
         allocations: Any, should_accumulate_out: Any, starts_at_zero: bool, *, grid: Any,
         in_specs: Any = (), out_specs: Any = (), tiling: Any = None, **others: Any) -> None:
    """Binds the plain pipeline of a body that accumulates. Raises NotImplementedError if a block is
    a part of the array itself, and for what JAX decides only when the kernel runs."""
    if not _IS_THERE or any(others.values()) or not isinstance(starts_at_zero, bool):
        raise NotImplementedError
    outputs = caller_buffers.as_tuple(out_specs)
    flags = mosaic_pipeline._broadcast_pytree_to(should_accumulate_out, outputs)
    params = {"grid": grid, "in_specs": in_specs, "out_specs": outputs, "tiling": tiling}
    buffers = allocations
    if allocations is None:
        buffers = mosaic_pipeline.make_pipeline_allocations(
            *refs, should_accumulate_out=flags, needs_swap_ref=False, **params)
    summed = [buffer for buffer in buffers if buffer.is_accumulator]
    if not all(buffer.is_buffered and buffer.buffer_count == 2 for buffer in summed) or any(
            buffer.is_input_output for buffer in buffers):
        raise NotImplementedError
    kept = [buffer.accum_ref for buffer in summed]
    params = caller_buffers.take_buffers(allocations, refs, params, besides=kept,
                                         should_accumulate_out=flags)
    numbers = [number for number, flag in enumerate(jax.tree.leaves(flags)) if flag]
    first = len(jax.tree.leaves(in_specs))
    specs = {first + number: outputs[number] for number in numbers}
    if not starts_at_zero:
        params |= {"out_specs": tuple(
            spec.replace(pipeline_mode=caller_buffers.ReadToo(2)) if number in numbers else spec
            for number, spec in enumerate(outputs))}

    def run(*kept: Any) -> None:
        bind_plain(_with_sums(body, specs, kept, grid, starts_at_zero), refs, **params)

    if allocations is not None:
        run(*kept)
    else:
        pl.run_scoped(run, *kept)


def _with_sums(body: Callable[..., None], specs: dict[int, Any], kept: Sequence[Any], grid: Any,
              starts_at_zero: bool) -> Callable[..., None]:
    """Returns the body with everything around it that is done for its accumulating blocks."""
    @functools.wraps(body)
    def whole(*given: Any) -> None:
        blocks = jax.tree.leaves(given)
        at = tuple(pl.program_id(axis) for axis in range(len(grid)))

        def parts(spec: Any, other: Any, is_end: Any) -> Any:
            return is_end | mosaic_pipeline._tuples_differ(
                spec.index_map(*at), spec.index_map(*other))

        before, behind = (step(at, grid) for step in (mosaic_pipeline._prev_index,
                                                      mosaic_pipeline._next_index))
        is_first = _all([index == 0 for index in at])
        is_last = _all([index == extent - 1 for index, extent in zip(at, grid, strict=True)])
        for (number, spec), ref in zip(specs.items(), kept, strict=True):
            @pl.when(parts(spec, before, is_first))
            def _(block: Any = blocks[number], ref: Any = ref) -> None:
                ref[...] = (jnp.zeros(ref.shape, ref.dtype) if starts_at_zero
                            else block[...].astype(ref.dtype))

        body(*given)
        for (number, spec), ref in zip(specs.items(), kept, strict=True):
            @pl.when(parts(spec, behind, is_last))
            def _(block: Any = blocks[number], ref: Any = ref) -> None:
                wide = jnp.int32 if block.dtype == jnp.int32 else jnp.float32
                block[...] = (block[...].astype(wide) + ref[...].astype(wide)).astype(block.dtype)

    return whole


def _all(conditions: list[Any]) -> Any:
    return functools.reduce(jnp.logical_and, conditions, jnp.bool_(True))
