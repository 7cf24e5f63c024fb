// The first kernel of the Pallas quickstart: x + y, whole or in blocks of the first axis.
#include "core/ir/builder.h"
#include "kernels/kernel.h"
#include "kernels/sum_reference.h"

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
            compareWithSum,
            {"block"},
            {"shape"}};
}

} // namespace pallascope::kernels
