"""Which JAX this is, and what else depends on no more than its version."""

from __future__ import annotations

import jax

VERSION: str = jax.__version__
DIGAMMA_OF_0 = float("-inf" if jax.__version_info__ >= (0, 11) else "nan")

# The release whose pipeline rules this JAX follows, as the format names them.
SCHEDULE = ".".join(VERSION.split(".")[:2])
