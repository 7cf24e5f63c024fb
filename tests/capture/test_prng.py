"""The random generator of a TPU, which threefry replaces."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax
from jax.extend.random import threefry_2x32
from support import compare, like, operations, pallascope, pl, pltpu, run


def drawn(seed, start, shape):
    """Returns what docs/capture.md says: element n since the seed is the threefry of (0, n)."""
    low = (start + np.arange(np.prod(shape))).astype(np.uint32)
    key = np.array(seed, np.uint32)
    a, b = np.split(np.asarray(threefry_2x32(key, np.concatenate([low * 0, low]))), 2)
    return (a ^ b).reshape(shape)


def result(kernel, shape, dtype, *args, expect=0, **options):
    def fn(*args):
        return pl.pallas_call(kernel, out_shape=like(*shape, dtype=dtype), **options)(*args)

    return run(pallascope.capture(fn, *args), expect=expect)[0]


def test_bits_follow_from_the_seed_and_how_many_were_drawn():
    def kernel(o_ref):
        pltpu.prng_seed(7, -5)
        o_ref[0] = pltpu.prng_random_bits((8, 128))
        o_ref[1] = pltpu.prng_random_bits((8, 128))

    found = result(kernel, (2, 8, 128), jnp.int32).view(np.uint32)
    np.testing.assert_array_equal(found, drawn((7, 2**32 - 5), 0, (2, 8, 128)))


@pytest.mark.parametrize("dtype", [jnp.uint32, jnp.int32])
def test_bits_are_one_operation_of_the_file(dtype):
    def kernel(o_ref):
        pltpu.prng_seed(7)
        o_ref[...] = pltpu.prng_random_bits((16, 128)).astype(dtype)

    captured = pallascope.capture(
        lambda: pl.pallas_call(kernel, out_shape=like(16, 128, dtype=dtype))())
    found = list(operations(captured.document["body"]))
    (bits,) = [operation for operation in found if operation["op"] == "prng_random_bits"]
    assert bits["params"] == {"shape": [16, 128]}
    assert len(bits["operands"]) == 3 and len(bits["results"]) == 1
    assert not {"threefry2x32", "iota_2x32_shape"} & {operation["op"] for operation in found}
    np.testing.assert_array_equal(run(captured)[0].view(np.uint32), drawn((7, 0), 0, (16, 128)))


def test_every_step_goes_on_where_the_one_before_stopped():
    def kernel(o_ref):
        @pl.when(pl.program_id(0) == 0)
        def _():
            pltpu.prng_seed(3)

        o_ref[...] = pltpu.prng_random_bits((8, 128))

    found = result(kernel, (32, 128), jnp.int32, grid=(4,),
                   out_specs=pl.BlockSpec((8, 128), lambda i: (i, 0)))
    np.testing.assert_array_equal(found.view(np.uint32), drawn((3, 0), 0, (32, 128)))


def test_more_words_of_a_seed_are_encrypted():
    def kernel(o_ref):
        pltpu.prng_seed(1, 2, 3)
        o_ref[...] = pltpu.prng_random_bits((8, 128))

    key = threefry_2x32(np.array([1, 2], np.uint32), np.array([3, 0], np.uint32))
    found = result(kernel, (8, 128), jnp.int32)
    np.testing.assert_array_equal(found.view(np.uint32), drawn(key, 0, (8, 128)))


@pytest.mark.parametrize("draw", [pltpu.stateful_uniform, pltpu.stateful_normal])
def test_numbers_are_made_of_bits_as_jax_makes_them(draw):
    def kernel(o_ref):
        pltpu.prng_seed(11)
        o_ref[...] = draw((64, 128))

    found = result(kernel, (64, 128), jnp.float32)
    bits = drawn((11, 0), 0, (64, 128))
    unit = ((bits >> 9) | 0x3F800000).view(np.float32) - 1
    if draw is pltpu.stateful_uniform:
        compare(found, unit, 0, 0)
    else:
        low = np.nextafter(np.float32(-1), np.float32(0))
        wide = np.maximum(low, unit * (np.float32(1) - low) + low)
        compare(found, np.float32(2**0.5) * np.asarray(jax.scipy.special.erfinv(wide)), 0, 64)


def test_bits_without_a_seed_are_undefined():
    def kernel(o_ref):
        o_ref[...] = pltpu.prng_random_bits((8, 128))

    result(kernel, (8, 128), jnp.int32, expect=1)


KEY = jax.random.key(5)
WORDS = np.asarray(jax.random.key_data(pltpu.to_pallas_key(KEY)))[0]


def test_a_key_of_the_chip_in_smem():
    def kernel(key_ref, o_ref):
        o_ref[...] = jax.random.bits(key_ref[...], (8, 128))

    def fn(key):
        return pl.pallas_call(kernel, in_specs=[pl.BlockSpec(memory_space=pltpu.SMEM)],
                              out_shape=like(8, 128, dtype=jnp.uint32))(pltpu.to_pallas_key(key))

    found = run(pallascope.capture(fn, KEY))[0]
    np.testing.assert_array_equal(found, drawn(WORDS, 0, (8, 128)))


def test_a_key_of_the_chip_that_each_step_folds_its_number_into():
    def kernel(key_ref, o_ref):
        key = jax.random.fold_in(key_ref[...], pl.program_id(0))
        o_ref[...] = jax.random.bits(key, (8, 128))

    def fn(key):
        return pl.pallas_call(kernel, grid_spec=pltpu.PrefetchScalarGridSpec(
            num_scalar_prefetch=1, grid=(2,), in_specs=[],
            out_specs=pl.BlockSpec((8, 128), lambda i, _: (i, 0))),
            out_shape=like(16, 128, dtype=jnp.uint32))(key)

    found = run(pallascope.capture(fn, pltpu.to_pallas_key(KEY)))[0]
    for step in range(2):
        a, b = int(WORDS[0]), (int(WORDS[1]) + step) % 2**32
        a = (a + b) % 2**32  # one round of threefry
        b = a ^ (b << 13 | b >> 19) % 2**32
        np.testing.assert_array_equal(found[8 * step:][:8], drawn((a, b), 0, (8, 128)))


def test_a_key_is_an_argument():
    def kernel(x_ref, o_ref):
        o_ref[...] = x_ref[...] * 2

    def fn(key, x):
        noise = jax.random.bits(jax.random.fold_in(key, 3), (8, 128))
        return pl.pallas_call(kernel, out_shape=like(8, 128, dtype=jnp.uint32))(x + noise)

    x = np.arange(1024, dtype=np.uint32).reshape(8, 128)
    found = run(pallascope.capture(fn, KEY, x))[0]
    np.testing.assert_array_equal(
        found, 2 * (x + np.asarray(jax.random.bits(jax.random.fold_in(KEY, 3), (8, 128)))))


KEYED = {
    "split": lambda key: [jax.random.uniform(part, (8,)) for part in jax.random.split(key)],
    "split into many": lambda key: jax.random.split(key, (2, 3)),
    "a seed of a number": lambda key: jax.random.bits(jax.random.key(jax.random.bits(key)), (8,)),
    "a constant seed": lambda key: jax.random.bits(jax.random.split(jax.random.key(3))[1], (8,)),
    "bits of each": lambda key: jax.vmap(lambda part: jax.random.bits(part, (4, 5)))(
        jax.random.split(key, 3)),
    "numbers folded into one": lambda key: jax.vmap(
        lambda number: jax.random.fold_in(key, number))(jnp.arange(5)),
    "a number folded into each": lambda key: jax.vmap(
        lambda part: jax.random.fold_in(part, 3))(jax.random.split(key, 4)),
    "bits of 8": lambda key: jax.random.bits(key, (30,), np.uint8),
    "bits of 16": lambda key: jax.random.bits(key, (30,), np.uint16),
    "uniform": lambda key: jax.random.uniform(key, (3, 50), minval=-1, maxval=2),
    "uniform in bf16": lambda key: jax.random.uniform(key, (30,), jnp.bfloat16),
    "bernoulli": lambda key: jax.random.bernoulli(key, 0.3, (300,)),
    "randint": lambda key: jax.random.randint(key, (30,), -5, 77),
    "permutation": lambda key: jax.random.permutation(key, jnp.arange(60).reshape(20, 3)),
    "choice": lambda key: jax.random.choice(key, 20, (7,), replace=False),
    "categorical": lambda key: jax.random.categorical(key, jnp.zeros((10, 5))),
    "scan": lambda key: lax.scan(
        lambda carry, part: (jax.random.fold_in(carry, 1), jax.random.bits(part, (3,))),
        key, jax.random.split(key, 4)),
    "a loop": lambda key: lax.fori_loop(0, 5, lambda _, key: jax.random.split(key)[0], key),
    "cond": lambda key: lax.cond(jax.random.bernoulli(key), lambda key: key,
                                 lambda key: jax.random.fold_in(key, 9), key),
    "where": lambda key: jnp.where(jnp.arange(4) < 2, jax.random.split(key, 4),
                                   jax.random.split(jax.random.key(2), 4)),
    "joined": lambda key: jnp.concatenate([jax.random.split(key, 4), key[None]])[::2],
    "one of them": lambda key: jax.random.split(key, 4)[jax.random.randint(key, (), 0, 4)],
    "some of them": lambda key: jax.random.split(key, 4).reshape(2, 2).T[jnp.array([1, 0])],
    "their words": lambda key: jax.random.key_data(jax.random.split(key, (2, 3))).T}


def check_keyed(fn, key, ulps=0):
    def kernel(x_ref, o_ref):
        o_ref[...] = x_ref[...]

    def both(key, x):
        return fn(key), pl.pallas_call(kernel, out_shape=like(8, 128))(x)

    found = run(pallascope.capture(both, key, np.zeros((8, 128), np.float32)))
    wanted = [np.asarray(jax.random.key_data(leaf)
                         if jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key) else leaf)
              for leaf in jax.tree_util.tree_leaves(jax.jit(fn)(key))]
    for ours, theirs in zip(found[:-1], wanted, strict=True):
        compare(ours, theirs, 0, ulps)


@pytest.mark.parametrize("name", KEYED)
def test_jax_random_around_a_kernel(name):
    check_keyed(KEYED[name], KEY)


def test_normal_numbers_around_a_kernel():
    check_keyed(lambda key: jax.random.normal(key, (300,)), KEY, ulps=64)


@pytest.mark.parametrize("kind", ["rbg", "unsafe_rbg"])
@pytest.mark.parametrize("name", [
    "split", "bits of each", "numbers folded into one", "bits of 8", "bits of 16", "uniform",
    "bernoulli", "randint", "permutation", "scan", "cond", "one of them", "their words"])
def test_draws_of_keys_whose_bits_a_chip_makes(name, kind):
    check_keyed(KEYED[name], jax.random.key(7, impl=kind))


def test_a_state_that_is_counted_over_its_words():
    state = np.array([5, 6, 0xfffffffd, 7], np.uint32)
    check_keyed(lambda key: lax.rng_bit_generator(jax.random.key_data(key), (3, 11)),
                jax.random.wrap_key_data(state, impl="rbg"))


def test_a_kernel_in_a_loop_over_keys():
    def kernel(x_ref, o_ref):
        o_ref[...] = x_ref[...] * 2

    def fn(key):
        def turn(total, part):
            noise = jax.random.bits(part, (8, 128))
            return total + pl.pallas_call(kernel, out_shape=noise)(noise), part

        return lax.scan(turn, jnp.zeros((8, 128), jnp.uint32), jax.random.split(key, 3))

    total, parts = run(pallascope.capture(fn, KEY))
    split = jax.random.split(KEY, 3)
    np.testing.assert_array_equal(
        total, sum(2 * np.asarray(jax.random.bits(part, (8, 128))) for part in split))
    np.testing.assert_array_equal(parts, np.asarray(jax.random.key_data(split)))


def test_a_key_of_the_chip_is_not_split():
    def fn(key):
        return jax.random.split(pltpu.to_pallas_key(key))[0]

    with pytest.raises(pallascope.UnsupportedError) as caught:
        pallascope.capture(fn, KEY)
    assert "Cannot split a Pallas key" in str(caught.value)
