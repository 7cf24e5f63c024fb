"""What `make install` puts under a prefix must work from there, and so must what `make package` packs: the samples of
README.md from the package, and its listed commands from the prefix, without anything of the checkout in reach. What is
installed and packed is the build that is tested."""

import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest
import xml.etree.ElementTree as ElementTree

import test_documents
from support import PROGRAM, WRONG_INPUT, Case

BUILD = os.environ["PALLASCOPE_BUILD"]
# What the program says if it cannot open a window.
NO_WINDOW = re.compile("There is no display to open a window on; .*\n|.* without Qt.*\n")


def install(folder):
    """Does what `make install DESTDIR=folder` does. Returns the root of the program's tree."""
    subprocess.run(["cmake", "--install", BUILD, "--prefix", "/usr/local"], check=True, capture_output=True,
                   env={**os.environ, "DESTDIR": str(folder)})
    return folder / "usr" / "local"


def unpack(folder):
    """Does what `make package` does, and unpacks the .deb."""
    subprocess.run(["cpack", "-G", "DEB", "--config", f"{BUILD}/CPackConfig.cmake", "-B", folder / "packages"],
                   cwd=folder, check=True, capture_output=True)
    package, = (folder / "packages").glob("pallascope_*.deb")
    subprocess.run(["dpkg-deb", "--extract", package, folder / "root"], check=True)
    return folder / "root" / "usr"


def readme_of(root):
    return (root / "share" / "doc" / "pallascope" / "README.md").read_text(encoding="utf-8")


def files(root):
    return {str(path.relative_to(root)) for path in root.rglob("*") if path.is_file()}


class Installed(Case):
    @classmethod
    def setUpClass(cls):
        scratch = tempfile.TemporaryDirectory()
        cls.addClassCleanup(scratch.cleanup)
        cls.root = install(pathlib.Path(scratch.name))
        cls.program = cls.root / "bin" / "pallascope"

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

    def setUp(self):
        super().setUp()
        test_documents.prepare(self.folder)

    def alone(self, root):
        """Returns an environment with only the program on the path. The folder it runs in holds only the inputs."""
        return {"PATH": f"{root}/bin:/usr/bin:/bin", "HOME": str(self.folder), "LANG": "C.UTF-8"}

    def run_samples(self, root):
        samples = list(test_documents.samples(readme_of(root)))
        self.assertGreater(len(samples), 7)
        for command, expected in samples:
            with self.subTest(command=command):
                found = test_documents.printed(root / "bin" / "pallascope", command, self.folder, env=self.alone(root))
                if not test_documents.is_sample(expected, found):
                    self.assertEqual(found, expected)

    def run_listed(self, root):
        listed = list(test_documents.listed(readme_of(root)))
        self.assertGreater(len(listed), 10)
        for command in listed:
            with self.subTest(command=command):
                done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, encoding="utf-8",
                                      cwd=self.folder, env=self.alone(root), timeout=120, check=False)
                if command.split()[1] in ("#", "open"):
                    self.assertEqual(done.returncode, WRONG_INPUT)
                    self.assertRegex(done.stderr, NO_WINDOW)
                else:
                    self.assertEqual((done.returncode, done.stderr), (0, ""))
        made = {path.name for path in self.folder.iterdir()}
        self.assertLessEqual({"my_chip.json", "m.trace.json.gz", "m.kernel.json", "out.npz", "t.svg"}, made)

    def test_listed_commands_of_the_readme_work_from_there(self):
        self.run_listed(self.root)

    def test_samples_of_the_readme_are_what_the_packed_program_prints(self):
        if not (shutil.which("cpack") and shutil.which("dpkg-deb")):
            self.run_samples(self.root)
            return
        with tempfile.TemporaryDirectory() as scratch:
            root = unpack(pathlib.Path(scratch))
            self.assertEqual(files(root), files(self.root))
            checkout = str(pathlib.Path(__file__).resolve().parents[2]).encode()
            # Reports of broken invariants in the program itself may name its sources.
            others = [name for name in files(root) if name != "bin/pallascope"]
            self.assertEqual([name for name in others if checkout in (root / name).read_bytes()], [])
            self.run_samples(root)

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
