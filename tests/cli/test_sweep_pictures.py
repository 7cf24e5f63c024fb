"""`sweep --screenshot`: the picture of a sweep shows the rows that the same command prints."""

import re

from support import FINDINGS, FINE, SMALL, Case, parameters, strict_json

FIXED = parameters({name: SMALL[name] for name in ("m", "n", "k", "bn")})
SWEEP = ("sweep", "matmul", *FIXED, "--over", "bm=16,48", "--over", "bk=128:384:*3")


class SweepPictures(Case):
    def picture(self, *arguments, code=FINE, name="s.svg"):
        self.output(*arguments, "--screenshot", name, code=code)
        return (self.folder / name).read_text(encoding="utf-8")

    def test_it_names_the_fastest_row_and_every_value(self):
        rows = strict_json(self.output(*SWEEP, "--chip", "v5e,v6e", "--json"))["rows"]
        best = next(row for row in rows if row["fastest"] == "yes")
        picture = self.picture(*SWEEP, "--chip", "v5e,v6e")
        words = "".join(re.findall(r">([^<]+)</text>", picture))
        name = f"bm={best['parameters']['bm']} bk={best['parameters']['bk']} on {best['chip']}"
        for word in ("Sweep of matmul", name, "8 runs", "bk · chip", "128 · tpu_v5e", "384 · tpu_v6e",
                     "predicted time"):
            self.assertIn(word, words)

    def test_size_and_theme(self):
        light = self.picture(*SWEEP, "--size", "500x360")
        self.assertIn('width="500"', light)
        self.assertIn('height="360"', light)
        self.assertNotEqual(light, self.picture(*SWEEP, "--size", "500x360", "--theme", "dark"))
        self.png("s.png", *SWEEP, "--screenshot", "s.png")

    def test_the_same_sweep_gives_the_same_picture(self):
        self.assertEqual(self.picture(*SWEEP), self.picture(*SWEEP))

    def test_what_does_not_fit_is_drawn_apart(self):
        picture = self.picture("sweep", "matmul", "-pm=8192", "-pn=8192", "-pk=8192", "-pbn=2048", "-pbk=2048",
                               "--over", "bm=512,8192", code=FINDINGS)
        self.assertIn(">not run<", picture)
        self.assertIn(">has findings<", picture)
        self.assertIn("of them not run", picture)

    def test_of_a_file_the_chips_are_the_columns(self):
        self.output("save", "matmul", *parameters(SMALL), "-o", "k.kernel.json")
        picture = self.picture("sweep", "k.kernel.json", "--chip", "v5e,v6e,v5p")
        for word in ("Sweep of k.kernel.json", "tpu_v5e", "tpu_v6e", "tpu_v5p", ">chip<"):
            self.assertIn(word, picture)

    def test_wrong_input_is_refused_before_anything_runs(self):
        self.refused(*SWEEP, "--screenshot", "s.txt", says=('"s.txt"', ".png or .svg"))
        self.refused(*SWEEP, "--screenshot", "s.svg", "--theme", "blue", says=('"blue"', "light"))
        self.refused(*SWEEP, "--screenshot", "s.svg", "--size", "10", says=('"10"',))
        self.refused(*SWEEP, "--theme", "dark", says=("--theme", "--screenshot"))
        self.refused(*SWEEP, "--screenshot", "s.svg", "--save", "s.svg", says=("s.svg", "twice"))
        self.refused(*SWEEP, "--screenshot", "missing/s.svg", says=("missing",))
