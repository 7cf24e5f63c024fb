"""What a call of emit_pipeline gives besides refs, and what it gives to its body besides blocks."""

import functools
import inspect
import json
import subprocess

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax._src.pallas.mosaic import pipeline as mosaic_pipeline
from jax.experimental.pallas.tpu import emit_pipeline
from pallascope.jax_compat import tracing
from support import (PALLASCOPE, call, check, integers, like, on_mesh, pl, pltpu,
                     tensor_cores)
from test_pipelines import ANY, INT, IS_09, TPU, on_hbm, pipeline_of, rows


def with_scratch(emit):
    """Sums rows in scratch of the kernel that the body is given."""
    def body(x_ref, o_ref, sum_ref):
        sum_ref[...] += x_ref[...]
        o_ref[...] = sum_ref[...]

    def kernel(x_ref, o_ref, sum_ref):
        sum_ref[...] = jnp.zeros_like(sum_ref)
        emit(body, grid=(4,), in_specs=[rows(8)], out_specs=[rows(8)])(
            x_ref, o_ref, scratches=(sum_ref,))

    return on_hbm(kernel, integers(32, 128), scratch_shapes=[pltpu.VMEM((8, 128), INT)])


def test_a_pipeline_whose_body_sees_scratch_of_the_kernel():
    found = pipeline_of(with_scratch(pltpu.emit_pipeline))
    assert [spec["name"] for spec in found["params"]["specs"]] == ["x_ref", "o_ref"]


def with_allocations(body, **params):
    """JAX 0.9 raises an error unless it is told that no output accumulates."""
    return pltpu.emit_pipeline_with_allocations(
        body, **({"should_accumulate_out": (False,)} if IS_09 else {}), **params)


def twice_by_halves(x_ref, o_ref, lends):
    """Two pipelines one after the other, with one set of buffers or with buffers of their own."""
    def body(x_ref, o_ref):
        o_ref[...] = x_ref[...] * 2

    pipeline, make = with_allocations(
        body, grid=(4,), in_specs=[rows(8)], out_specs=[rows(8)])

    def run(buffers):
        for half in range(2):
            part = pl.ds(32 * half, 32)
            pipeline(x_ref.at[part], o_ref.at[part], allocations=buffers)

    part = x_ref.at[pl.ds(0, 32)]
    if lends:
        pl.run_scoped(run, make(part, part))
    else:
        run(None)


def test_pipelines_with_buffers_from_outside_event_by_event(tmp_path):
    x, reports = integers(64, 128), []
    for lends in (True, False):
        kernel = on_hbm(functools.partial(twice_by_halves, lends=lends), x, out=(64, 128))
        assert str(kernel.document).count("'op': 'pipeline'") == 2
        kernel.save(tmp_path / f"{lends}.pallascope")
        done = subprocess.run([PALLASCOPE, "run", tmp_path / f"{lends}.pallascope", "--json"],
                              capture_output=True, text=True, check=True)
        reports.append(json.loads(done.stdout))
    assert reports[0]["vmem_peak_bytes"] == reports[1]["vmem_peak_bytes"]
    done = subprocess.run([PALLASCOPE, "compare", tmp_path / "True.pallascope",
                           tmp_path / "False.pallascope", "--json"],
                          capture_output=True, text=True, check=True)
    found = json.loads(done.stdout)
    assert found["values"]["time_s"]["ratio"] == 1
    assert found["parting"] is None


@pytest.mark.parametrize("where", ["read besides", "of the kernel"])
def test_buffers_that_are_more_than_a_pipelines_own_are_filled_by_hand(where):
    spec = rows(8)

    def run(x_ref, o_ref, buffers, make=False):
        def body(x_ref, o_ref):
            o_ref[...] = x_ref[...] + 1

        pipeline, make_ = with_allocations(
            body, grid=(4,), in_specs=[spec], out_specs=[spec])
        if make:
            return make_(x_ref, o_ref)
        pipeline(x_ref, o_ref, allocations=buffers)
        # Reads what the last step that used this slot left there.
        if where == "read besides":
            pltpu.sync_copy(buffers[1].window_ref.at[1], o_ref.at[pl.ds(0, 8)])

    def scoped(x_ref, o_ref):
        pl.run_scoped(lambda buffers: run(x_ref, o_ref, buffers), run(x_ref, o_ref, None, True))

    if where == "of the kernel":
        array = jax.core.ShapedArray((32, 128), INT)
        kind = {"source_memory_space": pl.ANY}
        kernel = on_hbm(run, integers(32, 128), scratch_shapes=[(
            pltpu.BufferedRef.input(spec, array, 2, grid_rank=1, **kind),
            pltpu.BufferedRef.output(spec, array, 2, **kind))])
    else:
        kernel = on_hbm(scoped, integers(32, 128))
    assert "'op': 'pipeline'" not in str(kernel.document)


@pytest.mark.skipif("0.12" in jax.__version__, reason="JAX 0.12 has it no more")
def test_what_runs_before_the_body_of_a_pipeline():
    def kernel(x_ref, o_ref, sum_ref):
        def before():
            sum_ref[...] += pl.program_id(0)

        def body(x_ref, o_ref):
            o_ref[...] = x_ref[...] + sum_ref[...]

        pipeline, make = with_allocations(
            body, grid=(4,), in_specs=[rows(8)], out_specs=[rows(8)])
        sum_ref[...] = jnp.zeros_like(sum_ref)
        pl.run_scoped(lambda given: pipeline(x_ref, o_ref, allocations=given,
                                             body_prologue=before), make(x_ref, o_ref))

    pipeline_of(on_hbm(kernel, integers(32, 128), scratch_shapes=[pltpu.VMEM((8, 128), INT)]))


def test_what_runs_before_the_body_is_forgotten_where_jax_makes_the_buffers():
    def kernel(x_ref, o_ref, sum_ref):
        def before():
            sum_ref[...] += 1

        def body(x_ref, o_ref):
            o_ref[...] = x_ref[...] + sum_ref[...]

        sum_ref[...] = jnp.zeros_like(sum_ref)
        pltpu.emit_pipeline(body, grid=(4,), in_specs=[rows(8)], out_specs=[rows(8)])(
            x_ref, o_ref, body_prologue=before)

    def capture():
        return on_hbm(kernel, integers(32, 128), scratch_shapes=[pltpu.VMEM((8, 128), INT)])

    if "0.12" in jax.__version__:
        with pytest.raises(TypeError, match="body_prologue"):
            capture()
    else:
        pipeline_of(capture())


def test_pipelines_by_a_name_that_was_imported():
    signature = inspect.signature(emit_pipeline)
    pipeline_of(with_scratch(emit_pipeline))
    assert inspect.signature(emit_pipeline) == signature


def summed(x_ref, o_ref, *, turns=3, lends=False, where=lambda i, k: (i, 0), zero=False, **cycle):
    """Adds the blocks of a row of x to what o holds, or to zero."""
    def body(x_ref, o_ref):
        @pl.when(pl.program_id(1) == 0)
        def _():
            o_ref[...] = jnp.zeros_like(o_ref)

        o_ref[...] += x_ref[...]

    pipeline, make = pltpu.emit_pipeline_with_allocations(
        body, grid=(4, turns), in_specs=[pl.BlockSpec((8, 128), lambda i, k: (i, k))],
        out_specs=(pl.BlockSpec((8, 128), where),), should_accumulate_out=(True,))

    def run(given):
        pipeline(x_ref, o_ref, allocations=given, init_accumulators=zero, **cycle)

    if lends:
        pl.run_scoped(run, make(x_ref, o_ref))
    else:
        run(None)


def captured_sums(**params):
    def fn(x, start):
        return call(lambda x_ref, _, o_ref: summed(x_ref, o_ref, **params),
                    in_specs=[ANY, ANY], out_specs=ANY, out_shape=like(32, 128, dtype=INT),
                    input_output_aliases={1: 0})(x, start)

    return check(fn, integers(32, 384), integers(32, 128, seed=1), oracle=TPU)


def traffic(kernel, path):
    kernel.save(path)
    done = subprocess.run([PALLASCOPE, "run", path, "--json"], capture_output=True, text=True,
                          check=True)
    report = json.loads(done.stdout)
    return (report["hbm_read_bytes"], report["hbm_write_bytes"],
            sum(row["copies"] for row in report["traffic"]))


needs_sums = pytest.mark.skipif(not IS_09, reason="JAX 0.9 alone has outputs that accumulate")


@needs_sums
@pytest.mark.parametrize("params", [
    {}, {"lends": True}, {"zero": True}, {"zero": True, "lends": True, "schedule": "fixed"},
    {"where": lambda i, k: (0, 0)}, {"where": lambda i, k: (i // 2, 0)},
    {"where": lambda i, k: (i % 2, 0)}, {"turns": 1, "zero": True}])
def test_outputs_that_accumulate_copy_as_jax_does(params, tmp_path, monkeypatch):
    whole = captured_sums(**params)
    reads = pipeline_of(whole)["params"]["specs"][1]["direction"]
    assert reads == ("out" if params.get("zero") else "inout")
    monkeypatch.setattr(tracing, "PIPELINE_FORMS", (False,))
    parts = captured_sums(**params)
    assert "'op': 'pipeline'" not in str(parts.document)
    assert traffic(whole, tmp_path / "a.pallascope") == traffic(parts, tmp_path / "b.pallascope")


def read_too(x_ref, _, o_ref, *, grid, where, counts=2, **params):
    """Adds blocks of x to what o holds; the blocks of o are fetched and written."""
    def body(x_ref, o_ref):
        o_ref[...] += x_ref[...]

    specs = [pl.BlockSpec((8, 128), lambda i, k: (i, k)), pl.BlockSpec((8, 128), where)]
    buffers = (pltpu.BufferedRef.input(specs[0], INT),
               pltpu.BufferedRef.input_output(specs[1], INT, counts))

    def run(given):
        pltpu.emit_pipeline(body, grid=grid, in_specs=specs[:1], out_specs=specs[1:])(
            x_ref, o_ref, allocations=given, **params)

    pl.run_scoped(run, buffers)


@pytest.mark.parametrize("params", [
    {"grid": (4, 3), "where": lambda i, k: (i, 0)},
    {"grid": (4, 3), "where": lambda i, k: (i // 2, 0)},
    {"grid": (1, 3), "where": lambda i, k: (2, 0)},
    {"grid": (4, 1), "where": lambda i, k: (i, 0), "counts": (2, 2)},
    {"grid": (4, 3), "where": lambda i, k: (i, 0), "counts": (3, 2)}])
def test_outputs_that_are_read_too_copy_as_in_jax(params, tmp_path, monkeypatch):
    if "counts" in params and "0.12" not in jax.__version__:
        pytest.skip("from JAX 0.12 on")

    def captured():
        def fn(x, start):
            return call(functools.partial(read_too, **params), in_specs=[ANY, ANY], out_specs=ANY,
                        out_shape=like(32, 128, dtype=INT), input_output_aliases={1: 0})(x, start)

        return check(fn, integers(32, 384), integers(32, 128, seed=1), oracle=TPU)

    whole = captured()
    assert pipeline_of(whole)["params"]["specs"][1]["direction"] == "inout"
    monkeypatch.setattr(tracing, "PIPELINE_FORMS", (False,))
    parts = captured()
    assert "'op': 'pipeline'" not in str(parts.document)
    assert traffic(whole, tmp_path / "a.pallascope") == traffic(parts, tmp_path / "b.pallascope")


@needs_sums
@pytest.mark.parametrize("cycle", [{"prefetch": lambda *_: None}, {"postyeet": lambda *_: None},
                                   {"last_cycle": np.bool_(True)}, {"schedule": {}}])
def test_a_pipeline_that_is_one_of_several_is_taken_apart(cycle):
    if "schedule" in cycle:
        default = pltpu.get_pipeline_schedule("default")
        cycle = {"schedule": default | {"wait_out": lambda *of: default["wait_out"](*of)}}
    assert "'op': 'pipeline'" not in str(captured_sums(**cycle).document)


@pytest.mark.skipif(IS_09, reason="JAX 0.9 has them")
def test_outputs_that_accumulate_are_refused_by_other_jax():
    def kernel(x_ref, o_ref):
        pltpu.emit_pipeline(lambda *_: None, grid=(4,), in_specs=[rows(8)], out_specs=[rows(8)],
                            should_accumulate_out=True)(x_ref, o_ref)

    with pytest.raises(TypeError, match="should_accumulate_out"):
        on_hbm(kernel, integers(32, 128))


needs_indices = pytest.mark.skipif(
    "_explicit_indices" not in inspect.signature(pltpu.emit_pipeline).parameters,
    reason="this JAX has no such parameter")


@needs_indices
def test_a_pipeline_whose_body_gets_its_indices():
    def body(step, x_ref, o_ref):  # an object from JAX 0.12 on
        i, j = step if isinstance(step, tuple) else step.index
        number = 3 * i + j if isinstance(step, tuple) else step.local_index
        o_ref[...] = x_ref[...] + 100 * i + 10 * j + number

    def kernel(x_ref, o_ref):
        pltpu.emit_pipeline(
            body, grid=(2, 3), in_specs=[pl.BlockSpec((8, 128), lambda i, j: (i, j))],
            out_specs=[pl.BlockSpec((8, 128), lambda i, j: (i, j))],
            _explicit_indices=True)(x_ref, o_ref)

    found = pipeline_of(on_hbm(kernel, integers(16, 384), out=(16, 384)))
    assert [spec["name"] for spec in found["params"]["specs"]] == ["x_ref", "o_ref"]


@needs_indices
def test_the_grid_of_a_body_that_gets_its_indices_is_the_one_around():
    def kernel(x_ref, o_ref):
        def body(step, x_ref, o_ref):
            o_ref[...] = x_ref[...] + pl.program_id(0)

        pltpu.emit_pipeline(body, grid=(4,), in_specs=[rows(8)], out_specs=[rows(8)],
                            _explicit_indices=True)(x_ref, o_ref)

    def fn(x):
        return call(kernel, grid=(3,), in_specs=[ANY], out_specs=ANY,
                    out_shape=like(32, 128, dtype=INT))(x)

    check(fn, integers(32, 128), oracle=TPU)


@needs_indices
@pytest.mark.parametrize("rows_of_blocks", [4, 5])
def test_the_indices_on_one_of_two_cores_are_those_of_the_whole_grid(rows_of_blocks):
    def body(step, x_ref, o_ref):
        index, number = (step, 0) if isinstance(step, tuple) else (step.index, step.local_index)
        o_ref[...] = x_ref[...] + 100 * index[0] + number

    def fn(x):
        @on_mesh(tensor_cores(2), like(*x.shape, dtype=INT))
        def kernel(x_ref, o_ref):
            blocks = pl.BlockSpec((8, 128), lambda i, j: (i, j))
            pltpu.emit_pipeline(
                body, grid=(rows_of_blocks, 3), in_specs=[blocks], out_specs=blocks,
                core_axis_name="core", dimension_semantics=(pltpu.PARALLEL, pltpu.ARBITRARY),
                _explicit_indices=True)(x_ref, o_ref)

        return kernel(x)

    x = integers(8 * rows_of_blocks, 384)
    i, j = np.repeat(np.arange(rows_of_blocks, dtype=np.int32), 8)[:, None], np.repeat(
        np.arange(3, dtype=np.int32), 128)
    first = -(-rows_of_blocks // 2)  # rows of the first core
    counts = hasattr(mosaic_pipeline, "PipelineStep")  # whether the steps of each core are counted
    number = 3 * np.where(i < first, i, i - first) + j if counts else 0
    kernel = check(fn, x, wanted=x + 100 * i + number, chip="tpu_v5p")
    assert "'op': 'pipeline'" in str(kernel.document) or rows_of_blocks == 5
