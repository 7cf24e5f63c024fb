// Makes the scene of the memory view: HBM, the link with its queue, the on-chip memory with its
// slots, and the units.
#include "views/layout/memory/memory.h"

#include "core/base/format.h"
#include "core/trace/grid_launches.h"
#include "views/layout/memory/parts.h"
#include "views/layout/run/grid_blocks.h"
#include "views/layout/run/kept_run.h"
#include "views/layout/run/position.h"
#include "views/layout/run/view_parts.h"
#include "views/layout/timeline/timeline.h"

#include <algorithm>
#include <fmt/format.h>

namespace pallascope::layout {

namespace {

constexpr std::size_t kFirstSlots = 12; // slots of the first memory that the strips leave room for
constexpr std::size_t kTextSlots = 6;   // that the units leave room for

// A memory with the buffers in it that are there while the pipeline under the playhead runs, and
// with their places in the memory of the agent that is shown.
struct Used
{
    std::int32_t memory = 0;
    std::vector<std::int32_t> buffers;
    std::vector<Place> places;
    std::int64_t bytes = 0;
    bool isScalar = false; // SMEM beside a memory of blocks
    bool isTensor = false; // TMEM of a GPU
};

bool isOfGpu(const RunView& run)
{
    return !run.trace->info().blockGrids.empty();
}

// The memories that hold buffers, the one with most bytes first, but on a GPU SMEM; that of the
// arrays, which stand above as strips, last.
std::vector<Used> usedMemories(const RunView& run, const Position& position, std::int32_t agent)
{
    const trace::Info& info = run.trace->info();
    std::vector<Used> used;
    for (std::size_t i = 0; i < info.memories.size(); ++i) {
        Used one;
        one.memory = static_cast<std::int32_t>(i);
        one.buffers = buffersThere(run, position, one.memory);
        one.places = placesOf(run, one.buffers, agent);
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
    const auto isNamed = [&info](const Used& one, std::string_view name) {
        return info.memories[static_cast<std::size_t>(one.memory)].name == name;
    };
    if (isOfGpu(run)) {
        std::stable_partition(used.begin(), used.end(),
                              [&](const Used& one) { return isNamed(one, "SMEM"); });
    }
    for (std::size_t i = 1; i < used.size(); ++i) {
        used[i].isScalar = isNamed(used[i], "SMEM");
        used[i].isTensor = isOfGpu(run) && isNamed(used[i], "TMEM");
    }
    return used;
}

// The height that a memory behind the first one gets, as far as there is room.
double heightOf(const RunView& run, const Used& used, double width, double room)
{
    constexpr double kMostScalars = 84; // px
    const double wanted = used.isTensor ? kTensorHeight
                          : used.isScalar
                              ? std::min(scalarsHeight(run, used.buffers, width), kMostScalars)
                              : memoryHeight(run.trace->info(), used.places, 3);
    const double oneLine = kMemoryHeading + 22;
    return wanted <= room                     ? wanted
           : used.isScalar && oneLine <= room ? oneLine
           : kMemoryHeading <= room           ? kMemoryHeading
                                              : 0;
}

// Paints as many memories as fit between y and the bottom. The small ones get room for three slots
// each. The first one, which comes first, gets the rest, at least `least`.
void paintMemories(Canvas& canvas, const RunView& run, Picoseconds now,
                   const std::vector<Used>& used, double least, double y, double bottom)
{
    constexpr double kBetween = 6;
    if (used.empty()) {
        return;
    }
    double room = bottom - y - least;
    std::vector<double> heights(used.size(), 0);
    for (std::size_t i = 1; i < used.size(); ++i) {
        heights[i] = heightOf(run, used[i], canvas.width(), room - kBetween);
        room -= heights[i] > 0 ? heights[i] + kBetween : 0;
    }
    heights[0] = least + room;
    for (std::size_t i = 0; i < used.size(); ++i) {
        if (heights[i] < kMemoryHeading) {
            continue;
        }
        const Used& one = used[i];
        if (one.isTensor) {
            if (heights[i] >= kTensorHeight) {
                paintTensorMemory(canvas, run, one.memory, one.buffers, y);
            }
            y += heights[i] + kBetween;
            continue;
        }
        y = kBetween
            + (one.isScalar ? paintScalars(canvas, run, one.memory, one.buffers, y, heights[i])
                            : paintMemory(canvas, run, now, one.memory, one.buffers, one.places, y,
                                          heights[i]));
    }
}

// The links to show: those of the device of the agent that is shown.
std::vector<std::int32_t> shownLinks(const trace::Info& info, std::int32_t agent)
{
    const auto count = static_cast<std::int32_t>(info.linksPerDevice());
    std::vector<std::int32_t> links;
    for (std::int32_t link = 0; link < count; ++link) {
        links.push_back(info.deviceOf(agent) * count + link);
    }
    return links;
}

// What stands around the memories, from top to bottom.
struct Around
{
    std::vector<std::int32_t> links;
    std::vector<std::int32_t> semaphores;
    double cache = 0;     // the height of what L2 holds
    double units = 0;     // of the units
    double barriers = 0;  // of a GPU's block
    double registers = 0; // of an SM
    double strips = 0;    // the height of the strips
    double bottom = 0;    // of the memories
};

// Where the first memory would not have `slots` px, units go, whose lanes the time line has too;
// then links behind the first, which the caption names where they are busy; then the semaphores, on
// a GPU the registers and the last barriers. The strips leave it `least` px where they can.
void fitAround(Around& around, const Strips& strips, Size view, double slots, double least)
{
    constexpr double kBelowStrips = 8;
    const auto isEnough = [&] {
        around.bottom = view.height - around.units - (around.units > 0 ? 8 : 4)
                        - semaphoresHeight(around.semaphores) - around.barriers - around.registers;
        const double below = linksHeight(around.links, view.width) + kBelowStrips + around.cache;
        around.strips =
            strips.empty() ? 0 : stripsHeight(strips, view, around.bottom - below - least);
        return around.bottom - below - around.strips >= slots;
    };
    if (!isEnough()) {
        around.units = 0;
    }
    while (!isEnough() && around.links.size() > 1) {
        around.links.pop_back();
    }
    // What came from L2 stands beside each strip.
    constexpr double kAll = 1e6; // px
    while (around.barriers > 0 && around.links.size() > 1
           && around.strips < stripsHeight(strips, view, kAll)) {
        around.links.pop_back();
        (void)isEnough();
    }
    if (!isEnough()) {
        around.semaphores.clear();
        around.registers = 0;
    }
    constexpr double kLine = 17, kLeastBarriers = 54; // px
    while (!isEnough() && around.barriers - kLine >= kLeastBarriers) {
        around.barriers -= kLine;
    }
}

// The last word of an SM's name: "47".
std::string smNumber(const RunView& run, std::int32_t sm)
{
    const std::string name = smName(run, sm);
    return name.substr(name.rfind(' ') + 1);
}

// Whose memory it is: "SM 46–47" for two blocks of a cluster, "device 5", "SparseCore 0 vector
// subcore 5"; empty if there is no other.
std::string ownerText(const RunView& run, Picoseconds now, std::int32_t agent)
{
    const trace::Info& info = run.trace->info();
    if (run.index->agents().size() < 2) {
        return {};
    }
    const trace::Agents& agents = run.index->agents();
    if (!agents.sms.empty()) {
        const std::int32_t sm = agents.smOf[static_cast<std::size_t>(agent)];
        if (sm == trace::kNone) {
            return {};
        }
        const std::string name = "|" + smName(run, sm) + "|";
        const auto block = run.index->launches().blockOf(agent, now);
        if (!block || blockDoes(*run.trace, *block, now) != BlockDoes::Runs) {
            return name;
        }
        const trace::GridBlocks& blocks = run.trace->gridBlocks();
        const auto grid = static_cast<std::size_t>(blocks.grid[static_cast<std::size_t>(*block)]);
        // The blocks of a cluster have their memory together.
        const std::int64_t others = info.blockGrids[grid].cluster - 1;
        const std::int64_t last = *block + others;
        const bool isBesides = others > 0 && last < static_cast<std::int64_t>(blocks.size())
                               && smOfBlock(run, last) == sm + others;
        const std::string to =
            isBesides ? smNumber(run, sm + static_cast<std::int32_t>(others)) : "";
        return "|" + smName(run, sm) + (to.empty() ? "" : "\u2013" + to) + "| "
               + blockName(*run.trace, *block, others);
    }
    return info.deviceCount() == static_cast<std::int64_t>(run.index->agents().size())
               ? fmt::format("device |{}|", info.deviceOf(agent))
               : "|" + info.agents[static_cast<std::size_t>(agent)] + "|";
}

std::string linkPart(const RunView& run, Picoseconds now, std::int32_t link, bool named)
{
    const trace::Trace& trace = *run.trace;
    const trace::Copies& copies = trace.copies();
    const std::string name = named ? linkName(trace.info(), link) + " " : std::string();
    const std::optional<LinkNow> of = linkNow(trace, link, now);
    if (!of || !of->moves) {
        const std::string queued = of ? fmt::format(" · |{}| queued", of->queued) : std::string();
        return fmt::format("{}|idle|{}", named ? name : "link ", queued);
    }
    const std::size_t row = of->copy.index();
    const double seconds = toSeconds(Picoseconds(copies.end[row] - copies.start[row])).value();
    return fmt::format("{}|{}| · {} |{}| · |{}| queued", name,
                       bandwidthText(static_cast<double>(copies.bytes[row]) / seconds),
                       trace::copyLabel(trace, of->copy),
                       percentText(trace::copyFraction(trace, of->copy, now), 0), of->queued);
}

std::string captionOf(Canvas& canvas, const RunView& run, Picoseconds now,
                      const std::vector<Used>& used, std::int32_t agent)
{
    const trace::Info& info = run.trace->info();
    std::string caption = ownerText(run, now, agent);
    const std::vector<std::int32_t> links = shownLinks(info, agent);
    for (const std::int32_t link : links) { // the first one, and others that are not idle
        if (link == links.front() || linkNow(*run.trace, link, now)) {
            caption += (caption.empty() ? "" : " · ") + linkPart(run, now, link, links.size() > 1);
        }
    }
    const Taken taken = takenAt(run, positionAt(run, now));
    if (!used.empty() && !info.links.empty() && used.front().memory == taken.memory) {
        const Bytes together = taken.used * run.report.blocksTogether; // of all blocks on an SM
        caption += (caption.empty() ? "" : " · ")
                   + info.memories[static_cast<std::size_t>(taken.memory)].name + " "
                   + parts::ofText(together, taken.limit);
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
    const std::int32_t agent = shownAgent(run, state);
    const std::vector<Used> used = usedMemories(run, positionAt(run, state.now), agent);
    if (used.empty() && info.operands.empty()) {
        return parts::nothing("Memory", "nothing copied",
                              "No copies and no buffers: this trace moves no blocks.", size);
    }
    Canvas canvas(size.width, size.height);
    double y = 0;
    const Strips strips = info.operands.empty() ? Strips() : stripsOf(run, state.now);
    Around around{shownLinks(info, agent), listedSemaphores(run, agent), cacheHeight(run),
                  isOfGpu(run) ? 0 : unitsHeight(run, size.width)};
    const std::vector<std::int32_t> barriers = barriersOf(run, agent);
    constexpr double kApart = 5; // px before and behind the barriers
    if (isOfGpu(run)) {
        around.barriers = barriersHeight(run, barriers) + (barriers.empty() ? 0 : 2 * kApart);
        around.registers = kRegistersLine;
    }
    const auto heightFor = [&](std::size_t slots) {
        return used.empty() ? 0 : memoryHeight(info, used.front().places, slots);
    };
    const double least = heightFor(kFirstSlots);
    fitAround(around, strips, size, heightFor(kTextSlots), least);
    if (!strips.empty()) {
        y = paintStrips(canvas, run, strips, state.now, y, around.strips) + 8;
    }
    if (around.cache > 0) {
        paintCache(canvas, run, info.deviceOf(agent), state.now, y);
        y += around.cache;
    }
    y = paintLinks(canvas, run, state.now, around.links, y);
    paintMemories(canvas, run, state.now, used, least, y, around.bottom);
    if (y < around.bottom) {
        const double below =
            paintSemaphores(canvas, run, state.now, around.semaphores, around.bottom);
        paintBarriers(canvas, run, state.now, barriers, below + kApart,
                      around.barriers - 2 * kApart);
    }
    if (around.registers > 0) {
        paintRegisters(canvas, run, state, size.height - around.registers - 2);
    }
    if (around.units > 0) {
        paintUnits(canvas, run, state.now, size.height - around.units);
    }
    std::string caption =
        withKept(canvas, state, "hbm_read_bytes", captionOf(canvas, run, state.now, used, agent));
    return parts::finished(std::move(canvas), "Memory", std::move(caption), run, state);
}

} // namespace pallascope::layout
