"""Arguments of cases on the GPU."""
import jax
import numpy as np

from attention import residuals_of
from case import Residuals

# Normal numbers for every argument, repeated as often as needed: a prime number of them, so that no row is as another.
_NUMBERS = np.random.default_rng(7).standard_normal(4_000_037).astype(np.float32)


def _array(arg):
    if isinstance(arg, np.ndarray):
        return arg
    if np.dtype(arg.dtype) == np.int8:
        numbers = np.clip(np.rint(_NUMBERS * arg.scale), -128, 127).astype(np.int8)
    else:
        numbers = (_NUMBERS * np.float32(arg.scale)).astype(arg.dtype)
    numbers = np.roll(numbers, hash(arg.shape) % 1000)  # arguments of different shapes begin differently
    return np.resize(numbers, arg.shape)


def on_device(args):
    found = []
    for arg in args:
        if isinstance(arg, Residuals):
            found += jax.jit(residuals_of)(*found[:3])
        else:
            found.append(jax.device_put(_array(arg)))
    return jax.block_until_ready(found)
