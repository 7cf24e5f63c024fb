"""Standard streams that fail, are closed or go away. What is said on standard error changes neither an exit code nor a
file. A report that does not arrive gives exit code 2."""

import os
import pathlib
import signal
import stat
import subprocess
import unittest

from support import FINE, PROGRAM, SMALL, WRONG_INPUT, Case, parameters, strict_json

NEEDED = ("--values", "needed")
NO_SPACE = "Cannot write to standard output: No space left on device.\n"


class Streams(Case):
    def shell(self, words, *arguments, **variables):
        """Runs the program with `arguments`, redirected as `words` say: "2>&-"."""
        line = ["bash", "-c", f'"$@" {words}', "bash", PROGRAM, *map(str, arguments)]
        environment = {**os.environ, **variables}
        return subprocess.run(line, capture_output=True, text=True, cwd=self.folder, timeout=120,
                              env={k: v for k, v in environment.items() if v is not None},
                              check=False)

    def printing_kernel(self):
        """Makes a kernel that prints a line, which goes to standard error."""
        self.output("save", "add_vectors", "-o", "k.kernel.json")
        document = strict_json((self.folder / "k.kernel.json").read_text())
        body = document["body"]["operations"][0]["regions"][0]["operations"]
        body.append({"op": "debug_print", "operands": [], "params": {"text": "a line"}})
        return self.write("k.kernel.json", document)

    def test_a_kernel_that_prints_where_standard_error_fails_is_a_good_run(self):
        kernel = self.printing_kernel()
        said = self.call("run", kernel)
        self.assertEqual((said.returncode, said.stderr), (FINE, "a line\n"))
        for words in ("2>/dev/full", "2>&-", "2</dev/null", "2> >(true)", "<&- 2>&-"):
            done = self.shell(words, "run", kernel, "--trace", "t.trace.json", "--results", "r.npz")
            self.assertEqual((done.returncode, done.stdout), (FINE, said.stdout), words)
            self.assertEqual(self.output("report", "t.trace.json"), said.stdout)
            self.assertEqual((self.folder / "r.npz").read_bytes()[:2], b"PK")
            for file in ("t.trace.json", "r.npz"):
                (self.folder / file).unlink()

    def test_a_refusal_that_nobody_hears_is_one_still(self):
        for words in ("2>/dev/full", "2>&-"):
            for arguments in (("run", "nothing"), ("frobnicate",), ("sweep", "matmul", "--over", "b")):
                done = self.shell(words, *arguments)
                self.assertEqual((done.returncode, done.stdout), (WRONG_INPUT, ""), arguments)

    def test_closed_streams_do_not_become_files(self):
        # Otherwise the trace would get descriptor 1, and the report would go into it.
        for words in (">&-", "<&- >&-", "<&- >&- 2>&-"):
            done = self.shell(words, "run", "matmul", *parameters(SMALL), *NEEDED, "--trace",
                              "t.trace.json")
            self.assertEqual(done.returncode, WRONG_INPUT, words)
            self.assertIn("matmul", self.output("report", "t.trace.json"))
        self.assertEqual(self.shell("<&-", "list", "chips").stdout, self.output("list", "chips"))

    def test_a_report_that_does_not_arrive_is_said(self):
        for arguments in (("run", "matmul", *parameters(SMALL), *NEEDED),
                          ("run", "matmul", *parameters(SMALL), *NEEDED, "--json"),
                          ("describe", "tpu_v5e", "--json"), ("list", "kernels"), ("--help",),
                          ("run", "--help"), ("--version",)):
            done = self.shell(">/dev/full", *arguments)
            self.assertEqual((done.returncode, done.stderr), (WRONG_INPUT, NO_SPACE), arguments)
            done = self.shell(">&-", *arguments)
            self.assertEqual(done.returncode, WRONG_INPUT, arguments)
            self.assertEqual(done.stderr, "Cannot write to standard output: Bad file descriptor.\n")
            self.assertEqual(self.shell(">/dev/full 2>&1", *arguments).returncode, WRONG_INPUT)

    def test_a_reader_that_has_seen_enough_ends_it_silently(self):
        done = self.shell("| true; exit ${PIPESTATUS[0]}", "describe", "tpu_v5e", "--json")
        self.assertIn(done.returncode, (FINE, 128 + signal.SIGPIPE))
        self.assertEqual(done.stderr, "")

    def picture(self, words, **variables):
        return self.shell(words, "run", "matmul", *parameters(SMALL), *NEEDED, "--screenshot",
                          "g.png", "--view", "grid", **variables)

    def test_pictures_pass_nothing_on_from_libraries_and_make_no_folders(self):
        if not self.has_window():
            return
        expected = self.picture("").stdout
        runtime = self.folder / "runtime"
        for variables in ({"XDG_RUNTIME_DIR": None}, {"XDG_RUNTIME_DIR": str(runtime)},
                          {"QT_QPA_PLATFORM": "nonsense"}, {"QT_DEBUG_PLUGINS": "1"},
                          {"QT_PLUGIN_PATH": "/nowhere"}):
            done = self.picture("", **variables)
            self.assertEqual((done.returncode, done.stdout, done.stderr), (FINE, expected, ""))
            self.assertFalse(runtime.exists())
            self.assertEqual(self.picture("2>/dev/full", **variables).returncode, FINE)

    def has_window(self):
        self.write("empty", "")
        return "without Qt" not in self.shell("", "open", "empty", QT_QPA_PLATFORM="none").stderr

    def test_a_display_that_does_not_open_is_a_sentence(self):
        if not self.has_window():
            return
        trace = ("open", "t.trace.json")
        self.output("run", "matmul", *parameters(SMALL), "--trace", "t.trace.json")
        for variables in ({"QT_QPA_PLATFORM": "nonsense"},
                          {"QT_QPA_PLATFORM": None, "DISPLAY": None, "WAYLAND_DISPLAY": None},
                          {"QT_QPA_PLATFORM": None, "DISPLAY": ":77", "WAYLAND_DISPLAY": None}):
            for words in ("", "2>/dev/full"):
                done = self.shell(words, *trace, **variables)
                self.assertEqual((done.returncode, done.stdout), (WRONG_INPUT, ""), done.stderr)
                if not words:
                    self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
                    self.assertIn("`pallascope run matmul` works without one.", done.stderr)

    def test_the_place_of_a_python_that_is_captured_with_has_the_streams(self):
        script = '#!/bin/sh\n[ "$1" = -c ] && exit 10\necho said >&2 || echo failed\nexit 0\n'
        python = self.write("python", script)
        pathlib.Path(python).chmod(stat.S_IRWXU)
        capture = ("capture", "k.py:f", "-o", "k.pallascope", "--python", python)
        for words in ("2>/dev/full", "2>&-"):
            self.assertEqual(self.shell(words, *capture).returncode, FINE, words)


if __name__ == "__main__":
    unittest.main()
