"""Every sample of the documents is what the program prints.

A block of code whose first line is `$ pallascope ARGUMENTS` holds its output, standard error included. `…` on a
line of its own stands for any lines, `…` in a line for any text. The samples of README.md are whole.
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
# Of captured kernels; tests/capture has those.
CAPTURED = re.compile(r"pallascope (capture|compare matmul build/m|sweep matmul\*)")


def samples(text):
    """(command, expected output) of each command."""
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


def array(shape, elements):
    """f32 as NumPy saves it: version 1.0."""
    head = f"{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}, }}".encode()
    head += b" " * (-(len(head) + 11) % 64) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head + struct.pack(f"<{len(elements)}f", *elements)


class Documents(Case):
    def setUp(self):
        super().setUp()
        (self.folder / "docs").symlink_to(ROOT / "docs")
        (self.folder / "resources").symlink_to(ROOT / "resources")
        with zipfile.ZipFile(self.folder / "large.npz", "w") as archive:
            for number in range(2):
                elements = [3e38] + [1.0] * (64 * 128 - 1)
                archive.writestr(f"arg{number}.npy", array((64, 128), elements))

    def printed(self, command):
        result = subprocess.run(
            [PROGRAM, *shlex.split(command)[1:]], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            encoding="utf-8", cwd=self.folder, timeout=120, check=False)
        return result.stdout.rstrip("\n") + "\n" + (
            f"(exit code {result.returncode})\n" if result.returncode else "")

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
                    printed = self.printed(command)
                    if "(exit code" not in expected:
                        printed = re.sub(r"\(exit code 1\)\n$", "", printed)
                    if not pattern(expected).fullmatch(printed):
                        self.assertEqual(printed, expected)
                    count += 1
        self.assertGreater(count, 10)


if __name__ == "__main__":
    unittest.main()
