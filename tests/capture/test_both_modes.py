"""Compares runs with all values to runs with only those that are needed, as every test here does.
"""

import shutil
import subprocess

import both_modes
import jax
import jax.numpy as jnp
import numpy as np
from support import PALLASCOPE, call, check, like, pl, pltpu


def steps_by_what_a_loop_carries(numbers):
    """Returns a body that takes longer if a loop, whose condition does not read it, leaves a 5."""
    def body(numbers_ref, o_ref):
        _, left, _ = jax.lax.while_loop(
            lambda carry: carry[0] > 0, lambda carry: (carry[0] - 1, carry[2], carry[0] * 2),
            (numbers_ref[0], numbers_ref[1], numbers_ref[2]))
        o_ref[...] = jnp.zeros_like(o_ref)

        @pl.when(left > 3)
        def _():
            o_ref[...] = jnp.exp(o_ref[...])

    return call(body, out_shape=like(64, 128),
                in_specs=[pl.BlockSpec(memory_space=pltpu.SMEM)])(numbers)


def test_a_carried_number_is_the_same_in_both_modes():
    for rounds in range(4):
        check(steps_by_what_a_loop_carries, np.array([rounds, 5, 2], np.int32))


def test_a_difference_is_found(tmp_path):
    """Compares runs of two programs as if they were the same."""
    files = []
    for number in (1, 5):
        files.append(tmp_path / f"{number}.pallascope")
        check(steps_by_what_a_loop_carries, np.array([0, number, 2], np.int32)).save(files[-1])
    taken, both = tmp_path / "k.pallascope", iter(files)

    def another(command, **options):
        shutil.copy(next(both), taken)
        return subprocess.run(command, **options)

    found = both_modes.difference(another, [PALLASCOPE, "run", taken])
    assert found.startswith(".info.events"), found
