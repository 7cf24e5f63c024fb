#include "views/layout/run/copies.h"

#include "core/trace/columns.h"
#include "core/trace/copy_ends.h"
#include "core/trace/lookup.h"

namespace pallascope::layout {

std::optional<LinkNow> linkNow(const trace::Trace& trace, std::int32_t link, Picoseconds now)
{
    const std::vector<std::size_t> rows = trace::copiesOnLink(trace, trace::LinkRow{link}, now);
    if (rows.empty()) {
        return std::nullopt;
    }
    const bool moves = trace.copies().start[rows.front()] <= now.value();
    return LinkNow{trace::CopyRow::at(rows.front()), moves, rows.size() - (moves ? 1 : 0)};
}

std::optional<LinkNow> busyLinkNow(const trace::Trace& trace, std::int32_t device, Picoseconds now)
{
    const auto each = static_cast<std::int32_t>(trace.info().linksPerDevice());
    const bool isOne = device != trace::kNone;
    const auto all = static_cast<std::int32_t>(trace.info().links.size());
    const std::int32_t begin = isOne ? each * device : 0, end = isOne ? begin + each : all;
    std::optional<LinkNow> queued;
    for (std::int32_t link = begin; link < end; ++link) {
        const std::optional<LinkNow> here = linkNow(trace, link, now);
        if (here && here->moves) {
            return here;
        }
        queued = queued ? queued : here;
    }
    return queued;
}

bool isCopyOfSm(const RunView& run, trace::CopyRow copy, std::int32_t sm)
{
    const trace::OptionalRow<trace::EndRow> source = trace::sourceOf(*run.trace, copy);
    if (!source) {
        return false;
    }
    const trace::CopyEnds& ends = run.trace->copyEnds();
    const std::vector<std::int32_t>& smOf = run.index->agents().smOf;
    return smOf[trace::at(ends.agent[source->index()])] == sm
           || smOf[trace::at(ends.agent[source->index() + 1])] == sm;
}

} // namespace pallascope::layout
