"""Arrays that a file describes by a few numbers, and arrays that it cannot describe so. In both
cases the program's values must be those of the array."""

import json
import zipfile

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import pytest
from support import call, like, pallascope, pl, report, run

from pallascope import files, recipes

INT = np.int32
ROWS, COLUMNS = np.ogrid[:256, :384]


def entry_of(kernel, path, number=-1):
    kernel.save(path)
    with zipfile.ZipFile(path) as archive:
        return json.loads(archive.read("kernel.json"))["inputs"][number], archive.namelist()


def identity_of(array):
    """Returns a function that returns what it closes over, which becomes an input of the file."""
    def fn(x):
        return x, jnp.asarray(array)

    return pallascope.capture(fn, like(8, 128))


# The entry of each array; {} for one that has to be stored.
ARRAYS = {
    "zeros": (np.zeros((256, 128), INT), {"zeros": {}}),
    "fill": (np.full((256, 128), -7, INT), {"fill": {"value": -7}}),
    "fill of a float": (np.full((256, 128), 0.1, np.float32),
                        {"fill": {"value": float(np.float32(0.1))}}),
    "fill of infinities": (np.full((256, 128), -np.inf, ml_dtypes.bfloat16),
                           {"fill": {"value": "-inf"}}),
    "fill of negative zeros": (np.full((256, 128), -0.0, np.float32), {"fill": {"value": -0.0}}),
    "rows": (np.broadcast_to(np.arange(256, dtype=INT)[:, None], (256, 128)),
             {"iota": {"start": 0, "steps": [1, 0]}}),
    "rows, materialised": (np.repeat(np.arange(5, 261, dtype=INT), 128).reshape(256, 128),
                           {"iota": {"start": 5, "steps": [1, 0]}}),
    "all axes": (np.ascontiguousarray(1000 - ROWS * 3 + COLUMNS * 2).astype(INT).reshape(
        256, 1, 384), {"iota": {"start": 1000, "steps": [-3, 0, 2]}}),
    "columns in front": (np.asfortranarray((ROWS + COLUMNS * 256).astype(INT)),
                         {"iota": {"start": 0, "steps": [1, 256]}}),
    "floats": ((ROWS * 384 + COLUMNS).astype(np.float32),
               {"iota": {"start": 0, "steps": [384, 1]}}),
    "least and greatest": (np.repeat(INT([[-2**31], [2**31 - 1]]), 1 << 14, 1),
                           {"iota": {"start": -2**31, "steps": [2**32 - 1, 0]}}),
    "narrow": (np.broadcast_to(np.arange(-8, 8).astype(ml_dtypes.int4), (8192, 16)),
               {"iota": {"start": -8, "steps": [0, 1]}}),
    "causal": ((COLUMNS <= ROWS).astype(INT), {"mask": {"steps": [-1, 1], "high": 0}}),
    "causal, bool": (COLUMNS <= ROWS, {"mask": {"steps": [-1, 1], "high": 0}}),
    "strictly above": ((COLUMNS > ROWS).astype(np.int8), {"mask": {"steps": [-1, 1], "low": 1}}),
    "local": ((abs(ROWS - COLUMNS) < 32).astype(INT),
              {"mask": {"steps": [-1, 1], "low": -31, "high": 31}}),
    "local, to add": (np.where((COLUMNS <= ROWS) & (COLUMNS > ROWS - 100), 0,
                               -1e30).astype(np.float32),
                      {"mask": {"steps": [-1, 1], "low": -99, "high": 0, "inside": 0,
                                "outside": float(np.float32(-1e30))}}),
    "not near": (abs(ROWS - COLUMNS) > 3,
                 {"mask": {"steps": [-1, 1], "low": -3, "high": 3, "inside": 0, "outside": 1}}),
    "slope": ((COLUMNS <= 2 * ROWS - 60).astype(INT), {"mask": {"steps": [-2, 1], "high": -60}}),
    "blocks": (((4 * np.arange(4)[:, None, None] + ROWS[None, :128])
                >= COLUMNS[None, :, :256]).astype(np.int8),
               {"mask": {"steps": [-4, -1, 1], "high": 0}}),
    "lengths": (np.broadcast_to(np.arange(256)[:, None] < 100, (256, 512)).astype(np.int8),
                {"mask": {"steps": [1, 0], "high": 99}}),
    "repeated rows": (np.tile(np.random.default_rng(0).integers(0, 99, (4, 512), INT), (32, 1)),
                      {"repeats": [32, 1]}),
    "repeated lanes": (np.repeat(np.random.default_rng(1).standard_normal((256, 1), np.float32),
                                 128, 1), {"repeats": [1, 128]}),
    "broadcast": (np.broadcast_to(np.float32([[1.5], [2.25], [7.0], [-1.0]]), (4, 8192)),
                  {"repeats": [1, 8192]}),
    "random": (np.random.default_rng(2).integers(0, 99, (256, 128), INT), {}),
    "one element off": (np.where((ROWS == 200) & (COLUMNS == 311), 1, 0).astype(INT), {}),
    "an iota but for one": (ROWS * 384 + COLUMNS + (ROWS * COLUMNS == 200 * 311), {}),
    "a mask but for one": ((COLUMNS <= ROWS) ^ ((ROWS == 11) & (COLUMNS == 300)), {}),
    "zeros of both signs": (np.where(ROWS == COLUMNS, -0.0, 0.0).astype(np.float32),
                            {"mask": {"steps": [-1, 1], "low": 0, "high": 0, "inside": -0.0}}),
    "nan": (np.full((256, 128), np.nan, np.float32), {"repeats": [256, 128]}),
    "beyond whole floats": ((2**24 + np.arange(2**16)).astype(np.float32), {}),
}


@pytest.mark.parametrize("name", ARRAYS)
def test_an_array_is_kept_whole(name, tmp_path):
    array, wanted = ARRAYS[name]
    array = array.astype(INT) if array.dtype == np.int64 else array
    kernel = identity_of(array)
    entry, members = entry_of(kernel, tmp_path / "k.pallascope")
    stored = {"npy": "arrays/arg1.npy"} | wanted
    assert entry == (wanted if wanted and "repeats" not in wanted else stored)
    assert ("arrays/arg1.npy" in members) == ("npy" in entry)
    found = run(kernel)[1]
    width = f"u{array.itemsize}"
    np.testing.assert_array_equal(found.view(width), np.ascontiguousarray(array).view(width))


def test_random_masks_and_iotas_are_recognised():
    for seed in range(60):
        random = np.random.default_rng(seed)
        shape = tuple(random.integers(40, 70, 3))
        steps = [*random.integers(-2, 3, 2), 1]
        sums = sum(step * index for step, index in zip(steps, np.indices(shape), strict=True))
        found = recipes.recipe_of(sums.astype(INT))
        assert found == {"iota": {"start": 0, "steps": steps}}, seed
        low = int(random.integers(-20, 20))
        wanted = {"steps": steps, "low": low, "high": low + 25}
        if sums.min() >= low:
            del wanted["low"]
        found = recipes.recipe_of(((low <= sums) & (sums <= low + 25)).astype(INT))
        assert found == {"mask": wanted}, seed


def test_small_arrays_stay_arrays(tmp_path):
    entry, _ = entry_of(identity_of(np.arange(128, dtype=INT)), tmp_path / "k.pallascope")
    assert entry == {"npy": "arrays/arg1.npy"}


def test_arguments_have_recipes_too_and_json_holds_them(tmp_path):
    kernel = pallascope.capture(lambda x: x + 1, np.broadcast_to(np.arange(512), (512, 512)))
    kernel.save(tmp_path / "k.kernel.json")
    document = json.loads((tmp_path / "k.kernel.json").read_text())
    assert document["inputs"] == [{"iota": {"start": 0, "steps": [0, 1]}}]


def test_a_constant_of_gigabytes_takes_no_memory(tmp_path):
    """The constant is a view of one row; a copy would take 12 GiB."""
    table = np.broadcast_to(np.arange(1 << 16, dtype=INT), (3 << 14, 1 << 16))

    def kernel(table_ref, x_ref, o_ref):
        o_ref[...] = x_ref[...] + table_ref[...]

    def fn(x):
        rows = pl.BlockSpec((8, 128), lambda i: (i, 0))
        return call(kernel, grid=(4,), in_specs=[rows, rows], out_specs=rows,
                    out_shape=like(32, 128, dtype=jnp.int32))(table, x)

    kernel = pallascope.capture(fn, like(32, 128, dtype=jnp.int32))
    entry, _ = entry_of(kernel, tmp_path / "k.pallascope")
    assert entry == {"iota": {"start": 0, "steps": [0, 1]}}
    assert report(kernel, "--values", "needed")["hbm_read_bytes"] == 2 * 32 * 128 * 4


def test_tables_of_gigabytes_are_computed_without_what_repeats(tmp_path):
    def fn(x):
        table = 2 * jax.lax.broadcasted_iota(jnp.int32, (3 << 14, 1 << 16), 0) + 1
        return jax.lax.dynamic_slice(x, (0, 0), (8, 128)), jnp.where(table >= 9, table, 9)

    kernel = pallascope.capture(fn, like(16, 128))
    (table,) = (kernel.arrays[number] for number in kernel.constants)
    assert table.strides == (4, 0)
    assert [*table[:6, 7]] == [9, 9, 9, 9, 9, 11]
    entry, _ = entry_of(kernel, tmp_path / "k.pallascope")
    assert entry == {"npy": "arrays/arg1.npy", "repeats": [1, 1 << 16]}


def test_a_constant_that_is_one_number_is_that_number_to_a_fusion():
    kernel = pallascope.capture(lambda x: x + jnp.full(x.shape, 3, jnp.int32),
                                like(3 << 14, 1 << 16, dtype=jnp.int32))
    assert len(kernel.document["inputs"]) == 1
    assert 3 in [value.get("literal") for value in kernel.document["values"]]


@pytest.mark.parametrize("order", ["C", "F", "strided"])
def test_arrays_larger_than_a_piece_are_streamed_in_their_order(order, tmp_path, monkeypatch):
    monkeypatch.setattr(files, "_PIECE_BYTES", 1000)
    array = np.random.default_rng(3).integers(0, 1 << 30, (200, 3, 120), INT)
    array = {"C": array, "F": np.asfortranarray(array), "strided": array[::-2, :, ::3]}[order]
    kernel = identity_of(array)
    kernel.save(tmp_path / "k.pallascope")
    with np.load(tmp_path / "k.pallascope") as archive:
        np.testing.assert_array_equal(archive["arrays/arg1"], array)
