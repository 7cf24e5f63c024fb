// Attention on a Hopper GPU without its matrix of scores in memory (flash attention, forward): each
// warpgroup has some queries and goes through the keys and values, keeping for each query the
// largest score, the sum of the powers, and the sum of the values so far. Its improvements are
// parameters: slots of SMEM that the TMA fills ahead, a warpgroup for the copies alone, and turns
// of the warpgroups, of which one multiplies while the other one takes powers.
#include "core/ir/builder.h"
#include "core/ir/builder_schedule.h"
#include "kernels/attention_reference.h"
#include "kernels/gpu_tiles.h"
#include "kernels/kernel.h"

#include <cmath>
#include <limits>
#include <numbers>

namespace pallascope::kernels {

namespace {

namespace gpu = pl::gpu;

constexpr auto kHeads = "head", kTiles = "tile", kWarpgroups = "warpgroup"; // axes of the launch
constexpr int kMultiplying = 2;                                             // warpgroups

struct AttentionSizes
{
    explicit AttentionSizes(const Arguments& p)
        : heads(p.integer("heads"))
        , queries(p.integer("queries"))
        , keys(p.integer("keys"))
        , dim(p.integer("dim"))
        , bq(p.integer("bq"))
        , bk(p.integer("bk"))
        , dtype(p.dtype("dtype"))
        , stages(static_cast<int>(p.integer("stages")))
        , specialized(p.text("warp_specialized") == "yes")
        , takesTurns(p.text("turns") == "yes")
    {}

    [[nodiscard]] Status check() const
    {
        constexpr Extent kThreads = 128, kRegisters = 255; // of a warpgroup, and of a thread
        const Extent sums = bq * (bk + dim) / kThreads;
        if (sums > kRegisters) {
            return userError("The parameters bq, bk and dim of flash_attention give each thread "
                                 + std::to_string(sums) + " scores and sums; a thread has "
                                 + std::to_string(kRegisters) + " registers.",
                             {{Subject::Parameter, "bq"},
                              {Subject::Parameter, "bk"},
                              {Subject::Parameter, "dim"}});
        }
        if (takesTurns && !specialized) { // the first would wait for the second, and that for it
            return userError(
                "The warpgroups of flash_attention take turns only if one of its own "
                "does the copies; expected warp_specialized=yes or turns=no.",
                {{Subject::Parameter, "warp_specialized"}, {Subject::Parameter, "turns"}});
        }
        const Divisions divisions{"flash_attention"};
        return firstError({divisions.check("dim", dim, 16), divisions.check("bq", bq, 64),
                           divisions.check("bk", bk, 16),
                           divisions.check("queries", queries, bq * kMultiplying, {"bq"}),
                           divisions.check("keys", keys, bk, {"bk"})});
    }

    [[nodiscard]] Extent steps() const { return keys / bk; }

    Extent heads, queries, keys, dim, bq, bk;
    DType dtype;
    int stages;
    bool specialized, takesTurns;
};

// What one block does: all its warpgroups run this.
class AttentionBlock
{
public:
    struct Arrays
    {
        pl::Ref q, k, v, out;
    };

    static std::vector<gpu::Allocation> allocations(const AttentionSizes& sizes)
    {
        const Shape slots{sizes.stages, sizes.bk, sizes.dim};
        return {gpu::smem("q_tiles", sizes.dtype, {kMultiplying, sizes.bq, sizes.dim}),
                gpu::smem("k_tiles", sizes.dtype, slots),
                gpu::smem("v_tiles", sizes.dtype, slots),
                gpu::barrier("q_filled", 1, {kMultiplying}),
                gpu::barrier("k_filled", 1, {sizes.stages}),
                gpu::barrier("v_filled", 1, {sizes.stages}),
                gpu::barrier("k_consumed", kMultiplying, {sizes.stages}),
                gpu::barrier("v_consumed", kMultiplying, {sizes.stages}),
                gpu::barrier("turn", kMultiplying)};
    }

    AttentionBlock(const AttentionSizes& sizes, const Arrays& arrays,
                   const std::vector<pl::Ref>& refs)
        : m_sizes(sizes)
        , m_arrays(arrays)
        , m_refs(refs)
        , m_warpgroup(pl::axisIndex(kWarpgroups))
        , m_head(pl::axisIndex(kHeads))
        , m_query((pl::axisIndex(kTiles) * kMultiplying + m_warpgroup) * static_cast<int>(sizes.bq))
    {}

    void run()
    {
        const AttentionSizes& s = m_sizes;
        if (!s.specialized) {
            pl::when(m_warpgroup == 0, [&] {
                for (int step = 0; step < std::min<Extent>(s.stages, s.steps()); ++step) {
                    fetch(pl::full({}, step, DType::Int32));
                }
            });
            attend();
            return;
        }
        pl::when(m_warpgroup == kMultiplying, [&] {
            gpu::setMaxRegisters(kRegistersForCopies, false);
            forEachStep([&](const pl::Value& step) { fetch(step); });
        });
        pl::when(m_warpgroup < kMultiplying, [&] {
            gpu::setMaxRegisters((512 - kRegistersForCopies) / kMultiplying / 8 * 8, true);
            attend();
        });
    }

private:
    enum Memory : std::uint8_t
    {
        QTiles,
        KTiles,
        VTiles,
        QFilled,
        KFilled,
        VFilled,
        KConsumed,
        VConsumed,
        Turn
    };

    static constexpr int kRegistersForCopies = 40; // of 512 for each place of a thread

    [[nodiscard]] pl::Ref at(Memory memory, const pl::Value& index) const
    {
        return gpu::partOf(m_refs[memory], {index});
    }

    void forEachStep(const std::function<void(const pl::Value&)>& body) const
    {
        pl::foriLoop(m_sizes.steps(), {}, [&](const pl::Value& step, const auto&) {
            body(step);
            return std::vector<pl::Value>{};
        });
    }

    // Brings the keys and the values of a step, each as soon as its slot is free.
    void fetch(const pl::Value& step) const
    {
        const pl::Value slot = step % m_sizes.stages;
        const auto bring = [&](const pl::Ref& array, Memory tiles, Memory filled, Memory consumed) {
            pl::when(step >= m_sizes.stages, [&] { gpu::barrierWait(at(consumed, slot)); });
            gpu::copyGmemToSmem(rows(array, step * static_cast<int>(m_sizes.bk), m_sizes.bk),
                                at(tiles, slot), at(filled, slot));
        };
        bring(m_arrays.k, KTiles, KFilled, KConsumed);
        bring(m_arrays.v, VTiles, VFilled, VConsumed);
    }

    // Rows of this block's head.
    [[nodiscard]] pl::Ref rows(const pl::Ref& array, const pl::Value& first, Extent count) const
    {
        return array.at({m_head, pl::ds(first, count), pl::all});
    }

    // ---- the warpgroups that multiply

    void attend()
    {
        const AttentionSizes& s = m_sizes;
        const pl::Ref q = at(QTiles, m_warpgroup), filled = at(QFilled, m_warpgroup);
        gpu::copyGmemToSmem(rows(m_arrays.q, m_query, s.bq), q, filled);
        gpu::barrierWait(filled);
        gpu::runScoped({gpu::accumulator("sum", {s.bq, s.dim})}, false, [&](const auto& own) {
            const pl::Ref& sum = own[0];
            ifTakingTurns(1);
            const double least = -std::numeric_limits<double>::infinity();
            const std::vector<pl::Value> last = pl::foriLoop(
                s.steps(), {pl::full({s.bq}, least, DType::F32), pl::full({s.bq}, 0, DType::F32)},
                [&](const pl::Value& step, const std::vector<pl::Value>& carry) {
                    return attendTo(step, sum, carry[0], carry[1]);
                });
            ifTakingTurns(0);
            const pl::Value powers = pl::broadcastTo(last[1], {s.bq, s.dim}, {0});
            q[pl::all] = pl::convert(gpu::load(sum) / powers, s.dtype);
            gpu::commitSmem();
            gpu::copySmemToGmem(q, rows(m_arrays.out, m_query, s.bq));
            gpu::waitSmemToGmem(0, true);
        });
    }

    // One step: scores, powers of these, values weighed by the powers. Returns the largest score
    // and the sum of the powers of each query so far. Scores are for base 2.
    std::vector<pl::Value> attendTo(const pl::Value& step, const pl::Ref& sum,
                                    const pl::Value& largest, const pl::Value& powers)
    {
        const AttentionSizes& s = m_sizes;
        const pl::Value slot = step % s.stages;
        const double scale = std::numbers::log2e / std::sqrt(static_cast<double>(s.dim));
        const pl::Value scores = scoresOf(slot) * scale;
        const pl::Value most = pl::maximum(largest, pl::reduce(ir::OpCode::ReduceMax, scores, {1}));
        const pl::Value faded = exp2(largest - most);
        const pl::Value weights = exp2(scores - pl::broadcastTo(most, {s.bq, s.bk}, {0}));
        const pl::Value total = powers * faded + pl::reduce(ir::OpCode::ReduceSum, weights, {1});
        gpu::store(sum, gpu::load(sum) * pl::broadcastTo(faded, {s.bq, s.dim}, {0}));
        const pl::Value rounded = pl::convert(weights, s.dtype);
        if (s.takesTurns) { // the other one may take its powers; this one multiplies after it has
            gpu::barrierArrive(m_refs[Turn]);
        }
        gpu::barrierWait(at(VFilled, slot));
        if (s.takesTurns) {
            gpu::barrierWait(m_refs[Turn]);
        }
        gpu::wgmma(sum, rounded, at(VTiles, slot));
        gpu::wgmmaWait(0);
        gpu::barrierArrive(at(VConsumed, slot));
        if (!s.specialized) {
            fetchNext(step);
        }
        return {most, total};
    }

    // This warpgroup's queries times the keys of a slot.
    pl::Value scoresOf(const pl::Value& slot)
    {
        const AttentionSizes& s = m_sizes;
        gpu::barrierWait(at(KFilled, slot));
        const std::vector<pl::Value> scores = pl::runScoped(
            {gpu::accumulator("scores", {s.bq, s.bk}).scratch},
            [&](const std::vector<pl::Ref>& own) {
                gpu::wgmma(own[0], at(QTiles, m_warpgroup), at(KTiles, slot).transpose({1, 0}));
                if (s.takesTurns) {
                    takeTurn();
                }
                gpu::wgmmaWait(0);
                return std::vector<pl::Value>{gpu::load(own[0])};
            });
        gpu::barrierArrive(at(KConsumed, slot));
        return scores[0];
    }

    void fetchNext(const pl::Value& step) const
    {
        const pl::Value next = step + m_sizes.stages;
        pl::when(next < static_cast<int>(m_sizes.steps()),
                 [&] { pl::when(m_warpgroup == 0, [&] { fetch(next); }); });
    }

    void takeTurn() const
    {
        gpu::barrierArrive(m_refs[Turn]);
        gpu::barrierWait(m_refs[Turn]);
    }

    // The second warpgroup begins one turn later than the first one, which ends one turn earlier.
    void ifTakingTurns(int warpgroup) const
    {
        if (m_sizes.takesTurns) {
            pl::when(m_warpgroup == warpgroup, [&] { takeTurn(); });
        }
    }

    static pl::Value exp2(const pl::Operand& value)
    {
        return pl::elementwise(ir::OpCode::Exp2, {value});
    }

    const AttentionSizes& m_sizes;
    Arrays m_arrays;
    const std::vector<pl::Ref>& m_refs;
    pl::Value m_warpgroup, m_head, m_query;
};

Result<ir::Program> flashAttention(const Arguments& p)
{
    const AttentionSizes sizes(p);
    if (Status status = sizes.check(); !status) {
        return status.error();
    }
    const auto kernel = [&](pl::Ref q, pl::Ref k, pl::Ref v, pl::Ref out) {
        const Extent tiles = sizes.queries / (sizes.bq * kMultiplying);
        gpu::launch({{{kHeads, static_cast<std::int32_t>(sizes.heads)},
                      {kTiles, static_cast<std::int32_t>(tiles)}},
                     kMultiplying + (sizes.specialized ? 1 : 0),
                     kWarpgroups},
                    [&] {
                        gpu::runScoped(AttentionBlock::allocations(sizes), true,
                                       [&](const std::vector<pl::Ref>& refs) {
                                           AttentionBlock(sizes, {q, k, v, out}, refs).run();
                                       });
                    });
    };
    const Shape ofQueries{sizes.heads, sizes.queries, sizes.dim},
        ofKeys{sizes.heads, sizes.keys, sizes.dim};
    return pl::kernel("flash_attention",
                      {pl::in("q", sizes.dtype, ofQueries), //
                       pl::in("k", sizes.dtype, ofKeys),    //
                       pl::in("v", sizes.dtype, ofKeys),    //
                       pl::out("out", sizes.dtype, ofQueries)},
                      kernel);
}

} // namespace

Kernel flashAttentionKernel()
{
    constexpr std::int64_t kMost = 1 << 24;
    return forChip(
        "h100_sxm",
        {"flash_attention",
         "GPUs: softmax(q kᵀ / √dim) v by wgmma, without the matrix of scores (flash attention, "
         "forward)",
         {integer("heads", 16, 1, 1 << 16, "heads, of all sequences of a batch"),
          integer("queries", 4096, 1, kMost, "rows of q and out, of each head"),
          integer("keys", 4096, 1, kMost, "rows of k and v, of each head"),
          integer("dim", 128, 16, 256, "columns of q, k, v and out"),
          integer("bq", 64, 64, 256, "queries of each of the two warpgroups that multiply"),
          integer("bk", 128, 16, 256, "keys of a step"),
          choice("dtype", {"bf16", "f16"}, "element type"),
          choice("warp_specialized", {"yes", "no"},
                 "whether a warpgroup of its own does the copies"),
          choice("turns", {"yes", "no"},
                 "whether one warpgroup multiplies while the other one takes powers"),
          integer("stages", 2, 1, 64, "slots of k and v: steps that are fetched ahead")},
         flashAttention,
         checkAttention,
         {"bq", "bk"}});
}

} // namespace pallascope::kernels
