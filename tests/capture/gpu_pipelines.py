"""What JAX's pipelines on a GPU do (jax/_src/pallas/mosaic_gpu/pipeline.py, JAX 0.12), as lists of
events, and kernels that are such pipelines.

A pipeline is a dict: `kind` ("emit" or "ws", specialised warpgroups), `grid`, `D` (the most
concurrent steps), `ins` and `outs`. An operand has a `map`: the block of each step. An input may
have a `delay` (delay_release) or stay in GMEM (`smem` false); an output may be `invariant`. With
`dynamic`, the size of the grid comes from memory. `wgs` warpgroups compute. With `manual_produced` and
`manual_consumed`, the body waits for its inputs and gives their slots back by itself.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from gpu_case import like
from jax import lax
from jax.experimental import pallas as pl
from jax.experimental.pallas import mosaic_gpu as plgpu

Pipeline = dict[str, Any]
Event = tuple[Any, ...]  # ("copy_in", operand, block, slot), ("copy_out", ...), ("wait_in", slot)...

LANES = 128


def steps_of(pipeline: Pipeline) -> int:
    return math.prod(pipeline["grid"])


def depth_of(pipeline: Pipeline) -> int:
    """Returns the number of slots, which is no more than a grid of known size needs."""
    depth = pipeline["D"]
    return depth if pipeline.get("dynamic") else min(depth, steps_of(pipeline))


def is_moving(output: dict[str, Any]) -> bool:
    return not output.get("invariant")


def events_of(pipeline: Pipeline) -> dict[str, list[Event]]:
    """Returns the events of each thread."""
    if pipeline["kind"] == "ws":
        return _specialised(pipeline)
    return {"t": _emitted(pipeline)}


def _emitted(pipeline: Pipeline) -> list[Event]:
    steps, depth = steps_of(pipeline), depth_of(pipeline)
    ins = [one for one in enumerate(pipeline["ins"]) if one[1].get("smem", True)]
    events: list[Event] = []
    fetched = [(number, one["map"][step], step)
               for step in range(min(depth, steps)) for number, one in ins]
    events += [("copy_in", f"in{number}", tuple(block), slot) for number, block, slot in fetched]
    stores = _Stores(pipeline["outs"], steps, last_twice=True)
    for step in range(steps):
        if ins:
            events.append(("wait_in", step % depth))
        events += stores.of(step, step % depth)
        for delay in sorted({one.get("delay", 0) for _, one in ins}):
            ahead = step + depth - delay
            if step >= delay and ahead < steps:
                events += [("copy_in", f"in{number}", tuple(one["map"][ahead]), ahead % depth)
                           for number, one in ins if one.get("delay", 0) == delay]
    return events + stores.last((steps - 1) % depth)


def _specialised(pipeline: Pipeline) -> dict[str, list[Event]]:
    steps, depth = steps_of(pipeline), depth_of(pipeline)
    begun = min(depth, steps)
    delay = max((one.get("delay", 0) for one in pipeline["ins"]), default=0)

    # The waits of one step: for each input, if the body arrives by itself.
    manual = pipeline.get("manual_consumed", False)
    names = [f"in{number}" for number in range(len(pipeline["ins"]))]

    def waits(step: int) -> list[Event]:
        return [("wait_free", step % depth, name) for name in names] if manual else [
            ("wait_free", step % depth)]

    def fetch(step: int) -> list[Event]:
        return [("copy_in", name, tuple(one["map"][step]), step % depth)
                for name, one in zip(names, pipeline["ins"], strict=True)]

    memory = [event for step in range(begun) for event in fetch(step)]
    for step in range(steps - begun):
        waited, fetched = waits(step), fetch(step + begun)
        memory += ([event for pair in zip(waited, fetched, strict=True) for event in pair]
                   if manual else [*waited, *fetched])
    memory += [wait for step in range(steps - begun, steps - delay) for wait in waits(step)]
    compute: list[Event] = []
    stores = _Stores(pipeline["outs"], steps, last_twice=False)
    for step in range(steps):
        if not pipeline.get("manual_produced"):
            compute.append(("wait_in", step % depth))
        if step >= delay and not manual:
            compute.append(("arrive", (step - delay) % depth))
        compute += stores.of(step, step % depth)
    compute += stores.last(0)
    return {"mem": memory, **{f"wg{i}": list(compute) for i in range(pipeline["wgs"])}}


class _Stores:
    """An output is stored when its block changes. `last_twice`: and at the last step."""

    def __init__(self, outs: list[dict[str, Any]], steps: int, last_twice: bool) -> None:
        self._outs, self._steps, self._last_twice = outs, steps, last_twice

    def of(self, step: int, slot: int) -> list[Event]:
        return [("copy_out", f"out{number}", tuple(one["map"][step]), slot)
                for number, one in enumerate(self._outs)
                if is_moving(one) and (step == 0 or one["map"][step] != one["map"][step - 1]
                                       or (self._last_twice and step == self._steps - 1))]

    def last(self, slot: int) -> list[Event]:
        return [("copy_out", f"out{number}", tuple(one["map"][0]), slot)
                for number, one in enumerate(self._outs) if not is_moving(one)]


def random_pipeline(seed: int) -> Pipeline:
    """Returns a pipeline of a kind that JAX accepts."""
    chance = random.Random(seed)
    is_special = chance.random() < 0.5
    grid = [chance.randint(1, 4) for _ in range(chance.randint(1, 3))]
    steps, depth = math.prod(grid), chance.randint(1, 5)
    delay = chance.randint(0, min(depth, steps) - 1)
    wgs = chance.randint(1, 3) if is_special else 1

    def table() -> list[list[int]]:
        if chance.random() < 0.3:  # blocks that come back
            return [[step // 2 % 3, 0] for step in range(steps)]
        return [[chance.randint(0, 3), chance.randint(0, 2)] for _ in range(steps)]

    ins = [{"map": table(), "delay": delay if is_special else chance.choice((0, delay))}
           for _ in range(chance.randint(1 if is_special else 0, 3))]
    if ins and not is_special and chance.random() < 0.2:
        ins[-1]["smem"] = False
    outs: list[dict[str, Any]] = []
    for _ in range(chance.randint(0 if ins else 1, 2) if wgs == 1 else 0):
        if chance.random() < 0.25:
            outs.append({"map": [[0, 0]] * steps, "invariant": True})
        else:
            outs.append({"map": table()})
    return {"name": f"random {seed}", "kind": "ws" if is_special else "emit", "grid": grid,
            "D": depth, "ins": ins, "outs": outs, "wgs": wgs,
            "dynamic": chance.random() < 0.2}


# ---- as kernels -----------------------------------------------------------------------------


def array_of(operand: dict[str, Any], number: int) -> tuple[int, int]:
    """Returns a shape that no other operand of the pipeline has."""
    blocks = [max(block[axis] for block in operand["map"]) + 1 for axis in range(2)]
    return blocks[0] + 10 * number, blocks[1] * LANES


def arguments_of(pipeline: Pipeline) -> tuple[np.ndarray, ...]:
    """Returns the number of steps along each axis, a table for each operand, and the inputs."""
    operands = pipeline["ins"] + pipeline["outs"]
    return (np.array(pipeline["grid"], np.int32),
            *(np.array(one["map"], np.int32) for one in operands),
            *(np.arange(math.prod(array_of(one, i)), dtype=np.float32).reshape(array_of(one, i))
              for i, one in enumerate(pipeline["ins"])))


def results_of(pipeline: Pipeline) -> list[np.ndarray]:
    """Returns the outputs; what is never stored is NaN. The body stores, for each output, the sum
    of the inputs' first rows, and the output's number."""
    inputs = arguments_of(pipeline)[1 + len(pipeline["ins"] + pipeline["outs"]):]
    results = [np.full(array_of(one, 20 + i), np.nan, np.float32)
               for i, one in enumerate(pipeline["outs"])]

    def block(array: np.ndarray, place: Any) -> np.ndarray:
        row, column = place
        return array[row:row + 1, column * LANES:(column + 1) * LANES]

    slots: dict[tuple[int, int], np.ndarray] = {}
    stores = _Stores(pipeline["outs"], steps_of(pipeline), pipeline["kind"] == "emit")
    (stored,) = [[event for event in events if event[0] == "copy_out"]
                 for thread, events in events_of(pipeline).items() if thread in ("t", "wg0")]
    depth = depth_of(pipeline)
    for step in range(steps_of(pipeline)):
        total = sum((block(array, one["map"][step])
                     for array, one in zip(inputs, pipeline["ins"], strict=True)
                     if one.get("smem", True)), np.zeros((1, LANES), np.float32))
        for number, one in enumerate(pipeline["outs"]):
            is_single = pipeline["kind"] == "ws" and not is_moving(one)
            slots[number, 0 if is_single else step % depth] = total + number
        for _ in stores.of(step, step % depth):
            _, name, place, slot = stored.pop(0)
            block(results[int(name[3:])], place)[...] = slots[int(name[3:]), slot]
    for _, name, place, slot in stored:
        block(results[int(name[3:])], place)[...] = slots[int(name[3:]), slot]
    return results


def kernel_of(pipeline: Pipeline) -> Callable[..., Any]:
    """Returns the function of these arguments that runs the pipeline. One that yields nothing
    returns a zero."""
    ins, outs, grid = pipeline["ins"], pipeline["outs"], pipeline["grid"]
    is_special, wgs = pipeline["kind"] == "ws", pipeline.get("wgs", 1)
    shapes = [like(*array_of(one, 20 + i)) for i, one in enumerate(outs)] or [like(LANES)]

    def spec(operand: dict[str, Any], table: Any) -> Any:
        if not operand.get("smem", True):
            return plgpu.BlockSpec(memory_space=plgpu.GMEM)
        if operand.get("invariant"):
            return plgpu.BlockSpec((1, LANES), lambda *_: tuple(operand["map"][0]))

        def index_map(*index: Any) -> Any:
            step = 0
            for axis, extent in zip(index, grid, strict=True):
                step = step * extent + axis
            return table[step, 0], table[step, 1]

        return plgpu.BlockSpec((1, LANES), index_map, delay_release=operand.get("delay", 0))

    def body(_: Any, *refs: Any) -> None:
        total = jnp.zeros((LANES,), jnp.float32)
        refs, barriers = refs[:len(ins + outs)], refs[len(ins + outs):]
        produced = barriers[:len(ins)] if pipeline.get("manual_produced") else ()
        consumed = barriers[len(produced):]
        for barrier in produced:
            plgpu.barrier_wait(barrier)
        for one, ref in zip(ins, refs, strict=False):
            if one.get("smem", True):
                total += ref[0]
        for number, ref in enumerate(refs[len(ins):]):
            ref[0] = total + number
        plgpu.commit_smem()  # what comes into the slot next is in order with these loads
        for barrier in consumed:
            plgpu.barrier_arrive(barrier)

    def run(size: Any, *refs: Any) -> None:
        tables, arrays = refs[:len(ins + outs)], refs[len(ins + outs):]
        steps = tuple(size[i] for i in range(len(grid))) if pipeline.get("dynamic") else tuple(grid)
        specs = [spec(one, table) for one, table in zip(ins + outs, tables, strict=True)]
        options: dict[str, Any] = {"grid": steps, "in_specs": specs[:len(ins)],
                                   "out_specs": specs[len(ins):],
                                   "max_concurrent_steps": pipeline["D"]}
        if is_special:
            plgpu.emit_pipeline_warp_specialized(
                body, memory_registers=40, wg_axis="wg", num_compute_wgs=wgs,
                manual_produced_barriers=pipeline.get("manual_produced", False),
                manual_consumed_barriers=pipeline.get("manual_consumed", False),
                **options)(*arrays[:len(ins + outs)])
        else:
            plgpu.emit_pipeline(body, **options)(*arrays[:len(ins + outs)])
        if not outs:
            is_first = lax.axis_index("wg") == 0 if is_special else True

            @pl.when(is_first)
            def _() -> None:
                arrays[-1][...] = jnp.zeros((LANES,), jnp.float32)

    threads = {"num_threads": wgs + 1, "thread_name": "wg"} if is_special else {}

    def pipelined(*args: jax.Array) -> Any:
        return plgpu.kernel(run, out_type=shapes, **threads)(*args)

    return pipelined
