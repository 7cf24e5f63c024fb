"""What things are called in a file: as the author calls them."""

import collections
import functools

import jax
import jax.numpy as jnp
import pytest
from support import like, operations, pallascope, pipeline_of, pl, pltpu

X = like(16, 128)
ANY = pl.BlockSpec(memory_space=pl.ANY)
Layer = collections.namedtuple("Layer", "w b")


class Cache:
    """A tree whose parts have no keys, in another order than its fields."""

    def __init__(self, pages, lengths):
        self.pages, self.lengths = pages, lengths


jax.tree_util.register_pytree_node(
    Cache, lambda cache: ((cache.lengths, cache.pages), None), lambda _, parts: Cache(*parts[::-1]))


def rows():
    return pl.BlockSpec((8, 128), lambda i: (i, 0))


def called(kernel, inputs=1, scratch=(), **options):
    """Returns the call of a kernel that is not called anything by itself."""
    return pl.pallas_call(kernel, grid=(2,), in_specs=[rows()] * inputs, out_specs=rows(),
                          out_shape=X, scratch_shapes=list(scratch), **options)


def refs_of(kernel, inputs=1, scratch=0):
    """Returns the names of the refs of a kernel with so many inputs and so much scratch."""
    def fn(*given):
        return called(kernel, inputs, [pltpu.VMEM((8, 128), jnp.float32)] * scratch)(*given)

    params = pipeline_of(pallascope.capture(fn, *[X] * inputs))["params"]
    return [spec["name"] for spec in params["specs"]] + params.get("scratch_names", [])


def copy(x_ref, o_ref):
    o_ref[...] = x_ref[...]


def scaled(scale, x_ref, o_ref, *, bias):
    o_ref[...] = x_ref[...] * scale + bias


def kept(function):
    @functools.wraps(function)
    def wrapped(*args):
        return function(*args)

    return wrapped


def bare(function):
    def wrapped(*args):
        return function(*args)

    return wrapped


def test_parameters_are_found_behind_wrappers():
    part = functools.partial(scaled, 2.0, bias=1.0)
    for kernel in (copy, part, kept(copy), bare(copy), jax.jit(copy), bare(kept(part)),
                   lambda *refs: copy(*refs)):
        assert refs_of(kernel) == ["x_ref", "o_ref"]


def unpacked(*refs):
    x_ref, y_ref, o_ref, *buffers = refs
    o_ref[...] = x_ref[...] + y_ref[...]


def by_slices(count, *refs):
    inputs, (o_ref, kept_ref) = refs[:count], refs[count:]
    a_ref, b_ref = inputs
    o_ref[...] = a_ref[...] + b_ref[...]


def one_by_one(*refs, has_bias):
    rest = iter(refs)
    x_ref = next(rest)
    bias_ref = next(rest) if has_bias else None
    o_ref = next(rest)
    o_ref[...] = x_ref[...] if bias_ref is None else x_ref[...] + bias_ref[...]


def in_branches(*refs):
    if len(refs) == 3:
        x_ref, bias_ref, o_ref = refs
    else:
        x_ref, o_ref = refs
    o_ref[...] = x_ref[...]


def passed_on(x_ref, *refs):
    for half in range(2):
        halves(half, x_ref, *refs)


def halves(half, x_ref, mask_ref, o_ref):
    o_ref[4 * half:4 * half + 4] = x_ref[4 * half:4 * half + 4]


@pytest.mark.parametrize("kernel, inputs, scratch, names", [
    (unpacked, 2, 2, ["x_ref", "y_ref", "o_ref", "buffers(0)", "buffers(1)"]),
    (functools.partial(by_slices, 2), 2, 1, ["a_ref", "b_ref", "o_ref", "kept_ref"]),
    (functools.partial(one_by_one, has_bias=True), 2, 0, ["x_ref", "bias_ref", "o_ref"]),
    (functools.partial(one_by_one, has_bias=False), 1, 0, ["x_ref", "o_ref"]),
    (in_branches, 2, 0, ["x_ref", "bias_ref", "o_ref"]),
    (in_branches, 1, 0, ["x_ref", "o_ref"]),
    (passed_on, 2, 0, ["x_ref", "mask_ref", "o_ref"])])
def test_refs_are_called_as_the_kernel_unpacks_them(kernel, inputs, scratch, names):
    assert refs_of(kernel, inputs, scratch) == names


def by_numbers(*refs):
    refs[2][...] = refs[0][...] + refs[1][...]


def test_refs_without_a_name_are_called_by_what_they_are():
    assert refs_of(by_numbers, 2, 1) == ["in0", "in1", "out", "scratch0"]


def test_refs_in_trees():
    def kernel(*refs):
        (a_ref, b_ref), o_ref = refs
        o_ref[...] = a_ref[...] + b_ref[...]

    def fn(x, y):
        return pl.pallas_call(kernel, grid=(2,), in_specs=[(rows(), rows())], out_specs=rows(),
                              out_shape=X)((x, y))

    specs = pipeline_of(pallascope.capture(fn, X, X))["params"]["specs"]
    assert [spec["name"] for spec in specs] == ["a_ref", "b_ref", "o_ref"]


def arguments(fn, *args):
    return [one["name"] for one in pallascope.capture(fn, *args).document["arguments"]]


def test_fields_of_arguments():
    def fn(params, caches, cache, options):
        made = called(copy)(params.w + params.b)
        return made + caches[1] + cache.pages + cache.lengths + options["scale"]

    assert arguments(fn, Layer(X, X), [X, X], Cache(X, X), {"scale": X}) == [
        "params.w", "params.b", "caches(0)", "caches(1)", "cache.lengths", "cache.pages",
        "options.scale", "add"]


def test_arguments_that_only_a_kernel_names():
    assert arguments(lambda *arrays: called(scaled_rows, 2)(*arrays), X, X) == [
        "x_ref", "scale_ref", "o_ref"]


def scaled_rows(x_ref, scale_ref, o_ref):
    o_ref[...] = x_ref[...] * scale_ref[...]


def doubled(x):
    return called(copy)(x) * 2


def test_arrays_are_called_like_the_variables_of_the_caller():
    def fn(x):
        first = doubled(x)
        second = called(copy)(first)
        (third,) = [called(copy)(second)]
        return first, second, third

    kernel = pallascope.capture(fn, X)
    assert [one["name"] for one in kernel.document["arguments"]] == [
        "x", "first", "second", "o_ref"]
    assert pallascope.capture(doubled, X).document["arguments"][-1]["name"] == "mul"


def test_names_are_unique():
    def kernel(x_ref, *rest):
        o_ref, x_ref_2 = rest
        o_ref[...] = x_ref[...]

    def fn(x):
        x = called(copy)(x)
        x = called(copy)(x)
        return x

    assert refs_of(kernel, 1, 1) == ["x_ref", "o_ref", "x_ref_2"]
    document = pallascope.capture(fn, X).document
    names = [value["name"] for value in document["values"] if value.get("space") == "hbm"]
    assert sorted(names) == ["x", "x_2", "x_3"]
    assert [one["name"] for one in document["arguments"]] == ["x", "x_2"]


TABLE = jnp.arange(16 * 128, dtype=jnp.float32).reshape(16, 128)


def test_constants_are_called_like_the_variables_that_hold_them():
    assert arguments(lambda x: called(scaled_rows, 2)(x, TABLE), X) == ["x", "TABLE", "o_ref"]


def kernel_names(fn, *args):
    return [operation["params"]["name"] for operation
            in operations(pallascope.capture(fn, *args).document["body"])
            if operation["op"] == "kernel"]


def test_kernels_are_called_like_their_functions():
    doubles = lambda x_ref, o_ref: copy(x_ref, o_ref)  # noqa: E731

    def in_a_function(x):
        return called(lambda x_ref, o_ref: copy(x_ref, o_ref))(x)

    assert kernel_names(called(copy, name="given"), X) == ["given"]
    assert kernel_names(called(bare(functools.partial(scaled, 2.0, bias=0.0))), X) == ["scaled"]
    assert kernel_names(called(doubles), X) == ["doubles"]
    assert kernel_names(in_a_function, X) == ["in_a_function"]


def test_functions_are_called_by_the_names_that_they_have():
    def name(fn):
        return pallascope.capture(fn, X).name

    assert name(bare(doubled)) == "doubled"
    assert name(jax.vmap(jax.jit(doubled), axis_size=1, in_axes=None, out_axes=None)) == "doubled"
    assert name(lambda x: doubled(x)) == "test_functions_are_called_by_the_names_that_they_have"
    assert name(called(copy)) == "copy"


def test_memory_for_a_part_of_a_kernel():
    def kernel(x_hbm, o_hbm):
        def through(*buffers):
            staged, sem = buffers
            pltpu.async_copy(x_hbm, staged, sem).wait()
            pltpu.async_copy(staged, o_hbm, sem).wait()

        pl.run_scoped(through, pltpu.VMEM((16, 128), jnp.float32), pltpu.SemaphoreType.DMA)

    fn = pl.pallas_call(kernel, in_specs=[ANY], out_specs=ANY, out_shape=X)
    names = [value.get("name") for value in pallascope.capture(fn, X).document["values"]]
    assert {"staged", "sem"} <= set(names)


def test_scalars_that_each_core_prefetches_have_the_names_of_their_refs():
    def kernel(pages_ref, x_ref, o_ref):
        o_ref[...] = x_ref[...]

    spec = pltpu.PrefetchScalarGridSpec(
        num_scalar_prefetch=1, grid=(2,),
        in_specs=[pl.BlockSpec((8, 128), lambda i, pages: (pages[i], 0))],
        out_specs=pl.BlockSpec((8, 128), lambda i, pages: (i, 0)))

    def fn(pages, x):
        parallel = pltpu.CompilerParams(dimension_semantics=("parallel",))
        return pl.pallas_call(kernel, grid_spec=spec, out_shape=X, compiler_params=parallel)(
            pages, x)

    document = pallascope.capture(fn, like(2, dtype=jnp.int32), X, chip="tpu_v5p", cores=2).document
    assert "pages_ref" in [value.get("name") for value in document["values"]]
