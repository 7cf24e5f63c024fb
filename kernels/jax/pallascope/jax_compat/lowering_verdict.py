"""Asks JAX's own lowering whether it accepts what was captured. No TPU or GPU is needed for that.
"""

from __future__ import annotations

import contextlib
import dataclasses
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import jax
from jax._src.interpreters import mlir

from pallascope.jax_compat import chips
from pallascope.jax_compat.stand_in_devices import device_of, devices_named

# The exceptions with which JAX's lowering refuses a kernel, by the names of their classes.
_REFUSALS = ("NotImplementedError", "ValueError", "VerificationError", "LoweringException",
             "MLIRError", "TypeError")
_PLEA = re.compile(r"Please file an? \w+ (?:at|on) \S+ *|Error details: *"
                   r"|Pallas encountered an internal verification error\. *")
_MOST_REASON = 400


def of(fn: Callable[..., Any], args: Sequence[Any], chip: str, cores: int,
       mesh: Any = None) -> dict[str, str]:
    """Returns what JAX's own lowering for the family of the chip says about the traced function,
    as the file holds it."""
    platform = "cuda" if chips.is_gpu(chip) else "tpu"
    try:
        with device_of(chip, cores, mesh), devices_named(chip, mesh), _deaf():
            jax.jit(fn).trace(*args).lower(lowering_platforms=(platform,))
    except Exception as error:  # noqa: BLE001 (any exception of JAX, or of what it calls)
        kind = type(error).__name__
        reason = _PLEA.sub("", str(error)).strip().partition("\n")[0][:_MOST_REASON]
        if kind in _REFUSALS:
            return {"accepted": "no", "reason": reason or f"{kind} without a text."}
        return {"reason": f"{kind}: {reason or 'without a text.'}"}
    return {"accepted": "yes"}


_ON_THE_HOST = ("debug_callback", "debug_print", "io_callback")


@contextlib.contextmanager
def _deaf() -> Iterator[None]:
    """Leaves out what only calls Python on the host, because JAX cannot lower it for a TPU that
    does not exist. Kernels have rules of their own for it."""
    def left_out(ctx: Any, *args: Any, **params: Any) -> Sequence[Any]:
        ctx.set_tokens_out(ctx.tokens_in)
        return ()

    tables = (mlir._lowerings, *mlir._platform_specific_lowerings.values())
    before = [(table, primitive, entry) for table in tables for primitive, entry in table.items()
              if primitive.name in _ON_THE_HOST]
    for table, primitive, entry in before:
        table[primitive] = dataclasses.replace(entry, rule=left_out)
    try:
        yield
    finally:
        for table, primitive, entry in before:
            table[primitive] = entry
