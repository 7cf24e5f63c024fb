"""The functions behind the rows of kernel_timings.csv that were measured on a GPU, to be captured on
a CPU: nothing is run.

Needs the sources that published_kernels/unpack.py fetches, in the folder that KERNELS names, and the
packages that the README beside it lists, with JAX 0.12.0.1.
"""
import inspect
import json
import re

import cases
import jax
import jax.numpy as jnp
import numpy as np

_DTYPES = {**cases.DTYPE, "f16": "float16"}
_ARRAY = re.compile(r"(\w+) (\w+)\[([\d,]*)\]")
# family and kind of kernel -> module under tokamax._src.ops, class
_CLASSES = {
    ("flash_attention", "pallas_mosaic_gpu"): ("attention.pallas_mosaic_gpu", "PallasMosaicGpuFlashAttention"),
    ("flash_attention", "pallas_triton"): ("attention.pallas_triton", "PallasTritonFlashAttention"),
    ("flash_attention_vjp", "pallas_mosaic_gpu"):
        ("attention.pallas_mosaic_gpu_vjp", "PallasMosaicGpuFlashAttentionVjp"),
    ("flash_attention_vjp", "pallas_triton"): ("attention.pallas_triton_vjp", "PallasTritonFlashAttentionVjp"),
    ("gated_linear_unit", "pallas_mosaic_gpu"):
        ("gated_linear_unit.pallas_mosaic_gpu", "PallasMosaicGpuGatedLinearUnit"),
    ("gated_linear_unit", "pallas_triton"): ("gated_linear_unit.pallas_triton", "PallasTritonGatedLinearUnit"),
    ("ragged_dot", "pallas_mosaic_gpu"): ("ragged_dot.pallas_mosaic_gpu", "PallasMosaicGpuRaggedDot"),
    ("ragged_dot", "pallas_triton"): ("ragged_dot.pallas_triton", "PallasTritonRaggedDot"),
    ("normalization", "pallas_triton"): ("normalization.pallas_triton", "PallasTritonNormalization"),
}


def _struct(dtype, shape):
    return jax.ShapeDtypeStruct(tuple(int(n) for n in shape.split(",") if n), jnp.dtype(_DTYPES[dtype]))


def _arrays(text):
    """{name: array} of "q bf16[2,3] k bf16[2,3]"."""
    return {name: _struct(dtype, shape) for name, dtype, shape in _ARRAY.findall(text)}


def _typed(text):
    """The array of "bf16[2,3]", None for an empty text."""
    return _struct(*re.fullmatch(r"(\w+)\[([\d,]*)\]", text).groups()) if text else None


def _config(cls, text):
    """The row's configuration as the class takes it: of several kinds that of Hopper. The sources are newer than
    the timings: a switch that they no longer have, and that was off, is left out."""
    given = json.loads(text)
    kinds = getattr(cls.config_cls, "__args__", (cls.config_cls,))
    kind = next((kind for kind in kinds if kind.__module__.endswith("sm90")), kinds[0])
    unknown = [name for name in given if name not in kind.__dataclass_fields__]
    if any(given[name] is not False for name in unknown):
        raise ValueError(f"the kernel's configuration has no {', '.join(unknown)}")
    return kind(**{name: value for name, value in given.items() if name not in unknown})


def _attention(row, arrays, fixed):
    """q, k, v, then bias and mask if the row has them."""
    mask = cases.ops("attention.base").Mask
    q = arrays["q"]
    fixed.update(precision=((jax.lax.Precision.DEFAULT,) * 2,) * 2, logits_dtype=jnp.dtype(jnp.float32),
                 logits_scale=q.shape[-1] ** -0.5, normalize_output=True, dropout_rate=0.0)
    given = dict(arrays, bias=_typed(row["bias"]), mask=_typed(row["mask"]))
    given = {name: one for name, one in given.items() if one is not None}
    if row["op"] == "flash_attention_vjp":
        heads = jax.ShapeDtypeStruct((*q.shape[:-3], q.shape[-2], q.shape[-3]), jnp.float32)
        out = jax.ShapeDtypeStruct((*q.shape[:-1], arrays["v"].shape[-1]), q.dtype)
        given = {"residuals.m": heads, "residuals.l": heads, "out": out, "dout": out, **given}

    def finish(named):
        named["mask"] = mask(named.get("mask"), is_causal=row["causal"] == "1")
        if "residuals.m" in named:
            named["residuals"] = (named.pop("residuals.m"), named.pop("residuals.l"))
        return named

    return given, {}, finish


def _gated(row, arrays, fixed):
    fixed.update(activation=getattr(jax.nn, re.search(r"act=(\w+)", row["shapes"]).group(1)),
                 precision=(jax.lax.Precision.DEFAULT,) * 2)
    return {"x": arrays["x"], "weights": arrays["w"]}, {}, lambda named: named


def _ragged(row, arrays, fixed):
    base = cases.ops("ragged_dot.base")
    mode = row["mode"].replace("+residuals", "")
    fixed.update(precision=(jax.lax.Precision.DEFAULT,) * 2, preferred_element_type=None, ragged_dot_dimension_numbers={
        "gmm": base.DEFAULT_RAGGED_DOT_DIM_NUMS, "gmm_transpose_rhs(dlhs)": base.TRANS_RHS_RAGGED_DOT_DIM_NUMS,
        "tgmm(drhs)": base.RAGGED_CONTRACTING_DOT_DIM_NUMS}[mode])
    groups, rows = int(row["num_groups"]), arrays["lhs"].shape[0]
    if "seed0" in row["shapes"]:
        sizes = cases.group_sizes({"num_groups": groups, "total_size": rows})
    else:  # given one by one, but not published: as even as they can be
        sizes = np.full(groups, rows // groups) + (np.arange(groups) < rows % groups)
    given = {"lhs": arrays["lhs"], "rhs": arrays["rhs"],
             "group_sizes": jax.ShapeDtypeStruct((groups,), jnp.int32)}
    return given, {"group_sizes": sizes.astype(np.int32)}, lambda named: named


_FAMILIES = {"flash_attention": _attention, "flash_attention_vjp": _attention,
             "gated_linear_unit": _gated, "ragged_dot": _ragged}


def case(row):
    """(function, arguments, {number of an argument: the integers that it must hold}) of a row."""
    module, name = _CLASSES[row["op"], row["backend"]]
    cls = getattr(cases.ops(module), name)
    config, fixed = _config(cls, row["config"]), {}
    given, values, finish = _FAMILIES[row["op"]](row, _arrays(row["shapes"]), fixed)
    residuals = row["mode"].endswith("+residuals")
    signature = inspect.signature(cls._fwd).parameters
    for parameter in signature.values():  # what is None unless a row says otherwise
        if parameter.default is inspect.Parameter.empty and parameter.name not in ("self", "config"):
            fixed.setdefault(parameter.name, None)
    fixed["return_residuals"] = residuals
    operation = cls()

    def function(*arguments):
        named = finish(dict(zip(given, arguments)))
        found, kept = operation._fwd(config=config, **{**fixed, **named})
        if row["op"] == "flash_attention_vjp":
            return tuple(one for one in map(found.get, ("q", "k", "v", "bias")) if one is not None)
        return (found, kept) if residuals else found

    function.__name__ = row["op"]
    numbers = list(given)
    return function, list(given.values()), {numbers.index(name): value for name, value in values.items()}
