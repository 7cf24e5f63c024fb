"""`lesson`: what the lessons state is so, tasks are tried, pictures show them, and lessons of one's own are read."""

import json
import pathlib
import unittest

from support import FINDINGS, FINE, SMALL, Case, strict_json

ROOT = pathlib.Path(__file__).resolve().parents[2]


def own(**more):
    step = {
        "title": "one",
        "text": "It has {steps} steps and takes {time_s}.",
        "run": {"kernel": "matmul", "chip": "tpu_v5e", "parameters": SMALL},
        **more,
    }
    return {"format": "pallascope.lesson", "version": 1, "title": "Own", "about": "Of one's own.", "steps": [step]}


class Lessons(Case):
    def lesson(self, **more):
        return self.write("own.json", own(**more))

    def names(self):
        return [line.split()[0] for line in self.output("list", "lessons").splitlines()]

    def test_what_they_state_is_so_and_their_answers_are_right(self):
        names = self.names()
        self.assertEqual(names, ["roofline", "tiling", "pipelining", "hopper"])
        for name in names:
            with self.subTest(name):
                self.assertIn("all that is stated is so", self.output("lesson", name, "--check"))

    def test_the_example_of_the_document_is_a_lesson(self):
        document = (ROOT / "docs/lesson_format.md").read_text(encoding="utf-8")
        self.write("example.json", document.split("```json\n")[1].split("```")[0])
        self.assertIn("2 steps, all that is stated is so", self.output("lesson", "example.json", "--check"))

    def test_figures_are_those_of_the_runs(self):
        lesson = strict_json(self.output("lesson", self.lesson(), "--json"))
        report = self.report("matmul", SMALL, "--values", "needed")
        self.assertIn(f"It has {report['steps']} steps", lesson["steps"][0]["text"])
        text = self.output("lesson", "own.json")
        self.assertTrue(text.startswith("Own: Of one's own.\n\n1 of 1  one\n"), text)
        self.assertIn(f"It has {report['steps']} steps and takes ", text)
        command = text.splitlines()[3].split()[1:]
        self.assertEqual(strict_json(self.output(*command, "--json"))["time_s"], report["time_s"])

    def test_lines_are_short_and_steps_are_chosen(self):
        whole = self.output("lesson", "tiling")
        prose = [line for line in whole.splitlines() if not line.startswith(" ")]  # no commands
        self.assertLessEqual(max(map(len, prose)), 100)
        third = self.output("lesson", "tiling", "--step", "3")
        count = len(strict_json(self.output("lesson", "tiling", "--json"))["steps"])
        self.assertIn(f"3 of {count}", third)
        self.assertNotIn(f"2 of {count}", third)
        self.assertIn(third.split("\n\n", 1)[1].strip(), whole)  # with the figures of the step before, too

    def test_values_are_tried_on_a_task(self):
        def tried(*words):
            result = self.call("lesson", "roofline", "--step", "4", *words)
            return result.returncode, result.stdout

        self.assertEqual(tried("-p", "bm=1024", "-p", "bn=1024")[0], FINE)
        code, text = tried("-p", "bm=256")
        self.assertEqual((code, text.splitlines()[0]), (FINDINGS, "Not yet"))
        code, text = tried("-p", "bm=1024", "-p", "bn=1024", "-p", "n=2048")
        self.assertEqual((code, text.splitlines()[0]), (FINDINGS, "Not yet: n is 2048 here; the task keeps it at 4096."))
        # Blocks over the edge of the arrays leave undefined elements in the sum, which times alone do not show.
        code, text = tried("-p", "bm=1024", "-p", "bn=1024", "-p", "bk=768")
        self.assertEqual((code, text.splitlines()[0]), (FINDINGS, "Not yet"))
        code, text = tried("-p", "chip=tpu_v6e")
        self.assertIn("The chip is tpu_v6e here; the task is about tpu_v5e.", text)
        found = strict_json(tried("-p", "bm=1024", "-p", "bn=1024", "--json")[1])
        self.assertTrue(found["reached"])
        answer = self.output("lesson", "roofline", "--step", "4", "--answer").splitlines()[-1]
        values = answer.removeprefix("Answer: ").split(", ")
        self.assertEqual(tried(*(word for value in values for word in ("-p", value)))[0], FINE)

    def test_what_is_not_so_is_said(self):
        file = self.lesson(holds=["steps>1000000"])
        result = self.call("lesson", file)
        self.assertEqual(result.returncode, FINDINGS)
        self.assertIn("This is not so here:\n  no  steps>1000000 (it is ", result.stdout)
        task = {"text": "t", "until": ["steps>1000000"], "vary": ["bm"], "answer": {"bm": 8}}
        wrong = self.call("lesson", self.lesson(task=task), "--check")
        self.assertEqual(wrong.returncode, FINDINGS)
        self.assertIn("step 1: steps>1000000 is not so with the answer bm=8: it is ", wrong.stdout)
        task["until"] = ["steps>1"]
        done = self.call("lesson", self.lesson(task=task), "--check")
        self.assertEqual(done.returncode, FINDINGS)
        self.assertIn("step 1: its task is reached before anything changes", done.stdout)

    def test_chips_are_names_or_files_beside_the_lesson(self):
        (self.folder / "course").mkdir()
        chip = json.loads(self.output("describe", "v5e", "--json"))
        chip["name"] = "slow"
        self.write("course/mine.json", chip)
        run = {"kernel": "matmul", "parameters": SMALL}
        for chip, said in (("mine.json", "--chip course/mine.json"), ("v5e", "--chip tpu_v5e"), (None, "--chip tpu_v5e")):
            with self.subTest(chip):
                self.write("course/own.json", own(run={**run, **({"chip": chip} if chip else {})}, text="{chip}"))
                self.assertIn(said, self.output("lesson", "course/own.json"))

    def test_kernels_of_a_lesson_lie_beside_it(self):
        (self.folder / "course").mkdir()
        self.output("save", "add_vectors", "-p", "shape=64,128", "-o", "course/add.kernel.json")
        lesson = own(run={"kernel": "add.kernel.json"}, text="{steps}")
        self.write("course/own.json", lesson)
        self.assertIn("pallascope run course/add.kernel.json", self.output("lesson", "course/own.json"))

    def test_a_picture_shows_the_window_with_the_step(self):
        step = ("lesson", "tiling", "--size", "1000x700", "--step")
        second = self.png("a.png", *step, "2", "--screenshot", "a.png")
        third = self.png("b.png", *step, "3", "--screenshot", "b.png", "--theme", "dark")
        self.assertTrue(second is None or second != third)

    def test_wrong_input_is_refused_in_a_sentence(self):
        cases = [
            (("lesson", "nothing"), 'There is no lesson "nothing"; expected roofline, tiling, pipelining, hopper or'),
            (("lesson", "tiling", "--step", "99"), "--step is 99; expected 1 to "),
            (("lesson", "tiling", "--check", "--json"), "--json excludes --check"),
            (("lesson", "tiling", "--step", "1", "-p", "bm=8"), "Step 1 of tiling has no task to try values on; these"),
            (("lesson", self.lesson(look="grit")), 'own.json: steps[0].look is "grit"; expected kernel, grid'),
            (("lesson", "tiling", "--step", "1", "--screenshot", "a.svg"), "The whole window is saved as .png only"),
            (("list", "lesson"), 'Cannot list "lesson"; expected kernels, chips, lessons or settings.'),
        ]
        for words, said in cases:
            with self.subTest(words):
                self.refused(*words, says=[said])
        for more, said in (
            ({"text": "{no_such_field}"}, 'own.json: steps[0]: The report has no field "no_such_field"'),
            ({"text": "{kernel/time_s}"}, 'steps[0]: {kernel/time_s} is no ratio: kernel is "matmul"'),
            ({"text": "{time_s/hbm_read_bytes}"}, "is no ratio"),
            ({"run": {"kernel": "matmul", "parameters": {"bm": 0}}}, "own.json: steps[0]: The parameter bm"),
            ({"holds": ["time_s>1kg"]}, "such as 70us, with a unit or without: ps, ns, us, ms or s."),
            (
                {"task": {"text": "t", "until": ["steps>1"], "vary": ["bnn"], "answer": {}}},
                'steps[0].task.vary names "bnn", which is no parameter of matmul; expected chip, m, n,',
            ),
        ):
            with self.subTest(more):
                self.refused("lesson", self.lesson(**more), says=[said])
        self.write("not.json", {"format": "x"})
        self.refused("lesson", "not.json", says=["not.json: it is no lesson"])


if __name__ == "__main__":
    unittest.main()
