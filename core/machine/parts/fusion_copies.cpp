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
            const Picoseconds work = out ? item.duration - storesFrom(item, i) : Picoseconds(0);
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

Picoseconds FusionCopies::storesFrom(const PlanItem& item, std::size_t stream) const
{
    Picoseconds left;
    for (; stream < item.streams.size(); ++stream) {
        const PlanStream& one = item.streams[stream];
        if (one.out) {
            const std::int32_t link = m_prepared.description.copySite(*one.operation).link;
            const Picoseconds length =
                m_copies.linkAt(m_copies.linkHere(link)).lengthFor(one.bytes);
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
    m_turn.agent().time -= storesFrom(item, frame.store);
}

bool FusionCopies::serve(const PlanStream& asked, Picoseconds issue, BlockFrame& frame)
{
    const RefBinding& where = reachedBy(asked, frame);
    const std::optional<SectorCache::Part> window = windowOf(asked, where);
    // An atomic operation is made where the elements are: in L2.
    const bool isLoad = window && !asked.out && !ir::isAtomic(asked.operation->code);
    PlanStream stream = asked;
    if (isLoad) {
        stream.bytes = SectorCache::inSectors(*window, asked.bytes);
        if (const auto held = m_l1.use(*window, issue)) {
            await(trace::CopyRow{held->copy}, held->ready, frame);
            m_recorder.countFromL1(asked.bytes);
            return true;
        }
    }
    std::optional<Copies::Served> served = serve(stream, where, window, issue);
    if (!served) {
        return false;
    }
    const std::int32_t hbm =
        m_copies.linkHere(m_prepared.description.copySite(*asked.operation).link);
    if (window && ir::isAtomic(asked.operation->code) && served->link == hbm) {
        // L2 fetches what it does not hold, and what it makes of that must leave it at some time.
        PlanStream fetched = asked;
        fetched.out = false;
        record(fetched, offsetOf(where), *served, issue, frame);
        served = m_copies.servedOn(hbm, issue, asked.bytes);
        if (!served) {
            return false;
        }
    }
    if (!stream.out) {
        m_copies.arriveAtPort(*served, stream.bytes);
    }
    const trace::CopyRow copy = record(stream, offsetOf(where), *served, issue, frame);
    if (isLoad) {
        m_l1.hold(*window, {served->arrival, copy.number});
    }
    return true;
}

const RefBinding& FusionCopies::reachedBy(const PlanStream& stream, const BlockFrame& frame) const
{
    const auto reached =
        std::find_if(frame.reached.begin(), frame.reached.end(),
                     [&](const auto& one) { return one.first == stream.operation; });
    return reached == frame.reached.end() ? m_turn.binding(stream.operation->operands[0])
                                          : reached->second;
}

std::optional<SectorCache::Part> FusionCopies::windowOf(const PlanStream& stream,
                                                        const RefBinding& where) const
{
    const ir::Operation& operation = *stream.operation;
    const ir::ValueId ref = operation.operands[0];
    const Shape& array = m_turn.memoryShape(ref);
    Reach reach = reachOf(where, array);
    bool isWindow = !ir::listsElements(operation.code) && !(where.asked && where.asked->isEmpty)
                    && stream.bytes > Bytes(0)
                    && m_memory[where.buffer].device == m_turn.agent().device;
    if (const auto* atomic = std::get_if<ir::AtomicParams>(&operation.params)) {
        isWindow = isWindow && !atomic->listed;
    }
    for (std::size_t axis = 0; axis < reach.start.size(); ++axis) {
        isWindow = isWindow && reach.start[axis] < reach.stop[axis];
    }
    if (!isWindow) {
        return std::nullopt;
    }
    return SectorCache::Part{where.buffer,
                             array,
                             std::move(reach.start),
                             std::move(reach.stop),
                             dtypeBits(m_prepared.program.type(ref).dtype),
                             m_prepared.description.copySite(operation).operand};
}

std::optional<Copies::Served> FusionCopies::serve(const PlanStream& stream, const RefBinding& where,
                                                  const std::optional<SectorCache::Part>& window,
                                                  Picoseconds issue)
{
    const std::int32_t owner = m_memory[where.buffer].device;
    if (owner != m_turn.agent().device) {
        return serveRemote(stream, owner, issue);
    }
    const std::int32_t link = m_prepared.description.copySite(*stream.operation).link;
    if (!stream.out) { // no latency is shorter, so nothing starts before it is issued
        issue -= m_sooner;
    }
    if (!window) {
        return m_copies.servedOn(m_copies.linkHere(link), issue, stream.bytes);
    }
    const bool out = stream.out && !ir::isAtomic(stream.operation->code);
    return m_copies.serveThroughL2(link, issue, stream.bytes, *window, out, 1);
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
