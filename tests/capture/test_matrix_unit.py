"""Kernels that use the matrix unit directly. JAX interprets none of this, so NumPy computes the
products."""

import json
import os
import pathlib
import subprocess
import tempfile

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from support import integers, like, pallascope, pl, pltpu, run, whole

if not hasattr(pltpu, "matmul_push_rhs"):
    pytest.skip("JAX 0.9 lets no kernel use the matrix unit directly", allow_module_level=True)

N = 256  # rows and columns of a unit of a TPU7x, the first chip with accumulators
# Otherwise accumulators are addresses, counted in registers of 4 KiB.
HAS_REFS = hasattr(pltpu, "ACC")


class Sums:
    """Accumulators f32[rows, N] of units, in both forms that JAX has had."""

    def __init__(self, units, rows=N, dtype=jnp.float32):
        self.units, self.rows, self.dtype = units, rows, dtype

    def scratch(self):
        """Returns the scratch for a call that is traced for the chip."""
        return [pltpu.ACC(unit)((self.rows, N), self.dtype)
                for unit in (self.units if HAS_REFS else [])]

    def add(self, refs, number, lhs, register=None):
        if HAS_REFS:
            pltpu.matmul_acc_lhs(refs[number], lhs, load_staged_rhs=register)
        else:
            pltpu.matmul_acc_lhs(self._address(number), lhs, self.units[number], register)

    def pop(self, refs, number):
        if HAS_REFS:
            return pltpu.matmul_pop(refs[number])
        return pltpu.matmul_pop(self._address(number), (self.rows, N), self.dtype,
                                self.units[number])

    def _address(self, number):
        return number * (self.rows * N * 4 // 4096)


def call(kernel, args, out, sums, grid=(), specs=None):
    specs = specs or ([whole(x) for x in args], whole(out))

    def fn(*args):
        return pl.pallas_call(kernel, grid=grid, in_specs=specs[0], out_specs=specs[1],
                              scratch_shapes=sums.scratch(), out_shape=out)(*args)

    return fn


def factors(*shapes, dtype=jnp.bfloat16):
    return [integers(*shape, least=-4, most=5, seed=seed).astype(dtype)
            for seed, shape in enumerate(shapes)]


def product(x, y):
    return x.astype(np.float32) @ y.astype(np.float32)


def check(fn, args, wanted, **expect):
    kernel = pallascope.capture(fn, *args, chip="tpu_v7x")
    np.testing.assert_array_equal(run(kernel, "--chip", "tpu_v7x", **expect)[0], wanted)
    return kernel


@pytest.mark.parametrize(("dtype", "findings"), [
    # Nobody has published a rate for int8.
    (jnp.bfloat16, 0), (jnp.float8_e4m3fn, 0), (jnp.int8, 1)])
def test_a_product(dtype, findings):
    x, y = factors((64, N), (N, N), dtype=dtype)
    total = jnp.int32 if dtype == jnp.int8 else jnp.float32
    sums = Sums([0], rows=64, dtype=total)

    def kernel(x_ref, y_ref, o_ref, *refs):
        pltpu.matmul_push_rhs(y_ref[...], 0, 0)
        sums.add(refs, 0, x_ref[...], 0)
        o_ref[...] = sums.pop(refs, 0)

    check(call(kernel, (x, y), like(64, N, dtype=total), sums), (x, y), product(x, y),
          expect=findings)


def test_a_right_operand_stays_and_the_next_is_staged_meanwhile():
    """Both staging registers, a transposed right operand, one that is used twice, and a sum that is
    empty after it was read."""
    x, y = factors((3, 64, N), (2, N, N))
    sums = Sums([1, 1], rows=64)

    def kernel(x_ref, y_ref, o_ref, *refs):
        pltpu.matmul_push_rhs(y_ref[0], 0, 1)
        sums.add(refs, 0, x_ref[0], 0)
        pltpu.matmul_push_rhs(y_ref[1], 1, 1, transpose=True)
        sums.add(refs, 0, x_ref[1])
        sums.add(refs, 1, x_ref[2], 1)
        o_ref[0] = sums.pop(refs, 0)
        sums.add(refs, 0, x_ref[1])
        o_ref[1] = sums.pop(refs, 0)
        o_ref[2] = sums.pop(refs, 1)

    wanted = [product(x[0], y[0]) + product(x[1], y[0]), product(x[1], y[1].T),
              product(x[2], y[1].T)]
    check(call(kernel, (x, y), like(3, 64, N), sums), (x, y), np.stack(wanted))


def test_a_sum_over_the_steps_of_a_grid():
    x, y = factors((N, 4 * N), (4 * N, N))
    sums = Sums([0])

    def kernel(x_ref, y_ref, o_ref, *refs):
        pltpu.matmul_push_rhs(y_ref[...], 0, 0)
        sums.add(refs, 0, x_ref[...], 0)

        @pl.when(pl.program_id(0) == 3)
        def _():
            o_ref[...] = sums.pop(refs, 0)

    specs = ([pl.BlockSpec((N, N), lambda k: (0, k)), pl.BlockSpec((N, N), lambda k: (k, 0))],
             pl.BlockSpec((N, N), lambda k: (0, 0)))
    check(call(kernel, (x, y), like(N, N), sums, (4,), specs), (x, y), product(x, y))


def test_two_units_work_side_by_side():
    """One unit would do the second product after the first, at two rows of bf16 per cycle and with
    12 cycles for its right operand. Meanwhile, a vector instruction takes each of 64 registers of
    results."""
    x, y = factors((N, N), (2, N, N))

    def units(which):
        sums = Sums(which)

        def kernel(x_ref, y_ref, o_ref, *refs):
            for number, unit in enumerate(which):
                pltpu.matmul_push_rhs(y_ref[number], number, unit)
            lhs = x_ref[...]
            for number in range(2):
                sums.add(refs, number, lhs, number)
            o_ref[0], o_ref[1] = [sums.pop(refs, number) for number in range(2)]

        return check(call(kernel, (x, y), like(2, N, N), sums), (x, y),
                     np.stack([product(x, y[0]), product(x, y[1])]))

    def seconds(kernel):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "k.pallascope"
            kernel.save(path)
            done = subprocess.run([os.environ["PALLASCOPE"], "run", path, "--chip", "tpu_v7x",
                                   "--json", "--values", "needed"], capture_output=True, text=True,
                                  timeout=60, check=True)
            report = json.loads(done.stdout)
            return report["time_s"], report["time_s"] / report["cycles"]

    together, cycle = seconds(units([0, 1]))
    after, _ = seconds(units([0, 0]))
    units_overlap = ((N / 2 + 12)**4 + (64 / 4)**4)**(1 / 4)
    assert (after - together) / cycle == pytest.approx(np.ceil(units_overlap), abs=0.01)


@pytest.mark.skipif(not hasattr(pltpu, "matmul_lhs_fifo"), reason="JAX has no result FIFO")
def test_products_are_taken_from_a_fifo_in_order():
    """A loop that requests the next product before it takes one, with a transposed right operand.
    """
    x, y = factors((4, 64, N), (N, N))

    def kernel(x_ref, y_ref, o_ref):
        pltpu.matmul_push_rhs(y_ref[...], 1, 0, transpose=True)
        pltpu.matmul_lhs_fifo(x_ref[0], 0, load_staged_rhs=1)

        def body(i, _):
            pltpu.matmul_lhs_fifo(x_ref[i + 1], 0)
            o_ref[i] = pltpu.matmul_pop_fifo((64, N), jnp.float32, 0)

        jax.lax.fori_loop(0, 3, body, None)
        o_ref[3] = pltpu.matmul_pop_fifo((64, N), jnp.float32, 0)

    check(call(kernel, (x, y), like(4, 64, N), Sums([])), (x, y),
          np.stack([product(one, y.T) for one in x]))


def test_what_the_unit_cannot_do_is_named():
    x, y = factors((N, N), (N, N))
    sums = Sums([0])

    def kernel(x_ref, y_ref, o_ref, *refs):
        pltpu.matmul_push_rhs(y_ref[...], 0, 0)
        sums.add(refs, 0, x_ref[...].astype(jnp.float32), 0)
        sums.add(refs, 0, x_ref[...], 1)
        o_ref[...] = sums.pop(refs, 0)

    with pytest.raises(pallascope.UnsupportedError) as error:
        pallascope.capture(call(kernel, (x, y), like(N, N), sums), x, y, chip="tpu_v7x")
    assert "matmul_acc_lhs of f32 with a right operand of bf16" in str(error.value)
    assert "matmul_acc_lhs of what no other operation of the kernel fills" in str(error.value)
    assert "test_matrix_unit.py:" in str(error.value)


@pytest.mark.skipif(HAS_REFS, reason="accumulators have no addresses")
def test_accumulators_that_overlap_are_named():
    x, y = factors((N, N), (N, N))

    def kernel(x_ref, y_ref, o_ref):
        pltpu.matmul_push_rhs(y_ref[...], 0, 0)
        for address in (0, 8):
            pltpu.matmul_acc_lhs(address, x_ref[...], 0, 0)
        o_ref[...] = sum(pltpu.matmul_pop(address, (N, N), jnp.float32, 0) for address in (0, 8))

    with pytest.raises(pallascope.UnsupportedError) as error:
        pallascope.capture(call(kernel, (x, y), like(N, N), Sums([])), x, y, chip="tpu_v7x")
    assert "matmul_acc_lhs of accumulators that overlap" in str(error.value)
