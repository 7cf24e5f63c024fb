"""A GPU that JAX's Mosaic GPU asks for while it traces, although it does not exist."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from typing import Any

from pallascope.jax_compat import gpu_chips
from pallascope.jax_compat.answers import replaced


def attributes(chip: str) -> dict[str, Any]:
    """Returns what a device of JAX says about itself on the GPU."""
    gpu = gpu_chips.GPUS[chip]
    return {"core_count": gpu.multiprocessors,
            "compute_capability": "{}.{}".format(*gpu.compute_capability),
            "shared_memory_per_block_optin": gpu.shared_memory}


class _Cuda:
    """The versions of CUDA's libraries, which kernels that ship in JAX ask for."""

    @staticmethod
    def cuda_runtime_get_version() -> int:
        return 13000


@contextlib.contextmanager
def asked_as(chip: str, device: Any) -> Iterator[None]:
    """Makes JAX answer as on the GPU: for kernels that ask for the default device, and for its own
    pipelines, which differ from one architecture to the next. It would take every device that
    does not exist for a Hopper GPU."""
    from jax._src import lib
    from jax.experimental.mosaic.gpu import utils
    from jax.extend import backend

    answers = [(backend, "get_default_device", lambda *_, **__: device),
               (utils, "_infer_arch", lambda: gpu_chips.GPUS[chip].compute_capability)]
    answers += [(module, "cuda_versions", _Cuda) for name, module in list(sys.modules.items())
                if module is lib or name.startswith("jax.experimental.pallas.ops.gpu.")
                if hasattr(module, "cuda_versions")]
    with replaced(answers):
        yield
