"""emit_pipeline with blocks whose rows an index map lists: inputs are gathered and outputs
scattered."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from support import call, check, integers, like, pallascope, pl, pltpu, run
from test_pipelines import pipeline_of

pytestmark = pytest.mark.skipif(not hasattr(pl, "Indirect"), reason="JAX before 0.10.2")
INT = jnp.int32
ANY = pl.BlockSpec(memory_space=pl.ANY)
SMEM = pl.BlockSpec(memory_space=pltpu.SMEM)
VMEM = pl.BlockSpec(memory_space=pltpu.VMEM)
LIST = np.array([3, 1, 1, 31, 0, 9, 8, 7, 5, 5, 5, 5, 2, 2, 30, 29], np.int32)


def body(x_ref, o_ref):
    o_ref[...] = x_ref[...] + 1


def rows(size):
    return pl.BlockSpec((size, 128), lambda i: (i, 0))


def listed(i_ref, size, **mode):
    return pl.BlockSpec((pl.Indirect(size), 128), lambda i: (i_ref[pl.ds(i * size, size)], 0),
                        **mode)


def gather(spec, size=8, out=(16, 128), space=SMEM, block=None, grid=(2,)):
    """Returns the function. `spec` is called with the ref of the list."""
    def kernel(i_ref, x_ref, o_ref):
        pltpu.emit_pipeline(body, grid=grid, in_specs=[spec(i_ref)],
                            out_specs=[block or rows(size)])(x_ref, o_ref)

    def fn(indices, x):
        return call(kernel, in_specs=[space, ANY], out_specs=ANY,
                    out_shape=like(*out, dtype=INT))(indices, x)

    return fn


@pytest.mark.parametrize("space", [SMEM, VMEM])
def test_rows_by_a_list_in_memory(space):
    x = integers(32, 128)
    kernel = check(gather(lambda i_ref: listed(i_ref, 8), space=space), LIST, x)
    found = pipeline_of(kernel)
    assert found["params"]["origin"] == "emit_pipeline"
    assert found["params"]["specs"][0]["block"][0] == {"size": 8, "kind": "indirect"}
    np.testing.assert_array_equal(run(kernel)[0], x[LIST] + 1)


def test_one_buffer():
    mode = pl.Buffered(1)
    check(gather(lambda i_ref: listed(i_ref, 8, pipeline_mode=mode)), LIST, integers(32, 128))


def test_indices_that_the_map_computes():
    def spec(i_ref):
        def index_map(i):
            found = i_ref[pl.ds(i * 8, 8)]
            return jnp.where(found > 4, lax_half(found), jnp.arange(8) + i), 0

        return pl.BlockSpec((pl.Indirect(8), 128), index_map)

    def lax_half(found):
        return jax.lax.shift_right_logical(found, 1)

    check(gather(spec), LIST, integers(32, 128))


def test_a_list_without_memory():
    check(gather(lambda _: pl.BlockSpec((pl.Indirect(8), 128),
                                        lambda i: (jax.lax.iota(INT, 8) * 3 + i, 0))),
          LIST, integers(32, 128))


def test_the_lanes_of_a_block():
    check(gather(lambda i_ref: pl.BlockSpec((8, pl.Indirect(8)),
                                            lambda i: (i, i_ref[pl.ds(i * 8, 8)])),
                 out=(16, 8), block=pl.BlockSpec((8, 8), lambda i: (i, 0))),
          LIST, integers(16, 128))


def test_rows_of_a_plane():
    check(gather(lambda i_ref: pl.BlockSpec((pl.Squeezed(), pl.Indirect(4), 128),
                                            lambda i: (i, i_ref[pl.ds(i * 4, 4)] % 8, 0)),
                 size=4, out=(8, 128)),
          LIST, integers(4, 8, 128))


def scatter(**mode):
    def kernel(i_ref, x_ref, o_ref):
        pltpu.emit_pipeline(body, grid=(2,), in_specs=[rows(8)],
                            out_specs=[listed(i_ref, 8, **mode)])(x_ref, o_ref)

    def fn(indices, x, old):
        return call(kernel_over_old(kernel), in_specs=[SMEM, ANY, ANY], out_specs=ANY,
                    out_shape=like(32, 128, dtype=INT), input_output_aliases={2: 0})(
                        indices, x, old)

    return fn


def kernel_over_old(kernel):
    return lambda i_ref, x_ref, _, o_ref: kernel(i_ref, x_ref, o_ref)


def test_rows_are_scattered_over_what_was_there():
    order = np.random.default_rng(0).permutation(32)[:16].astype(np.int32)
    x, old = integers(16, 128), integers(32, 128, seed=1)
    (found,) = run(check(scatter(), order, x, old))
    wanted = old.copy()
    wanted[order] = x + 1
    np.testing.assert_array_equal(found, wanted)


def test_the_last_of_equal_rows_is_kept():
    indices = np.array([3, 1, 3, 31, 0, 9, 3, 7, 5, 6, 5, 4, 2, 2, 30, 29], np.int32)
    check(scatter(), indices, integers(16, 128), integers(32, 128, seed=1))


def test_gathered_rows_are_scattered_again():
    def kernel(i_ref, x_ref, o_ref):
        pltpu.emit_pipeline(body, grid=(4,), in_specs=[listed(i_ref, 8)],
                            out_specs=[listed(i_ref, 8)])(x_ref, o_ref)

    def fn(indices, x):
        return call(kernel, in_specs=[SMEM, ANY], out_specs=ANY,
                    out_shape=like(32, 128, dtype=INT))(indices, x)

    order = np.random.default_rng(1).permutation(32).astype(np.int32)
    check(fn, order, integers(32, 128))


def test_lists_shorter_than_their_block():
    """The rest of an input's block is not fetched, and that of an output's block is not written."""
    def gathering(i_ref, x_ref, o_ref):
        def body(x_ref, o_ref):
            o_ref[...] = x_ref[:4] + 1

        few = pl.BlockSpec((pl.Indirect(8), 128), lambda i: (i_ref[pl.ds(i * 4, 4)], 0))
        pltpu.emit_pipeline(body, grid=(4,), in_specs=[few], out_specs=[rows(4)])(x_ref, o_ref)

    def scattering(i_ref, x_ref, o_ref):
        few = pl.BlockSpec((pl.Indirect(8), 128), lambda i: (i_ref[pl.ds(i * 5, 5)], 0))
        pltpu.emit_pipeline(body, grid=(2,), in_specs=[rows(8)], out_specs=[few])(x_ref, o_ref)

    def fn(indices, x, old):
        gathered = call(gathering, in_specs=[SMEM, ANY], out_specs=ANY,
                        out_shape=like(16, 128, dtype=INT))(indices, x)
        return gathered, call(kernel_over_old(scattering), in_specs=[SMEM, ANY, ANY],
                              out_specs=ANY, out_shape=like(32, 128, dtype=INT),
                              input_output_aliases={2: 0})(indices, gathered, old)

    indices = np.random.default_rng(2).permutation(32)[:16].astype(np.int32)
    x, old = integers(32, 128), integers(32, 128, seed=1)
    gathered, scattered = run(check(fn, indices, x, old))
    np.testing.assert_array_equal(gathered, x[indices] + 1)
    wanted = old.copy()
    wanted[indices[:10]] = gathered[[0, 1, 2, 3, 4, 8, 9, 10, 11, 12]] + 1
    np.testing.assert_array_equal(scattered, wanted)


def test_lists_longer_than_their_block_are_refused():
    fn = gather(lambda i_ref: pl.BlockSpec((pl.Indirect(4), 128),
                                           lambda i: (i_ref[pl.ds(i * 4, 8)], 0)),
                size=4, out=(8, 128))
    # JAX 0.12 refuses this itself.
    with pytest.raises((pallascope.UnsupportedError, ValueError),
                       match=r"Indirect block of 4 .* of shape \(8,\)|Out of bound slice"):
        pallascope.capture(fn, LIST, integers(32, 128))
