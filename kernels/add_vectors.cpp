// The first kernel of the Pallas quickstart: x + y, whole or in blocks of the first axis.
#include "core/ir/builder.h"
#include "kernels/kernel.h"

#include <algorithm>
#include <cmath>

namespace pallascope::kernels {

namespace {

Result<ir::Program> addVectors(const Arguments& p)
{
    const Shape shape = p.shape("shape");
    const auto block = p.integer("block");
    const DType dtype = p.dtype("dtype");

    const auto kernel = [&](pl::Ref xHbm, pl::Ref yHbm, pl::Ref outHbm) {
        const auto body = [&](pl::Ref x, pl::Ref y, pl::Ref out) { //
            out[pl::all] = x[pl::all] + y[pl::all];
        };
        if (block == 0) { // no grid: copy in, run, copy out
            const pl::BlockSpec whole = pl::wholeArray();
            pl::pallasCall({.in = {whole, whole}, .out = {whole}}, body)(xHbm, yHbm, outHbm);
            return;
        }
        std::vector<Extent> extents = shape.extents();
        extents[0] = block;
        const auto rows = [&](auto i) { // block (i, 0, 0, ...)
            std::vector<pl::Operand> index(shape.rank(), 0);
            index[0] = i;
            return index;
        };
        pl::pallasCall({.grid = {ceilDiv(shape[0], block)},
                        .in = {pl::block(extents, rows), pl::block(extents, rows)},
                        .out = {pl::block(extents, rows)}},
                       body)(xHbm, yHbm, outHbm);
    };
    return pl::kernel("add_vectors",
                      {pl::in("x", dtype, shape), //
                       pl::in("y", dtype, shape), //
                       pl::out("out", dtype, shape)},
                      kernel);
}

Comparison check(const Arguments&, const std::vector<Array>& inputs,
                 const std::vector<Array>& outputs)
{
    Comparison comparison{.method = "every element against an f64 sum"};
    const Array& out = outputs[0];
    double largest = 0;
    for (std::int64_t i = 0; i < out.shape.elements(); ++i) {
        const double expected = inputs[0].at(i) + inputs[1].at(i);
        largest = std::max(largest, std::fabs(expected));
        comparison.maxAbsError =
            worseError(comparison.maxAbsError, std::fabs(out.at(i) - expected));
    }
    comparison.maxRelError =
        largest > 0 ? comparison.maxAbsError / largest : comparison.maxAbsError;
    const double rounding = out.dtype == DType::BF16  ? 0x1p-8
                            : out.dtype == DType::F32 ? 0x1p-23
                                                      : 0;
    comparison.passed = comparison.maxRelError <= rounding;
    return comparison;
}

} // namespace

Kernel addVectorsKernel()
{
    Parameter shape{"shape",
                    Parameter::Type::Shape,
                    "1024",
                    1,
                    1 << 24,
                    {},
                    "extents of the arrays, such as 1024 or 3,2,128,4"};
    return {"add_vectors",
            "x + y, the first kernel of the Pallas quickstart",
            {shape,
             integer("block", 0, 0, 1 << 24,
                     "rows of the first axis in a block; 0: no grid, everything at once"),
             choice("dtype", {"f32", "bf16", "int32"}, "element type")},
            addVectors,
            check,
            {"block"}};
}

} // namespace pallascope::kernels
