"""Help, lists, descriptions and pictures."""

import json
import os
import pathlib
import pty
import subprocess
import unittest
import xml.etree.ElementTree

from support import FINDINGS, FINE, PROGRAM, SMALL, WRONG_INPUT, Case, parameters, strict_json

EXAMPLE = pathlib.Path(__file__).parents[2] / "docs" / "examples" / "add.kernel.json"
VIEWS = ("kernel", "grid", "memory", "timeline", "roofline", "source", "verdict")


class Commands(Case):
    def test_version_is_three_numbers(self):
        self.assertRegex(self.output("--version"), r"^\d+\.\d+\.\d+\n$")

    def test_help_names_every_command_and_option(self):
        text = self.output("--help")
        for command in ("open", "list", "describe", "run", "state", "history", "report"):
            self.assertIn(command, text)
            self.assertIn("Usage: pallascope " + command, self.output(command, "--help"))
        for option in ("--parameter", "--chip", "--values", "--set", "--no-check", "--trace", "--json"):
            self.assertIn(option, self.output("run", "--help"))
        for option in "--screenshot --view --at --size --theme --text-size --device --finding --break --between".split():
            self.assertIn(option, self.output("run", "--help"))
            self.assertIn(option, self.output("report", "--help"))

    def test_a_stretch_says_what_happens_in_it(self):
        self.output("run", "matmul", *parameters(SMALL), "--trace", "a.trace.json.gz")
        whole = strict_json(self.output("report", "a.trace.json.gz", "--json"))
        stretch = ("report", "a.trace.json.gz", "--between")
        all_of_it = strict_json(self.output(*stretch, "0%", "100%", "--json"))
        self.assertAlmostEqual(all_of_it["end_s"], whole["time_s"])
        self.assertAlmostEqual(all_of_it["flops"], whole["flops"], delta=1)
        written = sum(one["written"] for one in all_of_it["bytes"].values())
        self.assertEqual(written, whole["hbm_write_bytes"])
        first, second = (
            strict_json(self.output(*stretch, *between, "--json")) for between in (("0%", "40%"), ("40%", "100%"))
        )
        for unit, time in all_of_it["busy_s"].items():
            parts = first["busy_s"].get(unit, 0) + second["busy_s"].get(unit, 0)
            self.assertAlmostEqual(parts, time)
        text = self.output(*stretch, "0%", "100%")
        for words in ("0 µs to ", "busy  MXU ", "moved  x ", "waits for  "):
            self.assertIn(words, text)
        self.assertEqual(text, self.output("run", "matmul", *parameters(SMALL), "--between", "0%", "100%"))
        self.refused(*stretch, "0%", "soon", says=('"soon"', "60%", "us"))
        self.refused(*stretch, "100%", "2s", says=("100% 2s", "ends at"))

    def test_every_listed_kernel_is_described(self):
        names = [line.split()[0] for line in self.output("list", "kernels").splitlines()]
        self.assertEqual(names[:3], ["matmul", "matmul_scratch", "add_vectors"])
        for name in names:
            text = self.output("describe", name)
            description = strict_json(self.output("describe", name, "--json"))
            self.assertEqual(description["name"], name)
            self.assertRegex(text, rf"\n{name}\(\w+:Ref<hbm>")
            for parameter in description["parameters"]:
                self.assertIn(f"  {parameter['name']} ", text)
                self.assertIn(str(parameter["default"]), text)
                self.assertIn(parameter["help"], text)

    def test_a_kernel_file_runs_on_the_chip_that_it_is_for(self):
        self.output("save", "matmul", *parameters(SMALL), "-o", "k.kernel.json")
        document = strict_json((self.folder / "k.kernel.json").read_text())
        self.assertNotIn("chip", document)
        kernel = ("k.kernel.json", {}, "--values", "needed")
        self.assertEqual(self.report(*kernel)["chip"], "tpu_v5e")
        self.write("k.kernel.json", {**document, "chip": "tpu_v6e"})
        self.assertEqual(self.report(*kernel)["chip"], "tpu_v6e")
        self.assertEqual(self.report(*kernel, "--chip", "v4")["chip"], "tpu_v4")
        self.assertIn("tpu_v6e", self.output("sweep", "k.kernel.json", "--csv"))
        self.assertIn("for tpu_v6e", self.output("describe", "k.kernel.json"))
        for name in ("TPU v6e", "TPU v4"):
            self.assertIn(name, self.output("compare", "k.kernel.json", "k.kernel.json chip=v4"))
        self.write("k.kernel.json", {**document, "chip": "./k.kernel.json"})  # a chip's name, never a file
        self.refused("run", "k.kernel.json", says=('"./k.kernel.json"', "tpu_v5e", "--chip"))
        self.refused("sweep", "k.kernel.json", says=('"./k.kernel.json"', "tpu_v5e", "--chip"))
        self.assertEqual(self.report(*kernel, "--chip", "v5e")["chip"], "tpu_v5e")

    def test_several_kernel_files_are_one_sweep(self):
        for rows in (16, 24, 48):
            small = {**SMALL, "bm": rows}
            self.output("save", "matmul", *parameters(small), "-o", f"bm={rows}.kernel.json")
        files = [f"bm={rows}.kernel.json" for rows in (48, 16, 24)]
        swept = strict_json(self.output("sweep", *files, "--chip", "v5e,v6e", "--json"))["rows"]
        self.assertEqual([(row["parameters"], row["chip"]) for row in swept],
                         [({"file": file}, chip) for file in files
                          for chip in ("tpu_v5e", "tpu_v6e")])
        for row in swept:
            alone = self.report(row["parameters"]["file"], {}, "--values", "needed", "--chip",
                                row["chip"])
            self.assertEqual((row["time_s"], row["steps"]), (alone["time_s"], alone["steps"]))
        self.output("sweep", *files, "--save", "s.json")
        self.assertIn("best: file=", self.output("sweep", *files, "--resume", "s.json"))
        self.refused("sweep", files[0], files[1], "--resume", "s.json", says=("s.json",))
        self.refused("sweep", files[0], "matmul", says=("matmul", "built in"))
        self.refused("sweep", files[0], files[0], says=(files[0], "twice"))
        self.refused("sweep", *files, "--over", "bm=1,2", says=("bm", "fixed"))
        document = strict_json((self.folder / files[0]).read_text())
        self.write(files[0], {**document, "chip": "tpu_v6e"})
        self.refused("sweep", *files, says=(files[0], "tpu_v6e", "tpu_v5e", "--chip"))

    def test_a_chip_is_described_with_what_a_step_takes_and_whom_its_links_join(self):
        self.assertIn("  step overhead 20 ns, and 45 ns for each operand whose blocks are copied\n",
                      self.output("describe", "v6e"))
        v7x = self.output("describe", "v7x")
        self.assertIn(" each way to 6 neighbours, ", v7x)
        self.assertIn("; the model takes 16 MiB of a device (32 MiB of the chip)\n", v7x)
        self.assertIn(" each way to a switch that joins all devices, ", self.output("describe", "h100"))

    def test_every_listed_chip_is_described_also_by_its_alias(self):
        names = [line.split()[0] for line in self.output("list", "chips").splitlines()]
        self.assertIn("tpu_v5e", names)
        for name in names:
            self.assertIn(name, self.output("describe", name))
            self.assertEqual(strict_json(self.output("describe", name, "--json"))["name"], name)
        for arguments in ((), ("--json",)):
            self.assertEqual(
                self.output("describe", "v5e", *arguments),
                self.output("describe", "tpu_v5e", *arguments),
            )

    def test_blocks_that_the_compiler_refuses_are_described_and_run_with_a_finding(self):
        text = json.dumps(json.loads(EXAMPLE.read_text()))
        text = text.replace('"size": 16', '"size": 12').replace("[16, 128]", "[12, 128]")
        text = text.replace('"axis_names"', '"origin": "pallas_call", "axis_names"')
        (self.folder / "odd.kernel.json").write_text(text)
        described = self.output("describe", "odd.kernel.json")
        self.assertEqual(described.count("illegal block: "), 3)
        blocks = strict_json(self.output("describe", "odd.kernel.json", "--json"))["illegal_blocks"]
        self.assertEqual(len(blocks), 3)
        self.assertIn("block (12, 128) of x", blocks[0])
        self.assertIn("the nearest legal block is (8, 128).", blocks[0])
        report = self.report("odd.kernel.json", {}, code=FINDINGS)
        found = [row for row in report["findings"] if row["kind"] == "illegal_block"]
        self.assertEqual([row["operand"] for row in found], ["x", "y", "out"])
        self.assertEqual([row["step"] for row in found], [None] * 3)
        self.assertEqual([row["message"] for row in found], blocks)
        self.assertNotIn("illegal", self.output("describe", EXAMPLE))

    def test_every_kernel_runs_with_its_defaults(self):
        for line in self.output("list", "kernels").splitlines():
            self.output("run", line.split()[0], "--values", "needed")

    def test_json_has_its_documented_keys_in_order(self):
        report = self.output("run", "add_vectors", "--json")
        keys = list(strict_json(report))
        for key in """kernel parameters chip grid steps events time_s cycles flops flops_by_unit
                transcendentals hbm_read_bytes hbm_write_bytes traffic arithmetic_intensity flops_per_s
                peak_flops_per_s utilization bound_by time_split_s verdict vmem_peak_bytes vmem_by_operand
                vmem_temporaries_estimate_bytes vmem_scoped_limit_bytes vmem_capacity_bytes result findings
                wall_s wall_all_s""".split():
            self.assertIn(key, keys)
        self.assertEqual(
            list(strict_json(report)["time_split_s"]),
            "compute exposed_copies step_overhead prologue epilogue launches fusions idle".split(),
        )

    def test_settings_are_listed_and_stand_in_the_report_of_a_run_and_of_its_trace(self):
        listed = self.output("list", "settings").splitlines()
        names = [line.split()[0] for line in listed]
        ran = self.report(
            "matmul", SMALL, "--set", "uninitialized_memory=zero", "--trace", "t.trace.json"
        )
        self.assertEqual(names[-3:], ["registers", "clock", "long_grids"])
        names = names[:-3]  # those are of GPUs
        self.assertEqual(list(ran["settings"]), sorted(names))
        self.assertEqual(ran["settings"]["uninitialized_memory"], "zero")
        for name, line in zip(names, listed):
            if name != "uninitialized_memory":
                self.assertIn(f"(default {ran['settings'][name]})", line)
        again = strict_json(self.output("report", "t.trace.json", "--json"))
        self.assertEqual(again["settings"], ran["settings"])
        setting = ("--set", "detect_races=false")
        swept = strict_json(
            self.output("sweep", "matmul", "--over", "bm=256", *setting, "--json")
        )
        self.assertEqual(swept["settings"]["detect_races"], "false")
        self.output("compare", "matmul", "t.trace.json", *setting)

    def test_a_sweep_says_how_many_blocks_of_a_long_grid_it_passed_over(self):
        sweep = ("sweep", "flash_attention", "-p", "turns=no", "-p", "heads=128", "-p", "keys=512")
        whole, passed = (
            strict_json(self.output(*sweep, "--set", f"long_grids={setting}", "--json"))["rows"][0]
            for setting in ("whole", "short")
        )
        self.assertNotIn("passed_blocks", whole)
        self.assertGreater(passed["passed_blocks"], 1000)
        self.assertAlmostEqual(passed["time_s"], whole["time_s"], delta=0.01 * whole["time_s"])
        text = self.output(*sweep, "--set", "long_grids=short")
        self.assertIn("blocks passed over", text)

    def test_a_comparison_is_drawn_with_its_differences(self):
        runs = ("matmul m=512 n=512 k=512 bm=128 bn=128 bk=128 buffers=1",
                "matmul m=512 n=512 k=512 bm=128 bn=128 bk=128")
        picture = ("--screenshot", "c.svg", "--view", "timeline")
        said = self.output("compare", *runs, *picture)
        drawn = (self.folder / "c.svg").read_text(encoding="utf-8")
        change = next(line for line in said.splitlines() if line.startswith("time ")).split()[-2]
        self.assertIn(change.lstrip("-+"), drawn)
        self.assertNotIn("aligned by step", drawn)
        self.output("compare", *runs, *picture, "--align", "step")
        drawn = (self.folder / "c.svg").read_text(encoding="utf-8")
        self.assertIn("aligned by step", drawn)
        self.refused("compare", *runs, *picture, "--align", "block", says=('"block"', "time or step"))

    def test_a_trace_of_a_version_without_settings_is_read(self):
        self.report("matmul", SMALL, "--trace", "t.trace.json")
        trace = strict_json((self.folder / "t.trace.json").read_text())
        del trace["pallascope"]["info"]["settings"]
        (self.folder / "old.trace.json").write_text(json.dumps(trace))
        self.assertEqual(
            strict_json(self.output("report", "old.trace.json", "--json"))["settings"], {}
        )

    def test_repeated_runs_are_timed_one_by_one_and_reported_once(self):
        once = self.report("matmul", SMALL)
        repeated = self.report("matmul", SMALL, "--repeat", "3")
        self.assertEqual(len(repeated["wall_all_s"]), 3)
        self.assertEqual(repeated["wall_all_s"][2], repeated["wall_s"])
        for report in (once, repeated):
            del report["wall_s"], report["wall_all_s"]
        self.assertEqual(repeated, once)
        for times in ("0", "-1", "1001"):
            says = f"--repeat is {times}; expected a number from 1 to 1000."
            self.refused("run", "matmul", "--repeat", times, says=[says])

    def test_a_check_can_be_left_out(self):
        self.assertTrue(self.report("matmul", SMALL)["result"]["checked"])
        self.assertFalse(self.report("matmul", SMALL, "--no-check")["result"]["checked"])
        self.assertFalse(self.report("matmul", SMALL, "--values", "needed")["result"]["checked"])

    @unittest.skipUnless(os.path.exists("/dev/full"), "needs /dev/full")
    def test_a_report_that_cannot_be_printed_is_not_a_fine_run(self):
        with open("/dev/full", "w", encoding="utf-8") as full:
            result = subprocess.run(
                [PROGRAM, "run", "add_vectors"],
                stdout=full,
                stderr=subprocess.PIPE,
                text=True,
                check=False,
            )
        self.assertEqual(result.returncode, WRONG_INPUT)
        self.assertIn("standard output", result.stderr)

    def test_progress_shows_on_a_terminal_only_and_is_wiped(self):
        terminal, other = pty.openpty()
        result = subprocess.run(
            [PROGRAM, "run", "matmul", *parameters(SMALL)],
            stdout=subprocess.PIPE,
            stderr=other,
            check=False,
        )
        os.close(other)
        shown = b""
        try:
            while part := os.read(terminal, 65536):  # the output arrives in parts
                shown += part
        except OSError:  # EIO: everything is read, and the other end is closed
            pass
        os.close(terminal)
        self.assertEqual(result.returncode, FINE)
        self.assertIn(b"%", shown)
        self.assertTrue(shown.endswith(b"\r\x1b[K"), shown[-20:])
        self.assertNotIn(b"\n", shown)


class Pictures(Case):
    def picture(self, view, *arguments):
        self.output(
            "run", "matmul", *parameters(SMALL), "--screenshot", "a.svg", "--view", view, *arguments
        )
        return (self.folder / "a.svg").read_text(encoding="utf-8")

    def test_texts_of_another_size_leave_the_picture_as_large_as_it_was(self):
        for view in VIEWS:
            usual, large = (
                xml.etree.ElementTree.fromstring(self.picture(view, "--size", "900x500", "--text-size", size))
                for size in ("100", "125")
            )
            self.assertEqual((large.get("width"), large.get("height")), ("900", "500"))
            self.assertEqual(usual.get("viewBox"), "0 0 900 500")
            self.assertEqual(large.get("viewBox"), "0 0 720 400")

    def test_a_picture_is_of_the_begin_and_that_of_the_roofline_of_the_end(self):
        for view, time in (("timeline", "0"), ("roofline", "100%")):
            self.assertEqual(self.picture(view), self.picture(view, "--at", time))
        self.assertNotEqual(self.picture("roofline"), self.picture("roofline", "--at", "0"))

    def test_a_finding_is_gone_to(self):
        kernel = pathlib.Path(__file__).resolve().parents[2] / "docs" / "examples" / "race.kernel.json"
        arguments = ("run", kernel, "--view", "timeline", "--screenshot")
        self.output(*arguments, "a.svg", "--finding", "1", code=1)  # the kernel has a finding
        self.output(*arguments, "b.svg", code=1)
        shown, first = ((self.folder / name).read_text(encoding="utf-8") for name in ("a.svg", "b.svg"))
        self.assertIn("2.01 µs", shown)
        self.assertNotIn("2.01 µs", first)

    def test_every_view_is_drawn_in_every_theme_and_at_every_time(self):
        for view in VIEWS:
            seen = set()
            for theme in ("light", "dark"):
                for time in ("0", "10%", "1.2us", "100%"):
                    text = self.picture(view, "--theme", theme, "--at", time, "--size", "900x500")
                    root = xml.etree.ElementTree.fromstring(text)
                    self.assertEqual((root.get("width"), root.get("height")), ("900", "500"))
                    self.assertNotRegex(text, r"\b(nan|inf)\b")
                    seen.add(text)
            self.assertGreaterEqual(len(seen), 2, view)  # at least the themes differ

    def test_the_same_picture_has_the_same_bytes(self):
        for view in VIEWS:
            self.assertEqual(self.picture(view, "--at", "60%"), self.picture(view, "--at", "60%"))

    def test_a_saved_trace_gives_the_same_picture(self):
        self.output("run", "matmul", *parameters(SMALL), "--trace", "a.trace.json.gz")
        for view in VIEWS:
            own = self.picture(view, "--at", "30%")
            self.output(
                "report", "a.trace.json.gz", "--screenshot", "b.svg", "--view", view, "--at", "30%"
            )
            self.assertEqual((self.folder / "b.svg").read_text(encoding="utf-8"), own, view)
