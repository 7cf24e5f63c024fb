"""Kernels with the mistakes that authors make: a run must find each once, at the line to change."""

import json
import pathlib
import subprocess
import tempfile

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax
from jax.sharding import PartitionSpec as P
from support import (PALLASCOPE, call, like, normal, on_mesh, pallascope, pl, pltpu,
                     tensor_cores, whole)

F32 = jnp.float32
ANY = pl.BlockSpec(memory_space=pl.ANY)
DMA = pltpu.SemaphoreType.DMA
REGULAR = pltpu.SemaphoreType.REGULAR
LOGICAL = pl.DeviceIdType.LOGICAL
TILE = pltpu.VMEM((8, 128), F32)


def rows_of(block=8):
    return pl.BlockSpec((block, 128), lambda i: (i, 0))


def findings(fn, *args, chip="tpu_v5e", **options):
    kernel = pallascope.capture(fn, *args, chip=chip, **options)
    with tempfile.TemporaryDirectory() as folder:
        kernel.save(f"{folder}/k.pallascope")
        done = subprocess.run([PALLASCOPE, "run", f"{folder}/k.pallascope", "--json", "--chip",
                               chip], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode in (0, 1), done.stderr
    found = json.loads(done.stdout)["findings"]
    assert done.returncode == (1 if found else 0)
    return found


def only(found, kind, mark=None):
    """Returns the message of the only finding, which must be of this kind and at the line with the
    mark."""
    assert [finding["kind"] for finding in found] == [kind], found
    if mark is not None:
        path, _, line = found[0]["source"].rpartition(":")
        assert pathlib.Path(path).name == pathlib.Path(__file__).name
        assert line_with(mark) == int(line)
    return found[0]["message"]


def line_with(mark):
    lines = pathlib.Path(__file__).read_text(encoding="utf-8").splitlines()
    return 1 + next(number for number, line in enumerate(lines) if line.endswith(f"# {mark}"))


def doubled(x_ref, o_ref):
    o_ref[...] = x_ref[...] * 2


# ---- blocks ------------------------------------------------------------------------------------


def test_an_index_map_that_leaves_its_array():
    def fn(x):
        return call(doubled, grid=(4,), in_specs=[
            pl.BlockSpec((8, 128), lambda i: (i + 1, 0))],  # one too far
            out_specs=rows_of(), out_shape=like(32, 128))(x)

    message = only(findings(fn, normal(32, 128)), "out_of_bounds", "one too far")
    assert "The index map of x_ref yields (4, 0) at step 3" in message
    assert "4 × 1 blocks" in message


def test_an_index_map_whose_axes_are_exchanged():
    def fn(x):
        return call(doubled, grid=(4, 2), in_specs=[pl.BlockSpec((8, 128), lambda i, j: (i, j))],
                    out_specs=pl.BlockSpec((8, 128), lambda i, j: (j, i)),  # exchanged
                    out_shape=like(32, 256))(x)

    only(findings(fn, normal(32, 256)), "out_of_bounds", "exchanged")


@pytest.mark.parametrize("index", [4, -1])
def test_a_prefetched_index_outside(index):
    def kernel(ids_ref, x_ref, o_ref):
        doubled(x_ref, o_ref)

    def fn(ids, x):
        spec = pltpu.PrefetchScalarGridSpec(
            num_scalar_prefetch=1, grid=(4,),
            in_specs=[pl.BlockSpec((8, 128), lambda i, ids: (ids[i], 0))],  # prefetched
            out_specs=pl.BlockSpec((8, 128), lambda i, ids: (i, 0)))
        return call(kernel, grid_spec=spec, out_shape=like(32, 128))(ids, x)

    message = only(findings(fn, np.array([3, 1, index, 2], np.int32), normal(32, 128)),
                   "out_of_bounds", "prefetched")
    assert f"yields ({index}, 0) at step 2" in message


def test_an_accumulator_that_nobody_sets_to_zero():
    def kernel(x_ref, o_ref):
        o_ref[...] += x_ref[...]  # never zeroed

    def fn(x):
        return call(kernel, grid=(4, 3), in_specs=[pl.BlockSpec((8, 128), lambda i, k: (i, k))],
                    out_specs=pl.BlockSpec((8, 128), lambda i, k: (i, 0)),
                    out_shape=like(32, 128))(x)

    message = only(findings(fn, normal(32, 384)), "undefined_written_back", "never zeroed")
    assert "depends on o_ref, which is read where nothing has been stored (" in message
    assert "test_findings.py:" in message


def sums_of_rows(is_cleared, semantics):
    """Sums three blocks for each of four, in an accumulator."""
    def kernel(x_ref, o_ref, acc_ref):
        @pl.when((pl.program_id(1) == 0) & is_cleared(pl.program_id(0)))
        def _():
            acc_ref[...] = jnp.zeros_like(acc_ref)

        acc_ref[...] += x_ref[...]  # summed
        o_ref[...] = acc_ref[...]

    return lambda x: call(kernel, grid=(4, 3),
                          in_specs=[pl.BlockSpec((8, 128), lambda i, k: (i, k))],
                          out_specs=pl.BlockSpec((8, 128), lambda i, k: (i, 0)),
                          out_shape=like(32, 128), scratch_shapes=[pltpu.VMEM((8, 128), F32)],
                          compiler_params=pltpu.CompilerParams(dimension_semantics=semantics))(x)


def test_an_accumulator_that_goes_on_along_a_parallel_axis():
    once, always = (lambda i: i == 0), (lambda i: i >= 0)
    x = normal(32, 384)
    outer, both = ("parallel", "arbitrary"), ("parallel", "parallel")
    for is_cleared, semantics, axis in ((once, outer, "i"), (always, both, "k")):
        message = only(findings(sums_of_rows(is_cleared, semantics), x), "carried_in_parallel",
                       "summed")
        assert f"at a new index of {axis}, a parallel axis, before anything" in message
    for is_cleared, semantics in ((always, outer), (once, ("arbitrary", "arbitrary")),
                                  (once, None)):
        assert findings(sums_of_rows(is_cleared, semantics), x) == []
    # On two cores the second one does not find what the first one has left.
    found = findings(sums_of_rows(once, outer), x, chip="tpu_v5p", cores=2)
    assert {finding["kind"] for finding in found} == {"carried_in_parallel",
                                                      "undefined_written_back"}


def test_half_of_a_block_is_stored():
    def kernel(x_ref, o_ref):
        o_ref[0:4] = x_ref[0:4]

    def fn(x):
        return call(kernel, grid=(4,), in_specs=[rows_of()],
                    out_specs=pl.BlockSpec((8, 128), lambda i: (i, 0)),  # half
                    out_shape=like(32, 128))(x)

    message = only(findings(fn, normal(32, 128)), "undefined_written_back", "half")
    assert "512 of 1024 elements undefined: nothing is stored there" in message


def test_what_is_not_stored_or_revisited_is_one_finding():
    def sometimes(x_ref, o_ref):
        @pl.when(pl.program_id(0) % 2 == 0)
        def _():
            o_ref[...] = x_ref[...]

    def gathers(x_ref, o_ref):
        @pl.when(pl.program_id(0) == 0)
        def _():
            o_ref[...] = jnp.zeros_like(o_ref)
        o_ref[...] += x_ref[...]

    def fn(x):
        return call(sometimes, grid=(4,), in_specs=[rows_of()], out_specs=rows_of(),
                    out_shape=like(32, 128))(x)

    def outermost(x):
        return call(gathers, grid=(3, 4), in_specs=[pl.BlockSpec((8, 128), lambda k, i: (i, k))],
                    out_specs=pl.BlockSpec((8, 128), lambda k, i: (i, 0)),
                    out_shape=like(32, 128))(x)

    only(findings(fn, normal(32, 128)), "output_not_written")
    only(findings(outermost, normal(32, 384)), "output_revisited")


def test_a_block_that_is_not_stored_in_the_rounds_of_a_loop_is_one_finding():
    def kernel(x_ref, o_ref):
        @pl.when(pl.program_id(0) != 2)
        def _():
            o_ref[...] = x_ref[...] * 2

    def round_of(_, carried):
        return call(kernel, grid=(4,), in_specs=[rows_of()], out_specs=rows_of(),
                    out_shape=like(32, 128))(carried) + 1

    def loop(x):
        return lax.fori_loop(0, 3, round_of, x)

    message = only(findings(loop, normal(32, 128)), "output_not_written")
    assert message.startswith("o_ref(2,0) is written back though no step of its stay stored to it")


def test_an_undefined_index_that_leaves_its_ref():
    def kernel(x_ref, o_ref, cursor_ref):
        o_ref[...] = jnp.zeros_like(o_ref)
        o_ref[pl.ds(cursor_ref[0], 1), :] = x_ref[0:1]  # cursor

    def fn(x):
        return call(kernel, out_shape=like(8, 128), scratch_shapes=[pltpu.SMEM((1,), jnp.int32)])(x)

    assert "where the run stops" in only(findings(fn, normal(8, 128)), "undefined_index", "cursor")


def test_a_block_that_is_written_while_it_is_fetched():
    def kernel(x_ref, before_ref, o_ref):
        o_ref[...] = x_ref[...] + before_ref[...]

    def fn(x):
        before = pl.BlockSpec((8, 128), lambda i: (jnp.maximum(i - 1, 0), 0))
        return call(kernel, grid=(4,), in_specs=[rows_of(), before], out_specs=rows_of(),
                    out_shape=like(32, 128), input_output_aliases={1: 0})(x, x)

    message = only(findings(fn, normal(32, 128)), "overwritten_in_flight")
    assert "Blocks are copied ahead of their steps" in message


def test_a_nan_of_an_infinity():
    def kernel(x_ref, o_ref):
        scores = jnp.where(x_ref[...] > 9, x_ref[...], -jnp.inf)
        top = jnp.max(scores, axis=1, keepdims=True)
        o_ref[...] = jnp.exp(scores - top)  # of Inf

    message = only(findings(lambda x: call(kernel, out_shape=like(8, 128))(x), normal(8, 128)),
                   "nan_born", "of Inf")
    assert "sub makes NaN of Inf among its inputs" in message


# ---- manual DMAs -------------------------------------------------------------------------------


def by_hand(kernel, *scratch, out=ANY):
    return lambda x: call(kernel, in_specs=[ANY], out_specs=out, out_shape=like(32, 128),
                          scratch_shapes=list(scratch))(x)


def in_slots(mistake):
    """Doubles x through two slots, with helpers that start copies and wait for them."""
    def kernel(x_ref, o_ref, slots_ref, sems):
        def fetch(i, slot):
            return pltpu.make_async_copy(x_ref.at[pl.ds(i * 8, 8)], slots_ref.at[slot],
                                         sems.at[slot])

        def start(i, slot):
            fetch(i, slot).start()  # helper

        start(0, 0)
        for i in range(4):
            slot = i % 2
            if mistake == "early" and i < 3:
                start(i + 1, slot)  # early
            elif i < 3:
                start(i + 1, 1 - slot)
            if mistake != "no wait":
                fetch(i, 1 - slot if mistake == "other slot" else slot).wait()
            o_ref[pl.ds(i * 8, 8)] = slots_ref[slot] * 2  # read

    return by_hand(kernel, pltpu.VMEM((2, 8, 128), F32), DMA((2,)), out=whole(like(32, 128)))


def test_a_slot_without_a_mistake():
    assert findings(in_slots(None), normal(32, 128)) == []


@pytest.mark.parametrize("mistake", ["no wait", "other slot"])
def test_a_slot_that_is_read_before_its_copy_is_awaited(mistake):
    message = only(findings(in_slots(mistake), normal(32, 128)), "read_before_wait", "read")
    assert f"test_findings.py:{line_with('helper')}, called from" in message


def test_a_helper_that_starts_a_copy_names_who_called_it():
    found = findings(in_slots("early"), normal(32, 128))
    assert found[0]["kind"] == "overwritten_in_flight"
    assert (f"test_findings.py:{line_with('helper')}, called from " in found[0]["message"])
    assert f"test_findings.py:{line_with('early')}" in found[0]["message"]


@pytest.mark.parametrize("waits", [1, 2])
def test_two_copies_on_one_semaphore(waits):
    """Which of them has landed after one wait, nobody knows; after two, both have."""
    def kernel(x_ref, o_ref, tiles_ref, sem):
        copies = [pltpu.make_async_copy(x_ref.at[pl.ds(16 * i, 16)], tiles_ref.at[i], sem)
                  for i in range(2)]
        for copy in copies:
            copy.start()
        for copy in copies[:waits]:
            copy.wait()
        o_ref[0:16] = tiles_ref[0] * 2  # one of two
        for copy in copies[waits:]:
            copy.wait()
        o_ref[16:32] = tiles_ref[1] * 2

    found = findings(by_hand(kernel, pltpu.VMEM((2, 16, 128), F32), DMA,
                             out=whole(like(32, 128))), normal(32, 128))
    if waits == 2:
        assert found == []
    else:
        message = only(found, "read_before_wait", "one of two")
        assert "a copy that no wait is sure of writes the same elements" in message
        assert "): sem counts other copies too, and a wait knows only how many" in message


def test_a_copy_that_is_started_twice():
    def kernel(x_ref, o_ref, tile_ref, sem):
        copy = pltpu.make_async_copy(x_ref, tile_ref, sem)
        copy.start()
        copy.start()  # twice
        copy.wait()
        o_ref[...] = tile_ref[...]

    only(findings(by_hand(kernel, pltpu.VMEM((32, 128), F32), DMA, out=whole(like(32, 128))),
                  normal(32, 128)), "overwritten_in_flight", "twice")


def half_filled(x_ref, o_ref, tile_ref, other_ref):
    tile_ref[0:6] = jnp.ones((6, 128), F32)
    for i in range(4):
        pltpu.sync_copy(tile_ref, o_ref.at[pl.ds(i * 8, 8)])  # half filled


def reads_its_output(x_ref, o_ref, tile_ref, other_ref):
    pltpu.sync_copy(o_ref.at[pl.ds(0, 8)], tile_ref)
    other_ref[...] = tile_ref[...] + 1
    for i in range(4):
        pltpu.sync_copy(other_ref, o_ref.at[pl.ds(i * 8, 8)])  # its own


def leaves_the_end(x_ref, o_ref, tile_ref, other_ref):
    for i in range(3):
        pltpu.sync_copy(x_ref.at[pl.ds(i * 8, 8)], tile_ref)
        pltpu.sync_copy(tile_ref, o_ref.at[pl.ds(i * 8, 8)])  # not the last


@pytest.mark.parametrize("kernel, mark, words", [
    (half_filled, "half filled", "1024 of 4096 elements undefined: what a copy brings there"),
    (reads_its_output, "its own", "4096 of 4096 elements undefined: what a copy brings there"),
    (leaves_the_end, "not the last", "1024 of 4096 elements undefined: no copy reaches them")],
    ids=["half filled", "its own output", "the end"])
def test_a_result_with_elements_that_nobody_wrote(kernel, mark, words):
    assert words in only(findings(by_hand(kernel, TILE, TILE), normal(32, 128)),
                         "undefined_result", mark)


def test_a_result_that_is_cut_or_aliased_need_not_be_written():
    def kernel(x_ref, o_ref, tile_ref):
        pltpu.sync_copy(x_ref.at[pl.ds(0, 8)], tile_ref)
        pltpu.sync_copy(tile_ref, o_ref.at[pl.ds(0, 8)])

    params = {"in_specs": [ANY], "out_specs": ANY, "out_shape": like(32, 128),
              "scratch_shapes": [TILE]}
    assert findings(lambda x: call(kernel, **params)(x)[:8], normal(32, 128)) == []
    assert findings(lambda x: call(kernel, **params, input_output_aliases={0: 0})(x),
                    normal(32, 128)) == []


# ---- cores and devices -------------------------------------------------------------------------


def test_two_cores_write_one_block():
    def fn(x):
        @on_mesh(tensor_cores(2), like(32, 128), [pltpu.VMEM((16, 128), F32)])
        def kernel(x_ref, o_ref, tile_ref):
            core = lax.axis_index("core")
            pltpu.sync_copy(x_ref.at[pl.ds(core * 16, 16)], tile_ref)
            pltpu.sync_copy(tile_ref, o_ref.at[pl.ds(0, 16)])  # both cores

        return kernel(x)

    message = only(findings(fn, normal(32, 128), chip="tpu_v5p"), "race", "both cores")
    assert "TensorCore 1 writes " in message and "TensorCore 0 writes the same" in message


def on_devices(kernel, *scratch, space=ANY):
    """Returns the kernel on four devices, called only by pallas_call and shard_map."""
    return jax.shard_map(
        pl.pallas_call(kernel, in_specs=[space], out_specs=space, out_shape=like(8, 128),
                       scratch_shapes=list(scratch)),
        mesh=pallascope.mesh_of({"x": 4}), in_specs=P("x"), out_specs=P("x"), check_vma=False)


def test_a_neighbour_that_does_not_exist():
    def kernel(x_ref, o_ref, sent, received):
        copy = pltpu.make_async_remote_copy(x_ref, o_ref, sent, received, device_id_type=LOGICAL,
                                            device_id=lax.axis_index("x") + 1)
        copy.start()  # no wrap
        copy.wait()

    message = only(findings(on_devices(kernel, DMA, DMA), normal(32, 128)), "no_such_device",
                   "no wrap")
    assert "names device 4, but the mesh" in message


@pytest.mark.parametrize("is_ready", [False, True])
def test_a_store_to_a_block_into_which_a_neighbour_copies(is_ready):
    def kernel(x_ref, o_ref, sent, received, ready):
        me = lax.axis_index("x")
        left, right = lax.rem(me + 3, 4), lax.rem(me + 1, 4)
        o_ref[...] = x_ref[...] * 2
        if is_ready:
            pl.semaphore_signal(ready, 1, device_id=left, device_id_type=LOGICAL)
            pl.semaphore_wait(ready, 1)
        pltpu.async_remote_copy(  # into a block
            x_ref, o_ref, sent, received, device_id=right, device_id_type=LOGICAL).wait()

    found = findings(on_devices(kernel, DMA, DMA, REGULAR, space=pl.BlockSpec(memory_space=pltpu.VMEM)),
                     normal(32, 128))
    if is_ready:
        assert found == []
    else:
        assert "writes the same elements" in only(found, "race", "into a block")


def test_devices_that_wait_for_each_other_are_named_together():
    def kernel(x_ref, o_ref, sent, received, ready):
        right = lax.rem(lax.axis_index("x") + 1, 4)
        pl.semaphore_wait(ready, 1)  # all wait
        pl.semaphore_signal(ready, 1, device_id=right, device_id_type=LOGICAL)
        pltpu.async_remote_copy(x_ref, o_ref, sent, received, device_id=right,
                                device_id_type=LOGICAL).wait()

    message = only(findings(on_devices(kernel, DMA, DMA, REGULAR), normal(32, 128)), "deadlock",
                   "all wait")
    assert "device 0 TensorCore 0 and 3 others wait at" in message


def test_what_is_passed_on_too_early_is_one_finding():
    def kernel(x_ref, o_ref, sent, received):
        right = lax.rem(lax.axis_index("x") + 1, 4)

        def send(part, source):
            copy = pltpu.make_async_remote_copy(
                source, o_ref.at[pl.ds(part * 4, 4)], sent.at[part], received.at[part],
                device_id=right, device_id_type=LOGICAL)
            copy.start()
            return copy

        first = send(0, x_ref.at[pl.ds(0, 4)])
        second = send(1, o_ref.at[pl.ds(0, 4)])
        first.wait()
        second.wait()

    found = findings(on_devices(kernel, DMA((2,)), DMA((2,))), normal(32, 128))
    assert len(found) == 1 and found[0]["kind"] in ("read_before_wait", "overwritten_in_flight")
