"""Asks the program whether it accepts a kernel file: what capture accepts, run must be able to run.
"""

from __future__ import annotations

import os
import shutil
import subprocess


class Refused(Exception):
    """Raised with the program's sentence."""


def program() -> str | None:
    """Returns the program that started this Python, or else the one on PATH."""
    return os.environ.get("PALLASCOPE_PROGRAM") or shutil.which("pallascope")


def check(path: str, named: str) -> None:
    """Raises Refused if the program does not accept the file, which its sentence calls `named`.
    Does nothing if there is no program."""
    found = program()
    if found is None:
        return
    asked = subprocess.run([found, "describe", path], stdin=subprocess.DEVNULL,
                           stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                           encoding="utf-8", errors="replace", check=False)
    if asked.returncode != 0:
        said = asked.stderr.strip() or f"it ends with {asked.returncode}"
        raise Refused(said.replace(path, named))
