#include "views/navigation/break_targets.h"

#include "core/trace/columns.h"
#include "core/trace/lookup.h"
#include "views/navigation/break_stops.h"
#include "views/navigation/times.h"

#include <algorithm>

namespace pallascope::navigation {

namespace {

namespace breaks = trace::breaks;
namespace target = layout::target;
using trace::Trace;
using Maybe = std::optional<trace::Breakpoint>;

struct BreakpointOf
{
    const Trace& trace;
    Picoseconds now;
    const trace::Info& info = trace.info();

    Maybe operator()(const target::SourceLine& line) const
    {
        const trace::SourceLine at{static_cast<std::int32_t>(line.file),
                                   static_cast<std::int32_t>(line.line)};
        const std::vector<trace::SourceLine> lines = linesThatStop(info);
        return std::binary_search(lines.begin(), lines.end(), at) ? Maybe(breakpointAt(info, at))
                                                                  : std::nullopt;
    }

    Maybe operator()(const target::Operation& of) const
    {
        const trace::SourceLine& line = info.operations[trace::at(of.operation)].source;
        return (*this)(target::SourceLine{line.file, line.line});
    }

    Maybe operator()(const target::ListingLine& line) const
    {
        const std::int32_t operation = info.listing[trace::at(line.line)].operation;
        return operation < 0 ? std::nullopt : (*this)(target::Operation{operation, {}});
    }

    Maybe operator()(const target::Steps& steps) const
    {
        if (steps.first != steps.last) {
            return std::nullopt;
        }
        const std::size_t row = trace::at(steps.first);
        const auto& pipeline = info.pipelines[trace::at(trace.steps().pipeline[row])];
        return pipeline.grid.empty()
                   ? std::nullopt
                   : Maybe(breaks::Grid{trace::gridIndices(pipeline, trace.steps().ordinal[row])});
    }

    Maybe operator()(const target::Block& block) const
    {
        const trace::Operand& operand = info.operands[trace::at(block.operand)];
        return breaks::Block{std::string(trace::arrayName(operand)),
                             trace::blockIndex(operand, block.block)};
    }

    Maybe operator()(const target::Copy& copy) const
    {
        const std::size_t row = trace::at(copy.row);
        return (*this)(target::Block{trace.copies().operand[row], trace.copies().block[row]});
    }

    Maybe operator()(const target::Buffer& buffer) const
    {
        const std::int32_t operand = info.buffers[trace::at(buffer.buffer)].operand;
        const trace::BufferRow number = trace::BufferRow::at(trace::at(buffer.buffer));
        const std::optional<std::int64_t> block =
            operand < 0 ? std::nullopt : trace::slotStateAt(trace, number, now).block;
        return block ? (*this)(target::Block{operand, *block}) : std::nullopt;
    }

    template<class Other>
    Maybe operator()(const Other& /*other*/) const
    {
        return std::nullopt;
    }
};

// Whether it is one event of the run, with a time of its own.
bool happensOnce(const layout::Target& target)
{
    const auto* operation = std::get_if<target::Operation>(&target);
    return (operation != nullptr && operation->segment)
           || !(layout::is<target::SourceLine>(target) || layout::is<target::ListingLine>(target)
                || layout::is<target::Block>(target) || layout::is<target::Buffer>(target)
                || layout::is<target::Operation>(target) || layout::is<target::Steps>(target));
}

} // namespace

std::optional<trace::Breakpoint> breakpointOf(const Trace& trace, const layout::Target& target,
                                              Picoseconds now)
{
    return std::visit(BreakpointOf{trace, now}, target);
}

std::optional<Picoseconds> timeToRunTo(const Trace& trace, const layout::Target& target,
                                       Picoseconds now)
{
    const Maybe breakpoint = happensOnce(target) ? std::nullopt : breakpointOf(trace, target, now);
    if (!breakpoint) {
        return timeOf(trace, target, now);
    }
    const Result<BreakTimes> times = breakTimes(trace, *breakpoint);
    if (!times) {
        return std::nullopt;
    }
    const auto next = nextHit({*times}, now);
    const auto hit = next ? next : previousHit({*times}, now);
    return hit ? std::optional(hit->time) : std::nullopt;
}

} // namespace pallascope::navigation
