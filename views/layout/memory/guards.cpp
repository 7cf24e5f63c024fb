// Paints semaphores: beside the slots that they guard, and the others in a list.
#include "core/base/format.h"
#include "core/trace/columns.h"
#include "core/trace/copy_ends.h"
#include "core/trace/scratch_slots.h"
#include "views/layout/memory/parts.h"
#include "views/layout/run/barriers.h"
#include "views/layout/run/operand_color.h"
#include "views/layout/run/view_parts.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace pallascope::layout {

namespace {

constexpr double kTextLine = 13;     // px
constexpr double kPips = 4;          // px high
constexpr std::size_t kMostPips = 8; // of more copies, one bar
constexpr double kListLine = 18;     // px of the list
constexpr std::string_view kDma = "dma_semaphore";

bool isWaitedFor(const RunView& run, std::int32_t semaphore, Picoseconds now)
{
    return now < run.trace->end() && trace::waitOn(*run.trace, semaphore, now).has_value();
}

// The semaphore beside a slot; kNone: no copy of the slot signals one, or a barrier, which counts
// no bytes and stands among the others of its block.
std::int32_t guardOf(const RunView& run, const Place& place, Picoseconds now)
{
    const std::int32_t semaphore =
        place.slot ? run.index->scratch().stateAt(*run.trace, *place.slot, now).semaphore
                   : trace::kNone;
    return semaphore != trace::kNone && isBarrier(run.trace->info(), semaphore) ? trace::kNone
                                                                                : semaphore;
}

std::string dmaCount(std::int64_t count, Bytes all, bool waited)
{
    if (count == 0) {
        return waited ? "0, waited for" : "0";
    }
    const Bytes here(count);
    return here >= all ? bytesText(here) : parts::plain(parts::ofText(here, all));
}

// One pip for each copy, filled as far as the semaphore counts their bytes.
void paintPips(Canvas& canvas, Rect rect, std::size_t copies, double share, Role role)
{
    const std::size_t pips = copies > kMostPips ? 1 : std::max<std::size_t>(copies, 1);
    const double pitch = (rect.w + 2) / static_cast<double>(pips);
    for (std::size_t i = 0; i < pips; ++i) {
        const double x = std::round(rect.x + pitch * static_cast<double>(i));
        const double w = std::round(rect.x + pitch * static_cast<double>(i + 1)) - 2 - x;
        const double filled =
            std::clamp(share * static_cast<double>(pips) - static_cast<double>(i), 0.0, 1.0);
        canvas.fill(x, rect.y, w, rect.h, Role::Grid);
        canvas.fill(x, rect.y, w * filled, rect.h, role);
    }
}

} // namespace

double guardWidth(const RunView& run, const std::vector<Place>& places, double room)
{
    constexpr double kLeast = 72, kMost = 0.3; // px; share of the room
    double width = 0;
    for (const Place& place : places) {
        if (const std::int32_t guard = guardOf(run, place, Picoseconds(0)); guard != trace::kNone) {
            const std::string& name = run.trace->info().semaphores[trace::at(guard)].name;
            width = std::max({width, kLeast, textWidth(name, 10, Weight::Mono)});
        }
    }
    return width > 0 ? std::min(std::ceil(width) + kGuardGap, std::floor(room * kMost)) : 0;
}

void paintGuard(Canvas& canvas, const RunView& run, const Place& place, Rect rect, Picoseconds now)
{
    const std::int32_t semaphore = guardOf(run, place, now);
    if (semaphore == trace::kNone) {
        return;
    }
    const trace::ScratchState state = run.index->scratch().stateAt(*run.trace, *place.slot, now);
    const std::string& name = run.trace->info().semaphores[trace::at(semaphore)].name;
    const std::int64_t count = run.index->semaphores().countAt(semaphore, now);
    const std::string text = dmaCount(count, state.bytes, isWaitedFor(run, semaphore, now));
    const double share = state.bytes.value() > 0 ? ratio(Bytes(count), state.bytes) : 0;
    const bool three = rect.h >= 2 * kTextLine + kPips + 3;
    const bool two = rect.h >= kTextLine + kPips + 3;
    double y = std::floor(rect.y + std::max(0.0, std::min(8.0, (rect.h - kTextLine) / 2)));
    if (three || two) {
        y = std::floor(rect.y + std::min(8.0, (rect.h - (three ? 33 : 20)) / 2));
    }
    if (textWidth(name, 10, Weight::Mono) <= rect.w) {
        canvas.text(rect.x, y, rect.w + 1, kTextLine, name,
                    {10, Role::Text2, Weight::Mono, Align::Left});
    }
    if (two) {
        Role role = Role::Text2;
        if (!state.ends.empty()) {
            const trace::CopyRow copy = trace::copyOf(*run.trace, state.ends.front());
            role = operandRole(run, trace::OperandRow{run.trace->copies().operand[copy.index()]});
        }
        paintPips(canvas, {rect.x, y + kTextLine + 1, rect.w, kPips}, state.ends.size(),
                  std::min(1.0, share), role);
    }
    if (three && textWidth(text, 10) <= rect.w) {
        canvas.text(rect.x, y + kTextLine + kPips + 3, rect.w + 1, kTextLine, text,
                    {10, Role::Text2, Weight::Regular, Align::Left});
    }
}

std::vector<std::int32_t> listedSemaphores(const RunView& run, std::int32_t agent)
{
    std::vector<std::int32_t> listed;
    const std::vector<trace::Semaphore>& all = run.trace->info().semaphores;
    for (std::size_t i = 0; i < all.size(); ++i) {
        const auto row = static_cast<std::int32_t>(i);
        if (all[i].agent == agent && run.index->semaphores().isUsed(row)
            && !run.index->scratch().isGuard(row) && !isBarrier(run.trace->info(), row)) {
            listed.push_back(row);
        }
    }
    // Those that programs signal themselves come first.
    std::stable_partition(listed.begin(), listed.end(),
                          [&](std::int32_t row) { return all[trace::at(row)].kind != kDma; });
    return listed;
}

double semaphoresHeight(const std::vector<std::int32_t>& semaphores)
{
    return semaphores.empty() ? 0 : kListLine;
}

double paintSemaphores(Canvas& canvas, const RunView& run, Picoseconds now,
                       const std::vector<std::int32_t>& semaphores, double y)
{
    if (semaphores.empty()) {
        return y;
    }
    const double right = canvas.width() - parts::kPadding;
    const std::string heading = "Semaphores";
    canvas.text(parts::kPadding, y, 90, kListLine - 2, heading,
                {11, Role::Text2, Weight::Medium, Align::Left});
    double x = parts::kPadding + textWidth(heading, 11, Weight::Medium) + 10;
    for (std::size_t i = 0; i < semaphores.size(); ++i) {
        const trace::Semaphore& semaphore = run.trace->info().semaphores[trace::at(semaphores[i])];
        const std::int64_t count = run.index->semaphores().countAt(semaphores[i], now);
        const bool waited = isWaitedFor(run, semaphores[i], now);
        std::string text = semaphore.kind == kDma ? bytesText(Bytes(count)) : countText(count);
        text += waited ? ", waited for" : "";
        // Room for the longest that it can say, so that those behind it stay where they are.
        const double name = textWidth(semaphore.name, 10, Weight::Mono);
        const double width = name + 5 + std::max(textWidth(text, 11), 18.0);
        const std::size_t left = semaphores.size() - i;
        const std::string more = fmt::format("and {} more", left);
        const double reserve = left > 1 ? textWidth(more, 10) + 8 : 0;
        if (x + width + reserve > right) {
            if (x + textWidth(more, 10) <= right) {
                canvas.text(x, y, right - x, kListLine - 2, more,
                            {10, Role::Text3, Weight::Regular, Align::Left});
            }
            break;
        }
        canvas.text(x, y, name + 2, kListLine - 2, semaphore.name,
                    {10, Role::Text2, Weight::Mono, Align::Left});
        canvas.text(x + name + 5, y, width - name, kListLine - 2, text,
                    {11, Role::Text, Weight::Medium, Align::Left});
        x = std::round(x + width) + 14;
    }
    return y + kListLine;
}

} // namespace pallascope::layout
