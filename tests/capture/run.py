#!/usr/bin/env python3
"""Runs the tests in this folder in the first Python that has JAX. Exits with 77 if none has.

    run.py PALLASCOPE VENV [PYTEST_ARGUMENT...]

An argument that names a file here (test_copies.py) stands for that file. Without one, all tests
run.
"""

import os
import pathlib
import subprocess
import sys


def has_jax(python):
    # Looked for, not imported: that would take over a second, and pytest does it anyway.
    wanted = ("import importlib.util as util, sys; "
              "has_both = util.find_spec('jax') and util.find_spec('pytest'); "
              "sys.exit(sys.version_info < (3, 11) or not has_both)")
    try:
        return subprocess.run([python, "-c", wanted], capture_output=True, check=False,
                              timeout=120).returncode == 0
    except OSError:
        return False


def main():
    program, venv, *arguments = sys.argv[1:]
    pythons = [os.path.join(venv, "bin", "python"), sys.executable]
    python = next(filter(has_jax, pythons), None)
    if python is None:
        print("Skipped: no Python 3.11 or later with jax and pytest; `make test-jax` makes one.")
        return 77
    here = pathlib.Path(__file__).parent
    files = [str(here / name) for name in arguments if (here / name).is_file()]
    options = [name for name in arguments if not (here / name).is_file()]
    quiet = [] if len(files) > 1 else ["-q"]  # of several files, the result of each is told
    command = [python, "-B", "-m", "pytest", *quiet, "-p", "no:cacheprovider",
               *(files or [str(here)]), *options]
    status = subprocess.run(command, env=os.environ | {"PALLASCOPE": program},
                            check=False).returncode
    skipped_all = 5  # pytest's status if it collected no test
    return 77 if status == skipped_all else status


if __name__ == "__main__":
    sys.exit(main())
