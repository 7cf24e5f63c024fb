// x + y on a GPU: each block adds tiles of both, from registers or by way of SMEM, where the TMA
// copies ahead.
#include "core/ir/builder.h"
#include "core/ir/builder_schedule.h"
#include "kernels/gpu_tiles.h"
#include "kernels/kernel.h"
#include "kernels/sum_reference.h"

namespace pallascope::kernels {

namespace {

namespace gpu = pl::gpu;

Result<ir::Program> gpuAddVectors(const Arguments& p)
{
    const Extent rows = p.integer("rows"), columns = p.integer("columns"),
                 block = p.integer("block");
    if (Status status = Divisions{"gpu_add_vectors"}.check("rows", rows, block, {"block"});
        !status) {
        return status.error();
    }
    const RowBlocks blocks{rows / block, p.integer("persistent")};
    const auto kernel = [&](pl::Ref x, pl::Ref y, pl::Ref out) {
        gpu::launch({{{"block", blocks.count()}}}, [&] {
            const gpu::Share share = blocks.share();
            if (p.text("copies") == "tma") {
                gpu::emitRowPipeline({{{"x_tiles", x}, {"y_tiles", y}},
                                      {"out_tiles", out},
                                      block,
                                      static_cast<std::int32_t>(p.integer("stages"))},
                                     share, [](const std::vector<pl::Ref>& tiles) {
                                         return tiles[0][pl::all] + tiles[1][pl::all];
                                     });
                return;
            }
            share.forEachRound([&](const pl::Value& round) {
                const pl::Value row = share.piece(round) * static_cast<int>(block);
                out[{pl::ds(row, block), pl::all}] =
                    x[{pl::ds(row, block), pl::all}] + y[{pl::ds(row, block), pl::all}];
            });
        });
    };
    const Shape shape{rows, columns};
    const DType dtype = p.dtype("dtype");
    return pl::kernel("gpu_add_vectors",
                      {pl::in("x", dtype, shape), //
                       pl::in("y", dtype, shape), //
                       pl::out("out", dtype, shape)},
                      kernel);
}

} // namespace

Kernel gpuAddVectorsKernel()
{
    return forChip("h100_sxm", {"gpu_add_vectors",
                                "GPUs: x + y by tiles of rows, which the TMA copies ahead",
                                {integer("rows", 65536, 1, 1 << 24, "rows of x, y and out"),
                                 integer("columns", 256, 8, 1 << 14, "columns of x, y and out"),
                                 integer("block", 16, 1, 256, "rows of a tile"),
                                 choice("dtype", {"f32", "bf16"}, "element type"), copiesOfTiles(),
                                 integer("stages", 4, 1, 64,
                                         "slots of each array: tiles that are copied ahead"),
                                 persistentBlocks(132)},
                                gpuAddVectors,
                                compareWithSum,
                                {"block"}});
}

} // namespace pallascope::kernels
