"""Wrong input of every kind: one sentence that names the thing, the value and what is expected; exit code 2; no file
made, changed or lost. Case.refused checks everything but the words."""

import copy
import json
import os
import stat
import unittest

from support import SMALL, Case, parameters, strict_json

NEEDED = ("--values", "needed")


class Names(Case):
    def test_unknown_names_are_answered_with_the_known_ones(self):
        self.refused("run", "nothing", says=('"nothing"', "matmul", "add_vectors"))
        self.refused("run", "matmul", "--chip", "v9", says=('"v9"', "tpu_v5e"))
        self.refused("describe", "nothing", says=('"nothing"', "matmul", "tpu_v5e"))
        self.refused("list", "things", says=('"things"', "kernels", "chips", "settings"))
        self.refused("run", "matmul", "-p", "q=1", says=('"q"', "matmul", "bm", "order"))
        self.refused("run", "matmul", "--values", "some", says=('"some"', "full", "needed"))

    def test_a_command_line_that_makes_no_sense_points_to_the_help(self):
        for arguments, words in (
            (("frobnicate",), "`pallascope` does not know frobnicate"),
            (("run",), "`pallascope run` needs kernel: see `pallascope list kernels`, or a kernel file"),
            (("list",), "`pallascope list` needs what: kernels, chips, lessons or settings"),
            (("run", "matmul", "--at"), "--at needs a value: "),
            (("run", "matmul", "--between", "1us"), "--between needs 2 values: "),
            (("run", "matmul", "--finding", "x"), "--finding cannot be x; expected a whole number: "),
            (("state", "matmul"), "--at,--event,--step"),
            (("describe",), "what"),
            (("report",), "trace-file"),
            (("run", "matmul", "more words", "no"), "`pallascope run` takes no further word such as more words no"),
            (("run", "matmul", "bm=64", "bn=64"), "`pallascope run` takes each parameter of a kernel behind a -p, as in -p bm=64;"),
            (("run", "matmul", "--frobnicate", "9"), "`pallascope run` does not know --frobnicate 9"),
            (("run", "matmul", "--trace"), "--trace"),
            (("run", "matmul", "--trace", ""), "--trace"),
            (("run", "matmul", "--screenshot", ""), "--screenshot"),
            (("run", "matmul", "--chip", ""), '--chip: "" is empty; expected a chip'),
            (("run", ""), 'kernel: "" is empty'),
            (("run", "matmul", "--between", "", "60%"), "--between"),
            (("sweep", "matmul", "--chip", ""), "--chip"),
            (("sweep", "matmul", "--over", "bm=256", "--save", ""), "--save"),
            (("sweep", "matmul", "--over", "bm=256", "--resume", ""), "--resume"),
            (("compare", "", "matmul"), "a trace"),
            (("compare", "matmul", "matmul", "--chip", ""), "--chip"),
            (("state", "matmul", "--at", "0", "--ref", "x", "--in", ""), "--in"),
            (("describe", ""), "what"),
            (("capture", "k.py:f", "-o", "k.pallascope", "--name", ""), "--name"),
            (("run", "matmul", "--view", "grid"), "--screenshot"),
        ):
            self.refused(*arguments, says=(words, "--help"))


    def test_a_kernel_to_compare_has_a_name_and_its_chip_too(self):
        self.refused("compare", " ", "matmul", says=('There is no file " "',))
        self.refused("compare", "matmul chip=", "matmul", says=('"matmul chip="', "chip=v5p"))

    def test_findings_are_counted_from_1(self):
        for number in ("0", "-1"):
            self.refused("run", "matmul", *NEEDED, "--view", "grid", "--screenshot", "a.svg", "--finding", number,
                         says=(f"no finding {number}", "from 1"))


class Ranges(Case):
    def rows(self, *over):
        return [row["parameters"] for row in
                strict_json(self.output("sweep", "matmul", *parameters({"m": 512, "n": 512, "k": 512}),
                                        "--over", *over, "--json"))["rows"]]

    def test_a_value_twice_is_run_once(self):
        self.assertEqual(self.rows("bm=256,128,256"), [{"bm": "256"}, {"bm": "128"}])

    def test_a_range_without_a_step_counts_by_one(self):
        self.assertEqual(self.rows("buffers=1:3"), [{"buffers": text} for text in "123"])
        self.refused("sweep", "matmul", "--over", "bm=4:1", says=('"bm=4:1"', "FIRST:LAST", "buffers=1:4"))
        self.assertIn("FIRST:LAST", self.output("sweep", "--help").replace("FIRST:LAST:", ""))

    def test_moments_are_in_order(self):
        for moments in (("20us", "10us"), ("60%", "5%"), ("60%", "1us")):
            self.refused("run", "matmul", *NEEDED, "--between", *moments, "--trace", "a.trace.json",
                         says=(f"--between {' '.join(moments)}", f"--between {' '.join(moments[::-1])}"))
        self.refused("run", "matmul", *NEEDED, "--between", "2s", "3s", "--trace", "a.trace.json",
                     says=("2s 3s", "behind the run"))


class Values(Case):
    def test_numbers_out_of_range_or_none_at_all(self):
        for name in ("m", "bk"):
            for value in (
                "0",
                "-1",
                "16777217",
                "99999999999999999999",
                "1e3",
                "1.5",
                "abc",
                "",
                "nan",
            ):
                self.refused(
                    "run",
                    "matmul",
                    "-p",
                    f"{name}={value}",
                    says=(name, f'"{value}"', "1 to 16777216"),
                )
        self.refused("run", "matmul", "-p", "buffers=17", says=('"17"', "1 to 16"))
        self.refused("run", "matmul_scratch", "-p", "buffers=3", says=('"3"', "1 to 2"))

    def test_assignments_that_are_none(self):
        for word in ("m", "=3", ""):
            self.refused("run", "matmul", "-p", word, says=(f'"{word}"', "NAME=VALUE"))
        self.refused("run", "matmul", "-p", "m=512", "-p", "m=256", says=("m", "twice", "keep one"))
        self.refused("compare", "matmul chip=v5e chip=v6e", "matmul", says=("chip", "twice", "keep one"))

    def test_settings(self):
        for command in (
            ("run", "matmul"),
            ("sweep", "matmul", "--over", "bm=256"),
            ("compare", "matmul", "matmul"),
        ):
            self.refused(*command, "--set", "speed=1", says=('"speed"', "detect_races"))
            self.refused(*command, "--set", "detect_races=1", says=("detect_races", '"1"', "true"))
            self.refused(*command, "--set", "detect_races", says=("detect_races", "NAME=VALUE"))
            self.refused(*command, "--set", "registers=0", says=("registers", '"0"', "a whole number"))
        twice = ("--set", "detect_races=true") * 2
        self.refused("run", "matmul", *twice, says=("detect_races", "twice"))
        for command in (("run", "matmul"), ("compare", "matmul", "matmul")):
            self.refused(*command, "--set", "registers=64", says=("registers", "a thread of a GPU"))
            self.refused(*command, "--set", "clock=boost", says=("clock", "GPUs", "TPU v5e"))

    def test_choices(self):
        self.refused("run", "matmul", "-p", "order=iij", says=('"iij"', "ijk", "kji"))
        self.refused("run", "matmul", "-p", "dtype=f64", says=('"f64"', "bf16"))

    def test_a_type_that_the_chip_lacks(self):
        chip = strict_json(self.output("describe", "tpu_v5e", "--json"))
        mxu = next(unit for unit in chip["units"] if "rates" in unit and "int8" in unit["rates"])
        del mxu["rates"]["bf16"]
        self.write("chip.json", chip)
        self.refused("run", "matmul", *NEEDED, "--chip", "chip.json", says=("bf16", "MXU", "TPU v5e", "int8"))

    def test_sizes_whose_product_overflows(self):
        huge = {name: 1 << 24 for name in ("m", "n", "k", "bm", "bn", "bk")}
        for values in (NEEDED, ("--values", "full")):
            self.refused("run", "matmul", *parameters(huge), *values, says=("HBM", "16 GiB"))
        self.refused(
            "run",
            "add_vectors",
            "-p",
            "shape=" + ",".join(["16777216"] * 4),
            says=("16777216", "2^40"),
        )
        self.refused("run", "add_vectors", "-p", "shape=16777216,65536", says=("HBM", "16 GiB"))

    def test_more_steps_than_a_run_records(self):
        # 8192 x 128 blocks of out by 1024 blocks of k are 2^30 steps.
        tiny = {"bm": 8, "bn": 128, "bk": 1, "m": 65536, "n": 16384, "k": 1024}
        self.refused("run", "matmul", *parameters(tiny), *NEEDED, says=("steps",))

    def test_a_block_that_cannot_end_on_a_tile(self):
        self.refused(
            "run", "matmul", *parameters({**SMALL, "bk": 96, "k": 200}), says=("96", "200", "128")
        )


class Chips(Case):
    def setUp(self):
        super().setUp()
        self.chip = strict_json(self.output("describe", "tpu_v5e", "--json"))

    def refused_chip(self, change, *says):
        chip = copy.deepcopy(self.chip)
        change(chip)
        self.write("chip.json", chip)
        for command in (
            ("run", "matmul", *NEEDED, "--chip", "chip.json"),
            ("describe", "chip.json"),
        ):
            self.refused(*command, says=("chip.json", *says))

    def test_missing_keys(self):
        for key in (
            "format",
            "version",
            "name",
            "memories",
            "links",
            "units",
            "agents",
            "constants",
        ):
            self.refused_chip(lambda chip, key=key: chip.pop(key), "/" + key, "missing")
        self.refused_chip(lambda chip: chip["links"][0].pop("bytes_per_s"), "/links/0/bytes_per_s")
        self.refused_chip(
            lambda chip: chip["links"][0]["bytes_per_s"].pop("source"),
            "/links/0/bytes_per_s/source",
        )

    def test_bandwidths_that_no_link_has(self):
        for value in (0, -1, 1e300, "fast", None, [], {}):
            self.refused_chip(
                lambda chip, value=value: chip["links"][0]["bytes_per_s"].update(value=value),
                "/links/0/bytes_per_s",
"expected",
            )

    def test_another_shape(self):
        for content in ([1], 3, "text", None, {}, {"links": 3}):
            self.write(
                "chip.json", content if not isinstance(content, str) else json.dumps(content)
            )
            self.refused("run", "matmul", "--chip", "chip.json", says=("chip.json",))
        self.refused_chip(lambda chip: chip.update(units={}), "/units")
        self.refused_chip(lambda chip: chip.update(memories={}), "/memories")

    def test_files_that_are_no_chip_files(self):
        sound = json.dumps(self.chip)
        for content in (
            "",
            " ",
            "hello",
            sound[: len(sound) // 2],
            "[" * 100000,
            bytes(range(256)),
        ):
            self.write("chip.json", content)
            self.refused("run", "matmul", "--chip", "chip.json", says=("chip.json",))
        self.refused("run", "matmul", "--chip", ".", says=("folder", "file"))


class Traces(Case):
    def setUp(self):
        super().setUp()
        self.output("run", "matmul", *parameters(SMALL), "--trace", "sound.trace.json")
        self.text = (self.folder / "sound.trace.json").read_text(encoding="utf-8")

    def refused_trace(self, content, *says):
        self.write("bad.trace.json", content)
        self.write("keep.trace.json", "old")
        self.refused(
            "report", "bad.trace.json", "--trace", "keep.trace.json", says=("bad.trace.json", *says)
        )

    def test_files_that_are_no_traces(self):
        self.refused("report", "none.trace.json", says=("none.trace.json",))
        self.refused("report", ".", says=("folder",))
        self.refused_trace("", "empty")
        self.refused_trace(self.text[: len(self.text) // 2], "cut short")
        self.refused_trace("[" * 100000, "nested too deeply")
        self.refused_trace("hello", "not JSON")
        self.refused_trace(bytes(range(256)), "not JSON")
        self.refused_trace(b"\x1f\x8b\x08\x00 no gzip")
        self.refused_trace({"traceEvents": []}, '"pallascope"')
        self.refused_trace({"traceEvents": [], "pallascope": 3}, "pallascope")

    def test_events_of_a_wrong_type_or_range_beside_a_sound_section(self):
        document = json.loads(self.text)
        at = next(i for i, e in enumerate(document["traceEvents"]) if e["ph"] == "X")
        for key, values in (
            ("ts", (-1, "0", None, 1e300, [])),
            ("dur", (-1, "0", None, 1e300, {})),
            ("pid", (-1, "1", 1.5, 2**40, None)),
            ("tid", (-1, "1", 1.5, 2**40, None)),
        ):
            for value in values:
                changed = copy.deepcopy(document)
                changed["traceEvents"][at][key] = value
                self.refused_trace(changed, f"/traceEvents/{at}/{key}")


class Places(Case):
    def test_places_that_cannot_be_written(self):
        (self.folder / "folder.svg").mkdir()
        (self.folder / "file").write_text("old", encoding="utf-8")
        run = ("run", "matmul", *NEEDED)
        self.refused(*run, "--trace", "folder.svg", says=("folder.svg", "folder"))
        self.refused(*run, "--trace", "none/a.trace.json", says=("none/a.trace.json", "none"))
        self.refused(*run, "--trace", "file/a.trace.json", says=("file/a.trace.json",))
        self.refused(*run, "--trace", "/dev/null", says=("/dev/null",))
        self.refused(*run, "--trace", "a" * 300 + ".trace.json")
        self.refused(
            *run, "--screenshot", "folder.svg", "--view", "grid", says=("folder.svg", "folder")
        )
        self.refused(*run, "--screenshot", "none/a.svg", "--view", "grid", says=("none",))

    @unittest.skipIf(os.geteuid() == 0, "root may write anywhere")
    def test_a_folder_without_leave_to_write(self):
        locked = self.folder / "locked"
        locked.mkdir()
        locked.chmod(stat.S_IRUSR | stat.S_IXUSR)
        self.refused(
            "run",
            "matmul",
            *NEEDED,
            "--trace",
            "locked/a.trace.json",
            says=("locked", "not writable"),
        )

    def test_wrong_input_loses_no_older_file(self):
        self.write("keep.trace.json", "old")
        self.write("keep.svg", "old")
        outputs = ("--trace", "keep.trace.json", "--screenshot", "keep.svg", "--view", "grid")
        self.refused("run", "matmul", "-p", "m=0", *outputs)
        self.refused("run", "matmul", "--chip", "none", *outputs)
        self.refused("run", "matmul", "-p", "dtype=int32", *outputs, says=("bf16, f32 or int8",))
        self.refused("run", "matmul", *NEEDED, *outputs, "--at", "never")


class Pictures(Case):
    def test_wrong_pictures(self):
        def picture(file, *arguments, says):
            self.refused("run", "matmul", *NEEDED, "--screenshot", file, *arguments, says=says)

        picture("a.jpg", "--view", "grid", says=("a.jpg", ".png", ".svg"))
        picture("a.svg", "--view", "grid", "--finding", "1", says=("finding 1", "the run has none"))
        picture("a.svg", says=("window", ".png"))
        picture("a.svg", "--view", "sky", says=('"sky"', "grid", "roofline"))
        for time in ("101%", "-1%", "abc", "5", "5 parsecs", "nan%", "inf", ""):
            picture("a.svg", "--view", "grid", "--at", time, says=(f'"{time}"', "60%", "us"))
        for size in ("1x1", "9000x9000", "800", "800x", "x600", "800x600x2", "axb", "-8x600"):
            picture("a.svg", "--view", "grid", "--size", size, says=(f'"{size}"', "1280x800"))
        picture("a.svg", "--view", "grid", "--theme", "blue", says=('"blue"', "light", "dark"))
        for device in ("1", "-1"):
            picture("a.svg", "--view", "grid", "--device", device, says=(device, "one, device 0"))
