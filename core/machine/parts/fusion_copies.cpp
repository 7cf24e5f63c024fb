#include "core/machine/parts/fusion_copies.h"

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

FusionCopies::FusionCopies(const Context& context, Copies& copies)
    : m_prepared(context.prepared)
    , m_recorder(context.recorder)
    , m_turn(context.turn)
    , m_copies(copies)
{}

// Copies in the arrays that are read, one after another, while the operations run. The arrays that
// are written follow. The last of these copies ends no earlier than the operations.
bool FusionCopies::begin(const PlanItem& item, BlockFrame& frame)
{
    const Description& description = m_prepared.description;
    constexpr Picoseconds kMost(std::int64_t{1} << 61); // half of the longest run
    Picoseconds left; // the time that the remaining copies to HBM take
    for (const PlanStream& stream : item.streams) {
        const auto& site = description.copySite(*stream.operation);
        const FifoLink& server = m_copies.linkAt(m_copies.linkHere(site.link));
        if (stream.out) {
            left = std::min(kMost, left + std::min(kMost, server.lengthFor(stream.bytes)));
        }
    }
    for (const bool out : {false, true}) {
        for (const PlanStream& stream : item.streams) {
            if (stream.out != out) {
                continue;
            }
            const auto& site = description.copySite(*stream.operation);
            const std::int32_t link = m_copies.linkHere(site.link);
            const FifoLink& server = m_copies.linkAt(link);
            const Picoseconds work =
                out ? item.duration - std::min(item.duration, left) : Picoseconds(0);
            left -= out ? std::min(left, server.lengthFor(stream.bytes)) : Picoseconds(0);
            const auto service = m_copies.serve(link, m_turn.agent().time + work, stream.bytes);
            if (!service) {
                return false;
            }
            const std::int64_t first = firstElement(m_prepared.program, *stream.operation);
            const trace::CopyRow copy =
                m_recorder.addCopy(trace::OperandRow{site.operand}, m_recorder.blockOf(site, first),
                                   0, out, trace::LinkRow{link}, m_turn.agent().step, stream.bytes,
                                   m_turn.agent().time, service->start, service->end);
            if (service->end >= frame.streamed) {
                frame.streams = copy;
                frame.streamed = service->end;
            }
        }
    }
    return true;
}

void FusionCopies::end(const PlanItem& item, BlockFrame& frame)
{
    if (frame.streamed > m_turn.agent().time) {
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
