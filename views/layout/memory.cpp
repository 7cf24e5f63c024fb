// The memory view: HBM, the link with its queue, the on-chip memory with its slots, and the units.
#include "core/base/format.h"
#include "views/layout/memory_parts.h"
#include "views/layout/timeline.h"
#include "views/layout/view_parts.h"

#include <algorithm>
#include <fmt/format.h>

namespace pallascope::layout {

namespace {

// The on-chip memories that hold buffers, the one with most bytes first.
std::vector<std::int32_t> usedMemories(const trace::Info& info)
{
    std::vector<std::int64_t> bytes(info.memories.size(), 0);
    for (const trace::Buffer& buffer : info.buffers) {
        bytes[static_cast<std::size_t>(buffer.memory)] += buffer.bytes.value();
    }
    std::vector<std::int32_t> used;
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        if (bytes[i] > 0) {
            used.push_back(static_cast<std::int32_t>(i));
        }
    }
    std::stable_sort(used.begin(), used.end(), [&bytes](std::int32_t a, std::int32_t b) {
        return bytes[static_cast<std::size_t>(a)] > bytes[static_cast<std::size_t>(b)];
    });
    return used;
}

// Of several devices those of the first.
std::size_t shownLinks(const trace::Info& info)
{
    return info.links.size() / static_cast<std::size_t>(info.deviceCount());
}

std::string linkPart(const RunView& run, Picoseconds now, std::int32_t link, bool named)
{
    const trace::Trace& trace = *run.trace;
    const trace::CopyRange range = trace::copiesInFlight(trace, link, now);
    const trace::Copies& copies = trace.copies();
    const std::string name =
        named ? trace.info().links[static_cast<std::size_t>(link)].name + " " : std::string();
    if (range.empty() || copies.start[range.first] > now.value()) {
        const std::string queued =
            range.empty() ? std::string() : fmt::format(" · |{}| queued", range.size());
        return fmt::format("{}|idle|{}", named ? name : "link ", queued);
    }
    const std::size_t row = range.first;
    const double seconds = toSeconds(Picoseconds(copies.end[row] - copies.start[row])).value();
    return fmt::format("{}|{}| · {} |{}| · |{}| queued", name,
                       bandwidthText(static_cast<double>(copies.bytes[row]) / seconds),
                       trace::copyName(trace, row),
                       percentText(trace::copyFraction(trace, row, now), 0), range.size() - 1);
}

std::string captionOf(const RunView& run, Picoseconds now, const std::vector<std::int32_t>& used)
{
    const trace::Info& info = run.trace->info();
    std::string caption;
    for (std::size_t i = 0; i < shownLinks(info); ++i) {
        caption += (i > 0 ? " · " : "")
                   + linkPart(run, now, static_cast<std::int32_t>(i), info.links.size() > 1);
    }
    if (!used.empty()) {
        const trace::Memory& memory = info.memories[static_cast<std::size_t>(used.front())];
        const Bytes limit = memory.scopedLimit.value_or(memory.capacity);
        caption += (caption.empty() ? "" : " · ") + memory.name + " "
                   + parts::ofText(run.report.vmemPeak, limit);
    }
    return caption;
}

} // namespace

Scene layoutMemory(const RunView& run, const ViewState& state, Size size)
{
    const trace::Info& info = run.trace->info();
    const std::vector<std::int32_t> used = usedMemories(info);
    if (used.empty() && info.operands.empty()) {
        return parts::nothing("Memory", "nothing copied",
                              "No copies and no buffers: this trace moves no blocks.", size);
    }
    Canvas canvas(size.width, size.height);
    double y = 0;
    if (!info.operands.empty()) {
        y = paintStrips(canvas, run, state.now, y, stripsHeight(run, size.height)) + 8;
    }
    for (std::size_t i = 0; i < shownLinks(info); ++i) {
        if (y + kLinkHeight > size.height) {
            break;
        }
        y = paintLink(canvas, run, state.now, static_cast<std::int32_t>(i), y);
    }
    const double units = unitsHeight(run, size.width);
    const double bottom = size.height - units - (units > 0 ? 8 : 4);
    // Small memories get their rows at their least height; the first one gets the rest.
    double below = 0;
    for (std::size_t i = 1; i < used.size(); ++i) {
        const auto rows =
            std::count_if(info.buffers.begin(), info.buffers.end(),
                          [&](const trace::Buffer& buffer) { return buffer.memory == used[i]; });
        below += 24 + kLeastSlot * static_cast<double>(std::min<std::ptrdiff_t>(rows, 3));
    }
    for (std::size_t i = 0; i < used.size(); ++i) {
        const double room = bottom - y;
        const double height =
            i == 0 ? room - below : (bottom - y) / static_cast<double>(used.size() - i);
        if (height < 40) {
            break;
        }
        y = paintMemory(canvas, run, state.now, used[i], y, height) + 6;
    }
    if (units > 0) {
        paintUnits(canvas, run, state.now, size.height - units);
    }
    return parts::finished(std::move(canvas), "Memory", captionOf(run, state.now, used), run,
                           state);
}

} // namespace pallascope::layout
