"""Operations that the format lacks and that are made of others, in kernels and around them."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax
from support import call, check, integers, like, normal, pallascope, pltpu

INT = jnp.int32
X = normal(64, 128)
UNIT = np.tanh(X)

FUNCTIONS = {
    "erfc": (lax.erfc, X * 3), "exact gelu": (lambda x: jax.nn.gelu(x, approximate=False), X * 3),
    "sinh": (lax.sinh, X * 3), "cosh": (lax.cosh, X * 3), "asinh": (lax.asinh, X * 9),
    "acosh": (lax.acosh, np.abs(X) * 9 + 1), "atanh": (lax.atanh, UNIT * 0.99),
    "asin": (lax.asin, UNIT), "acos": (lax.acos, UNIT), "atan": (lax.atan, X * 9),
    "bessel_i0e": (lax.bessel_i0e, X * 9), "bessel_i1e": (lax.bessel_i1e, X * 9)}

ENDS = np.resize(np.array([0, -0.0, 1, -1, 1e-30, 3e38, -3e38, np.inf, -np.inf, np.nan],
                          np.float32), (8, 128))


def doubled(x_ref, o_ref):
    o_ref[...] = x_ref[...] * 2


def in_kernel(fn, *args, **options):
    """Checks fn(*args), computed by a kernel of one step."""
    out = jax.eval_shape(fn, *args)

    def kernel(*refs):
        refs[-1][...] = fn(*(ref[...] for ref in refs[:-1]))

    check(lambda *arrays: call(kernel, out_shape=out)(*arrays), *args, **options)


def behind_kernel(fn, x, *args, **options):
    """Checks fn of what a kernel made of x."""
    check(lambda x, *rest: fn(call(doubled, out_shape=like(*x.shape, dtype=x.dtype))(x), *rest),
          x, *args, **options)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_of_numbers(name):
    fn, x = FUNCTIONS[name]
    in_kernel(fn, x, ulps=32, terms=0.25)
    behind_kernel(fn, x.astype(jnp.bfloat16) / 2, ulps=2, terms=1e-6)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_at_the_ends_of_the_numbers(name):
    in_kernel(FUNCTIONS[name][0], np.abs(ENDS) + 1 if name == "acosh" else ENDS, ulps=8)


@pytest.mark.parametrize("name", ["lgamma", "digamma"])
def test_functions_with_poles(name):
    fn, x = getattr(lax, name), X * 9
    x = np.where(x < 0, np.floor(x) + 0.05 + 0.9 * (x - np.floor(x)), x).astype(np.float32)
    in_kernel(fn, x, ulps=32, terms=16)  # near their zeros large terms cancel
    behind_kernel(fn, np.abs(X).astype(jnp.bfloat16) + 1, ulps=2, terms=16)
    at_poles = np.where(ENDS == 1, np.float32(-7), ENDS)
    in_kernel(lambda x: jnp.stack([fn(x) == np.inf, fn(x) == -np.inf, jnp.isnan(fn(x))]), at_poles)


@pytest.mark.parametrize("name", ["igamma", "igammac", "betainc", "igamma_grad_a"])
def test_functions_that_jax_itself_takes_apart(name):
    size = np.abs(X[:16]) * 3 + 0.5

    def fn(x):
        if name == "betainc":
            return lax.betainc(x, x + 1, x / (x + 1))
        return getattr(lax, name)(x, x + 1)

    in_kernel(fn, size, ulps=64, terms=2)
    behind_kernel(fn, size, ulps=64, terms=2)


@pytest.mark.skipif(not hasattr(lax, "polynomial"), reason="this JAX has no polynomial")
@pytest.mark.parametrize("terms", [2, 8, 9, 20])
def test_polynomials(terms):
    x = np.concatenate([UNIT[:8], ENDS])
    in_kernel(lambda x: jnp.nan_to_num(lax.polynomial(x, [1 / n for n in range(1, terms + 1)])),
              x, ulps=8, terms=2)


NARROW = {
    "words to halves": (lambda x: lax.bitcast_convert_type(x, jnp.uint16), X),
    "words to bytes": (lambda x: lax.bitcast_convert_type(x, jnp.int8), integers(8, 128)),
    "bytes to halves": (lambda x: lax.bitcast_convert_type(x.reshape(16, 64, 2), jnp.int16),
                        integers(16, 128, least=-60, most=60, dtype=np.int8)),
    "halves to words": (lambda x: lax.bitcast_convert_type(x.reshape(16, 64, 2), jnp.float32),
                        integers(16, 128, least=1, most=3000, dtype=np.int16))}

WHOLE = {
    **NARROW,
    "four cases": (lambda x: lax.select_n(jnp.clip(x, 0, 3), x, x * 2, x + 3, -x),
                   integers(8, 128, least=-1, most=5)),
    "one of five cases": (lambda x: lax.select_n(
        jnp.clip(x[0, 0], 0, 4), x, x * 2, x + 3, -x, x * x), integers(8, 128, least=3, most=5)),
    "a scan of sums": (lambda x: lax.associative_scan(jnp.add, x, axis=0), integers(16, 128)),
    "a scan of most": (lambda x: lax.associative_scan(jnp.maximum, x, reverse=True),
                       integers(24, 128)),
    "most of windows": (lambda x: lax.reduce_window(x, -jnp.inf, lax.max, (3, 2), (2, 2), "SAME"),
                        X),
    "least of windows": (lambda x: lax.reduce_window(
        x, np.int32(2**31 - 1), lax.min, (2, 4), (1, 3), [(1, 0), (2, 2)], window_dilation=(3, 1)),
        integers(16, 128)),
    "sums of windows": (lambda x: lax.reduce_window(x, 0, lax.add, (4, 1), (4, 1), "VALID"),
                        integers(16, 128)),
    "of one row, by places in two": (lambda x: x[0].at[jnp.clip(x, 0, 127)].get(
        mode="promise_in_bounds"), integers(16, 128))}


@pytest.mark.parametrize("name", WHOLE)
def test_operations_on_whole_arrays(name):
    fn, x = WHOLE[name]
    in_kernel(fn, x, ulps=0)
    if name not in NARROW:  # twice the words of numbers would be others
        behind_kernel(fn, x, ulps=0)


def convolution(spec, **options):
    return {"dimension_numbers": spec, **options}


CONVOLUTIONS = {
    "of rows": (convolution(("NWC", "WIO", "NWC"), window_strides=(1,), padding="SAME"),
                (2, 16, 128), (3, 128, 64)),
    "causal, of each feature": (convolution(
        ("NWC", "WIO", "NWC"), window_strides=(1,), padding=[(3, 0)], feature_group_count=128),
        (2, 16, 128), (4, 1, 128)),
    "in groups": (convolution(("NWC", "WIO", "NWC"), window_strides=(2,), padding="VALID",
                              feature_group_count=2), (2, 17, 64), (3, 32, 48)),
    "of pictures": (convolution(("NHWC", "HWIO", "NHWC"), window_strides=(2, 1), padding="SAME",
                                rhs_dilation=(1, 2)), (2, 9, 8, 32), (3, 3, 32, 16)),
    "transposed": (convolution(("NCHW", "OIHW", "NCHW"), window_strides=(1, 1),
                               padding=[(2, 2), (1, 2)], lhs_dilation=(2, 3)),
                   (1, 8, 5, 4), (16, 8, 3, 2))}


@pytest.mark.parametrize("name", CONVOLUTIONS)
def test_convolutions(name):
    options, x, w = CONVOLUTIONS[name]
    fn = functools.partial(lax.conv_general_dilated, **options)
    x, w = normal(*x), normal(*w, seed=1)
    in_kernel(fn, x, w, terms=3000)
    behind_kernel(fn, x, w, terms=6000)


@pytest.mark.parametrize("name", ["in groups", "causal, of each feature"])
def test_gradients_of_convolutions_in_groups(name):
    """For gradients by the weights, the groups are groups of the batch."""
    options, x, w = CONVOLUTIONS[name]
    fn = functools.partial(lax.conv_general_dilated, **options)
    behind_kernel(jax.grad(lambda w, x: jnp.sum(jnp.sin(fn(x, w)))), normal(*w), normal(*x, seed=1),
                  terms=3000)


@pytest.mark.skipif(not hasattr(pltpu, "conv"), reason="JAX 0.12 brought it")
@pytest.mark.parametrize("name", CONVOLUTIONS)
def test_convolutions_of_pallas(name):
    """They may add to an array, and reverse their windows."""
    options, x, w = CONVOLUTIONS[name]
    fn, x, w = functools.partial(pltpu.conv, **options), normal(*x), normal(*w, seed=1)
    wanted = np.asarray(lax.conv_general_dilated(x, w, **options))
    start = normal(*wanted.shape, seed=2)
    in_kernel(fn, x, w, wanted=wanted, terms=3000)
    in_kernel(fn, x, w, start, wanted=start + wanted, terms=3000)
    spec = options["dimension_numbers"][1]
    places = [axis for axis, letter in enumerate(spec) if letter not in "IO"]
    turned = functools.partial(fn, window_reversal=(True,) * len(places))
    in_kernel(turned, x, np.flip(w, places), wanted=wanted, terms=3000)


@pytest.mark.skipif(not hasattr(lax, "mulhi"), reason="this JAX has no mulhi")
@pytest.mark.parametrize("dtype", [np.int32, np.uint32, np.int16, np.uint16, np.int8, np.uint8])
def test_upper_halves_of_products(dtype):
    info, rows = np.iinfo(dtype), 256 // np.iinfo(dtype).bits
    a, b = (np.random.default_rng(seed).integers(info.min, info.max, (rows, 128), dtype, True)
            for seed in range(2))
    wide = np.int64 if info.min < 0 else np.uint64
    wanted = (a.astype(wide) * b.astype(wide) >> wide(info.bits)).astype(dtype)
    in_kernel(lax.mulhi, a, b, wanted=wanted)


RARE = {
    "taken from rows": lambda x: x.at[jnp.array([1, 5, 1])].subtract(x[:3]),
    "ravel of columns": lambda x: jnp.ravel(x, order="F"),
    "reshape of columns": lambda x: x.reshape(64, 128, order="F"),
    "exclusive or": lambda x: lax.reduce_xor(x, (0,)),
    "exclusive or of all": lambda x: lax.reduce_xor(x, (0, 1)).reshape(1),
    "product": lambda x: x[:, :40] @ x[:40],
    "product of truths": lambda x: (x[:9, :40] > 2**28) @ (x[:40] < -2**28),
    "count of truths": lambda x: lax.dot(x[:9] > 0, x.T < 0, preferred_element_type=INT),
    "product of unsigned": lambda x: x.astype(jnp.uint32)[:9].T @ x.astype(jnp.uint32)[9:18],
    "product with a batch": lambda x: jnp.einsum(
        "abc,dba->bcd", x.reshape(4, 2, 1024)[..., :32], x.reshape(64, 2, 64)[..., :4]),
    "product of two widths": lambda x: lax.dot_general(
        x, x.astype(jnp.int8), (((1,), (1,)), ((), ())), preferred_element_type=INT)}


@pytest.mark.parametrize("name", RARE)
def test_rare_operations_on_integers(name):
    behind_kernel(RARE[name], integers(64, 128, least=-2**30, most=2**30))


def test_a_large_product_of_integers_goes_by_rows():
    x, y = (integers(300, 300, least=-2**30, most=2**30, seed=seed) for seed in range(2))
    behind_kernel(jnp.matmul, x, y)


def test_the_higher_precision_of_two_operands_counts():
    highest, default = lax.Precision.HIGHEST, lax.Precision.DEFAULT
    behind_kernel(lambda x, y: jnp.dot(x, y, precision=(highest, default)), normal(8, 128),
                  normal(128, 128, seed=1), terms=128 * 3)


def test_sums_of_ragged_products_of_integers_are_exact():
    x = integers(32, 2048, least=50, most=63, dtype=np.int8)
    w = integers(2, 2048, 128, least=100, most=127, dtype=np.int8)
    behind_kernel(lambda x, w, sizes: lax.ragged_dot(x + 1, w, sizes, preferred_element_type=INT),
                  x, w, np.array([10, 22], np.int32))


def test_an_algorithm_of_a_product_says_how_operands_are_rounded():
    preset = lax.DotAlgorithmPreset
    x, y = normal(16, 128), normal(128, 128, seed=1)
    for algorithm, seen in ((preset.BF16_BF16_F32, lambda a: a.astype(jnp.bfloat16)),
                            (preset.F16_F16_F32, lambda a: a.astype(np.float16)),
                            (preset.F32_F32_F32, lambda a: a)):
        exact = np.asarray(seen(x), np.float64) @ np.asarray(seen(y), np.float64)
        in_kernel(lambda x, y, algorithm=algorithm: lax.dot(
            x, y, precision=algorithm, preferred_element_type=jnp.float32), x, y,
            wanted=exact.astype(np.float32), terms=500)


def test_the_default_algorithm_of_whole_numbers_is_exact():
    x, y = (np.full(shape, 127, np.int8) for shape in ((32, 1280), (1280, 128)))
    x[:, 0] = 126
    in_kernel(lambda x, y: lax.dot(x, y, precision=lax.DotAlgorithmPreset.DEFAULT,
                                   preferred_element_type=INT), x, y,
              wanted=np.full((32, 128), 1280 * 127 * 127 - 127, np.int32))


@pytest.mark.parametrize("algorithm", [
    "F16_F16_F16", "BF16_BF16_BF16", "BF16_BF16_F32_X9", "TF32_TF32_F32",
    (jnp.bfloat16, jnp.bfloat16, np.float32), (np.float32, np.float32, np.float32)])
def test_other_algorithms_of_a_product_are_named(algorithm):
    precision = algorithm if isinstance(algorithm, str) else lax.DotAlgorithm(*algorithm)
    out = np.float16 if algorithm == "F16_F16_F16" else np.float32

    def kernel(x_ref, y_ref, o_ref):
        o_ref[...] = lax.dot(x_ref[...], y_ref[...], precision=precision,
                             preferred_element_type=out).astype(np.float32)

    with pytest.raises(pallascope.UnsupportedError) as error:
        pallascope.capture(lambda x, y: call(kernel, out_shape=like(16, 128))(x, y),
                           normal(16, 128), normal(128, 128))
    (problem,) = error.value.problems
    assert (algorithm if isinstance(algorithm, str) else "with DotAlgorithm(") in problem.what


@pytest.mark.parametrize("of", ["the product", "its gradients"])
def test_ragged_products(of):
    def product(x, w, sizes):
        return lax.ragged_dot(x, w, sizes, precision="highest")

    def gradients(x, w, sizes):
        return jax.grad(lambda x, w: (product(x, w, sizes) ** 2).sum(), (0, 1))(x, w)

    sizes = np.array([20, 0, 30, 10], np.int32)
    behind_kernel(product if of == "the product" else gradients, normal(64, 128),
                  normal(4, 128, 64, seed=1), sizes, terms=3000 if of == "the product" else 3e5)


@pytest.mark.skipif(not hasattr(pltpu, "einshape"), reason="this JAX has no einshape")
@pytest.mark.parametrize("equation", ["m(nk)->n(mk)", "ab->ba", "(ab)c->(bc)a"])
def test_axes_split_permuted_and_merged_by_letters(equation):
    shape = (16, 24)
    sizes = {name: 4 for name in "nb" if f"{name}k)" in equation or f"{name})c" in equation}

    def rearranged(x):
        return pltpu.einshape(equation, x, **sizes)

    def kernel(x_ref, o_ref):
        o_ref[...] = rearranged(x_ref[...])

    out = jax.eval_shape(rearranged, like(*shape))
    check(lambda x: call(kernel, out)(x), normal(*shape), ulps=0)


def test_windows_that_are_too_large_are_named():
    def fn(x):
        y = lax.reduce_window(x, 0, lax.add, (64, 64), (1, 1), "SAME")
        return call(doubled, out_shape=like(64, 128, dtype=INT))(y)

    with pytest.raises(pallascope.UnsupportedError) as error:
        pallascope.capture(fn, integers(64, 128))
    assert "windows of 4096 elements: expected at most 1024" in str(error.value)


REDUCED = {
    "a pair": lambda x, i: lax.reduce((x, i), (np.float32(-9), np.int32(3)), lambda a, b: (
        jnp.maximum(a[0], b[0]), jnp.where(a[0] < b[0], b[1], a[1])), (1,)),
    "two axes": lambda x, i: lax.reduce(i.reshape(4, 13, 10), np.int32(1), lambda a, b: a * b + a
                                        + b, (2, 0)),
    "nothing": lambda x, i: lax.reduce(x[:, :0], np.float32(5), lambda a, b: a + b + a * b, (1,))}


@pytest.mark.parametrize("name", REDUCED)
def test_reductions_by_a_function_of_ones_own(name):
    x, i = integers(8, 65).astype(np.float32), integers(8, 65, seed=1)

    def fn(x, i):
        y = call(doubled, out_shape=like(8, 65))(x)
        return REDUCED[name](y, i + y.astype(INT))

    check(fn, x, i, ulps=0)


APPLIED = {
    "row": lambda x: x.at[2].apply(jnp.abs), "element": lambda x: x.at[1, -3].apply(jnp.square),
    "slice": lambda x: x.at[::2, 3:9].apply(lambda v: jnp.where(v > 0, v * 2, 1)),
    "promised": lambda x: x.at[jnp.array([3, 1, 60])].apply(jnp.negative, unique_indices=True)}


@pytest.mark.parametrize("name", APPLIED)
def test_functions_applied_to_elements_of_arrays(name):
    """Such a function was once taken for a scatter of the updates, which are zeros."""
    if name != "promised":  # by a constant
        in_kernel(APPLIED[name], X)
    behind_kernel(APPLIED[name], X)


def test_a_function_applied_at_places_that_may_be_the_same_is_refused():
    def fn(x, i):
        return call(doubled, out_shape=like(64, 128))(x).at[i].apply(jnp.negative)

    with pytest.raises(pallascope.UnsupportedError, match="unique_indices does not promise"):
        pallascope.capture(fn, X, integers(3, least=0, most=9))


@pytest.mark.skipif(not hasattr(pltpu, "pack_fp6"), reason="JAX 0.12 brought it")
def test_numbers_of_six_bits_are_two_and_four():
    def kernel(x_ref, o_ref, two_ref):
        two, four = pltpu.pack_fp6(x_ref[...])
        o_ref[...] = pltpu.unpack_fp6(two, four)
        two_ref[...] = two.astype(jnp.int32)

    x = integers(64, 128, least=0, most=64, dtype=np.uint8)
    results = [like(64, 128, dtype=np.uint8), like(64, 128, dtype=INT)]
    check(lambda x: call(kernel, results)(x), x, wanted=(x, ((x.astype(np.int32) >> 4) ^ 2) - 2))
