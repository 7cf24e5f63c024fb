"""Which version of JAX this is, and what depends only on the version."""

from __future__ import annotations

import jax

VERSION: str = jax.__version__
DIGAMMA_OF_0 = float("-inf" if jax.__version_info__ >= (0, 11) else "nan")

# The release whose pipeline rules this JAX follows, named as in the format.
SCHEDULE = ".".join(VERSION.split(".")[:2])

# Whether Mosaic GPU has the primitives that the rules of a GPU's kernels know.
HAS_GPU_KERNELS: bool = jax.__version_info__ >= (0, 12)
