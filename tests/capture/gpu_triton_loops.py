"""Kernels that JAX gives to Triton: loops and their stages, products, reductions, branches."""

import jax.numpy as jnp
import numpy as np
from gpu_case import case, like, ramp
from gpu_triton import call, rows
from jax import lax
from jax.experimental import pallas as pl
from jax.experimental.pallas import triton as pltriton


def _matmul(x, y, warps=None, stages=None, block=32):
    m, k = x.shape
    n = y.shape[1]

    def kernel(x_ref, y_ref, o_ref):
        def step(i, total):
            here = pl.ds(i * block, block)
            return total + pltriton.dot(x_ref[:, here], y_ref[here, :])

        total = lax.fori_loop(0, k // block, step, jnp.zeros((block, block), jnp.float32))
        o_ref[...] = total.astype(o_ref.dtype)

    return call(kernel, out_shape=like(m, n), grid=(m // block, n // block), warps=warps,
                stages=stages, in_specs=[pl.BlockSpec((block, k), lambda i, j: (i, 0)),
                                         pl.BlockSpec((k, block), lambda i, j: (0, j))],
                out_specs=pl.BlockSpec((block, block), lambda i, j: (i, j)))(x, y)


def _times(x, y):
    return x.astype(np.float32) @ y.astype(np.float32)


_HALVES = ramp(64, 128, dtype=np.float16), ramp(128, 96, dtype=np.float16)


@case(*_HALVES, wanted=_times, has="scan dot_general")
def a_matmul(x, y):
    return _matmul(x, y)


for _warps in (1, 2, 8):
    def _with_warps(x, y, warps=_warps):
        return _matmul(x, y, warps=warps)

    _with_warps.__name__ = f"a_matmul_of_{_warps}_warps"
    case(*_HALVES, wanted=_times, has="dot_general")(_with_warps)


for _stages in (1, 2, 4):
    def _with_stages(x, y, stages=_stages):
        return _matmul(x, y, stages=stages)

    _with_stages.__name__ = f"a_matmul_of_{_stages}_stages"
    case(*_HALVES, wanted=_times, has="dot_general")(_with_stages)


# Of 64 rows, as wgmma takes them.
_LARGE = ramp(64, 320, dtype=np.float16), ramp(320, 64, dtype=np.float16)


for _stages in (2, 4):
    def _of_many_rows(x, y, stages=_stages):
        return _matmul(x, y, stages=stages, block=64)

    _of_many_rows.__name__ = f"a_matmul_of_many_rows_and_{_stages}_stages"
    case(*_LARGE, wanted=_times, has="dot_general copy_gmem_to_smem")(_of_many_rows)


@case(*_LARGE, ramp(64, 320, dtype=np.float16) / 64, np.arange(320) % 3 > 0,
      has="dot_general select_n", is_interpreted=False,
      wanted=lambda x, y, b, m: _times(x, y) + sum(
          np.where(m[k:k + 64], b[:, k:k + 64].astype(np.float32), 0) for k in range(0, 320, 64)))
def products_that_are_added_to_something_loaded(x, y, b, m):
    """Only the factors of products are loaded early."""
    def kernel(x_ref, y_ref, b_ref, m_ref, o_ref):
        def step(i, total):
            here = pl.ds(i * 64, 64)
            product = pltriton.dot(x_ref[:, here], y_ref[here, :])
            more = jnp.where(m_ref[here][None, :], b_ref[:, here].astype(jnp.float32), 0)
            return total + (more + product)

        o_ref[...] = lax.fori_loop(0, 5, step, jnp.zeros((64, 64), jnp.float32))

    return call(kernel, out_shape=like(64, 64), grid=(1,), stages=2)(x, y, b, m)


@case(ramp(50, 72, dtype=np.float16), ramp(72, 40, dtype=np.float16), wanted=_times,
      is_interpreted=False, has="scan copy_gmem_to_smem masked_swap")
def a_matmul_whose_blocks_leave_all_arrays(x, y):
    def kernel(x_ref, y_ref, o_ref):
        i, j, lane = pl.program_id(0) * 32, pl.program_id(1) * 32, jnp.arange(32)
        rows, columns = (i + lane < 50)[:, None], (j + lane < 40)[None, :]

        def step(k, total):
            inner = k * 32 + lane < 72
            a = pltriton.load(x_ref.at[pl.ds(i, 32), pl.ds(k * 32, 32)],
                              mask=rows & inner[None, :], other=0.0)
            b = pltriton.load(y_ref.at[(k * 32 + lane)[:, None], (j + lane)[None, :]],
                              mask=inner[:, None] & columns, other=0.0)
            return total + pltriton.dot(a, b)

        total = lax.fori_loop(0, 3, step, jnp.zeros((32, 32), jnp.float32))
        pltriton.store(o_ref.at[pl.ds(i, 32), pl.ds(j, 32)], total, mask=rows & columns)

    return call(kernel, out_shape=like(50, 40), grid=(2, 2))(x, y)


_FLOATS = tuple(np.random.default_rng(seed).normal(size=(64, 64)).astype(np.float32)
                for seed in (1, 2))


def _rounded(dtype):
    return lambda x, y: x.astype(dtype).astype(np.float64) @ y.astype(dtype).astype(np.float64)


# How far off the largest element is: f32 keeps 24 bits of a factor, TF32 11, which are multiplied
# as they are, f16 11, and bf16 8, of which two parts leave an error of 2**-16.
for _name, _wanted, _tolerance in [
        ("TF32_TF32_F32", _times, 1e-6), ("TF32_TF32_F32_X3", _times, 2e-6),
        ("F32_F32_F32", _times, 1e-6), ("F16_F16_F16", _rounded(np.float16), 2e-3),
        ("F16_F16_F32", _rounded(np.float16), 1e-6),
        ("BF16_BF16_BF16", _rounded(jnp.bfloat16), 1e-2),
        ("BF16_BF16_F32", _rounded(jnp.bfloat16), 1e-6), ("BF16_BF16_F32_X3", _times, 3e-5),
        ("BF16_BF16_F32_X6", _times, 2e-6), ("BF16_BF16_F32_X9", _times, 2e-6)]:
    def _by_algorithm(x, y, name=_name):
        def kernel(x_ref, y_ref, o_ref):
            o_ref[...] = lax.dot(x_ref[...], y_ref[...], precision=lax.DotAlgorithmPreset[name],
                                 preferred_element_type=jnp.float32)

        return call(kernel, out_shape=like(64, 64))(x, y)

    _by_algorithm.__name__ = f"a_product_by_{_name}"
    case(*_FLOATS, wanted=_wanted, tolerance=_tolerance, is_interpreted=False,
         has="dot_general")(_by_algorithm)


def _taps_of(x, w):
    before = np.concatenate([np.zeros((3, 16), np.float32), x.astype(np.float32)])
    return sum(before[t:t + 48] @ w[t].astype(np.float32) for t in range(4))


# In the first block the windows of three taps begin before the array.
for _stages in (1, 2, 3):
    def _taps(x, w, stages=_stages):
        def kernel(x_ref, w_ref, o_ref):
            first = pl.program_id(0) * 16 - 3

            def tap(t, total):
                rows = first + t + jnp.arange(16)
                mask = ((rows >= 0) & (rows < 48))[:, None]
                part = pltriton.load(x_ref.at[rows[:, None], jnp.arange(16)[None, :]], mask=mask,
                                     other=0.0)
                return total + pltriton.dot(part, w_ref[t])

            o_ref[...] = lax.fori_loop(0, 4, tap, jnp.zeros((16, 16), jnp.float32))

        return call(kernel, out_shape=like(48, 16), grid=(3,), out_specs=rows(16, 16),
                    stages=stages, in_specs=[pl.BlockSpec(memory_space=pl.ANY)] * 2)(x, w)

    _taps.__name__ = f"a_causal_convolution_of_{_stages}_stages"
    case(ramp(48, 16, dtype=np.float16), ramp(4, 16, 16, dtype=np.float16), wanted=_taps_of,
         has="dot_general" + " copy_gmem_to_smem" * (_stages > 1))(_taps)


@case(_HALVES[0], _HALVES[1][:, :64].copy(), np.arange(128, dtype=np.int32) % 3,
      wanted=lambda x, y, m: _times(x * (m > 0), y), has="copy_gmem_to_smem")
def a_matmul_whose_mask_is_loaded(x, y, m):
    """Which elements the copies take is not known when they start."""
    def kernel(x_ref, y_ref, m_ref, o_ref):
        def step(k, total):
            here = pl.ds(k * 32, 32)
            left = pltriton.load(x_ref.at[:, here], mask=m_ref[here][None, :] > 0, other=0.0)
            return total + pltriton.dot(left, y_ref[here, :])

        o_ref[...] = lax.fori_loop(0, 4, step, jnp.zeros((64, 64), jnp.float32))

    return call(kernel, out_shape=like(64, 64), grid=(1,))(x, y, m)


@case(_HALVES[0], _HALVES[1][:, :64].copy(), np.array([96, 128], np.int32),
      has="while copy_gmem_to_smem",
      wanted=lambda x, y, n: np.concatenate([_times(x[:32, :96], y[:96]), _times(x[32:], y)]))
def a_matmul_whose_length_is_loaded(x, y, n):
    def kernel(x_ref, y_ref, n_ref, o_ref):
        def step(k, total):
            here = pl.ds(k * 32, 32)
            return total + pltriton.dot(x_ref[:, here], y_ref[here, :])

        o_ref[...] = lax.fori_loop(0, n_ref[...] // 32, step, jnp.zeros((32, 64), jnp.float32))

    return call(kernel, out_shape=like(64, 64), grid=(2,), out_specs=rows(32, 64), stages=3,
                in_specs=[rows(32, 128), pl.BlockSpec((128, 64), lambda i: (0, 0)),
                          pl.BlockSpec((None,), lambda i: (i,))])(x, y, n)


@case(ramp(64), np.array([3, 0, 5, 2], np.int32), has="while",
      wanted=lambda x, n: np.array([x[16 * i:16 * i + c].sum() for i, c in enumerate(n)],
                                   np.float32))
def a_loop_whose_length_is_loaded(x, counts):
    def kernel(x_ref, n_ref, o_ref):
        def step(i, total):
            return total + x_ref[i]

        o_ref[...] = lax.fori_loop(0, n_ref[...], step, jnp.float32(0))

    one = pl.BlockSpec((None,), lambda i: (i,))
    return call(kernel, out_shape=like(4), grid=(4,), in_specs=[rows(16), one], out_specs=one)(
        x, counts)


@case(ramp(4, 64), wanted=lambda x: np.where((np.arange(4) % 2 == 0)[:, None], x + 1, -x),
      has="cond")
def branches(x):
    def kernel(x_ref, o_ref):
        @pl.when(pl.program_id(0) % 2 == 0)
        def _():
            o_ref[...] = x_ref[...] + 1

        @pl.when(pl.program_id(0) % 2 == 1)
        def _():
            o_ref[...] = -x_ref[...]

    return call(kernel, out_shape=like(4, 64), grid=(4,), in_specs=[rows(1, 64)],
                out_specs=rows(1, 64))(x)


@case(ramp(16, 32), wanted=lambda x: (x.sum(1), x.max(0), x.argmax(1).astype(np.int32),
                                      x.argmin(1).astype(np.int32),
                                      np.cumsum(x, 1, dtype=np.float32)),
      has="reduce_sum reduce_max argmax argmin cumsum")
def reductions(x):
    def kernel(x_ref, s_ref, m_ref, a_ref, i_ref, c_ref):
        x = x_ref[...]
        s_ref[...], m_ref[...] = x.sum(1), x.max(0)
        a_ref[...], i_ref[...] = jnp.argmax(x, 1), jnp.argmin(x, 1)
        c_ref[...] = jnp.cumsum(x, 1)

    rows = like(16, dtype=np.int32)
    return call(kernel, out_shape=(like(16), like(32), rows, rows, like(16, 32)))(x)


_NORMAL = np.random.default_rng(0).standard_normal((6, 100)).astype(np.float32)


def _softmax(x):
    e = np.exp(x - x.max(1, keepdims=True))
    return e / e.sum(1, keepdims=True)


@case(_NORMAL, wanted=_softmax, tolerance=1e-6, has="exp masked_load")
def a_softmax(x):
    def kernel(x_ref, o_ref):
        here = jnp.arange(128) < 100
        x = pltriton.load(x_ref.at[pl.ds(0, 128)], mask=here, other=-float("inf"))
        e = jnp.exp(x - x.max())
        pltriton.store(o_ref.at[pl.ds(0, 128)], e / e.sum(), mask=here)

    row = pl.BlockSpec((None, 128), lambda i: (i, 0))
    return call(kernel, out_shape=like(6, 100), grid=(6,), in_specs=[row], out_specs=row)(x)


def _normalised(x, w):
    mean = x.mean(1, keepdims=True)
    return (x - mean) / np.sqrt(((x - mean) ** 2).mean(1, keepdims=True) + 1e-5) * w


@case(_NORMAL, _NORMAL[0], wanted=_normalised, tolerance=1e-5, has="rsqrt while")
def a_layer_norm_in_chunks(x, w):
    def kernel(x_ref, w_ref, n_ref, o_ref):
        n = n_ref[0]
        chunks = (n + 31) // 32

        def part(i, ref):
            places = i * 32 + jnp.arange(32)
            return pltriton.load(ref.at[pl.ds(i * 32, 32)], mask=places < n, other=0.0)

        mean = lax.fori_loop(0, chunks, lambda i, s: s + part(i, x_ref).sum(), jnp.float32(0)) / n

        def square(i, s):
            inside = i * 32 + jnp.arange(32) < n
            return s + jnp.where(inside, (part(i, x_ref) - mean) ** 2, 0).sum()

        scale = lax.rsqrt(lax.fori_loop(0, chunks, square, jnp.float32(0)) / n + 1e-5)

        def write(i, _):
            inside = i * 32 + jnp.arange(32) < n
            pltriton.store(o_ref.at[pl.ds(i * 32, 32)],
                           (part(i, x_ref) - mean) * scale * part(i, w_ref), mask=inside)

        lax.fori_loop(0, chunks, write, None)

    row = pl.BlockSpec((None, 128), lambda i: (i, 0))
    return call(kernel, out_shape=like(6, 100), grid=(6,), out_specs=row, in_specs=[
        row, pl.BlockSpec((128,), lambda i: (0,)), pl.BlockSpec((1,), lambda i: (0,))])(
            x, w, jnp.full(1, 100, jnp.int32))


@case(ramp(64), wanted=lambda x: np.exp2(np.tanh(x * np.float32(0.1))), tolerance=1e-6,
      has="tanh exp2", is_interpreted=False)
def hints_barriers_and_instructions(x):
    """These are the exact values. A GPU's approximate tanh is off by up to 2**-11 of a value (PTX
    ISA, tanh.approx.f32), so its results differ by more than the tolerance."""
    def kernel(x_ref, o_ref):
        first = pl.multiple_of(pl.program_id(0) * 32, 32)
        pltriton.debug_barrier()
        x = pltriton.approx_tanh(x_ref[pl.ds(first, 32)] * 0.1)
        (o_ref[pl.ds(first, 32)],) = pltriton.elementwise_inline_asm(
            "ex2.approx.ftz.f32 $0, $1;", args=[x], constraints="=f,f", pack=1,
            result_shape_dtypes=[like(32)])

    return call(kernel, out_shape=like(64), grid=(2,))(x)
