"""Makes the equation of emit_pipeline accept the index map of an Indirect block.

JAX, up to 0.12, refuses every array that an index map of that equation yields, but accepts it if
the pipeline is inlined. So the array passes for a scalar while JAX looks at the index map.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Iterator
from typing import Any

import jax
from jax._src import core as jax_core
from jax._src.pallas import core as pallas_core

# An array of indices that passes for a scalar.
LIST = "pallascope_list"
_list_p = jax_core.Primitive(LIST)
_list_p.def_abstract_eval(lambda indices: jax_core.ShapedArray((), indices.dtype))


@contextlib.contextmanager
def lists_hidden() -> Iterator[None]:
    """Hides, while a function is traced, that an index map yields an array of indices."""
    spec = pallas_core.BlockSpec
    before = spec.to_block_mapping

    def to_block_mapping(self: Any, *args: Any, **kwargs: Any) -> Any:
        is_listed = [type(dim).__name__ == "Indirect" for dim in self.block_shape or ()]
        index_map = self.index_map
        if not any(is_listed) or index_map is None:
            return before(self, *args, **kwargs)

        @functools.wraps(getattr(index_map, "index_map", index_map))
        def hidden(*indices: Any) -> tuple[Any, ...]:
            found = index_map(*indices)
            if len(found) != len(is_listed):
                return found
            return tuple(_list_p.bind(jax.numpy.asarray(index)) if listed else index
                         for index, listed in zip(found, is_listed, strict=True))

        return before(self.replace(index_map=hidden), *args, **kwargs)

    spec.to_block_mapping = to_block_mapping
    try:
        yield
    finally:
        spec.to_block_mapping = before
