#!/usr/bin/env python3
"""Drives the program with kernel files as a user would. It needs only Python's standard library.

    check_command_line.py PALLASCOPE EXAMPLES
"""

import json
import pathlib
import struct
import subprocess
import sys
import tempfile
import unittest
import zipfile

PALLASCOPE, EXAMPLES = sys.argv[1], pathlib.Path(sys.argv[2])


def run(*arguments):
    return subprocess.run([PALLASCOPE, *map(str, arguments)], capture_output=True, text=True,
                          timeout=60, check=False)


def npy(shape, numbers):
    """Returns an array of float32 in version 1.0 of NumPy's format."""
    header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}, }}".encode()
    header += b" " * (-(len(header) + 11) % 64) + b"\n"
    return (b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header
            + struct.pack(f"<{len(numbers)}f", *numbers))


def elements(path, member):
    with zipfile.ZipFile(path) as archive:
        data = archive.read(member)
    start = 10 + struct.unpack("<H", data[8:10])[0]
    return struct.unpack(f"<{(len(data) - start) // 4}f", data[start:])


class KernelFiles(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def refused(self, *arguments):
        """Returns the one sentence of a refusal; nothing may be written."""
        before = sorted(self.folder.iterdir())
        result = run(*arguments)
        self.assertEqual(result.returncode, 2, result.stderr)
        self.assertEqual(result.stdout, "")
        self.assertEqual(result.stderr.count("\n"), 1, result.stderr)
        self.assertEqual(sorted(self.folder.iterdir()), before)
        return result.stderr

    def test_the_hand_written_example_adds(self):
        numbers = [float(i % 251) for i in range(64 * 128)]
        with zipfile.ZipFile(self.folder / "in.npz", "w") as archive:
            archive.writestr("arg0.npy", npy((64, 128), numbers))
            archive.writestr("arg1.npy", npy((64, 128), [2 * n for n in numbers]))
        result = run("run", EXAMPLES / "add.kernel.json", "--inputs", self.folder / "in.npz",
                     "--results", self.folder / "out.npz", "--json")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(list(elements(self.folder / "out.npz", "result0.npy")),
                         [3 * n for n in numbers])
        self.assertFalse(json.loads(result.stdout)["result"]["checked"])

    def test_an_array_is_read_when_a_run_needs_its_elements(self):
        document = json.loads((EXAMPLES / "add.kernel.json").read_text())
        document["inputs"][0] = {"npy": "arrays/x.npy"}
        path = self.folder / "k.pallascope"
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("kernel.json", json.dumps(document))
            archive.writestr("arrays/x.npy", npy((64, 128), [1.0] * (64 * 128)))
        self.assertEqual(run("run", path).returncode, 0)
        data = path.read_bytes()
        path.write_bytes(data.replace(struct.pack("<f", 1) * 64, struct.pack("<f", 2) * 64, 1))
        needed = run("run", path, "--values", "needed")
        self.assertEqual(needed.returncode, 0, needed.stderr)
        self.assertEqual(self.refused("run", path), f"{path}: arrays/x.npy is damaged.\n")
        self.assertEqual(self.refused("save", path, "-o", self.folder / "copy.pallascope"),
                         f"{path}: arrays/x.npy is damaged.\n")

    def test_a_sweep_takes_large_files_and_knows_them_again(self):
        path, rows = self.folder / "k.pallascope", self.folder / "rows.json"
        small = ("-p", "m=512", "-p", "bm=256", "-p", "n=512", "-p", "k=512")
        self.assertEqual(run("save", "matmul", *small, "-o", path).returncode, 0)
        with zipfile.ZipFile(path, "a", zipfile.ZIP_STORED) as archive:
            archive.writestr("notes.txt", bytes(65 << 20))
        swept = run("sweep", path, "--save", rows)
        self.assertEqual(swept.returncode, 0, swept.stderr)
        self.assertEqual(run("sweep", path, "--resume", rows).returncode, 0)
        with path.open("r+b") as file:
            file.seek(60 << 20)
            file.write(b"x")
        self.assertEqual(run("sweep", path, "--resume", rows).returncode, 2)

    def test_a_saved_kernel_is_the_kernel(self):
        parameters = ("-p", "m=512", "-p", "bm=256", "-p", "n=512", "-p", "k=512")
        printed = run("print", "matmul", *parameters).stdout
        self.assertIn("pipeline grid=(2, 1, 1)", printed)
        direct = json.loads(run("run", "matmul", *parameters, "--no-check", "--json").stdout)
        for name in ("k.kernel.json", "k.pallascope"):
            path = self.folder / name
            self.assertEqual(run("save", "matmul", *parameters, "-o", path).returncode, 0)
            self.assertEqual(run("print", path).stdout, printed)
            self.assertIn("no array element", run("describe", path).stdout)
            described = json.loads(run("describe", path, "--json").stdout)
            self.assertEqual((described["name"], described["needed_contents"]), ("matmul", []))
            again = self.folder / ("again." + name)
            self.assertEqual(run("save", path, "-o", again).returncode, 0)
            self.assertEqual(again.read_bytes(), path.read_bytes())
            from_file = json.loads(run("run", path, "--json").stdout)
            self.assertEqual(from_file["time_s"], direct["time_s"])

    def test_results_of_the_file_are_those_of_the_kernel(self):
        parameters = ("-p", "shape=64,128", "-p", "block=16")
        run("save", "add_vectors", *parameters, "-o", self.folder / "k.kernel.json")
        run("run", "add_vectors", *parameters, "--results", self.folder / "a.npz")
        run("run", self.folder / "k.kernel.json", "--results", self.folder / "b.npz")
        self.assertEqual((self.folder / "a.npz").read_bytes(), (self.folder / "b.npz").read_bytes())

    def test_a_trace_of_a_file_is_reported_without_the_built_in_kernels_alternatives(self):
        run("save", "matmul", "-o", self.folder / "k.kernel.json")
        trace = self.folder / "k.trace.json.gz"
        result = run("run", self.folder / "k.kernel.json", "--values", "needed", "--trace", trace)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(run("report", trace).returncode, 0)

    def test_what_a_run_refuses_names_the_file_and_the_limit(self):
        path = self.folder / "k.kernel.json"
        kernel = json.loads((EXAMPLES / "add.kernel.json").read_text(encoding="utf-8"))
        for value in kernel["values"]:
            if value.get("shape") and value.get("space") == "hbm":
                value["shape"] = [1 << 21, 128]
        path.write_text(json.dumps(kernel), encoding="utf-8")
        sentence = self.refused("run", path)
        self.assertIn("more than 896 MiB; `--values needed`", sentence)
        self.assertTrue(sentence.startswith(f"{path}: "), sentence)
        # The run has findings: blocks that were not written.
        self.assertEqual(run("run", path, "--values", "needed").returncode, 1)
        for wrong in ("-1", "0", "0.0004", "1048577"):
            self.assertIn(f"--memory is {wrong} GiB; expected a number from 0.0005 to 1048576.",
                          self.refused("run", path, "--memory", wrong))
        self.assertIn("more than 1 MiB", self.refused(
            "run", "add_vectors", "-p", "shape=1024,1024", "--memory", f"{1 / 1024}"))
        kernel["body"]["operations"][0]["params"]["grid"] = [3_000_000]
        path.write_text(json.dumps(kernel), encoding="utf-8")
        sentence = self.refused("run", path, "--values", "needed")
        self.assertTrue(sentence.startswith(f"{path}: "), sentence)
        self.assertIn("3\u2009000\u2009000 grid steps", sentence)

    def test_inputs_travel_in_the_archive(self):
        numbers = [0.5] * (64 * 128)
        with zipfile.ZipFile(self.folder / "in.npz", "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("arg1.npy", npy((64, 128), numbers))
        path = self.folder / "k.pallascope"
        self.assertEqual(run("save", EXAMPLES / "add.kernel.json", "--inputs",
                             self.folder / "in.npz", "-o", path).returncode, 0)
        with zipfile.ZipFile(path) as archive:
            self.assertEqual(archive.namelist(), ["kernel.json", "arrays/arg1.npy"])
        run("run", path, "--results", self.folder / "with.npz")
        run("run", EXAMPLES / "add.kernel.json", "--results", self.folder / "without.npz")
        self.assertEqual(
            [a - b for a, b in zip(elements(self.folder / "with.npz", "result0.npy"),
                                   elements(self.folder / "without.npz", "result0.npy"))][:1],
            numbers[:1])

    def test_wrong_input_is_one_sentence_and_exit_code_2(self):
        example = EXAMPLES / "add.kernel.json"
        broken = self.folder / "broken.kernel.json"
        text = example.read_text()
        self.assertIn("There is no kernel", self.refused("run", self.folder / "none.kernel.json"))
        self.assertIn("is a folder", self.refused("run", self.folder))
        self.assertIn("what is in a file is fixed", self.refused("run", example, "-p", "m=1"))
        self.assertIn("--values full", self.refused("run", example, "--values", "needed",
                                                    "--results", self.folder / "o.npz"))
        self.assertIn("is not a zip", self.refused("run", example, "--inputs", example))
        self.assertIn("ends in", self.refused("save", "matmul", "-o", self.folder / "k.json"))
        self.assertIn("folder", self.refused("save", "matmul", "-o", self.folder / "no" / "k.pallascope"))
        for cut in range(0, len(text) - 3, 97):
            broken.write_text(text[:cut])
            self.refused("print", broken)
        for old, new in (('"add"', '"ad"'), ("[6, 7]", "[6, 99]"), ("[64, 128]", "[64, 1e99]"),
                         ('"op": "get"', '"op": "get", "x": 1')):
            broken.write_text(text.replace(old, new))
            for command in ("run", "print", "describe"):
                self.assertTrue(self.refused(command, broken).startswith(str(broken)))
        huge = text.replace("[64, 128]", "[1099511627776]").replace('"size": 16}, {"size": 128', '"size": 16')
        broken.write_text(huge)
        self.refused("run", broken)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
