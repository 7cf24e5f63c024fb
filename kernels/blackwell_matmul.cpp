// A matrix product on the tensor cores of a Blackwell GPU (tcgen05), whose sums lie in TMEM, with
// the improvements that such a kernel goes through as parameters: slots of SMEM that the TMA fills
// ahead, warps of their own for copies and products, products of a pair of blocks (2-CTA), blocks
// that claim further tiles, a warpgroup that stores one tile while the next one is summed up, and
// an order of tiles that L2 likes.
#include "core/ir/builder.h"
#include "core/ir/builder_schedule.h"
#include "core/ir/builder_tensor.h"
#include "kernels/gpu_tiles.h"
#include "kernels/kernel.h"
#include "kernels/matmul_reference.h"

#include <algorithm>

namespace pallascope::kernels {

namespace {

namespace gpu = pl::gpu;

constexpr auto kBlock = "block", kPair = "pair", kWarpgroup = "warpgroup"; // axes of the launch

pl::Value number(std::int64_t value)
{
    return pl::full({}, static_cast<double>(value), DType::Int32);
}

struct BlackwellSizes
{
    explicit BlackwellSizes(const Arguments& p)
        : m(p.integer("m"))
        , n(p.integer("n"))
        , k(p.integer("k"))
        , bm(p.integer("bm"))
        , bn(p.integer("bn"))
        , bk(p.integer("bk"))
        , epilogue(p.integer("epilogue"))
        , snake(p.integer("snake"))
        , dtype(p.dtype("dtype"))
        , stages(static_cast<int>(p.integer("stages")))
        , blocks(p.text("collective") == "yes" ? 2 : 1)
        , warpgroups(p.text("store_warpgroup") == "yes" ? 2 : 1)
        , specialized(p.text("warp_specialized") == "yes")
        , persistent(p.text("persistent") == "yes")
    {}

    [[nodiscard]] Status check() const
    {
        constexpr Extent kMostOfPair = 128; // columns of a block's part, CUDA PTX ISA, tcgen05.mma
        if (blocks > 1 && bn > kMostOfPair) {
            return userError("The parameter bn of blackwell_matmul is " + std::to_string(bn)
                                 + "; expected at most " + std::to_string(kMostOfPair)
                                 + " if products are collective.",
                             {{Subject::Parameter, "bn"}, {Subject::Parameter, "collective"}});
        }
        const Divisions divisions{"blackwell_matmul"};
        return firstError({divisions.check("bm", bm, 64), divisions.check("bn", bn, 8),
                           divisions.check("bk", bk, 16),
                           epilogue > 0 ? divisions.check("bn", columns(), epilogue, {"epilogue"})
                                        : Status(Done{}),
                           divisions.check("m", m, bm * blocks, {"bm", "collective"}),
                           divisions.check("n", n, columns(), {"bn", "collective"}),
                           divisions.check("k", k, bk, {"bk"})});
    }

    // Of the sums of one block: those of its own rows, and of the columns of both blocks of a pair.
    [[nodiscard]] Extent columns() const { return bn * blocks; }

    // Tiles of a block, or of a pair, along m and n.
    [[nodiscard]] std::array<Extent, 2> plane() const { return {m / (bm * blocks), n / columns()}; }

    [[nodiscard]] Extent steps() const { return k / bk; }

    // A second place for sums lets the next tile begin while one is stored by others.
    [[nodiscard]] int places() const { return warpgroups; }

    Extent m, n, k, bm, bn, bk, epilogue, snake;
    DType dtype;
    int stages;
    std::int32_t blocks, warpgroups;
    bool specialized, persistent;
};

// What one block does: all its warpgroups run this.
class BlackwellBlock
{
public:
    struct Arrays
    {
        pl::Ref x, y, out;
    };

    static std::vector<gpu::Allocation> allocations(const BlackwellSizes& sizes)
    {
        const auto of = [&](std::vector<Extent> extents) {
            if (sizes.blocks > 1) {
                extents.insert(extents.begin(), sizes.blocks);
            }
            return Shape(std::move(extents));
        };
        std::vector<gpu::Allocation> all{
            gpu::smem("x_tiles", sizes.dtype, of({sizes.stages, sizes.bm, sizes.bk})),
            gpu::smem("y_tiles", sizes.dtype, of({sizes.stages, sizes.bk, sizes.bn})),
            gpu::tmem("sums", of({sizes.bm, sizes.places() * sizes.columns()})),
            gpu::barrier("filled", 2, of({sizes.stages})),
            gpu::barrier("consumed", 1, of({sizes.stages})),
            gpu::barrier("summed", 1, of({sizes.places()})),
            gpu::barrier("stored", sizes.blocks, of({sizes.places()}))};
        if (sizes.epilogue > 0) {
            all.push_back(
                gpu::smem("out_tiles", sizes.dtype, of({kOutSlots, sizes.bm, sizes.epilogue})));
        }
        return all;
    }

    BlackwellBlock(const BlackwellSizes& sizes, const Arrays& arrays,
                   const std::vector<pl::Ref>& refs)
        : m_sizes(sizes)
        , m_arrays(arrays)
        , m_refs(refs)
        , m_place(sizes.blocks > 1 ? pl::axisIndex(kPair) : number(0))
    {}

    void run()
    {
        const pl::Value first = pl::axisIndex(kBlock);
        if (m_sizes.persistent) {
            gpu::forEachClaim(
                {first, m_sizes.warpgroups, kWarpgroup, m_sizes.blocks, kPair},
                [&](const pl::Value& tile, const pl::Value& round) { doTile(tile, round); });
        } else {
            doTile(first, number(0));
        }
        if (m_sizes.epilogue > 0) {
            gpu::waitSmemToGmem(0, true);
        }
    }

private:
    enum Memory : std::uint8_t
    {
        XTiles,
        YTiles,
        Sums,
        Filled,
        Consumed,
        Summed,
        Stored,
        OutTiles
    };

    static constexpr int kOutSlots = 2; // one is stored while the next one is filled
    static constexpr std::int32_t kCopyWarp = 0, kProductWarp = 1;

    // Where a tile lies, and which slots its steps take.
    struct Tile
    {
        pl::Value row, column; // of the first element of this block's part of out
        pl::Value round;
    };

    [[nodiscard]] pl::Ref at(Memory memory, std::vector<pl::Value> indices) const
    {
        return of(m_place, memory, std::move(indices));
    }

    [[nodiscard]] pl::Ref of(const pl::Value& place, Memory memory,
                             std::vector<pl::Value> indices) const
    {
        if (m_sizes.blocks > 1) {
            indices.insert(indices.begin(), place);
        }
        return gpu::partOf(m_refs[memory], indices);
    }

    void doTile(const pl::Value& piece, const pl::Value& round)
    {
        const auto [i, j] = tileOrder(piece, m_sizes.plane(), m_sizes.snake);
        const Tile tile{(i * m_sizes.blocks + m_place) * static_cast<int>(m_sizes.bm),
                        j * static_cast<int>(m_sizes.columns()), round};
        if (m_sizes.warpgroups == 1) {
            sum(tile);
            store(tile);
            return;
        }
        const pl::Value warpgroup = pl::axisIndex(kWarpgroup);
        pl::when(warpgroup == 0, [&] { sum(tile); });
        pl::when(warpgroup == 1, [&] { store(tile); });
    }

    // ---- copies and products

    void sum(const Tile& tile)
    {
        if (m_sizes.specialized) {
            gpu::warpMap({kCopyWarp, kProductWarp},
                         {[&] { forEachStep([&](const pl::Value& step) { fetch(tile, step); }); },
                          [&] {
                              ifLeading([&] {
                                  awaitPlace(tile);
                                  forEachStep([&](const pl::Value& step) { multiply(tile, step); });
                                  tellSummed(tile);
                              });
                          }});
            return;
        }
        // One agent does both: it brings what comes later after it has asked for a product.
        const int stages = m_sizes.stages, later = stages > 1 ? 1 : 0;
        const auto steps = static_cast<int>(m_sizes.steps());
        for (int step = 0; step < std::min(stages, steps); ++step) {
            fetch(tile, number(step));
        }
        ifLeading([&] { awaitPlace(tile); });
        forEachStep([&](const pl::Value& step) {
            ifLeading([&] { multiply(tile, step); });
            const pl::Value next = step + (stages - later);
            pl::when(step >= later, [&] { pl::when(next < steps, [&] { fetch(tile, next); }); });
        });
        ifLeading([&] { tellSummed(tile); });
    }

    void forEachStep(const std::function<void(const pl::Value&)>& body) const
    {
        pl::foriLoop(m_sizes.steps(), {}, [&](const pl::Value& step, const auto&) {
            body(step);
            return std::vector<pl::Value>{};
        });
    }

    // Of a pair, the first block asks for the products of both.
    void ifLeading(const std::function<void()>& body) const
    {
        if (m_sizes.blocks == 1) {
            body();
        } else {
            pl::when(m_place == 0, body);
        }
    }

    [[nodiscard]] pl::Value stepNumber(const Tile& tile, const pl::Value& step) const
    {
        return tile.round * static_cast<int>(m_sizes.steps()) + step;
    }

    [[nodiscard]] pl::Value slotOf(const Tile& tile, const pl::Value& step) const
    {
        return stepNumber(tile, step) % m_sizes.stages;
    }

    [[nodiscard]] pl::Value placeOf(const Tile& tile) const
    {
        return tile.round % m_sizes.places();
    }

    // Brings this block's tiles for a step into their slots as soon as these are free. The first
    // block of a pair waits for those of both.
    void fetch(const Tile& tile, const pl::Value& step) const
    {
        const BlackwellSizes& s = m_sizes;
        const pl::Value slot = slotOf(tile, step), depth = step * static_cast<int>(s.bk);
        pl::when(stepNumber(tile, step) >= s.stages,
                 [&] { gpu::barrierWait(at(Consumed, {slot})); });
        const pl::Value column = tile.column + m_place * static_cast<int>(s.bn);
        const pl::Ref filled = of(number(0), Filled, {slot});
        const ir::LoadCopyParams shared{.parts = s.blocks};
        gpu::copyGmemToSmem(m_arrays.x.at({pl::ds(tile.row, s.bm), pl::ds(depth, s.bk)}),
                            at(XTiles, {slot}), filled, shared);
        gpu::copyGmemToSmem(m_arrays.y.at({pl::ds(depth, s.bk), pl::ds(column, s.bn)}),
                            at(YTiles, {slot}), filled, shared);
    }

    // Waits until what the place for the sums held before has been stored by all blocks.
    void awaitPlace(const Tile& tile) const
    {
        pl::when(tile.round >= m_sizes.places(),
                 [&] { gpu::barrierWait(at(Stored, {placeOf(tile)})); });
    }

    void multiply(const Tile& tile, const pl::Value& step) const
    {
        const pl::Value slot = slotOf(tile, step);
        gpu::barrierWait(at(Filled, {slot}));
        const auto factors = [&](int block) {
            return gpu::TensorFactors{sums(number(block), tile), of(number(block), XTiles, {slot}),
                                      of(number(block), YTiles, {slot})};
        };
        if (m_sizes.blocks == 1) {
            gpu::tensorMultiply(factors(0), step > 0);
        } else {
            gpu::tensorMultiply(factors(0), factors(1), step > 0);
        }
        for (int block = 0; block < m_sizes.blocks; ++block) {
            gpu::tensorCommitArrive(of(number(block), Consumed, {slot}));
        }
    }

    void tellSummed(const Tile& tile) const
    {
        for (int block = 0; block < m_sizes.blocks; ++block) {
            gpu::tensorCommitArrive(of(number(block), Summed, {placeOf(tile)}));
        }
    }

    [[nodiscard]] pl::Ref sums(const pl::Value& block, const Tile& tile) const
    {
        return of(block, Sums, {})
            .at({pl::all,
                 pl::ds(placeOf(tile) * static_cast<int>(m_sizes.columns()), m_sizes.columns())});
    }

    // ---- results

    void store(const Tile& tile)
    {
        const BlackwellSizes& s = m_sizes;
        gpu::barrierWait(at(Summed, {placeOf(tile)}));
        const pl::Ref sums = this->sums(m_place, tile);
        const auto part = [&](Extent first, Extent columns) {
            return pl::convert(sums.at({pl::all, pl::ds(first, columns)})[pl::all].load(), s.dtype);
        };
        const auto target = [&](Extent first, Extent columns) {
            return m_arrays.out.at(
                {pl::ds(tile.row, s.bm), pl::ds(tile.column + static_cast<int>(first), columns)});
        };
        if (s.epilogue == 0) { // from the registers
            target(0, s.columns())[pl::all] = part(0, s.columns());
        }
        for (Extent i = 0; s.epilogue > 0 && i < s.columns() / s.epilogue; ++i) {
            const pl::Ref slot = at(OutTiles, {number(i % kOutSlots)});
            gpu::waitSmemToGmem(kOutSlots - 1, true);
            slot[pl::all] = part(i * s.epilogue, s.epilogue);
            gpu::commitSmem();
            gpu::copySmemToGmem(slot, target(i * s.epilogue, s.epilogue));
        }
        gpu::waitLoadTmem();
        gpu::barrierArrive(of(number(0), Stored, {placeOf(tile)}));
        if (s.epilogue > 0) {
            gpu::waitSmemToGmem(0, true); // the next tile begins with the first slot
        }
    }

    const BlackwellSizes& m_sizes;
    Arrays m_arrays;
    const std::vector<pl::Ref>& m_refs;
    pl::Value m_place; // of the block in its pair
};

Result<ir::Program> blackwellMatmul(const Arguments& p)
{
    const BlackwellSizes sizes(p);
    if (Status status = sizes.check(); !status) {
        return status.error();
    }
    const auto kernel = [&](pl::Ref x, pl::Ref y, pl::Ref out) {
        const std::array<Extent, 2> plane = sizes.plane();
        gpu::Launch launch{{{kBlock, static_cast<std::int32_t>(plane[0] * plane[1])}},
                           sizes.warpgroups,
                           kWarpgroup};
        if (sizes.blocks > 1) {
            launch.cluster = {{kPair, sizes.blocks}};
        }
        gpu::launch(launch, [&] {
            const auto body = [&](const std::vector<pl::Ref>& refs) {
                BlackwellBlock(sizes, {x, y, out}, refs).run();
            };
            const std::vector<gpu::Allocation> allocations = BlackwellBlock::allocations(sizes);
            sizes.blocks > 1 ? gpu::runScopedOfCluster(allocations, sizes.blocks, body)
                             : gpu::runScoped(allocations, true, body);
        });
    };
    return pl::kernel("blackwell_matmul",
                      {pl::in("x", sizes.dtype, {sizes.m, sizes.k}), //
                       pl::in("y", sizes.dtype, {sizes.k, sizes.n}), //
                       pl::out("out", sizes.dtype, {sizes.m, sizes.n})},
                      kernel);
}

} // namespace

Kernel blackwellMatmulKernel()
{
    constexpr std::int64_t kMost = 1 << 24, kMostOfBox = 256; // what a copy by the TMA may have
    return forChip(
        "b200",
        {"blackwell_matmul",
         "GPUs: x[m,k] × y[k,n] by tcgen05, sums in TMEM, products of pairs of blocks, claimed "
         "tiles",
         {integer("m", 4096, 1, kMost, "rows of x and out"),
          integer("n", 4096, 1, kMost, "columns of y and out"),
          integer("k", 4096, 1, kMost, "columns of x, rows of y"),
          integer("bm", 128, 64, 128, "rows of a block's tile of out: lanes of TMEM"),
          integer("bn", 128, 8, kMostOfBox, "columns of y that a block brings"),
          integer("bk", 64, 16, kMostOfBox, "depth of a step"),
          choice("dtype", {"bf16", "f16"}, "element type of x, y and out"),
          choice("warp_specialized", {"yes", "no"}, "whether copies and products have a warp each"),
          choice("collective", {"yes", "no"}, "products of a pair of blocks (2-CTA)"),
          choice("persistent", {"yes", "no"},
                 "whether blocks claim further tiles (dynamic scheduling)"),
          choice("store_warpgroup", {"yes", "no"},
                 "whether a warpgroup of its own stores one tile while the next one is summed up"),
          integer("stages", 6, 1, 64, "slots of x and y: steps that are fetched ahead"),
          integer("epilogue", 64, 0, kMostOfBox,
                  "columns that are stored at a time, by the TMA; 0: all, from registers"),
          integer("snake", 8, 0, 1 << 16,
                  "height of the strips in which tiles are taken (planar_snake); 0: row by row")},
         blackwellMatmul,
         checkMatmul,
         {"bm", "bn", "bk"}});
}

} // namespace pallascope::kernels
