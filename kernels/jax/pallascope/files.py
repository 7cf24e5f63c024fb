"""The two forms of a kernel file: an object of JSON, or a zip with arrays and sources."""

from __future__ import annotations

import contextlib
import errno
import io
import itertools
import json
import os
import re
import socket
import zipfile
from typing import Any

import numpy as np

_KEPT = 150  # bytes of a name that are in that of its temporary file
_EPOCH = (1980, 1, 1, 0, 0, 0)  # so that the same kernel gives the same bytes


def save(document: dict[str, Any], arrays: dict[int, np.ndarray], texts: dict[str, str],
         path: str) -> None:
    """Writes the file whole or not at all; see Kernel.save for the errors."""
    if path.endswith(".pallascope"):
        _replace(path, _archive(document, arrays, texts))
    elif not path.endswith(".kernel.json"):
        raise ValueError(f"{path} must end in .pallascope or .kernel.json")
    elif arrays:
        raise ValueError(f"{path} has no place for arrays; a .pallascope file has, or values=False "
                         "leaves out those that are inputs")
    else:
        sources = [{"file": name, "text": text} for name, text in texts.items()]
        _replace(path, _json(document | {"sources": sources}))


def _json(document: dict[str, Any]) -> bytes:
    return (json.dumps(document, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
            + "\n").encode()


def _archive(document: dict[str, Any], arrays: dict[int, np.ndarray],
             texts: dict[str, str]) -> bytes:
    inputs = list(document["inputs"])
    members: list[tuple[str, bytes, int]] = []
    for number, array in sorted(arrays.items()):
        member = f"arrays/arg{number}.npy"
        inputs[number] = {"npy": member}
        members.append((member, _npy(array), zipfile.ZIP_STORED))
    sources = []
    for number, (name, text) in enumerate(texts.items()):
        member = f"sources/{number}_{_plain(os.path.basename(name))}"
        sources.append({"file": name, "member": member})
        members.append((member, text.encode(), zipfile.ZIP_DEFLATED))
    whole = document | {"inputs": inputs, "sources": sources}
    members.insert(0, ("kernel.json", _json(whole), zipfile.ZIP_DEFLATED))
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for member, data, method in members:
            info = zipfile.ZipInfo(member, _EPOCH)
            info.compress_type = method
            archive.writestr(info, data)
    return buffer.getvalue()


def _npy(array: np.ndarray) -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, np.ascontiguousarray(array).reshape(array.shape), allow_pickle=False)
    return buffer.getvalue()


def _plain(name: str) -> str:
    return "".join(letter if letter.isalnum() or letter in "._-" else "_" for letter in name)


def _replace(path: str, data: bytes) -> None:
    """As core/base/whole_file.h of the program does it, by the same names: a link stays one, and
    what writers that were killed left is removed."""
    path = os.path.realpath(path)
    if os.path.islink(path):  # links go round
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
    folder, name = os.path.split(path)
    start = f".{os.fsdecode(os.fsencode(name)[:_KEPT])}.{socket.gethostname()}-"
    _remove_left_behind(folder, start)
    handle, temporary = _temporary(os.path.join(folder, start))
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise


def _temporary(start: str) -> tuple[int, str]:
    for number in itertools.count():  # a process of the same number may have left one
        path = f"{start}{os.getpid()}-{number}.part"
        try:
            return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666), path
        except FileExistsError:
            continue
    raise AssertionError("there is always another number")


def _remove_left_behind(folder: str, start: str) -> None:
    for name in os.listdir(folder):
        written_by = re.match(r"(\d+)-\d+\.part", name.removeprefix(start))
        if name.startswith(start) and written_by and not _lives(int(written_by[1])):
            with contextlib.suppress(OSError):  # another writer removes it too
                os.unlink(os.path.join(folder, name))


def _lives(process: int) -> bool:
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except OSError:
        return True
    return True
