// Operations around kernels: straight code that streams arrays from HBM and back while it works.
#include "core/base/check.h"
#include "core/machine/engine/engine.h"

#include <algorithm>

namespace pallascope::machine {

namespace {

// The first element that a get or swap reaches, as far as the program says.
std::int64_t firstElement(const ir::Program& program, const ir::Operation& operation)
{
    const Extents strides = rowMajorStrides(program.type(operation.operands[0]).shape);
    std::int64_t element = 0;
    const auto& entries = std::get<ir::IndexerParams>(operation.params).entries;
    for (std::size_t axis = 0; axis < entries.size(); ++axis) {
        element += entries[axis].start * strides[axis];
    }
    return element;
}

} // namespace

// What is read comes one array after the other while the operations run; what is written goes after
// it, and the last of it when the operations are done, at the earliest.
bool Engine::beginStreams(const PlanItem& item, BlockFrame& frame)
{
    const Description& description = m_recorder.description();
    constexpr Picoseconds kMost(std::int64_t{1} << 61); // half of the longest run
    Picoseconds left;                                   // that copies to HBM take from here on
    for (const PlanStream& stream : item.streams) {
        const auto& site = description.copySite(*stream.operation);
        const FifoLink& server = m_state.links[static_cast<std::size_t>(linkHere(site.link))];
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
            const std::int32_t link = linkHere(site.link);
            FifoLink& server = m_state.links[static_cast<std::size_t>(link)];
            const Picoseconds work =
                out ? item.duration - std::min(item.duration, left) : Picoseconds(0);
            left -= out ? std::min(left, server.lengthFor(stream.bytes)) : Picoseconds(0);
            const auto service = server.serve(m_agent->time + work, stream.bytes);
            if (!service) {
                fail(tooLong());
                return false;
            }
            const std::int64_t first = firstElement(m_program, *stream.operation);
            const std::int32_t copy = m_recorder.addCopy(
                site.operand, m_recorder.blockOf(site, first), 0, out, link, m_agent->step,
                stream.bytes, m_agent->time, service->start, service->end);
            if (service->end >= frame.streamed) {
                frame.streams = copy;
                frame.streamed = service->end;
            }
        }
    }
    return true;
}

// The fusion goes on until all that it writes is in HBM.
void Engine::endStreams(const PlanItem& item, BlockFrame& frame)
{
    if (frame.streamed > m_agent->time) {
        m_recorder.addWait({.copy = frame.streams, .operation = item.fusion->id, .isFusion = true},
                           m_agent->id, m_agent->step, m_agent->time, frame.streamed);
        m_agent->time = frame.streamed;
    }
    frame.streams = -1;
    frame.streamed = Picoseconds(0);
}

} // namespace pallascope::machine
