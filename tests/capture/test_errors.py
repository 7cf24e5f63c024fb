"""What cannot be captured is named, all at once, with the author's lines."""

import inspect
import re

import jax
import jax.numpy as jnp
import pytest
from support import call, integers, like, normal, pallascope, pl, pltpu


def line_of(function, text):
    """The line in this file where the function has the text."""
    lines, first = inspect.getsourcelines(function)
    return first + next(n for n, line in enumerate(lines) if text in line)


def refused(fn, *args):
    with pytest.raises(pallascope.UnsupportedError) as caught:
        pallascope.capture(fn, *args)
    return caught.value


def test_everything_that_is_not_supported_is_named_with_its_line():
    def kernel(x_ref, o_ref):
        x = jnp.cumsum(x_ref[...], axis=1)
        y = jnp.sort(x, axis=1)

        @pl.when(x[0, 0] > 0)
        def _():
            o_ref[...] = jnp.flip(y, axis=0)

    error = refused(lambda x: call(kernel, out_shape=like(8, 128))(x), normal(8, 128))
    found = [(problem.what, problem.line) for problem in error.problems]
    assert found == [("primitive cumsum", line_of(kernel, "cumsum")),
                     ("primitive sort", line_of(kernel, "sort")),
                     ("primitive rev", line_of(kernel, "flip"))]
    assert all(problem.file.endswith("test_errors.py") for problem in error.problems)
    assert str(error).count("\n") == 3
    assert re.search(r"test_errors.py:\d+ \(.*kernel\): primitive cumsum", str(error))


def test_the_same_line_is_named_once():
    def kernel(x_ref, o_ref):
        for _ in range(3):
            o_ref[...] = jnp.cumsum(x_ref[...], axis=1)

    error = refused(lambda x: call(kernel, out_shape=like(8, 128))(x), normal(8, 128))
    assert len(error.problems) == 1


def test_operations_around_kernels_are_named_too():
    def kernel(x_ref, o_ref):
        o_ref[...] = x_ref[...]

    def fn(x):
        return jnp.sort(call(kernel, out_shape=like(8, 128))(jnp.cumsum(x, axis=0)))

    problems = refused(fn, normal(8, 128)).problems
    assert [problem.what for problem in problems] == ["primitive cumsum", "primitive sort"]
    assert {problem.line for problem in problems} == {line_of(fn, "jnp.sort(call")}


def test_a_function_without_a_kernel():
    error = refused(lambda x: x, normal(8, 128))
    assert "no pallas_call" in str(error)


def test_a_result_that_no_kernel_makes():
    def kernel(x_ref, o_ref):
        o_ref[...] = x_ref[...]

    def fn(x):
        return call(kernel, out_shape=like(8, 128))(x), x

    assert "result 1 of the function" in str(refused(fn, normal(8, 128)))


def test_dtypes_that_the_format_lacks():
    def kernel(x_ref, o_ref):
        o_ref[...] = x_ref[...].astype(jnp.float8_e8m0fnu).astype(jnp.float32)

    error = refused(lambda x: call(kernel, out_shape=like(8, 128))(x), normal(8, 128))
    assert "dtype float8_e8m0fnu" in str(error)


def test_indices_that_are_arrays():
    def kernel(i_ref, x_ref, o_ref):
        o_ref[...] = x_ref[i_ref[0, :8]]

    error = refused(lambda i, x: call(kernel, out_shape=like(8, 128))(i, x),
                    integers(8, 128, least=0, most=7), normal(8, 128))
    assert "indices that are arrays" in str(error)


def test_an_unknown_chip():
    with pytest.raises(ValueError, match="tpu_v9.*tpu_v5e"):
        pallascope.capture(lambda x: x, normal(8, 128), chip="tpu_v9")


def test_errors_of_tracing_are_those_of_jax():
    def kernel(x_ref, o_ref):
        o_ref[...] = x_ref[...][:4]

    with pytest.raises(ValueError, match="[Ss]hape"):
        pallascope.capture(lambda x: call(kernel, out_shape=like(8, 128))(x), normal(8, 128))


def test_an_argument_as_array_and_as_scalars():
    def kernel(s_ref, x_ref, o_ref):
        o_ref[...] = x_ref[...] + s_ref[0]

    def fn(s):
        grid = pltpu.PrefetchScalarGridSpec(
            num_scalar_prefetch=1, grid=(1,), in_specs=[pl.BlockSpec((128,), lambda i, s: (0,))],
            out_specs=pl.BlockSpec((128,), lambda i, s: (0,)))
        return call(kernel, grid_spec=grid, out_shape=like(128, dtype=jnp.int32))(s, s)

    # The scalars lie in SMEM, where a copy of blocks would not find them.
    try:
        kernel_file = pallascope.capture(fn, integers(128))
    except pallascope.UnsupportedError as error:
        assert "both" in str(error)
    else:
        assert kernel_file is None


def test_jax_is_left_as_it_was():
    before = jax.config.values.copy()
    refused(lambda x: x, normal(8, 128))
    assert jax.config.values == before
