"""Kernels for a GPU: what of them is in the file, and what is refused. JAX's own lowering for CUDA
must accept every kernel of these tests, and its interpreter yields what the tests expect."""

import inspect

import gpu_ampere
import gpu_around
import gpu_authors
import gpu_blocks
import gpu_kernels
import gpu_loops
import gpu_numbers
import gpu_places
import gpu_products
import gpu_shared
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from gpu_case import cases_of, interpreted, like, plgpu, ramp
from jax.experimental.mosaic import gpu as mgpu
from jax.extend import backend
from support import operations, pallascope, pl, pltpu

CASES = cases_of(gpu_kernels, gpu_loops, gpu_numbers, gpu_places, gpu_products, gpu_shared,
                 gpu_ampere, gpu_authors, gpu_blocks, gpu_around)
CHIP = "h100_sxm"


def captured(name):
    case = CASES[name]
    return pallascope.capture(case.fn, *case.args, chip=case.chip)


def found(kernel, op):
    return [one for one in operations(kernel.document["body"]) if one["op"] == op]


def value(kernel, number):
    fields = kernel.document["values"][number]
    return fields["dtype"], fields.get("shape", []), fields.get("space")


@pytest.mark.parametrize("name", CASES)
def test_a_kernel_is_captured_and_jax_accepts_it(name):
    kernel = captured(name)
    assert kernel.document["lowering"] == {"accepted": "yes"}
    assert kernel.document["chip"] == CASES[name].chip
    missing = CASES[name].has - {one["op"] for one in operations(kernel.document["body"])}
    assert not missing
    cores = found(kernel, "core_map")
    assert cores
    assert all(one["params"]["direct_access"] for one in cores)


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if case.is_interpreted])
def test_what_is_expected_is_what_jax_yields(name):
    case = CASES[name]
    for theirs, wanted in zip(interpreted(case), case.results(), strict=True):
        assert (theirs.shape, theirs.dtype) == (wanted.shape, wanted.dtype)
        case.compare(np.asarray(theirs), wanted)


# ---- what is in the file -------------------------------------------------------------------


def test_blocks_and_warpgroups_are_cores():
    params = [found(captured(name), "core_map")[0]["params"] for name in (
        "add_vectors", "a_grid_of_two_axes", "warpgroups_that_exchange_rows")]
    assert params == [
        {"axis": "thread", "cores": 1, "direct_access": True},
        {"axis": "thread", "cores": 1, "direct_access": True,
         "grid": [{"name": "i", "size": 4}, {"name": "j", "size": 6}]},
        {"axis": "wg", "cores": 4, "direct_access": True}]


def test_an_axis_that_vmap_adds_is_the_slowest():
    kernel = captured("a_kernel_under_vmap")
    (cores,) = found(kernel, "core_map")
    assert cores["params"]["grid"] == [{"name": "vmap", "size": 3}, {"name": "i", "size": 2}]
    assert {one["params"]["text"] for one in found(kernel, "axis_index")} == {"vmap", "i"}


def test_a_scope_says_who_shares_it_and_what_its_barriers_wait_for():
    kernel = captured("a_persistent_matmul_of_specialised_warpgroups")
    buffers, accumulator = found(kernel, "run_scoped")
    assert buffers["params"] == {"collective": True, "arrivals": [2, 0, 0, 2, 0]}
    assert "params" not in accumulator
    kinds = [[value(kernel, ref) for ref in scope["regions"][0]["arguments"]]
             for scope in (buffers, accumulator)]
    assert kinds == [[("int32", [2], "barrier"), ("bf16", [2, 128, 64], "smem"),
                      ("bf16", [2, 64, 128], "smem"), ("int32", [2], "barrier"),
                      ("bf16", [2, 64, 128], "smem")], [("f32", [64, 128], "accumulator")]]


def test_tiled_and_swizzled_memory_has_its_logical_shape():
    kernel = captured("parts_of_tiled_memory")
    (scope,) = found(kernel, "run_scoped")
    assert [value(kernel, ref)[1] for ref in scope["regions"][0]["arguments"][:2]] == [
        [64, 128], [64, 64]]
    assert [one["params"]["entries"] for one in found(kernel, "get")] == [
        [{"size": 64}, {"start": 64, "size": 64}], [{"size": 64}, {"size": 64}]]


def test_copies_take_their_barrier_and_their_predicate():
    kernel = captured("copies_with_predicates")
    (load,), (store,), (arrive,) = (found(kernel, op) for op in (
        "copy_gmem_to_smem", "copy_smem_to_gmem", "barrier_arrive"))
    kinds = [value(kernel, operand) for operand in load["operands"]]
    assert kinds == [("f32", [128], "hbm"), ("f32", [128], "smem"), ("int32", [], "barrier"),
                     ("bool", [], None)]
    assert load["params"] == store["params"] == arrive["params"] == {"predicate": True}
    assert [value(kernel, operand)[2] for operand in store["operands"]] == ["smem", "hbm", None]
    assert [value(kernel, operand)[2] for operand in arrive["operands"]] == ["barrier", None]


def test_groups_of_copies_are_committed_where_the_author_does():
    kernel = captured("copies_out_in_groups")
    assert [one["params"] for one in found(kernel, "copy_smem_to_gmem")] == [{"commit": False}] * 8
    assert len(found(kernel, "commit_group")) == 5
    assert [one.get("params", {}) for one in found(kernel, "wait_smem_to_gmem")] == [
        {"n": 1, "read_only": True}] * 4 + [{}]


def test_products_take_refs_or_a_value():
    (plain,) = found(captured("a_product"), "wgmma")
    assert "params" not in plain
    kernel = captured("a_product_with_an_operand_in_registers")
    (product,) = found(kernel, "wgmma")
    assert product["params"] == {"lhs_in_registers": True}
    assert [value(kernel, operand)[2] for operand in product["operands"]] == [
        "accumulator", None, "smem"]


def test_an_accumulator_is_read_after_a_wait():
    ops = [one["op"] for one in operations(captured("products_that_overlap").document["body"])]
    place = ops.index("wgmma_accumulator_deref")
    assert ops[place - 1] == "wgmma_wait"


def test_registers_go_to_the_warpgroups_that_compute():
    kernel = captured("a_pipeline_of_specialised_warpgroups")
    assert [one["params"] for one in found(kernel, "set_max_registers")] == [
        {"n": 40}, {"n": 256, "increase": True}]


def test_reshapes_around_a_kernel_move_nothing():
    kernel = captured("operations_around_a_kernel")
    assert len(found(kernel, "fusion")) == 2  # what comes before the kernel, and after it


def test_operations_keep_lines_and_refs_keep_names():
    kernel = captured("blocks_copied_in_and_out")
    fn = CASES["blocks_copied_in_and_out"].fn
    lines, first = inspect.getsourcelines(fn)
    (copy,) = found(kernel, "copy_gmem_to_smem")
    place = kernel.document["locations"][copy["location"]]
    assert "copy_gmem_to_smem" in lines[place["line"] - first]
    assert [one["name"] for one in kernel.document["arguments"]] == ["x", "o_gmem"]
    (scope,) = found(kernel, "run_scoped")
    assert [kernel.document["values"][ref]["name"]
            for ref in scope["regions"][0]["arguments"]] == ["x_smem", "o_smem", "barrier"]
    assert found(kernel, "kernel")[0]["params"] == {"name": "twice"}


# ---- the chip --------------------------------------------------------------------------------


def _copy(grid):
    def copy(x_gmem, o_gmem):
        @plgpu.nd_loop((8,), collective_axes="sm")
        def _(info):
            o_gmem[info.index[0]] = x_gmem[info.index[0]]

    return plgpu.kernel(copy, out_type=like(8, 128), grid=(grid,), grid_names=("sm",))


@pytest.mark.parametrize(("chip", "count"), [("h100", 132), ("h100_pcie", 114), ("b200", 148)])
def test_kernels_ask_for_the_chip_that_they_are_captured_for(chip, count):
    seen = []

    def fn(x):
        mesh = jax.sharding.get_abstract_mesh()
        seen.append((mesh.abstract_device.num_cores, backend.get_default_device().core_count,
                     jax.devices()[0].core_count, jax.default_backend()))
        return _copy(backend.get_default_device().core_count)(x)

    before = backend.get_default_device
    kernel = pallascope.capture(fn, ramp(8, 128), chip=chip)
    assert seen[0] == (count, count, count, "gpu")
    assert found(kernel, "core_map")[0]["params"]["grid"][0]["size"] == count
    assert backend.get_default_device is before


def test_pipelines_are_those_of_the_architecture():
    def fn(x):
        def total(x_gmem, o_gmem):
            o_gmem[...] = plgpu.emit_pipeline(
                lambda _, x_smem, so_far: so_far + x_smem[0], grid=(8,), max_concurrent_steps=2,
                in_specs=[plgpu.BlockSpec((1, 128), lambda i: (i, 0))],
                init_carry=jnp.zeros((128,), jnp.float32))(x_gmem)

        return plgpu.kernel(total, out_type=like(128))(x)

    for chip, wait in (("h100", "barrier_wait"), ("a100", "wait_gmem_to_smem")):
        assert found(pallascope.capture(fn, ramp(8, 128), chip=chip), wait)


def test_a_gpu_has_one_core():
    with pytest.raises(ValueError, match="cores=2 of h100_sxm"):
        pallascope.capture(_copy(4), ramp(8, 128), chip="h100", cores=2)


# ---- what is refused -------------------------------------------------------------------------


def refused(fn, *args, chip=CHIP):
    with pytest.raises(pallascope.UnsupportedError) as caught:
        pallascope.capture(fn, *args, chip=chip)
    return [problem.what for problem in caught.value.problems]


def test_everything_that_is_not_supported_is_named():
    def kernel(x_gmem, o_gmem, smem, barrier):
        plgpu.copy_gmem_to_smem(x_gmem, smem, barrier, collective_axes="c")
        plgpu.barrier_wait(barrier)
        plgpu.copy_smem_to_gmem(smem, o_gmem, reduction_op="inc")
        plgpu.copy_smem_to_gmem(smem, plgpu.remote_ref(o_gmem, 0))
        o_gmem[...] = plgpu.cluster_ref(smem, {"c": 1})[...]

    fn = plgpu.kernel(
        kernel, out_type=like(128), grid=(2,), grid_names=("c",), scratch_types=[
            plgpu.SMEM((128,), jnp.float32), plgpu.Barrier()])
    assert refused(fn, ramp(128)) == [
        "copy_gmem_to_smem with collective axes other than the cluster's",
        "copy_smem_to_gmem with reduction_op='inc' of f32",
        "remote_ref to a device of a mesh, outside of a shard_map: use a shard_map, or "
        "DeviceIdType.LOGICAL",
        "memory of a block along ('c',), which are no axes of the cluster"]


def test_warps_that_work_at_the_same_time_are_regions():
    def kernel(x_gmem, o_gmem, smem, barrier):
        @plgpu.warp_map
        def _(warp):
            @pl.when(warp < 2)
            def _():
                plgpu.copy_gmem_to_smem(x_gmem.at[warp], smem.at[warp], barrier)

        plgpu.barrier_wait(barrier)
        o_gmem[...] = plgpu.load(smem)

    fn = plgpu.kernel(kernel, out_type=like(2, 128), scratch_types=[
        plgpu.SMEM((2, 128), jnp.float32), plgpu.Barrier(num_arrivals=2)])
    kernel = pallascope.capture(fn, ramp(2, 128), chip=CHIP)
    (warps,) = found(kernel, "warp_map")
    assert warps["params"] == {"warps": [0, 1]}
    assert [one["op"] for region in warps["regions"] for one in operations(region)
            if one["op"] == "copy_gmem_to_smem"] == ["copy_gmem_to_smem"] * 2


def test_instructions_that_mean_something_else_are_named():
    def kernel(x_gmem, o_gmem):
        @plgpu.inline_mgpu()
        def rest(_):
            mgpu.utils.inline_ptx("nanosleep.u32 100;")

        rest()
        o_gmem[...] = x_gmem[...]

    (what,) = refused(plgpu.kernel(kernel, out_type=like(128)), ramp(128))
    assert what.startswith("inline_mgpu of ")
    assert "rest, which does more than " in what


def test_a_cluster_has_axes_of_its_own():
    kernel = captured("a_cluster_that_shares_its_copies")
    (cores,) = found(kernel, "core_map")
    assert cores["params"]["grid"] == [{"name": "rows", "size": 2}]
    assert cores["params"]["cluster"] == [{"name": "c", "size": 2}]
    (scope,) = found(kernel, "run_scoped")
    assert scope["params"]["blocks"] == 2
    (copy,) = found(kernel, "copy_gmem_to_smem")
    assert copy["params"] == {"blocks": 2}


def test_members_of_a_union_say_which_memory_they_share():
    kernel = captured("memory_that_serves_twice")
    (scope,) = found(kernel, "run_scoped")
    assert scope["params"]["unions"] == [0, 1, 1, 1]
    assert scope["params"]["groups"] == [0, 0, 1, 1]


def test_barriers_by_number_are_those_of_the_block():
    kernel = captured("a_consumer_that_only_arrives")
    named, _ = found(kernel, "run_scoped")
    assert named["params"] == {"arrivals": [2], "named": True, "collective": True}


def test_each_block_has_semaphores_that_its_kernel_allocates_for_all():
    def kernel(x_gmem, o_gmem, semaphore):
        pl.semaphore_signal(semaphore, 1)
        pl.semaphore_wait(semaphore, 1)
        o_gmem[...] = x_gmem[...]

    fn = plgpu.kernel(kernel, out_type=like(128), grid=(3,), grid_names=("i",),
                      scratch_types=[plgpu.SemaphoreType.REGULAR(())])
    kernel = pallascope.capture(fn, ramp(128), chip=CHIP)
    (scope,) = (one for one in found(kernel, "run_scoped")
                if any(inner["op"] == "core_map" for inner in one["regions"][0]["operations"]))
    (semaphores,) = (kernel.document["values"][ref] for ref in scope["regions"][0]["arguments"])
    assert (semaphores["space"], semaphores["shape"]) == ("semaphore", [3])


def test_an_axis_that_no_grid_has():
    def kernel(x_gmem, o_gmem):
        o_gmem[...] = x_gmem[...] + pl.program_id(0)

    fn = plgpu.kernel(kernel, out_type=like(128), grid=(2,), grid_names=("i",))
    assert refused(fn, ramp(128)) == ["program_id of axis 0 without such a grid axis"]


def test_kernels_of_another_family_than_the_chip():
    def kernel(x_ref, o_ref):
        o_ref[...] = x_ref[...]

    assert refused(plgpu.kernel(kernel, out_type=like(128)), ramp(128), chip="tpu_v5e") == [
        "plgpu.kernel on a TPU: capture it for a GPU, such as chip=\"h100\""]
    mesh = pltpu.TensorCoreMesh(axis_name="core", num_cores=1)
    assert refused(pl.kernel(kernel, mesh=mesh, out_type=like(128)), ramp(128)) == [
        "a kernel on a mesh of TPU cores, on a GPU"]
