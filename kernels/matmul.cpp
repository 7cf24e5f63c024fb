// The kernel that introduces Pallas: a blocked matrix product that sums in its output block.
#include "core/ir/builder.h"
#include "kernels/kernel.h"
#include "kernels/matmul_reference.h"

namespace pallascope::kernels {

namespace {

Result<ir::Program> matmul(const Arguments& p)
{
    const auto m = p.integer("m"), n = p.integer("n"), depth = p.integer("k");
    const auto bm = p.integer("bm"), bn = p.integer("bn"), bk = p.integer("bk");
    const auto buffers = static_cast<std::int32_t>(p.integer("buffers"));
    const DType dtype = p.dtype("dtype"), sum = sumDtype(dtype);
    const std::vector<Extent> grid = {ceilDiv(m, bm), ceilDiv(n, bn), ceilDiv(depth, bk)};

    const auto kernel = [&](pl::Ref xHbm, pl::Ref yHbm, pl::Ref outHbm) {
        const auto body = [&](pl::Ref x, pl::Ref y, pl::Ref out) {
            pl::when(pl::programId(2) == 0, [&] {
                // The first product of an output block.
                out[pl::all] = pl::zerosLike(out);
            });
            out[pl::all] += pl::dot(x[pl::all], y[pl::all], sum);
        };
        const auto ik = [](auto i, auto /*j*/, auto k) { return pl::at(i, k); };
        const auto kj = [](auto /*i*/, auto j, auto k) { return pl::at(k, j); };
        const auto ij = [](auto i, auto j, auto /*k*/) { return pl::at(i, j); };
        const auto xBlock = pl::block({bm, bk}, ik, buffers);
        const auto yBlock = pl::block({bk, bn}, kj, buffers);
        const auto outBlock = pl::block({bm, bn}, ij, buffers);
        pl::emitPipeline({.grid = grid,
                          .in = {xBlock, yBlock},
                          .out = {outBlock},
                          .axes = "ijk",
                          .order = p.text("order")},
                         body)(xHbm, yHbm, outHbm);
    };
    return pl::kernel("matmul",
                      {pl::in("x", dtype, {m, depth}), //
                       pl::in("y", dtype, {depth, n}), //
                       pl::out("out", sum, {m, n})},
                      kernel);
}

} // namespace

Kernel matmulKernel()
{
    return {
        "matmul",
        "x[m,k] × y[k,n] in blocks, summed in the f32 output block (the introduction to Pallas)",
        matmulParameters(512, 512, 512, 16),
        matmul,
        checkMatmul,
        {"bm", "bn", "bk"},
        {"m", "n", "k"}};
}

} // namespace pallascope::kernels
