"""Writes the two forms of a kernel file: a JSON object, or a zip archive with arrays and sources.
"""

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
from collections.abc import Callable
from typing import Any, BinaryIO

import numpy as np

from pallascope import recipes

_KEPT = 150  # bytes of a name that its temporary file's name keeps
_EPOCH = (1980, 1, 1, 0, 0, 0)  # fixed, so that the same kernel gives the same bytes
_PIECE_BYTES = 1 << 22  # bytes of an array that are written at a time


def save(document: dict[str, Any], arrays: dict[int, np.ndarray], texts: dict[str, str],
         path: str, check: Callable[[str], None] | None = None) -> None:
    """Writes the file whole or not at all; see Kernel.save for the errors. `check` is called with
    the name of the finished file before that takes its place, and raises an exception if it must
    not."""
    if not path.endswith((".pallascope", ".kernel.json")):
        raise ValueError(f"{path} must end in .pallascope or .kernel.json")
    inputs, members = list(document["inputs"]), {}
    for number, array in sorted(arrays.items()):
        inputs[number] = recipes.recipe_of(array)
        if inputs[number] is None:
            part, repeats = recipes.part_of(array)
            member = f"arrays/arg{number}.npy"
            inputs[number] = {"npy": member} | ({"repeats": repeats} if max(
                repeats, default=1) > 1 else {})
            members[member] = part
    document = document | {"inputs": inputs}
    if path.endswith(".pallascope"):
        _replace(path, lambda file: _write_archive(file, document, members, texts), check)
    elif members:
        raise ValueError(f"{path} has no place for arrays; use a .pallascope file, or values=False "
                         "to leave out those that are inputs")
    else:
        sources = [{"file": name, "text": text} for name, text in texts.items()]
        _replace(path, lambda file: file.write(_json(document | {"sources": sources})), check)


def _json(document: dict[str, Any]) -> bytes:
    return (json.dumps(document, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
            + "\n").encode()


def _write_archive(file: BinaryIO, document: dict[str, Any], arrays: dict[str, np.ndarray],
                   texts: dict[str, str]) -> None:
    sources = {f"sources/{number}_{_plain(os.path.basename(name))}": name
               for number, name in enumerate(texts)}
    listed = [{"file": name, "member": member} for member, name in sources.items()]
    with zipfile.ZipFile(file, "w") as archive:
        def add(member: str, data: bytes) -> None:
            archive.writestr(zipfile.ZipInfo(member, _EPOCH), data, zipfile.ZIP_DEFLATED)

        add("kernel.json", _json(document | {"sources": listed}))
        for member, array in arrays.items():
            _add_array(archive, member, array)
        for member, name in sources.items():
            add(member, texts[name].encode())


def _add_array(archive: zipfile.ZipFile, member: str, array: np.ndarray) -> None:
    """Writes the array in pieces, because a whole copy may need more memory than is left."""
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(header, {
        "descr": np.lib.format.dtype_to_descr(array.dtype), "fortran_order": False,
        "shape": array.shape})
    info = zipfile.ZipInfo(member, _EPOCH)
    info.file_size = len(header.getvalue()) + array.size * array.itemsize
    elements = array.view(f"u{array.itemsize}")  # NumPy handles elements of other dtypes one by one
    with archive.open(info, "w") as target:
        target.write(header.getvalue())
        for piece in np.nditer(elements, ["external_loop", "buffered"], order="C",
                               buffersize=_PIECE_BYTES // array.itemsize):
            target.write(np.ascontiguousarray(piece).data)


def _plain(name: str) -> str:
    return "".join(letter if letter.isalnum() or letter in "._-" else "_" for letter in name)


def _replace(path: str, write: Callable[[BinaryIO], Any],
             check: Callable[[str], None] | None) -> None:
    """Writes a file as the program's core/base/whole_file.h does, with the same names: a link stays
    a link, and files left behind by writers that were killed are removed."""
    path = os.path.realpath(path)
    if os.path.islink(path):  # links form a circle
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
    folder, name = os.path.split(path)
    start = f".{os.fsdecode(os.fsencode(name)[:_KEPT])}.{socket.gethostname()}-"
    _remove_left_behind(folder, start)
    handle, temporary = _temporary(os.path.join(folder, start))
    try:
        with os.fdopen(handle, "wb") as file:
            write(file)
        if check is not None:
            check(temporary)
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise


def _temporary(start: str) -> tuple[int, str]:
    for number in itertools.count():  # a process with the same number may have left one
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
            with contextlib.suppress(OSError):  # another writer may be removing it, too
                os.unlink(os.path.join(folder, name))


def _lives(process: int) -> bool:
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except OSError:
        return True
    return True
