#include "core/ir/builder_schedule.h"

#include "core/ir/builder.h"
#include "core/ir/builder_tensor.h"

#include <algorithm>
#include <utility>

namespace pallascope::pl::gpu {

namespace {

Value whole(std::int64_t number, const Here& here)
{
    return full(Shape{}, static_cast<double>(number), DType::Int32, here);
}

// The right operand of an operation, which says where it is: at the caller, as in a program that
// writes this out.
template<class Number>
Operand by(const Number& number, const Here& here)
{
    return Operand(number, here);
}

} // namespace

Share::Share(Extent pieces, Extent sharers, Value number)
    : m_pieces(pieces)
    , m_sharers(sharers)
    , m_number(number)
{}

Value Share::rounds(Here here) const
{
    const Value least = whole(m_pieces / m_sharers, here);
    const Extent further = m_pieces % m_sharers;
    return further == 0 ? least
                        : least
                              + by(convert(m_number < by(static_cast<int>(further), here),
                                           DType::Int32, here),
                                   here);
}

Value Share::piece(const Value& round, Here here) const
{
    return apply(ir::OpCode::Add, {round * by(static_cast<int>(m_sharers), here), m_number}, {},
                 here);
}

void Share::forEachRound(const std::function<void(Value)>& body, Here here) const
{
    if (m_pieces == m_sharers) {
        body(whole(0, here));
        return;
    }
    if (m_pieces % m_sharers == 0) {
        (void)foriLoop(
            m_pieces / m_sharers, {},
            [&](Value round, const std::vector<Value>&) {
                body(round);
                return std::vector<Value>();
            },
            here);
        return;
    }
    const Value count = rounds(here);
    (void)whileLoop(
        {whole(0, here)}, [&](std::vector<Value> carry) { return carry[0] < by(count, here); },
        [&](std::vector<Value> carry) {
            body(carry[0]);
            return std::vector<Value>{carry[0] + by(1, here)};
        },
        here);
}

std::array<Value, 2> planarSnake(const Value& number, std::array<Extent, 2> plane,
                                 std::size_t minorAxis, Extent width, Here here)
{
    const int major = static_cast<int>(plane[1 - minorAxis]),
              minor = static_cast<int>(plane[minorAxis]),
              wide = static_cast<int>(std::min(width, plane[minorAxis]));
    const auto of = [&here](const auto& right) { return by(right, here); };
    const Value strip = number / of(wide * major), within = number % of(wide * major);
    Value line = within / of(wide), column = within % of(wide);
    if (minor % wide != 0) { // the last strip is narrower
        const Value ofStrip =
            select(strip < of(minor / wide), whole(wide, here), whole(minor % wide, here), here);
        line = within / of(ofStrip);
        column = within % of(ofStrip);
    }
    line = select(strip % of(2) == of(0), line, whole(major - 1, here) - of(line), here);
    column = strip * of(wide) + of(column);
    return minorAxis == 0 ? std::array{column, line} : std::array{line, column};
}

void forEachClaim(const Claims& claims, const std::function<void(Value, Value)>& body, Here here)
{
    constexpr int kSlots = 2; // one answer is read while the next one is asked for
    const std::int32_t blocks = claims.blocks;
    const auto arrivals = claims.threads * blocks;
    const Shape slots = blocks == 1 ? Shape{kSlots} : Shape{blocks, kSlots};
    const bool shared = blocks > 1;
    const auto scoped = [&](const std::vector<Ref>& refs) {
        const Ref &answers = refs[0], &asked = refs[1], &used = refs[2];
        const Value thread =
            claims.threads > 1 ? axisIndex(claims.threadAxis, here) : whole(0, here);
        const Value block = shared ? axisIndex(claims.clusterAxis, here) : whole(0, here);
        const auto of = [&](const Ref& ref, const Value& which, const Value& slot) {
            return shared ? partOf(ref, {which, slot}, here) : partOf(ref, {slot}, here);
        };
        const auto ask = [&](const Value& slot) {
            std::vector<Ref> into, barriers;
            for (std::int32_t i = 0; i < blocks; ++i) {
                into.push_back(of(answers, whole(i, here), slot));
                barriers.push_back(of(asked, whole(i, here), slot));
            }
            when(
                thread == by(0, here),
                [&] {
                    when(
                        block == by(0, here), [&] { tryClusterCancel(into, barriers, here); },
                        here);
                },
                here);
            if (claims.threads > 1) {
                when(
                    thread != by(0, here), [&] { barrierArrive(of(asked, block, slot), here); },
                    here);
            }
        };
        const std::vector<Value> last = whileLoop(
            {claims.first, whole(0, here)},
            [&](std::vector<Value> carry) { return carry[0] >= by(0, here); },
            [&](std::vector<Value> carry) {
                const Value slot = carry[1] % by(kSlots, here);
                when(
                    carry[1] >= by(kSlots, here), [&] { barrierWait(of(used, block, slot), here); },
                    here);
                ask(slot);
                body(carry[0], carry[1]);
                barrierWait(of(asked, block, slot), here);
                const Value next = of(answers, block, slot)[Indexer(all, here)].load();
                commitSmem(here);
                for (std::int32_t i = 0; i < blocks; ++i) {
                    barrierArrive(of(used, whole(i, here), slot), here);
                }
                return std::vector<Value>{next, carry[1] + by(1, here)};
            },
            here);
        for (int slot = 0; slot < kSlots; ++slot) { // so that no phase is left unseen
            when(
                last[1] > by(slot, here),
                [&] { barrierWait(of(used, block, whole(slot, here)), here); }, here);
        }
    };
    const std::vector<Allocation> allocations{smem("answers", DType::Int32, slots),
                                              barrier("asked", claims.threads, slots),
                                              barrier("used", arrivals, slots)};
    shared ? runScopedOfCluster(allocations, blocks, scoped, here)
           : runScoped(allocations, true, scoped, here);
}

namespace {

constexpr Extent kMostOfBox = 256; // elements along an axis of one copy by the TMA

// The slots of a RowPipeline, as the refs of its scope.
class RowSlots
{
public:
    RowSlots(const RowPipeline& pipeline, const Share& share, const std::vector<Ref>& refs,
             Here here)
        : m_pipeline(pipeline)
        , m_share(share)
        , m_refs(refs)
        , m_here(here)
    {}

    // Of one input, in copies that the TMA can make.
    static Extent copies(const Ref& matrix) { return ceilDiv(matrix.shape()[1], kMostOfBox); }

    void fetch(const Value& round) const
    {
        const Value slot = round % by(m_pipeline.stages, m_here);
        for (std::size_t i = 0; i < m_pipeline.in.size(); ++i) {
            forEachBox(m_pipeline.in[i].matrix, [&](Extent first, Extent columns) {
                copyGmemToSmem(far(m_pipeline.in[i].matrix, round, first, columns),
                               near(m_refs[i], slot, first, columns), filled(slot), {}, m_here);
            });
        }
    }

    void run(const Value& round, const std::function<Value(const std::vector<Ref>&)>& body) const
    {
        const Value slot = round % by(m_pipeline.stages, m_here);
        const Ref& outSlots = m_refs[m_pipeline.in.size()];
        std::vector<Ref> tiles;
        for (std::size_t i = 0; i < m_pipeline.in.size(); ++i) {
            tiles.push_back(partOf(m_refs[i], {slot}, m_here));
        }
        barrierWait(filled(slot), m_here);
        const Value made = body(tiles);
        waitSmemToGmem(m_pipeline.stages - 1, true, m_here);
        partOf(outSlots, {slot}, m_here)[Indexer(all, m_here)] = made;
        commitSmem(m_here);
        forEachBox(m_pipeline.out.matrix, [&](Extent first, Extent columns) {
            copySmemToGmem(near(outSlots, slot, first, columns),
                           far(m_pipeline.out.matrix, round, first, columns), false, m_here);
        });
        commitGroup(m_here);
        const Value next = round + by(m_pipeline.stages, m_here);
        when(
            next < by(m_share.rounds(m_here), m_here), [&] { fetch(next); }, m_here);
    }

private:
    static void forEachBox(const Ref& matrix, const std::function<void(Extent, Extent)>& visit)
    {
        const Extent columns = matrix.shape()[1];
        for (Extent first = 0; first < columns; first += kMostOfBox) {
            visit(first, std::min(kMostOfBox, columns - first));
        }
    }

    [[nodiscard]] Ref far(const Ref& matrix, const Value& round, Extent first, Extent columns) const
    {
        const Value row =
            m_share.piece(round, m_here) * by(static_cast<int>(m_pipeline.rows), m_here);
        return matrix.at(Indexer({ds(row, m_pipeline.rows), ds(first, columns)}, m_here));
    }

    [[nodiscard]] Ref near(const Ref& slots, const Value& slot, Extent first, Extent columns) const
    {
        return slots.at(Indexer({slot, all, ds(first, columns)}, m_here));
    }

    [[nodiscard]] Ref filled(const Value& slot) const
    {
        return partOf(m_refs.back(), {slot}, m_here);
    }

    const RowPipeline& m_pipeline;
    const Share& m_share;
    const std::vector<Ref>& m_refs;
    Here m_here;
};

} // namespace

void emitRowPipeline(const RowPipeline& pipeline, const Share& share,
                     const std::function<Value(const std::vector<Ref>&)>& body, Here here)
{
    std::vector<Allocation> allocations;
    Extent copies = 0;
    const auto slots = [&](const RowPipeline::Stream& stream) {
        return smem(stream.name, stream.matrix.dtype(),
                    {pipeline.stages, pipeline.rows, stream.matrix.shape()[1]});
    };
    for (const RowPipeline::Stream& stream : pipeline.in) {
        allocations.push_back(slots(stream));
        copies += RowSlots::copies(stream.matrix);
    }
    allocations.push_back(slots(pipeline.out));
    allocations.push_back(barrier("filled", static_cast<std::int32_t>(copies), {pipeline.stages}));
    runScoped(
        allocations, true,
        [&](const std::vector<Ref>& refs) {
            const RowSlots tiles(pipeline, share, refs, here);
            const Value rounds = share.rounds(here);
            for (std::int32_t round = 0; round < pipeline.stages; ++round) {
                when(
                    rounds > by(round, here), [&] { tiles.fetch(whole(round, here)); }, here);
            }
            share.forEachRound([&](const Value& round) { tiles.run(round, body); }, here);
            waitSmemToGmem(0, true, here);
        },
        here);
}

} // namespace pallascope::pl::gpu
