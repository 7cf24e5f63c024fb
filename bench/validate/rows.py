"""The published timings that bench/validate is about: rows of published_kernels/calibration.csv in
the folder that MEASURED names, their captured kernels, and what a program predicts for them."""
import argparse
import concurrent.futures
import contextlib
import dataclasses
import importlib
import io
import json
import os
import pathlib
import subprocess
import sys
import time

import split

ROOT = pathlib.Path(__file__).resolve().parents[2]
MEASURED = pathlib.Path(os.environ.get("MEASURED", ROOT.parent / "shared" / "measured"))
CHIPS = {"TPU v5e": "tpu_v5e", "TPU v5p": "tpu_v5p", "TPU v6e": "tpu_v6e", "TPU 7x (1 TC = 1 device)": "tpu_v7x"}
SETTINGS = ("out_of_bounds_reads=uninitialized",)
SHORTEST_S = 20e-6  # published times are whole microseconds
# The time of a run that did not reach its end means nothing.
STOPS = ("the run stops there", "the run ends there", "Nothing can go on")


@dataclasses.dataclass
class Row:
    """A line of calibration.csv."""

    number: int
    data: dict

    @property
    def family(self):
        return self.data["op"]

    @property
    def chip(self):
        return CHIPS[self.data["chip"]]

    @property
    def measured_s(self):
        return float(self.data["median_ms"]) * 1e-3

    @property
    def side(self):
        return SIDES[split.hash_of(self.data)]

    @property
    def key(self):
        import hashlib
        text = "|".join(self.data[name] for name in ("chip", "op", "problem", "config"))
        return hashlib.sha1(text.encode()).hexdigest()[:12]

    @property
    def cores(self):
        """ragged_dot leaves the second core of a megacore chip idle."""
        return 2 if self.chip == "tpu_v5p" and self.family != "ragged_dot" else 1


SIDES = split.sides()


def parser(description):
    """Of a bench: which program runs which kept captures, and where it writes chip files."""
    found = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    found.add_argument("--program", type=pathlib.Path, default=ROOT / "build/release/bin/pallascope")
    found.add_argument("--keep", type=pathlib.Path, default=ROOT / "build/validate", help="captured kernels")
    found.add_argument("--folder", type=pathlib.Path, default=ROOT / "build/tried_chips")
    return found


def published(name):
    """The rows of a table of the folder of measured timings. Ends the program if it is not there."""
    path = MEASURED / name
    if not path.exists():
        print(f"Skipped: there are no published timings at {path}; MEASURED names another folder.")
        sys.exit()
    return split.read(path)


def load():
    if not MEASURED.is_dir():
        print(f"Skipped: there is no folder of measured timings at {MEASURED}; MEASURED names another.")
        sys.exit()
    return [Row(number, data) for number, data in
            enumerate(split.read(MEASURED / "published_kernels" / "calibration.csv"))]


def fitting(keep, shortest_s=0.0):
    """The rows that may be fitted on, of those that `keep` has a capture of."""
    return [row for row in load() if row.side == "fit" and row.measured_s >= shortest_s
            and "refused" not in (keep / f"{row.key}.json").read_text()]


def capture(rows, folder, again=False, say=print):
    """Captures the rows that folder lacks, all in this process. A row that is refused leaves a
    .json that says why. Needs a Python with JAX and the packages of the kit's README."""
    folder.mkdir(parents=True, exist_ok=True)
    missing = [row for row in rows if again or not (folder / f"{row.key}.json").exists()]
    if not missing:
        return
    sys.dont_write_bytecode = True
    sys.path[:0] = [str(MEASURED / "published_kernels"), str(ROOT / "kernels" / "jax")]
    cases, pallascope = importlib.import_module("cases"), importlib.import_module("pallascope")
    for row in missing:
        path, began, tell = folder / f"{row.key}.pallascope", time.perf_counter(), {}
        path.unlink(missing_ok=True)
        data = row.data
        try:
            function, arguments, values = cases.case(data["op"], data["problem"], data["config"], data["chip"])
            arguments = [values.get(number, one) for number, one in enumerate(arguments)]
            with contextlib.redirect_stdout(io.StringIO()):
                pallascope.capture(function, *arguments, chip=row.chip, cores=row.cores).save(path)
        except Exception as error:  # noqa: BLE001: whatever a package raises becomes the row's result
            tell["refused"] = f"{type(error).__name__}: {' '.join(str(error).split())}"
        tell["capture_s"] = round(time.perf_counter() - began, 3)
        (folder / f"{row.key}.json").write_text(json.dumps(tell))
        say(f"{row.number:4} {row.family:22} {row.chip:8} captured in {tell['capture_s']:6.2f} s "
            f"{tell.get('refused', '')[:150]}")


def run(row, folder, program, settings=SETTINGS, limit_s=120, chip=None):
    """What `program` says of the captured row: its JSON report, with error or reason."""
    tell = json.loads((folder / f"{row.key}.json").read_text())
    if "refused" in tell:
        return {"stage": "capture", "reason": tell["refused"]}
    arguments = [str(program), "run", str(folder / f"{row.key}.pallascope"), "--values", "needed", "--json"]
    for setting in settings:
        arguments += ["--set", setting]
    if chip:
        arguments += ["--chip", str(chip)]
    began = time.perf_counter()
    try:
        done = subprocess.run(arguments, capture_output=True, text=True, timeout=limit_s, check=False)
    except subprocess.TimeoutExpired:
        return {"stage": "run", "reason": f"more than {limit_s} s"}
    seconds = time.perf_counter() - began
    try:
        report = json.loads(done.stdout)
    except ValueError:
        return {"stage": "run", "reason": (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1],
                "run_s": seconds}
    for finding in report["findings"]:
        if any(stop in finding["message"] for stop in STOPS):
            return {"stage": "stopped", "reason": f"{finding['kind']}: {finding['message']}", "run_s": seconds}
    return {**report, "run_s": seconds}


def run_all(rows, folder, program, workers=os.cpu_count(), chips=None, **options):
    """[(row, report)], in the order of the rows. `chips`: by name, files instead of the program's."""
    with concurrent.futures.ThreadPoolExecutor(workers) as pool:
        return list(zip(rows, pool.map(
            lambda row: run(row, folder, program, chip=(chips or {}).get(row.chip), **options), rows)))
