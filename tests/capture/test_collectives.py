"""Collectives around kernels, compared with JAX's on simulated devices."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

import jax
import numpy as np
import pytest
from collective_kernels import DTYPES, cases, doubled
from jax import lax
from jax.sharding import PartitionSpec as P
from support import operations, pallascope

CASES = cases()
RATE, LATENCY = 45e9, 1e-6  # of the links of a TPU v5e
_CHIP = pathlib.Path(__file__).parents[2] / "resources" / "chips" / "tpu_v5e.json"
LAUNCH = json.loads(_CHIP.read_text())["constants"]["kernel_launch_s"]["value"]


@pytest.fixture(scope="module")
def oracle():
    with tempfile.TemporaryDirectory() as folder:
        script = pathlib.Path(__file__).parent / "collective_kernels.py"
        done = subprocess.run([sys.executable, script, f"{folder}/out.npz"], capture_output=True,
                              text=True, timeout=300, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        return dict(np.load(f"{folder}/out.npz"))


def run(kernel, *options, values="full"):
    """Returns its results, if it computes them, and its report. No run here may have a finding."""
    with tempfile.TemporaryDirectory() as folder:
        path, out = pathlib.Path(folder) / "k.pallascope", f"{folder}/out.npz"
        kernel.save(path)
        keep = ["--results", out] if values == "full" else []
        done = subprocess.run([os.environ["PALLASCOPE"], "run", path, "--json", "--values", values,
                               *keep, *options],
                              capture_output=True, text=True, timeout=120, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        report = json.loads(done.stdout)
        assert report["findings"] == []
        if not keep:
            return [], report
        with np.load(out) as archive:
            return [archive[f"result{i}"] for i in range(len(archive.files))], report


def captured(name):
    case = CASES[name]
    return pallascope.capture(case.on(pallascope.mesh_of(case.axes)), case.argument(), name=name)


@pytest.mark.parametrize("name", CASES)
def test_results_are_those_of_jax(oracle, name):
    dtype = np.dtype(DTYPES[CASES[name].dtype])
    found, _ = run(captured(name))
    for number, ours in enumerate(found):
        theirs = oracle[f"{name} {number}"]
        ours = ours.view(dtype).astype(np.float32) if ours.dtype.kind == "V" else ours
        assert ours.shape == theirs.shape
        if dtype.kind == "i" or not name.startswith(("psum", "pmean")):
            np.testing.assert_array_equal(ours, theirs)
            continue
        # Both add up 2n numbers of at most 500 and round each sum.
        n = CASES[name].axes["x"]
        unit = float(jax.numpy.finfo(dtype).eps)
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=2 * n * unit * n * 1000)


@pytest.mark.parametrize("name", ["psum_8", "psum_scatter_4", "all_to_all_8", "all_gather_on_both",
                                  "in_a_loop"])
@pytest.mark.parametrize("mode", ["eager", "on_wait"])
def test_copies_are_in_order_whenever_they_move_their_data(name, mode):
    timed, _ = run(captured(name))
    ours, _ = run(captured(name), "--set", f"dma_execution_mode={mode}")
    np.testing.assert_array_equal(ours[0], timed[0])


def around(n, fn, part, out, dtype=np.float32):
    """A function on every device's part on a ring, beside a small kernel."""
    case = jax.shard_map(lambda x, y: (fn(x), doubled(y)), mesh=pallascope.mesh_of({"x": n}),
                         in_specs=(P("x"), P()), out_specs=(out, P()), check_vma=False)
    x = (np.random.default_rng(1).standard_normal((n * part[0], *part[1:])) * 9).astype(dtype)
    return pallascope.capture(case, x, np.zeros((8, 128), np.float32)), x


@pytest.mark.parametrize("dtype", ["f32", "bf16"])
@pytest.mark.parametrize("n", [2, 3, 4, 8])
def test_sums_are_of_what_came_forwards_its_own_and_what_came_backwards(n, dtype):
    dtype = DTYPES[dtype]
    kernel, x = around(n, lambda x: lax.psum_scatter(x, "x", tiled=True), (n * 8, 128), P("x"),
                       dtype)
    (ours, _), _ = run(kernel)
    parts = x.reshape(n, n, 8, 128)
    for device, found in enumerate(ours.view(dtype).reshape(n, 8, 128)):
        def reduced(distances, device=device):
            terms = [parts[(device + distance) % n, device] for distance in distances]
            total = terms[0]
            for term in terms[1:]:
                total = (total + term).astype(dtype)
            return total

        total = (reduced(range(-(n // 2), 0)) + parts[device, device]).astype(dtype)
        if n > 2:
            total = (total + reduced(range((n - 1) // 2, 0, -1))).astype(dtype)
        np.testing.assert_array_equal(found, total)


# For parts of `size` bytes on n devices: how many hops follow each other, and how many bytes a
# forward link carries in all.
TIMES = {
    "all_gather": (lambda x, n: lax.all_gather(x, "x"), P(),
                   lambda n, size: (n // 2, n // 2 * size)),
    "psum_scatter": (lambda x, n: lax.psum_scatter(x, "x", tiled=True), P("x"),
                     lambda n, size: (n // 2, n // 2 * size / n)),
    "psum": (lambda x, n: lax.psum(x, "x"), P(),
             lambda n, size: (2 * (n // 2), 2 * (n // 2) * size / n)),
    "all_to_all": (lambda x, n: lax.all_to_all(x, "x", 0, 0, tiled=True), P("x"),
                   lambda n, size: (n // 2, n // 2 * (n // 2 + 1) / 2 * size / n)),
    "ppermute": (lambda x, n: lax.ppermute(x, "x", [(i, (i + 1) % n) for i in range(n)]), P("x"),
                 lambda n, size: (1, size)),
}


@pytest.mark.parametrize("n", [2, 4, 8])
@pytest.mark.parametrize("name", TIMES)
def test_a_collective_takes_as_long_as_the_links_need_for_it(name, n):
    fn, out, formula = TIMES[name]
    kernel, x = around(n, lambda x: fn(x, n), (1024, 256), out)
    hops, size = formula(n, x.nbytes // n)
    _, needed = run(kernel, values="needed")
    _, full = run(kernel)
    assert needed["time_s"] == full["time_s"]
    assert full["bound_by"] == "memory(ICI)"
    assert full["busy_s"]["ICI"] == pytest.approx(size / RATE, rel=1e-6)
    # Pieces of a sum follow each other, so that later hops do not wait. The rest of the time
    # belongs to the small kernel and to a last addition. The operations that make up a collective
    # are not launched.
    most = LAUNCH + hops * LATENCY + size / RATE
    least = LAUNCH + LATENCY + size / RATE if "psum" in name else most
    assert least < full["time_s"] < most + 1.5e-6


@pytest.mark.parametrize("name", TIMES)
def test_the_parts_of_a_collective_are_not_launched(name):
    fn, out, _ = TIMES[name]
    kernel, _ = around(4, lambda x: fn(x * 2, 4), (1024, 256), out)
    launched = [operation["params"]["name"] for operation in operations(kernel.document["body"])
                if operation["op"] == "fusion" and operation["params"].get("launches", True)]
    assert launched == ["mul"]


def test_what_is_large_and_cannot_be_cut_into_equal_parts_leaves_a_rest():
    kernel, x = around(2, lambda x: lax.psum(x, "x"), (3, 1048577), P(), np.int32)
    (ours, _), report = run(kernel)
    np.testing.assert_array_equal(ours, x.reshape(2, 3, -1).sum(0))
    # The rest of two elements moves as a row of lanes.
    assert report["busy_s"]["ICI"] == pytest.approx((3 * 1048577 - 1 + 128) * 4 / RATE, rel=1e-6)


def test_what_is_not_captured_is_named_with_its_line():
    def fn(x):
        y = lax.psum(doubled(x), "x", axis_index_groups=[[0, 1, 2], [3]])
        return lax.ppermute(lax.pbroadcast(y, "x", 0), ("y", "x"), [(0, 1)])

    with pytest.raises(pallascope.UnsupportedError) as error:
        pallascope.capture(jax.shard_map(fn, mesh=pallascope.mesh_of({"x": 4, "y": 2}),
                                         in_specs=P("x"), out_specs=P("x"), check_vma=False),
                           np.zeros((32, 128), np.float32))
    assert "psum with axis_index_groups of different sizes" in str(error.value)
    assert "primitive pbroadcast" in str(error.value)
    assert "ppermute over axes in another order than the mesh's" in str(error.value)
    assert "test_collectives.py:" in str(error.value)


def test_forms_of_a_checked_shard_map():
    """If JAX keeps track of what varies between devices, it uses other primitives for sums and
    gathers."""
    def varying(x):
        aval = jax.typeof(x)
        mark = {"vma": aval.vma} if hasattr(aval, "vma") else {"manual_axis_type": aval.mat}
        return jax.ShapeDtypeStruct(x.shape, x.dtype, **mark)

    def fn(x):
        y = doubled(x, out=varying(x))
        everywhere = (lax.all_gather(y, "x", tiled=True, to="invarying") if not invariant
                      else invariant(y, "x", tiled=True))
        return lax.psum(y, "x"), lax.pmax(y, "x"), y + lax.psum(y, "x"), everywhere

    from jax._src.lax import parallel
    invariant = getattr(parallel, "all_gather_invariant", None)
    x = np.random.default_rng(2).integers(-99, 99, (32, 128)).astype(np.int32)
    found, _ = run(pallascope.capture(
        jax.shard_map(fn, mesh=pallascope.mesh_of({"x": 4}), in_specs=P("x"),
                      out_specs=(P(), P(), P("x"), P())), x))
    parts = 2 * x.reshape(4, 8, 128)
    for ours, theirs in zip(found, (parts.sum(0), parts.max(0), (parts + parts.sum(0)), parts),
                            strict=True):
        np.testing.assert_array_equal(ours, theirs.reshape(ours.shape))


@pytest.mark.parametrize(("groups", "what"), [
    ([[0, 1, 2], [3, 4, 5, 6, 7]], "of different sizes, which JAX does not lower for a TPU"),
    ([[0, 1, 2]], "that lack devices"), ([[0]], "that lack devices"),
    ([[]], "that lack devices")])
def test_groups_that_do_not_divide_the_devices_are_named(groups, what):
    fn = jax.shard_map(lambda x: lax.psum(doubled(x), "x", axis_index_groups=groups),
                       mesh=pallascope.mesh_of({"x": 8}), in_specs=P("x"), out_specs=P("x"),
                       check_vma=False)
    with pytest.raises(pallascope.UnsupportedError, match=f"psum with axis_index_groups {what}"):
        pallascope.capture(fn, jax.ShapeDtypeStruct((64, 128), np.float32))
