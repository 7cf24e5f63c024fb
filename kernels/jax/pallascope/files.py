"""The two forms of a kernel file: an object of JSON, or a zip with arrays and sources."""

from __future__ import annotations

import io
import json
import os
import tempfile
import zipfile
from typing import Any

import numpy as np

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
    folder = os.path.dirname(os.path.abspath(path))
    handle, temporary = tempfile.mkstemp(prefix=".pallascope-", dir=folder)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        os.chmod(temporary, 0o644)
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise
