"""Checks that files compiled for newer CPUs define nothing that other files could be linked to.

    check_kernels.py NM LIBRARY

A weak symbol (an inline function, a template of the standard library) is defined in many files, and
the linker keeps any one of them. One from kernels_v4 would crash an older CPU in code that has
nothing to do with it.
"""

import subprocess
import sys


def main(nm, library):
    listing = subprocess.run([nm, "--defined-only", "--print-file-name", library],
                             check=True, capture_output=True, text=True).stdout
    members, shared = set(), []
    for line in listing.splitlines():
        place, kind, name = line.split(maxsplit=2)
        member = place.split(":")[-2]
        if member.startswith("kernels_v"):
            members.add(member)
            # DW.ref.* is a pointer that all files with exceptions share; it is not code.
            if kind in "WVu" and not name.startswith("DW.ref."):
                shared.append(f"{member}: {name}")
    print("\n".join(shared) or f"nothing shared in {', '.join(sorted(members))}")
    return 0 if members and not shared else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
