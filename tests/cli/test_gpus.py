"""GPUs: they are listed and described, refuse kernels for TPUs, and say how many blocks of their own kernels run at a
time."""

import json
import pathlib

from support import SMALL, Case, parameters, strict_json

EXAMPLE = pathlib.Path(__file__).parents[2] / "docs" / "examples" / "add.kernel.json"
GPUS = ["a100_40", "a100_80", "b200", "h100_pcie", "h100_sxm", "h200", "l4"]


def kernel(slots=4, warpgroups=3):
    """512 blocks, each with tiles of bf16[128,64] and as many barriers in shared memory."""
    scope = {"op": "run_scoped", "params": {"collective": True, "arrivals": [0, 1]},
             "regions": [{"arguments": [1, 2]}]}
    blocks = {"op": "core_map", "regions": [{"operations": [scope]}],
              "params": {"axis": "wg", "cores": warpgroups,
                         "grid": [{"name": "m", "size": 16}, {"name": "n", "size": 32}]}}
    return {"format": "pallascope.kernel", "version": 1, "name": "blocks", "chip": "h100_sxm",
            "arguments": [{"name": "out", "kind": "output", "ref": 0}], "inputs": [],
            "values": [{"name": "out", "dtype": "f32", "shape": [8, 128], "space": "hbm"},
                       {"name": "tiles", "dtype": "bf16", "shape": [slots, 128, 64], "space": "smem"},
                       {"name": "full", "dtype": "int32", "shape": [slots], "space": "barrier"}],
            "body": {"arguments": [0], "operations": [
                {"op": "kernel", "params": {"name": "blocks"}, "regions": [{"operations": [blocks]}]}]}}


class Gpus(Case):
    def test_they_are_listed_after_tpus_and_described_also_by_their_aliases(self):
        names = [line.split()[0] for line in self.output("list", "chips").splitlines()]
        self.assertEqual([name for name in names if not name.startswith("tpu_")], GPUS)
        self.assertEqual(names[-len(GPUS):], GPUS)
        for alias, name in (("h100", "h100_sxm"), ("a100", "a100_80")):
            self.assertEqual(self.output("describe", alias), self.output("describe", name))
        described = self.output("describe", "h100")
        for words in ("NVIDIA H100 SXM (h100_sxm)", "16 \u00d7 Warpgroup", "in each SM of 132",
                      "compute capability 9.0", "65\u2009536 registers (255 of a thread)",
                      "228 KiB of SMEM (227 KiB of a block, and 1 KiB of the system for each)"):
            self.assertIn(words, described)

    def test_they_refuse_kernels_for_tpus(self):
        titles = dict(line.split(maxsplit=1) for line in self.output("list", "chips").splitlines())
        for name in GPUS:
            says = ("is a kernel for TPUs", titles[name], "is a GPU", "Choose the chip of a TPU")
            for command in (("run", "matmul"), ("run", "add_vectors", "--values", "needed"),
                            ("run", EXAMPLE), ("describe", "matmul"), ("describe", EXAMPLE)):
                self.refused(*command, "--chip", name, says=says)
        self.refused("state", "matmul", "--step", "0", "--chip", "h100", says=says[:1])
        self.refused("history", "matmul", "out[0,0]", "--chip", "h100", says=says[:1])

    def test_kernels_for_gpus_run_on_their_own_chip_and_refuse_others(self):
        small = parameters({"m": 512, "n": 512, "k": 128, "persistent": 2})
        needed = ("hopper_matmul", *small, "--values", "needed")
        self.assertEqual(strict_json(self.output("run", *needed, "--json"))["chip"], "h100_sxm")
        self.assertEqual(strict_json(self.output("describe", "hopper_matmul", "--json"))["chip"], "h100_sxm")
        self.assertIn(", for h100_sxm\n", self.output("describe", "hopper_matmul"))
        rows = strict_json(self.output("sweep", "hopper_matmul", *small, "--over", "stages=1,4,5", "--json"))["rows"]
        self.assertEqual({row["chip"] for row in rows}, {"h100_sxm"})
        self.assertEqual([row["fits"] for row in rows], [True, True, False])
        self.output("save", "hopper_matmul", *small, "-o", "k.kernel.json")
        self.assertEqual(strict_json(self.output("run", "k.kernel.json", "--values", "needed", "--json"))["chip"],
                         "h100_sxm")
        self.refused("run", *needed, "--chip", "v5e",
                     says=("hopper_matmul is a kernel for GPUs", "TPU v5e is a TPU", "Choose the chip of a GPU"))
        self.refused("run", *needed, "--chip", "b200",
                     says=("the operation wgmma at kernels/hopper_matmul.cpp:", "NVIDIA B200 has 10.0"))
        self.refused("run", *needed, "-p", "stages=5",
                     says=("bytes of shared memory", "NVIDIA H100 SXM has 232\u2009448"))

    def test_a_sweep_over_chips_says_which_do_not_run_the_kernel(self):
        rows = strict_json(self.output("sweep", "matmul", *parameters(SMALL), "--chip",
                                       "tpu_v5e,h100", "--json"))["rows"]
        self.assertEqual([row["chip"] for row in rows], ["tpu_v5e", "h100_sxm"])
        self.assertIsNone(rows[0]["error"])
        self.assertIn("is a kernel for TPUs", rows[1]["error"])

    def test_a_kernel_is_described_with_its_blocks(self):
        self.write("k.kernel.json", kernel())
        described = self.output("describe", "k.kernel.json")
        for words in ("3 warpgroups", "65\u2009568 bytes of shared memory", "4 barriers",
                      "an SM runs 3 blocks at a time (36 of 64 warps), limited by shared memory",
                      "24 registers a thread are assumed", "512 blocks in 2 waves of 396 at a time",
                      "the last has 116"):
            self.assertIn(words, described)
        self.assertEqual(described,
                         self.output("describe", "k.kernel.json", "--chip", "h100"))
        grid, = strict_json(self.output("describe", "k.kernel.json", "--chip", "a100", "--registers",
                                        "64", "--json"))["block_grids"]
        self.assertEqual((grid["shared_bytes"], grid["barriers"], grid["registers_assumed"]),
                         (65568, 4, False))
        self.assertEqual((grid["blocks_per_sm"], grid["limited_by"]), (2, ["registers", "shared memory"]))
        self.assertEqual((grid["blocks_at_a_time"], grid["waves"], grid["last_wave_blocks"]),
                         (216, 3, 80))
        self.assertNotIn("block_grids", json.loads(self.output("describe", EXAMPLE, "--json")))

    def test_tensor_memory_is_named_where_it_limits_the_blocks_of_an_sm(self):
        small = parameters({"m": 1024, "n": 1024, "k": 256, "stages": 2})
        run = ("run", "blackwell_matmul", *small, "--values", "needed")
        self.assertIn("an SM runs 1 block at a time (8 of 64 warps), limited by tensor memory; each alone allows: "
                      "registers 2, shared memory 2, threads 8, blocks 32, tensor memory 1\n", self.output(*run))
        grid, = strict_json(self.output(*run, "--json"))["block_grids"]
        self.assertEqual((grid["blocks_per_sm"], grid["warps_per_sm"], grid["limited_by"]), (1, 8, ["tensor memory"]))
        self.assertEqual(grid["allowed_blocks"]["tensor memory"], 1)

    def test_a_run_says_how_its_blocks_ran(self):
        self.write("k.kernel.json", kernel(slots=2, warpgroups=1))
        plain = ("run", "k.kernel.json", "--values", "needed")
        run = (*plain, "--set", "registers=most")
        ran = strict_json(self.output(*run, "--json", "--trace", "t.trace.json"))
        described = strict_json(self.output("describe", "k.kernel.json", "--json"))
        estimated, = strict_json(self.output(*plain, "--json"))["block_grids"]
        self.assertEqual({**estimated, "source": None}, {**described["block_grids"][0], "source": None})
        grid, = ran["block_grids"]
        self.assertEqual((grid["blocks_per_sm"], grid["waves"], grid["last_wave_blocks"]), (2, 2, 248))
        self.assertEqual(ran["vmem_peak_bytes"], 2 * 2 * 128 * 64 * 2)
        self.assertEqual(sum(ran["vmem_by_operand"].values()), ran["vmem_peak_bytes"])
        self.assertEqual((ran["settings"]["registers"], ran["settings"]["clock"]), ("most", "sustained"))
        self.assertEqual(strict_json(self.output("report", "t.trace.json", "--json"))["block_grids"], ran["block_grids"])
        self.assertIn("for 2 blocks on an SM", self.output(*run))
        self.assertIn("an SM runs 2 blocks at a time", self.output(*run))
        more, = strict_json(self.output(*plain, "--json", "--set", "registers=64"))["block_grids"]
        self.assertEqual((more["blocks_per_sm"], more["registers_per_thread"], more["registers_assumed"]),
                         (6, 64, False))
        self.refused(*plain, "--set", "registers=256", says=("registers is 256", "1 to 255"))
        boost = strict_json(self.output(*run, "--json", "--set", "clock=boost"))
        self.assertEqual(boost["settings"]["clock"], "boost")
        self.assertNotIn("block_grids", self.report("matmul", SMALL))

    def test_a_moment_has_the_blocks_of_agents_and_the_phases_of_barriers(self):
        self.write("k.kernel.json", kernel())
        state = ("state", "k.kernel.json", "--event", "100", "--set", "registers=most")
        moment = strict_json(self.output(*state, "--json"))
        blocks = [agent["block"] for agent in moment["agents"] if "block" in agent]
        self.assertEqual(len(blocks), 3 * 132)  # a block of three warpgroups on each SM
        for block in set(blocks):
            self.assertEqual(blocks.count(block), 3)
        self.assertLess(max(blocks), 512)
        barrier = moment["semaphores"][0]
        self.assertEqual((barrier["name"], barrier["phases"], barrier["arrivals_of_phase"]), ("full[0]", 0, 1))
        told = self.output(*state)
        self.assertIn(f", block {blocks[0]}: ", told)
        self.assertIn("barrier full[0] of ", told)
        self.assertIn(": 0 phases complete, 0 of 1 arrived", told)

    def test_a_moment_is_the_time_that_is_asked_for(self):
        kernel = ("hopper_matmul", "-pm=512", "-pn=512", "-pk=512", "--values", "needed")
        end = strict_json(self.output("run", *kernel, "--json"))["time_s"]
        for share in (0.3, 0.5, 0.7, 0.9):
            at = strict_json(self.output("state", *kernel, "--at", f"{share * 100}%", "--json"))["time_ps"] * 1e-12
            self.assertAlmostEqual(at, share * end, delta=1e-12)

    def test_a_moment_says_which_agents_have_run_ahead(self):
        kernel = ("hopper_matmul", "-pm=512", "-pn=512", "-pk=512", "--values", "needed")
        state = strict_json(self.output("state", *kernel, "--at", "50%", "--json"))
        ahead = [(one["agent"], one["time_ps"]) for one in state["ahead"]]
        wanted = [(one["agent"], one["time_ps"]) for one in state["agents"] if one["time_ps"] > state["time_ps"]]
        self.assertGreater(len(ahead), 1)
        self.assertEqual(sorted(ahead), sorted(wanted))
        self.assertEqual(ahead[0][1], max(time for _, time in wanted))
        self.assertIn(f"\n  {len(ahead)} agents have run ahead, {ahead[0][0]} furthest, to ",
                      self.output("state", *kernel, "--at", "50%"))
        end = strict_json(self.output("state", *kernel, "--at", "100%", "--json"))
        self.assertEqual(end["ahead"], [])

    def test_an_element_is_told_where_it_came_from_although_its_block_has_ended(self):
        kernel = ("hopper_matmul", "-pm=512", "-pn=512", "-pk=512")
        told = self.output("history", *kernel, "out[0,0]")
        self.assertIn("copied from out_tile", told)
        self.assertNotIn("nothing names", told)

    def test_a_run_says_what_a_block_may_have(self):
        self.write("k.kernel.json", kernel())
        told = self.output("run", "k.kernel.json", "--values", "needed")
        self.assertIn("a block may have 227 KiB", told)
        self.assertNotIn("scoped limit", told)

    def test_barriers_that_no_kernel_asks_for_have_names(self):
        kernel = pathlib.Path(__file__).resolve().parents[1] / "golden/two_gpus.kernel.json"
        state = strict_json(self.output("state", kernel, "--at", "100%", "--chip", "h100", "--json"))
        self.assertEqual({one["name"] for one in state["semaphores"] if one["name"].startswith(("start", "barrier"))},
                         {"start barrier"})

    def test_a_moment_has_what_l2_holds(self):
        kernel = ("hopper_matmul", "-pm=512", "-pn=512", "-pk=512")
        cache, = strict_json(self.output("state", *kernel, "--at", "100%", "--json"))["l2"]
        self.assertEqual((cache["name"], cache["held_bytes"]), ("L2", 3 * 512 * 512 * 2))
        report = strict_json(self.output("run", *kernel, "--values", "needed", "--json"))
        arrays = {array["name"]: array for array in cache["arrays"]}
        for array in arrays.values():  # all of them fit
            self.assertEqual(array["held_bytes"], array["array_bytes"])
        for key in ("hit_bytes", "miss_bytes"):
            self.assertEqual(sum(array[key] for array in arrays.values()), report["l2"][key])
        early, = strict_json(self.output("state", *kernel, "--copy", "0", "--json"))["l2"]
        (first,) = early["arrays"]
        self.assertEqual(early["held_bytes"], first["held_bytes"])
        self.assertEqual((first["miss_bytes"], first["hit_bytes"]), (first["held_bytes"], 0))
        told = self.output("state", *kernel, "--at", "100%")
        self.assertIn("  L2 holds 1.50 MiB of ", told)
        self.assertIn(", 100.0 % of the array; of reads asked for so far ", told)
        self.assertNotIn("l2", strict_json(self.output("state", "matmul", *parameters(SMALL), "--at", "0", "--json")))

    def test_a_sweep_over_gpus_lists_the_bytes_of_smem(self):
        self.write("k.kernel.json", kernel())
        sweep = ("sweep", "k.kernel.json", "--chip", "h100")
        self.assertIn("SMEM", self.output(*sweep).splitlines()[0])

    def test_what_does_not_fit_a_block_is_refused(self):
        self.write("large.kernel.json", kernel(slots=15))
        self.refused("run", "large.kernel.json", says=("needs 245\u2009880 bytes of shared memory",
                                                       "NVIDIA H100 SXM has 232\u2009448"))
        self.write("many.kernel.json", kernel(warpgroups=9))
        self.refused("run", "many.kernel.json", says=("9 warpgroups", "takes 8 (1024)"))

    def test_bad_numbers_of_registers_are_refused(self):
        self.write("k.kernel.json", kernel())
        for number in ("0", "256", "-1"):
            self.refused("describe", "k.kernel.json", "--registers", number,
                         says=("--registers", number, "1 to 255"))
        self.refused("describe", "matmul", "--registers", "64", says=("--registers", "--chip"))
        self.refused("describe", "h100", "--chip", "h100", says=("--chip", "is a chip itself"))
