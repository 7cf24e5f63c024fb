"""What capture accepts, run can run. What the program does not accept is refused when it is
captured."""

import os
import subprocess
import sys

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax
from support import normal, pallascope, pl, pltpu, run

ROWS = 64


def _doubles(first):
    """Returns a body with a pipeline whose index maps call `first` to know which part they are in.
    """
    def kernel(x_ref, o_ref):
        def body(a_ref, b_ref):
            b_ref[...] = a_ref[...] * 2

        half = ROWS // 16
        rows = pl.BlockSpec((8, 128), lambda i: (i + first() * half, 0))
        pltpu.emit_pipeline(body, grid=(half,), in_specs=[rows], out_specs=[rows])(x_ref, o_ref)
    return kernel


def test_an_index_map_of_a_pipeline_asks_where_the_kernel_is():
    anywhere = pl.BlockSpec(memory_space=pl.ANY)
    x = normal(ROWS, 128)
    call = pl.pallas_call(_doubles(lambda: pl.program_id(0)), grid=(2,), in_specs=[anywhere],
                          out_specs=anywhere, out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype))
    results = run(pallascope.capture(call, x))
    np.testing.assert_array_equal(results[0], x * 2)


def test_an_index_map_of_a_pipeline_asks_which_core_it_is_on():
    x = normal(ROWS, 128)

    def fn(x):
        mesh = pltpu.create_tensorcore_mesh("core", num_cores=2)
        body = _doubles(lambda: lax.axis_index("core"))
        out = jax.ShapeDtypeStruct(x.shape, x.dtype)
        try:
            return pl.kernel(body, out_type=out, mesh=mesh)(x)
        except TypeError:  # up to JAX 0.9
            return pl.kernel(body, out_shape=out, mesh=mesh)(x)

    results = run(pallascope.capture(fn, x, chip="tpu_v5p", cores=2))
    np.testing.assert_array_equal(results[0], x * 2)


@pytest.mark.parametrize("loop", ["carry", "rows"])
def test_a_loop_of_no_round(loop):
    def kernel(x_ref, o_ref):
        rows = None if loop == "carry" else jnp.zeros((0, 128), jnp.float32)
        step = (lambda c, _: (c + 1., None)) if loop == "carry" else lambda c, row: (c + row, None)
        o_ref[...] = x_ref[...] + lax.scan(step, x_ref[0], rows, length=0)[0]

    x = normal(8, 128)
    call = pl.pallas_call(kernel, out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype))
    results = run(pallascope.capture(call, x))
    np.testing.assert_array_equal(results[0], x + x[0])


KERNEL = """
import jax
from jax.experimental import pallas as pl

def f(x):
    def kernel(x_ref, o_ref):
        o_ref[...] = x_ref[...]
    block = pl.BlockSpec((1, 8, 128), lambda i: (i, 0, 0))
    return pl.pallas_call(kernel, out_shape=x, grid=(2,), in_specs=[block], out_specs=block)(x)
"""


def _capture(folder, shape, **environment):
    (folder / "k.py").write_text(KERNEL)
    return subprocess.run(
        [sys.executable, "-m", "pallascope", "capture", "k.py:f", "--arg", f"f32[{shape}]", "-o", "k.pallascope"],
        cwd=folder, capture_output=True, text=True, check=False,
        env={**os.environ, "PYTHONPATH": os.path.dirname(os.path.dirname(pallascope.__file__)), **environment})


def test_what_the_program_refuses_is_refused_at_once(tmp_path):
    program = {"PALLASCOPE_PROGRAM": os.environ["PALLASCOPE"]}
    assert _capture(tmp_path, "2,8,128", **program).stdout.endswith("JAX " + jax.__version__ + "\n")
    before = (tmp_path / "k.pallascope").read_bytes()
    done = _capture(tmp_path, "2000000000,2000000000,128", **program)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("pallascope: the program refuses what was captured: k.pallascope: ")
    assert (tmp_path / "k.pallascope").read_bytes() == before
    assert sorted(path.name for path in tmp_path.iterdir() if path.suffix != "") == ["k.pallascope", "k.py"]


def test_without_the_program_that_is_said(tmp_path):
    done = _capture(tmp_path, "2,8,128", PALLASCOPE_PROGRAM="", PATH="/nowhere")
    assert done.returncode == 0
    assert done.stdout.endswith("not checked, as no program pallascope is on PATH\n")
