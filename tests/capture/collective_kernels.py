"""Collectives around a kernel, in a shard_map. Run as a script, this is the oracle: JAX's results
on as many simulated devices.

    collective_kernels.py OUT.npz
"""

import os
import sys

if __name__ == "__main__":  # must happen before JAX starts
    os.environ["JAX_PLATFORMS"] = "cpu"
    os.environ["XLA_FLAGS"] = (os.environ.get("XLA_FLAGS", "")
                               + " --xla_force_host_platform_device_count=8")

import dataclasses
import math
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.experimental import pallas as pl
from jax.sharding import PartitionSpec as P

AB, BA = ("a", "b"), ("b", "a")
DTYPES = {"f32": np.float32, "bf16": jnp.bfloat16, "int32": np.int32}


def doubled(x, out=None):
    """Doubles x with a kernel."""
    def kernel(x_ref, o_ref):
        o_ref[...] = x_ref[...] + x_ref[...]

    return pl.pallas_call(kernel, out_shape=out or jax.ShapeDtypeStruct(x.shape, x.dtype),
                          interpret=out is None)(x)


@dataclasses.dataclass
class Case:
    """A function on every device of a mesh. `shape` is the shape of one device's part."""

    axes: dict[str, int]
    fn: Callable[..., Any]
    shape: tuple[int, ...]
    out: P
    dtype: str

    def on(self, mesh):
        return jax.shard_map(self.fn, mesh=mesh, in_specs=P(tuple(self.axes)), out_specs=self.out,
                             check_vma=False)

    def argument(self):
        shape = (math.prod(self.axes.values()) * self.shape[0], *self.shape[1:])
        return (np.random.default_rng(3).standard_normal(shape) * 99).astype(DTYPES[self.dtype])


def of_one_axis(n):
    """Returns, for each collective, a function on a part of eight rows and the specs of its result.
    """
    around = [(i, (i + 1) % n) for i in range(n)]
    return {
        "psum": (lambda x: doubled(lax.psum(doubled(x), "x")), P()),
        "pmean": (lambda x: lax.pmean(doubled(x), "x"), P()),
        "pmax": (lambda x: lax.pmax(doubled(x), "x"), P()),
        "pmin": (lambda x: doubled(lax.pmin(x, "x")), P()),
        "all_gather": (lambda x: doubled(lax.all_gather(doubled(x), "x", axis=1)), P()),
        "all_gather_tiled": (lambda x: lax.all_gather(doubled(x), "x", axis=1, tiled=True), P()),
        "psum_scatter": (lambda x: lax.psum_scatter(doubled(x).reshape(8 // n, n, -1), "x",
                                                    scatter_dimension=1), P("x")),
        "psum_scatter_tiled": (lambda x: doubled(lax.psum_scatter(x, "x", scatter_dimension=1,
                                                                  tiled=True)), P(None, "x")),
        "ppermute": (lambda x: doubled(lax.ppermute(doubled(x), "x", around)), P("x")),
        "ppermute_of_some": (lambda x: lax.ppermute(doubled(x), "x", [(0, n - 1)]), P("x")),
        "all_to_all": (lambda x: doubled(lax.all_to_all(doubled(x), "x", 0, 1, tiled=True)),
                       P("x")),
        "all_to_all_stacked": (lambda x: lax.all_to_all(doubled(x).reshape(8 // n, n, -1), "x", 1,
                                                        0), P("x")),
    }


def in_a_loop(x):
    """What comes from the ring lies where the next round sends from."""
    def turn(_, y):
        return doubled(lax.ppermute(y, "b", [(0, 1), (1, 0)])) + lax.psum(y, AB)

    return lax.fori_loop(0, 3, turn, x)


def in_a_scan(x):
    def step(most, row):
        most = most + lax.pmax(doubled(row).sum(), AB)
        return most, lax.all_gather(row * most, "a")

    return lax.scan(step, jnp.zeros((), x.dtype), x.reshape(4, 2, -1))


OF_TWO_AXES = {
    "psum_on_a": (lambda x: lax.psum(doubled(x), "a"), P("b")),
    "psum_on_b": (lambda x: lax.psum(doubled(x), "b"), P("a")),
    "psum_on_both": (lambda x: doubled(lax.psum(doubled(x), AB)), P()),
    "psum_of_parts_that_differ": (lambda x: lax.psum(doubled(x)[:3, :5], AB), P()),
    "psum_of_a_scalar": (lambda x: lax.psum(doubled(x)[0, 0], AB), P()),
    "all_gather_of_a_scalar": (lambda x: lax.all_gather(doubled(x)[0, 0], AB), P()),
    "psum_scatter_of_a_vector": (lambda x: lax.psum_scatter(doubled(x)[0, :2], "b")[None], P(AB)),
    "pmax_of_bools": (lambda x: lax.pmax(doubled(x) > 180, "b"), P("a")),
    "psum_of_two_arrays": (lambda x: lax.psum((x, doubled(x)[0]), AB), (P(), P())),
    "psum_of_a_constant": (lambda x: doubled(x) + lax.psum(np.ones((8, 128), x.dtype), "a"), P(AB)),
    "pmax_on_both": (lambda x: lax.pmax(doubled(x), BA), P()),
    "all_gather_on_b": (lambda x: lax.all_gather(doubled(x), "b", tiled=True), P("a")),
    "all_gather_on_both": (lambda x: lax.all_gather(doubled(x), AB, axis=1), P()),
    "all_gather_in_reverse": (lambda x: lax.all_gather(doubled(x), BA, axis=1, tiled=True), P()),
    "psum_scatter_on_both": (lambda x: lax.psum_scatter(doubled(x), BA, tiled=True), P(BA)),
    "all_to_all_on_b": (lambda x: lax.all_to_all(doubled(x), "b", 1, 0, tiled=True), P(AB)),
    "all_to_all_on_both": (lambda x: lax.all_to_all(doubled(x), AB, 0, 1, tiled=True), P(AB)),
    "all_to_all_in_reverse": (lambda x: lax.all_to_all(doubled(x), BA, 1, 0, tiled=True), P(AB)),
    "all_to_all_in_place": (lambda x: lax.all_to_all(doubled(x), BA, 1, 1, tiled=True), P(AB)),
    "ppermute_on_b": (lambda x: lax.ppermute(doubled(x), "b", [(0, 1), (1, 0)]), P(AB)),
    "ppermute_on_both": (lambda x: lax.ppermute(doubled(x), AB, [(0, 1), (1, 2), (2, 0)]), P(AB)),
    "in_a_loop": (in_a_loop, P(AB)),
    "in_a_scan": (in_a_scan, (P(), P())),
}

PAIRS, STRIPES = [[0, 1], [2, 3], [4, 5], [6, 7]], [[0, 2, 4, 6], [1, 3, 5, 7]]
MIXED = [[3, 0], [1, 6], [7, 2], [4, 5]]

# On eight devices, each group for itself.
OF_GROUPS = {
    "psum_of_pairs": (lambda x: lax.psum(doubled(x), "x", axis_index_groups=PAIRS), P("x")),
    "psum_of_stripes": (lambda x: lax.psum(doubled(x)[:3], "x", axis_index_groups=STRIPES), P("x")),
    "psum_of_ones": (lambda x: lax.psum(doubled(x), "x", axis_index_groups=[[i] for i in range(8)]),
                     P("x")),
    "pmax_of_mixed": (lambda x: lax.pmax(doubled(x), "x", axis_index_groups=MIXED), P("x")),
    "all_gather_of_stripes": (lambda x: lax.all_gather(doubled(x), "x", axis_index_groups=STRIPES),
                              P("x")),
    "all_gather_of_mixed": (lambda x: lax.all_gather(doubled(x), "x", axis_index_groups=MIXED,
                                                     tiled=True), P("x")),
    "psum_scatter_of_stripes": (lambda x: lax.psum_scatter(
        doubled(x), "x", axis_index_groups=STRIPES, tiled=True), P("x")),
    "all_to_all_of_mixed": (lambda x: lax.all_to_all(
        doubled(x), "x", 0, 1, axis_index_groups=MIXED, tiled=True), P("x")),
    "all_to_all_of_stripes": (lambda x: lax.all_to_all(
        doubled(x), "x", 1, 0, axis_index_groups=STRIPES, tiled=True), P("x")),
}


def cases():
    """Returns every collective on 2, 4 and 8 devices, each with another dtype, and on a mesh of two
    axes."""
    found = {}
    for number, n in enumerate((2, 4, 8)):
        for which, (name, (fn, out)) in enumerate(of_one_axis(n).items()):
            dtype = list(DTYPES)[(number + which) % 3]
            found[f"{name}_{n}"] = Case({"x": n}, fn, (8, 128), out, dtype)
    for name, (fn, out) in OF_TWO_AXES.items():
        found[name] = Case({"a": 2, "b": 2}, fn, (8, 128), out, "int32")
    for name, (fn, out) in OF_GROUPS.items():
        found[name] = Case({"x": 8}, fn, (8, 128), out, "int32")
    for n in (1, 3):
        for name in ("psum", "all_gather", "ppermute", "psum_scatter_tiled")[:3 + n % 3]:
            fn, out = of_one_axis(n)[name]
            found[f"{name}_{n}"] = Case({"x": n}, fn, (9, 128), out, "f32")
    return found


def main(out):
    results = {}
    for name, case in cases().items():
        devices = np.array(jax.devices()[:math.prod(case.axes.values())])
        mesh = jax.sharding.Mesh(devices.reshape(tuple(case.axes.values())), tuple(case.axes))
        leaves = jax.tree_util.tree_leaves(jax.jit(case.on(mesh))(case.argument()))
        for number, leaf in enumerate(leaves):
            # Exact for all three dtypes.
            results[f"{name} {number}"] = np.asarray(leaf.astype(np.float32))
    np.savez(out, **results)


if __name__ == "__main__":
    main(*sys.argv[1:])
