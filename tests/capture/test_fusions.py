"""Operations around kernels that become one operation, as in XLA."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax
from support import (call, check, fusions, integers, like, normal, operations, pallascope, pl,
                     pltpu, report, whole)


def copy_kernel(x_ref, o_ref):
    o_ref[...] = x_ref[...]


def through(x):
    """Passes x through a kernel."""
    return call(copy_kernel, out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype))(x)


def pieces(kernel):
    """Returns what the device runs, in order: the names of kernels and fusions."""
    return [operation["op"] + " " + operation["params"]["name"]
            for operation in operations(kernel.document["body"])
            if operation["op"] in ("kernel", "fusion")]


def test_what_follows_by_element_is_one_operation():
    x, y = normal(16, 128), normal(16, 128, seed=1)
    kernel = check(lambda x, y: through(jnp.where(x > 0, x * 2 + 1, jnp.abs(y)) / 3), x, y)
    assert fusions(kernel) == [(2, 1)]


def test_what_is_a_chain_of_operations_by_element_is_part_of_it():
    def fn(x):
        high = lax.reduce_precision(x, 8, 7)
        rest = x - high
        bits = lax.bitcast_convert_type(jnp.arctan(rest * 8), jnp.int32)
        return through(high), through(lax.reduce_precision(rest, 8, 7)), through(bits)

    # Of the others, the second one is rounded after the first kernel.
    assert fusions(check(fn, normal(16, 128), terms=8.0)) == [(1, 3), (1, 1)]


def test_what_others_need_is_written_once_and_what_nobody_needs_never():
    def fn(x):
        y = x + 1
        z = y * 2
        return through(z) + y, through(y - z) * z

    assert fusions(check(fn, normal(16, 128))) == [(1, 2), (2, 1), (2, 1), (2, 1)]


def test_operations_without_anything_in_common_stay_apart():
    x, y = normal(16, 128), normal(16, 128, seed=1)
    kernel = check(lambda x, y: through(jnp.concatenate([x + 1, y * 3])), x, y)
    assert fusions(kernel) == [(2, 1)]

    def fn(x, y):
        a, b = x + 1, y * 3  # neither waits for the other's arrays
        return through(a), through(b)

    assert fusions(check(fn, x, y)) == [(1, 1), (1, 1)]


def test_what_moves_elements_is_part_of_it():
    def fn(x, rows):
        y = jnp.roll(x, 3, axis=0) + jnp.arange(16, dtype=jnp.float32)[:, None]  # a constant
        return through(jnp.pad(y[:, ::2], ((0, 0), (64, 0)))[rows].T)

    kernel = check(fn, normal(16, 128), integers(16, least=0, most=16))
    (reads, writes), back = fusions(kernel)
    assert reads in (3, 4) and writes == 1  # to JAX 0.9 the step of 2 is a gather of constants
    assert back == (1, 1)  # a result of 16 columns has them as its rows


def test_a_reduction_ends_it():
    x = normal(16, 128)
    kernel = check(lambda x: through(jax.nn.softmax(x * 2, axis=1)), x, terms=128.0)
    # The three are the maximum of the doubles; the powers, of doubles that are computed again, and
    # their sum; the quotients.
    assert fusions(kernel) == [(1, 1), (2, 2), (2, 1)]


def test_what_a_kernel_changes_in_place_was_read_before():
    def fn(x):
        x = through(x)
        double = x * 2
        moved = call(lambda a, o: o.__setitem__(..., a[...] + 1), grid=(1,), in_specs=[whole(x)],
                     out_specs=whole(x), input_output_aliases={0: 0},
                     out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype))(x)
        return moved + double

    kernel = check(fn, normal(16, 128))
    assert fusions(kernel) == [(1, 1), (2, 1)]  # no copy of x


def test_in_branches_and_loops_with_kernels():
    def turn(carry, row):
        carry = through(carry * 2 + row) - 1
        return carry, jnp.tanh(carry) * row

    def fn(x, rows):
        found, each = lax.scan(turn, x + 1, rows)
        return lax.cond(rows[0, 0, 0] > 0, lambda a: through(a * 3 + 1) - a,
                        lambda a: (a + 2) * 2, found), each

    kernel = check(fn, normal(16, 128), normal(3, 16, 128, seed=1), terms=64.0)
    copy = "fusion copy"  # of what goes from round to round
    assert [piece for piece in pieces(kernel) if piece != copy] == [
        "fusion add", "fusion add_mul", "kernel copy_kernel", "fusion mul_tanh_sub",
        "fusion gt_squeeze_slice", "fusion mul_add", "fusion add_mul", "kernel copy_kernel",
        "fusion sub"]


@pytest.mark.parametrize("shape", [(4096, 1024), (2, 3, 1536, 1024)])
def test_of_large_arrays_too_each_is_read_and_written_once(shape):
    kernel = pallascope.capture(lambda x, y: through((jnp.maximum(x * y + 1, 0) - y)[..., :8, :]),
                                like(*shape), like(*shape))
    assert fusions(kernel) == [(2, 1)]
    kernel = pallascope.capture(lambda x, y: jnp.maximum(x * y + 1, 0) - y,
                                like(*shape), like(*shape))
    assert fusions(kernel) == [(2, 1)]
    found, size = report(kernel, "--values", "needed"), 4 * np.prod(shape)
    assert (found["hbm_read_bytes"], found["hbm_write_bytes"]) == (2 * size, size)


def test_each_of_its_operations_has_its_own_line():
    def fn(x):
        y = x * 2
        y = y + 1
        return through(y)

    kernel = check(fn, normal(16, 128))
    lines = [kernel.document["locations"][operation["location"]]["line"]
             for operation in operations(kernel.document["body"])
             if operation["op"] in ("mul", "add")]
    first = fn.__code__.co_firstlineno
    assert lines == [first + 1, first + 2]


def test_constants_of_one_element_need_no_memory():
    kernel = check(lambda x: through(x * jnp.zeros((16, 128)) + jnp.full((16, 128), 2.5)),
                   normal(16, 128))
    assert fusions(kernel) == [(1, 1)]
    table = np.arange(16 * 128, dtype=np.float32).reshape(16, 128)
    assert fusions(check(lambda x: through(x + table), normal(16, 128))) == [(2, 1)]


@pytest.mark.parametrize("dtype", ["bfloat16", "int8", "bool"])
def test_of_other_dtypes(dtype):
    x = integers(32, 128, least=0, most=2).astype(dtype)
    y = integers(32, 128, least=0, most=2, seed=1).astype(dtype)
    kernel = check(lambda x, y: through(
        jnp.where(jnp.logical_or(x, y), x, y).astype(jnp.int32) + 1), x, y)
    assert fusions(kernel) == [(2, 1)]


def test_what_is_not_captured_is_named_with_its_line():
    def fn(x):
        y = x + 1
        z = y.astype(jnp.complex64)
        return through(jnp.real(z))

    with pytest.raises(pallascope.UnsupportedError) as error:
        pallascope.capture(fn, normal(16, 128))
    assert f":{fn.__code__.co_firstlineno + 2}" in str(error.value)


def test_what_is_by_element_between_two_kernels_is_one_operation():
    kernel = check(lambda x: through(jnp.abs(through(x) * 2 + 1) - 3), normal(16, 128))
    assert pieces(kernel) == ["kernel copy_kernel", "fusion sub_abs_add", "kernel copy_kernel"]
    assert fusions(kernel) == [(1, 1)]


def test_what_is_cheap_is_computed_again_where_it_is_read():
    def fn(x):
        y = x + 1
        return y.sum(0) * 2, y * 3 - y.sum(1, keepdims=True)

    # Both sums come first, together. Then each is used with what it needs of y, which is never
    # written.
    assert fusions(check(fn, integers(16, 128))) == [(1, 2), (1, 1), (2, 1)]


def test_a_scalar_goes_on_in_a_register():
    kernel = check(lambda x: x * 2 - (x + 1).sum(), integers(16, 128))
    assert fusions(kernel) == [(1, 0), (1, 1)]
    assert not any(operation["op"] == "dma_start"
                   for operation in operations(kernel.document["body"]))


@pytest.mark.parametrize("shaped", [
    lambda total: total[None], lambda total: total.reshape(1, 1),
    lambda total: jnp.broadcast_to(total, (1,)).reshape(1, 1)])
def test_a_scalar_in_another_shape_is_a_view(shaped):
    kernel = check(lambda x: through(shaped(x.sum())), integers(16, 128))
    assert fusions(kernel) == [(1, 1)]


def test_what_is_computed_of_a_scalar_in_another_shape_is_an_operation():
    kernel = check(lambda x: through(x.sum().reshape(1, 1) * 2), integers(16, 128))
    assert len(fusions(kernel)) == 2


def test_what_is_expensive_is_computed_once_and_read():
    def fn(x):
        y = jnp.exp(x)
        return y / jnp.sum(y, axis=0), jnp.sum(y * 2, axis=1)

    kernel = check(fn, normal(16, 128), terms=512.0)
    assert sum(operation["op"] == "exp" for operation in operations(kernel.document["body"])) == 1


def test_several_consumers_of_one_result():
    def fn(x):
        y = through(x)
        return through(y + 1), through(y.sum(0)), y.max(1) - 1

    kernel = check(fn, integers(16, 128))
    assert pieces(kernel) == [
        "kernel copy_kernel", "fusion add", "kernel copy_kernel", "fusion reduce_sum",
        "kernel copy_kernel", "fusion reduce_max", "fusion sub"]
    assert fusions(kernel) == [(1, 1)] * 4


def test_what_is_computed_twice_of_the_same_is_computed_once():
    kernel = check(lambda x: through((x * 2 + 1) * jnp.abs(x * 2 + 1)), normal(16, 128))
    assert fusions(kernel) == [(1, 1)]
    found = [operation["op"] for operation in operations(kernel.document["body"])]
    assert (found.count("mul"), found.count("add")) == (2, 1)


PARTS = {
    "a slice": (lambda x, y: through(x[16:32, 128:]), [(1, 1)]),
    "every second row": (lambda x, y: through(x[::2]), [(1, 1)]),
    "the sum of two slices": (lambda x, y: through(x[:64] + x[64:]), [(1, 1)]),
    "a split": (lambda x, y: [through(part) for part in jnp.split(x * 2, 2)], [(1, 2)]),
    "uneven parts": (lambda x, y: [through(part) for part in jnp.split(x * 2, [8, 24])],
                     [(1, 3)]),
    "one row of many parts": (lambda x, y: through(jnp.split(x, 16)[3]), [(1, 1)]),
    "a concatenation": (lambda x, y: through(jnp.concatenate([x * 2, y[:8]])), [(2, 1)]),
    "of a kernel's result": (lambda x, y: through(jnp.concatenate([through(x), y - 1], 1)),
                             [(2, 1)]),
    "a slice of a concatenation": (lambda x, y: through(jnp.concatenate([x, y])[120:136] + 1),
                                   [(2, 1)]),
    "a pad": (lambda x, y: through(jnp.pad(x, ((0, 8), (128, 0)))), [(1, 1)]),
    "at a place known at run time": (
        lambda x, y: through(lax.dynamic_slice(x, (y[0, 0], 0), (8, 256)) * 2),
        [(2, 1)])}


@pytest.mark.parametrize("name", PARTS)
def test_slices_and_what_joins_arrays_are_one_operation(name):
    fn, wanted = PARTS[name]
    x, y = integers(128, 256), integers(128, 256, least=0, seed=1)
    assert fusions(check(fn, x, y)) == wanted


def test_little_tables_for_a_kernel_are_operations_of_their_own():
    """A device has to begin each of them, however few bytes it has."""
    def kernel(ends_ref, x_ref, o_ref):
        o_ref[...] = x_ref[...] + ends_ref[pl.program_id(0)]

    def fn(sizes, x):
        ends = jnp.cumsum(sizes)
        rows = pl.BlockSpec((8, 128), lambda i, ends: (i, 0))
        return call(kernel, out_shape=like(16, 128, dtype=jnp.int32),
                    grid_spec=pltpu.PrefetchScalarGridSpec(num_scalar_prefetch=1, grid=(2,),
                                                           in_specs=[rows], out_specs=rows))(
            jnp.where(ends > 5, ends - 1, 0), x)

    kernel_ = check(fn, integers(64, least=0, most=9), integers(16, 128))
    assert pieces(kernel_) == ["fusion cumsum", "fusion select_n_sub_gt", "kernel kernel"]
    assert fusions(kernel_) == [(1, 1), (1, 1)]
    listed = [operation for operation in operations(kernel_.document["body"])
              if operation["op"] == "fusion"]
    assert all(operation["params"].get("launches", True) for operation in listed)
