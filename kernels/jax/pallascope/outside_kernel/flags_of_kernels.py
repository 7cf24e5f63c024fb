"""Bools that a kernel for a TPU is given or yields. It has them as int32, so JAX casts them before
it and after it (jax/_src/pallas/mosaic/pallas_call_registration.py). XLA fuses these casts with
what is around them, and makes one of those that are equal."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from pallascope.jax_compat import jaxprs
from pallascope.outside_kernel import fusible_steps
from pallascope.outside_kernel.arrays import Array
from pallascope.outside_kernel.liveness import Frames
from pallascope.rules.flags_in_memory import is_flag

KERNELS = frozenset({"pallas_call", "mpmd_map"})

# Takes an equation and its operands. Returns its results.
Evaluate = Callable[[Any, list[Array]], list[Array]]


def are_in(eqn: Any) -> bool:
    """Returns whether the equation is a kernel with bools."""
    return eqn.primitive.name in KERNELS and any(is_flag(v.aval) for v in (*eqn.invars,
                                                                         *eqn.outvars))


def with_casts(eqn: Any, operands: list[Array], frames: Frames,
               evaluate: Evaluate) -> list[Array]:
    """Returns the results of a kernel with bools."""
    mapping = eqn.params.get("grid_mapping")
    bounds = mapping.num_dynamic_grid_bounds if mapping else 0  # they come first, and do not count
    updated = {operand + bounds for operand in dict(eqn.params["input_output_aliases"])}
    given = [_widened(array, frames, evaluate, shared=number not in updated)
             if is_flag(array.aval) else array for number, array in enumerate(operands)]
    kernel = eqn.replace(
        invars=list(map(_in_kernel, eqn.invars)), outvars=list(map(_in_kernel, eqn.outvars)),
        params=eqn.params | {"out_avals": tuple(map(_widened_aval, eqn.params["out_avals"]))})
    return [_cast(array, v.aval.dtype, evaluate) if is_flag(v.aval) else array
            for v, array in zip(eqn.outvars, evaluate(kernel, given), strict=True)]


def _widened(array: Array, frames: Frames, evaluate: Evaluate, shared: bool) -> Array:
    """Returns an array of bools as int32. Kernels share what they do not update."""
    made = frames.casts(array)
    if shared and made is not None:
        return made
    found = _cast(array, jnp.int32, evaluate)
    found.name, found.is_named = array.name, array.is_named
    if shared:
        frames.innermost.casts[array] = found
    return found


def _cast(array: Array, dtype: Any, evaluate: Evaluate) -> Array:
    eqn = fusible_steps.equation(lambda one: lax.convert_element_type(one, dtype), [array.aval])
    return evaluate(eqn, [array])[0]


def _in_kernel(v: Any) -> Any:
    is_cast = is_flag(v.aval) and not isinstance(v, jaxprs.Literal)
    return type(v)(_widened_aval(v.aval)) if is_cast else v


def _widened_aval(aval: Any) -> Any:
    return jax.core.ShapedArray(aval.shape, jnp.int32) if is_flag(aval) else aval
