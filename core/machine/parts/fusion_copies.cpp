#include "core/machine/parts/fusion_copies.h"

#include "core/machine/parts/sync_times.h"

#include <algorithm>

namespace pallascope::machine {

namespace {

// The first element that a get or swap accesses, as far as the program says.
std::int64_t firstElement(const ir::Program& program, const ir::Operation& operation)
{
    const auto* indexer = std::get_if<ir::IndexerParams>(&operation.params);
    if (indexer == nullptr) {
        return 0;
    }
    const Extents strides = rowMajorStrides(program.type(operation.operands[0]).shape);
    std::int64_t element = 0;
    const auto& entries = indexer->entries;
    for (std::size_t axis = 0; axis < entries.size(); ++axis) {
        element += entries[axis].start * strides[axis];
    }
    return element;
}

} // namespace

FusionCopies::FusionCopies(const Context& context, Copies& copies, L1Caches& l1)
    : m_prepared(context.prepared)
    , m_recorder(context.recorder)
    , m_turn(context.turn)
    , m_memory(context.memory)
    , m_copies(copies)
    , m_l1(l1)
    , m_sooner(syncTimes(context.prepared.chip).copyBeyondLoad)
{
    const auto shared = m_prepared.chip.memoryIndex("SMEM");
    for (const chip::Link& link : m_prepared.chip.links) {
        m_sooner = link.to == shared ? std::min(m_sooner, link.latency) : m_sooner;
    }
}

// Copies in the arrays that are read, one after another, while the operations run. The arrays that
// are written follow, each as late as still leaves time for it and for those after it. The last of
// these copies ends no earlier than the operations.
bool FusionCopies::begin(const PlanItem& item, BlockFrame& frame)
{
    for (const bool out : {false, true}) {
        for (std::size_t i = 0; i < item.streams.size(); ++i) {
            const PlanStream& stream = item.streams[i];
            if (stream.out != out) {
                continue;
            }
            const auto& site = m_prepared.description.copySite(*stream.operation);
            const std::int32_t link = m_copies.linkHere(site.link);
            const Picoseconds work =
                out ? item.duration - storesFrom(item, i, frame) : Picoseconds(0);
            const auto service = m_copies.serve(link, m_turn.agent().time + work, stream.bytes);
            if (!service) {
                return false;
            }
            record(stream, firstElement(m_prepared.program, *stream.operation), {link, *service},
                   m_turn.agent().time, frame);
        }
    }
    return true;
}

Picoseconds FusionCopies::storesFrom(const PlanItem& item, std::size_t stream,
                                     const BlockFrame& frame) const
{
    Picoseconds left;
    for (; stream < item.streams.size(); ++stream) {
        const PlanStream& one = item.streams[stream];
        if (one.out) {
            const std::int32_t link = m_prepared.description.copySite(*one.operation).link;
            const Picoseconds length =
                m_copies.linkAt(m_copies.linkHere(link)).lengthFor(bytesOf(one, frame));
            left += std::min(length, item.duration - left);
        }
    }
    return left;
}

trace::CopyRow FusionCopies::record(const PlanStream& stream, std::int64_t first,
                                    const Copies::Served& served, Picoseconds issue,
                                    BlockFrame& frame)
{
    const auto& site = m_prepared.description.copySite(*stream.operation);
    const bool isFetched = !stream.out && ir::isAtomic(stream.operation->code);
    const trace::CopyRow copy = m_recorder.addCopy(
        trace::OperandRow{isFetched ? site.fetched : site.operand}, m_recorder.blockOf(site, first),
        0, stream.out, trace::LinkRow{served.link}, m_turn.agent().step, stream.bytes, issue,
        served.service.start, served.service.end);
    await(copy, served.arrival, frame);
    return copy;
}

void FusionCopies::await(trace::CopyRow copy, Picoseconds arrival, BlockFrame& frame)
{
    if (arrival >= frame.streamed) {
        frame.streams = copy;
        frame.streamed = arrival;
    }
}

bool FusionCopies::isThroughL2(const PlanItem& item) const
{
    return item.fusion == nullptr && !item.streams.empty()
           && m_copies.hasL2(m_prepared.description.copySite(*item.streams.front().operation).link);
}

bool FusionCopies::load(const PlanItem& item, BlockFrame& frame)
{
    for (const PlanStream& stream : item.streams) {
        if (!stream.out && !serve(stream, m_turn.agent().time - item.duration, frame)) {
            return false;
        }
    }
    frame.ends = m_turn.agent().time;
    awaitStore(item, 0, frame);
    return true;
}

bool FusionCopies::store(const PlanItem& item, BlockFrame& frame)
{
    if (!serve(item.streams[frame.store], m_turn.agent().time, frame)) {
        return false;
    }
    awaitStore(item, frame.store + 1, frame);
    return true;
}

// The agent goes to when it asks for the first store from this stream on, or to the end.
void FusionCopies::awaitStore(const PlanItem& item, std::size_t from, BlockFrame& frame)
{
    const auto next =
        std::find_if(item.streams.begin() + static_cast<std::ptrdiff_t>(from), item.streams.end(),
                     [](const PlanStream& stream) { return stream.out; });
    m_turn.agent().time = *frame.ends;
    frame.store = 0;
    if (next == item.streams.end()) {
        frame.ends.reset();
        frame.reached.clear();
        return;
    }
    frame.store = static_cast<std::size_t>(next - item.streams.begin());
    m_turn.agent().time -= storesFrom(item, frame.store, frame);
}

bool FusionCopies::serve(const PlanStream& asked, Picoseconds issue, BlockFrame& frame)
{
    const std::span<const ReachedElements> reached = reachedBy(asked, frame);
    const RefBinding& where =
        reached.empty() ? m_turn.binding(asked.operation->operands[0]) : reached.front().where;
    PlanStream stream = asked;
    std::vector<Copies::Piece> pieces;
    if (reached.empty()) {
        pieces.push_back(pieceOf(stream, where, stream.bytes));
    } else {
        stream.bytes = Bytes(0);
    }
    for (const ReachedElements& part : reached) {
        if (part.where.buffer >= 0) {
            pieces.push_back(pieceOf(stream, part.where, bytesOf(stream, part.where)));
            stream.bytes += pieces.back().bytes;
        }
    }
    if (stream.bytes == Bytes(0)) {
        return true;
    }
    if (const std::int32_t owner = m_memory[where.buffer].device; owner != m_turn.agent().device) {
        std::optional<Copies::Served> served = serveRemote(stream, owner, issue);
        if (served) {
            arrive(stream, offsetOf(where), *served, issue, frame);
        }
        return served.has_value();
    }
    if (ir::isAtomic(stream.operation->code)) {
        return changeHere(stream, pieces, reached, issue, frame);
    }
    return stream.out ? storeHere(stream, pieces, offsetOf(where), issue, frame)
                      : loadHere(stream, pieces, offsetOf(where), issue, frame);
}

bool FusionCopies::loadHere(PlanStream stream, std::span<const Copies::Piece> pieces,
                            std::int64_t first, Picoseconds issue, BlockFrame& frame)
{
    std::vector<Copies::Piece> missing; // from L1
    for (const Copies::Piece& piece : pieces) {
        if (const auto held = m_l1.use(piece.part, issue)) {
            await(trace::CopyRow{held->copy}, held->ready, frame);
            m_recorder.countFromL1(piece.bytes);
        } else {
            missing.push_back({piece.part, SectorCache::inSectors(piece.part, piece.bytes)});
        }
    }
    if (missing.empty()) {
        return true;
    }
    // No latency is shorter than what it is sooner, so nothing starts before it is issued.
    auto through = m_copies.serveThroughL2(linkOf(stream), issue - m_sooner, missing, false, 1);
    if (!through) {
        return false;
    }
    SectorCache::Held since;
    const auto come = [&](std::optional<Copies::Served>& served, Bytes bytes) {
        if (served) {
            stream.bytes = bytes;
            const trace::CopyRow copy = arrive(stream, first, *served, issue, frame);
            since = served->arrival >= since.ready ? SectorCache::Held{served->arrival, copy.number}
                                                   : since;
        }
    };
    come(through->held, through->hit);
    come(through->fetched, through->missed);
    for (const Copies::Piece& piece : missing) {
        m_l1.hold(piece.part, since);
    }
    return true;
}

bool FusionCopies::storeHere(const PlanStream& stream, std::span<const Copies::Piece> pieces,
                             std::int64_t first, Picoseconds issue, BlockFrame& frame)
{
    const auto through = m_copies.serveThroughL2(linkOf(stream), issue, pieces, true, 1);
    if (through) {
        record(stream, first, *through->fetched, issue, frame);
    }
    return through.has_value();
}

// An atomic operation is made where the elements are: in L2, which fetches what it does not hold.
// What it makes of that must leave L2 at some time.
bool FusionCopies::changeHere(PlanStream stream, std::span<const Copies::Piece> pieces,
                              std::span<const ReachedElements> reached, Picoseconds issue,
                              BlockFrame& frame)
{
    const auto through = m_copies.serveThroughL2(linkOf(stream), issue, pieces, false, 1);
    if (!through) {
        return false;
    }
    const std::int64_t first = offsetOf(reached.front().where);
    trace::CopyRow last;
    Picoseconds come;
    if (through->held) {
        stream.bytes = through->hit;
        last = record(stream, first, *through->held, issue, frame);
        come = through->held->arrival;
    }
    if (through->fetched) {
        record({stream.operation, through->missed, false}, first, *through->fetched, issue, frame);
        come = std::max(come, through->fetched->arrival);
        const auto written = m_copies.servedOn(through->fetched->link, issue, through->missed);
        if (!written) {
            return false;
        }
        stream.bytes = through->missed;
        last = record(stream, first, *written, issue, frame);
    }
    for (std::size_t i = 0; i < pieces.size(); ++i) {
        await(last, m_copies.changeInL2(pieces[i].part, reached[i].changes, come), frame);
    }
    return true;
}

trace::CopyRow FusionCopies::arrive(const PlanStream& stream, std::int64_t first,
                                    Copies::Served& served, Picoseconds issue, BlockFrame& frame)
{
    if (!stream.out) {
        m_copies.arriveAtPort(served, stream.bytes);
    }
    return record(stream, first, served, issue, frame);
}

std::int32_t FusionCopies::linkOf(const PlanStream& stream) const
{
    return m_prepared.description.copySite(*stream.operation).link;
}

std::span<const ReachedElements> FusionCopies::reachedBy(const PlanStream& stream,
                                                         const BlockFrame& frame)
{
    const auto isIts = [&](const ReachedElements& one) {
        return one.operation == stream.operation;
    };
    const auto first = std::find_if(frame.reached.begin(), frame.reached.end(), isIts);
    return {first, std::find_if_not(first, frame.reached.end(), isIts)};
}

Bytes FusionCopies::bytesOf(const PlanStream& stream, const RefBinding& where) const
{
    const ir::ValueId ref = stream.operation->operands[0];
    return where.buffer < 0 ? Bytes(0)
                            : packedBytes(m_prepared.program.type(ref).dtype,
                                          shapeOf(where, m_turn.memoryShape(ref)).elements());
}

Bytes FusionCopies::bytesOf(const PlanStream& stream, const BlockFrame& frame) const
{
    const auto reached = reachedBy(stream, frame);
    Bytes bytes = reached.empty() ? stream.bytes : Bytes(0);
    for (const ReachedElements& part : reached) {
        bytes += bytesOf(stream, part.where);
    }
    return bytes;
}

Copies::Piece FusionCopies::pieceOf(const PlanStream& stream, const RefBinding& where,
                                    Bytes bytes) const
{
    const ir::ValueId ref = stream.operation->operands[0];
    const Shape& array = m_turn.memoryShape(ref);
    Reach reach = reachOf(where, array);
    return {{where.buffer, array, std::move(reach.start), std::move(reach.stop),
             dtypeBits(m_prepared.program.type(ref).dtype),
             m_prepared.description.copySite(*stream.operation).operand},
            bytes};
}

// On the link between two devices, from the one that sends.
std::optional<Copies::Served> FusionCopies::serveRemote(const PlanStream& stream,
                                                        std::int32_t owner, Picoseconds issue)
{
    const std::int32_t here = m_turn.agent().device;
    const std::int32_t from = stream.out ? here : owner, to = stream.out ? owner : here;
    const Description::Route route = m_prepared.description.route(m_prepared.program, from, to);
    return m_copies.servedOn(m_copies.linkOf(from, route.link), issue + route.detour, stream.bytes);
}

bool FusionCopies::isLate(const BlockFrame& frame) const
{
    return frame.streamed > m_turn.agent().time;
}

void FusionCopies::end(const PlanItem& item, BlockFrame& frame)
{
    if (isLate(frame)) {
        const ir::Operation& waiting =
            item.fusion != nullptr ? *item.fusion : *item.streams.front().operation;
        m_recorder.addWait({.copy = frame.streams,
                            .operation = trace::OperationRow{waiting.id},
                            .isFusion = item.fusion != nullptr},
                           trace::AgentRow{m_turn.agent().id}, m_turn.agent().step,
                           m_turn.agent().time, frame.streamed);
        m_turn.agent().time = frame.streamed;
    }
    frame.streams.reset();
    frame.streamed = Picoseconds(0);
}

} // namespace pallascope::machine
