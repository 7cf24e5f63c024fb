"""Arrays that a shard_map cuts, outside of it. Each device does elementwise operations on its own
parts. For any other operation the arrays are gathered, and every device computes on the whole."""

from __future__ import annotations

import math
from typing import Any

import jax

from pallascope.outside_kernel import fusible_steps, fusion_operation, shard_maps
from pallascope.outside_kernel.arrays import Array, Arrays
from pallascope.outside_kernel.collectives import Collectives
from pallascope.walk import Walk


class DeviceParts:
    """The parts that devices have, outside of the shard_map."""

    def __init__(self, walk: Walk, arrays: Arrays, collectives: Collectives) -> None:
        self.walk = walk
        self.arrays = arrays
        self.collectives = collectives

    def of(self, array: Array, aval: Any, cut: list[list[str]]) -> Array:
        """Returns the part of an operand of a shard_map that one device has."""
        if array.partition and array.partition != cut:
            array = self.whole(array)
        is_new = not (array.refs or array.is_result or array.base) and array.scalar is None
        if not cut or array.partition or is_new:
            array.partition = cut
            array.aval = aval if is_new else array.aval
            return array
        ref = shard_maps.part_of(self.walk, self.arrays.ref(array, "hbm"), cut)
        return Array(aval, array.name, refs={"hbm": ref}, home="hbm", partition=cut,
                     of_kernel=array.of_kernel)

    def whole(self, array: Array) -> Array:
        """Returns the array as a whole on every device."""
        if array.base is not None and not array.partition:
            base = self.whole(array.base)
            return array if base is array.base else Array(array.aval, array.name, base=base)
        for place, axes in enumerate(array.partition or []):
            if axes:
                array = self.collectives.gathered(array, place, axes)
        return array

    def by_element(self, eqn: Any, operands: list[Array]) -> list[Array] | None:
        """Returns the parts of the results, or None if the operation is not elementwise."""
        cut = next((array.partition for array in operands if array.partition), None)
        (result,) = eqn.outvars if len(eqn.outvars) == 1 else [None]
        if cut is None or result is None or eqn.primitive.name not in fusible_steps.BY_ELEMENT:
            return None
        sizes = [math.prod(self.walk.devices[axis] for axis in axes) for axes in cut]
        part = tuple(extent // size for extent, size
                     in zip(result.aval.shape, sizes, strict=True))
        avals = [jax.ShapeDtypeStruct(part if v.aval.shape else (), v.aval.dtype)
                 for v in (*eqn.invars, result)]
        parts = [self.of(array, aval, cut) if aval.shape else array
                 for array, aval in zip(operands, avals, strict=False)]
        jaxpr = jax.make_jaxpr(lambda *args: eqn.primitive.bind(*args, **eqn.params))(*avals[:-1])
        if not jaxpr.eqns:  # a conversion to the dtype that it has already
            return parts
        (same,) = jaxpr.eqns
        found = self.arrays.new_result(same.outvars[0].aval)
        found.partition = cut
        fusion_operation.compute(self.walk, same.replace(source_info=eqn.source_info),
                                 [self.arrays.ref(array, "hbm") if array.aval.shape
                                  else self.arrays.scalar(array) for array in parts], [found.ref()])
        return [found]
