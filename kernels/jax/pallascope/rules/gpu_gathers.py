"""Copies of rows that a list names (gather and scatter by the TMA), and of windows of an image
(im2col_ref). The format has a copy for each row, all of which arrive together."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

from pallascope.jax_compat import gpu_equations, ref_types
from pallascope.problems import NotCaptured
from pallascope.program import INDEX, Type
from pallascope.rules import ref_transforms
from pallascope.rules.gpu_refs import view
from pallascope.rules.ref_transforms import Axis, Window
from pallascope.walk import Leaf, Walk


def is_by_row(part: gpu_equations.Part) -> bool:
    return any(_is_listed(one) or _is_image(one) for one in part[1])


def _is_listed(transform: Any) -> bool:
    return ref_types.transform_kind(transform) == "index" and bool(
        tuple(transform.int_indexer_shape))


def _is_image(transform: Any) -> bool:
    return type(transform).__name__ == "Im2ColTransform"


def by_row(walk: Walk, near: int, far: gpu_equations.Part,
           emit: Callable[[int, int], Any]) -> None:
    """Emits a loop over the rows of `near`, a ref in SMEM: what emit(row, its place in GMEM)
    does."""
    builder = walk.builder
    counter = builder.value(INDEX)
    with builder.region([counter]) as region:
        ref, transforms = far
        place = (_of_image(walk, ref.value, transforms, counter) if _is_image(transforms[0])
                 else view(walk, (ref, tuple(_at_row(walk, one, counter) for one in transforms))))
        emit(ref_transforms.element(walk, near, 0, counter), place)
    builder.emit("scan", [], [], {"length": builder.types[near].shape[0]}, [region])


def _at_row(walk: Walk, transform: Any, counter: int) -> Any:
    """Returns the transform with the row that the list has at the counter."""
    if not _is_listed(transform):
        return transform
    builder, indices = walk.builder, list(transform.indices)
    lists = [place for place, index in enumerate(indices)
             if isinstance(index, Leaf) and builder.types[index.value].shape]
    if lists != [0] or len(builder.types[indices[0].value].shape) != 1:
        raise NotCaptured("a copy of listed elements: list rows, by one array in the first place")
    dtype = builder.types[indices[0].value].dtype
    one = builder.one("dynamic_slice", [indices[0].value, counter], Type(dtype, (1,)),
                      {"sizes": [1]})
    indices[0] = Leaf(builder.one("reshape", [one], Type(dtype), {"shape": []}))
    return dataclasses.replace(transform, indices=tuple(indices), int_indexer_shape=())


def _of_image(walk: Walk, ref: int, transforms: tuple[Any, ...], counter: int) -> int:
    """Returns the pixel of the window that the counter has reached. Windows are counted row by row
    and image by image."""
    image, *indexers = transforms
    if len(indexers) != 1 or any(map(any, image.padding)):
        raise NotCaptured("im2col_ref that is indexed twice, or has a padding")
    builder, extents = walk.builder, walk.builder.types[ref].shape
    rows, *offsets, channels = indexers[0].indices
    rest = builder.add_index(_start(walk, rows.start), counter)
    axes = [Axis(_start(walk, channels.start), int(channels.size))]
    for extent, size, offset in reversed(list(zip(extents[1:-1], image.window_shape, offsets,
                                                  strict=True))):
        count = builder.index(extent - size + 1)
        corner = builder.one("rem", [rest, count], INDEX)
        axes.insert(0, Axis(builder.add_index(corner, _start(walk, offset)), 1, kept=False))
        rest = builder.one("div", [rest, count], INDEX)
    axes.insert(0, Axis(rest, 1, kept=False))
    return ref_transforms.view(walk, Window(ref, axes))


def _start(walk: Walk, index: Any) -> int:
    return walk.index(index.value) if isinstance(index, Leaf) else walk.builder.index(int(index))
