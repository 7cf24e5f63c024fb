"""What a vector subcore does in its registers: the primitives of plsc."""

import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax
from subcores import LANES, on_one, plsc
from support import integers, like, normal, pl


@pytest.mark.parametrize("bounds", [(0, 64, LANES), (LANES, 64, 2 * LANES)])
def test_a_parallel_loop(bounds):
    def body(x, o, sums):
        @pl.loop(0, 64, step=LANES)
        def _(i):
            o[pl.ds(i, LANES)] = jnp.zeros((LANES,), jnp.int32)

        @plsc.parallel_loop(*bounds, unroll=2, carry=jnp.zeros((LANES,), jnp.int32))
        def total(i, carry):
            o[pl.ds(i, LANES)] = x[pl.ds(i, LANES)] + i
            return carry + x[pl.ds(i, LANES)]

        sums[...] = total

    x = integers(64)
    o, sums = np.zeros(64, np.int32), np.zeros(LANES, np.int32)
    for i in range(*bounds):
        o[i:i + LANES] = x[i:i + LANES] + i
        sums += x[i:i + LANES]
    on_one(body, x, out=[like(64, dtype=np.int32), like(LANES, dtype=np.int32)], wanted=[o, sums])


def test_a_parallel_loop_of_as_many_rounds_as_a_number_says():
    def body(x, o):
        o[...] = jnp.zeros((LANES,), jnp.int32)
        many = x[...][3]

        @plsc.parallel_loop(0, many)
        def _(i):
            o[...] = o[...] + i

    on_one(body, np.full(LANES, 5, np.int32), out=like(LANES, dtype=np.int32),
           wanted=np.full(LANES, 10, np.int32))


def test_scan_count():
    def body(x, counts, last):
        counts[...], mask = plsc.scan_count(x[...])
        last[...] = mask.astype(jnp.int32)

    x = integers(LANES, least=0, most=5)
    counts = np.array([np.sum(x[:i + 1] == x[i]) for i in range(LANES)], np.int32)
    last = np.array([not np.any(x[i + 1:] == x[i]) for i in range(LANES)], np.int32)
    out = like(LANES, dtype=np.int32)
    on_one(body, x, out=[out, out], wanted=[counts, last])


@pytest.mark.parametrize("kind", ["cumsum", "cummax", "cummin"])
def test_masked_cumulative(kind):
    def body(x, o):
        o[...] = getattr(plsc, kind)(x[...], mask=x[...] % 3 == 1)

    if not hasattr(plsc, kind):
        pytest.skip(f"this JAX has no plsc.{kind}")
    x = integers(LANES)
    mask = x % 3 == 1
    wanted, kept = [], []
    for element, taken in zip(x, mask, strict=True):
        kept += [element] if taken else []
        passed = 0 if kind == "cumsum" else element
        wanted.append({"cumsum": sum, "cummax": max, "cummin": min}[kind](kept) if kept
                      else passed)
    on_one(body, x, out=like(LANES, dtype=np.int32), wanted=np.array(wanted, np.int32))


@pytest.mark.parametrize("dtype", [np.int32, np.float32])
@pytest.mark.parametrize("descending", [False, True])
def test_sort(dtype, descending):
    def body(x, keys, values, valid):
        places = lax.iota(jnp.int32, LANES)
        keys[...], values[...], mask = plsc.sort_key_val(
            x[...], places, mask=places % 4 != 0, descending=descending)
        valid[...] = mask.astype(jnp.int32)

    x = np.random.default_rng(0).permutation(LANES).astype(dtype) - 5
    in_, out = np.arange(LANES) % 4 != 0, np.arange(LANES) % 4 == 0
    sign = -1 if descending else 1
    taken = sorted(np.flatnonzero(in_), key=lambda i: sign * x[i])
    left = sorted(np.flatnonzero(out), key=lambda i: sign * x[i])
    order = np.array([*taken, *left])
    ints = like(LANES, dtype=np.int32)
    on_one(body, x, out=[like(LANES, dtype=dtype), ints, ints],
           wanted=[x[order], order.astype(np.int32),
                   (np.arange(LANES) < in_.sum()).astype(np.int32)])


def test_counts_of_a_mask():
    def body(x, many, first):
        many[...] = plsc.all_reduce_population_count(x[...] > 20)
        first[...] = plsc.all_reduce_ffs(x[...] > 20)

    x, out = integers(LANES), like(LANES, dtype=np.int32)
    on_one(body, x, out=[out, out], wanted=[
        np.full(LANES, np.sum(x > 20), np.int32), np.full(LANES, np.argmax(x > 20), np.int32)])


def test_packing():
    def body(a, b, c, d):
        packed = plsc.pack(a[...], b[...], format=plsc.PackFormat.INTERLEAVED)
        c[...], d[...] = plsc.unpack(packed, format=plsc.PackFormat.INTERLEAVED)

    a, b = normal(LANES), normal(LANES, seed=1)
    rounded = [np.asarray(jnp.asarray(x).astype(jnp.bfloat16).astype(jnp.float32))
               for x in (a, b)]
    on_one(body, a, b, out=[like(LANES), like(LANES)], wanted=rounded)


def test_bits_of_the_same_width():
    def body(x, o):
        o[...] = plsc.bitcast(plsc.bitcast(x[...], jnp.int32) ^ 1, jnp.float32)

    x = normal(LANES)
    on_one(body, x, out=like(LANES), wanted=(x.view(np.int32) ^ 1).view(np.float32))


def test_bits_of_another_width():
    def body(x, halves, whole):
        narrow = plsc.bitcast(x[...], jnp.uint16)
        halves[...] = narrow
        whole[...] = plsc.bitcast(narrow, jnp.float32)

    x = normal(LANES)
    on_one(body, x, out=[like(2 * LANES, dtype=np.uint16), like(LANES)],
           wanted=[x.view(np.uint16), x])


def test_compressed_stores_and_expanded_loads():
    def body(x, packed, spread):
        mask = x[...] > 0
        packed[...] = jnp.full((LANES,), -1, jnp.int32)
        plsc.store_compressed(packed.at[...], x[...], mask=mask)
        found = plsc.load_expanded(packed.at[...], mask=mask)
        spread[...] = jnp.where(mask, found, 0)

    x = integers(LANES)
    packed = np.full(LANES, -1, np.int32)
    packed[:np.sum(x > 0)] = x[x > 0]
    out = like(LANES, dtype=np.int32)
    on_one(body, x, out=[out, out], wanted=[packed, np.where(x > 0, x, 0)])


def test_additions_in_memory():
    def body(x, o):
        o[...] = jnp.ones((LANES,), jnp.int32)
        plsc.addupdate(o.at[...], x[...])
        plsc.addupdate_compressed(o.at[...], x[...], mask=x[...] > 0)

    x = integers(LANES)
    wanted = 1 + x
    wanted[:np.sum(x > 0)] += x[x > 0]
    on_one(body, x, out=like(LANES, dtype=np.int32), wanted=wanted)


def test_a_function_of_some_elements():
    def body(x, places, o):
        o[...] = x[...].at[places[...]].apply(lambda v: v * v + 1, unique_indices=True)

    x, places = integers(LANES), np.array([3, 0, 7, 12, 9, 1, 15, 5], np.int32)
    places = np.concatenate([places, np.full(LANES - places.size, 2 * LANES, np.int32)])
    wanted = x.copy()
    wanted[places[:8]] = wanted[places[:8]] ** 2 + 1
    on_one(body, x, places, out=like(LANES, dtype=np.int32), wanted=wanted)


@pytest.mark.parametrize("masked", [False, True])
def test_listed_elements_of_memory(masked):
    def body(x, rows, columns, o):
        mask = {"mask": rows[...] < 3} if masked else {}
        o[...] = jnp.where(rows[...] < 3,
                           plsc.load_gather(x, [rows[...], columns[...]], **mask), -1)

    x, rows = integers(4, LANES), integers(LANES, least=0, most=3)
    columns = integers(LANES, seed=1, least=0, most=LANES - 1)
    if masked:
        rows[3] = 7  # out of bounds, but masked
    on_one(body, x, rows, columns, out=like(LANES, dtype=np.int32),
           wanted=np.where(rows < 3, x[np.minimum(rows, 3), columns], -1))


def test_listed_elements_of_a_part():
    def body(x, places, o):
        o[...] = plsc.load_gather(x.at[1], [places[...]])

    x, places = normal(3, 2 * LANES), integers(LANES, least=0, most=2 * LANES - 1)
    on_one(body, x, places, out=like(LANES), wanted=x[1, places])


def test_a_histogram():
    def body(x, counts):
        counts[...] = jnp.zeros((LANES,), jnp.int32)

        @pl.loop(0, 64, step=LANES)
        def _(i):
            plsc.addupdate_scatter(counts, [x[pl.ds(i, LANES)]], jnp.ones((LANES,), jnp.int32))

    x = integers(64, least=0, most=LANES - 1)
    on_one(body, x, out=like(LANES, dtype=np.int32),
           wanted=np.bincount(x, minlength=LANES).astype(np.int32))


def test_a_scatter_that_leaves_lanes_out():
    def body(x, places, o):
        o[...] = jnp.zeros((2 * LANES,), jnp.float32)
        plsc.store_scatter(o, [places[...]], x[...], mask=x[...] > 0)

    x, places = normal(LANES), np.arange(2 * LANES - 2, -1, -2, dtype=np.int32)
    wanted = np.zeros(2 * LANES, np.float32)
    wanted[places[x > 0]] = x[x > 0]
    on_one(body, x, places, out=like(2 * LANES), wanted=wanted)
