// The blocked product of JAX's matmul guide: summed in f32 scratch, written once in the input's
// dtype.
#include "core/ir/builder.h"
#include "kernels/kernel.h"
#include "kernels/matmul_reference.h"

namespace pallascope::kernels {

namespace {

Result<ir::Program> matmulScratch(const Arguments& p)
{
    const auto m = p.integer("m"), n = p.integer("n"), depth = p.integer("k");
    const auto bm = p.integer("bm"), bn = p.integer("bn"), bk = p.integer("bk");
    const auto buffers = static_cast<std::int32_t>(p.integer("buffers"));
    const DType dtype = p.dtype("dtype"), sum = sumDtype(dtype);
    const DType result = isFloat(dtype) ? dtype : sum; // int8 would wrap
    const std::vector<Extent> grid = {ceilDiv(m, bm), ceilDiv(n, bn), ceilDiv(depth, bk)};

    const auto kernel = [&](pl::Ref xHbm, pl::Ref yHbm, pl::Ref outHbm) {
        const auto body = [&](pl::Ref x, pl::Ref y, pl::Ref out, pl::Ref acc) {
            pl::when(pl::programId(2) == 0, [&] {
                // The first product of an output block.
                acc[pl::all] = pl::zerosLike(acc);
            });
            acc[pl::all] += pl::dot(x[pl::all], y[pl::all], sum);
            pl::when(pl::programId(2) == pl::numPrograms(2) - 1, [&] {
                // The last product of an output block.
                out[pl::all] = pl::convert(acc[pl::all], result);
            });
        };
        const auto ik = [](auto i, auto /*j*/, auto k) { return pl::at(i, k); };
        const auto kj = [](auto /*i*/, auto j, auto k) { return pl::at(k, j); };
        const auto ij = [](auto i, auto j, auto /*k*/) { return pl::at(i, j); };
        const auto xBlock = pl::block({bm, bk}, ik, buffers);
        const auto yBlock = pl::block({bk, bn}, kj, buffers);
        const auto outBlock = pl::block({bm, bn}, ij, buffers);
        pl::pallasCall({.grid = grid,
                        .in = {xBlock, yBlock},
                        .out = {outBlock},
                        .scratch = {{"acc", sum, {bm, bn}}},
                        .axes = "ijk",
                        .order = p.text("order")},
                       body)(xHbm, yHbm, outHbm);
    };
    return pl::kernel("matmul_scratch",
                      {pl::in("x", dtype, {m, depth}), //
                       pl::in("y", dtype, {depth, n}), //
                       pl::out("out", result, {m, n})},
                      kernel);
}

} // namespace

Kernel matmulScratchKernel()
{
    return {"matmul_scratch",
            "x[m,k] × y[k,n] in blocks, summed in f32 scratch, output in the input's dtype (JAX's "
            "matmul guide)",
            matmulParameters(512, 1024, 1024, 2),
            matmulScratch,
            checkMatmul,
            {"bm", "bn", "bk"},
            {"m", "n", "k"}};
}

} // namespace pallascope::kernels
