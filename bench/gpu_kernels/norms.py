"""JAX's kernels of rows by Triton: layer norm, RMS norm, softmax."""
import jax

from case import F32, Made, case, dtype_of, normal


def norm(b, s, n, dtype, kind, backward=False):
    from jax.experimental.pallas.ops.gpu import layer_norm, rms_norm
    run = layer_norm.layer_norm if kind == "layer" else rms_norm.rms_norm

    def plain(x, w, b):
        if kind == "layer":
            x = x - x.mean(-1, keepdims=True)
        return x * jax.lax.rsqrt((x * x).mean(-1, keepdims=True) + 1e-5) * w + b

    def gradients(x, w, b, do):
        return jax.vjp(run, x, w, b)[1](do)

    def check(outs, args):
        x, w, b, *do = (arg.astype(F32) for arg in args)
        return list(zip(outs, jax.vjp(plain, x, w, b)[1](do[0]) if do else [plain(x, w, b)]))

    rows, weights = normal(b, s, n, dtype=dtype_of(dtype)), normal(n, dtype=dtype_of(dtype))
    return Made(gradients if backward else lambda x, w, b: run(x, w, b),
                [rows, weights, weights, rows] if backward else [rows, weights, weights], check,
                1e-4 if dtype == "f32" else 3e-2)


def softmax(rows, n, dtype, warps):
    from jax.experimental.pallas.ops.gpu import softmax as shipped
    return Made(lambda x: shipped.softmax(x, num_warps=warps), [normal(rows, n, dtype=dtype_of(dtype))],
                lambda outs, args: [(outs[0], jax.nn.softmax(args[0].astype(F32), axis=-1))],
                1e-4 if dtype == "f32" else 1e-2)


def _norm(kind, b, s, n, dtype, cold=False, **more):
    family = f"{kind}_norm_backward" if more else f"{kind}_norm"
    return case(family, norm, cold, b=b, s=s, n=n, dtype=dtype, kind=kind, **more)


def _softmax(rows, n, dtype, warps, cold=False):
    return case("softmax", softmax, cold, rows=rows, n=n, dtype=dtype, warps=warps)


CASES = [
    _norm("layer", 4, 2048, 4096, "f16"),
    _norm("rms", 4, 2048, 4096, "f16"),
    _norm("layer", 4, 2048, 1024, "f32", cold=True),
    _norm("rms", 4, 2048, 8192, "f32"),
    _norm("layer", 8, 4096, 4096, "f32"),
    _norm("rms", 8, 4096, 1024, "f16"),
    _norm("layer", 4, 2048, 4096, "f32", backward=True),
    _norm("rms", 4, 2048, 1024, "f16", backward=True),
    _softmax(8192, 4096, "f16", 4, cold=True),
    _softmax(8192, 4096, "f32", 8),
    _softmax(16384, 1024, "f32", 4),
    _softmax(4096, 16384, "f16", 8),
    _softmax(8192, 4096, "f16", 16),
]
