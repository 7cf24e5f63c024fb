"""JAX's types as types of the kernel file."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import jax
import numpy as np

from pallascope.jax_compat import jaxprs, ref_types
from pallascope.problems import NotCaptured
from pallascope.program import Type

# NumPy's names (with ml_dtypes) for the dtypes that the format has.
DTYPES = {
    "float32": "f32", "bfloat16": "bf16", "float16": "f16", "float8_e4m3fn": "f8e4m3fn",
    "float8_e5m2": "f8e5m2", "float8_e4m3b11fnuz": "f8e4m3b11fnuz", "float4_e2m1fn": "f4e2m1fn",
    **{name: name for name in (
        "int2", "uint2", "int4", "uint4", "int8", "uint8", "int16", "uint16", "int32", "uint32",
        "bool")}}

_NUMPY = {ours: theirs for theirs, ours in DTYPES.items()}

# Floats that the format holds as codes: they can be moved, packed and converted, but not computed
# with.
CODES = {"float8_e8m0fnu": "uint8"}
_MOVES = frozenset("""
    get swap masked_load masked_swap dma_start dma_wait reshape squeeze transpose broadcast_in_dim
    broadcast_to concatenate stack unstack split slice pad tile repeat roll rev gather scatter
    dynamic_slice dynamic_update_slice select_n convert_element_type bitcast bitcast_convert_type
    copy copy_p optimization_barrier pvary reshard sharding_constraint layout_cast name
    stop_gradient with_memory_space_constraint copy_gmem_to_smem copy_smem_to_gmem
    async_copy_scales_to_tmem async_copy_smem_to_tmem tcgen05_mma""".split())

_SEMAPHORES = {"semaphore": "semaphore", "dma_sem": "dma_semaphore",
               "barrier_semaphore": "barrier_semaphore"}

# JAX's memory spaces, by the text of the enumerator. ANY leaves the choice to the compiler, which
# takes HBM.
_SPACES = {"vmem": "vmem", "default": "vmem", "None": "vmem", "smem": "smem", "index": "smem",
           "any": "hbm", "hbm": "hbm", "gmem": "hbm", "ACC": "accumulator"}

_HELD_AS: dict[str, str] = {}  # for dtypes that refs hold as another one: that one

# Primitives that may be given random keys: those that move them as values, and the others.
_KEY_MOVES = frozenset("""
    reshape squeeze transpose broadcast_in_dim concatenate stack unstack split slice rev gather
    scatter dynamic_slice dynamic_update_slice select_n""".split())
_OF_KEYS = _KEY_MOVES | frozenset("""
    get random_seed random_wrap random_unwrap random_fold_in random_bits random_split random_clone
    prng_seed prng_split prng_join copy copy_p optimization_barrier name stop_gradient
    sharding_constraint pvary""".split())


def dtype_of(dtype: Any) -> str:
    """Returns our name for the dtype. Raises NotCaptured if the format lacks it, as it lacks the
    dtype of a PRNG key."""
    try:
        name = np.dtype(dtype).name
    except TypeError:  # an extended dtype
        name = str(dtype)
    if name.startswith("complex"):
        raise NotCaptured(f"complex numbers ({name}): use two arrays of floats")
    if name not in DTYPES and name not in CODES:
        raise NotCaptured(f"dtype {name}")
    return CODES.get(name) or DTYPES[name]


def is_code(dtype: Any) -> bool:
    """Returns whether the format holds elements of this dtype as codes."""
    return getattr(dtype, "name", "") in CODES


def key_words(dtype: Any) -> tuple[int, ...] | None:
    """Returns the shape of the words of a random key, which are uint32; None for another dtype."""
    implementation = getattr(dtype, "_impl", None)
    return None if implementation is None else tuple(implementation.key_shape)


def moves_keys(eqn: Any) -> bool:
    """Returns whether an equation moves random keys among values."""
    return eqn.primitive.name in _KEY_MOVES and any(
        key_words(v.aval.dtype) is not None for v in eqn.outvars)


def words_of(value: Any) -> np.ndarray:
    """Returns a value of JAX as an array. Random keys become their words."""
    if key_words(getattr(value, "dtype", None)) is not None:
        return np.asarray(jax.random.key_data(value))
    return np.asarray(value)


def with_keys(array: np.ndarray, dtype: Any) -> Any:
    """Returns what JAX had, given what `words_of` made of it."""
    implementation = getattr(dtype, "_impl", None)
    return array if implementation is None else jax.random.wrap_key_data(
        array, impl=implementation)


def check_elements(eqn: Any) -> None:
    """Raises NotCaptured if an equation computes with codes or keys. An equation that only holds
    other equations does not."""
    name = eqn.primitive.name
    for v in (*eqn.invars, *eqn.outvars):
        if (name not in _OF_KEYS and key_words(getattr(v.aval, "dtype", None)) is not None
                and not jaxprs.jaxprs_of(eqn)):
            raise NotCaptured(f"{name} of random keys")
    if name in _MOVES:
        return
    for v in (*eqn.invars, *eqn.outvars):
        if is_code(getattr(v.aval, "dtype", None)) and not jaxprs.jaxprs_of(eqn):
            raise NotCaptured(f"{name} of {v.aval.dtype.name}, which can be moved and "
                              "converted only: convert it first")


def stored(array: Any) -> np.ndarray:
    """Returns the array with its elements as the format holds them."""
    array = words_of(array)
    return array.view(CODES[array.dtype.name]) if is_code(array.dtype) else array


def bits_of(dtype: str) -> int:
    """Returns the number of bits of one element, for our name of the dtype."""
    if dtype in ("bf16", "bool"):
        return {"bf16": 16, "bool": 8}[dtype]
    digits = dtype.lstrip("abcdefghijklmnopqrstuvwxyz")
    return int(digits.partition("e")[0])


def array_type(aval: Any) -> Type:
    """Returns the type of a value in registers."""
    words = key_words(aval.dtype)
    if words is not None:
        return Type("uint32", (*shape_of(aval), *words))
    return Type(dtype_of(aval.dtype), shape_of(aval))


def shape_of(aval: Any) -> tuple[int, ...]:
    if not all(isinstance(extent, (int, np.integer)) for extent in aval.shape):
        raise NotCaptured(f"a shape that is not known before the run: {aval.shape}")
    if any(extent < 1 for extent in aval.shape):
        raise NotCaptured(f"an array without elements: {aval.shape}")
    return tuple(int(extent) for extent in aval.shape)


def semaphore_type(aval: Any) -> Type | None:
    """Returns the type of semaphores; None for other arrays."""
    space = _SEMAPHORES.get(str(getattr(aval.dtype, "name", "")))
    return Type("int32", shape_of(aval), space) if space else None


def struct(type_: Type) -> jax.ShapeDtypeStruct:
    """Returns JAX's type of an array."""
    return jax.ShapeDtypeStruct(type_.shape, np.dtype(_NUMPY[type_.dtype]))


@contextlib.contextmanager
def spaces(other: dict[str, str]) -> Iterator[None]:
    """Gives JAX's names of memories another meaning while a kernel is captured on cores with other
    memories."""
    before = dict(_SPACES)
    _SPACES.update(other)
    try:
        yield
    finally:
        _SPACES.clear()
        _SPACES.update(before)


@contextlib.contextmanager
def flags_as_int32() -> Iterator[None]:
    """Makes the bools of refs int32 while a kernel for a TPU is captured."""
    _HELD_AS["bool"] = "int32"
    try:
        yield
    finally:
        _HELD_AS.clear()


def ref_type(aval: Any) -> Type:
    """Returns the type of a ref that a kernel gets or allocates."""
    inner = aval.inner_aval
    semaphores = semaphore_type(inner)
    if semaphores is not None:
        return semaphores
    # Only the name, without what follows as in "ACC(mxu_id=0)".
    space = str(ref_types.memory_space(aval)).partition("(")[0]
    if space not in _SPACES:
        raise NotCaptured(f"memory space {space}")
    found = array_type(inner)
    return found._replace(dtype=_HELD_AS.get(found.dtype, found.dtype), space=_SPACES[space])


def bytes_of(dtype: str, elements: int) -> int:
    return elements * max(8, bits_of(dtype)) // 8
