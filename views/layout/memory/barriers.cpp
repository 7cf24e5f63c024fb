// Paints the barriers of a block on an SM.
#include "views/layout/run/barriers.h"

#include "core/base/format.h"
#include "core/trace/columns.h"
#include "views/layout/memory/parts.h"
#include "views/layout/run/view_parts.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace pallascope::layout {

namespace {

constexpr double kBarrierLine = 17, kBarrierBox = 14; // px
constexpr double kLeastBox = 34, kMostBox = 128;      // px wide
constexpr double kNameShare = 0.30, kMarkOfWait = 6;  // of the width; px

struct BarrierLine
{
    std::string name;
    std::vector<std::int32_t> barriers;
};

// "done_barrier[1]" and "done_barrier[0]" are of one scratch. What stands before the last dot of a
// name, the path to a field of Python, is left out.
std::vector<BarrierLine> linesOf(const RunView& run, const std::vector<std::int32_t>& barriers)
{
    std::vector<BarrierLine> lines;
    for (const std::int32_t barrier : barriers) {
        const std::string& full = run.trace->info().semaphores[trace::at(barrier)].name;
        const std::string whole = full.substr(0, full.find('['));
        const std::string name = whole.substr(whole.rfind('.') + 1);
        const auto known = std::find_if(lines.begin(), lines.end(),
                                        [&](const BarrierLine& line) { return line.name == name; });
        BarrierLine& line =
            known == lines.end() ? lines.emplace_back(BarrierLine{name, {}}) : *known;
        line.barriers.push_back(barrier);
    }
    return lines;
}

// The longest that fits: with the bytes to come, then without.
std::string boxText(const BarrierNow& barrier, double room)
{
    const std::string arrived = arrivedText(barrier, false);
    if (barrier.copies > 0) {
        const std::string pending = arrived + " \u2193" + bytesText(barrier.pending);
        if (textWidth(pending, 10) <= room) {
            return pending;
        }
    }
    return textWidth(arrived, 10) <= room ? arrived : std::string();
}

void paintBarrier(Canvas& canvas, const RunView& run, Picoseconds now, std::int32_t number,
                  Rect rect)
{
    const BarrierNow barrier = barrierAt(run, number, now);
    const auto say = [&](FactKind kind, std::int64_t value) {
        canvas.state({kind, number, static_cast<double>(value), {}});
    };
    say(FactKind::Phases, barrier.complete);
    say(FactKind::Arrivals, barrier.arrived);
    say(FactKind::PendingBytes, barrier.pending.value());
    const double share =
        barrier.needed > 0 ? std::clamp(
            static_cast<double>(barrier.arrived) / static_cast<double>(barrier.needed), 0.0, 1.0)
                           : 0;
    canvas.fill(rect.x, rect.y, rect.w, rect.h, Role::Grid);
    canvas.fill(rect.x, rect.y, std::round(rect.w * share), rect.h, mix(Role::Smem, 0.45));
    if (barrier.copies > 0) {
        canvas.dashedFrame(rect.x, rect.y, rect.w, rect.h, Role::CopyIn);
    }
    if (!barrier.waiting.empty()) {
        canvas.hatch(rect.x, rect.y, kMarkOfWait, rect.h, Role::Wait, Role::View, Hatch::Wait);
    }
    const double left = rect.x + kMarkOfWait + 4;
    canvas.text(left, rect.y, rect.right() - left, rect.h,
                boxText(barrier, rect.right() - left - 2),
                {10, Role::Text, Weight::Regular, Align::Left});
    canvas.hit(rect.x, rect.y, rect.w, rect.h, target::Semaphore{number});
}

} // namespace

std::vector<std::int32_t> barriersOf(const RunView& run, std::int32_t agent)
{
    const trace::Info& info = run.trace->info();
    std::vector<std::int32_t> barriers;
    for (std::size_t i = 0; i < info.semaphores.size(); ++i) {
        const auto number = static_cast<std::int32_t>(i);
        if (info.semaphores[i].agent == agent && isBarrier(info, number)) {
            barriers.push_back(number);
        }
    }
    return barriers;
}

double barriersHeight(const RunView& run, const std::vector<std::int32_t>& barriers)
{
    return barriers.empty()
               ? 0
               : kMemoryHeading + kBarrierLine * static_cast<double>(linesOf(run, barriers).size());
}

void paintBarriers(Canvas& canvas, const RunView& run, Picoseconds now,
                   const std::vector<std::int32_t>& barriers, double y, double height)
{
    const double x = parts::kPadding, w = canvas.width() - 2 * x;
    const std::vector<BarrierLine> lines = linesOf(run, barriers);
    const auto shown =
        std::min(lines.size(),
                 static_cast<std::size_t>(std::max(0.0, (height - kMemoryHeading) / kBarrierLine)));
    if (shown == 0) {
        return;
    }
    const std::string heading = "Barriers";
    canvas.text(x, y, w, 16, heading, {11, Role::Smem, Weight::SemiBold, Align::Left});
    const double behind = textWidth(heading, 11, Weight::SemiBold) + 8;
    const std::string hidden =
        shown < lines.size() ? fmt::format("{} of {} \u00b7 ", shown, lines.size()) : std::string();
    for (const std::string& note :
         {hidden + "phases complete: arrived/expected, \u2193 bytes to come, hatched if waited for",
          hidden + "phases: arrived/expected", hidden}) {
        if (behind + textWidth(note, 10) <= w) {
            canvas.text(x + behind, y, w - behind, 16, note,
                        {10, Role::Text3, Weight::Regular, Align::Left});
            break;
        }
    }
    double nameWidth = 0;
    for (std::size_t i = 0; i < shown; ++i) {
        nameWidth = std::max(nameWidth, textWidth(lines[i].name, 10, Weight::Mono));
    }
    nameWidth = std::min(std::ceil(nameWidth), std::floor(w * kNameShare));
    canvas.fill(x, y + kMemoryHeading, 3, kBarrierLine * static_cast<double>(shown) - 3,
                Role::Smem);
    for (std::size_t i = 0; i < shown; ++i) {
        const double top = y + kMemoryHeading + kBarrierLine * static_cast<double>(i);
        const double left = x + 8 + nameWidth + 8;
        canvas.text(x + 8, top, nameWidth + 1, kBarrierBox, lines[i].name,
                    {10, Role::Text2, Weight::Mono, Align::Left});
        const auto count = static_cast<double>(lines[i].barriers.size());
        const double pitch = std::floor(std::clamp((x + w - left) / count, kLeastBox, kMostBox));
        for (std::size_t k = 0; k < lines[i].barriers.size(); ++k) {
            const double at = left + pitch * static_cast<double>(k);
            const bool isLast = k + 1 == lines[i].barriers.size();
            if (at + pitch * (isLast ? 1 : 2) > x + w + 1 && !isLast) {
                canvas.text(at, top, x + w - at, kBarrierBox,
                            fmt::format("+{}", lines[i].barriers.size() - k),
                            {10, Role::Text3, Weight::Regular, Align::Left});
                break;
            }
            paintBarrier(canvas, run, now, lines[i].barriers[k], {at, top, pitch - 4, kBarrierBox});
        }
    }
}

} // namespace pallascope::layout
