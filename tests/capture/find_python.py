#!/usr/bin/env python3
"""Finds a Python that is new enough for a version of JAX.

    find_python.py MINOR

Prints the oldest Python from 3.MINOR on that starts. Exits with 1 if there is none.
"""

import os
import pathlib
import shutil
import subprocess
import sys

NEWEST = 14  # the newest Python 3 that is looked for


def output_of(command):
    """Returns the output of a program that may be missing."""
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True,
                              timeout=600).stdout.strip()
    except (OSError, subprocess.SubprocessError):
        return ""


def python_of(least):
    """Returns the oldest Python from 3.`least` on that starts: on the path, from pyenv, or from uv.
    """
    asks = "import sys, venv, ensurepip; print(sys.version_info[:2] >= (3, %d))" % least
    kept = pathlib.Path(os.environ.get("PYENV_ROOT", pathlib.Path.home() / ".pyenv")) / "versions"
    found = []
    for minor in range(least, NEWEST + 1):
        found += [f"python3.{minor}", *sorted(kept.glob(f"3.{minor}.*/bin/python3"))]
    for python in [*found, sys.executable, "python3"]:
        if output_of([python, "-c", asks]) == "True":
            return str(python)
    if shutil.which("uv"):
        output_of(["uv", "python", "install", f"3.{least}"])
        return output_of(["uv", "python", "find", f"3.{least}"])
    return ""


def main():
    python = python_of(int(sys.argv[1]))
    print(python)
    return 0 if python else 1


if __name__ == "__main__":
    sys.exit(main())
