"""`state --break`: the state where a breakpoint stops the run."""

import pathlib
import unittest

from support import FINDINGS, SMALL, Case, parameters, strict_json

KERNEL = ("matmul", *parameters(SMALL), "-p", "dtype=f32")
ATTENTION = pathlib.Path(__file__).resolve().parents[2] / "docs/examples/attention.kernel.json"


class Breakpoints(Case):
    def stop(self, *options, kernel=KERNEL, code=0):
        return strict_json(self.output("state", *kernel, *options, "--json", code=code))

    def test_a_grid_step_is_where_its_body_begins(self):
        stopped = self.stop("--break", "grid:1,0,2")
        self.assertEqual(stopped.pop("stopped_by"), ["grid:1,0,2"])
        self.assertEqual(stopped.pop("stops"), 1)
        self.assertEqual(stopped.pop("stopped_agent"), "TensorCore 0")
        self.assertEqual(stopped, strict_json(self.output("state", *KERNEL, "--step", 8, "--json")))

    def test_a_line_is_where_its_first_operation_comes_next(self):
        # `lt` is the first operation of line 14; what line 13 stores is there, and nothing after it is.
        (agent,) = self.stop("--break", "line:attention.py:14", kernel=(ATTENTION,))["agents"]
        self.assertIn(" = lt ", agent["next"])
        # Of several agents it is said which one has come there, and it has not gone on behind the line.
        kernel = ("hopper_matmul", *(word for axis in "mnk" for word in ("-p", f"{axis}=512")))
        for hit in (1, 2, 3):
            stops = ("--break", "line:hopper_matmul.cpp:297", "--hit", hit)
            stopped = self.stop(*stops, "--values", "needed", kernel=kernel)
            (agent,) = [one for one in stopped["agents"] if one["agent"] == stopped["stopped_agent"]]
            self.assertEqual(agent["time_ps"], stopped["time_ps"])
            self.assertIn("broadcast_in_dim", agent["next"])
            self.assertIn(f" on {agent['agent']}", self.output("state", *kernel, *stops).splitlines()[0])

    def test_stops_are_numbered_in_both_directions(self):
        stops = ("--break", "line:matmul.cpp:24")
        times = [self.stop(*stops, "--hit", hit)["time_ps"] for hit in (1, 2, 3)]
        self.assertEqual(times, sorted(set(times)))
        back = self.stop(*stops, "--back", "--from", f"{times[2]}ps", "--hit", 2)
        self.assertEqual(back["time_ps"], times[0])
        after = self.stop(*stops, "--from", f"{times[0]}ps")
        self.assertEqual(after["time_ps"], times[1])
        self.assertGreater(self.stop(*stops, "--back")["time_ps"], times[2])

    def test_of_several_the_nearest_stops_the_run(self):
        both = self.stop("--break", "grid:1,0,0", "--break", "grid:0,1,0")
        self.assertEqual(both["stopped_by"], ["grid:0,1,0"])
        self.assertIn("stopped by grid:1,0,0, stop 2\n",
                      self.output("state", *KERNEL, "--break", "grid:1,0,0", "--break", "grid:0,1,0", "--hit", 2))
        same = self.stop("--break", "grid:1,0,0", "--break", "block:x(1,0)", "--from", "0",
                         "--hit", 2)
        self.assertEqual(same["stopped_by"], ["grid:1,0,0", "block:x(1,0)"])

    def test_a_nan_and_a_condition_are_found_in_the_values(self):
        nan = self.stop("--break", "first:nan", kernel=(ATTENTION,))
        self.assertEqual(nan["stopped_by"], ["first:nan"])
        element = ("--ref", "scores[0,3]")
        below = self.stop("--break", "when:scores[0,3]<-5", "--hit", 2, *element, kernel=(ATTENTION,))
        (agent,) = below["agents"]
        self.assertLess(agent["refs"][0]["element"]["value"], -5)
        landed = self.stop("--break", "when:weights[40,3]>0", "--ref", "weights[40,3]", kernel=(ATTENTION,))
        self.assertGreater(landed["agents"][0]["refs"][0]["element"]["value"], 0)
        back = self.stop("--break", "when:scores[0,3]<-5", "--back", *element, kernel=(ATTENTION,))
        self.assertEqual(back["time_ps"], below["time_ps"])

    def test_a_run_that_nothing_stops_goes_to_its_end(self):
        end = self.stop("--break", "first:finding", code=FINDINGS)
        self.assertEqual((end["stopped_by"], end["stops"], end["at_end"]), ([], 0, True))
        self.assertIn("no breakpoint stops the run on the way to its end\nevent ",
                      self.output("state", *KERNEL, "--break", "first:finding", code=FINDINGS))
        self.assertIn("there is only 1 stop on the way to the end of the run\n",
                      self.output("state", *KERNEL, "--break", "grid:1,0,0", "--hit", 2, code=FINDINGS))
        start = self.stop("--break", "first:finding", "--back", code=FINDINGS)
        self.assertEqual(start["event"], 0)

    def test_their_stops_are_marked_in_pictures(self):
        run = ("run", *KERNEL, "--screenshot", "a.svg", "--view", "timeline")
        pictures = []
        for stops in ((), ("--break", "grid:0,0,1"), ("--break", "grid:0,0,1", "--break", "block:x(0,1)")):
            self.output(*run, *stops)
            pictures.append((self.folder / "a.svg").read_text(encoding="utf-8").count("<polygon"))
        self.assertEqual(pictures[1], pictures[0] + 1)
        self.assertGreater(pictures[2], pictures[1])
        self.refused(*run, "--break", "first:nan", says=["first:nan", "state --break"])
        self.refused(*run, "--break", "grid:9,0,0", says=["There is no grid step (9,0,0)"])

    def test_what_is_wrong_is_refused(self):
        for text, says in (("matmul.cpp:24", "expected line:kernel.py:42"), ("line:0", "a line from 1"),
                           ("line:other.py:3", 'No file "other.py" has lines that run'),
                           ("line:matmul.cpp:1", "Nothing that takes time runs at line 1"),
                           ("grid:9,0,0", "There is no grid step (9,0,0); expected one below (3,2,3)"),
                           ("grid:1", "There is no grid step (1)"), ("block:z(0)", 'no array "z"'),
                           ("block:x(9,0)", "x has (3,3) blocks"), ("first:wait", "first:stall"),
                           ("when:none[0]>1", 'There is no ref "none"'),
                           ("when:x[99,0]>1", "There is no element x[99,0]"), ("when:x[0,0]", "one of > >=")):
            self.refused("state", *KERNEL, "--break", text, says=[says])
        self.refused("state", *KERNEL, "--break", "first:stall", "--hit", 0, says=["--hit is 0"])
        self.refused("state", *KERNEL, "--break", "first:stall", "--step", 0, says=["--step"])
        self.refused("state", *KERNEL, "--step", 0, "--back", says=["--break"])

    def test_what_is_not_known_is_said(self):
        needed = ("state", *KERNEL, "--values", "needed", "--break")
        self.refused(*needed, "first:nan", says=["The first NaN is not known", "full values"])
        self.refused(*needed, "when:out[0,0]>1", says=["What out holds is not known"])
        self.assertIn("stopped by grid:1,0,0\n", self.output(*needed, "grid:1,0,0"))


if __name__ == "__main__":
    unittest.main()
