"""Operations on values: one small kernel for each primitive or family of primitives."""

import inspect

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax
from support import call, check, integers, like, normal, pl, pltpu

INT = jnp.int32
F32 = jnp.float32


def apply(function, *args, ulps=4.0, terms=0.0, wanted=None):
    """Applies the function to whole arrays inside a kernel of one step."""
    shapes = [jax.ShapeDtypeStruct(np.shape(a), np.asarray(a).dtype) for a in args]
    out = jax.eval_shape(function, *shapes)
    outs, tree = jax.tree_util.tree_flatten(out)

    def kernel(*refs):
        results = jax.tree_util.tree_leaves(function(*(ref[...] for ref in refs[:len(args)])))
        for ref, value in zip(refs[len(args):], results, strict=True):
            ref[...] = value

    def fn(*arrays):
        found = call(kernel, out_shape=[like(*o.shape, dtype=o.dtype) for o in outs])(*arrays)
        return tree.unflatten(found)

    return check(fn, *args, ulps=ulps, terms=terms, wanted=wanted)


def positive(*shape, seed=0, dtype=np.float32):
    return (np.abs(normal(*shape, seed=seed)) + 0.1).astype(dtype)


UNARY = {
    "neg": lambda x: -x, "abs": jnp.abs, "sign": jnp.sign, "square": lax.square,
    "floor": jnp.floor, "ceil": jnp.ceil, "round_even": jnp.round,
    "round_away": lambda x: lax.round(x, lax.RoundingMethod.AWAY_FROM_ZERO),
    "exp": jnp.exp, "expm1": jnp.expm1, "tanh": jnp.tanh, "logistic": jax.nn.sigmoid,
    "sin": jnp.sin, "cos": jnp.cos, "tan": jnp.tan, "erf": lax.erf,
    "cbrt": jnp.cbrt, "is_finite": lambda x: jnp.isfinite(1 / jnp.floor(x)),
    "integer_pow": lambda x: x**3, "negative_pow": lambda x: (x + 5) ** -2}
UNARY_POSITIVE = {"log": jnp.log, "log1p": jnp.log1p, "sqrt": jnp.sqrt, "rsqrt": lax.rsqrt,
                  "reciprocal": lambda x: pl.reciprocal(x) if hasattr(pl, "reciprocal") else 1 / x}
BINARY = {
    "add": jnp.add, "sub": jnp.subtract, "mul": jnp.multiply, "div": jnp.divide, "rem": lax.rem,
    "max": jnp.maximum, "min": jnp.minimum, "atan2": jnp.arctan2, "nextafter": jnp.nextafter,
    "eq": lambda x, y: jnp.floor(x) == jnp.floor(y), "ne": lambda x, y: jnp.floor(x) != y,
    "lt": jnp.less, "le": jnp.less_equal, "gt": jnp.greater, "ge": jnp.greater_equal}
INTEGER = {
    "add": jnp.add, "sub": jnp.subtract, "mul": jnp.multiply, "floor_divide": jnp.floor_divide,
    "modulo": jnp.mod, "div": lax.div, "rem": lax.rem, "and": jnp.bitwise_and,
    "or": jnp.bitwise_or, "xor": jnp.bitwise_xor, "max": jnp.maximum, "lt": jnp.less,
    "shift_left": lambda x, y: x << (y & 7), "shift_right": lambda x, y: x >> (y & 7),
    "shift_right_logical": lambda x, y: lax.shift_right_logical(x, y & 7),
    "not": lambda x, y: ~x, "population_count": lambda x, y: lax.population_count(x),
    "clz": lambda x, y: lax.clz(x)}


@pytest.mark.parametrize("name", UNARY)
def test_a_function_of_one_float(name):
    apply(UNARY[name], normal(8, 128) * 3, ulps=16)


@pytest.mark.parametrize("name", UNARY_POSITIVE)
def test_a_function_of_one_positive_float(name):
    apply(UNARY_POSITIVE[name], positive(8, 128), ulps=8)


@pytest.mark.parametrize("name", BINARY)
def test_a_function_of_two_floats(name):
    apply(BINARY[name], normal(8, 128), normal(8, 128, seed=1), ulps=4)


@pytest.mark.parametrize("name", INTEGER)
def test_a_function_of_two_integers(name):
    apply(INTEGER[name], integers(8, 128), integers(8, 128, seed=1))


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
def test_narrow_floats_round_after_every_operation(dtype):
    apply(lambda x, y: x * y + x, normal(16, 128).astype(jnp.dtype(dtype)),
          normal(16, 128, seed=1).astype(jnp.dtype(dtype)), ulps=0)


@pytest.mark.parametrize("dtype", ["bfloat16", "float16", "float8_e4m3fn", "float8_e5m2"])
def test_powers_and_neighbours_of_narrow_floats_are_theirs(dtype):
    """Each product of a power is rounded to the dtype; the next number is that of the dtype, not of
    float32."""
    x, y = (np.clip(normal(32, 128, seed=seed), -1.5, 1.5).astype(jnp.dtype(dtype))
            for seed in range(2))
    for exponent in (3, 7, 1):
        apply(lambda x, exponent=exponent: lax.integer_pow(x, exponent), x, ulps=0)
    y[0, :4], x[0, 2] = [np.nan, 0, 1, -1], 0
    apply(lax.nextafter, x, y, ulps=0)
    apply(lax.nextafter, y, y[::-1], ulps=0)
    apply(lambda x: lax.integer_pow(x, -2), (np.abs(x.astype(np.float32)) + 0.5).astype(x.dtype),
          ulps=0)


def test_scalars_stand_for_arrays():
    apply(lambda x: (2.0 * x + 1) / 4 - 0.3, normal(8, 128), ulps=0)
    apply(lambda x: 7 - jnp.where(x > 3, x, -1) * x[0, 0], integers(8, 128))


def test_scalars_that_are_not_finite():
    apply(lambda x: jnp.where(x > 0, -jnp.inf, jnp.where(x > -1, jnp.nan, jnp.inf)),
          normal(8, 128), ulps=0)


def test_unsigned_scalars_above_two_to_the_31():
    apply(lambda x: x ^ jnp.uint32(0xdeadbeef), integers(8, 128, least=0, dtype=np.uint32))


def test_power_of_floats():
    apply(lambda x, y: x**y, positive(8, 128), normal(8, 128, seed=1), ulps=16)


@pytest.mark.skipif(not hasattr(lax, "log2"), reason="this JAX has log alone")
def test_log2():
    apply(lambda x: lax.log2(x), positive(8, 128), ulps=8)


@pytest.mark.parametrize("exponent, mantissa", [(8, 7), (5, 10), (8, 3), (4, 3), (8, 23)])
def test_reduce_precision(exponent, mantissa):
    x = normal(16, 128) * 10.0 ** np.random.default_rng(1).integers(-9, 9, (16, 128))
    x[0, :4] = [np.inf, -np.inf, np.nan, 0]
    apply(lambda x: lax.reduce_precision(x, exponent, mantissa), x.astype(np.float32), ulps=0)


def test_exponents_as_a_dtype():
    """float8_e8m0fnu holds powers of two, which scale blocks."""
    x = (2.0 ** np.random.default_rng(0).uniform(-130, 127, (32, 128))).astype(np.float32)
    x[0, :8] = [0, -1, np.inf, np.nan, 1.5, 3, 2.0**-127, 3e38]
    scale = jnp.float8_e8m0fnu
    apply(lambda x: x.astype(scale).astype(jnp.float32), x, ulps=0,
          wanted=x.astype(scale).astype(np.float32))
    codes = np.arange(256, dtype=np.uint8).reshape(2, 128).repeat(16, axis=0)
    apply(lambda x: pltpu.bitcast(x, scale).astype(jnp.float32), codes, ulps=0,
          wanted=codes.view(scale).astype(np.float32))
    padded = np.where(np.arange(128) < 64, 2.0**-3, 0.5).astype(np.float32) * np.ones((32, 1))
    apply(lambda x: jnp.pad(x[:, :64].astype(scale), ((0, 0), (0, 64)),
                            constant_values=scale(0.5)).astype(jnp.float32),
          np.full((32, 128), 0.125, np.float32), ulps=0, wanted=padded.astype(np.float32))


@pytest.mark.parametrize("join", [jnp.concatenate, jnp.stack])
def test_many_arrays_become_one(join):
    apply(lambda x: join([x[i] + i for i in range(130)]), integers(130, 128))


def test_values_that_live_on_behind_an_operation_on_many():
    def both(x):
        rows = [x[i:i + 1] * 2 for i in range(64)]
        return jnp.concatenate(rows) - jnp.concatenate(rows[::-1])

    apply(both, integers(64, 128))


def test_an_array_becomes_many():
    apply(lambda x: sum(row * i for i, row in enumerate(jnp.split(x, 130))), integers(130, 128))


def test_exp2():
    apply(lambda x: jnp.exp2(jnp.floor(x)), normal(8, 128) * 4, ulps=16)


@pytest.mark.parametrize("to", ["bfloat16", "int32", "int8", "float16", "float8_e4m3fn", "bool",
                                "uint8"])
def test_casts_of_floats(to):
    least = 0 if to == "uint8" else -90
    apply(lambda x: x.astype(jnp.dtype(to)), (integers(32, 128, least=least, most=90) * 0.75)
          .astype(np.float32), ulps=0)


@pytest.mark.parametrize("to", ["float32", "bfloat16", "int8", "uint32", "bool", "int16"])
def test_casts_of_integers(to):
    apply(lambda x: x.astype(jnp.dtype(to)), integers(32, 128, least=-1000, most=1000), ulps=0)


def test_bits_as_another_dtype():
    apply(lambda x: lax.bitcast_convert_type(x, INT) ^ 1, normal(8, 128))
    apply(lambda x: lax.bitcast_convert_type(x, F32), integers(8, 128, least=0, most=10**9), ulps=0)


def test_bits_packed_by_rows():
    x = integers(16, 128, least=0, most=2**15, dtype=np.uint16)
    packed = x[0::2].astype(np.uint32) | x[1::2].astype(np.uint32) << 16
    apply(lambda x: pltpu.bitcast(x, jnp.uint32), x, wanted=packed)
    apply(lambda x: pltpu.bitcast(x, jnp.uint16), packed, wanted=x)


def test_bits_packed_along_the_last_axis():
    if "dim" not in inspect.signature(pltpu.bitcast).parameters:
        pytest.skip("this JAX packs rows alone")
    x = integers(8, 256, least=0, most=2**15, dtype=np.uint16)
    apply(lambda x: pltpu.bitcast(x, jnp.uint32, dim=-1), x, wanted=x.view(np.uint32))
    apply(lambda x: pltpu.bitcast(x, jnp.uint16, dim=-1), x.view(np.uint32), wanted=x)


def test_select_of_two_arrays():
    apply(lambda x, y: jnp.where(x > y, x, y * 2), integers(8, 128), integers(8, 128, seed=1))


def test_select_by_a_scalar():
    apply(lambda x, y: lax.select(x[0, 0] > y[0, 0], x, y), integers(8, 128),
          integers(8, 128, seed=1))


def test_clamp_by_scalars_and_arrays():
    apply(lambda x: jnp.clip(x, -10, 20), integers(8, 128))
    apply(lambda x, y: lax.clamp(y - 30, x, y), integers(8, 128), integers(8, 128, seed=1))


@pytest.mark.parametrize("dimension", [0, 1])
@pytest.mark.parametrize("dtype", ["int32", "float32"])
def test_broadcasted_iota(dimension, dtype):
    apply(lambda x: x + lax.broadcasted_iota(jnp.dtype(dtype), (8, 128), dimension),
          integers(8, 128).astype(dtype), ulps=0)


@pytest.mark.parametrize("axis", [0, 1, None])
@pytest.mark.parametrize("name", ["sum", "max", "min", "any", "all"])
def test_reductions(name, axis):
    function = getattr(jnp, name)
    if name in ("any", "all"):
        apply(lambda x: jnp.broadcast_to(function(x > 90 if name == "any" else x > -99, axis=axis,
                                                  keepdims=True).astype(INT), (8, 128)),
              integers(8, 128))
    else:
        apply(lambda x: jnp.broadcast_to(function(x, axis=axis, keepdims=True), (8, 128)),
              integers(8, 128))


def test_a_sum_of_floats():
    apply(lambda x: jnp.sum(x, axis=1, keepdims=True), normal(8, 128), terms=128)


@pytest.mark.parametrize("name", ["argmax", "argmin"])
def test_the_place_of_the_best(name):
    function = getattr(jnp, name)
    apply(lambda x: function(x, axis=1, keepdims=True) + jnp.zeros((8, 128), INT),
          normal(8, 128))


@pytest.mark.parametrize("contract", ["nn", "nt", "tn", "tt"])
def test_dot_general_contracts_any_axis(contract):
    left = (((0,) if contract[0] == "t" else (1,)), ((1,) if contract[1] == "t" else (0,)))
    apply(lambda x, y: lax.dot_general(x, y, (left, ((), ())), preferred_element_type=F32),
          normal(*((64, 32) if contract[0] == "t" else (32, 64))),
          normal(*((128, 64) if contract[1] == "t" else (64, 128)), seed=1), terms=64 * 3)


@pytest.mark.parametrize("types", [("bfloat16", "bfloat16", "float32"),
                                   ("bfloat16", "bfloat16", "bfloat16"),
                                   ("int8", "int8", "int32"),
                                   ("float32", "float32", "float32")])
def test_dot_general_of_dtypes(types):
    lhs, rhs, out = map(jnp.dtype, types)
    apply(lambda x, y: jnp.dot(x, y, preferred_element_type=out),
          integers(32, 128, least=-8, most=8, dtype=lhs),
          integers(128, 128, least=-8, most=8, dtype=rhs, seed=1), ulps=1)


def test_dot_general_with_a_batch():
    apply(lambda x, y: lax.dot_general(x, y, (((2,), (1,)), ((0,), (0,))),
                                       preferred_element_type=F32),
          integers(3, 8, 64, least=-8, most=8).astype(np.float32),
          integers(3, 64, 128, least=-8, most=8, seed=1).astype(np.float32), ulps=0)


def test_dot_with_the_highest_precision():
    kernel = apply(lambda x, y: jnp.dot(x, y, precision=lax.Precision.HIGHEST),
                   normal(8, 128), normal(128, 128, seed=1), terms=128 * 3)
    assert "'precision': 'highest'" in str(kernel.document)


SHAPES = {
    "reshape": lambda x: x.reshape(2, 8, 128), "transpose": lambda x: x.T,
    "expand": lambda x: x[:, None, :], "concatenate": lambda x: jnp.concatenate([x, x + 1], 0),
    "slice": lambda x: x[2:14:3, 5:77], "pad": lambda x: jnp.pad(x, ((1, 2), (0, 128))),
    "stack": lambda x: jnp.stack([x, -x]), "split": lambda x: jnp.split(x, 4, axis=0)[2],
    "tile": lambda x: jnp.tile(x, (2, 3)), "index": lambda x: x[3],
    "swap": lambda x: jnp.swapaxes(x.reshape(4, 4, 128), 0, 1),
    "column": lambda x: jnp.broadcast_to(x[:, 7:8], (16, 128)),
    "repeat": lambda x: jnp.repeat(x, 2, axis=0)}


@pytest.mark.parametrize("name", SHAPES)
def test_shapes(name):
    if name == "slice" and jax.__version__.startswith("0.9."):
        pytest.skip("JAX 0.9 makes a gather of it")
    apply(SHAPES[name], integers(16, 128))


@pytest.mark.parametrize("axis", [0, 1])
def test_roll(axis):
    apply(lambda x: pltpu.roll(x, 5, axis), integers(16, 128))
    apply(lambda x: pltpu.roll(x, x[0, 0] & 15, axis), integers(16, 128))


def test_roll_with_a_stride():
    apply(lambda x: pltpu.roll(x, 3, 1, stride=2, stride_axis=0), integers(16, 128))


@pytest.mark.parametrize("axis", [0, 1])
def test_take_along_an_axis(axis):
    apply(lambda x, i: jnp.take_along_axis(x, i, axis, mode="promise_in_bounds"),
          integers(8, 128), integers(8, 128, least=0, most=8, seed=1))


def test_softmax():
    apply(lambda x: jax.nn.softmax(x, axis=-1), normal(8, 128), ulps=64)


def test_layer_norm():
    def norm(x):
        mean = jnp.mean(x, axis=1, keepdims=True)
        centered = x - mean
        return centered * lax.rsqrt(jnp.mean(centered**2, axis=1, keepdims=True) + 1e-6)

    apply(norm, normal(8, 128), ulps=64, terms=4)


def test_gelu():
    apply(lambda x: jax.nn.gelu(x, approximate=True), normal(8, 128), ulps=64, terms=1)


def test_an_unstacked_array():
    apply(lambda x: sum((n + 1) * part for n, part in enumerate(jnp.unstack(x))), integers(8, 128))


def test_a_rematerialized_function_is_inlined():
    apply(jax.checkpoint(lambda x: x * 2), integers(8, 128))


def test_of_several_platforms_the_tpu_counts():
    x = integers(8, 128)
    apply(lambda x: lax.platform_dependent(x, tpu=lambda x: x + 1, default=lambda x: x - 1), x,
          wanted=x + 1)


def test_prints_are_kept_and_change_nothing():
    def shown(x):
        pl.debug_print("x {}", x[0, 0])
        return x + 1

    assert "'text': 'x {}'" in str(apply(shown, integers(8, 128)).document)


def test_a_promise_about_a_number():
    def kernel(x_ref, o_ref):
        start = pl.multiple_of(pl.program_id(0) * 8, 8)
        o_ref[...] = x_ref[pl.ds(start, 8), :]

    def fn(x):
        return call(kernel, grid=(2,), in_specs=[pl.BlockSpec((16, 128), lambda i: (0, 0))],
                    out_specs=pl.BlockSpec((8, 128), lambda i: (i, 0)),
                    out_shape=like(16, 128, dtype=INT))(x)

    check(fn, integers(16, 128))


def test_elements_packed_in_pairs():
    def pack(x, y):
        packed = pltpu.pack_elementwise([x, y], packed_dtype=jnp.bfloat16)
        return pltpu.unpack_elementwise(packed, index=1, packed_dtype=jnp.bfloat16,
                                        unpacked_dtype=F32)

    y = normal(8, 128, seed=1)
    apply(pack, normal(8, 128), y, wanted=y.astype(jnp.bfloat16).astype(np.float32), ulps=0)


RANDOM = {
    "bits": lambda x: jax.random.bits(jax.random.key(x[0, 0]), (8, 128)),
    "uniform": lambda x: jax.random.uniform(jax.random.key(7), (8, 128)),
    "folded": lambda x: jax.random.bits(
        jax.random.fold_in(jax.random.PRNGKey(3), x[0, 1]), (8, 128))}


@pytest.mark.parametrize("name", RANDOM)
def test_random_numbers_are_those_of_jax(name):
    apply(RANDOM[name], integers(8, 128), ulps=0)


def test_threefry_yields_the_bits_of_jax_random():
    from jax.extend.random import threefry2x32_p

    def bits(counts):
        return threefry2x32_p.bind(jnp.full((8, 128), 17, jnp.uint32),
                                   jnp.full((8, 128), 42, jnp.uint32), counts, counts + 1)

    apply(bits, integers(8, 128, least=0, most=10**6, dtype=np.uint32))


@pytest.mark.skipif(not hasattr(lax, "polynomial"), reason="JAX 0.12 is the first that has it")
@pytest.mark.parametrize("count", [2, 8, 12])
def test_polynomials(count):
    """Horner's rule, beginning with the highest coefficient."""
    x, scale = normal(8, 128), normal(8, 128, seed=1)
    apply(lambda x, scale: lax.polynomial(x, [scale, *map(float, range(1, count))]), x, scale,
          terms=float(np.sum(np.abs(x).max() ** np.arange(count) * count)))
