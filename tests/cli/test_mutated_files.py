"""Mutated files of every format, which tests/fuzz makes. Each must give exit code 2 and one sentence that names the
file, or be treated as the legal file that it is; there must never be a signal, nor more than 5 s or 1 GiB."""

import os
import re
import resource
import subprocess
import unicodedata
import unittest

from support import FINDINGS, FINE, WRONG_INPUT, Case

MUTATE = os.environ["PALLASCOPE_FUZZ_FILES"]
COUNT = int(os.environ.get("PALLASCOPE_MUTATED_FILES", "210"))
MOST_SECONDS = 5
MOST_KIBIBYTES = 1 << 20


def processor_seconds():
    """Returns the processor time of the programs run so far, which does not depend on how busy the machine is."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def command(file):
    kind = file.split("-")[0]
    if kind in ("kernel", "archive"):
        return ("run", file)
    if kind == "chip":
        return ("run", "matmul", "-p", "m=256", "--values", "needed", "--chip", file)
    if kind in ("trace", "packed_trace"):
        return ("report", file)
    if kind == "sweep":
        return ("sweep", "add_vectors", "--over", "block=8,16", "-p", "shape=64,256", "--resume", file)
    return ("run", "example.kernel.json", "--inputs", file)


class MutatedFiles(Case):
    def check(self, file, arguments):
        begin = processor_seconds()
        result = self.call(*arguments)
        seconds = processor_seconds() - begin
        context = f"{arguments}: {result.returncode}, {result.stderr!r}"
        self.assertIn(result.returncode, (FINE, FINDINGS, WRONG_INPUT), context)
        self.assertLess(seconds, MOST_SECONDS, context)
        if result.returncode != WRONG_INPUT:
            # Perhaps a sentence on what it does not take of the file.
            self.assertRegex(result.stderr, rf"^(|[^\n]*\b{re.escape(file)}\b[^\n]*\.\n)$", context)
            self.assertGreater(len(result.stdout), 20, context)
            return "legal"
        self.assertEqual(result.stdout, "", context)
        self.assertTrue(result.stderr.endswith("\n"), context)
        sentence = result.stderr[:-1]
        self.assertFalse([c for c in sentence if unicodedata.category(c) == "Cc"], context)
        self.assertGreater(len(sentence.split()), 3, context)
        if not file.startswith("chip"):  # a kernel that a valid chip cannot run is not a fault of the chip's file
            self.assertIn(file, sentence, context)
        return "refused"

    def test_are_refused_in_a_sentence_or_legal(self):
        subprocess.run([MUTATE, "--write", self.folder, "--count", str(COUNT)], check=True)
        files = sorted(path.name for path in self.folder.iterdir())
        self.assertEqual(len(files), COUNT)
        self.output(
            "save", "add_vectors", "-p", "shape=64,128", "-o", "example.kernel.json"
        )
        outcomes = {"legal": 0, "refused": 0}
        for file in files:
            with self.subTest(file):
                outcomes[self.check(file, command(file))] += 1
        self.assertGreater(outcomes["refused"], COUNT // 3)
        self.assertGreater(outcomes["legal"], COUNT // 20)
        most = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
        self.assertLess(most, MOST_KIBIBYTES)


if __name__ == "__main__":
    unittest.main()
