"""What cannot be captured must be named, all of it at once, with the author's lines."""

import inspect
import re

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax
from support import call, integers, like, normal, pallascope, pl, pltpu, run


def line_of(function, text):
    """Returns the line in this file where the function has the text."""
    lines, first = inspect.getsourcelines(function)
    return first + next(n for n, line in enumerate(lines) if text in line)


def refused(fn, *args):
    with pytest.raises(pallascope.UnsupportedError) as caught:
        pallascope.capture(fn, *args)
    return caught.value


def test_everything_that_is_not_supported_is_named_with_its_line():
    def kernel(x_ref, o_ref):
        x = lax.zeta(x_ref[...], 2.0)
        y = lax.polygamma(1.0, x)

        @pl.when(x[0, 0] > 0)
        def _():
            o_ref[...] = lax.zeta(y, 3.0)

    error = refused(lambda x: call(kernel, out_shape=like(8, 128))(x), normal(8, 128))
    found = [(problem.what, problem.line) for problem in error.problems]
    assert found == [("primitive zeta", line_of(kernel, "zeta(x")),
                     ("primitive polygamma", line_of(kernel, "polygamma")),
                     ("primitive zeta", line_of(kernel, "zeta(y"))]
    assert all(problem.file.endswith("test_errors.py") for problem in error.problems)
    assert str(error).count("\n") == 3
    assert re.search(r"test_errors.py:\d+ \(.*kernel\): primitive zeta", str(error))


def test_codes_are_converted_before_they_are_computed_with():
    def kernel(x_ref, o_ref):
        codes = x_ref[...].astype(jnp.float8_e8m0fnu)
        o_ref[...] = jnp.dot(codes, codes.T, preferred_element_type=jnp.float32)
        o_ref[...] = jnp.sort(codes).astype(jnp.float32)

    error = refused(lambda x: call(kernel, out_shape=like(128, 128))(x), normal(128, 128))
    rest = " of float8_e8m0fnu, which can be moved and converted only: convert it first"
    assert [problem.what for problem in error.problems] == ["dot_general" + rest,
                                                            "sort" + rest]


def test_the_same_line_is_named_once():
    def kernel(x_ref, o_ref):
        for _ in range(3):
            o_ref[...] = lax.zeta(x_ref[...], 2.0)

    error = refused(lambda x: call(kernel, out_shape=like(8, 128))(x), normal(8, 128))
    assert len(error.problems) == 1


def test_operations_around_kernels_are_named_too():
    def kernel(x_ref, o_ref):
        o_ref[...] = x_ref[...]

    def fn(x):
        return lax.polygamma(1.0, call(kernel, out_shape=like(8, 128))(lax.zeta(x, 2.0)))

    problems = refused(fn, normal(8, 128)).problems
    assert [problem.what for problem in problems] == ["primitive zeta", "primitive polygamma"]
    assert {problem.line for problem in problems} == {line_of(fn, "lax.polygamma(1.0, call")}


def test_dtypes_that_the_format_lacks():
    def kernel(x_ref, o_ref):
        o_ref[...] = x_ref[...].astype(jnp.float8_e3m4).astype(jnp.float32)

    error = refused(lambda x: call(kernel, out_shape=like(8, 128))(x), normal(8, 128))
    assert "dtype float8_e3m4" in str(error)


def test_a_dtype_that_the_format_lacks_is_named_once():
    def kernel(x_ref, o_ref):
        o_ref[...] = x_ref[...].astype(jnp.float8_e3m4).astype(jnp.float32)

    def fn(x):
        return call(kernel, out_shape=like(8, 128))(x) + x.astype(jnp.float8_e3m4).astype(x.dtype)

    problems = refused(fn, normal(8, 128)).problems
    assert [(problem.what, problem.line) for problem in problems] == [
        ("dtype float8_e3m4", line_of(kernel, "e3m4")), ("dtype float8_e3m4", line_of(fn, "e3m4"))]


def test_arguments_of_dtypes_that_the_format_lacks():
    def kernel(x_ref, o_ref):
        o_ref[...] = x_ref[...]

    def of_kernel(x):
        return call(kernel, out_shape=like(8, 128, dtype=x.dtype))(x)

    error = refused(of_kernel, like(8, 128, dtype=np.complex64))
    assert [problem.what for problem in error.problems] == [
        "complex numbers (complex64): use two arrays of floats"]
    error = refused(lambda x, other: of_kernel(x), normal(8, 128), like(8, dtype=jnp.float8_e3m4))
    assert [str(problem) for problem in error.problems] == ["dtype float8_e3m4, of other"]


def test_a_refusal_of_jax_without_a_text_has_its_type():
    def kernel(x_ref, o_ref):
        o_ref[...] = pltpu.load(x_ref, mask=x_ref[...] > 0)

    found = pallascope.capture(pl.pallas_call(kernel, out_shape=like(8, 128)), normal(8, 128))
    assert found.document["lowering"] == {"accepted": "no",
                                          "reason": "NotImplementedError without a text."}


def test_indices_that_are_arrays():
    def kernel(i_ref, x_ref, o_ref):
        o_ref[...] = x_ref[i_ref[0, :8]]

    error = refused(lambda i, x: call(kernel, out_shape=like(8, 128))(i, x),
                    integers(8, 128, least=0, most=7), normal(8, 128))
    assert "indices that are arrays" in str(error)


def test_what_works_in_the_array_of_a_kernel_that_is_not_supported():
    def fn(x):
        def kernel(x_ref, o_ref):
            o_ref[...] = lax.zeta(x_ref[...], 2.0)

        mesh = pl.BlockSpec((8, 128), lambda: (lax.while_loop(lambda i: i > 0, lambda i: i, 0), 0))
        made = call(kernel, like(8, 128), in_specs=[mesh])(x)
        return call(kernel, like(8, 128), input_output_aliases={0: 0})(made)

    assert "zeta" in str(refused(fn, normal(8, 128)))


def test_an_unknown_chip():
    with pytest.raises(ValueError, match="tpu_v9.*tpu_v5e"):
        pallascope.capture(lambda x: x, normal(8, 128), chip="tpu_v9")


@pytest.mark.skipif(jax.__version_info__ >= (0, 12), reason="this JAX has them")
def test_kernels_for_a_gpu_need_a_later_jax():
    with pytest.raises(ValueError, match="captured from JAX 0.12 on; this is JAX"):
        pallascope.capture(lambda x: x, normal(8, 128), chip="h100")


def test_errors_of_tracing_are_those_of_jax():
    def kernel(x_ref, o_ref):
        o_ref[...] = x_ref[...][:4]

    with pytest.raises(ValueError, match="[Ss]hape"):
        pallascope.capture(lambda x: call(kernel, out_shape=like(8, 128))(x), normal(8, 128))


@pytest.mark.skipif(jax.__version_info__ < (0, 10, 1), reason="another error in older versions")
def test_errors_of_pipelines_that_are_taken_apart_are_those_of_jax():
    def kernel(x_ref, o_ref):
        def body(a_ref, b_ref):
            b_ref[...] = a_ref[...]

        rows = [pl.BlockSpec((8, 128), lambda i: (i, 0))]
        pipeline, allocate = pltpu.emit_pipeline_with_allocations(
            body, grid=(4,), in_specs=rows, out_specs=rows)
        pl.run_scoped(lambda buffers: pipeline(x_ref, o_ref, allocations=buffers, no_such=1),
                      allocate(x_ref, o_ref))

    def fn(x):
        hbm = pl.BlockSpec(memory_space=pl.ANY)
        return call(kernel, like(32, 128), in_specs=[hbm], out_specs=hbm)(x)

    with pytest.raises(TypeError, match="no_such"):
        pallascope.capture(fn, normal(32, 128))


def test_jax_is_left_as_it_was():
    before = jax.config.values.copy()
    refused(lambda x: lax.zeta(x, 2.0), normal(8, 128))
    assert jax.config.values == before


def test_what_the_format_refuses_is_at_the_line():
    def kernel(x_ref, o_ref, half_ref, sem_ref):
        pltpu.sync_copy(x_ref, half_ref)
        o_ref[...] = half_ref[...].astype(jnp.float32)

    def fn(x):
        return call(kernel, like(8, 128), in_specs=[pl.BlockSpec(memory_space=pl.ANY)],
                    scratch_shapes=[pltpu.VMEM((8, 128), jnp.bfloat16),
                                    pltpu.SemaphoreType.DMA])(x)

    line = line_of(kernel, "sync_copy")
    with pytest.raises(AssertionError, match=rf"test_errors.py:{line}\): dma_start copies"):
        run(pallascope.capture(fn, normal(8, 128)))


def test_results_without_elements():
    error = refused(lambda x: (call(lambda x_ref, o_ref: o_ref.__setitem__(..., x_ref[...]),
                                    out_shape=like(8, 128))(x), x[:0]), normal(8, 128))
    assert [problem.what for problem in error.problems] == [
        "an array without elements: (0, 128), that the function returns"]


def test_of_what_jax_lowers_as_others_the_name_is_said():
    error = refused(lambda x: jnp.linalg.qr(call(lambda x_ref, o_ref: o_ref.__setitem__(
        ..., x_ref[...]), out_shape=like(8, 128))(x)), normal(8, 128))
    assert [problem.what for problem in error.problems] == ["primitive qr"]
