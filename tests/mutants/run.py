"""Puts small faults into the engine, one at a time. A test must find each of them.

    python3 tests/mutants/run.py             build and run every mutant of mutants.toml
    python3 tests/mutants/run.py NAME ...    only these
    python3 tests/mutants/run.py --check     only that every fault still fits its file (in CI)

The faults are put into a copy of the tree in build/mutants, never into the tree itself. A mutant is
killed if the tests that it names fail or run for over two minutes; it survives if they pass. The
exit code is 1 unless all are killed. All of them take about 45 minutes on two busy cores with
ccache.
"""

import argparse
import os
import pathlib
import shutil
import subprocess
import sys
import time
import tomllib

ROOT = pathlib.Path(__file__).resolve().parents[2]
HOME = ROOT / "build" / "mutants"
TREE, BUILD = HOME / "tree", HOME / "build"
KEYS = {"name", "kind", "file", "old", "new", "breaks", "target", "tests"}
KINDS = {"predicate", "rounding", "padding", "tie", "unit", "order", "limit"}
LONGEST = 120  # seconds that one run of tests may take


def mutants():
    with open(pathlib.Path(__file__).with_name("mutants.toml"), "rb") as file:
        return tomllib.load(file)["mutant"]


def faults(mutant):
    """Yields what is wrong with an entry, as sentences."""
    if set(mutant) != KEYS or mutant["kind"] not in KINDS or mutant["old"] == mutant["new"]:
        yield f"{mutant.get('name')}: its keys are not {sorted(KEYS)}, or nothing changes"
        return
    file = ROOT / mutant["file"]
    if not file.is_file():
        yield f"{mutant['name']}: there is no file {mutant['file']}"
        return
    count = file.read_text(encoding="utf-8").count(mutant["old"])
    if count != 1:
        yield f"{mutant['name']}: {mutant['file']} has its text {count} times; once is right"


def check(entries):
    wrong = [sentence for mutant in entries for sentence in faults(mutant)]
    names = [mutant["name"] for mutant in entries]
    wrong += [f"{name}: two mutants have this name" for name in set(names) if names.count(name) > 1]
    for sentence in wrong:
        print(sentence)
    return not wrong


def copy_tree():
    """Copies what Git knows or would add. A file that has not changed keeps its time, so that
    little is built again."""
    listed = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
                            cwd=ROOT, check=True, capture_output=True, text=True).stdout
    wanted = {name for name in listed.split("\0") if name and (ROOT / name).is_file()}
    for old in [path for path in TREE.rglob("*") if path.is_file()]:
        if str(old.relative_to(TREE)) not in wanted:
            old.unlink()
    for name in wanted:
        source, target = ROOT / name, TREE / name
        if not target.is_file() or source.read_bytes() != target.read_bytes():
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, target)


def build(target):
    """Returns whether it builds. ccache reuses what another folder has built."""
    environment = {**os.environ, "CCACHE_BASEDIR": str(HOME), "CCACHE_NOHASHDIR": "1"}
    return subprocess.run(["cmake", "--build", str(BUILD), "--target", target], env=environment,
                          stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0


def configure():
    subprocess.run(["cmake", "-S", str(TREE), "-B", str(BUILD), "-G", "Ninja",
                    "-DCMAKE_BUILD_TYPE=Release", "-DCMAKE_CXX_FLAGS_RELEASE=-O1 -DNDEBUG",
                    "-DPALLASCOPE_BUILD_GUI=OFF"], check=True, stdout=subprocess.DEVNULL)


def passes(mutant):
    """Returns whether its tests pass, or None if there are none."""
    program = BUILD / "bin" / mutant["target"]
    arguments = [str(program), f"--gtest_filter={mutant['tests']}", "--gtest_brief=1"]
    listed = subprocess.run([*arguments, "--gtest_list_tests"], cwd=BUILD, capture_output=True, text=True)
    if not any(line.startswith("  ") for line in listed.stdout.splitlines()):
        return None
    try:
        return subprocess.run([*arguments, "--gtest_fail_fast"], cwd=BUILD, timeout=LONGEST,
                              capture_output=True).returncode == 0
    except subprocess.TimeoutExpired:
        return False


def sound(entries):
    """Returns whether every test that is named exists and passes without a fault."""
    good = True
    for target in sorted({mutant["target"] for mutant in entries}):
        if not build(target):
            print(f"{target} does not build without a fault")
            return False
    for target, tests in sorted({(mutant["target"], mutant["tests"]) for mutant in entries}):
        state = passes({"target": target, "tests": tests})
        if not state:
            print(f"{target} {tests}: " + ("no such test" if state is None else "fails without a fault"))
            good = False
    return good


def result(mutant):
    file = TREE / mutant["file"]
    text = file.read_text(encoding="utf-8")
    file.write_text(text.replace(mutant["old"], mutant["new"]), encoding="utf-8")
    try:
        if not build(mutant["target"]):
            return "does not build"
        return "survived" if passes(mutant) else "killed"
    finally:
        file.write_text(text, encoding="utf-8")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("names", nargs="*")
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    entries = mutants()
    if not check(entries):
        return 1
    if options.check:
        return 0
    unknown = set(options.names) - {mutant["name"] for mutant in entries}
    if unknown:
        print("no such mutant: " + ", ".join(sorted(unknown)))
        return 1
    entries = [mutant for mutant in entries if not options.names or mutant["name"] in options.names]
    began = time.monotonic()
    TREE.mkdir(parents=True, exist_ok=True)
    copy_tree()
    configure()
    if not sound(entries):
        return 1
    results = []
    for mutant in entries:
        results.append(result(mutant))
        print(f"{results[-1]:14} {mutant['name']}: {mutant['breaks']} ({mutant['file']})", flush=True)
    minutes = (time.monotonic() - began) / 60
    print(f"{results.count('killed')} of {len(results)} killed in {minutes:.1f} minutes")
    return 0 if results.count("killed") == len(results) else 1


if __name__ == "__main__":
    sys.exit(main())
