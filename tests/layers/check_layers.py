#!/usr/bin/env python3
"""Holds the source tree to the layers of docs/architecture.md.

    check_layers.py ROOT

Prints one line per violation ("file:line: what is wrong") and exits with 1 if there is any:
  - an include against the table of layers below;
  - Qt in a folder that has to build without it;
  - a slow-to-compile library (Eigen, nlohmann-json, simdjson) in a header of those folders;
  - the name of a chip or a kernel in core/, comments included: core knows neither;
  - a path that exists on one person's machine only;
  - a header without `#pragma once`.
It reads the text only, so it needs no build, and it sees what the linker cannot: headers.
"""

import pathlib
import re
import sys

# For each folder, what it may include besides itself; it may also include everything that those
# folders may. For a file, the longest folder that contains it counts.
USES = {
    "core/base": [],
    "core/ir": ["core/base"],
    "core/chip": ["core/base"],
    "core/cost": ["core/ir", "core/chip"],
    "core/trace": ["core/base"],
    "core/trace_file": ["core/trace"],
    "core/kernel_file": ["core/ir", "core/trace_file"],
    # What others may include of the machine. The folders below are its inside.
    "core/machine": ["core/cost", "core/trace"],
    "core/machine/arith": ["core/base"],
    "core/machine/values": ["core/machine/arith"],
    "core/machine/ops": ["core/machine/values", "core/ir"],
    "core/machine/memory": ["core/machine/ops"],
    "core/machine/prepare": ["core/machine/memory", "core/machine"],
    "core/machine/record": ["core/machine/prepare"],
    "core/machine/state": ["core/machine/prepare"],
    "core/machine/parts": ["core/machine/state", "core/machine/record"],
    "core/machine/engine": ["core/machine/parts"],
    "core/machine/replay": ["core/machine/engine"],
    "core/analysis": ["core/cost", "core/trace"],
    "core/study": ["core/machine", "core/analysis"],
    "kernels": ["core/ir"],
    "views/layout/scene": ["core/base"],
    "views/layout/run": ["views/layout/scene", "core/analysis"],
    "views/layout": ["views/layout/run"],
    "views/navigation": ["views/layout"],
    "views": ["views/navigation"],
    "resources": [],
    "app/process": ["core/base"],
    "app/capture": ["core/base"],
    "app/run_job": ["core/study", "core/kernel_file", "kernels", "views/navigation", "resources"],
    "app/lessons": ["app/run_job"],
    "app/window": ["app/process", "app/capture", "app/lessons", "views"],
    "app/cli": ["app/window"],
    "app": ["app/cli"],
}
# These may include anything of the project.
FREE = ("tests", "bench")
TOP_FOLDERS = sorted({folder.split("/")[0] for folder in USES} | set(FREE))

WITHOUT_QT = ("core", "kernels", "views/layout", "views/navigation", "app/process", "app/capture",
              "app/run_job", "app/lessons", "app/cli")
SLOW_LIBRARIES = ("Eigen", "nlohmann", "simdjson")

# Sources in kernels/ that are not a kernel of that name.
NOT_KERNELS = {"kernel", "kernels", "kernel_list", "registry", "parameter", "parameters"}

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')
# Spelled so that this file does not find itself.
FOREIGN_PATHS = re.compile(r"(?<![\w.])(?:\.\./)*shared" + r"/|/wor" + r"k/|/hom" + r"e/\w")
TEXT = {".h", ".cpp", ".py", ".md", ".json", ".txt", ".cmake", ".in", ".desktop", ".svg", ""}


def closure(folder):
    """Returns all folders that `folder` may include, with itself."""
    reached, ahead = {folder}, [folder]
    while ahead:
        for used in USES[ahead.pop()]:
            if used not in reached:
                reached.add(used)
                ahead.append(used)
    return reached


def layer_of(path):
    """Returns the folder of USES that contains a project path, or None."""
    parts = path.split("/")[:-1]
    while parts:
        if "/".join(parts) in USES:
            return "/".join(parts)
        parts.pop()
    return None


def lies_in(path, folders):
    return any(path.startswith(folder + "/") for folder in folders)


def foreign_names(root):
    """Returns spellings of all chips and kernels, in lower case, without underscores, longest
    first."""
    names = {path.stem for path in (root / "kernels").glob("*.cpp")} - NOT_KERNELS
    for path in (root / "resources/chips").glob("*.json"):
        names.add(path.stem)
        names.add(path.stem.removeprefix("tpu_"))  # "v5e" of "tpu_v5e"
        names.add(path.stem.split("_", 1)[0] if path.stem[:4] != "tpu_" else "")  # "h100"
    return sorted({name.replace("_", "").lower() for name in names if name}, key=len, reverse=True)


# Names of JAX's primitives that contain a kernel's name.
OPERATIONS = ("matmulpushrhs", "matmulacclhs", "matmullhsfifo", "matmulpop")


def check_include(path, bracket, target):
    """Returns what is wrong with one #include of a file, or None."""
    if lies_in(path, WITHOUT_QT) and re.match(r"Q[A-Z]|Qt", target):
        return f"includes <{target}>, but this folder builds without Qt"
    if lies_in(path, WITHOUT_QT) and path.endswith(".h") and target.split("/")[0] in SLOW_LIBRARIES:
        return f"includes <{target}> in a header; only .cpp files may"
    own = layer_of(path)
    if own is None or bracket == "<":
        return None
    if target.split("/")[0] not in TOP_FOLDERS:
        return f'includes "{target}"; the project\'s own headers are named from the top folder'
    aim = layer_of(target)
    if aim is None or aim not in closure(own):
        return f'includes "{target}", but {own} may only use {", ".join(sorted(closure(own)))}'
    return None


def check_source(path, text, names):
    """Yields the violations of one C++ file."""
    if path.startswith("core/machine/arith/"):  # v2 to v4 are levels of x86-64 there
        names = [name for name in names if name not in ("v2", "v3", "v4")]
    if path.endswith(".h") and "#pragma once" not in text:
        yield 1, "has no #pragma once"
    for number, line in enumerate(text.splitlines(), 1):
        include = INCLUDE.match(line)
        if include:
            wrong = check_include(path, *include.groups())
            if wrong:
                yield number, wrong
        elif path.startswith("core/"):
            squeezed = line.replace("_", "").lower()
            for operation in OPERATIONS:
                squeezed = squeezed.replace(operation, "")
            said = next((name for name in names if name in squeezed), None)
            if said:
                yield number, f'says "{said}": core/ knows no chip and no kernel by name'


def check_text(text):
    """Yields the violations of any text file."""
    for number, line in enumerate(text.splitlines(), 1):
        foreign = FOREIGN_PATHS.search(line)
        if foreign:
            yield number, f'names "{foreign.group()}", which exists on one machine only'


def files_of(root):
    """Yields the project paths of all text files, except build results and Git's own."""
    for path in sorted(root.rglob("*")):
        name = path.relative_to(root).as_posix()
        ours = not name.startswith(("build/", ".git/", ".cache/")) and name != ".git"
        if not ours or not path.is_file():
            continue
        if path.suffix in TEXT:
            yield name, path


def violations(root):
    names = foreign_names(root)
    for name, path in files_of(root):
        text = path.read_text(encoding="utf-8", errors="replace")
        found = list(check_text(text))
        if path.suffix in (".h", ".cpp"):
            found += check_source(name, text, names)
        for number, wrong in sorted(found):
            yield f"{name}:{number}: {wrong}"


def main(arguments):
    if len(arguments) != 1:
        print("usage: check_layers.py ROOT", file=sys.stderr)
        return 2
    found = list(violations(pathlib.Path(arguments[0]).resolve()))
    for line in found:
        print(line)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
