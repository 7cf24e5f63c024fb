"""`validate`: published timings and one's own timings, what is expected of their errors, files and pictures of them,
and wrong input."""

import csv
import io
import json
import os
import pathlib
import signal
import subprocess
import unittest

from support import (FINDINGS, FINE, INTERRUPTED, PROGRAM, SMALL, Case, strict_json,
                     wait_until_it_catches)

PARAMETERS = " ".join(f"{name}={value}" for name, value in SMALL.items())
ROOT = pathlib.Path(__file__).resolve().parents[2]


class Validate(Case):
    def table(self, *rows, head="kernel,parameters,chip,measured", name="own.csv"):
        return self.write(name, "\n".join([head, *rows]) + "\n")

    def test_the_published_timings_are_as_expected(self):
        text = self.output("validate").splitlines()
        self.assertEqual(text[0].split()[:2], ["family", "rows"])
        families = [line.split()[0] for line in text[1:]]
        self.assertEqual(families, ["matmul", "attention", "copy", "all"])

    def test_rows_are_those_of_single_runs(self):
        found = strict_json(self.output("validate", "--json"))
        self.assertTrue(found["as_expected"])
        kernels = ROOT / "resources/validation"
        for kernel in ("matmul_scratch", "kernels/copy_v6e_33554432.kernel.json"):
            row = next(row for row in found["rows"] if row["kernel"] == kernel)
            path = kernels / kernel if "/" in kernel else kernel
            report = self.report(path, row["parameters"], "--values", "needed", "--chip", row["chip"])
            self.assertAlmostEqual(row["predicted_s"], report["time_s"] + row["host_s"], delta=1e-12)
            self.assertAlmostEqual(row["low_s"], report["time_low_s"] + row["host_s"], delta=1e-12)
            self.assertEqual(row["bound_by"], report["bound_by"])
        for family in found["families"]:
            rows = [abs(row["off_percent"]) for row in found["rows"] if row["family"] == family["family"]]
            self.assertEqual(len(rows), family["rows"])
            self.assertAlmostEqual(sum(rows) / len(rows), family["mean_absolute_percent"], delta=1e-3)

    def test_the_table_in_the_tree_is_the_one_in_the_program(self):
        own = self.output("validate", "--measured", ROOT / "resources/validation/published.csv")
        self.assertEqual(own, self.output("validate"))

    def test_a_table_of_ones_own(self):
        self.output("save", "matmul", *(f"-p{name}={value}" for name, value in SMALL.items()), "-o", "m.kernel.json")
        (self.folder / "tables").mkdir()
        table = self.table(f"matmul,{PARAMETERS},v5e,1 ms", "../m.kernel.json,,,20 us", name="tables/own.csv")
        self.output("validate", "--measured", table, "--csv", "rows.csv")
        rows = list(csv.DictReader(io.StringIO((self.folder / "rows.csv").read_text(encoding="utf-8"))))
        self.assertEqual([row["kernel"] for row in rows], ["matmul", "../m.kernel.json"])
        self.assertEqual(rows[0]["predicted_s"], rows[1]["predicted_s"])
        self.assertEqual([float(row["measured_s"]) for row in rows], [1e-3, 2e-5])
        self.assertEqual(sorted(self.files()), ["m.kernel.json", "rows.csv", "tables/own.csv"])

    def test_errors_are_held_to_what_is_expected(self):
        table = self.table(f"matmul,{PARAMETERS},v5e,1 ms", f"matmul,{PARAMETERS},v6e,1 ms")
        own = ("validate", "--measured", table)
        self.output(*own, "--write-expected", "expected.json")
        self.output(*own, "--expected", "expected.json")
        expected = json.loads((self.folder / "expected.json").read_text(encoding="utf-8"))
        off = expected["families"]["matmul"]["mean_absolute_percent"]
        for points, code in ((0.49, FINE), (0.51, FINDINGS)):
            expected["families"]["matmul"]["mean_absolute_percent"] = off - points
            self.write("expected.json", expected)
            self.assertEqual(self.call(*own, "--expected", "expected.json").returncode, code)
        self.assertIn("more than half a point", self.call(*own, "--expected", "expected.json").stderr)
        # Our expectation names families that this table does not have.
        ours = self.call(*own, "--expected", ROOT / "resources/validation/expected.json")
        self.assertEqual(ours.returncode, FINDINGS)
        self.assertIn("The family copy, which", ours.stderr)

    def test_rows_without_a_prediction_are_named(self):
        huge = "m=65536 n=65536 k=65536 bm=8192 bn=8192 bk=8192"
        table = self.table(f"matmul,{huge},v5e,1 s", f"matmul,{PARAMETERS},v5e,1 ms")
        found = self.call("validate", "--measured", table)
        self.assertEqual(found.returncode, FINDINGS)
        self.assertIn("1 of 2 rows have no prediction; the first is", found.stderr)
        self.assertIn("matmul  1 of 2", found.stdout)
        self.assertIn("line 2: ", found.stderr)
        table = self.table(f"matmul,{huge},v5e,1 s")
        self.refused("validate", "--measured", table, "--csv", "rows.csv", says=("1 of 1 row", "line 2"))

    def test_a_chip_file_takes_the_place_of_its_chip(self):
        chip = json.loads(self.output("describe", "tpu_v5e", "--json"))
        chip["constants"]["step_overhead_s"]["value"] *= 10
        self.write("slow.json", chip)
        found = self.call("validate", "--chip", "slow.json")
        self.assertEqual(found.returncode, FINDINGS)
        self.assertIn("The family matmul is", found.stderr)
        self.assertNotIn("copy", found.stderr)
        table = self.table(f"matmul,{PARAMETERS},slow.json,1 ms")
        self.output("validate", "--measured", table)

    def test_pictures(self):
        table = self.table(f"matmul,{PARAMETERS},v5e,1 ms", f"matmul,{PARAMETERS},v6e,20 us")
        own = ("validate", "--measured", table, "--scatter")
        self.output(*own, "s.svg", "--size", "500x400", "--theme", "dark")
        picture = (self.folder / "s.svg").read_text(encoding="utf-8")
        self.assertIn('width="500"', picture)
        self.assertIn("2 timings", picture)

    @unittest.skipIf(os.name == "nt", "signals")
    def test_interrupted_it_writes_nothing(self):
        big = "m=16384 n=16384 k=16384 bm=128 bn=128 bk=128"
        table = self.table(*[f"matmul,{big},v5e,1 s"] * 64)
        command = [PROGRAM, "validate", "--measured", str(table), "--csv", "rows.csv"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              cwd=self.folder) as process:
            wait_until_it_catches(process)
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=60)
        self.assertEqual((process.returncode, out), (INTERRUPTED, ""), err)
        self.assertIn("of 64 rows; nothing was written", err)
        self.assertEqual(list(self.files()), ["own.csv"])


class WrongInput(Case):
    def test_tables(self):
        for rows, says in (
            ("kernel,measured\nnothing,1 s", ("line 2", '"kernel"', "list kernels")),
            ("kernel,measured\nmatmul,1", ("line 2", '"measured"', "0.89 ms")),
            ("kernel,measured,chip\nmatmul,1 s,v9", ("line 2", '"chip"', '"v9"', "tpu_v5e")),
            ("kernel,measured,parameters\nmatmul,1 s,q=1", ("line 2", '"parameters"', '"q"', "bm")),
            ("kernel,time\nmatmul,1 s", ("line 1", '"time"', "measured")),
            ("kernel\nmatmul", ("line 1", "measured")),
            ("kernel,measured", ("no rows",)),
        ):
            self.write("own.csv", rows + "\n")
            self.refused("validate", "--measured", "own.csv", says=("own.csv", *says))
        self.write("own.csv", "kernel,measured,parameters\nown.csv,1 s,m=1\n")
        self.refused("validate", "--measured", "own.csv", says=('"parameters"', "fixed"))
        self.refused("validate", "--measured", "none.csv", says=("none.csv",))

    def test_options(self):
        self.write("own.json", "{}")
        self.refused("validate", "--expected", "own.json", says=("own.json", "--write-expected"))
        self.refused("validate", "--expected", "none.json", says=("none.json",))
        self.refused("validate", "--chip", "v9", says=('"v9"',))
        self.refused("validate", "--chip", "tpu_v2", says=("No row", "tpu_v2", "tpu_v5e"))
        self.refused("validate", "--chip", "v5e", "--chip", "tpu_v5e", says=("Two", "tpu_v5e"))
        self.refused("validate", "--scatter", "s.jpg", says=(".png", ".svg"))
        self.refused("validate", "--scatter", "s.svg", "--size", "5", says=('"5"', "1280x800"))
        self.refused("validate", "--scatter", "s.svg", "--theme", "red", says=('"red"', "dark"))
        self.refused("validate", "--size", "500x500", says=("--scatter",))
        self.refused("validate", "--csv", "no/rows.csv", says=("no",))
        self.refused("validate", "--write-expected", ".", says=("folder",))
        self.refused("validate", "--set", "speed=1", says=('"speed"',))


if __name__ == "__main__":
    unittest.main()
