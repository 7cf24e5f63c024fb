"""The exit codes of every command and option, as in docs/exit_codes.md: for what cannot be read, what cannot be
written, what is refused, and what has findings."""

import os
import pathlib
import re
import signal
import subprocess
import unittest

from support import FINDINGS, FINE, PROGRAM, SMALL, WRONG_INPUT, Case, parameters, strict_json, wait_until_it_catches

DOCS = pathlib.Path(__file__).parents[2] / "docs"
MATMUL = ("matmul", *parameters(SMALL))
NEEDED = ("--values", "needed")
SWEEP = ("sweep", "matmul", "--over", "bm=256,512")
TABLE = "family,chip,kernel,parameters,measured\nmine,v5e,matmul,m=512 n=512 k=512,20 us\n"
VALIDATE = ("validate", "--measured", "table.csv")

# Each reads a file in the place of {}.
READS = (
    ("open", "{}"),
    ("describe", "{}"),
    ("print", "{}"),
    ("save", "{}", "-o", "o.kernel.json"),
    ("save", *MATMUL, "--inputs", "{}", "-o", "o.pallascope"),
    ("run", "{}"),
    ("run", *MATMUL, "--chip", "{}"),
    ("run", *MATMUL, "--inputs", "{}"),
    ("state", "{}", "--step", "0"),
    ("state", *MATMUL, "--step", "0", "--chip", "{}"),
    ("history", "{}", "out[0,0]"),
    ("report", "{}"),
    ("sweep", "{}"),
    (*SWEEP, "--chip", "{}"),
    (*SWEEP, "--resume", "{}"),
    ("compare", "{}", "matmul"),
    ("compare", "matmul", "{}"),
    ("compare", "matmul", "matmul", "--chip", "{}"),
    ("validate", "--measured", "{}"),
    (*VALIDATE, "--expected", "{}"),
    (*VALIDATE, "--chip", "{}"),
)

# Each writes a file in the place of {}, with the ending that it needs.
WRITES = (
    (("save", *MATMUL, "-o", "{}"), ".kernel.json"),
    (("save", *MATMUL, "-o", "{}"), ".pallascope"),
    (("run", *MATMUL, "--trace", "{}"), ".trace.json"),
    (("run", *MATMUL, "--trace", "{}"), ".trace.json.gz"),
    (("run", *MATMUL, "--results", "{}"), ".npz"),
    (("run", *MATMUL, "--view", "grid", "--screenshot", "{}"), ".svg"),
    (("report", "sound.trace.json", "--trace", "{}"), ".trace.json"),
    (("report", "sound.trace.json", "--view", "grid", "--screenshot", "{}"), ".svg"),
    ((*SWEEP, "--save", "{}"), ".json"),
    ((*VALIDATE, "--write-expected", "{}"), ".json"),
    ((*VALIDATE, "--csv", "{}"), ".csv"),
    ((*VALIDATE, "--scatter", "{}"), ".svg"),
    (("capture", "k.py:f", "-o", "{}"), ".pallascope"),
)

# Each prints something and succeeds.
PRINTS = (
    ("--help",),
    ("--version",),
    ("list", "settings"),
    ("describe", "matmul"),
    ("describe", "matmul", "--json"),
    ("describe", "v5e"),
    ("describe", "sound.kernel.json", "--json"),
    ("print", "matmul"),
    ("run", *MATMUL),
    ("run", *MATMUL, "--json", "--trace", "o.trace.json"),
    ("run", *MATMUL, "--fail-if", "vmem>90%"),
    ("state", *MATMUL, "--step", "0"),
    ("state", *MATMUL, "--step", "0", "--json"),
    ("history", *MATMUL, "out[0,0]"),
    ("history", *MATMUL, "out[0,0]", "--json"),
    ("history", *MATMUL, "out[0,0]", "--nan"),
    ("report", "sound.trace.json"),
    SWEEP,
    (*SWEEP, "--csv"),
    (*SWEEP, "--json", "--save", "o.json"),
    ("compare", "sound.trace.json", "matmul"),
    ("compare", "matmul", "matmul", "--json"),
    VALIDATE,
    (*VALIDATE, "--json", "--csv", "o.csv"),
)


def put(arguments, place):
    return [word.replace("{}", str(place)) for word in arguments]


class ExitCodes(Case):
    def setUp(self):
        super().setUp()
        self.output("run", *MATMUL, *NEEDED, "--trace", "sound.trace.json")
        self.output("save", *MATMUL, "-o", "sound.kernel.json")
        self.write("table.csv", TABLE)
        (self.folder / "folder").mkdir()

    def test_what_is_read_and_is_not_there(self):
        for arguments in READS:
            self.refused(*put(arguments, "none"), says=('"none"',))

    def test_what_is_read_and_is_a_folder(self):
        for arguments in READS:
            self.refused(*put(arguments, "folder"), says=('"folder" is a folder',))

    def test_what_is_written_where_nothing_can_be(self):
        for arguments, ending in WRITES:
            (self.folder / f"folder{ending}").mkdir(exist_ok=True)
            for place in ("none/a", "table.csv/a"):
                self.refused(*put(arguments, place + ending), says=(f'"{place}{ending}"', "folder"))
            self.refused(*put(arguments, "folder" + ending),
                         says=(f'"folder{ending}": it is a folder',))
            if arguments[0] != "capture":  # Python would be needed
                self.refused(*put(arguments, "/proc/self/a" + ending), says=("/proc/self/a",))

    def test_what_is_printed_where_nothing_can_be(self):
        for arguments in PRINTS:
            self.assertEqual(self.call(*arguments).returncode, FINE, arguments)
            for words in (">/dev/full", ">&-", ">/dev/full 2>/dev/full"):
                done = subprocess.run(["bash", "-c", f'"$@" {words}', "bash", PROGRAM, *arguments],
                                      capture_output=True, text=True, cwd=self.folder, timeout=60,
                                      check=False)
                self.assertEqual(done.returncode, WRONG_INPUT, (arguments, words))
                if "2>" not in words:
                    self.assertRegex(done.stderr, "^Cannot write to standard output: .*[.]\n$")

    def test_a_sweep_of_which_nothing_can_be_run_is_refused(self):
        self.refused("sweep", "matmul", "--over", "bm=0", says=("bm", '"0"', "1 to 16777216"))
        self.refused("sweep", "matmul", "--over", "bm=0,-1", "--csv", "--save", "s.json",
                     says=("2 combinations", '"0"'))
        self.assertEqual(self.call("sweep", "matmul", "--over", "bm=0,512").returncode, FINE)

    def test_a_row_of_a_sweep_with_findings_is_one(self):
        large = ("-p", "bn=1024", "-p", "bk=1024")
        rows = strict_json(self.output("sweep", "matmul", "--over", "bm=512,4096", *large, "--json",
                                       code=FINDINGS))["rows"]
        self.assertEqual([row["findings"] for row in rows], [[], ["over_scoped_limit"]])
        # Blocks that overhang the axis of the sum: the result is undefined, however fast they are.
        odd = [word for axis in "mnk" for word in ("-p", f"{axis}=1280")]
        rows = strict_json(self.output("sweep", "matmul", "--over", "bk=256,512", *odd, "-p", "bm=256", "-p",
                                       "bn=256", "--json", code=FINDINGS))["rows"]
        self.assertEqual([row["findings"] for row in rows], [[], ["undefined_written_back"]])
        run = self.call("run", "matmul", *odd, "-p", "bm=256", "-p", "bn=256", "-p", "bk=512", "--json")
        self.assertEqual([finding["kind"] for finding in strict_json(run.stdout)["findings"]],
                         rows[1]["findings"])
        beyond = ("-p", "bn=16384", "-p", "bk=16384", "-p", "n=16384", "-p", "k=16384")
        rows = strict_json(self.output("sweep", "matmul", "--over", "bm=16384", "-p", "m=16384",
                                       *beyond, "--json"))["rows"]
        self.assertEqual([row["fits"] for row in rows], [False])  # which is not a finding

    def test_an_interrupted_run_is_130(self):
        over = [word for axis in ("bm", "bn", "bk") for word in ("--over", f"{axis}=128:1024:*2")]
        size = [word for axis in "mnk" for word in ("-p", f"{axis}=16384")]
        line = [PROGRAM, "sweep", "matmul", *over, *size]
        with subprocess.Popen(line, stderr=subprocess.PIPE, text=True, cwd=self.folder) as process:
            wait_until_it_catches(process)
            self.assertIsNone(process.poll())
            process.send_signal(signal.SIGINT)
            said = process.communicate(timeout=60)[1]
        self.assertEqual(process.returncode, 130)
        self.assertIn("Interrupted after", said)

    def test_the_page_has_every_code(self):
        page = (DOCS / "exit_codes.md").read_text(encoding="utf-8")
        codes = re.findall(r"^\| (\d+) \|", page, re.MULTILINE)
        self.assertEqual(codes, ["0", "1", "2", "3", "130"])
        for command in ("open", "list", "describe", "print", "save", "capture", "run", "state",
                        "history", "report", "sweep", "compare", "validate"):
            self.assertIn(f"`{command}`", page)


if __name__ == "__main__":
    unittest.main()
