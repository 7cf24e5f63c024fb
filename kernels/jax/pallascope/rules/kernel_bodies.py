"""Bodies of kernels that are more than a pipeline of blocks. They are inlined, or put around a
pipeline."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from pallascope import types
from pallascope.jax_compat import jaxprs
from pallascope.program import Type
from pallascope.rules.grids import Pipeline, roles
from pallascope.rules.pipelines import emit
from pallascope.sources import arg_names, name_of_function
from pallascope.walk import Walk


def on_cores(walk: Walk, pipeline: Pipeline, cores: int) -> None:
    """Makes the cores share the parallel axes. Each core has its own scalars, copied from HBM."""
    builder = walk.builder
    sources = pipeline.prefetch
    names = arg_names(pipeline.body, roles(pipeline.mapping, pipeline.body))
    pipeline.prefetch = [builder.value(builder.types[ref]._replace(space="smem"), name)
                         for ref, name in zip(sources, names, strict=False)]
    pipeline.core_axis = "core"
    semaphore = builder.value(Type("int32", (), "dma_semaphore"), "scalars")
    with builder.region([*pipeline.prefetch, semaphore]) as inner:
        for source, target in zip(sources, pipeline.prefetch, strict=True):
            builder.emit("dma_start", [source, target, semaphore], [])
            builder.emit("dma_wait", [target, semaphore], [])
        emit(walk, pipeline)
    with builder.region() as core:
        builder.emit("run_scoped", [], [], regions=[inner])
    builder.emit("core_map", [], [], {"axis": "core", "cores": cores}, [core])


def with_blocks_copied(walk: Walk, pipeline: Pipeline) -> None:
    """Emits a kernel of one step that has pipelines of its own. Manual DMAs copy its blocks."""
    builder, mapping, body = walk.builder, pipeline.mapping, pipeline.body
    blocks = [types.ref_type(v.aval) for v in body.invars[mapping.num_index_operands:]]
    copied = [number for number, array in enumerate(pipeline.operands)
              if blocks[number].space != builder.types[array].space]
    names = arg_names(body, roles(mapping, body))[mapping.num_index_operands:]
    refs = {number: builder.value(blocks[number], names[number]) for number in copied}
    semaphore = builder.value(Type("int32", (), "dma_semaphore"), "blocks")

    def copy(number: int, out: bool) -> None:
        ends = [pipeline.operands[number], refs[number]]
        source, target = reversed(ends) if out else ends
        builder.emit("dma_start", [source, target, semaphore], [])
        builder.emit("dma_wait", [target, semaphore], [])

    with builder.region([*refs.values(), semaphore]) as region:
        for number in copied:
            if number < mapping.num_inputs:
                copy(number, out=False)
        inline(walk, body, pipeline.prefetch + [refs.get(number, array) for number, array
                                                in enumerate(pipeline.operands)])
        for number in copied:
            if number >= mapping.num_inputs:
                copy(number, out=True)
    builder.emit("run_scoped", [], [], regions=[region])


def has_pipeline(jaxpr: Any) -> bool:
    """Returns whether an emit_pipeline is anywhere in the jaxpr."""
    inner, _ = jaxprs.open_jaxpr(jaxpr)
    return any(eqn.primitive.name == "emit_pipeline"
               or any(has_pipeline(part) for part in jaxprs.jaxprs_of(eqn))
               for eqn in inner.eqns)


def is_whole(block: Any) -> bool:
    """Returns whether the block is the whole array in every step."""
    jaxpr, _ = jaxprs.open_jaxpr(block.index_map_jaxpr)
    sizes = tuple(getattr(dim, "block_size", None) for dim in block.block_shape)
    return (sizes == tuple(block.array_aval.shape) and not jaxpr.eqns
            and all(isinstance(index, jaxprs.Literal) for index in jaxpr.outvars))


def is_direct(walk: Walk, mapping: Any, body: Any, arrays: list[int]) -> bool:
    """Returns whether there is neither a grid nor a copy, so that the kernel sees all arrays where
    they are."""
    blocks = body.invars[mapping.num_index_operands:][:len(arrays)]
    return not mapping.grid and all(
        types.ref_type(v.aval).space == walk.builder.types[array].space
        for v, array in zip(blocks, arrays, strict=True))


def kernel_name(eqn: Any, body: Any) -> str:
    name = eqn.params.get("name")
    if name == "anonymous":  # a plgpu.kernel of a functools.partial, whose scope knows the function
        scopes = [inner.params["jaxpr"] for inner in body.eqns
                  if inner.primitive.name == "run_scoped"]
        body, name = (*scopes, body)[0], None
    return str(name or name_of_function(body))


@contextlib.contextmanager
def scratch(walk: Walk, refs: list[int]) -> Iterator[None]:
    """Makes the refs live while what is emitted meanwhile runs."""
    if not refs:
        yield
        return
    with walk.builder.region(refs) as region:
        yield
    walk.builder.emit("run_scoped", [], [], regions=[region])


def inline(walk: Walk, body: Any, refs: list[int]) -> None:
    """Emits a kernel without blocks. Its further arguments are scratch that lives while it runs."""
    rest = body.invars[len(refs):]
    names = arg_names(body, ["in"] * len(refs) + ["scratch"] * len(rest))[len(refs):]
    own = [walk.builder.value(types.ref_type(v.aval), name)
           for v, name in zip(rest, names, strict=True)]
    with scratch(walk, own), walk.in_kernel(body):
        walk.run(body, refs + own)
