// A matrix product on the tensor cores of a Hopper GPU (wgmma), with the improvements that such a
// kernel goes through as parameters: slots of SMEM that the TMA fills ahead, a warpgroup for the
// copies alone, stores by the TMA, copies that two blocks make for each other, blocks that go on to
// further tiles, and an order of tiles that L2 likes.
#include "core/ir/builder.h"
#include "core/ir/builder_schedule.h"
#include "kernels/gpu_tiles.h"
#include "kernels/kernel.h"
#include "kernels/matmul_reference.h"

#include <algorithm>

namespace pallascope::kernels {

namespace {

namespace gpu = pl::gpu;

class HopperMatmul
{
public:
    explicit HopperMatmul(const Arguments& p)
        : m_m(p.integer("m"))
        , m_n(p.integer("n"))
        , m_k(p.integer("k"))
        , m_bm(p.integer("bm"))
        , m_bn(p.integer("bn"))
        , m_bk(p.integer("bk"))
        , m_dtype(p.dtype("dtype"))
        , m_stages(static_cast<int>(p.integer("stages")))
        , m_warpgroups(static_cast<int>(p.integer("warpgroups")))
        , m_specialized(p.text("warp_specialized") == "yes")
        , m_epilogue(p.integer("epilogue"))
        , m_persistent(p.integer("persistent"))
        , m_snake(p.integer("snake"))
        , m_clusterM(p.text("cluster") == "m" ? 2 : 1)
        , m_clusterN(p.text("cluster") == "n" ? 2 : 1)
    {}

    [[nodiscard]] Status check() const
    {
        const Divisions divisions{"hopper_matmul"};
        const Extent sums = m_bm * m_bn / m_warpgroups / kThreads;
        if (sums > kRegisters) {
            return userError("The parameters bm, bn and warpgroups of hopper_matmul give each "
                             "thread "
                                 + std::to_string(sums) + " sums; a thread has "
                                 + std::to_string(kRegisters) + " registers.",
                             {{Subject::Parameter, "warpgroups"},
                              {Subject::Parameter, "bm"},
                              {Subject::Parameter, "bn"}});
        }
        return firstError({divisions.check("bm", m_bm, 64 * m_warpgroups, {"warpgroups"}),
                           divisions.check("bn", m_bn, 8), divisions.check("bk", m_bk, 16),
                           m_epilogue > 0 ? divisions.check("bn", m_bn, m_epilogue, {"epilogue"})
                                          : Status(Done{}),
                           divisions.check("m", m_m, m_bm * m_clusterM, {"bm", "cluster"}),
                           divisions.check("n", m_n, m_bn * m_clusterN, {"bn", "cluster"}),
                           divisions.check("k", m_k, m_bk, {"bk"})});
    }

    void run(pl::Ref x, pl::Ref y, pl::Ref out) const;

private:
    // What one block does: all its warpgroups run this.
    class Block;

    [[nodiscard]] std::int32_t blocks() const { return m_clusterM * m_clusterN; }

    // Tiles of a cluster along m and n.
    [[nodiscard]] std::array<Extent, 2> plane() const
    {
        return {m_m / (m_bm * m_clusterM), m_n / (m_bn * m_clusterN)};
    }

    [[nodiscard]] Extent pieces() const { return plane()[0] * plane()[1]; }

    // As many clusters as there are pieces, or so many that stay until no piece is left.
    [[nodiscard]] Extent clusters() const
    {
        return m_persistent == 0 ? pieces()
                                 : std::min(pieces(), std::max<Extent>(1, m_persistent / blocks()));
    }

    // What each block of the cluster has.
    [[nodiscard]] Shape ofCluster(std::vector<Extent> extents) const
    {
        if (blocks() > 1) {
            extents.insert(extents.begin(), blocks());
        }
        return Shape(std::move(extents));
    }

    [[nodiscard]] std::vector<gpu::Allocation> allocations() const
    {
        std::vector<gpu::Allocation> all{
            gpu::smem("x_tiles", m_dtype, ofCluster({m_stages, m_bm, m_bk})),
            gpu::smem("y_tiles", m_dtype, ofCluster({m_stages, m_bk, m_bn})),
            gpu::barrier("filled", 2, ofCluster({m_stages})),
            gpu::barrier("consumed", m_warpgroups * blocks(), ofCluster({m_stages}))};
        if (m_epilogue > 0) {
            all.push_back(
                gpu::smem("out_tiles", m_dtype,
                          ofCluster({m_warpgroups, kOutSlots, m_bm / m_warpgroups, m_epilogue})));
        }
        return all;
    }

    static constexpr int kThreads = 128, kRegisters = 255; // of a warpgroup, and of a thread
    static constexpr int kOutSlots = 2; // one is stored while the next one is filled

    Extent m_m, m_n, m_k, m_bm, m_bn, m_bk;
    DType m_dtype;
    int m_stages, m_warpgroups;
    bool m_specialized;
    Extent m_epilogue, m_persistent, m_snake;
    std::int32_t m_clusterM, m_clusterN;
};

class HopperMatmul::Block
{
public:
    struct Arrays
    {
        pl::Ref x, y, out;
    };

    Block(const HopperMatmul& kernel, const Arrays& arrays, const std::vector<pl::Ref>& refs)
        : m_kernel(kernel)
        , m_arrays(arrays)
        , m_refs(refs)
        , m_isPair(kernel.blocks() > 1)
        , m_warpgroup(pl::axisIndex("warpgroup"))
        , m_place(m_isPair ? pl::axisIndex("pair") : pl::full({}, 0, DType::Int32))
        , m_share(kernel.pieces(), kernel.clusters(), pl::axisIndex("block"))
        , m_steps(kernel.m_k / kernel.m_bk)
    {}

    void run()
    {
        const int multiplying = m_kernel.m_warpgroups;
        if (!m_kernel.m_specialized) {
            pl::when(m_warpgroup == 0, [&] { fetchFirst(); });
            m_share.forEachRound([&](const pl::Value& round) { multiply(round); });
        } else {
            pl::when(m_warpgroup == multiplying, [&] { fetchAll(); });
            pl::when(m_warpgroup < multiplying, [&] {
                gpu::setMaxRegisters(registers(multiplying), true);
                m_share.forEachRound([&](const pl::Value& round) { multiply(round); });
            });
        }
    }

private:
    enum Memory : std::uint8_t
    {
        XTiles,
        YTiles,
        Filled,
        Consumed,
        OutTiles
    };

    // The registers of a thread of each warpgroup that multiplies, where one that only copies
    // leaves them what it does not need of a multiprocessor's 512 for each place of a thread.
    static constexpr int kRegistersForCopies = 40;

    static std::int32_t registers(int multiplying)
    {
        return std::min(256, (512 - kRegistersForCopies) / multiplying) / 8 * 8;
    }

    // This block's part of a ref, with these indices.
    [[nodiscard]] pl::Ref at(Memory memory, std::vector<pl::Value> indices) const
    {
        return of(m_place, memory, std::move(indices));
    }

    [[nodiscard]] pl::Ref of(const pl::Value& place, Memory memory,
                             std::vector<pl::Value> indices) const
    {
        if (m_isPair) {
            indices.insert(indices.begin(), place);
        }
        return gpu::partOf(m_refs[memory], indices);
    }

    // The first row and the first column of the block's tile in a round.
    struct Corner
    {
        pl::Value row, column;
    };

    [[nodiscard]] Corner corner(const pl::Value& round) const
    {
        const HopperMatmul& k = m_kernel;
        auto [i, j] = tileOrder(m_share.piece(round), k.plane(), k.m_snake);
        if (k.m_clusterM > 1) {
            i = i * k.m_clusterM + m_place;
        } else if (k.m_clusterN > 1) {
            j = j * k.m_clusterN + m_place;
        }
        return {i * static_cast<int>(k.m_bm), j * static_cast<int>(k.m_bn)};
    }

    [[nodiscard]] pl::Value stepOf(const pl::Value& round, const pl::Value& step) const
    {
        return round * static_cast<int>(m_steps) + step;
    }

    // Brings the tiles for step `step` of a round into their slots, which are free.
    void fetch(const pl::Value& round, const pl::Value& step, const pl::Value& slot)
    {
        const HopperMatmul& k = m_kernel;
        const auto [row, column] = corner(round);
        const pl::Value depth = step * static_cast<int>(k.m_bk);
        // Blocks of a pair that lie side by side share rows of x, those below each other columns
        // of y.
        gpu::copyGmemToSmem(m_arrays.x.at({pl::ds(row, k.m_bm), pl::ds(depth, k.m_bk)}),
                            at(XTiles, {slot}), at(Filled, {slot}), {.blocks = k.m_clusterN});
        gpu::copyGmemToSmem(m_arrays.y.at({pl::ds(depth, k.m_bk), pl::ds(column, k.m_bn)}),
                            at(YTiles, {slot}), at(Filled, {slot}), {.blocks = k.m_clusterM});
    }

    // The warpgroup that only copies: as far ahead as there are slots.
    void fetchAll()
    {
        gpu::setMaxRegisters(kRegistersForCopies, false);
        m_share.forEachRound([&](const pl::Value& round) {
            pl::foriLoop(m_steps, {}, [&](const pl::Value& step, const auto&) {
                const pl::Value number = stepOf(round, step), slot = number % m_kernel.m_stages;
                pl::when(number >= m_kernel.m_stages,
                         [&] { gpu::barrierWait(at(Consumed, {slot})); });
                fetch(round, step, slot);
                return std::vector<pl::Value>{};
            });
        });
    }

    void fetchFirst()
    {
        pl::foriLoop(m_kernel.m_stages, {}, [&](const pl::Value& number, const auto&) {
            pl::when(number < total(), [&] { fetchNumber(number); });
            return std::vector<pl::Value>{};
        });
    }

    // Without a warpgroup for copies, the first one brings what comes as many steps later as there
    // are slots.
    void fetchNext(const pl::Value& number)
    {
        const pl::Value next = number + m_kernel.m_stages;
        pl::when(next < total(), [&] {
            pl::when(m_warpgroup == 0, [&] {
                gpu::barrierWait(at(Consumed, {number % m_kernel.m_stages}));
                fetchNumber(next);
            });
        });
    }

    void fetchNumber(const pl::Value& number)
    {
        const int steps = static_cast<int>(m_steps);
        fetch(number / steps, number % steps, number % m_kernel.m_stages);
    }

    [[nodiscard]] pl::Value total() const { return m_share.rounds() * static_cast<int>(m_steps); }

    // A warpgroup's rows of the block's tile.
    void multiply(const pl::Value& round)
    {
        const HopperMatmul& k = m_kernel;
        gpu::runScoped({gpu::accumulator("sum", {rows(), k.m_bn})}, false, [&](const auto& own) {
            const pl::Ref& sum = own[0];
            pl::foriLoop(m_steps, {}, [&](const pl::Value& step, const auto&) {
                const pl::Value number = stepOf(round, step), slot = number % k.m_stages;
                gpu::barrierWait(at(Filled, {slot}));
                const pl::Ref x = at(XTiles, {slot});
                gpu::wgmma(sum,
                           x.at({pl::ds(m_warpgroup * static_cast<int>(rows()), rows()), pl::all}),
                           at(YTiles, {slot}));
                gpu::wgmmaWait(0);
                giveBack(slot);
                if (!k.m_specialized) {
                    fetchNext(number);
                }
                return std::vector<pl::Value>{};
            });
            store(round, sum);
        });
    }

    // Tells all blocks whose copies fill the slot that this warpgroup has read it.
    void giveBack(const pl::Value& slot)
    {
        for (int block = 0; block < m_kernel.blocks(); ++block) {
            gpu::barrierArrive(of(pl::full({}, block, DType::Int32), Consumed, {slot}));
        }
    }

    [[nodiscard]] Extent rows() const { return m_kernel.m_bm / m_kernel.m_warpgroups; }

    void store(const pl::Value& round, const pl::Ref& sum)
    {
        const HopperMatmul& k = m_kernel;
        const auto [row, column] = corner(round);
        const pl::Value first = row + m_warpgroup * static_cast<int>(rows());
        const pl::Value result = pl::convert(gpu::load(sum), k.m_dtype);
        if (k.m_epilogue == 0) { // from the registers
            m_arrays.out[{pl::ds(first, rows()), pl::ds(column, k.m_bn)}] = result;
            return;
        }
        for (Extent part = 0; part < k.m_bn / k.m_epilogue; ++part) {
            const Extent begin = part * k.m_epilogue, end = begin + k.m_epilogue;
            const pl::Ref tile =
                at(OutTiles, {m_warpgroup,
                              pl::full({}, static_cast<double>(part % kOutSlots), DType::Int32)});
            gpu::waitSmemToGmem(kOutSlots - 1, true);
            tile[pl::all] = pl::slice(result, {0, begin}, {rows(), end});
            gpu::commitSmem();
            gpu::copySmemToGmem(
                tile, m_arrays.out.at({pl::ds(first, rows()),
                                       pl::ds(column + static_cast<int>(begin), k.m_epilogue)}));
        }
        gpu::waitSmemToGmem(0, true); // the next tile begins with the first slot
    }

    const HopperMatmul& m_kernel;
    Arrays m_arrays;
    const std::vector<pl::Ref>& m_refs;
    bool m_isPair;
    pl::Value m_warpgroup, m_place;
    gpu::Share m_share;
    Extent m_steps;
};

void HopperMatmul::run(pl::Ref x, pl::Ref y, pl::Ref out) const
{
    gpu::Launch launch{{{"block", static_cast<std::int32_t>(clusters())}},
                       m_warpgroups + (m_specialized ? 1 : 0),
                       "warpgroup"};
    if (blocks() > 1) {
        launch.cluster = {{"pair", blocks()}};
    }
    gpu::launch(launch, [&] {
        const std::vector<gpu::Allocation> allocations = this->allocations();
        const auto body = [&](const std::vector<pl::Ref>& refs) {
            Block(*this, {x, y, out}, refs).run();
        };
        blocks() > 1 ? gpu::runScopedOfCluster(allocations, blocks(), body)
                     : gpu::runScoped(allocations, true, body);
    });
}

Result<ir::Program> hopperMatmul(const Arguments& p)
{
    const HopperMatmul kernel(p);
    if (Status status = kernel.check(); !status) {
        return status.error();
    }
    const DType dtype = p.dtype("dtype");
    const auto m = p.integer("m"), n = p.integer("n"), depth = p.integer("k");
    return pl::kernel("hopper_matmul",
                      {pl::in("x", dtype, {m, depth}), //
                       pl::in("y", dtype, {depth, n}), //
                       pl::out("out", dtype, {m, n})},
                      [&](pl::Ref x, pl::Ref y, pl::Ref out) { kernel.run(x, y, out); });
}

} // namespace

Kernel hopperMatmulKernel()
{
    constexpr std::int64_t kMost = 1 << 24, kMostOfBox = 256; // what a copy by the TMA may have
    return forChip(
        "h100_sxm",
        {"hopper_matmul",
         "GPUs: x[m,k] × y[k,n] by wgmma, copies by the TMA in a warpgroup of their own",
         {integer("m", 4096, 1, kMost, "rows of x and out"),
          integer("n", 4096, 1, kMost, "columns of y and out"),
          integer("k", 4096, 1, kMost, "columns of x, rows of y"),
          integer("bm", 128, 64, kMostOfBox, "rows of a block's tile of out"),
          integer("bn", 256, 8, kMostOfBox, "columns of a block's tile of out"),
          integer("bk", 64, 16, kMostOfBox, "depth of a step"),
          choice("dtype", {"bf16", "f16"}, "element type of x, y and out"),
          choice("warp_specialized", {"yes", "no"},
                 "whether a warpgroup of its own does the copies"),
          choice("cluster", {"n", "m", "none"},
                 "two blocks side by side (n) or one below the other (m) make the copies of what "
                 "both need for each other (multicast)"),
          integer("stages", 4, 1, 64, "slots of x and y: steps that are fetched ahead"),
          integer("warpgroups", 2, 1, 4, "warpgroups of a block that multiply"),
          integer("epilogue", 64, 0, kMostOfBox,
                  "columns that are stored at a time, by the TMA; 0: all, from registers"),
          persistentBlocks(132),
          integer("snake", 16, 0, 1 << 16,
                  "height of the strips in which tiles are taken (planar_snake); 0: row by "
                  "row")},
         hopperMatmul,
         checkMatmul,
         {"bm", "bn", "bk"}});
}

} // namespace pallascope::kernels
