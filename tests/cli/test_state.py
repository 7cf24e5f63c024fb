"""The state of a run at one of its moments."""

import pathlib
import tempfile
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

    def test_a_round_of_a_loop_is_a_moment(self):
        kernel = ("add_by_hand", "-p", "rows=64", "-p", "block=8")
        (loop,) = [line for line in self.output("describe", "add_by_hand").splitlines() if "loop that copies" in line]
        name = loop.split(": ")[1].split(",")[0]
        before = -1
        for number in range(8):
            state = strict_json(self.output("state", *kernel, "--round", number, "--json"))
            self.assertEqual(state["rounds"], [{"loop": name, "round": number}])
            self.assertGreater(state["time_ps"], before)
            before = state["time_ps"]
            self.assertEqual(state, strict_json(
                self.output("state", *kernel, "--round", number, "--loop", name, "--json")))
        self.assertIn(f"round 7 of {name}\n", self.output("state", *kernel, "--round", 7))
        self.refused("state", *kernel, "--round", 8, says=[f"There is no round 8: {name} has 8 of them"])
        self.refused("state", *kernel, "--round", 0, "--loop", "no", says=['There is no loop "no"', name])
        self.refused("state", *KERNEL, "--round", 0, says=["matmul has no loop that copies or waits"])
        self.refused("state", *kernel, "--step", 0, "--loop", name, says=["--round"])

    def test_text_shows_the_corner_of_a_ref(self):
        text = self.output("state", *KERNEL, "--at", "100%", "--ref", "out")
        self.assertEqual(len(text.splitlines()), 3 + 8 + 1)
        self.assertIn("of 12\u2009288 elements; all of them: --json", text)
        self.assertIn("f32[48,256]  undefined\n", self.output("state", *KERNEL, "--step", 0))

    def test_one_element_is_printed_by_its_index(self):
        whole = self.state("--at", "100%", "--ref", "out")["agents"][0]["refs"][0]["elements"]
        (out,) = self.state("--at", "100%", "--ref", "out[3,5]")["agents"][0]["refs"]
        self.assertEqual(out["element"], {"index": [3, 5], "value": whole[3 * 256 + 5]})
        self.assertNotIn("elements", out)
        self.assertIn("out[3,5] = ", self.output("state", *KERNEL, "--at", "100%", "--ref", "out[3,5]"))

    def test_a_nan_has_one_name_whatever_its_sign(self):
        kernel = pathlib.Path(__file__).resolve().parents[2] / "docs" / "examples" / "attention.kernel.json"
        end = ("state", kernel, "--at", "100%", "--ref")
        (out,) = strict_json(self.output(*end, "o_ref[0,3]", "--json"))["agents"][0]["refs"]
        self.assertEqual(out["element"]["value"], "nan")
        self.assertIn("o_ref[0,3] = nan\n", self.output(*end, "o_ref[0,3]"))

    def test_a_ref_is_chosen_by_its_memory(self):
        for memory, shape in (("hbm", [48, 256]), ("vmem", [16, 128])):
            (x,) = self.state("--step", 2, "--ref", "out", "--in", memory)["agents"][0]["refs"]
            self.assertEqual((x["memory"], x["shape"]), (memory, shape))
        both = self.state("--step", 2, "--ref", "out", "--agent", "TensorCore 0")["agents"][0]["refs"]
        self.assertEqual(len(both), 2)

    def test_a_heat_map_is_written_as_a_picture(self):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "out.svg"
            for more in ((), ("--log",), ("--theme", "dark"), ("--size", "400x300")):
                self.output("state", *KERNEL, "--step", 2, "--ref", "out[1,2]", "--heat", file, *more)
                picture = file.read_text(encoding="utf-8")
                self.assertIn("Values", picture)
                self.assertIn("out[1, 2]", picture)
                file.unlink()
            self.refused("state", *KERNEL, "--step", 2, "--ref", "out", "--heat", f"{folder}/a.gif",
                         says=["must end in .png or .svg"])
            self.refused("state", *KERNEL, "--step", 2, "--heat", file, says=["--ref"])

    def test_elements_that_do_not_exist_are_refused(self):
        says = {"out[48,0]": "no element out[48,0]", "out[1]": "no element out[1]", "out[1": "is not understood",
                "out[1,]": "is not understood", "out[-1,0]": "is not understood", "[1,2]": "is not understood"}
        for ref, text in says.items():
            self.refused("state", *KERNEL, "--step", 2, "--ref", ref, says=[text])
        self.refused("state", *KERNEL, "--step", 2, "--ref", "out", "--in", "smem", says=['"out" in smem'])

    def test_a_ref_whose_scope_has_ended_is_not_among_those_to_expect(self):
        at_end = ("state", *KERNEL, "--at", "100%", "--ref")
        ended = "at that moment, as its scope has ended or has yet to begin; "
        self.refused(*at_end, "x", "--in", "vmem", says=[f'There is no ref "x" in vmem {ended}none is there.'])
        self.refused(*at_end, "z", "--agent", "TensorCore 0",
                     says=['There is no ref "z" of TensorCore 0 at that moment; expected x, y or out.'])
        self.refused(*at_end, "x", "--agent", "TensorCore 9",
                     says=['"x" of TensorCore 9 at that moment, as there is no such agent; none is there.'])

    def test_moments_and_refs_that_do_not_exist_are_refused(self):
        self.refused("state", *KERNEL, "--step", STEPS, says=[f"There is no step {STEPS}: matmul has {STEPS}"])
        self.refused("state", *KERNEL, "--copy", 1000, says=["There is no copy 1000"])
        self.refused("state", *KERNEL, "--event", 10**9, says=["There is no event 1000000000", "its end is number"])
        self.refused("state", *KERNEL, "--event", -1, says=["The moment has the number -1"])
        self.refused("state", *KERNEL, "--step", 1, "--ref", "z", says=['There is no ref "z"', "x, y or out"])
        self.refused("state", *KERNEL, says=["Exactly 1 option"])
        self.refused("state", *KERNEL, "--at", "sometime", says=['"sometime"'])


if __name__ == "__main__":
    unittest.main()
