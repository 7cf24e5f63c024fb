// The softmax of each row on a GPU: exp(x - max) / sum of these. The maximum and the sum are found
// in passes of their own over the row, or in one, while it is in registers.
#include "core/ir/builder.h"
#include "core/ir/builder_schedule.h"
#include "kernels/gpu_tiles.h"
#include "kernels/kernel.h"
#include "kernels/softmax_reference.h"

namespace pallascope::kernels {

namespace {

namespace gpu = pl::gpu;

constexpr DType kF32 = DType::F32;

// The softmax of the rows that `load` loads, which it does once, or anew for each pass.
pl::Value softmaxOf(const std::function<pl::Value()>& load, bool once)
{
    const pl::Value first = pl::convert(load(), kF32);
    const Shape shape = first.shape();
    const auto again = [&] { return once ? first : pl::convert(load(), kF32); };
    const auto acrossRow = [&](const pl::Value& ofRow) {
        return pl::broadcastTo(ofRow, shape, {0});
    };
    const pl::Value largest = acrossRow(pl::reduce(ir::OpCode::ReduceMax, first, {1}));
    const pl::Value powers = pl::exp(again() - largest);
    const pl::Value sum = acrossRow(pl::reduce(ir::OpCode::ReduceSum, powers, {1}));
    return (once ? powers : pl::exp(again() - largest)) / sum;
}

Result<ir::Program> gpuSoftmax(const Arguments& p)
{
    const Extent rows = p.integer("rows"), columns = p.integer("columns"),
                 block = p.integer("block");
    if (Status status = Divisions{"gpu_softmax"}.check("rows", rows, block, {"block"}); !status) {
        return status.error();
    }
    const RowBlocks blocks{rows / block, p.integer("persistent")};
    const bool once = p.text("passes") == "1";
    const DType dtype = p.dtype("dtype");
    const auto kernel = [&](pl::Ref x, pl::Ref out) {
        gpu::launch({{{"block", blocks.count()}}}, [&] {
            const gpu::Share share = blocks.share();
            if (p.text("copies") == "tma") {
                const auto body = [&](const std::vector<pl::Ref>& tiles) {
                    const auto load = [&] { return tiles[0][pl::all].load(); };
                    return pl::convert(softmaxOf(load, once), dtype);
                };
                gpu::emitRowPipeline({{{"x_tiles", x}},
                                      {"out_tiles", out},
                                      block,
                                      static_cast<std::int32_t>(p.integer("stages"))},
                                     share, body);
                return;
            }
            share.forEachRound([&](const pl::Value& round) {
                const pl::Value row = share.piece(round) * static_cast<int>(block);
                const auto load = [&] { return x[{pl::ds(row, block), pl::all}].load(); };
                out[{pl::ds(row, block), pl::all}] = pl::convert(softmaxOf(load, once), dtype);
            });
        });
    };
    const Shape shape{rows, columns};
    return pl::kernel("gpu_softmax", {pl::in("x", dtype, shape), pl::out("out", dtype, shape)},
                      kernel);
}

} // namespace

Kernel gpuSoftmaxKernel()
{
    return forChip(
        "h100_sxm",
        {"gpu_softmax",
         "GPUs: the softmax of each row, by tiles of rows, which the TMA copies ahead",
         {integer("rows", 16384, 1, 1 << 24, "rows of x and out"),
          integer("columns", 1024, 8, 1 << 14, "columns of x and out: what is summed"),
          integer("block", 8, 1, 256, "rows of a tile"),
          choice("dtype", {"f32", "bf16"}, "element type"), copiesOfTiles(),
          choice("passes", {"1", "3"},
                 "how often a row is loaded: once, or for its maximum, its sum and its result"),
          integer("stages", 2, 1, 64, "slots of x and out: tiles that are copied ahead"),
          persistentBlocks(264)},
         gpuSoftmax,
         checkSoftmax,
         {"block"}});
}

} // namespace pallascope::kernels
