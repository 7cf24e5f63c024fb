"""Kernels that JAX gives to Triton: what of them is in the file, what is refused, what is found."""

import json
import pathlib
import subprocess
import tempfile

import gpu_authors_triton
import gpu_shipped_triton
import gpu_triton
import gpu_triton_loops
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from gpu_case import cases_of, like, ramp
from gpu_triton import call, pltriton
from jax import lax
from support import PALLASCOPE, operations, pallascope, pl, pltpu
from test_gpu_values import run

OWN = cases_of(gpu_triton, gpu_triton_loops, gpu_authors_triton)
CASES = OWN | cases_of(gpu_shipped_triton)


@pytest.mark.parametrize("name", CASES)
def test_a_kernel_is_captured_and_jax_accepts_it(name):
    kernel = pallascope.capture(CASES[name].fn, *CASES[name].args, chip="h100")
    assert kernel.document["lowering"] == {"accepted": "yes"}
    assert not CASES[name].has - {one["op"] for one in operations(kernel.document["body"])}


@pytest.mark.parametrize("name", [name for name, case in OWN.items() if case.is_interpreted])
def test_what_is_expected_is_what_jax_yields(name):
    case = OWN[name]
    jax.clear_caches()
    with gpu_triton.interpreted():
        results = jax.tree_util.tree_leaves(jax.jit(case.fn)(*case.args))
    for theirs, wanted in zip(results, case.results(), strict=True):
        assert (theirs.shape, theirs.dtype) == (wanted.shape, wanted.dtype)
        case.compare(np.asarray(theirs), wanted)


# ---- what is in the file -------------------------------------------------------------------


def cores_of(fn, *args):
    kernel = pallascope.capture(fn, *args, chip="h100")
    (cores,) = (one for one in operations(kernel.document["body"]) if one["op"] == "core_map")
    return cores["params"]


def test_the_first_axis_of_the_grid_counts_fastest():
    assert cores_of(OWN["three_axes_of_the_grid"].fn)["grid"] == [
        {"name": "k", "size": 4}, {"name": "j", "size": 3}, {"name": "i", "size": 2}]
    vmapped = cores_of(OWN["axes_that_vmap_adds"].fn, *OWN["axes_that_vmap_adds"].args)
    assert [axis["size"] for axis in vmapped["grid"]] == [3, 2]


@pytest.mark.parametrize("warps", [1, 2, 8])
def test_warps_are_threads_of_a_block(warps):
    case = OWN[f"a_matmul_of_{warps}_warps"]
    assert cores_of(case.fn, *case.args)["threads"] == 32 * warps


def test_four_warps_are_what_a_block_has():
    assert "threads" not in cores_of(OWN["a_matmul"].fn, *OWN["a_matmul"].args)


@pytest.mark.parametrize("name", ["arrays_of_indices_that_count", "layer_normed"])
def test_indices_that_count_are_slices(name):
    kernel = pallascope.capture(CASES[name].fn, *CASES[name].args, chip="h100")
    assert not {"load_gather", "store_scatter"} & {
        one["op"] for one in operations(kernel.document["body"])}


def test_a_block_says_that_triton_compiles_it():
    assert cores_of(OWN["a_matmul"].fn, *OWN["a_matmul"].args)["compiler"] == "triton"


# wgmma, of 64 rows at least, reads its operands from SMEM while the next copies start: one slot more.
@pytest.mark.parametrize(("name", "rows", "chip", "more"), [
    ("a_matmul_of_{}_stages", 32, "a100", 0), ("a_matmul_of_{}_stages", 32, "h100", 0),
    ("a_matmul_of_many_rows_and_{}_stages", 64, "a100", 0),
    ("a_matmul_of_many_rows_and_{}_stages", 64, "h100", 1),
    ("a_matmul_of_many_rows_and_{}_stages", 64, "b200", 1)])
def test_loads_of_a_loop_are_copied_in_stages(name, rows, chip, more):
    for stages in (2, 4):
        case = OWN[name.format(stages)]
        document = pallascope.capture(case.fn, *case.args, chip=chip).document
        slots = stages - 1 + more
        found = list(operations(document["body"]))
        tiles = [document["values"][number] for one in found if one["op"] == "run_scoped"
                 for number in one["regions"][0]["arguments"]]
        assert [(tile["space"], tile["shape"]) for tile in tiles] == [
            ("smem", [slots, rows, rows]), ("smem", [slots, rows, rows]), ("barrier", [slots])]
        # Before the loop those of the first stages - 1 rounds, and in the loop those of a later one.
        copies = sum(one["op"] == "copy_gmem_to_smem" for one in found)
        assert copies == 2 * stages


def test_slots_of_loops_are_named_after_what_they_hold():
    def kernel(x_ref, y_ref, o_ref):
        def step(i, total):
            here = pl.ds(i * 32, 32)
            return total + pltriton.dot(x_ref[:, here], y_ref[here, :])

        def squared(i, total):
            tile = x_ref[:, pl.ds(i * 32, 32)]
            return total + pltriton.dot(tile, tile)

        zero = jnp.zeros((32, 32), jnp.float32)
        o_ref[...] = lax.fori_loop(0, 4, step, zero) + lax.fori_loop(0, 4, squared, zero)

    fn = call(kernel, out_shape=like(32, 32))
    args = ramp(32, 128, dtype=np.float16), ramp(128, 32, dtype=np.float16)
    document = pallascope.capture(fn, *args, chip="h100").document
    names = [document["values"][number]["name"] for one in operations(document["body"])
             if one["op"] == "run_scoped" for number in one["regions"][0]["arguments"]]
    assert names == ["x_ref_stages", "y_ref_stages", "staged", "x_ref_stages_2", "staged_2"]


def _matmul_at(precision):
    def kernel(x_ref, y_ref, o_ref):
        def step(k, total):
            here = pl.ds(k * 64, 64)
            return total + jnp.dot(x_ref[:, here], y_ref[here, :], precision=precision)

        o_ref[...] = lax.fori_loop(0, 4, step, jnp.zeros((64, 64), jnp.float32))

    return call(kernel, out_shape=like(64, 64))


@pytest.mark.parametrize(("precision", "products", "dtype", "of_them"), [
    (None, 1, "float32", "default"), ("high", 1, "float32", "high"),
    ("highest", 1, "float32", "highest"),
    (lax.DotAlgorithmPreset.F32_F32_F32, 1, "float32", "highest"),
    (lax.DotAlgorithmPreset.TF32_TF32_F32, 1, "float32", "default"),
    (lax.DotAlgorithmPreset.TF32_TF32_F32_X3, 3, "float32", "default"),
    (lax.DotAlgorithmPreset.BF16_BF16_F32_X3, 3, "bfloat16", "default"),
    (lax.DotAlgorithmPreset.BF16_BF16_F32_X6, 6, "bfloat16", "default"),
    (lax.DotAlgorithmPreset.BF16_BF16_F32_X9, 9, "bfloat16", "default")])
def test_a_precision_is_as_many_products_as_jax_lowers_it_to(precision, products, dtype, of_them):
    args = ramp(64, 256), ramp(256, 64)
    document = pallascope.capture(_matmul_at(precision), *args, chip="h100").document
    found = [one for one in operations(document["body"]) if one["op"] == "dot_general"]
    names = {"float32": "f32", "bfloat16": "bf16"}
    assert [document["values"][one["operands"][0]]["dtype"] for one in found] == (
        [names[dtype]] * products)
    assert {one["params"].get("precision", "default") for one in found} == {of_them}
    # f32 as they are are no operands of wgmma, which would read them from a slot more.
    (scope,) = (one for one in operations(document["body"]) if one["op"] == "run_scoped")
    slots = document["values"][scope["regions"][0]["arguments"][0]]["shape"][0]
    assert slots == (2 if of_them == "highest" else 3)


def test_products_at_full_precision_run_on_the_vector_unit(tmp_path):
    kernel = pallascope.capture(_matmul_at("highest"), ramp(64, 256), ramp(256, 64), chip="h100")
    kernel.save(tmp_path / "k.pallascope")
    done = subprocess.run([PALLASCOPE, "run", tmp_path / "k.pallascope", "--json"],
                          capture_output=True, text=True, timeout=300, check=True)
    report = json.loads(done.stdout)
    assert report["flops_by_unit"] == {"FP32": 2 * 64 * 64 * 256}
    # 128 multiplications with additions for each of 132 SMs in a cycle of 1.98 GHz
    assert report["peak_flops_per_s"] == pytest.approx(2 * 128 * 132 * 1.98e9, rel=1e-3)


def test_one_stage_is_no_pipeline():
    case = OWN["a_matmul_of_1_stages"]
    document = pallascope.capture(case.fn, *case.args, chip="h100").document
    assert "copy_gmem_to_smem" not in {one["op"] for one in operations(document["body"])}


def _order_in_loop(name, chip):
    """The operations of the loop that copies, by their names, without those of its branches."""
    case = OWN[name]
    document = pallascope.capture(case.fn, *case.args, chip=chip).document
    (loop,) = (one for one in operations(document["body"]) if one["op"] == "scan")
    return [one["op"] for one in loop["regions"][0]["operations"]]


def test_copies_of_a_later_round_start_before_the_last_product_of_wgmma():
    order = _order_in_loop("a_matmul_of_many_rows_and_2_stages", "h100")
    assert order.index("cond") < order.index("dot_general")
    order = _order_in_loop("a_matmul_of_many_rows_and_2_stages", "a100")
    assert order.index("cond") > order.index("dot_general")


def test_what_products_are_added_to_is_not_loaded_early():
    case = OWN["products_that_are_added_to_something_loaded"]
    document = pallascope.capture(case.fn, *case.args, chip="h100").document
    (scope,) = (one for one in operations(document["body"]) if one["op"] == "run_scoped")
    tiles = [document["values"][number] for number in scope["regions"][0]["arguments"]]
    assert [tile["space"] for tile in tiles] == ["smem", "smem", "barrier"]


def test_a_loop_that_stores_to_what_it_loads_is_not_staged():
    def kernel(x_ref, _, o_ref):
        def step(i, _):
            here = pl.ds(i * 32, 32)
            product = pltriton.dot(o_ref[:, here], x_ref[...])
            o_ref[:, pl.ds(i * 32 + 32, 32)] = product.astype(jnp.float16)

        lax.fori_loop(0, 3, step, None)

    fn = call(kernel, out_shape=like(32, 128, dtype=np.float16), input_output_aliases={1: 0})
    args = np.eye(32, dtype=np.float16)[::-1].copy(), ramp(32, 128, dtype=np.float16)
    kernel = pallascope.capture(fn, *args, chip="h100")
    stages = [one for one in operations(kernel.document["body"]) if one["op"] == "run_scoped"]
    assert len(stages) == 1 and len(stages[0]["regions"][0]["arguments"]) == 2  # x and its barrier
    wanted = args[1].astype(np.float32)
    for i in (0, 32, 64):
        product = wanted[:, i:i + 32] @ args[0].astype(np.float32)
        wanted[:, i + 32:i + 64] = product.astype(np.float16)
    ((found,), findings) = run(kernel)
    np.testing.assert_array_equal(found, wanted)
    assert not findings


# ---- what is refused -----------------------------------------------------------------------


def refused(fn, *args):
    with pytest.raises(pallascope.UnsupportedError) as caught:
        pallascope.capture(fn, *args, chip="h100")
    return [problem.what for problem in caught.value.problems]


def test_what_triton_does_not_take_either_is_named_at_once():
    def kernel(n_ref, x_ref, o_ref, scratch):
        scratch[...] = x_ref[...]
        o_ref[...] = scratch[...]

    spec = pl.BlockSpec((32,), lambda i, n: (i,))
    fn = pl.pallas_call(kernel, out_shape=like(32), grid_spec=pltpu.PrefetchScalarGridSpec(
        num_scalar_prefetch=1, grid=(1,), in_specs=[spec], out_specs=spec,
        scratch_shapes=[pltpu.VMEM((32,), jnp.float32)]))
    memory = "memory that is no operand of the pallas_call, on a GPU"
    assert refused(fn, np.zeros(1, np.int32), ramp(32)) == [
        "scalar prefetch on a GPU", "scratch of a pallas_call on a GPU", memory, memory]


def test_an_algorithm_that_jax_does_not_lower_is_named():
    def kernel(x_ref, y_ref, o_ref):
        o_ref[...] = lax.dot(x_ref[...], y_ref[...], preferred_element_type=jnp.float32,
                             precision=lax.DotAlgorithmPreset.ANY_F8_ANY_F8_F32)

    eights = np.ones((32, 32), jnp.float8_e4m3fn)
    (what,) = refused(call(kernel, out_shape=like(32, 32)), eights, eights)
    assert what.startswith("dot_general with precision ANY_F8_ANY_F8_F32: use DEFAULT, HIGH, ")
    assert "TF32_TF32_F32_X3" in what


def test_assembly_is_named():
    def kernel(x_ref, o_ref):
        (o_ref[...],) = pltriton.elementwise_inline_asm(
            "abs.f32 $0, $1;", args=[x_ref[...]], constraints="=f,f", pack=1,
            result_shape_dtypes=[like(32)])

    assert refused(call(kernel, out_shape=like(32)), ramp(32)) == [
        "elementwise_inline_asm of 'abs.f32 $0, $1;'"]


# ---- what a run finds ----------------------------------------------------------------------


def finds(fn, *args):
    return run(pallascope.capture(fn, *args, chip="h100"))[1]


def test_a_mask_that_is_missing_is_found():
    def kernel(x_ref, o_ref):
        o_ref[...] = x_ref[pl.ds(pl.program_id(0) * 64, 64)]

    fn = call(kernel, out_shape=like(128), grid=(2,), in_specs=[pl.BlockSpec(memory_space=pl.ANY)],
              out_specs=pl.BlockSpec((64,), lambda i: (i,)))
    assert finds(fn, ramp(100)) == {"out_of_bounds"}


def test_a_mask_that_takes_too_much_is_found():
    def kernel(x_ref, o_ref):
        here = pl.program_id(0) * 64 + jnp.arange(64)
        pltriton.store(o_ref.at[pl.ds(pl.program_id(0) * 64, 64)], x_ref[...], mask=here <= 100)

    fn = call(kernel, out_shape=like(100), grid=(2,), out_specs=pl.BlockSpec(memory_space=pl.ANY),
              in_specs=[pl.BlockSpec((64,), lambda i: (i,))])
    assert finds(fn, ramp(128)) == {"out_of_bounds"}


def test_stores_of_two_blocks_to_one_place_are_a_race():
    def kernel(x_ref, o_ref):
        o_ref[...] = x_ref[...]

    fn = call(kernel, out_shape=like(64), grid=(2,), in_specs=[pl.BlockSpec((64,), lambda i: (i,))],
              out_specs=pl.BlockSpec((64,), lambda i: (0,)))
    assert finds(fn, ramp(128)) == {"race"}


def _interleaved(last):
    """Two blocks store to every other element; the second also to the one before its first."""
    def kernel(x_ref, o_ref):
        i = pl.program_id(0)
        places = jnp.arange(64)
        mine = (places % 2 == i) | ((places == last) & (i == 1))
        pltriton.store(o_ref, x_ref[...], mask=mine)

    whole = pl.BlockSpec((64,), lambda i: (0,))
    return call(kernel, out_shape=like(64), grid=(2,), in_specs=[whole], out_specs=whole)


def test_elements_that_masks_leave_out_are_no_accesses():
    assert finds(_interleaved(last=-1), ramp(64)) == set()
    assert finds(_interleaved(last=8), ramp(64)) == {"race"}


def test_an_atomic_operation_races_with_a_load_but_not_with_another():
    def kernel(load, x_ref, _, o_ref):
        pltriton.atomic_add(o_ref, (slice(None),), x_ref[...] + (o_ref[...] if load else 0))

    whole = pl.BlockSpec((32,), lambda i: (0,))

    def fn(load):
        return lambda x, o: call(
            lambda *refs: kernel(load, *refs), out_shape=like(32), grid=(4,), out_specs=whole,
            in_specs=[pl.BlockSpec((None, 32), lambda i: (i, 0)), whole],
            input_output_aliases={1: 0})(x, o)

    args = ramp(4, 32), np.zeros(32, np.float32)
    assert finds(fn(load=False), *args) == set()
    assert finds(fn(load=True), *args) == {"race"}


def test_what_comes_after_an_atomic_operation_is_not_ordered_by_it():
    def kernel(early, x_ref, _, part_ref, count_ref, o_ref):
        def store():
            part_ref[pl.program_id(0)] = x_ref[...].sum()

        if early:
            store()
        last = pltriton.atomic_add(count_ref, (0,), 1) == 3

        @pl.when(last)
        def _():
            o_ref[...] = part_ref[...].sum()

        if not early:
            store()

    def whole(*shape):
        return pl.BlockSpec(shape, lambda i: (0,) * len(shape))

    def fn(early):
        return lambda x, count: call(
            lambda *refs: kernel(early, *refs), grid=(4,),
            out_shape=(like(4), like(1, dtype=np.int32), like()), input_output_aliases={1: 1},
            in_specs=[pl.BlockSpec((None, 32), lambda i: (i, 0)), whole(1)],
            out_specs=[whole(4), whole(1), whole()])(x, count)

    args = ramp(4, 32), np.zeros(1, np.int32)
    assert finds(fn(early=True), *args) == set()
    assert "race" in finds(fn(early=False), *args)


def test_elements_that_a_mask_leaves_out_are_undefined():
    def kernel(x_ref, o_ref):
        o_ref[...] = pltriton.load(x_ref, mask=jnp.arange(32) < 16)

    assert finds(call(kernel, out_shape=like(32)), ramp(32)) == {"undefined_result"}


@pytest.mark.parametrize("stages", [1, 2, 3])
def test_loads_of_a_loop_are_checked_in_stages_too(stages):
    def fn(kept, other):
        def kernel(a_ref, b_ref, o_ref):
            def step(i, total):
                here = pl.ds(i * 32, 32)
                if kept is None:
                    return total + pltriton.dot(a_ref[:, here], b_ref[here, :])
                mask = i * 32 + jnp.arange(32) < kept
                a = pltriton.load(a_ref.at[:, here], mask=mask[None, :], other=other)
                b = pltriton.load(b_ref.at[here, :], mask=mask[:, None], other=other)
                return total + pltriton.dot(a, b)

            o_ref[...] = lax.fori_loop(0, 4, step, jnp.zeros((64, 64), jnp.float32))

        return call(kernel, out_shape=like(64, 64), stages=stages,
                    in_specs=[pl.BlockSpec(memory_space=pl.ANY)] * 2)

    args = ramp(64, 100, dtype=np.float16), ramp(100, 64, dtype=np.float16)
    assert finds(fn(100, 0.0), *args) == set()
    assert finds(fn(None, None), *args) == {"out_of_bounds"}
    assert finds(fn(101, 0.0), *args) == {"out_of_bounds"}
    assert finds(fn(90, None), *args) == {"undefined_result"}


# ---- what a run says -----------------------------------------------------------------------


def report_of(fn, *args):
    kernel = pallascope.capture(fn, *args, chip="h100")
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "k.pallascope"
        kernel.save(path)
        done = subprocess.run([PALLASCOPE, "run", path, "--json"], capture_output=True, text=True,
                              timeout=300, check=False)
    assert done.returncode in (0, 1), done.stderr
    report = json.loads(done.stdout)
    findings = [one for one in report["findings"] if one["kind"] != "unknown_figure"]
    return report, [(one["kind"], one["message"]) for one in findings]


def test_an_undefined_index_is_found_once():
    def kernel(x_ref, o_ref, at_ref):
        o_ref[...] = x_ref[jnp.arange(16) * 0 + at_ref[0]]
        at_ref[0] = 1

    fn = call(kernel, out_shape=[like(16), like(1, dtype=np.int32)])
    assert [kind for kind, _ in report_of(fn, ramp(16))[1]] == ["undefined_index"]


def test_it_says_how_a_result_became_undefined():
    def stores(x_ref, o_ref):
        o_ref[...] = pltriton.load(x_ref, mask=jnp.arange(32) < 16)

    def adds(x_ref, o_ref):
        pltriton.atomic_add(o_ref, (slice(None),), x_ref[...])

    def leaves_out(x_ref, o_ref):
        pltriton.store(o_ref, x_ref[...], mask=jnp.arange(32) < 27)

    for kernel, how in ((stores, "a store writes something undefined there."),
                        (leaves_out, "nothing writes to them."),
                        (adds, "an atomic operation makes them of something undefined.")):
        (found,) = report_of(call(kernel, out_shape=like(32)), ramp(32))[1]
        assert found[0] == "undefined_result" and found[1].endswith(how), found


def test_a_mask_keeps_elements_out_of_the_history():
    def kernel(x_ref, o_ref):
        mask = jnp.arange(32) < 27
        pltriton.store(o_ref, pltriton.load(x_ref, mask=mask, other=0.0), mask=mask)

    def overhangs(x_ref, o_ref): # the second block reaches from 32 to 64, and the arrays end at 50
        mask = pl.program_id(0) * 32 + jnp.arange(32) < 47
        pltriton.store(o_ref, pltriton.load(x_ref, mask=mask, other=0.0), mask=mask)

    block = pl.BlockSpec((32,), lambda i: (i,))
    check_history(call(kernel, out_shape=like(32)), ramp(32), 27)
    check_history(call(overhangs, out_shape=like(50), grid=(2,), in_specs=[block], out_specs=block), ramp(50), 47)


def check_history(fn, x, end):
    captured = pallascope.capture(fn, x, chip="h100")
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "k.pallascope"
        captured.save(path)
        for element, what in ((f"o_ref[{end - 1}]", ["written"]), (f"o_ref[{end}]", []),
                              (f"x_ref[{end - 1}]", ["read"]), (f"x_ref[{end}]", [])):
            done = subprocess.run([PALLASCOPE, "history", path, element, "--json"], capture_output=True,
                                  text=True, timeout=300, check=True)
            touched = {one["what"] for one in json.loads(done.stdout)["history"]} & {"read", "written"}
            assert touched == set(what), (element, done.stdout)


def test_blocks_that_race_are_not_told_of_semaphores():
    def kernel(x_ref, o_ref):
        o_ref[...] = x_ref[...]

    fn = call(kernel, out_shape=like(64), grid=(2,), in_specs=[pl.BlockSpec((64,), lambda i: (i,))],
              out_specs=pl.BlockSpec((64,), lambda i: (0,)))
    (found,) = report_of(fn, ramp(128))[1]
    assert "semaphore" not in found[1] and "atomic operations" in found[1]


def test_the_memory_of_an_sm_is_that_of_its_blocks(tmp_path):
    def kernel(x_ref, y_ref, o_ref):
        o_ref[...] = pltriton.dot(x_ref[...], y_ref[...])

    tile = ramp(64, 64, dtype=np.float16)
    fn = call(kernel, out_shape=like(64, 64))
    report = report_of(fn, tile, tile)[0]
    assert report["block_grids"][0]["shared_bytes"] == report["vmem_peak_bytes"] == 2 * 64 * 64 * 2
    assert report["vmem_by_operand"] == {"compiler": 2 * 64 * 64 * 2}
    pallascope.capture(fn, tile, tile, chip="h100").save(tmp_path / "k.pallascope")
    swept = subprocess.run([PALLASCOPE, "sweep", tmp_path / "k.pallascope"], capture_output=True,
                           text=True, timeout=300, check=True)
    assert "16 KiB" in swept.stdout
