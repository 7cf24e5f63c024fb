"""`pallascope capture` runs Python. Here a script replaces it."""

import os
import subprocess
import unittest

from support import PROGRAM, WRONG_INPUT, Case

SCRIPT = """#!/bin/sh
if [ "$1" = -c ]; then exit {looks}; fi
for word; do echo "[$word]"; done
echo a sentence >&2
exit {ends}
"""


class Capture(Case):
    def python(self, looks=10, ends=0):
        path = self.folder / "python"
        path.write_text(SCRIPT.format(looks=looks, ends=ends))
        path.chmod(0o755)
        return path

    def capture(self, *arguments, variable=None):
        environment = {key: value for key, value in os.environ.items()
                       if key != "PALLASCOPE_PYTHON"}
        if variable:
            environment["PALLASCOPE_PYTHON"] = str(variable)
        return subprocess.run([PROGRAM, "capture", "k.py:f", "-o", "k.pallascope", *arguments],
                              env=environment, cwd=self.folder, capture_output=True, text=True,
                              timeout=60, check=False)

    def test_the_command_is_shown_and_run_and_its_exit_code_kept(self):
        for ends in (0, 2, 3, 130):
            done = self.capture("--arg", "bf16[8,128]", "--arg", "f32[]", "--chip", "tpu_v6e",
                                "--name", "it's", "--mesh", "x=2",
                                "--mesh", "y=4", "--donate", "1", "--python",
                                str(self.python(ends=ends)))
            words = ["-m", "pallascope", "capture", "k.py:f", "--arg", "bf16[8,128]", "--arg",
                     "f32[]", "--output", "k.pallascope", "--chip", "tpu_v6e", "--name", "it's",
                     "--mesh", "x=2", "--mesh", "y=4", "--donate", "1"]
            self.assertEqual(done.returncode, ends)
            self.assertEqual(done.stdout, "".join(f"[{word}]\n" for word in words))
            shown, said = done.stderr.splitlines()
            self.assertEqual(said, "a sentence")
            typed = subprocess.run(["sh", "-c", shown.removeprefix("$ ")], cwd=self.folder,
                                   capture_output=True, text=True, check=False)
            self.assertEqual(typed.stdout, done.stdout)

    def test_a_python_that_ends_without_a_word_is_a_refusal(self):
        for ends in (1, 120, 137):
            done = self.capture("--python", str(self.python(ends=ends)))
            self.assertEqual(done.returncode, WRONG_INPUT)
            self.assertIn(f"Python ended with {ends} ", done.stderr.splitlines()[-1])

    def test_the_environment_names_a_python(self):
        done = self.capture(variable=self.python())
        self.assertEqual(done.returncode, 0)
        self.assertTrue(done.stderr.startswith(f"$ {self.folder}/python -m pallascope capture"))

    def test_what_is_missing_is_said_in_a_sentence(self):
        answers = {12: "has no package pallascope; `", 13: "pip install ./kernels/jax 'jax[cpu]'` makes",
                   11: "has no package jax; `", 1: "is no Python 3: it exits with 1",
                   None: "Cannot run the Python"}
        for looks, says in answers.items():
            python = self.folder / "none" if looks is None else self.python(looks)
            done = self.capture("--python", str(python))
            self.assertEqual((done.returncode, done.stdout), (WRONG_INPUT, ""))
            self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
            self.assertIn(says, done.stderr)

    def test_a_function_and_a_file_are_needed(self):
        done = subprocess.run([PROGRAM, "capture", "k.py:f"], capture_output=True, text=True,
                              timeout=60, check=False)
        self.assertEqual(done.returncode, WRONG_INPUT)
        self.assertIn("--output", done.stderr)


if __name__ == "__main__":
    unittest.main()
