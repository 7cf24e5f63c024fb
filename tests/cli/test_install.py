"""What `cmake --install` puts under a prefix works from there."""

import os
import pathlib
import shutil
import subprocess
import unittest
import xml.etree.ElementTree as ElementTree

from support import PROGRAM, Case

BUILD = os.environ["PALLASCOPE_BUILD"]


class Installed(Case):
    def setUp(self):
        super().setUp()
        self.root = self.folder / "usr"
        subprocess.run(["cmake", "--install", BUILD, "--prefix", self.root], check=True, capture_output=True)
        self.program = self.root / "bin" / "pallascope"

    def run_installed(self, *words, **more):
        return subprocess.run([self.program, *words], capture_output=True, text=True, encoding="utf-8",
                              cwd=self.folder, timeout=120, check=False, **more)

    def test_the_program_runs_from_there(self):
        done = self.run_installed("run", "add_vectors", "--trace", "a.trace.json.gz")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.run_installed("report", "a.trace.json.gz").returncode, 0)
        share = self.root / "share"
        example = share / "doc" / "pallascope" / "docs" / "examples" / "add.kernel.json"
        self.assertEqual(self.run_installed("run", example).returncode, 0)
        for path in ("doc/pallascope/README.md", "doc/pallascope/copyright", "man/man1/pallascope.1",
                     "pallascope/python/pallascope/__main__.py",
                     "pallascope/python/pallascope/jax_compat/__init__.py",
                     "pallascope/python/pallascope/outside_kernel/__init__.py",
                     "pallascope/python/pallascope/rules/__init__.py", "zsh/vendor-completions/_pallascope",
                     "fish/vendor_completions.d/pallascope.fish"):
            self.assertTrue((share / path).is_file(), path)

    def test_the_manual_names_every_command_and_is_sound(self):
        page = self.root / "share" / "man" / "man1" / "pallascope.1"
        text = page.read_text(encoding="utf-8")
        for command in ("run", "sweep", "compare", "validate", "capture", "completion"):
            self.assertIn(f'.SS "{command}"', text)
        self.assertIn("\\-\\-fail\\-if", text)
        if shutil.which("groff"):
            done = subprocess.run(["groff", "-man", "-ww", "-z", "-K", "utf8", page], capture_output=True,
                                  text=True, check=False)
            self.assertEqual(done.stderr, "")

    def completed(self, *words):
        script = self.root / "share" / "bash-completion" / "completions" / "pallascope"
        line = " ".join(f"'{word}'" for word in words)
        done = subprocess.run(
            ["bash", "-c", f"source '{script}'; COMP_WORDS=({line}); COMP_CWORD={len(words) - 1}; _pallascope; "
             'printf "%s\\n" "${COMPREPLY[@]}"'],
            capture_output=True, text=True, check=True,
            env={**os.environ, "PATH": f"{self.program.parent}:{os.environ['PATH']}"})
        self.assertEqual(done.stderr, "")
        return done.stdout.split()

    def test_bash_completes_commands_options_and_words(self):
        self.assertEqual(self.completed("pallascope", "sw"), ["sweep"])
        self.assertIn("--fail-if", self.completed("pallascope", "run", "matmul", "--f"))
        self.assertEqual(self.completed("pallascope", "run", "matmul_"), ["matmul_scratch"])
        self.assertEqual(self.completed("pallascope", "run", "matmul", "--values", "n"), ["needed"])
        self.assertIn("tpu_v7x", self.completed("pallascope", "run", "matmul", "--chip", "tpu_v7"))

    def test_other_shells_take_their_completions(self):
        for shell, file in (("zsh", "zsh/vendor-completions/_pallascope"),
                            ("fish", "fish/vendor_completions.d/pallascope.fish")):
            if shutil.which(shell):
                done = subprocess.run([shell, "-n", self.root / "share" / file], capture_output=True, text=True,
                                      check=False)
                self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_the_desktop_knows_the_files(self):
        desktop = self.root / "share" / "applications" / "pallascope.desktop"
        if not desktop.exists():
            self.skipTest("built without the window")
        self.assertIn("Exec=pallascope open %F\n", desktop.read_text(encoding="utf-8"))
        types = ElementTree.parse(self.root / "share" / "mime" / "packages" / "pallascope.xml")
        globs = {one.get("pattern") for one in types.iter() if one.tag.endswith("}glob")}
        self.assertLessEqual({"*.trace.json.gz", "*.kernel.json", "*.pallascope"}, globs)
        if shutil.which("desktop-file-validate"):
            subprocess.run(["desktop-file-validate", desktop], check=True)

    def test_a_shell_without_completion_is_refused(self):
        done = subprocess.run([PROGRAM, "completion", "tcsh"], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 2)
        self.assertIn("tcsh", done.stderr)


if __name__ == "__main__":
    unittest.main()
