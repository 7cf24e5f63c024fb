"""Sets JAX up before it starts: it computes on a CPU as the jaxpr says, without fusing or dropping
roundings."""

import os
import pathlib
import subprocess
import sys

import pytest

os.environ.setdefault("JAX_PLATFORMS", "cpu")
os.environ["XLA_FLAGS"] = (os.environ.get("XLA_FLAGS", "")
                           + " --xla_allow_excess_precision=false --xla_cpu_max_isa=AVX"
                           # Each function is compiled for one call.
                           + " --xla_llvm_disable_expensive_passes=true")

_ROOT = pathlib.Path(__file__).parents[2]
sys.path.insert(0, str(_ROOT / "kernels" / "jax"))
sys.path.insert(0, str(pathlib.Path(__file__).parent))
os.environ.setdefault("PALLASCOPE", str(_ROOT / "build" / "dev" / "bin" / "pallascope"))


@pytest.fixture(autouse=True)
def both_modes(monkeypatch):
    """Checks that runs do the same with only the values that are needed."""
    import both_modes as modes

    monkeypatch.setattr(subprocess, "run", modes.checked(subprocess.run))
