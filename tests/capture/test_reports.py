"""What reports say of functions with several kernels, or without one."""

import jax
import pytest
from support import call, like, normal, pallascope, pl, pltpu, report

ANY = pl.BlockSpec(memory_space=pl.ANY)
X = normal(512, 256)


def rows(kernel, x, size=64):
    block = pl.BlockSpec((size, x.shape[1]), lambda i: (i, 0))
    return call(kernel, grid=(x.shape[0] // size,), in_specs=[block], out_specs=block,
                out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype))(x)


def scaled(x_ref, o_ref):
    o_ref[...] = x_ref[...] * 2


def squared(x_ref, o_ref):
    o_ref[...] = x_ref[...] * x_ref[...]


def other_names(u_ref, v_ref):
    v_ref[...] = u_ref[...] * u_ref[...]


@pytest.mark.parametrize("second", [scaled, squared, other_names])
def test_each_kernel_moves_its_arrays_once(second):
    found = report(pallascope.capture(lambda x: rows(second, rows(scaled, x)), X))
    one = report(pallascope.capture(lambda x: rows(scaled, x), X))
    assert found["roofline_s"] == pytest.approx(2 * one["roofline_s"], rel=1e-6)
    assert "refetch" not in [part["what"] for part in found["beyond_roofline_s"]]


def test_what_a_kernel_copies_again_is_still_found():
    def again(x):
        return call(scaled, grid=(3, 8), in_specs=[pl.BlockSpec((64, 256), lambda i, j: (j, 0))],
                    out_specs=pl.BlockSpec((64, 256), lambda i, j: (8 * i + j, 0)),
                    out_shape=like(3 * 512, 256))(x)

    found = report(pallascope.capture(lambda x: rows(scaled, again(x)), X))
    assert "refetch" in [part["what"] for part in found["beyond_roofline_s"]]


def by_refs(kernel, shape, **options):
    return call(kernel, in_specs=[ANY], out_specs=ANY, out_shape=like(*shape), **options)


def scale_slice(x_ref, o_ref, number):
    rows = pl.BlockSpec((64, 256), lambda i: (i, 0))
    pltpu.emit_pipeline(scaled, grid=(2,), in_specs=[rows], out_specs=rows)(
        x_ref.at[number], o_ref.at[number])


def unrolled(x_ref, o_ref):
    for number in range(4):
        scale_slice(x_ref, o_ref, number)


def in_a_loop(x_ref, o_ref):
    pl.loop(0, 4)(lambda number: scale_slice(x_ref, o_ref, number))


SLICED = X.reshape(4, 128, 256)


@pytest.mark.parametrize("kernel", [unrolled, in_a_loop])
def test_pipelines_over_slices_move_each_of_them_once(kernel):
    found = report(pallascope.capture(lambda x: by_refs(kernel, x.shape)(x), SLICED))
    assert "refetch" not in [part["what"] for part in found["beyond_roofline_s"]]
    assert [row["refetch_factor"] for row in found["traffic"]] == [1.0] * len(found["traffic"])


def test_a_slice_that_is_copied_again_is_found():
    def kernel(x_ref, o_ref):
        pltpu.emit_pipeline(
            scaled, grid=(3, 2), in_specs=[pl.BlockSpec((64, 256), lambda i, j: (j, 0))],
            out_specs=pl.BlockSpec((64, 256), lambda i, j: (2 * i + j, 0)))(x_ref.at[1], o_ref)

    found = report(pallascope.capture(lambda x: by_refs(kernel, (384, 256))(x), SLICED))
    assert {row["operand"]: row["refetch_factor"] for row in found["traffic"]} == {
        "x_ref": 3, "o_ref": 1}


def by_hand(x):
    def kernel(x_ref, o_ref, block, sem):
        @pl.loop(0, 8)
        def _(i):
            part = pl.ds(pl.multiple_of(i * 64, 64), 64)
            pltpu.async_copy(x_ref.at[part], block, sem).wait()
            block[...] = block[...] * 2
            pltpu.async_copy(block, o_ref.at[part], sem).wait()

    return by_refs(kernel, x.shape, scratch_shapes=[
        pltpu.VMEM((64, 256), x.dtype), pltpu.SemaphoreType.DMA])(x)


def test_copies_by_hand_of_two_kernels_have_arrays_of_their_own():
    found = report(pallascope.capture(lambda x: by_hand(by_hand(x)), X))
    assert found["roofline_s"] == pytest.approx(
        2 * report(pallascope.capture(by_hand, X))["roofline_s"], rel=1e-6)
    assert "refetch" not in [part["what"] for part in found["beyond_roofline_s"]]


@pytest.mark.parametrize("kernel", [lambda x: rows(scaled, x), by_hand])
def test_each_launch_of_a_kernel_in_a_loop_moves_its_arrays_once(kernel):
    def in_a_loop(x):
        return jax.lax.fori_loop(0, 2, lambda _, carried: kernel(carried), x)

    def unrolled(x):
        return kernel(kernel(x))

    found, each = (report(pallascope.capture(fn, X)) for fn in (in_a_loop, unrolled))
    assert found["roofline_s"] == pytest.approx(each["roofline_s"], rel=1e-6)
    assert "refetch" not in [part["what"] for part in found["beyond_roofline_s"]]
    of_kernels = [row for row in found["traffic"] if row["copies"] == 2 * 8]
    assert [row["refetch_factor"] for row in of_kernels] == [1, 1]


def test_an_array_that_two_lines_copy_is_one_row():
    def kernel(x_ref, o_ref, block, sem):
        pltpu.async_copy(x_ref, block, sem).wait()
        o_ref[...] = block[...]
        pltpu.async_copy(x_ref, block, sem).wait()
        o_ref[...] += block[...]

    found = report(pallascope.capture(call(
        kernel, in_specs=[ANY], out_shape=like(*X.shape),
        scratch_shapes=[pltpu.VMEM(X.shape, X.dtype), pltpu.SemaphoreType.DMA]), X))
    (read,) = (row for row in found["traffic"] if row["direction"] == "read")
    assert (read["copies"], read["refetch_factor"]) == (2, 2)


# A column lies in HBM in an order of its own, in which views show it between fusions.
@pytest.mark.parametrize("fn", [lambda x: x.sum(1, keepdims=True), lambda x: x.sum(1)])
def test_the_roofline_without_a_kernel_is_that_of_the_fusions(fn):
    found = report(pallascope.capture(fn, X))
    assert found["roofline_s"] > 0
    assert found["roofline_s"] == pytest.approx(report(pallascope.capture(
        lambda x: x.sum(1), X))["roofline_s"], rel=0.1)
    assert "fusions" not in [part["what"] for part in found["beyond_roofline_s"]]


# It lies with its long axis along the lanes, which pads nothing; a view of that view shows it.
@pytest.mark.parametrize("fn", [lambda x: x * 2, lambda x: x.reshape(1, -1).reshape(-1, 1) + 1])
def test_a_column_moves_no_padding(fn):
    found = report(pallascope.capture(fn, normal(4096, 1)))
    assert found["hbm_read_bytes"] == found["hbm_write_bytes"] == 4 * 4096
    assert [row["refetch_factor"] for row in found["traffic"]] == [1, 1]
