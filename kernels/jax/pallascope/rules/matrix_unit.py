"""Rules of the matrix unit for kernels that use it directly.

What the unit keeps becomes memory beside a kernel's arguments. For each unit this is its right
operand, the operands staged in each register, its result FIFO and, up to JAX 0.10, where
accumulators have addresses, the accumulators.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from pallascope import types
from pallascope.jax_compat import jaxprs, ref_types
from pallascope.problems import NotCaptured
from pallascope.program import Params, Type
from pallascope.walk import Rule, Walk

_REGISTER_BYTES = 4096  # bytes of a register, the unit of addresses


def state_of(walk: Walk, body: Any) -> list[int]:
    """Returns what a kernel needs for the matrix unit besides its arguments."""
    walk.matrix_unit = {}
    _find(walk, body)
    return list(walk.matrix_unit.values())


def _find(walk: Walk, jaxpr: Any) -> None:
    inner, _ = jaxprs.open_jaxpr(jaxpr)
    for eqn in inner.eqns:
        name, params = eqn.primitive.name, eqn.params
        if name == "matmul_push_rhs":
            unit, type_ = params["mxu_index"], _rhs_type(eqn)
            for key in (("staged", unit, params["staging_register"]), ("rhs", unit)):
                _keep(walk, key, type_)
        elif name == "matmul_pop" and "acc_addr" in params:
            _keep(walk, _sum_key(params), types.array_type(eqn.outvars[0].aval))
        elif name == "matmul_pop_fifo":
            _keep(walk, ("fifo", params["mxu_index"]), types.array_type(eqn.outvars[0].aval))
        for part in jaxprs.jaxprs_of(eqn):
            _find(walk, part)


def _keep(walk: Walk, key: tuple[Any, ...], type_: Type) -> None:
    if key not in walk.matrix_unit:
        walk.matrix_unit[key] = walk.builder.value(type_._replace(space="accumulator"),
                                                   " ".join(map(str, key)))


def _sum_key(params: dict[str, Any]) -> tuple[Any, ...]:
    return "sum", params["mxu_index"], params["acc_addr"]


def _rhs_type(eqn: Any) -> Type:
    type_ = types.array_type(eqn.invars[0].aval)
    return type_._replace(shape=type_.shape[::-1]) if eqn.params["transpose"] else type_


def _kept(walk: Walk, eqn: Any, key: tuple[Any, ...], type_: Type | None = None) -> int:
    """Returns what is kept under the key, which must have the type."""
    ref = walk.matrix_unit.get(key)
    if ref is None:
        raise NotCaptured(f"{eqn.primitive.name} of what no other operation of the kernel fills or "
                          "takes")
    if type_ is not None and walk.builder.types[ref]._replace(space=None) != type_:
        raise NotCaptured(f"{eqn.primitive.name} where the matrix unit has another dtype or shape")
    return ref


def _sum(walk: Walk, eqn: Any, operands: list[int], type_: Type) -> int:
    if "acc_addr" not in eqn.params:
        if eqn.params["acc_transforms_tree"].num_leaves:
            raise NotCaptured(f"{eqn.primitive.name} of a part of an accumulator")
        return operands[0]
    _, unit, address = key = _sum_key(eqn.params)
    for other, ref in walk.matrix_unit.items():
        if other[:2] == ("sum", unit) and other != key:
            registers = math.prod(walk.builder.types[ref].shape) * 4 // _REGISTER_BYTES
            if other[2] <= address < other[2] + registers:
                raise NotCaptured(f"{eqn.primitive.name} of accumulators that overlap")
    return _kept(walk, eqn, key, type_)


def _push_rhs(walk: Walk, eqn: Any, operands: list[int]) -> list[int]:
    unit, register = eqn.params["mxu_index"], eqn.params["staging_register"]
    type_, value = _rhs_type(eqn), operands[0]
    for key in (("rhs", unit), ("staged", unit, register)):
        ref = _kept(walk, eqn, key, type_)
    if eqn.params["transpose"]:
        value = walk.builder.one("transpose", [value], type_, {"permutation": [1, 0]})
    return walk.builder.emit("matmul_push_rhs", [ref, value], [])


def _acc_lhs(walk: Walk, eqn: Any, operands: list[int]) -> list[int]:
    lhs = operands[-1] if "acc_addr" in eqn.params else operands[1]
    unit = (eqn.params["mxu_index"] if "acc_addr" in eqn.params
            else ref_types.memory_space(eqn.invars[0].aval).mxu_id)
    return _request(walk, eqn, lhs, unit, lambda total: _sum(walk, eqn, operands, total))


def _lhs_fifo(walk: Walk, eqn: Any, operands: list[int]) -> list[int]:
    unit = eqn.params["mxu_index"]
    return _request(walk, eqn, operands[0], unit,
                    lambda product: _kept(walk, eqn, ("fifo", unit), product))


def _request(walk: Walk, eqn: Any, lhs: int, unit: int, target: Callable[[Type], int]) -> list[int]:
    """Emits a product on the unit. `target` returns the ref for the result, given its type."""
    rhs = _kept(walk, eqn, ("rhs", unit))
    left, right = walk.builder.types[lhs], walk.builder.types[rhs]
    if left.dtype != right.dtype:
        raise NotCaptured(f"{eqn.primitive.name} of {left.dtype} with a right operand of "
                          f"{right.dtype}")
    total = Type("int32" if "int" in left.dtype else "f32", (left.shape[0], right.shape[1]))
    taken = [target(total), lhs, rhs]
    register = eqn.params["load_staged_rhs"]
    if register is not None:
        taken.append(_kept(walk, eqn, ("staged", unit, register)))
    params: Params = {"mxu": unit} if unit else {}
    return walk.builder.emit(eqn.primitive.name, taken, [], params)


def _pop(walk: Walk, eqn: Any, operands: list[int]) -> list[int]:
    result = walk.type_of(eqn.outvars[0])
    return [walk.builder.one("matmul_pop", [_sum(walk, eqn, operands, result)], result)]


def _pop_fifo(walk: Walk, eqn: Any, operands: list[int]) -> list[int]:
    del operands
    result = walk.type_of(eqn.outvars[0])
    fifo = _kept(walk, eqn, ("fifo", eqn.params["mxu_index"]), result)
    return [walk.builder.one("matmul_pop_fifo", [fifo], result)]


RULES: dict[str, Rule] = {"matmul_push_rhs": _push_rhs, "matmul_acc_lhs": _acc_lhs,
                          "matmul_pop": _pop, "matmul_lhs_fifo": _lhs_fifo,
                          "matmul_pop_fifo": _pop_fifo}
