"""The state of a run at one of its moments."""

import unittest

from support import SMALL, Case, parameters, strict_json

KERNEL = ("matmul", *parameters(SMALL), "-p", "dtype=f32")
STEPS = 3 * 2 * 3


class State(Case):
    def state(self, *moment):
        return strict_json(self.output("state", *KERNEL, *moment, "--json"))

    def test_a_step_begins_with_its_blocks_in_vmem(self):
        for step in range(STEPS):
            state = self.state("--step", step)
            (agent,) = state["agents"]
            self.assertEqual(agent["step"], step)
            self.assertEqual(agent["next"], "a:i32 = program_id[axis=2]")
            blocks = {ref["name"]: ref for ref in agent["refs"] if ref["memory"] == "vmem"}
            self.assertEqual(blocks["x"]["shape"], [16, 128])
            self.assertEqual(blocks["x"]["defined"], 16 * 128)
            # The grid's last axis is innermost, and a new output block is undefined at first.
            self.assertEqual(blocks["out"]["defined"], 0 if step % 3 == 0 else 16 * 128)

    def test_the_end_holds_what_a_run_gives(self):
        state = self.state("--at", "100%", "--ref", "out")
        self.assertTrue(state["at_end"])
        (out,) = state["agents"][0]["refs"]
        self.assertEqual(len(out["elements"]), 48 * 256)
        self.assertEqual(state["event"], self.report("matmul", {**SMALL, "dtype": "f32"})["events"] + 1)

    def test_moments_are_numbered_and_named_in_many_ways(self):
        third = self.state("--step", 3)
        self.assertEqual(third, self.state("--event", third["event"]))
        copy = self.state("--copy", 1)
        self.assertEqual([one["copy"] for one in copy["copies_in_flight"]], [0, 1])
        early = self.state("--at", "0")
        self.assertLessEqual(early["time_ps"], 0)

    def test_text_shows_the_corner_of_a_ref(self):
        text = self.output("state", *KERNEL, "--at", "100%", "--ref", "out")
        self.assertEqual(len(text.splitlines()), 3 + 8 + 1)
        self.assertIn("of 12\u2009288 elements; all of them: --json", text)
        self.assertIn("f32[48,256]  undefined\n", self.output("state", *KERNEL, "--step", 0))

    def test_moments_and_refs_that_do_not_exist_are_refused(self):
        self.refused("state", *KERNEL, "--step", STEPS, says=[f"There is no step {STEPS}: matmul has {STEPS}"])
        self.refused("state", *KERNEL, "--copy", 1000, says=["There is no copy 1000"])
        self.refused("state", *KERNEL, "--event", 10**9, says=["There is no event 1000000000"])
        self.refused("state", *KERNEL, "--event", -1, says=["The moment has the number -1"])
        self.refused("state", *KERNEL, "--step", 1, "--ref", "z", says=['There is no ref "z"', "x, y or out"])
        self.refused("state", *KERNEL, says=["Exactly 1 option"])
        self.refused("state", *KERNEL, "--at", "sometime", says=['"sometime"'])


if __name__ == "__main__":
    unittest.main()
