"""Runs `python -m pallascope` in processes that are forked from one that has imported JAX, because
importing it takes far longer than most commands. A command has its process, folder, streams and
exit code to itself, as if it was started."""

from __future__ import annotations

import gc
import json
import os
import pathlib
import runpy
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Mapping, Sequence


class Commands:
    """The process that is forked from. It ends with the `with` statement."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._process = subprocess.Popen([sys.executable, __file__], env=environment, text=True,
                                         stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def __enter__(self) -> Commands:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.communicate(timeout=60)

    def run(self, folder: str | os.PathLike[str], *arguments: str) -> subprocess.CompletedProcess:
        """Runs `python -m pallascope ARGUMENT...` in the folder."""
        with tempfile.TemporaryDirectory() as streams:
            out, err = (pathlib.Path(streams) / name for name in ("out", "err"))
            asked = {"folder": os.fspath(folder), "arguments": arguments, "out": str(out),
                     "err": str(err)}
            print(json.dumps(asked), file=self._process.stdin, flush=True)
            code = int(self._process.stdout.readline())
            return subprocess.CompletedProcess(arguments, code, out.read_text(), err.read_text())


def _begin(folder: str, arguments: Sequence[str], out: str, err: str) -> None:
    """Makes this process one that was started in the folder, and runs the command."""
    os.chdir(folder)
    for stream, path in enumerate((os.devnull, out, err)):
        file = os.open(path, os.O_RDWR | os.O_CREAT)
        os.dup2(file, stream)
        os.close(file)
    sys.path[0] = os.getcwd()
    sys.argv[1:] = arguments
    runpy.run_module("pallascope", run_name="__main__", alter_sys=True)


def _serve() -> None:
    import jax.experimental.pallas.tpu  # noqa: F401
    import pallascope.capture  # noqa: F401
    import pallascope.file_check  # noqa: F401

    # No child looks through what is there now, which would copy it.
    gc.freeze()
    # JAX warns of threads that a forked process lacks, but starts none before it computes.
    warnings.simplefilter("ignore")
    while line := sys.stdin.readline():
        child = os.fork()
        if child == 0:
            warnings.resetwarnings()
            _begin(**json.loads(line))
            return
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)


if __name__ == "__main__":
    _serve()
