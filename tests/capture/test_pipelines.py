"""emit_pipeline inside kernels without blocks, and pl.kernel on a mesh of one core."""

import json
import pathlib
import subprocess

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from support import (PALLASCOPE, call, check, integers, like, matmul_body, normal, on_mesh,
                     pallascope, pipeline_of, pl, pltpu, tensor_cores)

INT = jnp.int32
ANY = pl.BlockSpec(memory_space=pl.ANY)
TPU = pltpu.InterpretParams()
IS_09 = jax.__version__.startswith("0.9.")


def rows(size, columns=128, **mode):
    return pl.BlockSpec((size, columns), lambda i: (i, 0), **mode)


def on_hbm(kernel, *args, out=(32, 128), dtype=INT, ulps=0, terms=0.0, oracle=TPU, **params):
    """Checks a kernel without a grid whose arrays all stay in HBM."""
    def fn(*arrays):
        return call(kernel, in_specs=[ANY] * len(arrays), out_specs=ANY,
                    out_shape=like(*out, dtype=dtype), **params)(*arrays)

    return check(fn, *args, ulps=ulps, terms=terms, oracle=oracle)


def test_a_pipeline_over_rows():
    def body(x_ref, y_ref, o_ref):
        o_ref[...] = x_ref[...] * 2 + y_ref[...]

    def kernel(x_ref, y_ref, o_ref):
        pltpu.emit_pipeline(body, grid=(4,), in_specs=[rows(8)] * 2, out_specs=rows(8))(
            x_ref, y_ref, o_ref)

    found = pipeline_of(on_hbm(kernel, integers(32, 128), integers(32, 128, seed=1)))
    assert found["params"]["origin"] == "emit_pipeline"
    assert [spec["name"] for spec in found["params"]["specs"]] == ["x_ref", "y_ref", "o_ref"]


def test_a_pipelined_matmul_with_scratch_of_the_kernel():
    def kernel(x_ref, y_ref, o_ref, acc_ref):
        def body(x_ref, y_ref, o_ref):
            matmul_body(x_ref, y_ref, o_ref, acc_ref)

        pltpu.emit_pipeline(
            body, grid=(2, 2, 3),
            in_specs=[pl.BlockSpec((8, 128), lambda i, j, k: (i, k)),
                      pl.BlockSpec((128, 128), lambda i, j, k: (k, j))],
            out_specs=pl.BlockSpec((8, 128), lambda i, j, k: (i, j)))(x_ref, y_ref, o_ref)

    x, y = (normal(*shape, dtype=jnp.bfloat16) for shape in ((16, 384), (384, 256)))
    on_hbm(kernel, x, y, out=(16, 256), dtype=jnp.bfloat16, ulps=1, terms=384,
           scratch_shapes=[pltpu.VMEM((8, 128), jnp.float32)])


@pytest.mark.parametrize("buffers", [1, 3, 4])
def test_a_pipeline_with_other_numbers_of_buffers(buffers):
    if buffers == 1 and IS_09:
        pytest.skip("emit_pipeline of JAX 0.9 takes no single buffer")

    def body(x_ref, o_ref):
        o_ref[...] = x_ref[...] + 1

    def kernel(x_ref, o_ref):
        pltpu.emit_pipeline(body, grid=(4,),
                            in_specs=[rows(8, pipeline_mode=pl.Buffered(buffers))],
                            out_specs=rows(8))(x_ref, o_ref)

    found = pipeline_of(on_hbm(kernel, integers(32, 128)))
    assert found["params"]["specs"][0]["in_buffers"] == buffers


def test_a_pipeline_with_lookahead():
    def body(x_ref, o_ref):
        o_ref[...] = x_ref[...] + pl.program_id(0)

    def kernel(x_ref, o_ref):
        mode = pl.Buffered(3, use_lookahead=True)
        pltpu.emit_pipeline(
            body, grid=(6,),
            in_specs=[pl.BlockSpec((8, 128), lambda i: (i // 2, 0), pipeline_mode=mode)],
            out_specs=rows(8))(x_ref, o_ref)

    found = pipeline_of(on_hbm(kernel, integers(24, 128), out=(48, 128)))
    assert found["params"]["specs"][0]["lookahead"] is True


def test_a_pipeline_whose_length_is_known_at_run_time():
    def body(x_ref, o_ref):
        o_ref[...] = x_ref[...] + 1

    def kernel(length_ref, x_ref, o_ref):
        pltpu.emit_pipeline(body, grid=(length_ref[0],), in_specs=[rows(8)], out_specs=rows(8))(
            x_ref, o_ref)

    def fn(length, x):
        return call(kernel, in_specs=[pl.BlockSpec(memory_space=pltpu.SMEM), ANY], out_specs=ANY,
                    out_shape=like(32, 128, dtype=INT), input_output_aliases={1: 0})(length, x)

    check(fn, np.array([3], np.int32), integers(32, 128), oracle=TPU)


def test_index_maps_that_use_values_of_the_kernel():
    def body(x_ref, o_ref):
        o_ref[...] = x_ref[...] + 1

    def kernel(table_ref, x_ref, o_ref):
        shift = table_ref[3]
        pltpu.emit_pipeline(
            body, grid=(3,),
            in_specs=[pl.BlockSpec((8, 128), lambda i: (table_ref[i] + shift, 0))],
            out_specs=rows(8))(x_ref, o_ref)

    def fn(table, x):
        return call(kernel, in_specs=[pl.BlockSpec(memory_space=pltpu.SMEM), ANY], out_specs=ANY,
                    out_shape=like(24, 128, dtype=INT))(table, x)

    table, x = np.array([2, 0, 1, 1], np.int32), integers(32, 128)
    check(fn, table, x, oracle=TPU)
    assert pipeline_of(pallascope.capture(fn, table, x))["params"]["grid"] == [3]


def test_two_pipelines_one_after_the_other():
    def double(x_ref, o_ref):
        o_ref[...] = x_ref[...] * 2

    def add(x_ref, y_ref, o_ref):
        o_ref[...] = x_ref[...] + y_ref[...]

    def kernel(x_ref, y_ref, o_ref, middle_ref):
        pltpu.emit_pipeline(double, grid=(4,), in_specs=[rows(8)], out_specs=rows(8))(
            x_ref, middle_ref)
        pltpu.emit_pipeline(add, grid=(2,), in_specs=[rows(16)] * 2, out_specs=rows(16))(
            middle_ref, y_ref, o_ref)

    def fn(x, y):
        out, _ = call(kernel, in_specs=[ANY] * 2, out_specs=[ANY] * 2,
                      out_shape=[like(32, 128, dtype=INT)] * 2)(x, y)
        return out

    check(fn, integers(32, 128), integers(32, 128, seed=1), oracle=TPU)


def test_a_pipeline_without_blocks_uses_manual_dmas():
    """Code generators write such pipelines: the pipeline only counts, and its body copies
    everything."""
    def kernel(x_ref, o_ref, buffer_ref, semaphore):
        def body():
            here = pl.ds(pl.program_id(0) * 8, 8)
            pltpu.async_copy(x_ref.at[here], buffer_ref, semaphore).wait()
            buffer_ref[...] = buffer_ref[...] * 3
            pltpu.async_copy(buffer_ref, o_ref.at[here], semaphore).wait()

        pltpu.emit_pipeline(body, grid=(4,))()

    found = pipeline_of(on_hbm(kernel, integers(32, 128), scratch_shapes=[
        pltpu.VMEM((8, 128), INT), pltpu.SemaphoreType.DMA]))
    assert found["params"]["specs"] == []


def test_a_pipeline_in_a_loop():
    def kernel(x_ref, o_ref, sum_ref):
        sum_ref[...] = jnp.zeros_like(sum_ref)

        def body(x_ref, o_ref):
            sum_ref[...] += x_ref[...]
            o_ref[...] = sum_ref[...]

        @pl.loop(0, 2)
        def _(i):
            pltpu.emit_pipeline(body, grid=(4,), in_specs=[rows(8)], out_specs=rows(8))(
                x_ref, o_ref)

    on_hbm(kernel, integers(32, 128), scratch_shapes=[pltpu.VMEM((8, 128), INT)])


def test_a_block_that_hangs_over_the_edge_of_a_pipeline():
    def body(x_ref, o_ref):
        o_ref[...] = x_ref[...] + 1

    def kernel(x_ref, o_ref):
        pltpu.emit_pipeline(body, grid=(3,), in_specs=[rows(16)], out_specs=rows(16))(x_ref, o_ref)

    on_hbm(kernel, integers(40, 128), out=(40, 128))


def test_the_introductions_matmul_is_the_built_in_one_event_by_event(tmp_path):
    import importlib.util
    path = pathlib.Path(__file__).parents[2] / "docs" / "examples" / "matmul.py"
    spec = importlib.util.spec_from_file_location("matmul", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    shape = like(4096, 4096, dtype=jnp.bfloat16)
    pallascope.capture(module.matmul, shape, shape).save(tmp_path / "m.kernel.json")
    done = subprocess.run([PALLASCOPE, "compare", "matmul", tmp_path / "m.kernel.json", "--json"],
                          capture_output=True, text=True, check=True)
    found = json.loads(done.stdout)
    assert found["values"]["steps"] == {"a": 512, "b": 512, "ratio": 1}
    assert found["values"]["time_s"]["ratio"] == 1
    assert found["parting"] is None


def test_a_pipeline_on_a_mesh_of_one_core():
    def body(x_ref, o_ref):
        o_ref[...] = x_ref[...] * 3

    def fn(x):
        @on_mesh(tensor_cores(), like(32, 128, dtype=INT))
        def kernel(x_ref, o_ref):
            pltpu.emit_pipeline(body, grid=(4,), in_specs=[rows(8)], out_specs=rows(8),
                                core_axis_name="core",
                                dimension_semantics=(pltpu.PARALLEL,))(x_ref, o_ref)

        return kernel(x)

    x = integers(32, 128)
    check(fn, x, wanted=x * 3)


def test_more_than_two_buffers_of_a_pallas_call_are_refused_as_jax_does():
    def kernel(x_ref, o_ref):
        o_ref[...] = x_ref[...] * 2

    def function(x):
        return pl.pallas_call(kernel, grid=(4,), in_specs=[rows(8, pipeline_mode=pl.Buffered(3))],
                              out_specs=rows(8), out_shape=like(32, 128, dtype=INT))(x)

    x = integers(32, 128)
    with pytest.raises(pallascope.UnsupportedError, match="3 buffers of x_ref.* 1 or 2"):
        pallascope.capture(function, x)
    traced = jax.jit(function).trace(x)
    with pytest.raises(Exception, match="Only single .* double"):
        traced.lower(lowering_platforms=("tpu",))
