"""What is timed: a kernel with its arguments, and what a plain reference says of its results."""
import dataclasses
import functools
import warnings
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

warnings.simplefilter("ignore", DeprecationWarning)  # JAX calls some of these kernels deprecated

F16, BF16, F32, I8 = jnp.float16, jnp.bfloat16, jnp.float32, jnp.int8
HIGH = jax.lax.Precision.HIGHEST


@dataclasses.dataclass
class Normal:
    """An argument of random normal numbers."""

    shape: tuple[int, ...]
    dtype: Any
    scale: float = 1.0


@dataclasses.dataclass
class Residuals:
    """Two arguments: what attention yields for the first three arguments, and its log-sum-exp."""

    shape: tuple[int, int, int, int]
    dtype: Any


@dataclasses.dataclass
class Made:
    fn: Callable[..., Any]     # what is timed
    args: list[Any]            # Normal, Residuals or a NumPy array
    check: Callable[..., Any]  # (results, arguments) -> [(ours, theirs), ...]
    tolerance: float           # of an error, relative to the largest element


@dataclasses.dataclass
class Case:
    family: str
    params: dict[str, Any]
    make: Callable[[], Made]
    cold: bool                 # timed once more with nothing of its arguments in L2

    @property
    def name(self):
        return self.family + "(" + ",".join(f"{key}={value}" for key, value in self.params.items()) + ")"


def case(family, maker, cold=False, **params):
    return Case(family, params, functools.partial(maker, **params), cold)


def dtype_of(name):
    return {"f16": F16, "bf16": BF16, "f32": F32, "i8": I8}[name]


def normal(*shape, dtype, scale=1.0):
    return Normal(shape, dtype, scale)


def shapes_of(args):
    """The arguments as JAX lowers a function for them."""
    shapes = []
    for arg in args:
        shapes.append(jax.ShapeDtypeStruct(arg.shape, arg.dtype))
        if isinstance(arg, Residuals):
            b, s, h, _ = arg.shape
            shapes.append(jax.ShapeDtypeStruct((b, h, s), F32))
    return shapes


def product(a, b):
    return jnp.matmul(a.astype(F32), b.astype(F32), precision=HIGH)


def product_check(outs, args):
    """The first and the last rows of a product."""
    a, b = args[:2]
    n = min(128, a.shape[0])
    return [(outs[0][:n], product(a[:n], b)), (outs[0][-n:], product(a[-n:], b))]


def group_sizes(total, groups, seed=3):
    """Sizes of groups that are cut at random."""
    cuts = np.sort(np.random.default_rng(seed).integers(0, total, groups - 1))
    return np.diff(np.concatenate([[0], cuts, [total]])).astype(np.int32)
