"""Kernels for a GPU with one mistake each. The line that a finding must point to ends with
"# mistake"."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
from gpu_case import like, ramp
from jax import lax
from jax.experimental import pallas as pl
from jax.experimental.pallas import mosaic_gpu as plgpu

_ROW = 128
_X = ramp(4, _ROW)
_ROWS = plgpu.SMEM((4, _ROW), jnp.float32)
_TWO_WARPGROUPS = dict(num_threads=2, thread_name="wg")


@dataclasses.dataclass(frozen=True)
class Mistake:
    fn: Callable[..., Any]
    args: tuple[Any, ...]
    kind: str  # of the finding
    chip: str
    at: tuple[Callable[..., Any], str] | None  # where to look for the line, and how it ends

    def line(self) -> int:
        """Returns the number of the line that is to be found."""
        fn, word = self.at or (self.fn, "mistake")
        lines, first = inspect.getsourcelines(fn)
        (place,) = (at for at, line in enumerate(lines) if line.rstrip().endswith(f"# {word}"))
        return first + place


MISTAKES: dict[str, Mistake] = {}


def mistake(kind: str, *args: Any, chip: str = "h100_sxm",
            at: tuple[Callable[..., Any], str] | None = None) -> Any:
    def made(fn: Callable[..., Any]) -> Callable[..., Any]:
        MISTAKES[fn.__name__] = Mistake(fn, args or (_X,), kind, chip, at)
        return fn

    return made


# ---- copies in ---------------------------------------------------------------------------------


@mistake("read_before_wait")
def a_load_for_which_nobody_waits(x):
    @plgpu.kernel(out_type=like(4, _ROW), scratch_types=[_ROWS, plgpu.Barrier()])
    def double(x_gmem, o_gmem, smem, barrier):
        plgpu.copy_gmem_to_smem(x_gmem, smem, barrier)
        o_gmem[...] = smem[...] * 2  # mistake
        plgpu.barrier_wait(barrier)

    return double(x)


@mistake("read_before_wait")
def a_slot_other_than_the_one_that_has_landed(x):
    @plgpu.kernel(out_type=like(4, _ROW), scratch_types=[
        plgpu.SMEM((2, 4, _ROW), jnp.float32), plgpu.Barrier(num_barriers=2)])
    def double(x_gmem, o_gmem, smem, barriers):
        for slot in range(2):
            plgpu.copy_gmem_to_smem(x_gmem, smem.at[slot], barriers.at[slot])
        plgpu.barrier_wait(barriers.at[0])
        o_gmem[...] = smem[1] * 2  # mistake
        plgpu.barrier_wait(barriers.at[1])

    return double(x)


@mistake("overwritten_in_flight")
def a_store_where_a_copy_lands(x):
    @plgpu.kernel(out_type=like(4, _ROW), scratch_types=[_ROWS, plgpu.Barrier()])
    def copy(x_gmem, o_gmem, smem, barrier):
        plgpu.copy_gmem_to_smem(x_gmem, smem, barrier)
        smem[1] = x_gmem[0]  # mistake
        plgpu.barrier_wait(barrier)
        o_gmem[...] = smem[...]

    return copy(x)


@mistake("overwritten_in_flight")
def two_loads_into_the_same_slot(x):
    @plgpu.kernel(out_type=like(_ROW), scratch_types=[
        plgpu.SMEM((_ROW,), jnp.float32), plgpu.Barrier(num_arrivals=2)])
    def copy(x_gmem, o_gmem, smem, barrier):
        plgpu.copy_gmem_to_smem(x_gmem.at[0], smem, barrier)
        plgpu.copy_gmem_to_smem(x_gmem.at[1], smem, barrier)  # mistake
        plgpu.barrier_wait(barrier)
        o_gmem[...] = smem[...]

    return copy(x)


@mistake("overwritten_in_flight")
def a_slot_that_is_refilled_before_it_is_free(x):
    @plgpu.kernel(out_type=like(4, _ROW), **_TWO_WARPGROUPS, scratch_types=[
        plgpu.SMEM((2, _ROW), jnp.float32), plgpu.Barrier(num_barriers=4)])
    def double(x_gmem, o_gmem, smem, filled):
        @pl.when(lax.axis_index("wg") == 0)
        def _():
            for row in range(4):
                plgpu.barrier_wait(filled.at[row])
                o_gmem[row] = smem[row % 2] * 2

        @pl.when(lax.axis_index("wg") == 1)
        def _():
            for row in range(2):
                plgpu.copy_gmem_to_smem(x_gmem.at[row], smem.at[row], filled.at[row])
            for row in range(2, 4):
                plgpu.copy_gmem_to_smem(x_gmem.at[row], smem.at[row - 2], filled.at[row])  # mistake

    return double(x)


# ---- copies out --------------------------------------------------------------------------------


@mistake("overwritten_in_flight")
def memory_that_is_reused_while_it_is_stored(x):
    @plgpu.kernel(out_type=like(4, _ROW), scratch_types=[plgpu.SMEM((_ROW,), jnp.float32)])
    def double(x_gmem, o_gmem, smem):
        @pl.loop(0, 4)
        def _(row):
            smem[...] = x_gmem[row] * 2  # mistake
            plgpu.commit_smem()
            plgpu.copy_smem_to_gmem(smem, o_gmem.at[row])

        plgpu.wait_smem_to_gmem(0)

    return double(x)


@mistake("overwritten_in_flight")
def a_wait_that_leaves_one_group_too_many(x):
    @plgpu.kernel(out_type=like(4, _ROW), scratch_types=[plgpu.SMEM((2, _ROW), jnp.float32)])
    def double(x_gmem, o_gmem, smem):
        @pl.loop(0, 4)
        def _(row):
            plgpu.wait_smem_to_gmem(2, wait_read_only=True)
            slot = lax.rem(row, 2)
            smem[slot] = x_gmem[row] * 2  # mistake
            plgpu.commit_smem()
            plgpu.copy_smem_to_gmem(smem.at[slot], o_gmem.at[row])

        plgpu.wait_smem_to_gmem(0)

    return double(x)


@mistake("read_before_wait")
def an_output_that_is_read_while_it_is_stored(x):
    @plgpu.kernel(out_type=[like(4, _ROW)] * 2, scratch_types=[_ROWS])
    def double(x_gmem, o_gmem, again_gmem, smem):
        smem[...] = x_gmem[...] * 2
        plgpu.commit_smem()
        plgpu.copy_smem_to_gmem(smem, o_gmem)
        again_gmem[...] = o_gmem[...]  # mistake
        plgpu.wait_smem_to_gmem(0)

    return double(x)


@mistake("read_before_wait")
def an_output_that_is_read_when_only_its_source_has_been_read(x):
    @plgpu.kernel(out_type=[like(4, _ROW)] * 2, scratch_types=[_ROWS])
    def double(x_gmem, o_gmem, again_gmem, smem):
        smem[...] = x_gmem[...] * 2
        plgpu.commit_smem()
        plgpu.copy_smem_to_gmem(smem, o_gmem)
        plgpu.wait_smem_to_gmem(0, wait_read_only=True)
        again_gmem[...] = o_gmem[...]  # mistake
        plgpu.wait_smem_to_gmem(0)

    return double(x)


@mistake("freed_in_flight")
def a_store_that_is_not_awaited_at_the_end(x):
    @plgpu.kernel(out_type=like(4, _ROW))
    def double(x_gmem, o_gmem):
        def scope(smem):
            smem[...] = x_gmem[...] * 2
            plgpu.commit_smem()
            plgpu.copy_smem_to_gmem(smem, o_gmem)

        pl.run_scoped(scope, _ROWS)  # mistake

    return double(x)


@mistake("freed_in_flight")
def a_group_that_is_never_committed(x):
    @plgpu.kernel(out_type=like(4, _ROW))
    def double(x_gmem, o_gmem):
        def scope(smem):
            smem[...] = x_gmem[...] * 2
            plgpu.commit_smem()
            plgpu.copy_smem_to_gmem(smem, o_gmem, commit_group=False)
            plgpu.wait_smem_to_gmem(0)

        pl.run_scoped(scope, _ROWS)  # mistake

    return double(x)


@mistake("overwritten_in_flight")
def two_stores_to_the_same_rows(x):
    @plgpu.kernel(out_type=like(_ROW), scratch_types=[_ROWS])
    def last(x_gmem, o_gmem, smem):
        smem[...] = x_gmem[...] * 2
        plgpu.commit_smem()
        plgpu.copy_smem_to_gmem(smem.at[2], o_gmem)
        plgpu.copy_smem_to_gmem(smem.at[3], o_gmem)  # mistake
        plgpu.wait_smem_to_gmem(0)

    return last(x)


# ---- barriers ----------------------------------------------------------------------------------


@mistake("deadlock")
def an_arrival_that_is_missing(x):
    @plgpu.kernel(out_type=like(4, _ROW), scratch_types=[_ROWS, plgpu.Barrier(num_arrivals=2)])
    def double(x_gmem, o_gmem, smem, barrier):
        plgpu.copy_gmem_to_smem(x_gmem, smem, barrier)
        plgpu.barrier_wait(barrier)  # mistake
        o_gmem[...] = smem[...] * 2

    return double(x)


@mistake("deadlock")
def a_wait_too_many(x):
    @plgpu.kernel(out_type=like(4, _ROW), scratch_types=[_ROWS, plgpu.Barrier()])
    def double(x_gmem, o_gmem, smem, barrier):
        plgpu.copy_gmem_to_smem(x_gmem, smem, barrier)
        plgpu.barrier_wait(barrier)
        o_gmem[...] = smem[...] * 2
        plgpu.barrier_wait(barrier)  # mistake

    return double(x)


@mistake("deadlock")
def a_copy_whose_predicate_is_false(x):
    @plgpu.kernel(out_type=like(4, _ROW), scratch_types=[_ROWS, plgpu.Barrier()])
    def double(x_gmem, o_gmem, smem, barrier):
        plgpu.copy_gmem_to_smem(x_gmem, smem, barrier, predicate=x_gmem[0, 0] > 100)
        plgpu.barrier_wait(barrier)  # mistake
        o_gmem[...] = smem[...] * 2

    return double(x)


@mistake("barrier_misuse")
def an_arrival_too_many(x):
    @plgpu.kernel(out_type=like(4, _ROW), scratch_types=[plgpu.Barrier(num_arrivals=2)])
    def double(x_gmem, o_gmem, barrier):
        plgpu.barrier_arrive(barrier)
        plgpu.barrier_arrive(barrier)
        plgpu.barrier_wait(barrier)
        o_gmem[...] = x_gmem[...] * 2
        plgpu.barrier_arrive(barrier)  # mistake

    return double(x)


@mistake("barrier_misuse")
def a_phase_that_nobody_waits_for(x):
    @plgpu.kernel(out_type=like(4, _ROW), scratch_types=[plgpu.Barrier()])
    def double(x_gmem, o_gmem, barrier):
        plgpu.barrier_arrive(barrier)
        plgpu.barrier_arrive(barrier)  # mistake
        plgpu.barrier_wait(barrier)
        o_gmem[...] = x_gmem[...] * 2

    return double(x)


@mistake("barrier_misuse")
def a_phase_that_one_warpgroup_misses(x):
    @plgpu.kernel(out_type=like(4, _ROW), **_TWO_WARPGROUPS, scratch_types=[
        plgpu.Barrier(), plgpu.Barrier(num_arrivals=2)])
    def double(x_gmem, o_gmem, barrier, both):
        @pl.when(lax.axis_index("wg") == 0)
        def _():
            plgpu.barrier_arrive(barrier)
            plgpu.barrier_wait(barrier)
            plgpu.barrier_arrive(barrier)
            plgpu.barrier_wait(barrier)
            o_gmem[...] = x_gmem[...] * 2

        plgpu.barrier_arrive_and_wait(both)

        @pl.when(lax.axis_index("wg") == 1)
        def _():
            plgpu.barrier_wait(barrier)  # mistake

    return double(x)


@mistake("race")
def warpgroups_that_do_not_wait_for_each_other(x):
    @plgpu.kernel(out_type=like(2, _ROW), **_TWO_WARPGROUPS, scratch_types=[
        plgpu.SMEM((2, _ROW), jnp.float32)])
    def exchange(x_gmem, o_gmem, smem):
        wg = lax.axis_index("wg")
        smem[wg] = x_gmem[wg]  # mistake
        o_gmem[wg] = smem[1 - wg]

    return exchange(x[:2])


@mistake("race")
def warpgroups_that_meet_before_they_store(x):
    @plgpu.kernel(out_type=like(2, _ROW), **_TWO_WARPGROUPS, scratch_types=[
        plgpu.SMEM((_ROW,), jnp.float32), plgpu.Barrier(num_arrivals=2)])
    def share(x_gmem, o_gmem, smem, barrier):
        wg = lax.axis_index("wg")
        plgpu.barrier_arrive_and_wait(barrier)

        @pl.when(wg == 0)
        def _():
            smem[...] = x_gmem[0]  # mistake

        o_gmem[wg] = smem[...]

    return share(x)


@mistake("race")
def warpgroups_that_reduce_at_the_same_time(x):
    """JAX gives both the same scratch in shared memory. An H100 then norms a row by the sum of
    another one."""
    @plgpu.kernel(out_type=like(4, _ROW), grid=(2,), grid_names=("i",), **_TWO_WARPGROUPS)
    def norm(x_gmem, o_gmem):
        row = lax.axis_index("i") * 2 + lax.axis_index("wg")
        x = x_gmem[row]
        mean = jnp.sum(x * x) / x.shape[0]  # mistake
        o_gmem[row] = x * lax.rsqrt(mean + 1e-6)

    return norm(x)


@mistake("race")
def blocks_that_store_to_the_same_row(x):
    @plgpu.kernel(out_type=like(2, _ROW), grid=(4,), grid_names=("i",))
    def halve(x_gmem, o_gmem):
        i = lax.axis_index("i")
        o_gmem[i // 2] = x_gmem[i]  # mistake

    return halve(x)


# ---- places and undefined data -----------------------------------------------------------------


@mistake("out_of_bounds")
def a_load_outside(x):
    @plgpu.kernel(out_type=like(4, _ROW))
    def shift(x_gmem, o_gmem):
        @pl.loop(0, 4)
        def _(row):
            o_gmem[row] = x_gmem[row + 1]  # mistake

    return shift(x)


@mistake("out_of_bounds")
def a_store_outside(x):
    @plgpu.kernel(out_type=like(4, _ROW))
    def shift(x_gmem, o_gmem):
        o_gmem[0] = x_gmem[0]

        @pl.loop(0, 4)
        def _(row):
            o_gmem[row + 1] = x_gmem[row]  # mistake

    return shift(x)


@mistake("undefined_result")
def memory_that_nobody_has_written(x):
    @plgpu.kernel(out_type=like(4, _ROW), scratch_types=[_ROWS])
    def add(x_gmem, o_gmem, smem):
        for row in range(3):
            smem[row] = x_gmem[row]
        o_gmem[...] = smem[...] + x_gmem[...]  # mistake

    return add(x)


@mistake("undefined_branch")
def a_branch_on_memory_that_nobody_has_written(x):
    @plgpu.kernel(out_type=like(4, _ROW), scratch_types=[plgpu.SMEM((_ROW,), jnp.int32)])
    def maybe(x_gmem, o_gmem, smem):
        o_gmem[...] = x_gmem[...]

        @pl.when(smem[0] > 0)  # mistake
        def _():
            o_gmem[0] = x_gmem[1]

    return maybe(x)


@mistake("undefined_index")
def an_index_that_nobody_has_written(x):
    @plgpu.kernel(out_type=like(_ROW), scratch_types=[plgpu.SMEM((_ROW,), jnp.int32)])
    def pick(x_gmem, o_gmem, smem):
        o_gmem[...] = x_gmem[smem[0]]  # mistake

    return pick(x)
