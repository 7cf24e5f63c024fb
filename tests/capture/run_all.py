#!/usr/bin/env python3
"""Runs the tests in this folder with every version of JAX that the package supports, each in an
environment of its own, and prints a line with the result of each. Exits with 1 if a test failed.

    run_all.py PALLASCOPE FOLDER [PYTEST_ARGUMENT...]

The environments are FOLDER/venv-jax-VERSION, and are kept. A version is left out if Python is too
old for it or a package cannot be had. The output of pytest is in FOLDER/venv-jax-VERSION.log.
"""

import os
import pathlib
import re
import subprocess
import sys

from find_python import output_of, python_of

# What pip is asked for, and the oldest Python that it runs on, which is also the first to be tried.
VERSIONS = {
    "0.9.0": ("==0.9.0", 11), "0.10.0": ("==0.10.0", 11), "0.10.2": ("==0.10.2", 11),
    "0.11.2": ("==0.11.2", 12), "0.12": ("==0.12.*", 12)}


def prepared(version, wanted, least, venv):
    """Returns why the version is left out, or an empty text if it is installed."""
    inside = venv / "bin" / "python"
    asks = "import jax, pytest; print(jax.__version__)"
    if re.match(re.escape(version) + r"(\.|$)", output_of([inside, "-c", asks])):
        return ""
    python = python_of(least)
    if not python:
        return f"no Python 3.{least} or later"
    made = subprocess.run([python, "-m", "venv", "--clear", venv], capture_output=True, text=True,
                          check=False)
    if made.returncode != 0:
        return f"{python} makes no environment"
    done = subprocess.run([inside, "-m", "pip", "install", "--quiet", f"jax[cpu]{wanted}",
                           "pytest"], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        errors = [line for line in done.stderr.splitlines() if line.startswith("ERROR")]
        return "pip: " + (errors or [done.stderr.strip() or "no reason given"])[-1]
    return ""


def tried(program, venv, arguments):
    """Runs the tests. Returns whether all passed, and pytest's last line."""
    command = [venv / "bin" / "python", "-B", "-m", "pytest", "-q", "-p", "no:cacheprovider",
               pathlib.Path(__file__).parent, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False,
                          env=os.environ | {"PALLASCOPE": program})
    venv.with_name(venv.name + ".log").write_text(done.stdout + done.stderr, encoding="utf-8")
    lines = done.stdout.strip().splitlines() or ["nothing"]
    return done.returncode == 0, lines[-1].strip("= ")


def main():
    program, folder, *arguments = sys.argv[1:]
    all_passed = True
    for version, (wanted, least) in VERSIONS.items():
        venv = pathlib.Path(folder).absolute() / f"venv-jax-{version}"
        reason = prepared(version, wanted, least, venv)
        if reason:
            print(f"JAX {version}: left out, {reason}", flush=True)
            continue
        passed, line = tried(os.path.abspath(program), venv, arguments)
        all_passed = all_passed and passed
        told = "" if passed else f"; see {venv}.log"
        print(f"JAX {version}: {line}{told}", flush=True)
    return 0 if all_passed else 1


if __name__ == "__main__":
    sys.exit(main())
