#!/usr/bin/env python3
"""Fills the sample output of a Markdown file with what the program prints now.

    readme_output.py PALLASCOPE FILE.md

A code block that begins with "$ pallascope ARGUMENTS" gets the output of just that, standard error
included, and its exit code when it is not 0.
"""

import pathlib
import re
import shlex
import subprocess
import sys

BLOCK = re.compile(r"^```\n\$ pallascope (.*)\n(?:.*\n)*?```$", re.MULTILINE)


def main(program, file):
    path = pathlib.Path(file)

    def filled(block):
        result = subprocess.run(
            [program, *shlex.split(block.group(1))],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        code = f"(exit code {result.returncode})\n" if result.returncode else ""
        return f"```\n$ pallascope {block.group(1)}\n{result.stdout.rstrip()}\n{code}```"

    text, count = BLOCK.subn(filled, path.read_text(encoding="utf-8"))
    path.write_text(text, encoding="utf-8")
    print(f"{file}: the output of {count} commands")


if __name__ == "__main__":
    main(*sys.argv[1:])
