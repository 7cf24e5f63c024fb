// Paints what the kernel printed before the playhead, and the lines next to come.
#include "core/base/format.h"
#include "core/base/text.h"
#include "views/layout/run/view_parts.h"
#include "views/layout/verdict/parts.h"

#include <algorithm>
#include <fmt/format.h>

namespace pallascope::layout {

namespace {

using parts::kPadding;

constexpr double kPrintRow = 17;
// Lines shown in all, and lines of them that are still to come.
constexpr std::size_t kShown = 6, kAhead = 2;

std::string titleOf(const trace::Info& info, std::size_t past)
{
    std::string title =
        fmt::format("Printed: {} of {} so far", countText(static_cast<std::int64_t>(past)),
                    counted(static_cast<std::int64_t>(info.prints.size()), "line", "lines"));
    if (info.printsBeyond > 0) {
        title += fmt::format("; {} more not kept", countText(info.printsBeyond));
    }
    return title;
}

} // namespace

double paintPrints(Canvas& canvas, const RunView& run, const ViewState& state, double y)
{
    const trace::Info& info = run.trace->info();
    const std::vector<trace::Print>& all = info.prints;
    if (all.empty()) {
        return y;
    }
    const double x = kPadding;
    const double w = canvas.width() - 2 * x;
    const auto past = static_cast<std::size_t>(
        std::partition_point(all.begin(), all.end(),
                             [&](const trace::Print& print) { return print.time <= state.now; })
        - all.begin());
    canvas.fill(x, y, w, 1, Role::Line);
    canvas.text(x, y + 5, w, kPrintRow, titleOf(info, past),
                {11, Role::Text, Weight::SemiBold, Align::Left});
    y += 5 + kPrintRow + 2;
    const std::size_t shown = std::min(all.size(), kShown);
    const std::size_t end = std::clamp(past + kAhead, shown, all.size());
    double timeWidth = 0;
    for (std::size_t i = end - shown; i < end; ++i) {
        timeWidth = std::max(timeWidth, textWidth(timeText(all[i].time), 11));
    }
    for (std::size_t i = end - shown; i < end; ++i) {
        const Target target = target::Print{static_cast<std::int64_t>(i)};
        if (state.selection == target) {
            canvas.fill(0, y, canvas.width(), kPrintRow, Role::SelectBackground);
            canvas.fill(0, y, 3, kPrintRow, Role::Focus);
        }
        const bool isPast = i < past;
        canvas.text(x, y, timeWidth, kPrintRow, timeText(all[i].time),
                    {11, isPast ? Role::Focus : Role::Text3, Weight::Regular, Align::Right});
        canvas.text(x + timeWidth + 10, y, w - timeWidth - 10, kPrintRow, oneLine(all[i].text),
                    {11, isPast ? Role::Text : Role::Text3, Weight::Mono, Align::Left});
        canvas.hit(0, y, canvas.width(), kPrintRow, target);
        y += kPrintRow;
    }
    return y + 8;
}

} // namespace pallascope::layout
