"""JAX's products of matrices for Hopper: of one type, of two, of ragged groups of rows."""
import numpy as np

from case import I8, Made, case, dtype_of, group_sizes, normal, product, product_check


def _dimension(name):
    from jax.experimental.pallas.ops.gpu import hopper_matmul_mgpu
    return name and hopper_matmul_mgpu.MatmulDimension[name]


def hopper(m, n, k, dtype, tm, tn, tk, steps, wg="N", cluster=None, minor="N", width=1, epi=64):
    from jax.experimental.pallas.ops.gpu import hopper_matmul_mgpu
    config = hopper_matmul_mgpu.TuningConfig(
        tile_m=tm, tile_n=tn, tile_k=tk, max_concurrent_steps=steps, epi_tile_n=epi, epi_tile_m=epi,
        grid_minor_dim=_dimension(minor), grid_tile_width=width, wg_dimension=_dimension(wg),
        cluster_dimension=_dimension(cluster))
    dtype = dtype_of(dtype)
    return Made(lambda a, b: hopper_matmul_mgpu.matmul(a, b, None, config),
                [normal(m, k, dtype=dtype), normal(k, n, dtype=dtype)], product_check, 1.5e-2)


def mixed(m, n, k, dtype, tm, tn, tk, steps, wg="N", width=1):
    """The left side is of bytes, and becomes the type of the right side in the kernel."""
    from jax.experimental.pallas.ops.gpu import hopper_mixed_type_matmul_mgpu
    config = hopper_mixed_type_matmul_mgpu.TuningConfig(
        tile_m=tm, tile_n=tn, tile_k=tk, max_concurrent_steps=steps, grid_minor_dim=_dimension("N"),
        grid_tile_width=width, wg_dimension=_dimension(wg), cluster_dimension=None)
    dtype = dtype_of(dtype)
    return Made(lambda a, b: hopper_mixed_type_matmul_mgpu.mixed_matmul_kernel(a, b, out_dtype=dtype, config=config),
                [normal(m, k, dtype=I8, scale=40.0), normal(k, n, dtype=dtype)], product_check, 1.5e-2)


def ragged(m, k, n, g, dtype, bm, bn, bk, steps, width=1, turned=False):
    from jax.experimental.pallas.ops.gpu import ragged_dot_mgpu
    sizes = group_sizes(m, g)
    dtype = dtype_of(dtype)

    def fn(lhs, rhs, sizes):
        return ragged_dot_mgpu.ragged_dot(lhs, rhs, group_sizes=sizes, block_m=bm, block_n=bn, block_k=bk,
                                          max_concurrent_steps=steps, grid_block_n=width, transpose_rhs=turned)

    def check(outs, args):
        lhs, rhs, _ = args
        pairs, ends = [], np.cumsum(sizes)
        for group in (0, g // 2, g - 1):
            end, rows = int(ends[group]), min(128, int(sizes[group]))
            if rows:
                right = rhs[group].T if turned else rhs[group]
                pairs.append((outs[0][end - rows:end], product(lhs[end - rows:end], right)))
        return pairs

    right = (g, n, k) if turned else (g, k, n)
    return Made(fn, [normal(m, k, dtype=dtype), normal(*right, dtype=dtype), sizes], check, 1.5e-2)


def transposed_ragged(k, m, n, g, dtype, bm, bn, bk, steps, width=1):
    from jax.experimental.pallas.ops.gpu import transposed_ragged_dot_mgpu
    sizes = group_sizes(k, g)
    dtype = dtype_of(dtype)

    def fn(lhs, rhs, sizes):
        return transposed_ragged_dot_mgpu.transposed_ragged_dot(
            lhs, rhs, group_sizes=sizes, block_m=bm, block_n=bn, block_k=bk, max_concurrent_steps=steps,
            grid_block_n=width)

    def check(outs, args):
        lhs, rhs, _ = args
        ends = np.cumsum(sizes)
        rows = {group: slice(int(ends[group] - sizes[group]), int(ends[group])) for group in (0, g - 1)}
        return [(outs[0][group, :128], product(lhs[its, :128].T, rhs[its]))
                for group, its in rows.items() if sizes[group]]

    return Made(fn, [normal(k, m, dtype=dtype), normal(k, n, dtype=dtype), sizes], check, 1.5e-2)


def _hopper(m, n, k, tm, tn, tk, steps, dtype="f16", cold=False, **more):
    return case("hopper_matmul", hopper, cold, m=m, n=n, k=k, dtype=dtype, tm=tm, tn=tn, tk=tk, steps=steps, **more)


def _mixed(m, n, k, tm, tn, tk, **more):
    return case("mixed_matmul", mixed, m=m, n=n, k=k, dtype="bf16", tm=tm, tn=tn, tk=tk, steps=4, **more)


def _ragged(m, k, n, g, bm, bn, steps, width, **more):
    return case("ragged_dot", ragged, m=m, k=k, n=n, g=g, dtype="f16", bm=bm, bn=bn, bk=64, steps=steps,
                width=width, **more)


def _transposed_ragged(k, m, n, g, bm, bn, bk, steps, width):
    return case("transposed_ragged_dot", transposed_ragged, k=k, m=m, n=n, g=g, dtype="f16", bm=bm, bn=bn, bk=bk,
                steps=steps, width=width)


CASES = [
    _hopper(4096, 4096, 4096, 128, 128, 64, 4),
    _hopper(4096, 4096, 4096, 128, 128, 64, 4, width=8),
    _hopper(4096, 4096, 4096, 128, 128, 64, 4, width=8, wg="M"),
    _hopper(4096, 4096, 4096, 128, 128, 64, 2, width=8),
    _hopper(4096, 4096, 4096, 128, 64, 64, 4, width=8),
    _hopper(4096, 4096, 4096, 64, 64, 64, 4),
    _hopper(4096, 4096, 4096, 128, 128, 64, 4, width=8, wg="M", cluster="M"),
    _hopper(8192, 8192, 8192, 128, 128, 64, 4, width=8),
    _hopper(1024, 1024, 1024, 128, 64, 64, 4, cold=True),
    _hopper(1024, 1024, 1024, 64, 64, 64, 4),
    _hopper(2048, 2048, 2048, 128, 128, 64, 4, width=4),
    _hopper(4096, 4096, 4096, 256, 64, 64, 4, width=8),
    _hopper(4096, 4096, 4096, 128, 128, 64, 4, width=8, wg="M", cluster="N"),
    _hopper(4096, 4096, 4096, 128, 128, 64, 4, width=8, cluster="M"),
    _hopper(4096, 4096, 4096, 128, 128, 64, 4, width=8, minor="M"),
    _hopper(4096, 4096, 4096, 128, 128, 64, 3, width=8),
    _hopper(4096, 4096, 4096, 64, 128, 64, 4, width=8),
    _hopper(4096, 4096, 4096, 64, 256, 64, 2, width=8),
    _hopper(4096, 4096, 4096, 128, 64, 64, 6, width=8),
    _hopper(4096, 4096, 4096, 128, 64, 64, 2, width=8),
    _hopper(4096, 4096, 4096, 128, 64, 128, 2, width=8),
    _hopper(4096, 4096, 4096, 128, 64, 64, 4, width=8, epi=None),
    _hopper(4096, 4096, 4096, 128, 128, 64, 4, width=8, dtype="bf16"),
    _hopper(8192, 8192, 8192, 128, 128, 64, 4, width=8, wg="M", cluster="M"),
    _hopper(8192, 8192, 8192, 256, 64, 64, 2, width=8, wg="M"),
    _hopper(8192, 8192, 8192, 64, 64, 64, 4, width=1),
    _hopper(2048, 2048, 2048, 128, 64, 64, 4, width=4),
    _hopper(2048, 2048, 2048, 64, 64, 64, 6),
    _hopper(128, 8192, 8192, 64, 64, 64, 6, cold=True),
    _hopper(256, 8192, 4096, 128, 64, 64, 6),
    _hopper(8192, 256, 8192, 128, 128, 64, 4),
    _hopper(8192, 8192, 256, 128, 128, 64, 4, width=8),
    _hopper(8192, 8192, 1024, 128, 128, 64, 4, width=8),
    _hopper(1024, 1024, 8192, 64, 64, 64, 6),
    _hopper(1024, 1024, 1024, 128, 128, 64, 4),
    _hopper(2048, 2048, 8192, 128, 128, 64, 4, width=4),
    _hopper(4096, 4096, 4096, 64, 64, 64, 6, width=8),
    _hopper(4096, 4096, 4096, 64, 64, 128, 3, width=8),
    _hopper(4096, 4096, 4096, 128, 128, 64, 4, width=16),
    _mixed(4096, 4096, 4096, 128, 128, 64, width=8),
    _mixed(4096, 4096, 4096, 64, 128, 64, width=8),
    _mixed(4096, 4096, 4096, 128, 64, 128, width=8, wg="M"),
    _mixed(4096, 8192, 4096, 128, 128, 64, width=8),
    _mixed(1024, 1024, 1024, 64, 64, 64),
    _ragged(8192, 2048, 4096, 8, 128, 128, 4, 4),
    _ragged(8192, 2048, 4096, 8, 64, 128, 4, 4),
    _ragged(8192, 2048, 4096, 8, 128, 128, 2, 1),
    _ragged(4096, 2048, 2048, 16, 64, 64, 4, 2),
    _ragged(8192, 2048, 4096, 8, 128, 128, 4, 4, turned=True),
    _transposed_ragged(16384, 2048, 2048, 16, 128, 128, 64, 4, 4),
    _transposed_ragged(16384, 2048, 2048, 16, 64, 128, 64, 4, 4),
    _transposed_ragged(8192, 1024, 2048, 4, 128, 128, 128, 2, 1),
]
