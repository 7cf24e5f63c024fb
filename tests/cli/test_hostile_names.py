"""Names with control characters must reach no terminal, picture or report unchanged."""

import gzip
import json
import pathlib
import re
import unittest
import zipfile
import xml.etree.ElementTree as ElementTree

from support import FINE, FINDINGS, Case, strict_json

ROOT = pathlib.Path(__file__).resolve().parents[2]
HOSTILE = "\x1b[31m\x07\r\nfine\x9b\x85\u202e\u2066\u2028\ufffe<&>\"'"
# Control characters other than line feeds, and characters that turn the direction of text.
UNSAFE = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufffe\uffff]")
NAMES = {"name", "file", "function", "producer", "kernel", "title", "what"}


def hostile(node, key=""):
    """Returns the document with a hostile end on each of its names, except those of operations and dtypes."""
    if isinstance(node, dict):
        return {name: hostile(value, name) for name, value in node.items()}
    if isinstance(node, list):
        return [hostile(value, key) for value in node]
    return node + HOSTILE if isinstance(node, str) and (key in NAMES or key == "axis_names") else node


class HostileNames(Case):
    def setUp(self):
        super().setUp()
        document = json.loads((ROOT / "docs" / "examples" / "add.kernel.json").read_text(encoding="utf-8"))
        self.kernel = self.folder / "k.kernel.json"
        self.kernel.write_text(json.dumps(hostile(document)), encoding="utf-8")
        self.trace = self.folder / "k.trace.json"

    def safe(self, *arguments, codes=(FINE, FINDINGS)):
        result = self.call(*arguments)
        self.assertIn(result.returncode, codes, result.stderr)
        for text in (result.stdout, result.stderr):
            self.assertIsNone(UNSAFE.search(text), (arguments, UNSAFE.findall(text)[:3]))
            # A line feed in a name would start a new line.
            self.assertIsNone(re.search(r"^fine", text, re.MULTILINE), arguments)
        return result.stdout

    def test_a_kernel_file_is_shown_without_them(self):
        self.safe("run", self.kernel, "--trace", self.trace)
        strict_json(self.safe("run", self.kernel, "--json"))
        self.safe("describe", self.kernel)
        self.safe("print", self.kernel)
        self.safe("state", self.kernel, "--step", "1")
        state = strict_json(self.safe("state", self.kernel, "--step", "1", "--json"))
        argument = state["agents"][0]["refs"][0]["name"] + "[0,0]"
        self.safe("history", self.kernel, argument)
        strict_json(self.safe("history", self.kernel, argument, "--json"))
        self.safe("sweep", self.kernel, "--chip", "v5e,v6e")
        self.safe("compare", self.kernel, "matmul")
        self.assertIn("\\x1b[31m\\x07\\x0d\\x0afine\\x9b", self.safe("describe", self.kernel))

    def test_inputs_that_are_left_out_are_named_without_them(self):
        self.call("run", self.kernel, "--results", "all.npz")
        with zipfile.ZipFile(self.folder / "all.npz") as made, zipfile.ZipFile(self.folder / "y.npz", "w") as archive:
            archive.writestr("arg1.npy", made.read("result0.npy"))
        self.safe("run", self.kernel, "--inputs", "y.npz")
        self.safe("save", self.kernel, "--inputs", "y.npz", "-o", "k.pallascope")

    def test_a_trace_is_shown_without_them(self):
        self.call("run", self.kernel, "--trace", self.trace)
        whole = json.loads(self.trace.read_text(encoding="utf-8"))
        section = whole["pallascope"]
        section["info"] = hostile(section["info"])
        self.trace.write_text(json.dumps(whole), encoding="utf-8")
        self.safe("report", self.trace)
        strict_json(self.safe("report", self.trace, "--json"))
        again = self.folder / "again.trace.json.gz"
        self.safe("report", self.trace, "--trace", again, codes=(0, 1, 2))
        if again.exists():
            strict_json(gzip.decompress(again.read_bytes()).decode())

    def test_a_chip_is_shown_without_them(self):
        chip = self.write("c.json", re.sub(r'"source": "', r'\g<0>\\u007f\\u009b31m\\u202e',
                                           self.output("describe", "v5e", "--json")))
        strict_json(self.safe("describe", chip, "--json"))
        self.safe("describe", chip)
        self.safe("run", self.kernel, "--chip", chip, "--trace", self.trace)
        self.safe("report", self.trace, "--json")

    def test_a_saved_sweep_is_shown_without_them(self):
        sweep = ("sweep", "matmul", "--over", "bm=256,512", "-p", "m=512", "--resume")
        self.output(*sweep[:-1], "--save", "s.json")
        saved = json.loads((self.folder / "s.json").read_text(encoding="utf-8"))
        for row in saved["rows"]:
            row["bound_by"] += HOSTILE
            row["findings"] = [HOSTILE]
        self.write("s.json", saved)
        for words in ((), ("--csv",), ("--json",)):
            self.assertIn("fine", self.safe(*sweep, self.write("s.json", saved), *words))

    def test_pictures_are_well_formed(self):
        for view in ("timeline", "kernel", "verdict", "source", "memory"):
            picture = self.folder / f"{view}.svg"
            self.safe("run", self.kernel, "--screenshot", picture, "--view", view)
            text = picture.read_text(encoding="utf-8")
            self.assertIsNone(UNSAFE.search(text))
            ElementTree.fromstring(text)


if __name__ == "__main__":
    unittest.main()
