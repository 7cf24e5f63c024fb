// Makes the scene of the memory view: HBM, the link with its queue, the on-chip memory with its
// slots, and the units.
#include "views/layout/memory/memory.h"

#include "core/base/format.h"
#include "views/layout/memory/parts.h"
#include "views/layout/run/position.h"
#include "views/layout/run/view_parts.h"
#include "views/layout/timeline/timeline.h"

#include <algorithm>
#include <fmt/format.h>

namespace pallascope::layout {

namespace {

constexpr std::size_t kFirstSlots = 8; // slots of the first memory that the strips leave room for

// A memory with the buffers in it that are there while the pipeline under the playhead runs.
struct Used
{
    std::int32_t memory = 0;
    std::vector<std::int32_t> buffers;
    std::int64_t bytes = 0;
};

// The memories that hold buffers, the one with most bytes first; that of the arrays, which stand
// above as strips, last.
std::vector<Used> usedMemories(const RunView& run, const Position& position)
{
    const trace::Info& info = run.trace->info();
    std::vector<Used> used;
    for (std::size_t i = 0; i < info.memories.size(); ++i) {
        Used one{static_cast<std::int32_t>(i), {}, 0};
        one.buffers = buffersThere(run, position, one.memory);
        for (const std::int32_t buffer : one.buffers) {
            one.bytes += info.buffers[static_cast<std::size_t>(buffer)].bytes.value();
        }
        if (one.bytes > 0) {
            used.push_back(std::move(one));
        }
    }
    std::stable_sort(used.begin(), used.end(),
                     [](const Used& a, const Used& b) { return a.bytes > b.bytes; });
    if (!info.links.empty()) {
        std::stable_partition(used.begin(), used.end(), [&info](const Used& one) {
            return one.memory != info.links[0].from;
        });
    }
    return used;
}

// Paints as many memories as fit between y and the bottom. The small ones get room for three slots
// each. The first one, which comes first, gets the rest, at least `least`.
void paintMemories(Canvas& canvas, const RunView& run, Picoseconds now,
                   const std::vector<Used>& used, double least, double y, double bottom)
{
    constexpr double kBetween = 6;
    const trace::Info& info = run.trace->info();
    if (used.empty()) {
        return;
    }
    double room = bottom - y - least;
    std::vector<double> heights(used.size(), 0);
    for (std::size_t i = 1; i < used.size(); ++i) {
        const double wanted = memoryHeight(info, used[i].buffers, 3);
        heights[i] = wanted + kBetween <= room           ? wanted
                     : kMemoryHeading + kBetween <= room ? kMemoryHeading
                                                         : 0;
        room -= heights[i] > 0 ? heights[i] + kBetween : 0;
    }
    heights[0] = least + room;
    for (std::size_t i = 0; i < used.size(); ++i) {
        if (heights[i] >= kMemoryHeading) {
            y = paintMemory(canvas, run, now, used[i].memory, used[i].buffers, y, heights[i])
                + kBetween;
        }
    }
}

// The number of links to show; in a run of several devices, those of the first device.
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
    const auto copy = trace::CopyRow::at(row);
    const double seconds = toSeconds(Picoseconds(copies.end[row] - copies.start[row])).value();
    return fmt::format("{}|{}| · {} |{}| · |{}| queued", name,
                       bandwidthText(static_cast<double>(copies.bytes[row]) / seconds),
                       trace::copyLabel(trace, copy),
                       percentText(trace::copyFraction(trace, copy, now), 0), range.size() - 1);
}

std::string captionOf(Canvas& canvas, const RunView& run, Picoseconds now,
                      const std::vector<Used>& used)
{
    const trace::Info& info = run.trace->info();
    std::string caption;
    for (std::size_t i = 0; i < shownLinks(info); ++i) {
        caption += (i > 0 ? " · " : "")
                   + linkPart(run, now, static_cast<std::int32_t>(i), info.links.size() > 1);
    }
    const Taken taken = takenAt(run, positionAt(run, now));
    if (!used.empty() && !info.links.empty() && used.front().memory == taken.memory) {
        caption += (caption.empty() ? "" : " · ")
                   + info.memories[static_cast<std::size_t>(taken.memory)].name + " "
                   + parts::ofText(taken.used, taken.limit);
        canvas.state(
            {FactKind::BytesTaken, taken.memory, static_cast<double>(taken.used.value()), {}});
        canvas.state({FactKind::BytesAllowed, taken.memory,
                      static_cast<double>(taken.limit.value()), bytesText(taken.limit)});
    }
    return caption;
}

} // namespace

Scene layoutMemory(const RunView& run, const ViewState& state, Size size)
{
    if (!run.notRun.empty()) {
        return layoutNearest(run, state, size);
    }
    const trace::Info& info = run.trace->info();
    const std::vector<Used> used = usedMemories(run, positionAt(run, state.now));
    if (used.empty() && info.operands.empty()) {
        return parts::nothing("Memory", "nothing copied",
                              "No copies and no buffers: this trace moves no blocks.", size);
    }
    Canvas canvas(size.width, size.height);
    double y = 0;
    const double units = unitsHeight(run, size.width);
    const double bottom = size.height - units - (units > 0 ? 8 : 4);
    const double least = used.empty() ? 0 : memoryHeight(info, used.front().buffers, kFirstSlots);
    if (!info.operands.empty()) {
        const Strips strips = stripsOf(run, state.now);
        const double links = kLinkHeight * static_cast<double>(shownLinks(info));
        const double height = stripsHeight(strips, size.height, bottom - links - least - 8);
        y = paintStrips(canvas, run, strips, state.now, y, height) + 8;
    }
    for (std::size_t i = 0; i < shownLinks(info); ++i) {
        if (y + kLinkHeight > size.height) {
            break;
        }
        y = paintLink(canvas, run, state.now, static_cast<std::int32_t>(i), y);
    }
    paintMemories(canvas, run, state.now, used, least, y, bottom);
    if (units > 0) {
        paintUnits(canvas, run, state.now, size.height - units);
    }
    std::string caption = captionOf(canvas, run, state.now, used);
    return parts::finished(std::move(canvas), "Memory", std::move(caption), run, state);
}

} // namespace pallascope::layout
