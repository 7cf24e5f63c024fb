"""Sets JAX up before it starts: it computes on a CPU as the jaxpr says, without fusing or dropping
roundings."""

import gc
import importlib.metadata
import os
import pathlib
import subprocess
import sys

import pytest

os.environ.setdefault("JAX_PLATFORMS", "cpu")
os.environ["XLA_FLAGS"] = (os.environ.get("XLA_FLAGS", "")
                           + " --xla_allow_excess_precision=false --xla_cpu_max_isa=AVX"
                           # Each function is compiled for one call, and compiling it takes far
                           # longer than that call: the less is optimized, the better.
                           + " --xla_backend_optimization_level=0"
                           + " --xla_llvm_disable_expensive_passes=true"
                           + " --xla_cpu_parallel_codegen_split_count=1")
if tuple(map(int, importlib.metadata.version("jaxlib").split(".")[:2])) < (0, 11):
    # Later versions have no such choice, and stop at a flag that they do not know.
    os.environ["XLA_FLAGS"] += " --xla_cpu_use_fusion_emitters=false"

# JAX makes many objects that live long. Looking through them as often as Python does by itself
# finds little garbage.
gc.set_threshold(50_000, 20, 50)

_ROOT = pathlib.Path(__file__).parents[2]
sys.path.insert(0, str(_ROOT / "kernels" / "jax"))
sys.path.insert(0, str(pathlib.Path(__file__).parent))
os.environ.setdefault("PALLASCOPE", str(_ROOT / "build" / "dev" / "bin" / "pallascope"))


@pytest.fixture(autouse=True)
def both_modes(monkeypatch):
    """Checks that runs do the same with only the values that are needed."""
    import both_modes as modes

    monkeypatch.setattr(subprocess, "run", modes.checked(subprocess.run))
