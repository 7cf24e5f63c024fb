"""python -m pallascope capture FILE.py:FUNCTION --arg 'bf16[4096,4096]' -o k.pallascope"""

from __future__ import annotations

import argparse
import importlib.util
import inspect
import os
import re
import sys
import traceback
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any, NoReturn

import jax
import jax.numpy as jnp

from pallascope import file_check
from pallascope.capture import capture
from pallascope.jax_compat import chips, versions
from pallascope.problems import UnsupportedError
from pallascope.types import DTYPES

# With the short names that `pallascope print` has for integers.
_NUMPY_NAMES = {ours: theirs for theirs, ours in DTYPES.items()} | {
    name: name for name in DTYPES} | {
    name.replace("int", "" if name[0] == "u" else "i"): name
    for name in DTYPES if re.fullmatch(r"u?int\d+", name)}

# The exit codes of Pallascope's command line.
_FINE, _REFUSED, _OUR_MISTAKE, _INTERRUPTED = 0, 2, 3, 130
_MOST_EXTENT = 2**31 - 1


class UserError(Exception):
    """A sentence for the person who typed the command."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Returns 0 if the file is written, 2 if the kernel is refused in a sentence, 3 for a mistake
    of ours, and 130 if it is interrupted."""
    try:
        options = _parser().parse_args(arguments)
    except UserError as error:
        _tell(str(error))
        return _REFUSED
    try:
        return _capture(options)
    except (UnsupportedError, UserError) as error:
        _tell(str(error))
    except KeyboardInterrupt:
        _tell("interrupted; nothing was written")
        return _INTERRUPTED
    except SystemExit as error:
        _tell(f"{_author_line(error)}sys.exit({error.code!r}) ends it; use a function that "
              "returns")
    except Exception as error:  # pylint: disable=broad-exception-caught
        return _told(error)
    return _REFUSED


def _capture(options: argparse.Namespace) -> int:
    fn = _function(options.function)
    args = [_argument(text) for text in options.arg]
    _check_arguments(fn, args, options)
    kernel = capture(fn, *args, chip=options.chip, cores=options.cores, name=options.name,
                     mesh=_mesh(options.mesh), donate=options.donate)
    try:
        kernel.save(options.output, check=lambda path: file_check.check(path, options.output))
    except file_check.Refused as refused:
        raise UserError(f"the program refuses what was captured: {refused}") from refused
    except OSError as error:
        raise UserError(f"cannot write {options.output}: {error.strerror}") from error
    except ValueError as error:
        raise UserError(error) from error
    try:
        unchecked = ("" if file_check.program()
                     else "; not checked, as no program pallascope is on PATH")
        print(f"{options.output}: {kernel.name} for JAX {versions.VERSION}{unchecked}", flush=True)
    except OSError as error:
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # Python flushes it again when it ends
        raise UserError(f"cannot write to standard output: {error.strerror}") from error
    return _FINE


def _say(text: str) -> None:
    """Prints on standard error. If that fails, nobody can be told, and nothing else changes."""
    try:
        print(text, file=sys.stderr, flush=True)
    except OSError:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")


def _tell(sentence: str) -> None:
    """Says a sentence of the package, or a sentence with a list below it."""
    is_ended = "\n" in sentence or sentence.endswith((".", "!", "?"))
    _say(f"pallascope: {sentence}" + ("" if is_ended else "."))


def _told(error: Exception) -> int:
    """Says a sentence after everything that is known about a mistake of the author's or a refusal
    by JAX. Any other error is one of ours."""
    where = _author_line(error)
    if isinstance(error, ValueError) and not where:
        _tell(_first_line(error))
        return _REFUSED
    _say("".join(traceback.format_exception(error)).rstrip())
    if where or _is_of_jax(error):
        _tell(where + _first_line(error))
        return _REFUSED
    _tell(f"stopped on a mistake of its own: {_first_line(error)}")
    return _OUR_MISTAKE


def _is_of_jax(error: Exception) -> bool:
    """Returns whether it was raised inside JAX. JAX removes its own frames from the exceptions that
    leave it, and adds a note that says so."""
    frames = traceback.extract_tb(error.__traceback__)
    told = [*getattr(error, "__notes__", ()), str(error.__cause__)]
    return (bool(frames) and os.path.abspath(frames[-1].filename).startswith(_folder_of(jax))
            or any("JAX has removed its internal frames" in text for text in told))


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise UserError(f"the command line is not understood: {message}; "
                        "`python -m pallascope capture --help` lists what it takes")


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(prog="pallascope", description="Captures JAX Pallas kernels.")
    commands = parser.add_subparsers(dest="command", required=True)
    command = commands.add_parser("capture", help="turn a function with kernels into a kernel file")
    command.add_argument("function", metavar="FILE.py:FUNCTION")
    command.add_argument("--arg", action="append", default=[], metavar="DTYPE[SHAPE]",
                         help="an argument of the function, such as 'bf16[4096,4096]' or 'int32[]'")
    command.add_argument("-o", "--output", required=True, metavar="FILE",
                         help="FILE.pallascope or FILE.kernel.json")
    command.add_argument("--chip", default="tpu_v5e", metavar="NAME",
                         help=f"trace as on this chip: {', '.join(chips.NAMES)}")
    command.add_argument("--cores", type=int, default=1,
                         help="cores that share parallel grid axes: 2 on a megacore chip")
    command.add_argument("--mesh", action="append", default=[], metavar="AXIS=SIZE",
                         help="an axis of the mesh of devices, such as 'x=8', the slowest first")
    command.add_argument("--donate", type=int, action="append", default=[], metavar="NUMBER",
                         help="an argument that the function may write over, the first is 0")
    command.add_argument("--name", help="of the kernel; default: the function's")
    return parser


def _function(text: str) -> Callable[..., Any]:
    path, separator, name = text.rpartition(":")
    if not separator or not name.isidentifier():
        raise UserError(f"{text} is no FILE.py:FUNCTION; use one such as kernels.py:matmul")
    if not os.path.isfile(path):
        raise UserError(f"there is no file {path}")
    module = _module(os.path.abspath(path))
    fn = getattr(module, name, None)
    if inspect.isclass(fn):
        raise UserError(f"{name} of {path} is a class; name a function")
    if not callable(fn):
        raise UserError(f"{path} has no function {name}")
    return fn


def _check_arguments(fn: Callable[..., Any], args: Sequence[Any],
                     options: argparse.Namespace) -> None:
    try:
        inspect.signature(fn).bind(*args)
    except TypeError as error:
        given = f"{len(args)} of --arg" if args else "no --arg"
        raise UserError(f"{options.function} is given {given}: {error}") from error
    except ValueError:  # its signature is not known
        pass


def _module(path: str) -> Any:
    """Returns a file as Python runs a script, but as a module of its package. Of the package, only
    what the file imports is run."""
    root, name = os.path.split(os.path.splitext(path)[0])
    folder = root
    while os.path.isfile(os.path.join(root, "__init__.py")):
        root, package = os.path.split(root)
        name = f"{package}.{name}"
    sys.path[:] = dict.fromkeys([folder, *sys.path, root])
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise UserError(f"{path} is no Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def _folder_of(module: ModuleType) -> str:
    return os.path.dirname(os.path.abspath(module.__file__ or "")) + os.sep


def _author_line(error: BaseException) -> str:
    """Returns the place in code that is neither JAX's nor ours at which the error was raised, or an
    empty text if there is none."""
    packages = [_folder_of(module) for module in (jax, sys.modules["pallascope"])]
    if isinstance(error, SyntaxError):
        return f"{error.filename}:{error.lineno}: "
    frames = [frame for frame in traceback.extract_tb(error.__traceback__)
              if os.path.isfile(frame.filename)
              and not any(os.path.abspath(frame.filename).startswith(p) for p in packages)]
    return f"{frames[-1].filename}:{frames[-1].lineno} ({frames[-1].name}): " if frames else ""


def _first_line(error: Exception) -> str:
    kind = "" if isinstance(error, ValueError) else f"{type(error).__name__}: "
    text = error.msg if isinstance(error, SyntaxError) else str(error)
    return kind + (text.strip().splitlines() or ["no reason is given"])[0]


def _axis(text: str) -> tuple[str, int]:
    name, _, size = text.partition("=")
    if not name.isidentifier() or not size.isdecimal() or int(size) < 1:
        raise UserError(f"--mesh '{text}' is no AXIS=SIZE; use one such as 'x=8'")
    return name, int(size)


def _mesh(axes: Sequence[str]) -> dict[str, int]:
    mesh: dict[str, int] = {}
    for name, size in map(_axis, axes):
        if name in mesh:
            raise UserError(f"--mesh names the axis {name} twice; name each axis of the mesh once")
        mesh[name] = size
    return mesh


def _argument(text: str) -> jax.ShapeDtypeStruct:
    match = re.fullmatch(r"\s*(\w+)\s*\[((?:\s*[0-9]+\s*(?:,\s*[0-9]+\s*)*)?)\s*\]\s*", text)
    if not match or match[1] not in _NUMPY_NAMES:
        raise UserError(f"--arg '{text}' is no DTYPE[SHAPE]; use one such as 'f32[8,128]', with a "
                        f"dtype of {', '.join(DTYPES.values())}")
    shape = [int(extent) for extent in match[2].split(",") if extent.strip()]
    if max(shape, default=0) > _MOST_EXTENT:
        raise UserError(f"--arg '{text}' has the extent {max(shape)}; expected {_MOST_EXTENT} at "
                        "most")
    return jax.ShapeDtypeStruct(shape, jnp.dtype(_NUMPY_NAMES[match[1]]))


if __name__ == "__main__":
    sys.exit(main())
