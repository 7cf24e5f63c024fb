// Paints SMEM: the numbers that a kernel steers by, such as what its scalar prefetch brings.
#include "core/base/format.h"
#include "core/trace/columns.h"
#include "views/layout/memory/parts.h"
#include "views/layout/run/operand_color.h"
#include "views/layout/run/view_parts.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace pallascope::layout {

namespace {

constexpr double kBox = 19, kBoxPitch = 22; // px
constexpr double kApart = 5;

struct Box
{
    std::int32_t buffer = 0;
    std::size_t line = 0;
    double x = 0, w = 0;
};

std::string sizeOf(const trace::Buffer& buffer)
{
    const std::string extents = parts::times(buffer.shape.extents());
    return extents.empty() ? "1" : extents;
}

// The boxes from left to right and from line to line.
std::vector<Box> boxesOf(const RunView& run, const std::vector<std::int32_t>& buffers, double width)
{
    std::vector<Box> boxes;
    double x = 0;
    std::size_t line = 0;
    for (const std::int32_t row : buffers) {
        const trace::Buffer& buffer = run.trace->info().buffers[trace::at(row)];
        const double wanted =
            textWidth(buffer.name, 10, Weight::Mono) + textWidth(sizeOf(buffer), 11) + 24;
        const double w = std::min(std::ceil(wanted), width);
        if (x > 0 && x + w > width) {
            x = 0;
            ++line;
        }
        boxes.push_back({row, line, x, w});
        x += w + kApart;
    }
    return boxes;
}

double roomOf(double width)
{
    return width - 2 * parts::kPadding - 8;
}

} // namespace

double scalarsHeight(const RunView& run, const std::vector<std::int32_t>& buffers, double width)
{
    const std::vector<Box> boxes = boxesOf(run, buffers, roomOf(width));
    return boxes.empty() ? 0
                         : kMemoryHeading + kBoxPitch * static_cast<double>(boxes.back().line + 1);
}

double paintScalars(Canvas& canvas, const RunView& run, std::int32_t memory,
                    const std::vector<std::int32_t>& buffers, double y, double height)
{
    const trace::Info& info = run.trace->info();
    const std::vector<Box> boxes = boxesOf(run, buffers, roomOf(canvas.width()));
    const auto lines =
        static_cast<std::size_t>(std::max(0.0, std::floor((height - kMemoryHeading) / kBoxPitch)));
    const auto shown = static_cast<std::size_t>(std::count_if(
        boxes.begin(), boxes.end(), [&](const Box& box) { return box.line < lines; }));
    std::string note = fmt::format("in {} {}", countText(static_cast<std::int64_t>(buffers.size())),
                                   buffers.size() == 1 ? "buffer" : "buffers");
    if (shown < boxes.size() && shown > 0) {
        note += fmt::format(", {} shown", shown);
    }
    paintMemoryHead(canvas, run, memory, buffers, note, true, y);
    const double left = parts::kPadding + 8;
    const double bottom = y + kMemoryHeading
                          + kBoxPitch * static_cast<double>(std::min(lines, boxes.back().line + 1));
    canvas.fill(parts::kPadding, y + kMemoryHeading, 3, bottom - y - kMemoryHeading - 3,
                Role::Smem);
    for (std::size_t i = 0; i < shown; ++i) {
        const Box& box = boxes[i];
        const trace::Buffer& buffer = info.buffers[trace::at(box.buffer)];
        const double x = left + box.x;
        const double top = y + kMemoryHeading + kBoxPitch * static_cast<double>(box.line);
        const double name = textWidth(buffer.name, 10, Weight::Mono);
        const std::string size = sizeOf(buffer);
        const Role role = bufferRole(run, trace::BufferRow{box.buffer});
        canvas.fill(x, top, box.w, kBox, mix(role, 0.14));
        if (name + 10 <= box.w) {
            canvas.text(x + 6, top, name + 2, kBox, buffer.name,
                        {10, Role::Text, Weight::Mono, Align::Left});
        }
        if (name + textWidth(size, 11) + 22 <= box.w) {
            canvas.text(x, top, box.w - 6, kBox, size,
                        {11, Role::Text2, Weight::Regular, Align::Right});
        }
        canvas.hit(x, top, box.w, kBox, target::Buffer{box.buffer});
    }
    return bottom;
}

} // namespace pallascope::layout
