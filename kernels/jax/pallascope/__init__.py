"""Turns JAX functions with Pallas TPU kernels into kernel files for Pallascope.

    kernel = pallascope.capture(matmul, x, y)
    kernel.save("matmul.pallascope")

Nothing is run and no accelerator is needed: the function is only traced, and the trace is written
as docs/kernel_format.md describes.
"""

from pallascope.capture import Kernel, capture, capture_many
from pallascope.jax_compat.stand_in_devices import mesh_of
from pallascope.problems import Problem, UnsupportedError

__all__ = ["Kernel", "Problem", "UnsupportedError", "capture", "capture_many", "mesh_of"]
