"""Loads, stores, slices and scoped memory."""

import json
import subprocess
import tempfile

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from support import PALLASCOPE, call, check, integers, like, normal, pl, pltpu, whole

INT = jnp.int32
SMEM = pl.BlockSpec(memory_space=pltpu.SMEM)
VMEM = pl.BlockSpec(memory_space=pltpu.VMEM)


def findings(kernel):
    """Returns the findings of a run that has some."""
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/k.pallascope"
        kernel.save(path)
        done = subprocess.run([PALLASCOPE, "run", path, "--json"], capture_output=True, text=True,
                              timeout=120, check=False)
        assert done.returncode == 1, done.stdout + done.stderr
        return json.loads(done.stdout)["findings"]


def one_step(kernel, *args, out=(16, 128), dtype=INT, wanted=None, **params):
    """Checks a kernel of one step on whole arrays."""
    def fn(*arrays):
        return call(kernel, out_shape=like(*out, dtype=dtype), **params)(*arrays)

    return check(fn, *args, ulps=0, wanted=wanted)


def test_static_slices():
    def kernel(x_ref, o_ref):
        o_ref[0:8, :] = x_ref[8:16, :]
        o_ref[8:16, 0:128] = x_ref[pl.ds(0, 8), :]

    one_step(kernel, integers(16, 128))


def test_an_index_drops_its_axis():
    def kernel(x_ref, o_ref):
        o_ref[3] = x_ref[5]
        o_ref[4, :] = x_ref[-1, :]
        o_ref[pl.ds(0, 3), :] = x_ref[pl.ds(2, 3)]
        o_ref[pl.ds(5, 11)] = x_ref[pl.ds(5, 11)]

    one_step(kernel, integers(16, 128))


@pytest.mark.parametrize("start", [0, 3, 8])
def test_a_slice_from_a_row_known_at_run_time(start):
    def kernel(start_ref, x_ref, o_ref):
        o_ref[...] = x_ref[pl.ds(start_ref[0], 8), :]

    def fn(at, x):
        return call(kernel, in_specs=[pl.BlockSpec(memory_space=pltpu.SMEM), whole(x)],
                    out_specs=whole(like(8, 128)), out_shape=like(8, 128, dtype=INT))(at, x)

    check(fn, np.array([start], np.int32), integers(16, 128))


def test_stores_at_rows_known_at_run_time():
    def kernel(at_ref, x_ref, o_ref):
        o_ref[...] = jnp.zeros_like(o_ref)
        for i in range(4):
            o_ref[at_ref[i]] = x_ref[i]
            o_ref[at_ref[i] + 1, pl.ds(0, 64)] = x_ref[i, 64:]

    def fn(at, x):
        return call(kernel, in_specs=[pl.BlockSpec(memory_space=pltpu.SMEM), whole(x)],
                    out_specs=whole(like(16, 128)), out_shape=like(16, 128, dtype=INT))(at, x)

    check(fn, np.array([6, 0, 14, 9], np.int32), integers(4, 128))


def test_strided_loads_and_stores():
    def kernel(x_ref, o_ref):
        o_ref[pl.ds(0, 8, stride=2), :] = x_ref[pl.ds(1, 8, stride=2), :]
        o_ref[pl.ds(1, 8, stride=2), :] = x_ref[pl.ds(0, 8, stride=1), :]

    one_step(kernel, integers(16, 128))


def test_a_stride_of_zero_repeats_a_row():
    def kernel(x_ref, o_ref):
        o_ref[...] = x_ref[pl.ds(5, 16, stride=0), :]

    x = integers(16, 128)
    one_step(kernel, x, wanted=np.repeat(x[5:6], 16, axis=0))


def test_an_index_outside_in_a_branch_that_is_not_taken():
    def kernel(n_ref, x_ref, o_ref):
        o_ref[...] = x_ref[...]
        for i in range(3):
            @pl.when(i + 1 < n_ref[0])
            def _(i=i):
                o_ref[i] += jnp.full(128, n_ref[i + 1], INT)

    check(lambda n, x: call(kernel, in_specs=[SMEM, VMEM], out_shape=like(3, 128, dtype=INT))(n, x),
          np.array([3, 5, 7], np.int32), integers(3, 128), wanted=integers(3, 128)
          + np.array([[5], [7], [0]], np.int32))


@pytest.mark.parametrize("start", [0, None])
def test_more_rows_than_there_are_in_a_branch_that_is_not_taken(start):
    def kernel(n_ref, x_ref, hbm_ref, o_ref, sem_ref):
        at = n_ref[0] if start is None else start
        o_ref[...] = x_ref[...]

        @pl.when(n_ref[0] > 0)
        def _():
            o_ref[...] = x_ref[pl.ds(at, 16), :][:8]
            x_ref[pl.ds(at, 16), :] = jnp.zeros((16, 128), INT)
            copy = pltpu.make_async_copy(hbm_ref.at[pl.ds(at, 16)], x_ref.at[pl.ds(at, 16)],
                                         sem_ref)
            copy.start()
            copy.wait()

    def fn(n, x):
        return call(kernel, in_specs=[SMEM, VMEM, pl.BlockSpec(memory_space=pl.ANY)],
                    out_shape=like(8, 128, dtype=INT),
                    scratch_shapes=[pltpu.SemaphoreType.DMA])(n, x, x)

    x = integers(8, 128)
    if start == 0 and jax.__version_info__ >= (0, 12):
        pytest.skip("JAX refuses it when it is traced")
    kernel = check(fn, np.array([0], np.int32), x, wanted=x)
    kernel.arrays[0] = np.array([1], np.int32)
    report = findings(kernel)
    assert [finding["kind"] for finding in report] == ["out_of_bounds"]
    first = 1 if start is None else start
    assert (f"A load reaches elements {first} to {first + 15} on axis 0 of x_ref, which has 8"
            in report[0]["message"])


def test_indices_of_indices():
    def kernel(at_ref, x_ref, o_ref):
        i = at_ref[0]
        o_ref[...] = x_ref.at[1].at[pl.ds(i, 8)].at[pl.ds(1, 4, stride=2)][pl.ds(1, 2), :]
        o_ref.at[pl.ds(i, 1)].at[0][...] = x_ref.at[0, i][...]

    def fn(at, x):
        return call(kernel, in_specs=[pl.BlockSpec(memory_space=pltpu.SMEM), whole(x)],
                    out_specs=whole(like(2, 128)), out_shape=like(2, 128, dtype=INT))(at, x)

    check(fn, np.array([1], np.int32), integers(2, 16, 128))


def test_three_axes_with_an_index_in_the_middle():
    def kernel(x_ref, o_ref):
        o_ref[...] = x_ref[1:3, 4, :]

    one_step(kernel, integers(4, 8, 128), out=(2, 128))


def test_scalars_in_smem():
    def kernel(x_ref, o_ref, s_ref):
        s_ref[0, 2] = 7
        s_ref[1, 1] = s_ref[0, 2] * 6
        o_ref[...] = x_ref[...] + s_ref[1, 1] - s_ref[0, 2]

    one_step(kernel, integers(16, 128), scratch_shapes=[pltpu.SMEM((2, 3), INT)])


def test_a_store_of_a_broadcast_scalar():
    def kernel(x_ref, o_ref):
        o_ref[...] = jnp.full((16, 128), 5, INT)
        o_ref[3, :] = jnp.zeros((128,), INT) + x_ref[0, 0]

    one_step(kernel, integers(16, 128))


def test_add_in_place():
    def kernel(x_ref, o_ref):
        o_ref[...] = x_ref[...]
        o_ref[0:8, :] += x_ref[8:16, :] * 3
        o_ref[8, :] -= 1

    one_step(kernel, integers(16, 128))


def test_addupdate():
    def kernel(x_ref, o_ref):
        o_ref[...] = x_ref[...]
        pltpu_addupdate(o_ref, (slice(0, 8),), x_ref[8:16])

    def pltpu_addupdate(ref, indices, value):
        from jax._src.state.primitives import ref_addupdate
        ref_addupdate(ref, indices, value)

    one_step(kernel, integers(16, 128))


def test_scoped_memory_lives_in_its_scope():
    def kernel(x_ref, o_ref):
        def body(tile_ref, count_ref):
            count_ref[0] = 4
            tile_ref[...] = x_ref[0:8] * count_ref[0]
            o_ref[0:8] = tile_ref[...]
            o_ref[8:16] = tile_ref[::-1] if False else tile_ref[...] + 1

        pl.run_scoped(body, pltpu.VMEM((8, 128), INT), pltpu.SMEM((1,), INT))

    one_step(kernel, integers(16, 128))


def test_scoped_memory_that_yields_values():
    def kernel(x_ref, o_ref):
        def body(tile_ref):
            tile_ref[...] = x_ref[...] + 1
            return tile_ref[0:8], tile_ref[8, 3]

        rows, number = pl.run_scoped(body, pltpu.VMEM((16, 128), INT))
        o_ref[0:8] = rows
        o_ref[8:16] = rows * number

    one_step(kernel, integers(16, 128))


def test_scoped_memory_in_a_loop():
    def kernel(x_ref, o_ref):
        def step(i, carry):
            def body(tile_ref):
                tile_ref[...] = x_ref[pl.ds(4 * i, 4), :]
                o_ref[pl.ds(4 * i, 4), :] = tile_ref[...] * (i + 1)

            pl.run_scoped(body, pltpu.VMEM((4, 128), INT))
            return carry

        jax.lax.fori_loop(0, 4, step, 0)

    one_step(kernel, integers(16, 128))


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float16", "int8", "uint8", "int16",
                                   "uint16", "int32", "uint32", "bool", "float8_e4m3fn",
                                   "float8_e5m2", "float8_e4m3b11fnuz", "int2", "uint2",
                                   "int4", "uint4"])
def test_every_dtype_is_copied(dtype):
    def kernel(x_ref, o_ref):
        o_ref[0:8] = x_ref[8:16]
        o_ref[8:16] = x_ref[0:8]

    if dtype.startswith(("float", "bfloat")):
        x = normal(16, 128).astype(jnp.dtype(dtype))
    else:
        most = 2 if dtype in ("bool", "int2", "uint2") else 8
        x = integers(16, 128, least=0 if dtype.startswith(("u", "b")) else -most, most=most,
                     dtype=jnp.dtype(dtype))
    one_step(kernel, x, dtype=jnp.dtype(dtype))
