"""`sweep`, `compare` and `run --fail-if` with the executable: python3 sweep_cli_test.py PALLASCOPE.
"""

import csv
import io
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import unittest

PROGRAM = sys.argv.pop(1) if len(sys.argv) > 1 else "pallascope"
SMALL = ["-p", "m=512", "-p", "n=512", "-p", "k=512"]


def pallascope(*arguments):
    return subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, timeout=120)


class Sweep(unittest.TestCase):
    def rows(self, *arguments):
        run = pallascope("sweep", "matmul", *SMALL, *arguments, "--json")
        self.assertEqual(run.returncode, 0, run.stderr)
        return json.loads(run.stdout)["rows"]

    def test_rowsAreThoseOfSingleRuns(self):
        for row in self.rows("--over", "bm=128:512:*2", "--over", "bk=128,256", "--over", "bn=128"):
            parameters = [f"-p{name}={value}" for name, value in row["parameters"].items()]
            run = pallascope("run", "matmul", *SMALL, *parameters, "--values", "needed", "--json")
            report = json.loads(run.stdout)
            for key in ("time_s", "time_low_s", "time_high_s", "time_support"):
                self.assertEqual(row[key], report[key])
            self.assertEqual(row["bound_by"], report["bound_by"])
            self.assertEqual(row["utilization"], report["utilization"])
            again = sum(t["bytes"] - round(t["bytes"] / t["refetch_factor"])
                        for t in report["traffic"] if t["direction"] == "read")
            self.assertEqual(row["refetched_bytes"], again)

    def test_csvAndTextHaveTheSameRows(self):
        arguments = ["sweep", "matmul", *SMALL, "--over", "bm=128,256", "--chip", "v5e,v6e"]
        table = list(csv.DictReader(io.StringIO(pallascope(*arguments, "--csv").stdout)))
        self.assertEqual([(row["bm"], row["chip"]) for row in table],
                         [("128", "tpu_v5e"), ("128", "tpu_v6e"), ("256", "tpu_v5e"),
                          ("256", "tpu_v6e")])
        self.assertTrue(all(row["fits"] == "yes" for row in table))
        for row in table:
            self.assertAlmostEqual(int(row["time_ps"]) / 1e12, float(row["time_s"]), delta=1e-18)
        text = pallascope(*arguments).stdout.splitlines()
        best = [row for row in table if row["fastest"] == "yes"]
        self.assertEqual(len(best), 1)
        perhaps = [row for row in table if row["fastest"] == "perhaps"]
        # A head, four rows, the best one, a line for others that are perhaps as fast, and a note.
        self.assertEqual(len(text), 7 + bool(perhaps))
        for row in table:
            self.assertLess(float(row["time_low_s"]), float(row["time_s"]))
            self.assertGreater(float(row["time_high_s"]), float(row["time_s"]))
            self.assertRegex(row["time_support"], "[0-9]+ timings of products")
        self.assertEqual(text[1].split()[:2], ["128", "tpu_v5e"])
        self.assertTrue(text[5].startswith("best: bm="))

    def test_aSavedSweepIsResumed(self):
        with tempfile.TemporaryDirectory() as folder:
            saved = os.path.join(folder, "saved.json")
            first = self.rows("--over", "bm=128,256", "--save", saved)
            with open(saved, encoding="utf-8") as file:
                content = json.load(file)
            self.assertEqual(content["rows"], first)
            content["rows"][0]["time_ps"] = 77  # shows that it is taken over
            with open(saved, "w", encoding="utf-8") as file:
                json.dump(content, file)
            rows = self.rows("--over", "bm=128,256,512", "--resume", saved)
            self.assertEqual([row["time_ps"] for row in rows][:2], [77, first[1]["time_ps"]])
            self.assertEqual(len(rows), 3)
            self.assertEqual(os.listdir(folder), ["saved.json"])
            other = pallascope("sweep", "matmul", "--over", "bm=128", "--resume", saved)
            self.assertEqual(other.returncode, 2)
            self.assertIn("not of matmul with no parameters", other.stderr)

    def test_aResumedFileKeepsRowsOfOtherSweeps(self):
        with tempfile.TemporaryDirectory() as folder:
            saved = os.path.join(folder, "saved.json")

            def kept():
                with open(saved, encoding="utf-8") as file:
                    content = json.load(file)
                self.assertEqual(set(content["chips"]), {row["chip"] for row in content["rows"]})
                return [(row["chip"], row["parameters"]) for row in content["rows"]]

            self.rows("--over", "bm=128,256", "--save", saved)
            v5e = [("tpu_v5e", {"bm": "256"}), ("tpu_v5e", {"bm": "128"})]
            only = self.rows("--over", "bm=256", "--resume", saved)
            self.assertEqual([row["parameters"] for row in only], [{"bm": "256"}])
            self.assertEqual(kept(), v5e)
            self.assertEqual(len(self.rows("--over", "bn=128", "--resume", saved)), 1)
            self.assertEqual(kept(), [("tpu_v5e", {"bn": "128"}), *v5e])
            # Of another chip, and with several axes.
            self.rows("--over", "bm=128", "--over", "bn=256", "--chip", "v6e", "--resume", saved)
            self.assertEqual(kept(), [("tpu_v6e", {"bm": "128", "bn": "256"}),
                                      ("tpu_v5e", {"bn": "128"}), *v5e])
            refused = pallascope("sweep", "matmul", *SMALL, "--over", "bm=0", "--resume", saved)
            self.assertEqual(refused.returncode, 2)
            self.assertEqual(len(kept()), 4)

    def test_rowsOfAChipWhoseFileHasChangedAreNotTakenOver(self):
        with tempfile.TemporaryDirectory() as folder:
            saved, chip = os.path.join(folder, "saved.json"), os.path.join(folder, "chip.json")
            self.rows("--over", "bm=128,256", "--save", saved)
            with open(chip, "w", encoding="utf-8") as file:
                changed = json.loads(pallascope("describe", "v5e", "--json").stdout)
                json.dump({**changed, "title": "TPU v5e of another kind"}, file)
            run = pallascope("sweep", "matmul", *SMALL, "--over", "bm=128", "--chip", chip,
                             "--resume", saved)
            self.assertEqual(run.returncode, 0, run.stderr)
            self.assertIn("The rows of tpu_v5e in", run.stderr)

    def test_ofAFileTheChipsVary(self):
        with tempfile.TemporaryDirectory() as folder:
            path, saved = os.path.join(folder, "k.kernel.json"), os.path.join(folder, "saved.json")
            pallascope("save", "matmul", *SMALL, "-p", "bm=128", "-o", path)
            sweep = ["sweep", path, "--chip", "v5e,v6e", "--set", "detect_races=false"]
            run = pallascope(*sweep, "--save", saved, "--json")
            self.assertEqual(run.returncode, 0, run.stderr)
            rows = json.loads(run.stdout)["rows"]
            built = self.rows("--over", "bm=128", "--chip", "v5e,v6e")
            self.assertEqual(rows, [{**row, "parameters": {}} for row in built])
            self.assertNotEqual(rows[0]["time_ps"], rows[1]["time_ps"])
            table = list(csv.DictReader(io.StringIO(pallascope(*sweep, "--csv").stdout)))
            self.assertEqual([row["chip"] for row in table], ["tpu_v5e", "tpu_v6e"])
            self.assertEqual(pallascope(*sweep, "--resume", saved, "--json").stdout, run.stdout)
            for option in ["--over", "-p"]:
                refused = pallascope(*sweep, option, "bm=128")
                self.assertEqual(refused.returncode, 2)
                self.assertIn('no parameter "bm": what is in a file is fixed', refused.stderr)
            pallascope("save", "matmul", *SMALL, "-p", "bm=256", "-o", path)
            other = pallascope(*sweep, "--resume", saved)
            self.assertEqual(other.returncode, 2)
            self.assertIn("had other contents", other.stderr)

    def test_interruptedItKeepsWhatItHas(self):
        with tempfile.TemporaryDirectory() as folder:
            saved = os.path.join(folder, "saved.json")
            over = ["--over", "bm=128,256", "--over", "bn=128,256", "--over", "bk=128,256",
                    "--over", "buffers=1:4", "-p", "m=16384", "-p", "n=16384", "-p", "k=16384"]
            command = [PROGRAM, "sweep", "matmul", *over, "--save", saved]
            with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                  text=True) as process:
                while not os.path.exists(saved) and process.poll() is None:
                    time.sleep(0.002)  # between two checks
                process.send_signal(signal.SIGINT)
                out, err = process.communicate(timeout=60)
            self.assertEqual(process.returncode, 130, err)
            self.assertEqual(out, "")
            self.assertIn("--resume", err)
            with open(saved, encoding="utf-8") as file:
                rows = json.load(file)["rows"]
            self.assertGreater(len(rows), 0)
            self.assertLess(len(rows), 32)

    def test_wrongInputIsASentenceAndCode2(self):
        for arguments, part in [
            (["nothing", "--over", "bm=1:2"], 'no kernel "nothing"'),
            (["matmul", "--over", "bq=1:2"], 'no parameter "bq"'),
            (["matmul", "--over", "bm=2:1"], "bm=2:1"),
            (["matmul", "--over", "bm=1:2", "--over", "bm=3"], "two ranges"),
            (["matmul", "--over", "bm=1:2", "-p", "bm=1"], "given with -p and with --over"),
            (["matmul", "--over", "bm=128", "--chip", "v9"], 'no chip "v9"'),
            (["matmul", "--over", "bm=128", "--chip", "v5e,tpu_v5e"], "Two of the chips"),
            (["matmul", "--over", "bm=128", "--resume", "/nowhere/x"], "/nowhere/x"),
            (["matmul", "--over", "bm=128", "--save", "/nowhere/x"], "no folder"),
            (["matmul", "--over", "bm=100", "--over", "bn=128"], ""),
        ]:
            run = pallascope("sweep", *arguments)
            self.assertEqual(run.returncode, 2, arguments)
            self.assertIn(part, run.stderr)


class Compare(unittest.TestCase):
    def test_kernelsAndTracesCompareAlike(self):
        with tempfile.TemporaryDirectory() as folder:
            trace = os.path.join(folder, "a.trace.json.gz")
            pallascope("run", "matmul", *SMALL, "-p", "bm=256", "--values", "needed", "--trace", trace)
            small = "matmul m=512 n=512 k=512"
            against = [small + " bm=256", small + " bm=128 chip=v6e"]
            direct = pallascope("compare", *against, "--json")
            self.assertEqual(direct.returncode, 0, direct.stderr)
            saved = pallascope("compare", trace, against[1], "--json")
            self.assertEqual(json.loads(saved.stdout), json.loads(direct.stdout))
            self.assertEqual(json.loads(direct.stdout)["parting"]["operand"], "x")
            same = pallascope("compare", trace, against[0])
            self.assertIn("They are the same", same.stdout)

    def test_saysWhichIsFasterByTheErrorOfRatios(self):
        runs = [f"matmul m=2048 n=2048 k=2048 bm={bm}" for bm in (128, 512)]
        said = json.loads(pallascope("compare", *runs, "--json").stdout)
        faster, support = said["faster"], said["values"]["time_support"]["a"]
        self.assertEqual((faster["run"], faster["surely"]), ("b", True))
        times = said["values"]["time_s"]["a"] / said["values"]["time_s"]["b"]
        self.assertAlmostEqual(faster["times"], times)
        self.assertAlmostEqual(faster["low"], times / (1 + support["ratio"]))
        self.assertAlmostEqual(faster["high"], times * (1 + support["ratio"]))
        text = pallascope("compare", *runs).stdout
        self.assertRegex(text, r"B is [0-9.]+ times as fast as A, surely: ")
        alike = pallascope("compare", "matmul bk=1024", "matmul bk=1024 buffers=3").stdout
        self.assertIn("which is within what the model cannot tell apart", alike)

    def test_aKernelsFileIsRunToo(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "k.kernel.json")
            pallascope("save", "matmul", *SMALL, "-p", "bm=128", "-o", path)
            same = pallascope("compare", path + " chip=v6e", "matmul m=512 n=512 k=512 bm=128 chip=v6e")
            self.assertIn("They are the same", same.stdout)

    def test_whatIsNeitherIsRefused(self):
        run = pallascope("compare", "matmul", "nothing at=all")
        self.assertEqual((run.returncode, run.stdout), (2, ""))
        self.assertIn("and no kernel of that name is built in", run.stderr)


class FailIf(unittest.TestCase):
    def code(self, *conditions):
        options = [word for condition in conditions for word in ("--fail-if", condition)]
        run = pallascope("run", "matmul", *SMALL, "--values", "needed", *options, "--json")
        return run.returncode, run.stderr, run.stdout

    def test_conditionsThatHoldExitWith1(self):
        self.assertEqual(self.code("vmem>90%")[0], 0)
        code, err, out = self.code("vmem>90%", "vmem>1%", "chip=tpu_v5e")
        self.assertEqual(code, 1)
        self.assertEqual(len(err.splitlines()), 2)
        self.assertIn("chip", json.loads(out))  # the report is printed all the same

    def test_everyFieldOfTheReportCanBeNamed(self):
        def leaves(value, path):
            if isinstance(value, dict):
                for key, inner in value.items():
                    yield from leaves(inner, path + [key])
            elif isinstance(value, list):
                for number, inner in enumerate(value):
                    yield from leaves(inner, path + [str(number)])
            else:
                yield ".".join(path)

        _, _, report = self.code()
        fields = list(leaves(json.loads(report), []))
        self.assertGreater(len(fields), 30)
        code, err, _ = self.code(*[field + "!=-1"
                                for field in fields])
        self.assertEqual(code, 1, err)

    def test_unknownFieldsAreNamedWithNearOnes(self):
        code, err, out = self.code("utilisation<50%")
        self.assertEqual((code, out), (2, ""))
        self.assertIn('no field "utilisation"; perhaps utilization', err)
        code, err, out = self.code("vmem")
        self.assertEqual((code, out), (2, ""))


if __name__ == "__main__":
    unittest.main()
