"""Files that come from anywhere, and files that are written: whole or not at all, by one writer."""

import json
import os
import resource
import socket
import subprocess
import unittest
import zipfile

from support import FINE, PROGRAM, SMALL, WRONG_INPUT, Case, parameters

MATMUL = ("matmul", *parameters(SMALL))
RUN = ("run", *MATMUL, "--values", "needed")
SWEEP = ("sweep", "matmul", "--over", "bm=256,512")
MOST_KIBIBYTES = 1 << 20

# Every command that writes a file.
WRITERS = (
    (*RUN, "--trace", "o.trace.json"),
    (*RUN, "--trace", "o.trace.json.gz"),
    ("run", *MATMUL, "--results", "o.npz"),
    (*RUN, "--view", "grid", "--screenshot", "o.svg"),
    ("save", *MATMUL, "-o", "o.kernel.json"),
    ("save", *MATMUL, "-o", "o.pallascope"),
    (*SWEEP, "--save", "o.json"),
    (*SWEEP, "--screenshot", "p.svg"),
)


class Reading(Case):
    def setUp(self):
        super().setUp()
        self.output("save", *MATMUL, "-o", "k.kernel.json")
        self.output("save", *MATMUL, "-o", "k.pallascope")
        self.write("c.json", self.output("describe", "v5e", "--json"))
        for name in ("t.trace.json", "t.trace.json.gz"):
            self.output(*RUN, "--trace", name)
        self.output(*SWEEP, "--save", "s.json")

    def test_a_device_without_an_end_is_read_up_to_a_limit(self):
        for arguments in (("describe", "{}"), ("run", "{}"), ("run", "matmul", "--chip", "{}"),
                          (*SWEEP, "--resume", "{}", "--save", "o.json"), ("report", "{}"),
                          ("run", *MATMUL, "--inputs", "{}"), ("validate", "--measured", "{}"),
                          ("validate", "--expected", "{}"), ("compare", "{}", "matmul")):
            self.refused(*(word.replace("{}", "/dev/zero") for word in arguments),
                         says=('"/dev/zero"',))
        peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
        self.assertLess(peak, MOST_KIBIBYTES)

    def test_a_file_over_the_limit_is_refused_unread(self):
        with open(self.folder / "large.json", "wb") as file:
            file.truncate((64 << 20) + 1)
        for arguments in (("describe", "large.json"), ("run", "matmul", "--chip", "large.json"),
                          (*SWEEP, "--resume", "large.json")):
            self.refused(*arguments, says=('"large.json"', "64 MiB"))
        with open(self.folder / "large.kernel.json", "wb") as file:
            file.truncate((8 << 20) + 1)
        self.refused("run", "large.kernel.json", says=('"large.kernel.json"', "8 MiB"))

    def test_what_comes_through_a_pipe_is_read_as_a_file_is(self):
        for file, arguments in (("k.kernel.json", ("describe", "{}")),
                                ("k.pallascope", ("describe", "{}")),
                                ("c.json", ("describe", "{}", "--json")),
                                ("k.kernel.json", ("print", "{}")),
                                ("k.pallascope", ("run", "{}")),
                                ("k.kernel.json", ("sweep", "{}", "--chip", "v5e,v6e")),
                                ("k.pallascope", ("sweep", "{}", "--json")),
                                ("c.json", ("run", *MATMUL, "--chip", "{}")),
                                ("t.trace.json", ("report", "{}")),
                                ("t.trace.json.gz", ("report", "{}")),
                                ("s.json", (*SWEEP, "--resume", "{}", "--save", "o.json"))):
            def put(place):
                return [word.replace("{}", str(place)) for word in arguments]

            direct = self.output(*put(file)).replace(file, "FILE")
            text = (self.folder / file).read_bytes()
            piped = subprocess.run([PROGRAM, *put("/dev/stdin")], input=text, cwd=self.folder,
                                   capture_output=True, timeout=60, check=False)
            self.assertEqual(piped.returncode, FINE, (file, piped.stderr))
            self.assertEqual(piped.stdout.decode().replace("/dev/stdin", "FILE"), direct)
        piped = subprocess.run([PROGRAM, *SWEEP, "--resume", "/dev/stdin"], cwd=self.folder,
                               input=b"", capture_output=True, timeout=60, check=False)
        self.assertEqual(piped.returncode, WRONG_INPUT)

    def test_a_trace_is_called_one_where_something_else_is_right(self):
        for name in ("t.trace.json", "t.trace.json.gz"):
            (self.folder / "renamed").write_bytes((self.folder / name).read_bytes())
            for trace in (name, "renamed"):
                for arguments in (("run", trace), ("describe", trace), ("print", trace),
                                  ("sweep", trace), ("run", "matmul", "--chip", trace)):
                    self.refused(*arguments, says=(f'"{trace}" is a trace', "pallascope report"))

    def test_nothing_of_a_name_is_no_file(self):
        self.refused("compare", "none", "matmul", says=('There is no file "none"',))
        self.refused("compare", "matmul", "none bm=3", says=('There is no file "none bm=3"',))

    def test_a_name_twice_in_an_object(self):
        for file, arguments, pair, place in (
                ("k.kernel.json", ("run", "{}"), '"name": "matmul"', "/name"),
                ("c.json", ("run", "matmul", "--chip", "{}"), '"name": "tpu_v5e"', "/name"),
                ("s.json", (*SWEEP, "--resume", "{}"), '"steps": 512', "/rows/1/steps"),
                ("t.trace.json", ("report", "{}"), '"kernel":"matmul"', "/kernel")):
            text = (self.folder / file).read_text(encoding="utf-8")
            at = text.rindex(pair)
            changed = text[:at] + pair + "," + text[at:]
            self.assertEqual(json.loads(changed), json.loads(text))
            self.write("twice" + file, changed)
            self.refused(*(word.replace("{}", "twice" + file) for word in arguments),
                         says=("twice" + file, place, "twice; expected it once"))

    def test_inputs_that_an_archive_leaves_out_are_named(self):
        self.output("run", "add_vectors", "--results", "all.npz")
        with zipfile.ZipFile(self.folder / "all.npz") as made, zipfile.ZipFile(self.folder / "y.npz", "w") as archive:
            archive.writestr("arg1.npy", made.read("result0.npy"))
        for command in (("run", "add_vectors"), ("save", "add_vectors", "-o", "a.pallascope"),
                        ("state", "add_vectors", "--at", "50%"), ("history", "add_vectors", "y[0]")):
            result = self.call(*command, "--inputs", "y.npz")
            self.assertEqual((result.returncode, result.stderr),
                             (FINE, "y.npz has no arg0 (x): made-up numbers stand in.\n"))
        self.assertEqual(self.call("run", "a.pallascope", "--inputs", "y.npz").stderr,
                         "y.npz has no arg0 (x): what the kernel file holds stands in.\n")

    def test_an_archive_without_members_holds_no_inputs(self):
        self.write("empty.npz", b"PK\x05\x06" + bytes(18))
        self.refused("run", *MATMUL, "--inputs", "empty.npz",
                     says=("empty.npz", "empty archive", "arg0 to arg1"))


class Writing(Case):
    def limited(self, *arguments):
        line = ["bash", "-c", 'ulimit -f 1; "$@"', "bash", PROGRAM, *arguments]
        return subprocess.run(line, capture_output=True, text=True, cwd=self.folder, timeout=60,
                              check=False)

    def test_a_file_over_the_limit_of_the_shell_leaves_nothing(self):
        for arguments in WRITERS:
            name = arguments[-1]
            done = self.limited(*arguments)
            self.assertEqual((done.returncode, done.stdout, done.stderr),
                             (WRONG_INPUT, "", f'Cannot write "{name}": File too large.\n'))
            self.assertEqual(self.files(), {}, arguments)

    def test_a_link_is_kept_and_what_it_points_to_written(self):
        (self.folder / "there").mkdir()
        for arguments in WRITERS:
            link, target = self.folder / arguments[-1], self.folder / "there" / arguments[-1]
            link.symlink_to(target.relative_to(self.folder))
            for _ in ("not there yet", "there"):
                self.assertEqual(self.call(*arguments).returncode, FINE, arguments)
                self.assertTrue(link.is_symlink() and target.is_file(), arguments)
            round_and_round = self.folder / ("round-" + arguments[-1])
            round_and_round.symlink_to(round_and_round.name)
            self.assertEqual(self.call(*arguments[:-1], round_and_round.name).returncode,
                             WRONG_INPUT, arguments)

    def test_what_a_killed_writer_left_is_removed_by_the_next(self):
        host = socket.gethostname()
        gone = subprocess.run(["sh", "-c", "echo $$"], capture_output=True, text=True, check=True)
        dead, living = int(gone.stdout), os.getpid()
        for arguments in WRITERS:
            name = arguments[-1]
            left = [f".{name}.{host}-{dead}-0.part", f".{name}.{host}-{dead}-7.part.Ab12Cd"]
            kept = [f".{name}.{host}-{living}-0.part", f".{name}.elsewhere-{dead}-0.part",
                    f".other.{host}-{dead}-0.part", f".{name}.{host}-{dead}.txt"]
            for file in left + kept:
                self.write(file, "")
            self.assertEqual(self.call(*arguments).returncode, FINE, arguments)
            self.assertEqual(set(self.files()), {name, *kept}, arguments)
            for file in [name, *kept]:
                (self.folder / file).unlink()

    def test_several_writers_of_one_file_at_once(self):
        for arguments in WRITERS:
            together = [subprocess.Popen([PROGRAM, *arguments], cwd=self.folder,
                                         stdout=subprocess.DEVNULL) for _ in range(6)]
            self.assertEqual([writer.wait(60) for writer in together], [FINE] * 6, arguments)
            self.assertEqual(list(self.files()), [arguments[-1]])
            (self.folder / arguments[-1]).unlink()

    def test_where_the_program_prints_no_file_is_written(self):
        (self.folder / "link").symlink_to("/dev/stdout")
        for arguments in ((*RUN, "--trace"), ("run", *MATMUL, "--results"), (*SWEEP, "--save"),
                          ("report", "t.trace.json", "--trace"), ("validate", "--csv"),
                          ("validate", "--write-expected")):
            for place in ("/dev/stdout", "/dev/fd/1", "/proc/self/fd/1", "link", "printed"):
                self.write("printed", "before\n")
                with open(self.folder / "printed", "ab") as printed:
                    result = subprocess.run([PROGRAM, *arguments, place], cwd=self.folder,
                                            stdout=printed, stderr=subprocess.PIPE, text=True,
                                            encoding="utf-8", timeout=60, check=False)
                self.assertEqual(result.returncode, WRONG_INPUT, (arguments, place))
                self.assertRegex(result.stderr, f'^Cannot write "{place}": what is printed goes there; [^\n]*\n$')
                self.assertEqual((self.folder / "printed").read_text(encoding="utf-8"), "before\n")
            with open(self.folder / "printed", "r+b") as opened:  # open, but not printed to
                result = subprocess.run([PROGRAM, *arguments, "/dev/stdin"], cwd=self.folder, stdin=opened,
                                        capture_output=True, text=True, timeout=60, check=False)
            self.assertEqual((result.returncode, result.stdout), (WRONG_INPUT, ""))
            self.assertIn("it is not an ordinary file", result.stderr)
            self.refused(*arguments, "-", says=('Cannot write "-"', "./-"))

    def test_what_is_read_or_written_already_is_not_written(self):
        self.output("save", *MATMUL, "-o", "k.kernel.json")
        self.write("c.json", self.output("describe", "v5e", "--json"))
        (self.folder / "link").symlink_to("k.kernel.json")
        for arguments, says in (
                (("run", "k.kernel.json", "--trace", "k.kernel.json"), "is read by the same command"),
                (("run", "k.kernel.json", "--trace", "./k.kernel.json"), "is read by the same command"),
                (("run", "k.kernel.json", "--trace", "link"), "is read by the same command"),
                (("run", *MATMUL, "--chip", "c.json", "--results", "c.json"), "is read by the same command"),
                (("sweep", "k.kernel.json", "--save", "link"), "is read by the same command"),
                ((*SWEEP, "--chip", "c.json", "--save", "c.json"), "is read by the same command"),
                ((*RUN, "--trace", "a.svg", "--view", "grid", "--screenshot", "./a.svg"), "twice"),
                (("run", *MATMUL, "--trace", "a.npz", "--results", "a.npz"), "twice"),
                (("validate", "--csv", "a.svg", "--scatter", "a.svg"), "twice")):
            self.refused(*arguments, says=(says,))
        self.output(*SWEEP, "--save", "s.json")
        self.output(*SWEEP, "--resume", "s.json", "--save", "s.json")  # the file that it goes on with


if __name__ == "__main__":
    unittest.main()
