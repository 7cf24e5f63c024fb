"""Times of kernels on the device, by CUPTI."""
import collections
import statistics
import time

import jax
import jax.numpy as jnp
import numpy as np
from jax._src.lib import mosaic_gpu

from compiler import XLA

_CUPTI = mosaic_gpu._mosaic_gpu_ext
_FLUSHED_WORDS = 1 << 26  # 256 MiB, several times L2
_FLUSH = "popcnt", "population"  # what the kernel that empties L2 has in its name


def _calls(call, n):
    """Calls n times. The host is at most 16 calls ahead."""
    out = None
    for i in range(n):
        out = call()
        if i % 16 == 15:
            jax.block_until_ready(out)
    jax.block_until_ready(out)


def _wall_s(call, n):
    begin = time.perf_counter()
    _calls(call, n)
    return (time.perf_counter() - begin) / n


def _traced(call, n):
    """[(kernel, microseconds), ...] of n calls, in their order."""
    _CUPTI._cupti_init()
    try:
        _calls(call, n)
    finally:
        found = _CUPTI._cupti_get_timings(True)
    return [(name, ms * 1e3) for name, ms in found or []]


def _by_kernel(found, n):
    """[(kernel, its times), ...]: for each kernel of a call, or by name if calls differ in the order of kernels."""
    per_call, rest = divmod(len(found), n)
    names = [name for name, _ in found[:per_call]]
    if not rest and all(name == names[i % per_call] for i, (name, _) in enumerate(found)):
        return [(name, [us for _, us in found[j::per_call]]) for j, name in enumerate(names)]
    times = collections.defaultdict(list)
    for name, us in found:
        times[name].append(us)
    return list(times.items())


def _summary(found, n):
    if not found:
        raise RuntimeError("CUPTI saw no kernels")
    slots = _by_kernel(found, n)
    ours = [times for name, times in slots if not XLA.match(name)] or [times for _, times in slots]
    if all(len(times) == n for times in ours):
        each = [sum(times) for times in zip(*ours)]
    else:
        each = [sum(sum(times) for times in ours) / n]
    q1, _, q3 = statistics.quantiles(each, n=4, method="inclusive") if len(each) > 2 else (min(each), 0, max(each))
    everything = sum(statistics.median(times) * len(times) / n for _, times in slots)
    figures = {"median_us": statistics.median(each), "q1_us": q1, "q3_us": q3, "all_us": everything}
    return {**{name: round(us, 3) for name, us in figures.items()}, "repeats": n}


def warm(call):
    """Times of the kernels of a call, when calls go on: all that L2 can hold of the arguments is there."""
    once = _wall_s(call, 3)
    _calls(call, max(2, min(200, int(0.03 / once))))  # the clock rises while the GPU has work
    n = max(9, min(60, int(0.08 / _wall_s(call, 5))))
    return _summary(_traced(call, n), n)


def cold(call, n=15):
    """The same with L2 full of something else before each call."""
    words = jax.device_put(np.ones(_FLUSHED_WORDS, np.uint32))
    flush = jax.jit(jax.lax.population_count).lower(jax.ShapeDtypeStruct(words.shape, jnp.uint32)).compile()

    def both():
        return flush(words), call()

    _calls(both, 3)
    return _summary([(name, us) for name, us in _traced(both, n) if not any(word in name for word in _FLUSH)], n)
