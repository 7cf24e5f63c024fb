"""Lists of rows that a copy takes: `ref.at[rows]`, where the rows are an array or a ref."""

from __future__ import annotations

import dataclasses
from typing import Any

from pallascope.jax_compat import ref_types
from pallascope.problems import NotCaptured
from pallascope.program import INDEX
from pallascope.rules.ref_transforms import view, window
from pallascope.walk import Leaf, Walk


@dataclasses.dataclass
class Rows:
    """A part of a ref; rows of its first axis are gathered or scattered."""

    part: Any  # the part with all of its rows
    list: int  # int32 numbers of rows, a value or a ref
    ignored: int | None  # the number that stands for no row


def _is_list(index: Any) -> bool:
    """Returns whether it is an array or a ref. A scalar counts as a single number."""
    if hasattr(index, "ignored_value"):
        return True
    return isinstance(index, ref_types.TransformedRef)


def has_list(part: Any, walk: Walk | None = None) -> bool:
    """Returns whether one of the part's indices is a list."""
    return any(_is_list(index) or _is_array(walk, index)
               for transform in part[1] if ref_types.transform_kind(transform) == "index"
               for index in transform.indices)


def _is_array(walk: Walk | None, index: Any) -> bool:
    if walk is None or not isinstance(index, Leaf):
        return False
    kind = walk.builder.types[index.value]
    return kind.space is not None or kind.shape != ()


def listed(walk: Walk, part: Any) -> Rows | None:
    """Returns what a copy takes of the part if it takes listed rows, or else None."""
    ref, transforms = part
    if not has_list(part, walk):
        return None
    if not walk.block_axes:
        raise NotCaptured("indices that are arrays: only subcores copy listed rows")
    *before, last = transforms
    places = [number for number, index in enumerate(last.indices) if _is_list(index)
              or _is_array(walk, index)] if ref_types.transform_kind(last) == "index" else []
    if len(places) != 1 or has_list((ref, before), walk):
        raise NotCaptured("a copy of listed rows that are listed twice, or taken in part")
    (axis,) = places
    if any(isinstance(index, ref_types.Slice) for index in last.indices[:axis]):
        raise NotCaptured("a copy that lists elements of an axis other than the first: list rows")
    index = last.indices[axis]
    ignored = getattr(index, "ignored_value", None)
    whole = dataclasses.replace(
        last, indices=(*last.indices[:axis], ref_types.Slice(0, int(last.shape[axis])),
                       *last.indices[axis + 1:]), int_indexer_shape=())
    return Rows((ref, (*before, whole)), _numbers(walk, getattr(index, "values", index)), ignored)


def _numbers(walk: Walk, index: Any) -> int:
    if isinstance(index, ref_types.TransformedRef):
        found = view(walk, window(walk, index.ref.value, index.transforms))
    else:
        found = index.value
    kind = walk.builder.types[found]
    if len(kind.shape) != 1:
        raise NotCaptured(f"a copy of rows that a list of shape {kind.shape} names: expected "
                          "one axis")
    if kind.space is not None and kind.dtype != INDEX.dtype:
        raise NotCaptured(f"a copy of rows that a ref of {kind.dtype} names: use int32")
    return found if kind.space is not None else walk.builder.convert(found, INDEX.dtype)
