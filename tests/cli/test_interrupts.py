"""Ctrl-C ends every command with 130, even in the middle of one long operation, and leaves nothing behind."""

import json
import os
import signal
import stat
import subprocess
import time
import unittest

from support import INTERRUPTED, PROGRAM, SMALL, Case, parameters, wait_until_it_catches

# One step with one product of 137 GFLOP: more than a second of work during which nothing asks whether to go on.
ONE_PRODUCT = ["run", "matmul", *(word for name in ("m", "n", "k", "bm", "bn", "bk")
                                  for word in ("-p", f"{name}=4096")), "-p", "buffers=1", "--memory", "4"]


# That product in a file. Its sign decides a branch, so that a sweep has to compute it as well.
def deciding_product(folder):
    path = folder / "product.kernel.json"
    subprocess.run([PROGRAM, "save", *ONE_PRODUCT[1:-2], "-o", path], check=True)
    kernel = json.loads(path.read_text(encoding="utf-8"))
    operations = kernel["body"]["operations"][0]["regions"][0]["operations"]
    dot = next(i for i, operation in enumerate(operations) if operation["op"] == "dot_general")
    largest = len(kernel["values"])
    zero = next(i for i, value in enumerate(kernel["values"])
                if value["dtype"] == "f32" and value.get("literal") == 0)
    kernel["values"] += [{"dtype": "f32"}, {"dtype": "bool"}]
    operations[dot + 1:dot + 1] = [
        {"op": "reduce_max", "operands": operations[dot]["results"], "results": [largest],
         "params": {"axes": [0, 1]}, "location": 0},
        {"op": "lt", "operands": [largest, zero], "results": [largest + 1], "location": 0},
        {"op": "cond", "operands": [largest + 1], "regions": [{}, {}], "location": 0}]
    path.write_text(json.dumps(kernel), encoding="utf-8")
    return path


def multiplies(process):
    wait_until_it_catches(process)
    time.sleep(0.3)  # so that the signal comes while it multiplies; nothing tells when that is


def on_one_processor():
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})


class Interrupts(Case):
    def interrupt(self, words, after, number=signal.SIGINT, **more):
        process = subprocess.Popen([PROGRAM, *map(str, words)], cwd=self.folder, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True, encoding="utf-8", **more)
        after(process)
        process.send_signal(number)
        output, said = process.communicate(timeout=60)
        return process.returncode, output, said

    def test_one_long_operation_is_interrupted(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            code, output, said = self.interrupt(ONE_PRODUCT, multiplies, number)
            self.assertEqual((code, output), (INTERRUPTED, ""), said)
            self.assertTrue(said.startswith("Interrupted"), said)

    def test_rows_before_a_long_operation_are_kept(self):
        product = deciding_product(self.folder)
        self.output("save", "matmul", *parameters(SMALL), "-o", "small.kernel.json")
        words = ["sweep", "small.kernel.json", product, "--save", "s.json"]
        # On all of them the product can be done before a busy machine lets this process send the signal.
        code, output, said = self.interrupt(words, multiplies, preexec_fn=on_one_processor)
        self.assertEqual((code, output), (INTERRUPTED, ""), said)
        self.assertEqual(said, "Interrupted after 1 of 2 rows; --resume s.json goes on from there.\n")
        rows = json.loads((self.folder / "s.json").read_text(encoding="utf-8"))["rows"]
        self.assertEqual([row["parameters"] for row in rows], [{"file": "small.kernel.json"}])

    def test_a_trace_that_is_being_written_leaves_nothing(self):
        words = ["run", "matmul", "--values", "needed", "-p", "m=16384", "-p", "n=16384", "-p", "k=16384",
                 "--trace", "a.trace.json"]

        def being_written(_):
            for _ in range(600):
                if list(self.folder.glob(".a.trace.json*")):
                    return
                time.sleep(0.01)

        code, _, said = self.interrupt(words, being_written)
        self.assertEqual(code, INTERRUPTED, said)
        self.assertEqual(list(self.folder.iterdir()), [])

    def test_python_ends_with_capture(self):
        python = self.folder / "python"
        alive = self.folder / "alive"
        python.write_text(f"#!/bin/sh\n[ \"$1\" = -c ] && exit 10\necho $$ > '{alive}'\nexec sleep 60\n")
        python.chmod(python.stat().st_mode | stat.S_IXUSR)

        def started(_):
            for _ in range(600):
                if alive.exists() and alive.read_text():
                    return
                time.sleep(0.01)

        for number in (signal.SIGINT, signal.SIGTERM):
            alive.unlink(missing_ok=True)
            code, _, _ = self.interrupt(["capture", "k.py:f", "-o", "k.pallascope", "--python", python], started,
                                        number)
            self.assertEqual(code, INTERRUPTED)
            self.assertRaises(ProcessLookupError, os.kill, int(alive.read_text()), 0)

    def test_a_signal_before_python_captures_is_heard(self):
        python = self.folder / "python"
        started = self.folder / "started"
        python.write_text("#!/bin/sh\ntrap '' INT\n[ \"$1\" = -c ] && kill -INT $PPID && exit 10\n"
                          f"touch '{started}'\n")
        python.chmod(python.stat().st_mode | stat.S_IXUSR)
        answer = self.call("capture", "k.py:f", "-o", "k.pallascope", "--python", python)
        self.assertEqual(answer.returncode, INTERRUPTED, answer.stderr)
        self.assertFalse(started.exists())

    def test_a_signal_at_the_start_of_python_ends_it(self):
        python = self.folder / "python"
        python.write_text("#!/bin/sh\n[ \"$1\" = -c ] && exit 10\nkill -TERM $PPID\nexec sleep 60\n")
        python.chmod(python.stat().st_mode | stat.S_IXUSR)
        # On one processor, Python now and then is faster than the program that started it.
        self.addCleanup(os.sched_setaffinity, 0, os.sched_getaffinity(0))
        on_one_processor()
        for _ in range(60):
            answer = self.call("capture", "k.py:f", "-o", "k.pallascope", "--python", python, timeout=30)
            self.assertEqual(answer.returncode, INTERRUPTED, answer.stderr)


if __name__ == "__main__":
    unittest.main()
