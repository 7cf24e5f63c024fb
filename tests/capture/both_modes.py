"""Checks that every run of the command line in a test does the same with only the values that are
needed, and with a search for races even where the form of the program excludes them."""

from __future__ import annotations

import json
import os
import pathlib
import tempfile
from collections.abc import Sequence
from typing import Any

# Options that the second run of the same program does without, and whether a value follows them.
_DROPPED = {"--json": False, "--no-check": False, "--results": True, "--trace": True,
            "--values": True, "--fail-if": True, "--repeat": True, "--screenshot": True,
            "--view": True, "--at": True, "--size": True, "--theme": True}


_looked_at: set[int] = set()  # files


def is_run(command: Any) -> bool:
    """Returns whether the command is a run with all values."""
    if isinstance(command, str) or len(command) < 3:
        return False
    words = [str(word) for word in command]
    return words[:2] == [os.environ["PALLASCOPE"], "run"] and "needed" not in words


def difference(run: Any, command: Sequence[Any], **where: Any) -> str:
    """Returns the first difference between a run with all values and one with only those that are
    needed."""
    words = _without_reports([str(word) for word in command])
    with tempfile.TemporaryDirectory() as folder:
        found = []
        for values in ("full", "needed"):
            path = pathlib.Path(folder) / f"{values}.trace.json"
            races = (["--set", "detect_races=everywhere"]
                     if values == "needed" and not any("detect_races" in word for word in words)
                     else [])
            done = run([*words, "--values", values, *races, "--no-check", "--trace", path], check=False,
                       capture_output=True, text=True, timeout=120, **where)
            found.append(_beside_values(json.loads(path.read_text())) if path.exists()
                         else {"error": done.stderr})
    return _first("", *found)


def _without_reports(words: list[str]) -> list[str]:
    kept = []
    skip = False
    for word in words:
        if skip:
            skip = False
        elif word in _DROPPED:
            skip = _DROPPED[word]
        else:
            kept.append(word)
    return kept


def _beside_values(trace: dict[str, Any]) -> dict[str, Any]:
    rows = trace["pallascope"]
    info = rows["info"]
    for name in ("values", "settings", "prints", "prints_beyond", "check"):
        info.pop(name, None)
    info["findings"] = [one for one in info["findings"] if one["class"] == "structural"]
    return rows


def _first(where: str, full: Any, needed: Any) -> str:
    if full == needed:
        return ""
    if isinstance(full, dict) and isinstance(needed, dict) and full.keys() == needed.keys():
        return next(filter(None, (_first(f"{where}.{key}", full[key], needed[key])
                                  for key in full)))
    if isinstance(full, list) and isinstance(needed, list) and len(full) == len(needed):
        return next(filter(None, (_first(f"{where}[{i}]", *pair)
                                  for i, pair in enumerate(zip(full, needed, strict=True)))))
    return f"{where}: {str(full)[:300]}, needed {str(needed)[:300]}"


def disagreement(run: Any, path: Any) -> str:
    """Returns what contradicts itself in the views of a run of a file. Each file is looked at once."""
    program = pathlib.Path(os.environ["PALLASCOPE"]).with_name("views_agree")
    if not program.exists() or not pathlib.Path(path).is_file():
        return ""
    contents = hash(pathlib.Path(path).read_bytes())
    if contents in _looked_at:
        return ""
    _looked_at.add(contents)
    done = run([program, path], check=False, capture_output=True, text=True, timeout=300)
    return done.stdout if done.returncode else ""


def checked(run: Any) -> Any:
    """Calls subprocess.run, compares each run of a kernel with one that computes only needed values,
    and the views of the run with one another."""
    def both(command: Any, *args: Any, **options: Any) -> Any:
        done = run(command, *args, **options)
        if is_run(command):
            where = {key: options[key] for key in ("cwd", "env") if key in options}
            found = difference(run, command, **where)
            assert not found, f"with needed values the run is another one: {found}"
            found = disagreement(run, command[2])
            assert not found, f"views disagree: {found}"
        return done
    return both


__all__ = ["checked"]
