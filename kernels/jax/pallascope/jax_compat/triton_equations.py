"""What a pallas_call asks of Triton."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any


@dataclasses.dataclass(frozen=True)
class Asked:
    """The warps of a block, and how many stages the compiler's pipeline of a loop has. The defaults
    are those of jax/_src/pallas/triton/pallas_call_registration.py."""

    warps: int = 4
    stages: int = 3


def asked_of(eqn: Any) -> Asked:
    given = eqn.params["compiler_params"]
    given = given.get("triton") if isinstance(given, Mapping) else given
    warps, stages = getattr(given, "num_warps", None), getattr(given, "num_stages", None)
    return Asked(Asked.warps if warps is None else int(warps),
                 Asked.stages if stages is None else int(stages))
