"""What reads and writes an element of a ref, and where its NaN comes from."""

import pathlib
import signal
import subprocess
import time
import unittest

from support import INTERRUPTED, PROGRAM, SMALL, Case, parameters, strict_json, wait_until_it_catches

KERNEL = ("matmul", *parameters(SMALL), "-p", "dtype=f32")
STEPS_OF_A_BLOCK = 3
ATTENTION = pathlib.Path(__file__).resolve().parents[2] / "docs" / "examples" / "attention.kernel.json"


class History(Case):
    def history(self, *words):
        return strict_json(self.output("history", *KERNEL, *words, "--json"))

    def test_an_output_is_written_once_by_the_copy_of_its_block(self):
        found = self.history("out[3,5]", "--in", "hbm")["history"]
        self.assertEqual([touch["what"] for touch in found], ["copied_in", "given"])
        self.assertIsNone(found[0]["before"])
        state = strict_json(self.output("state", *KERNEL, "--at", "100%", "--ref", "out[3,5]", "--json"))
        self.assertEqual(found[0]["after"], state["agents"][0]["refs"][0]["element"]["value"])
        self.assertEqual(found[0]["other_end"], {"ref": "out", "memory": "vmem", "index": [3, 5]})

    def test_a_block_is_written_in_each_step_that_adds_to_it(self):
        found = [touch for touch in self.history("out[3,5]", "--in", "vmem")["history"]
                 if touch["what"] == "written" and touch["step"] < STEPS_OF_A_BLOCK]
        steps = [touch["step"] for touch in found]
        self.assertEqual(sorted(set(steps)), list(range(STEPS_OF_A_BLOCK)))
        self.assertEqual(steps, sorted(steps, reverse=True))  # the newest first
        for newer, older in zip(found, found[1:]):
            self.assertEqual(newer["before"], older["after"])

    def test_an_event_is_a_moment_of_state(self):
        written = next(touch for touch in self.history("out[3,5]", "--in", "vmem")["history"]
                       if touch["what"] == "written" and touch["step"] == 1)
        state = strict_json(self.output("state", *KERNEL, "--event", written["event"], "--ref", "out[3,5]",
                                        "--in", "vmem", "--json"))
        self.assertEqual(state["agents"][0]["refs"][0]["element"]["value"], written["after"])

    def test_the_table_has_as_many_rows_as_wanted(self):
        text = self.output("history", *KERNEL, "out[3,5]", "--most", 2)
        self.assertEqual(len(text.splitlines()), 1 + 1 + 2 + 1 + 1, text)
        self.assertIn("older ones; all of them: --most 0, or --json\n", text)
        self.assertRegex(text, r"\nAll [\d ,]+ events of the run were looked at\.\n$")
        whole = self.output("history", *KERNEL, "out[3,5]", "--most", 0)
        self.assertNotIn("older ones", whole)
        self.assertEqual(len(whole.splitlines()), 3 + len(self.history("out[3,5]")["history"]))

    def test_a_nan_is_followed_through_two_kernels_to_its_birth(self):
        links = strict_json(self.output("history", ATTENTION, "o_ref[0,3]", "--nan", "--json"))["nan"]
        self.assertEqual(links[0]["element"], {"ref": "o_ref", "memory": "hbm", "index": [0, 3]})
        self.assertIn("weights", [link.get("from", {}).get("ref") for link in links])
        born = links[-1]
        self.assertEqual((born["what"], born["op"], born["step"], born["of_inf"]), ("born", "sub", 0, True))
        self.assertTrue(born["where"].endswith("attention.py:15"), born)
        text = self.output("history", ATTENTION, "o_ref[0,3]", "--nan")
        self.assertIn("born: sub at docs/examples/attention.py:15 makes it of operands with Inf, without NaN", text)
        self.assertIn("never holds a NaN", self.output("history", ATTENTION, "o_ref[1,3]", "--nan"))

    def test_what_does_not_exist_is_refused(self):
        for words, sentence in ((("z[0,0]",), "expected x, y or out"),
                                (("y[0]",), "There is no element y[0]"),
                                (("out[48,0]",), "There is no element out[48,0]"),
                                (("out[0",), "is not understood; expected a ref"),
                                (("out[0,0]", "--most", "-1"), "--most is -1"),
                                (("out[0,0]", "--values", "needed"), "leave out --values needed"),
                                (("out[0,0]", "--in", "smem"), "in smem")):
            self.refused("history", *KERNEL, *words, says=[sentence])

    def test_it_is_interrupted(self):
        process = subprocess.Popen(
            [PROGRAM, "history", "matmul", *(word for name in ("m", "n", "k") for word in ("-p", f"{name}=4096")),
             *(word for name in ("bm", "bn", "bk") for word in ("-p", f"{name}=128")), "out[0,0]", "--nan"],
            cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, encoding="utf-8")
        wait_until_it_catches(process)
        time.sleep(0.3)  # so that the signal comes while it looks; nothing tells when that is
        process.send_signal(signal.SIGINT)
        output, said = process.communicate(timeout=60)
        self.assertEqual((process.returncode, output), (INTERRUPTED, ""), said)


if __name__ == "__main__":
    unittest.main()
