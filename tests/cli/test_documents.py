"""Every sample in the documents must be what the program prints.

A block of code whose first line is `$ pallascope ARGUMENTS` holds its output, including standard error. `…` on a line
of its own stands for any lines, and `…` within a line for any text. The samples of README.md are complete.
"""

import pathlib
import re
import shlex
import struct
import subprocess
import unittest
import zipfile

from support import PROGRAM, Case

ROOT = pathlib.Path(__file__).resolve().parents[2]
DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(r"^```(?:console)?\n(\$ pallascope .*\n(?:.*\n)*?)```$", re.MULTILINE)
# Commands with captured kernels; tests/capture checks these.
CAPTURED = re.compile(r"pallascope (capture|compare matmul build/m|sweep matmul\*)")


def samples(text):
    """Returns (command, expected output) for each command."""
    for block in BLOCK.findall(text):
        for sample in re.split(r"^\$ (?=pallascope )", block, flags=re.MULTILINE)[1:]:
            first, _, rest = sample.partition("\n")
            while first.endswith("\\"):
                more, _, rest = rest.partition("\n")
                first = first[:-1] + more
            yield first, rest


def pattern(expected):
    lines = []
    for line in expected.rstrip("\n").split("\n"):
        if line.strip() == "…":
            lines.append(r"(?:.*\n)*?")
        else:
            lines.append(".*".join(map(re.escape, line.split("…"))) + "\n")
    return re.compile("".join(lines))


def array(shape, elements, descr="<f4"):
    """Returns an array as NumPy saves it, in version 1.0; the elements are f32."""
    head = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}".encode()
    head += b" " * (-(len(head) + 11) % 64) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head + struct.pack(f"<{len(elements)}f", *elements)


def listed(text):
    """Returns each command of the blocks that list commands without output."""
    for block in re.findall(r"^```\n((?:pallascope\b.*\n)+)```$", text, re.MULTILINE):
        yield from block.splitlines()


def prepare(folder):
    """Makes the files that the commands read and that no earlier command writes."""
    with zipfile.ZipFile(folder / "large.npz", "w") as archive:
        for number in range(2):
            elements = [3e38] + [1.0] * (64 * 128 - 1)
            archive.writestr(f"arg{number}.npy", array((64, 128), elements))
    with zipfile.ZipFile(folder / "in.npz", "w") as archive:  # x and y of the product, in bf16
        head = array((4096, 4096), [], "<V2")
        for number in range(2):
            archive.writestr(f"arg{number}.npy", head + b"\x80\x3f" * (1 << 24))


def printed(program, command, folder, **more):
    """Returns what it prints, and its exit code if that is not 0."""
    result = subprocess.run(
        [program, *shlex.split(command)[1:]], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        encoding="utf-8", cwd=folder, timeout=120, check=False, **more)
    return result.stdout.rstrip("\n") + "\n" + (f"(exit code {result.returncode})\n" if result.returncode else "")


def is_sample(expected, found):
    if "(exit code" not in expected:
        found = re.sub(r"\(exit code 1\)\n$", "", found)
    return pattern(expected).fullmatch(found) is not None


class Documents(Case):
    def setUp(self):
        super().setUp()
        (self.folder / "docs").symlink_to(ROOT / "docs")
        (self.folder / "resources").symlink_to(ROOT / "resources")
        prepare(self.folder)

    def test_the_kernel_format_has_all_dtypes(self):
        kernel = (ROOT / "docs" / "examples" / "add.kernel.json").read_text(encoding="utf-8")
        bad = self.folder / "bad.kernel.json"
        bad.write_text(re.sub(r'"dtype": *"f32"', '"dtype": "f33"', kernel), encoding="utf-8")
        names = re.search(r"\((f32, .* or bool)\)", self.call("describe", bad).stderr).group(1)
        self.assertIn(f"| `dtype` | required | {names} |",
                      (ROOT / "docs" / "kernel_format.md").read_text(encoding="utf-8"))

    def test_tables_have_a_head_and_as_many_cells_in_every_row(self):
        for path in DOCUMENTS:
            text = re.sub(r"^```.*?^```$", "", path.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
            for table in re.findall(r"(?:^\|.*\n)+", text, re.MULTILINE):
                rows = table.rstrip("\n").split("\n")
                with self.subTest(document=path.name, table=rows[0]):
                    self.assertRegex("\n".join(rows[1:2]), r"^\|[-| :]+\|$")
                    cells = {len(re.split(r"(?<!\\)\|", row)) for row in rows}
                    self.assertEqual(len(cells), 1)

    def test_samples_are_what_the_program_prints(self):
        count = 0
        for path in DOCUMENTS:
            for command, expected in samples(path.read_text(encoding="utf-8")):
                if CAPTURED.match(command):
                    continue
                with self.subTest(document=path.name, command=command):
                    found = printed(PROGRAM, command, self.folder)
                    if not is_sample(expected, found):
                        self.assertEqual(found, expected)
                    count += 1
        self.assertGreater(count, 10)

    def test_listed_commands_of_formats_work(self):
        for name in ("chip_format.md", "kernel_format.md"):
            commands = list(listed((ROOT / "docs" / name).read_text(encoding="utf-8")))
            self.assertGreater(len(commands), 2)
            for command in commands:
                with self.subTest(document=name, command=command):
                    done = subprocess.run(["bash", "-c", command.replace("pallascope", PROGRAM, 1)],
                                          cwd=self.folder, capture_output=True, text=True, check=False)
                    self.assertEqual((done.returncode, done.stderr), (0, ""))


if __name__ == "__main__":
    unittest.main()
