"""Pipelines of a GPU, captured and run, do what JAX's pipelines do: event for event, thread by
thread. JAX_PIPELINES=1000 runs more random ones.

Compared are all copies with their blocks and slots, and the arrivals at barriers, each in the order
of its thread. A wait that need not wait, a group of stores, commit_smem and a body leave no rows in
a trace. That they are right shows in the results, since bodies saw the right slots, and in the
findings, since no slot was filled while it could be read and no phase of a barrier was missed."""

import json
import os
import pathlib
import subprocess
import tempfile

import numpy as np
import pytest
from gpu_pipelines import (
    LANES,
    arguments_of,
    array_of,
    events_of,
    kernel_of,
    random_pipeline,
    results_of,
)
from support import PALLASCOPE, pallascope

GOLDEN = json.loads((pathlib.Path(__file__).parent / "gpu_pipeline_golden.json").read_text())


def column(table, name, before=0):
    """Returns a column. Its prediction is the value `before` rows before, or 0
    (docs/trace_format.md)."""
    packed = table[name]
    numbers = list(packed.get("values", ()))
    for number, count in zip(packed.get("runs", ())[::2], packed.get("runs", ())[1::2],
                             strict=True):
        numbers += [number] * count
    for rows in (packed["lag"], before):
        for i in range(rows, len(numbers) if rows else 0):
            numbers[i] += numbers[i - rows]
    return numbers


def amounts_of(signals):
    amounts = []
    for residual in column(signals, "amount"):
        amounts.append(residual - (amounts[-1] if amounts else 0))
    return amounts


def events_of_run(trace, pipeline):
    """Returns the events of each thread: its copies, then its arrivals at barriers."""
    info, names = trace["info"], ["t"]
    if pipeline["kind"] == "ws":
        names = [*(f"wg{i}" for i in range(pipeline["wgs"])), "mem"]
    shapes = {array_of(one, i): f"in{i}" for i, one in enumerate(pipeline["ins"])}
    shapes |= {array_of(one, 20 + i): f"out{i}" for i, one in enumerate(pipeline["outs"])}
    events = {name: [] for name in names}
    if "copy_ends" not in trace:  # all stays in GMEM
        return events
    ends = {name: column(trace["copy_ends"], name, 2) for name in ("agent", "first", "semaphore")}
    copied = column(trace["copy_ends"], "copy")
    for end in range(0, len(copied), 2):
        copied[end] += copied[end - 1] + 1 if end else 0
        copied[end + 1] += copied[end]
    out, operand = (column(trace["copies"], name) for name in ("out", "operand"))
    for end in range(0, len(copied), 2):
        copy = copied[end]
        near, far = (end, end + 1) if out[copy] else (end + 1, end)
        array = tuple(info["operands"][operand[copy]]["array"])
        row, place = divmod(ends["first"][far], array[1])
        events[names[ends["agent"][end]]].append(
            ("copy_out" if out[copy] else "copy_in", shapes[array], (row, place // LANES),
             ends["first"][near] // LANES))
    signals = trace.get("signals")
    if signals is None:  # nothing waits for inputs
        return events
    for semaphore, agent, amount in zip(column(signals, "semaphore", 1), column(signals, "agent"),
                                        amounts_of(signals), strict=True):
        if amount > 0 and semaphore not in ends["semaphore"] and not pipeline.get(
                "manual_consumed"):  # no copy arrives there, and neither does the body
            slot = info["semaphores"][semaphore]["name"].partition("[")[2].rstrip("]")
            events[names[agent]].append(("arrive", int(slot or 0)))
    return events


def compared(events):
    """Returns what a trace has rows for, as events_of_run does."""
    return {thread: [one for kinds in (("copy_in", "copy_out"), ("arrive",))
                     for one in listed if one[0] in kinds] for thread, listed in events.items()}


def findings_of(wanted):
    """Returns what a run may find. Some blocks are never stored. Where one is stored twice, as at the
    last step, nothing waits for the first store; JAX's interpreter calls this a race, too."""
    stored = [one[1:3] for listed in wanted.values() for one in listed if one[0] == "copy_out"]
    comes_back = len(set(stored)) < len(stored)
    return {"undefined_result", "unknown_figure"} | ({"overwritten_in_flight"} if comes_back
                                                     else set())


def check(pipeline, wanted):
    kernel = pallascope.capture(kernel_of(pipeline), *arguments_of(pipeline), chip="h100_sxm")
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder)
        kernel.save(path / "k.pallascope")
        done = subprocess.run(
            [PALLASCOPE, "run", path / "k.pallascope", "--json", "--trace", path / "k.trace.json",
             "--results", path / "k.npz"], capture_output=True, text=True, timeout=300, check=False)
        assert done.returncode in (0, 1), pipeline["name"] + done.stderr
        found = {one["kind"] for one in json.loads(done.stdout)["findings"]}
        assert found <= findings_of(wanted), pipeline
        trace = json.loads((path / "k.trace.json").read_text())["pallascope"]
        assert events_of_run(trace, pipeline) == compared(wanted), pipeline
        if not pipeline["outs"]:
            return
        with np.load(path / "k.npz") as archive:
            for name, result in zip(archive.files, results_of(pipeline), strict=True):
                stored = ~np.isnan(result)
                np.testing.assert_array_equal(archive[name][stored], result[stored], str(pipeline))


def as_tuples(events):
    return {thread: [(one[1], one[2], tuple(one[3]), one[4]) if one[1].startswith("copy") else
                     tuple(one[1:]) for one in listed] for thread, listed in events.items()}


@pytest.mark.parametrize("case", GOLDEN["cases"], ids=lambda one: one["name"])
def test_golden(case):
    """The golden events were recorded from JAX's interpreter."""
    golden = as_tuples(case["events"])
    kept = ("copy_in", "copy_out", "wait_in", "wait_free", "arrive")
    assert events_of(case) == {thread: [one for one in listed if one[0] in kept]
                               for thread, listed in golden.items()}
    check(case, golden)


@pytest.mark.parametrize("first", range(0, int(os.environ.get("JAX_PIPELINES", "12")), 4))
def test_random(first):
    for seed in range(first, first + 4):
        pipeline = random_pipeline(seed)
        check(pipeline, events_of(pipeline))
