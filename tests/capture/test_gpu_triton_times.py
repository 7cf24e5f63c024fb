"""Times of kernels that JAX gives to Triton, and the bytes that they move, beside each other."""

import jax.numpy as jnp
import pytest
from gpu_case import like, ramp
from gpu_triton import call
from jax import lax
from support import pallascope, pl, report


def _time_of_rounds(blocks, warps):
    """Returns how long 100 rounds take in which blocks only compute."""
    block = pl.BlockSpec((1024,), lambda i: (i,))

    def time_of(rounds):
        def kernel(x_ref, o_ref):
            x = x_ref[...]
            o_ref[...] = lax.fori_loop(0, rounds, lambda _, a: a * 0.5 + x, x)

        captured = pallascope.capture(
            lambda x: call(kernel, warps=warps, out_shape=like(blocks * 1024), grid=(blocks,),
                           in_specs=[block], out_specs=block)(x), like(blocks * 1024), chip="h100")
        return report(captured, "--values", "needed")["time_s"]

    return time_of(200) - time_of(100)


# An SM has four partitions, each with a scheduler and lanes of its own.
@pytest.mark.parametrize("warps", [1, 2])
def test_few_warps_leave_partitions_of_an_sm_without_work(warps):
    sms = 132
    alone, four = (_time_of_rounds(sms, count) for count in (warps, 4))
    assert alone == pytest.approx(four * 4 / warps, rel=0.02)
    several, full = (_time_of_rounds(sms * 16, count) for count in (warps, 4))
    assert several == pytest.approx(full, rel=0.05)


# Each round loads where the chain of the one before it says, so nothing of them can overlap.
def test_what_needs_a_load_waits_for_it():
    def time_of(loads, links):
        def kernel(x_ref, o_ref):
            def step(_, at):
                value = x_ref[at] if loads else at
                for _ in range(links):
                    value = value * 1664525 + 1013904223
                return (value >> 8) & 0xffff

            o_ref[...] = lax.fori_loop(0, 100, step, jnp.arange(128))

        captured = pallascope.capture(
            lambda x: call(kernel, warps=4, out_shape=like(128, dtype=jnp.int32))(x),
            ramp(1 << 16, dtype=jnp.int32), chip="h100")
        found = report(captured)
        return found["time_s"] - found["time_split_s"]["launches"]

    load, chain, both = time_of(True, 0), time_of(False, 60), time_of(True, 60)
    assert both == pytest.approx(load + chain, rel=0.05)


# The sectors of 32 bytes that a column touches have the seven columns beside it, which L2 then holds.
def test_loads_of_columns_move_whole_sectors():
    x = like(2048, 1024)

    def sums(block, index, count):
        def kernel(x_ref, o_ref):
            o_ref[...] = x_ref[...].sum()[None]

        captured = pallascope.capture(lambda x: call(
            kernel, out_shape=like(count), grid=(count,), in_specs=[pl.BlockSpec(block, index)],
            out_specs=pl.BlockSpec((1,), lambda i: (i,)))(x), x, chip="h100")
        return report(captured, "--values", "needed")

    columns = sums((2048, 1), lambda i: (0, i), 1024)
    rows = sums((1, 1024), lambda i: (i, 0), 2048)
    assert columns["hbm_read_bytes"] == rows["hbm_read_bytes"] == 4 * 2048 * 1024
    assert columns["l2"]["hit_rate"] == pytest.approx(7 / 8, abs=0.01)
    assert columns["time_s"] > rows["time_s"]
