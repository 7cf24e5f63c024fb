"""Kernels for eight devices, compared with JAX's interpreter on eight simulated devices."""

import contextlib
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from device_kernels import ANY, DMA, KERNELS, LOGICAL, argument, permute_right, sharded
from jax import lax
from jax.sharding import PartitionSpec as P
from support import pallascope, pl, pltpu

RACY = ["all_gather_vmem", "all_gather_hbm"]  # kernels of JAX itself


@pytest.fixture(scope="module")
def oracle():
    """Returns JAX's results by mode and name, and where it found a race."""
    script = pathlib.Path(__file__).parent / "device_kernels.py"
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        # What JAX yields when copies move their data late is asked of racy kernels only.
        for mode, names in (("eager", KERNELS), ("on_wait", RACY)):
            done = subprocess.run(
                [sys.executable, script, f"{folder}/{mode}.npz", mode, *names],
                capture_output=True, text=True, timeout=300, check=False)
            assert done.returncode == 0, done.stdout + done.stderr
            found[mode] = dict(np.load(f"{folder}/{mode}.npz"))
            found[mode + " races"] = [line.removesuffix(" race") for line
                                      in done.stdout.splitlines()
                                      if line.endswith(" race") and "no race" not in line]
    return found


def captured(name):
    axes, make, _ = KERNELS[name]
    return pallascope.capture(make(pallascope.mesh_of(axes)), argument(name), name=name)


def run(kernel, *options):
    """Returns the result, the kinds of the findings, and the report."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "k.pallascope"
        kernel.save(path)
        done = subprocess.run([os.environ["PALLASCOPE"], "run", path, "--json", "--results",
                               f"{folder}/out.npz", *options],
                              capture_output=True, text=True, timeout=120, check=False)
        assert done.returncode in (0, 1), done.stdout + done.stderr
        report = json.loads(done.stdout)
        with np.load(f"{folder}/out.npz") as archive:
            return archive["result0"], [f["kind"] for f in report["findings"]], report


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("mode", ["eager", "on_wait", "timed"])
def test_results_and_races_are_those_of_jax(oracle, name, mode):
    if name not in oracle["eager"]:
        pytest.skip("JAX does not run it")
    ours, findings, _ = run(captured(name), "--set", f"dma_execution_mode={mode}")
    wanted = oracle["eager"][name]
    assert not oracle["eager races"]
    if mode == "on_wait" and name in RACY:
        assert name in oracle["on_wait races"]
        assert not np.array_equal(oracle["on_wait"][name], wanted)
        assert "read_before_wait" in findings
        assert not np.array_equal(ours, wanted)
        return
    assert name not in oracle["eager races"]
    # In our own mode copies take the time of a link, which keeps them in order. The race is there
    # all the same.
    assert findings == (["read_before_wait"] * 2 if mode == "timed" and name in RACY else [])
    np.testing.assert_allclose(ours, wanted, rtol=8 * 2.0**-24, atol=8 * 2.0**-24)
    if not name.startswith(("all_reduce", "reduce")):  # moves data only
        np.testing.assert_array_equal(ours, wanted)


def x_of(*shape):
    return np.random.default_rng(1).standard_normal(shape).astype(np.float32)


def test_a_mesh_that_the_function_leaves_open():
    def fn(x):
        return permute_right(None, 0)(x)

    kernel = pallascope.capture(fn, x_of(128, 128), mesh={"x": 8})
    assert kernel.document["mesh"] == [{"name": "x", "size": 8}]
    ours, findings, _ = run(kernel)
    np.testing.assert_array_equal(ours, np.roll(x_of(128, 128), 16, axis=0))
    assert findings == []


def test_two_kernels_one_after_the_other():
    def fn(x):
        step = permute_right(pallascope.mesh_of({"x": 8}), 0)
        return step(step(x))

    ours, findings, _ = run(pallascope.capture(fn, x_of(128, 128)))
    np.testing.assert_array_equal(ours, np.roll(x_of(128, 128), 32, axis=0))
    assert findings == []


def test_a_copy_that_nobody_waits_for_is_found_on_every_device():
    def kernel(x_ref, o_ref, sent, received):
        me = lax.axis_index("x")
        pltpu.make_async_remote_copy(x_ref, o_ref, sent, received, device_id=lax.rem(me + 1, 8),
                                     device_id_type=LOGICAL).start()
        pl.delay(10_000)

    call = pl.pallas_call(kernel, in_specs=[ANY], out_specs=ANY, scratch_shapes=[DMA, DMA],
                          out_shape=jax.ShapeDtypeStruct((16, 128), jnp.float32))
    _, findings, report = run(pallascope.capture(
        sharded(call, pallascope.mesh_of({"x": 8}), P("x")), x_of(128, 128)))
    assert findings == ["copy_never_awaited"] * 2
    assert [finding["count"] for finding in report["findings"]] == [8, 8]


def test_a_constant_that_a_shard_map_cuts_is_not_computed_with_as_a_whole():
    """A table of ranks may be given to devices in this way, whether it is put on them by name or
    not."""
    def kernel(x_ref, o_ref):
        o_ref[...] = x_ref[...]

    def fn(x):
        mesh = pallascope.mesh_of({"x": 4})
        cut = jax.sharding.NamedSharding(mesh, P("x"))
        ranks = jax.device_put(jnp.arange(4, dtype=jnp.float32)[:, None], cut)

        def local(rank, odd, x):
            call = pl.pallas_call(kernel, out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype))
            return call(x + rank[0, 0] * 10 + jnp.sum(odd * 2))

        return sharded(local, mesh, (P("x"), P("x"), P("x")), P("x"))(
            ranks, 2 * jnp.arange(8, dtype=jnp.float32) + 1, jax.device_put(x))

    x = np.floor(x_of(32, 128) * 100)
    ours, findings, _ = run(pallascope.capture(fn, x))
    added = np.arange(4) * 10 + (2 * np.arange(8) + 1).reshape(4, 2).sum(1) * 2
    np.testing.assert_array_equal(ours, x + np.repeat(added, 8)[:, None])
    assert findings == []


def test_arrays_that_are_put_into_the_hosts_memory_are_not_captured():
    with pytest.raises(pallascope.UnsupportedError, match="device_put to the memory pinned_host"):
        pallascope.capture(lambda x: jax.device_put(x, jax.sharding.NamedSharding(
            pallascope.mesh_of({"x": 4}), P("x"), memory_kind="pinned_host")), x_of(32, 128))


@pytest.mark.parametrize("spec", [P("a", "b"), P("b", "a"), P(("a", "b")), P(None, ("b", "a"))])
def test_what_is_computed_before_a_shard_map_is_cut_by_it(spec):
    def kernel(x_ref, o_ref):
        o_ref[...] = x_ref[...] + lax.axis_index("a") * 10 + lax.axis_index("b")

    def fn(x):
        cells = (x * 2).T.reshape(64, 256)
        call = pl.pallas_call(kernel, out_shape=jax.ShapeDtypeStruct(
            _cut(spec, cells.shape), jnp.float32))
        return sharded(call, pallascope.mesh_of({"a": 2, "b": 4}), spec)(cells)

    x = np.floor(x_of(128, 128) * 100)
    ours, findings, _ = run(pallascope.capture(fn, x))
    wanted = (x * 2).T.reshape(64, 256)
    rows, columns = _cut(spec, wanted.shape)
    for place in np.ndindex(2, 4):
        r, c = (_number(axes, place) for axes in (*spec, None)[:2])
        wanted[r * rows:(r + 1) * rows, c * columns:(c + 1) * columns] += np.float32(
            place[0] * 10 + place[1])
    np.testing.assert_array_equal(ours, wanted)
    assert findings == []


def _cut(spec, shape):
    parts = {None: 1, "a": 2, "b": 4}
    axes = [axes if isinstance(axes, tuple) else (axes,) for axes in (*spec, None)[:2]]
    return tuple(extent // int(np.prod([parts[axis] for axis in of])) for extent, of
                 in zip(shape, axes, strict=True))


def _number(axes, place):
    """Returns the number of a device's part, with the slowest axis first."""
    found = 0
    for axis in axes if isinstance(axes, tuple) else (axes,):
        if axis is not None:
            found = found * (2, 4)["ab".index(axis)] + place["ab".index(axis)]
    return found


def test_memory_for_a_kernel_is_made_before_the_shard_map():
    def kernel(x_ref, _, o_ref):
        o_ref[...] = x_ref[...] * 3

    def fn(x):
        call = pl.pallas_call(kernel, out_shape=jax.ShapeDtypeStruct((16, 128), jnp.float32))
        return sharded(call, pallascope.mesh_of({"x": 8}), (P("x"), P()), P("x"))(
            x, lax.empty((8, 128), jnp.float32))

    kernel_ = pallascope.capture(fn, x_of(128, 128))
    ours, findings, _ = run(kernel_)
    np.testing.assert_array_equal(ours, x_of(128, 128) * 3)
    assert findings == []
    assert len(kernel_.document["inputs"]) == 1


BEHIND = {
    "an element's own": lambda y, x: jnp.where(y > 0, 2.0 * y + x, y.astype(jnp.int32) - 1.0),
    "a sum": lambda y, x: (y * y).sum() + x[0],
    "a sum of rows": lambda y, x: y.sum(axis=0),
    "a normal form": lambda y, x: (y - y.mean()) * 2 ** jnp.ceil(jnp.abs(y).max() / 8),
    "another shape": lambda y, x: y.T.reshape(64, -1)[3:9] + y.reshape(64, -1)[0],
    "a shape before": lambda y, x: x.reshape(-1) + y.reshape(-1),
    "a product": lambda y, x: jnp.dot(y, x.T, precision="highest"),
    "a loop": lambda y, x: lax.scan(lambda c, row: (c + row, c), x[0], y)[1],
    "a sum in a loop": lambda y, x: lax.fori_loop(0, 3, lambda _, y: y + x, y)}


@pytest.mark.parametrize("spec", [P("a", "b"), P(None, ("b", "a"))])
@pytest.mark.parametrize("name", BEHIND)
def test_what_is_computed_behind_a_shard_map_that_cuts_its_result(name, spec):
    def kernel(x_ref, o_ref):
        o_ref[...] = x_ref[...] * 3

    def fn(x):
        call = pl.pallas_call(kernel, out_shape=jax.ShapeDtypeStruct(
            _cut(spec, x.shape), jnp.float32))
        y = sharded(call, pallascope.mesh_of({"a": 2, "b": 4}), spec)(x)
        return BEHIND[name](y, x)

    x = np.floor(x_of(128, 256) * 4)
    ours, findings, _ = run(pallascope.capture(fn, x))
    np.testing.assert_array_equal(ours, np.asarray(BEHIND[name](jnp.asarray(x * 3), x)))
    assert findings == []


def test_a_shard_map_in_loops_and_branches():
    def kernel(x_ref, w_ref, o_ref):
        o_ref[...] = x_ref[...] * 2 + w_ref[0] + lax.axis_index("x")

    def fn(x, w):
        call = pl.pallas_call(kernel, out_shape=jax.ShapeDtypeStruct((16, 128), jnp.float32))
        step = sharded(call, pallascope.mesh_of({"x": 4}), (P("x"), P("x")), P("x"))

        def layer(x, w):
            y = step(x, jnp.broadcast_to(w, (4, 128)))
            return lax.cond(y[0, 0] > 10, lambda: step(y, jnp.zeros((4, 128))), lambda: y), y[0]

        return lax.scan(layer, x, w)

    x, w = np.floor(x_of(64, 128) * 4), np.arange(3 * 128, dtype=np.float32).reshape(3, 128)
    ours, findings, _ = run(pallascope.capture(fn, x, w))
    device = np.arange(64)[:, None] // 16
    wanted = x
    for row in w:
        wanted = wanted * 2 + row + device
        wanted = wanted * 2 + device if wanted[0, 0] > 10 else wanted
    np.testing.assert_array_equal(ours, wanted)
    assert findings == []


def test_a_shard_map_that_cuts_in_another_way_than_the_one_before():
    def kernel(x_ref, o_ref):
        o_ref[...] = x_ref[...] + lax.axis_index("x")

    def fn(x):
        for spec in (P("x"), P(None, "x")):
            call = pl.pallas_call(kernel, out_shape=jax.ShapeDtypeStruct(
                (32, 1024) if spec == P("x") else (128, 256), jnp.float32))
            x = sharded(call, pallascope.mesh_of({"x": 4}), spec)(x)
        return x

    ours, findings, _ = run(pallascope.capture(fn, np.zeros((128, 1024), np.float32)))
    np.testing.assert_array_equal(
        ours, np.arange(128)[:, None] // 32 + np.arange(1024)[None] // 256)
    assert findings == []


def test_a_kernel_behind_a_shard_map_is_named():
    def kernel(x_ref, o_ref):
        o_ref[...] = x_ref[...]

    def fn(x):
        x = permute_right(pallascope.mesh_of({"x": 8}), 0)(x)
        return pl.pallas_call(kernel, out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype))(x)

    with pytest.raises(pallascope.UnsupportedError) as error:
        pallascope.capture(fn, x_of(128, 128))
    assert "pallas_call outside of the shard_map" in str(error.value)
    assert "test_devices.py:" in str(error.value)


def test_a_device_of_a_mesh_needs_one():
    def kernel(x_ref, o_ref, sent, received):
        pltpu.make_async_remote_copy(x_ref, o_ref, sent, received, device_id=(1,)).start()

    call = pl.pallas_call(kernel, in_specs=[ANY], out_specs=ANY, scratch_shapes=[DMA, DMA],
                          out_shape=jax.ShapeDtypeStruct((16, 128), jnp.float32))
    with pytest.raises(pallascope.UnsupportedError) as error:
        pallascope.capture(call, x_of(16, 128))
    assert "to a device of a mesh, outside of a shard_map" in str(error.value)


@pytest.mark.parametrize("of", ["the host", "another chip"])
def test_a_mesh_is_of_the_chip_that_is_captured_for(of):
    """For devices of the host, JAX once said that their kind is not supported if a kernel asks for
    it."""
    mesh = (jax.sharding.Mesh(jax.devices()[:1], ("x",)) if of == "the host"
            else pallascope.mesh_of({"x": 1}))
    seen = []

    def kernel(x_ref, o_ref):
        seen.append(pltpu.get_tpu_info().generation)
        o_ref[...] = lax.div(x_ref[...], lax.sign(x_ref[0, 0]) + 3)  # its lowering asks

    fn = sharded(pl.pallas_call(kernel, out_shape=jax.ShapeDtypeStruct((16, 128), jnp.int32)),
                 mesh, P("x"))
    for chip in ("tpu_v5e", "tpu_v7x"):
        found = pallascope.capture(fn, jax.ShapeDtypeStruct((16, 128), jnp.int32), chip=chip)
        assert found.document["lowering"] == {"accepted": "yes"}
        assert seen and set(seen) == {int(chip[5])}
        seen.clear()


def test_the_mesh_of_a_context_is_that_of_the_function():
    with jax.sharding.use_abstract_mesh(pallascope.mesh_of({"x": 4})):
        kernel = pallascope.capture(permute_right(None, None), x_of(64, 128))
    assert kernel.document["mesh"] == [{"name": "x", "size": 4}]
    assert kernel.document["lowering"] == {"accepted": "yes"}


@pytest.mark.parametrize("kind", ["Auto", "Explicit"])
@pytest.mark.parametrize("is_set", [False, True])
def test_arguments_that_lie_on_a_mesh(kind, is_set):
    """With explicit axes, the default, JAX requires that arguments lie as a shard_map cuts them."""
    mesh = jax.make_mesh((1,), ("x",), axis_types=(getattr(jax.sharding.AxisType, kind),))
    x = jax.device_put(x_of(16, 128), jax.sharding.NamedSharding(mesh, P("x")))

    def kernel(x_ref, o_ref):
        o_ref[...] = x_ref[...] * 2

    def fn(x):
        double = pl.pallas_call(kernel, out_shape=jax.ShapeDtypeStruct((16, 128), x.dtype))
        of_mesh = {} if is_set else {"mesh": mesh}
        return jax.shard_map(double, in_specs=P("x"), out_specs=P("x"), check_vma=False,
                             **of_mesh)(x + 1)

    with jax.set_mesh(mesh) if is_set else contextlib.nullcontext():
        captured = pallascope.capture(fn, x)
    assert captured.document["lowering"] == {"accepted": "yes"}
    np.testing.assert_array_equal(run(captured)[0], 2 * (np.asarray(x) + 1))


def test_the_command_line_takes_a_mesh(tmp_path):
    (tmp_path / "k.py").write_text(
        "import sys\n"
        f"sys.path.insert(0, {str(pathlib.Path(__file__).parent)!r})\n"
        "from device_kernels import permute_right\n"
        "def fn(x):\n"
        "    return permute_right(None, 0)(x)\n")
    package = pathlib.Path(pallascope.__file__).parents[1]
    command = [sys.executable, "-m", "pallascope", "capture", f"{tmp_path}/k.py:fn", "--arg",
               "f32[128,128]", "-o", f"{tmp_path}/k.kernel.json"]
    environment = os.environ | {"PYTHONPATH": str(package)}
    done = subprocess.run([*command, "--mesh", "x=8"], capture_output=True, text=True,
                          env=environment, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads((tmp_path / "k.kernel.json").read_text())["mesh"] == [
        {"name": "x", "size": 8}]
    done = subprocess.run([*command, "--mesh", "x"], capture_output=True, text=True,
                          env=environment, check=False)
    assert done.returncode == 2
    assert "--mesh 'x' is no AXIS=SIZE" in done.stderr
