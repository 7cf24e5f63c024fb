"""Saved traces: the same bytes each time, the whole report again, and a valid Chrome half."""

import collections
import gzip
import json
import signal
import subprocess

from support import (FINDINGS, INTERRUPTED, PROGRAM, SMALL, Case, parameters, strict_json,
                     wait_until_it_catches)

KERNELS = {
    "matmul": SMALL,
    "matmul_scratch": SMALL,
    "add_vectors": {"shape": "40,128", "block": 16},
}


class Traces(Case):
    def save(self, name, kernel, values, *arguments, code=0):
        report = self.report(kernel, values, "--trace", name, *arguments, code=code)
        return (self.folder / name).read_bytes(), report

    def test_two_runs_give_the_same_bytes(self):
        for kernel, values in KERNELS.items():
            for name in ("a.trace.json", "a.trace.json.gz"):
                self.assertEqual(
                    self.save(name, kernel, values)[0], self.save(name, kernel, values)[0], kernel
                )

    def test_gzip_holds_the_same_text(self):
        plain, _ = self.save("a.trace.json", "matmul", SMALL)
        packed, _ = self.save("a.trace.json.gz", "matmul", SMALL)
        self.assertEqual(gzip.decompress(packed), plain)

    def test_reopening_gives_the_report_and_the_bytes_again(self):
        for kernel, values in KERNELS.items():
            for name in ("a.trace.json", "a.trace.json.gz"):
                content, report = self.save(name, kernel, values)
                again = strict_json(
                    self.output("report", name, "--json", "--trace", "again-" + name)
                )
                self.assertEqual((self.folder / ("again-" + name)).read_bytes(), content)
                self.assertIsNone(again.pop("wall_s"))
                self.assertEqual(again.pop("wall_all_s"), [])
                self.assertGreater(report["wall_s"], 0)
                self.assertEqual(report.pop("wall_all_s"), [report.pop("wall_s")])
                self.assertEqual(again, report)
                self.assertEqual(
                    self.output("report", name), self.output("run", kernel, *parameters(values))
                )

    def test_a_reopened_run_keeps_its_findings_and_exit_code(self):
        _, report = self.save("a.trace.json", "matmul", {**SMALL, "order": "ikj"}, code=FINDINGS)
        again = strict_json(self.output("report", "a.trace.json", "--json", code=FINDINGS))
        self.assertEqual(again["findings"], report["findings"])
        self.assertEqual(again["result"], report["result"])

    def test_saving_over_the_file_that_is_read_changes_nothing(self):
        content, _ = self.save("a.trace.json.gz", "matmul", SMALL)
        self.output("report", "a.trace.json.gz", "--trace", "a.trace.json.gz")
        self.assertEqual((self.folder / "a.trace.json.gz").read_bytes(), content)
        self.assertEqual(list(self.files()), ["a.trace.json.gz"])

    def test_an_older_trace_of_a_gpu_counts_what_its_warpgroups_do(self):
        """It has no table that says when blocks ran."""
        values = {"m": 512, "n": 1024, "k": 256}
        _, now = self.save("new.trace.json", "hopper_matmul", values, "--values", "needed")
        trace = json.loads((self.folder / "new.trace.json").read_text(encoding="utf-8"))
        del trace["pallascope"]["grid_blocks"]
        self.write("old.trace.json", json.dumps(trace))
        old = strict_json(self.output("report", "old.trace.json", "--json"))
        self.assertEqual(old["time_split_s"]["exposed_copies"], now["time_split_s"]["exposed_copies"])
        self.assertGreater(old["time_split_s"]["compute"], 0)
        self.assertLess(old["time_split_s"]["idle"], 0.2 * old["time_s"])

    def test_full_and_needed_values_give_the_same_events_times_and_structural_findings(self):
        for kernel, values, code in (
            *((kernel, values, 0) for kernel, values in KERNELS.items()),
            ("matmul", {**SMALL, "order": "ikj"}, FINDINGS),
            ("matmul", {**SMALL, "buffers": 1}, 0),
        ):
            full, full_report = self.save("a.trace.json", kernel, values, code=code)
            needed, needed_report = self.save(
                "a.trace.json", kernel, values, "--values", "needed", code=code
            )
            self.assertEqual(
                strict_json(full)["traceEvents"], strict_json(needed)["traceEvents"], values
            )
            for report in (full_report, needed_report):
                for key in ("wall_s", "wall_all_s", "values", "result"):
                    report.pop(key)
                report["findings"] = [f for f in report["findings"] if f["class"] == "structural"]
            self.assertEqual(full_report, needed_report)


class ChromeHalf(Case):
    def events(self, kernel, values, *arguments):
        self.output("run", kernel, *parameters(values), "--trace", "a.trace.json", *arguments)
        return strict_json((self.folder / "a.trace.json").read_text(encoding="utf-8"))[
            "traceEvents"
        ]

    def lanes(self, events):
        """Returns complete events by lane, as (begin, end, event) in whole nanoseconds."""
        lanes = collections.defaultdict(list)
        for event in events:
            if event["ph"] == "X":
                begin, length = round(event["ts"] * 1000), round(event["dur"] * 1000)
                self.assertAlmostEqual(event["ts"] * 1000, begin, places=3)
                lanes[event["pid"], event["tid"]].append((begin, begin + length, event))
        return lanes

    def test_events_of_a_lane_nest_or_abut(self):
        for kernel, values in (*KERNELS.items(), ("matmul", {})):
            for lane in self.lanes(self.events(kernel, values, "--values", "needed")).values():
                open_ends = []
                for begin, end, event in sorted(lane, key=lambda row: (row[0], -row[1])):
                    while open_ends and open_ends[-1] <= begin:
                        open_ends.pop()
                    self.assertTrue(not open_ends or end <= open_ends[-1], event)
                    open_ends.append(end)

    def test_every_lane_has_a_name_and_copies_say_their_bytes(self):
        events = self.events("matmul", {}, "--values", "needed")
        named = {
            (event["pid"], event["tid"])
            for event in events
            if event["ph"] == "M" and event["name"] == "thread_name"
        }
        self.assertEqual(set(self.lanes(events)), named)
        copies = [event for event in events if event.get("cat") == "copy"]
        self.assertEqual(len(copies), 512 + 512 + 64)
        # 2 x 64 blocks x 8 uses of 512 x 512 bf16 are copied in, and 64 blocks of 512 x 512 f32 out.
        self.assertEqual(sum(event["args"]["bytes"] for event in copies), 2**29 + 2**26)
        self.assertEqual(sum(event.get("cat") == "step" for event in events), 512)


class Interrupts(Case):
    def interrupt_once_caught(self, *arguments):
        """Sends Ctrl-C as soon as the program has installed its handler, which it does before it runs anything."""
        process = subprocess.Popen(
            [PROGRAM, "run", "matmul", *arguments],
            cwd=self.folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        wait_until_it_catches(process)
        process.send_signal(signal.SIGINT)
        out, error = process.communicate(timeout=60)
        return process.returncode, out, error

    def test_ctrl_c_leaves_no_file(self):
        code, out, error = self.interrupt_once_caught("--trace", "a.trace.json", "--json")
        self.assertEqual((code, out), (INTERRUPTED, ""))
        self.assertTrue(error.startswith("Interrupted"), error)
        self.assertEqual(self.files(), {})

    def test_ctrl_c_leaves_an_older_file_as_it_was(self):
        self.write("a.trace.json.gz", "old")
        self.write("a.svg", "old")
        code, _, _ = self.interrupt_once_caught(
            "--trace", "a.trace.json.gz", "--screenshot", "a.svg", "--view", "grid"
        )
        self.assertEqual(code, INTERRUPTED)
        self.assertEqual(self.files(), {"a.trace.json.gz": b"old", "a.svg": b"old"})
