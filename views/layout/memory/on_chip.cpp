// Paints an on-chip memory: its name and how full it is, and its places in the order of their
// addresses.
#include "core/base/format.h"
#include "views/layout/memory/parts.h"
#include "views/layout/run/view_parts.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace pallascope::layout {

namespace {

constexpr double kLeastWithGuards = 170; // px that slots keep beside their semaphores
constexpr double kAlwaysNamed = 60;      // px of a slot; narrower ones must hold their name

void paintPlace(Canvas& canvas, const RunView& run, const Place& place, Rect rect, Picoseconds now,
                bool texts)
{
    if (place.slot) {
        paintScratchSlot(canvas, run, place, rect, now, texts);
    } else {
        paintSlot(canvas, run, place, rect, now, texts);
    }
}

// The places of a row beside each other; each remains a place of its own.
void paintRow(Canvas& canvas, const RunView& run, const SlotStack& stack, const SlotRow& row,
              Rect rect, Picoseconds now)
{
    if (!row.merged()) {
        paintPlace(canvas, run, stack.places[row.first], rect, now, row.height >= kLeastSlot);
        return;
    }
    const auto count = static_cast<double>(row.size());
    for (std::size_t i = row.first; i <= row.last; ++i) {
        const double share = static_cast<double>(i - row.first) / count;
        const double x = std::round(rect.x + rect.w * share);
        const double next = std::round(rect.x + rect.w * (share + 1 / count));
        const trace::Buffer& buffer =
            run.trace->info().buffers[static_cast<std::size_t>(stack.places[i].buffer)];
        const bool isNamed =
            next - x > kAlwaysNamed || textWidth(buffer.name, 10, Weight::Mono) + 14 <= next - x;
        paintPlace(canvas, run, stack.places[i],
                   {x, rect.y, next - x - (i < row.last ? 2.0 : 0.0), rect.h}, now,
                   rect.h >= kLeastSlot - 4 && isNamed);
    }
}

} // namespace

Role memoryRole(const trace::Memory& memory)
{
    return memory.name == "SMEM" ? Role::Smem : Role::Vmem;
}

void paintMemoryHead(Canvas& canvas, const RunView& run, std::int32_t memory,
                     const std::vector<std::int32_t>& buffers, const std::string& slots,
                     bool scaled, double y)
{
    const trace::Info& info = run.trace->info();
    const trace::Memory& mem = info.memories[static_cast<std::size_t>(memory)];
    const double x = parts::kPadding;
    const double w = canvas.width() - 2 * x;
    const Bytes compilers = compilersOf(run, memory);
    Bytes used = compilers;
    for (const std::int32_t buffer : buffers) {
        used += info.buffers[static_cast<std::size_t>(buffer)].bytes;
    }
    canvas.state(
        {FactKind::BytesTaken, memory, static_cast<double>(used.value()), bytesText(used)});
    std::vector<std::string> notes = {fmt::format("{} {}", bytesText(used), slots)};
    if (compilers > Bytes(0)) {
        notes.push_back(fmt::format("{} of it the compiler's", bytesText(compilers)));
    }
    if (const std::int64_t blocks = run.report.blocksTogether; blocks > 1) {
        notes.push_back(
            fmt::format("of each block, {} blocks on an SM: {}", blocks, bytesText(used * blocks)));
    }
    if (mem.scopedLimit) {
        notes.push_back(fmt::format("scoped limit {}", bytesText(*mem.scopedLimit)));
    }
    notes.push_back(fmt::format("physical {}", bytesText(mem.capacity)));
    if (!scaled) {
        notes.emplace_back("small slots enlarged");
    }
    const double heading = textWidth(mem.name, 11, Weight::SemiBold) + 8;
    std::string note = notes.front();
    for (std::size_t i = 1; i < notes.size(); ++i) {
        const std::string longer = fmt::format("{} · {}", note, notes[i]);
        if (textWidth(longer, 10) > w - heading) {
            break;
        }
        note = longer;
    }
    canvas.text(x, y, heading, 16, mem.name, {11, memoryRole(mem), Weight::SemiBold, Align::Left});
    canvas.text(x + heading, y, w - heading, 16, note,
                {10, Role::Text3, Weight::Regular, Align::Left});
}

double paintMemory(Canvas& canvas, const RunView& run, Picoseconds now, std::int32_t memory,
                   const std::vector<std::int32_t>& buffers, const std::vector<Place>& places,
                   double y, double height)
{
    const trace::Info& info = run.trace->info();
    const trace::Memory& mem = info.memories[static_cast<std::size_t>(memory)];
    const double x = parts::kPadding;
    const double w = canvas.width() - 2 * x;
    SlotStack stack;
    if (height >= kMemoryHeading + kLeastSlot) {
        stack = stackSlots(info, places, y + kMemoryHeading, height - kMemoryHeading);
    } else {
        stack.bottom = y + kMemoryHeading;
    }
    const auto slots = static_cast<std::int64_t>(places.size());
    paintMemoryHead(canvas, run, memory, buffers,
                    fmt::format("in {} {}", countText(slots), slots == 1 ? "slot" : "slots"),
                    stack.scaled, y);
    const bool addresses = w > 180;
    double addressWidth = 46;
    for (const SlotRow& row : stack.rows) {
        addressWidth = std::max(addressWidth, textWidth(bytesText(row.address), 10) + 11);
    }
    const double left = x + (addresses ? std::ceil(addressWidth) : 8);
    // The slots of one row have no room for their semaphores beside them.
    std::vector<Place> alone;
    for (const SlotRow& row : stack.rows) {
        if (!row.merged() && row.height >= kLeastSlot) {
            alone.push_back(stack.places[row.first]);
        }
    }
    double guards = guardWidth(run, alone, x + w - left);
    guards = x + w - left - guards >= kLeastWithGuards ? guards : 0;
    const double right = x + w - guards;
    canvas.fill(x, y + kMemoryHeading, 3, stack.bottom - y - kMemoryHeading, memoryRole(mem));
    for (const SlotRow& row : stack.rows) {
        const double top = std::round(row.y);
        const Rect rect = {left + 1, top + 1, right - left - 2,
                           std::max(1.0, std::round(row.y + row.height) - top - 2)};
        if (addresses && row.height >= 13) {
            canvas.text(x + 6, top - 1, addressWidth - 8, 13,
                        row.address.value() == 0 ? "0" : bytesText(row.address),
                        {10, Role::Text3, Weight::Regular, Align::Left});
        }
        paintRow(canvas, run, stack, row, rect, now);
        if (guards > 0 && !row.merged() && row.height >= kLeastSlot) {
            paintGuard(canvas, run, stack.places[row.first],
                       {right + kGuardGap, rect.y, guards - kGuardGap, rect.h}, now);
        }
    }
    if (stack.hidden == 0) {
        return stack.bottom;
    }
    canvas.text(
        left, stack.bottom, right - left, kLeastSlot,
        fmt::format("and {} more, {}", countText(stack.hidden), bytesText(stack.hiddenBytes)),
        {10, Role::Text3, Weight::Regular, Align::Left});
    return stack.bottom + kLeastSlot;
}

} // namespace pallascope::layout
