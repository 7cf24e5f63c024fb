"""Runs the executable named by the environment variable PALLASCOPE, and checks what it does."""

import itertools
import json
import os
import pathlib
import signal
import subprocess
import tempfile
import time
import unittest

PROGRAM = os.environ["PALLASCOPE"]
FINE, FINDINGS, WRONG_INPUT, INTERRUPTED = 0, 1, 2, 130

# Small enough to compute every number in milliseconds, large enough for several blocks on each axis.
SMALL = {"m": 48, "n": 256, "k": 384, "bm": 16, "bn": 128, "bk": 128}


def parameters(values):
    return [word for name, value in values.items() for word in ("-p", f"{name}={value}")]


def wait_until_it_catches(process):
    """Waits until the process has installed its handler of SIGINT, which it does before it runs anything."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and process.poll() is None:
        status = pathlib.Path(f"/proc/{process.pid}/status").read_text(encoding="ascii")
        caught = int(status.split("SigCgt:")[1].split()[0], 16)
        if caught >> (signal.SIGINT - 1) & 1:
            return
        time.sleep(0.002)


def strict_json(text):
    """Refuses NaN and Infinity, which Python would accept and others would not."""

    def refuse(word):
        raise ValueError(f"{word} is not JSON")

    return json.loads(text, parse_constant=refuse)


class Case(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)

    def call(self, *arguments, timeout=120):
        return subprocess.run(
            [PROGRAM, *map(str, arguments)],
            capture_output=True,
            text=True,
            encoding="utf-8",
            cwd=self.folder,
            timeout=timeout,
            check=False,
        )

    def output(self, *arguments, code=FINE):
        result = self.call(*arguments)
        self.assertEqual((result.returncode, result.stderr), (code, ""), arguments)
        return result.stdout

    def report(self, kernel, values, *arguments, code=FINE):
        return strict_json(
            self.output("run", kernel, *parameters(values), "--json", *arguments, code=code)
        )

    def refused(self, *arguments, says=()):
        """Checks a refusal of wrong input: one sentence on stderr, nothing on stdout, and no file made, changed or
        lost."""
        before = self.files()
        result = self.call(*arguments)
        context = f"{arguments}: {result.stderr!r}"
        self.assertEqual(result.returncode, WRONG_INPUT, context)
        self.assertEqual(result.stdout, "", context)
        self.assertTrue(result.stderr.endswith("\n"), context)
        sentence = result.stderr[:-1]
        self.assertGreater(len(sentence.split()), 3, context)
        self.assertNotIn("\n", sentence, context)
        self.assertNotIn("mistake of its own", sentence, context)
        for words in says:
            self.assertIn(str(words), sentence, context)
        self.assertEqual(self.files(), before, context)
        return sentence

    def png(self, file, *arguments):
        """Returns the bytes of a picture that the arguments ask for. A build without Qt, which makes none, must say so;
        it gives None."""
        result = self.call(*arguments)
        if result.stderr.startswith("This build has no Qt"):
            self.assertEqual((result.returncode, result.stdout), (WRONG_INPUT, ""))
            return None
        self.assertEqual((result.returncode, result.stderr), (FINE, ""), arguments)
        picture = (self.folder / file).read_bytes()
        self.assertTrue(picture.startswith(b"\x89PNG"))
        return picture

    def files(self):
        return {
            str(path.relative_to(self.folder)): path.read_bytes()
            for path in self.folder.rglob("*")
            if path.is_file()
        }

    def write(self, name, content):
        path = self.folder / name
        if isinstance(content, bytes):
            path.write_bytes(content)
        else:
            path.write_text(
                content if isinstance(content, str) else json.dumps(content), encoding="utf-8"
            )
        return path


class Product:
    """What the formulae say about a blocked product, x[m,k] times y[k,n], with blocks that divide the arrays."""

    def __init__(self, m, n, k, bm, bn, bk, order="ijk", in_bytes=2, out_bytes=4):
        extents = {"i": m // bm, "j": n // bn, "k": k // bk}
        self.grid = [extents[axis] for axis in order]
        self.steps = m // bm * (n // bn) * (k // bk)
        self.mxu_flops = 2 * m * n * k
        self.vpu_flops = self.steps * bm * bn  # the sums into the output block
        self.flops = self.mxu_flops + self.vpu_flops
        self.block = {"x": bm * bk * in_bytes, "y": bk * bn * in_bytes, "out": bm * bn * out_bytes}
        self.array = {"x": m * k * in_bytes, "y": k * n * in_bytes, "out": m * n * out_bytes}
        self.vmem = {name: 2 * size for name, size in self.block.items()}
        # A block is copied if its index differs from that of the step before.
        walk = [
            dict(zip(order, place))
            for place in itertools.product(*(range(extents[axis]) for axis in order))
        ]
        self.copies = {
            name: sum(
                [at[axis] for axis in axes] != [before[axis] for axis in axes]
                for before, at in zip([dict.fromkeys("ijk", -1), *walk], walk)
            )
            for name, axes in (("x", "ik"), ("y", "kj"), ("out", "ij"))
        }
        self.bytes = {name: self.copies[name] * self.block[name] for name in self.block}
        self.read = self.bytes["x"] + self.bytes["y"]
        self.written = self.bytes["out"]
