#!/usr/bin/env python3
"""Compares what two builds of the program give: traces, reports and pictures, byte for byte.

    compare_builds.py BEFORE AFTER [KERNEL_FILE ...] [--but-words] [--by-key] [--chips FOLDER]
                      [--pictures SETTING ...] [--jobs N]

Each kernel, built in or in a file, runs under every setting below with both programs. Their exit
codes, what they print, the JSON report, the saved trace and a picture of each view must be the
same. With --but-words sentences, labels and places in sources are taken out first; the numbers,
names, events and findings that are left must still be equal. With --chips both run on the chip files
of that folder, whatever is built in. Pictures are made under all settings, or those named. Prints a
line for each difference and exits with 1 if there is any. With --by-key the differences are summed
up instead, for builds that are far apart: which keys of a report or trace one of them alone writes,
and which have other values, in how many outputs and with an example.
"""
import argparse
import collections
import concurrent.futures
import itertools
import json
import pathlib
import re
import subprocess
import sys
import tempfile

SETTINGS = {  # the chip and further options
    "full": ("v5e", ()),
    "needed": ("v5e", ("--values", "needed")),
    "v6e": ("v6e", ("--values", "needed")),
    "v7x": ("v7x", ()),
    "on_wait": ("v5e", ("--set", "dma_execution_mode=on_wait")),
    "zeros": ("v5e", ("--set", "uninitialized_memory=zero", "--set", "out_of_bounds_reads=uninitialized")),
}
VIEWS = ("devices", "grid", "kernel", "memory", "program", "roofline", "source", "timeline", "verdict")
# Keys of sentences and source locations, which --but-words removes from JSON wherever they stand.
WORDS = {"sentence", "message", "text", "title", "label", "advice", "verdict", "cause", "path", "file", "line",
         "lines", "source", "sources", "location", "locations", "description"}
# The wall time and the version depend on the build, not on the run.
OWN = {"wall_s", "wall_all_s", "version", "build", "pallascope_version"}


def without(value, keys):
    if isinstance(value, dict):
        return {name: without(inner, keys) for name, inner in value.items() if name not in keys}
    if isinstance(value, list):
        return [without(inner, keys) for inner in value]
    return value


def normal_json(text, but_words):
    try:
        found = json.loads(text)
    except ValueError:
        return text
    return json.dumps(without(found, OWN | WORDS if but_words else OWN), sort_keys=False)


def normal_svg(text, but_words):
    return re.sub(r"<text[^>]*>.*?</text>", "", text, flags=re.S) if but_words else text


def parted(before, after, path):
    """Yields where two values of JSON differ: the path of keys, how, and both values in short."""
    if isinstance(before, dict) and isinstance(after, dict):
        for key in [*before, *(key for key in after if key not in before)]:
            if key in before and key in after:
                yield from parted(before[key], after[key], f"{path}.{key}")
            else:
                yield f"{path}.{key}", "before only" if key in before else "after only", ""
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for one, other in zip(before, after):
            yield from parted(one, other, f"{path}[]")
    elif isinstance(before, list) and isinstance(after, list):
        yield path, "other length", f"{len(before)} | {len(after)}"
    elif before != after:
        yield path, "other value", f"{str(before)[:60]!r} | {str(after)[:60]!r}"


class Sums:
    """Differences by what they are of: in how many outputs, and the first example."""

    def __init__(self):
        self.outputs = collections.Counter()
        self.examples = {}

    def add(self, where, name, before, after):
        try:
            found = list(parted(json.loads(before), json.loads(after), name))
        except ValueError:
            found = [(name, "other text", difference(before, after) if len(before) < 2000 else "")]
        for kind in {one[:2]: one for one in found}.values():
            self.outputs[kind[:2]] += 1
            self.examples.setdefault(kind[:2], f"{where}: {kind[2]}")

    def print(self):
        for (path, how), count in sorted(self.outputs.items()):
            print(f"{count:6} outputs, {how}: {path} ({self.examples[path, how]})")


def outputs(program, kernel, options, folder, but_words, pictures):
    """What a run with these options gives, by name."""
    trace = folder / "run.trace.json"
    run = subprocess.run([program, "run", *kernel, *options, "--trace", trace, "--json"], capture_output=True, text=True)
    found = {"exit code": str(run.returncode), "report": normal_json(run.stdout, but_words)}
    if not but_words:
        found["stderr"] = run.stderr
    if not trace.exists():
        return found
    found["trace"] = normal_json(trace.read_text(), but_words)
    for view, at in itertools.product(VIEWS, ("35%", "100%") if pictures else ()):
        picture = folder / "picture.svg"
        drawn = subprocess.run([program, "report", trace, "--screenshot", picture, "--view", view, "--at", at,
                                "--size", "900x600"], capture_output=True, text=True)
        found[f"{view} at {at}"] = normal_svg(picture.read_text(), but_words) if drawn.returncode in (0, 1) \
            and picture.exists() else f"exit code {drawn.returncode}: {drawn.stderr}"
        picture.unlink(missing_ok=True)
    return found


def difference(before, after):
    """Where two texts part."""
    at = next((place for place, (a, b) in enumerate(zip(before, after)) if a != b), min(len(before), len(after)))
    start = max(0, at - 60)
    return f"...{before[start:at + 60]!r} | ...{after[start:at + 60]!r}"


def compare(arguments, kernel, setting, sums):
    found = []
    chip, options = SETTINGS[setting]
    options = ("--chip", f"{arguments.chips}/tpu_{chip}.json" if arguments.chips else chip, *options)
    with tempfile.TemporaryDirectory() as scratch:
        both = []
        for program in (arguments.before, arguments.after):
            # Both use the same folder, one after the other, so that paths in sentences are the same.
            both.append(outputs(program, kernel, options, pathlib.Path(scratch), arguments.but_words,
                                setting in arguments.pictures))
            for left in pathlib.Path(scratch).iterdir():
                left.unlink()
        before, after = both
        for name in sorted(before.keys() | after.keys()):
            if before.get(name) != after.get(name):
                texts = before.get(name, ""), after.get(name, "")
                found.append(f"{' '.join(kernel)}, {setting}, {name}: " + difference(*texts))
                sums.add(f"{kernel[0]}, {setting}", name, *texts)
    return len(before), found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("before")
    parser.add_argument("after")
    parser.add_argument("files", nargs="*")
    parser.add_argument("--but-words", action="store_true")
    parser.add_argument("--by-key", action="store_true")
    parser.add_argument("--pictures", nargs="*", choices=SETTINGS, default=list(SETTINGS))
    parser.add_argument("--chips")
    parser.add_argument("--jobs", type=int, default=2)
    arguments = parser.parse_args()
    listed = subprocess.run([arguments.before, "list", "kernels"], capture_output=True, text=True, check=True).stdout
    kernels = [[line.split()[0]] for line in listed.splitlines() if line.strip()]
    for kernel in kernels:
        if kernel[0].startswith("matmul"):
            kernel += ["-p", "m=1024", "-p", "n=768", "-p", "k=1024", "-p", "bm=256", "-p", "bn=256", "-p", "bk=256"]
    kernels += [[file] for file in arguments.files]
    total, differences, sums = 0, [], Sums()
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        jobs = [pool.submit(compare, arguments, kernel, setting, sums) for kernel in kernels for setting in SETTINGS]
        for job in concurrent.futures.as_completed(jobs):
            count, found = job.result()
            total += count
            differences += found
            for line in found if not arguments.by_key else ():
                print(line, flush=True)
    if arguments.by_key:
        sums.print()
    print(f"{total} outputs of {len(kernels)} kernels under {len(SETTINGS)} settings, {len(differences)} differences")
    sys.exit(1 if differences else 0)


if __name__ == "__main__":
    main()
