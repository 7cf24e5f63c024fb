// Paints what an SM of a GPU has beside shared memory: TMEM and registers.
#include "core/base/format.h"
#include "core/trace/columns.h"
#include "views/layout/kernel/occupancy.h"
#include "views/layout/memory/parts.h"
#include "views/layout/run/operand_color.h"
#include "views/layout/run/view_parts.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace pallascope::layout {

namespace {

constexpr std::int64_t kColumnBytes = 512; // of TMEM: 128 lanes of 32 bits

} // namespace

void paintTensorMemory(Canvas& canvas, const RunView& run, std::int32_t memory,
                       const std::vector<std::int32_t>& buffers, double y)
{
    constexpr double kBand = 20;
    const trace::Info& info = run.trace->info();
    const std::int64_t columns =
        std::max<std::int64_t>(1, info.memories[trace::at(memory)].capacity.value() / kColumnBytes);
    const auto columnsOf = [](Bytes bytes) {
        return (bytes.value() + kColumnBytes - 1) / kColumnBytes;
    };
    std::int64_t held = 0;
    for (const std::int32_t buffer : buffers) {
        held += columnsOf(info.buffers[trace::at(buffer)].bytes);
    }
    paintMemoryHead(canvas, run, memory, buffers,
                    fmt::format("in {} of {} columns", countText(held), countText(columns)), true,
                    y);
    const double x = parts::kPadding, w = canvas.width() - 2 * x;
    const double top = y + kMemoryHeading;
    const auto toX = [&](std::int64_t column) {
        return x + std::round(w * static_cast<double>(column) / static_cast<double>(columns));
    };
    canvas.fill(x, top, w, kBand, Role::Grid);
    double free = x;
    for (const std::int32_t row : buffers) {
        const trace::Buffer& buffer = info.buffers[trace::at(row)];
        const std::int64_t first = buffer.address.value() / kColumnBytes;
        const std::int64_t last = std::min(columns, first + columnsOf(buffer.bytes));
        const double left = toX(first), right = std::max(left + 2, toX(last));
        const Role role = bufferRole(run, trace::BufferRow{row});
        canvas.fill(left, top, right - left - 1, kBand, mix(role, 0.30));
        canvas.fill(left, top, 3, kBand, role);
        const std::string size = parts::arrayText(buffer.shape, buffer.dtype);
        const double name = textWidth(buffer.name, 10, Weight::Mono);
        if (name + 12 <= right - left) {
            canvas.text(left + 8, top, name + 2, kBand, buffer.name,
                        {10, Role::Text, Weight::Mono, Align::Left});
            if (name + textWidth(size, 10) + 26 <= right - left) {
                canvas.text(left, top, right - left - 8, kBand, size,
                            {10, Role::Text2, Weight::Regular, Align::Right});
            }
        }
        canvas.hit(left, top, right - left, kBand, target::Buffer{row});
        const std::string range = fmt::format("{}\u2013{}", first, last - 1);
        if (left >= free && left + textWidth(range, 10) <= x + w) {
            canvas.text(left, top + kBand + 1, w, 13, range,
                        {10, Role::Text3, Weight::Regular, Align::Left});
            free = left + textWidth(range, 10) + 10;
        }
    }
}

void paintRegisters(Canvas& canvas, const RunView& run, const ViewState& state, double y)
{
    const trace::BlockGrid* const grid = blocksAt(run, state);
    if (grid == nullptr || grid->registers == 0) {
        return;
    }
    const double x = parts::kPadding, w = canvas.width() - 2 * x;
    const std::string heading = "Registers";
    canvas.text(x, y, w, kRegistersLine, heading, {11, Role::Vpu, Weight::SemiBold, Align::Left});
    const double behind = textWidth(heading, 11, Weight::SemiBold) + 8;
    std::string text = fmt::format("{} a thread{}", countText(grid->registers),
                                   grid->assumesRegisters ? ", assumed" : "");
    for (const std::string& more :
         {fmt::format("{} a block of {} threads", countText(grid->registers * grid->threads),
                      countText(grid->threads)),
          fmt::format("{} on an SM, {} of {} warps", counted(grid->blocksPerSm, "block", "blocks"),
                      countText(grid->warpsPerSm), countText(grid->warpsAtMost))}) {
        const std::string longer = text + " \u00b7 " + more;
        text = behind + textWidth(longer, 10) <= w ? longer : text;
    }
    canvas.text(x + behind, y, w - behind, kRegistersLine, text,
                {10, Role::Text2, Weight::Regular, Align::Left});
}

} // namespace pallascope::layout
