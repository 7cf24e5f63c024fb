"""Prints and checks in kernels, and what JAX would say about them for a TPU."""

import json
import subprocess

import jax
import jax.numpy as jnp
import pytest
from support import PALLASCOPE, integers, like, normal, pallascope, pipeline_of, pl, pltpu


def ran(fn, *args, tmp_path, expect=0):
    pallascope.capture(fn, *args).save(tmp_path / "k.pallascope")
    done = subprocess.run([PALLASCOPE, "run", tmp_path / "k.pallascope"], capture_output=True,
                          text=True, timeout=120, check=False)
    assert done.returncode == expect, done.stdout + done.stderr
    return done


def called(kernel, **options):
    def fn(x):
        return pl.pallas_call(kernel, out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype),
                              **options)(x)

    return fn


def test_prints_go_to_standard_error(tmp_path):
    def kernel(x_ref, o_ref):
        x = x_ref[...]
        pl.debug_print("first {} of step {}", x[0, 0], pl.program_id(0))
        pl.debug_print("some", x[0, :2])
        pl.debug_print("done")
        o_ref[...] = x

    block = pl.BlockSpec((8, 128), lambda i: (i, 0))
    done = ran(called(kernel, grid=(2,), in_specs=[block], out_specs=block),
               jnp.arange(2048, dtype=jnp.int32).reshape(16, 128), tmp_path=tmp_path)
    assert done.stderr.splitlines() == [
        "first 0 of step 0", "some [0 1]", "done", "first 1024 of step 1", "some [1024 1025]",
        "done"]


def test_prints_name_what_they_print(tmp_path):
    def kernel(x_ref, o_ref):
        jax.debug.print("{b} before {a:.3}", a=x_ref[0, 0], b=x_ref[0, 1])
        o_ref[...] = x_ref[...]

    done = ran(called(kernel), jnp.arange(1024.0).reshape(8, 128), tmp_path=tmp_path)
    assert done.stderr == "1 before 0\n"


@pytest.mark.skipif(not hasattr(pltpu, "trace_value"), reason="JAX 0.10 brought it")
def test_prints_and_traced_values_are_in_the_trace(tmp_path):
    def kernel(x_ref, o_ref):
        x = x_ref[...]
        pl.debug_print("first {}", x[0, 0])
        pltpu.trace_value("the {sum}", jnp.sum(x))
        o_ref[...] = x

    block = pl.BlockSpec((8, 128), lambda i: (i, 0))
    fn = called(kernel, grid=(2,), in_specs=[block], out_specs=block)
    pallascope.capture(fn, jnp.arange(2048, dtype=jnp.int32).reshape(16, 128)).save(
        tmp_path / "k.pallascope")
    trace = tmp_path / "k.trace.json"
    shown = subprocess.run([PALLASCOPE, "run", tmp_path / "k.pallascope", "--trace", trace,
                            "--json"], capture_output=True, text=True, timeout=120, check=True)
    info = json.loads(trace.read_text())["pallascope"]["info"]
    sums = [sum(range(1024)), sum(range(1024, 2048))]
    assert [(line["text"], line["step"], line["agent"]) for line in info["prints"]] == [
        ("first 0", 0, 0), (f"the {{sum}} = {sums[0]}", 0, 0),
        ("first 1024", 1, 0), (f"the {{sum}} = {sums[1]}", 1, 0)]
    source = info["prints"][1]["source"]
    lines = info["sources"][source["file"]]["text"].splitlines()
    assert "trace_value" in lines[source["line"] - 1]
    times = [line["time_ps"] for line in info["prints"]]
    assert 0 < times[0] <= times[1] < times[2] <= times[3]
    again = subprocess.run([PALLASCOPE, "report", trace, "--json"], capture_output=True, text=True,
                           timeout=120, check=True)
    for report in (json.loads(shown.stdout), json.loads(again.stdout)):
        assert (report["prints"], report["prints_kept"]) == (4, 4)


def test_a_check_that_does_not_hold_is_a_finding(tmp_path):
    def kernel(x_ref, o_ref):
        pl.debug_check(x_ref[0, 0] < 5, "the first is too large")
        o_ref[...] = x_ref[...]

    with pl.enable_debug_checks(True):
        done = ran(called(kernel), jnp.full((8, 128), 7), tmp_path=tmp_path, expect=1)
        assert "finding check_failed: the first is too large" in done.stdout
        assert "test_debug.py:" in done.stdout
        ran(called(kernel), jnp.full((8, 128), 3), tmp_path=tmp_path)


def verdict(fn, *args, **options):
    return pallascope.capture(fn, *args, **options).document["lowering"]


def test_jax_takes_a_kernel_or_says_why_not():
    def copies(x_ref, o_ref):
        o_ref[...] = x_ref[...]

    def sums(x_ref, o_ref):
        o_ref[...] = jnp.cumsum(x_ref[...], axis=1)

    assert verdict(called(copies), normal(8, 128)) == {"accepted": "yes"}
    refused = verdict(called(sums), normal(8, 128))
    assert refused["accepted"] == "no"
    assert refused["reason"].startswith("Unimplemented primitive in Pallas TPU lowering")
    assert refused["reason"].endswith("cumsum.")
    block = pl.BlockSpec((3, 128), lambda i: (i, 0))
    refused = verdict(called(copies, grid=(2,), in_specs=[block], out_specs=block), normal(6, 128))
    assert refused["accepted"] == "no" and "divisible by 8 and 128" in refused["reason"]


def test_nothing_is_known_of_a_kernel_that_is_to_be_interpreted():
    def kernel(x_ref, o_ref):
        o_ref[...] = x_ref[...]

    asked = verdict(called(kernel, interpret=True), normal(8, 128))
    assert asked == {"reason": "the function asks JAX to interpret a kernel"}


def test_the_verdict_is_printed_beside_that_of_the_run(tmp_path):
    def kernel(x_ref, o_ref):
        o_ref[...] = jnp.cumsum(x_ref[...], axis=1)

    done = ran(called(kernel), integers(8, 128), tmp_path=tmp_path)  # it runs here
    said = "JAX's own lowering does not accept it: Unimplemented primitive in Pallas TPU lowering"
    assert said in done.stdout
    trace = tmp_path / "k.trace.json"
    for command in (["run", tmp_path / "k.pallascope", "--trace", trace, "--json"],
                    ["report", trace, "--json"]):
        report = json.loads(subprocess.run([PALLASCOPE, *command], text=True, capture_output=True,
                                           check=True).stdout)
        assert report["jax_accepts"] == "no"
        assert report["jax_reason"].startswith("Unimplemented primitive in Pallas TPU lowering")
    assert said in subprocess.run([PALLASCOPE, "report", trace], text=True, capture_output=True,
                                  check=True).stdout
    for command in (["print"], ["describe"], ["describe", "--json"]):
        shown = subprocess.run([PALLASCOPE, *command, tmp_path / "k.pallascope"], text=True,
                               capture_output=True, check=True).stdout
        assert ('"jax_accepts": "no"' if "--json" in command else said) in shown


def test_what_a_kernel_asks_of_the_compiler():
    def kernel(x_ref, o_ref):
        o_ref[...] = x_ref[...]

    asked = pltpu.CompilerParams(dimension_semantics=("parallel",), vmem_limit_bytes=2**20,
                                 has_side_effects=True, allow_input_fusion=[True])
    block = pl.BlockSpec((8, 128), lambda i: (i, 0))
    document = pallascope.capture(
        called(kernel, name="copies", grid=(2,), in_specs=[block], out_specs=block,
               compiler_params=asked), normal(16, 128)).document
    assert document["compiler_params"] == [{
        "kernel": "copies", "vmem_limit_bytes": 2**20, "dimension_semantics": ["parallel"],
        "allow_input_fusion": [0], "has_side_effects": True}]


def add(x, rows, scale):
    def kernel(x_ref, o_ref):
        o_ref[...] = x_ref[...] * scale

    block = pl.BlockSpec((rows, 128), lambda i: (i, 0))
    return pl.pallas_call(kernel, grid=(x.shape[0] // rows,), in_specs=[block], out_specs=block,
                          out_shape=x)(x)


def test_many_configurations():
    kernels = pallascope.capture_many(
        add, [{"rows": rows, "scale": 2.0} for rows in (8, 16)], like(32, 128), chip="tpu_v6e")
    assert list(kernels) == ["rows=8 scale=2.0", "rows=16 scale=2.0"]
    grids = [pipeline_of(kernel)["params"]["grid"] for kernel in kernels.values()]
    assert grids == [[4], [2]]
    assert kernels["rows=8 scale=2.0"].name == "add rows=8 scale=2.0"


def test_an_error_names_its_configuration():
    with pytest.raises(ZeroDivisionError) as caught:
        pallascope.capture_many(add, [{"rows": 8, "scale": 1.0}, {"rows": 0, "scale": 1.0}],
                                like(32, 128))
    assert "This is of the configuration rows=0 scale=1.0." in caught.value.__notes__
