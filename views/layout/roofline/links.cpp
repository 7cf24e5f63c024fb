// What stands in the place of a roofline where a kernel computes no FLOPs: each link as a bar up to
// the rate of its datasheet, with what it moves now and what the run so far has moved over it.
#include "views/layout/roofline/links.h"

#include "core/base/format.h"
#include "views/layout/run/view_parts.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace pallascope::layout::roofline {

namespace {

constexpr double kRowHeight = 40, kBar = 12; // px

// The links of a kind, of all devices and directions.
struct Kind
{
    std::string name;
    std::vector<std::int32_t> links;
    BytesPerSecond datasheet, achieved;
};

std::vector<Kind> kindsOf(const trace::Info& info)
{
    std::vector<Kind> kinds;
    for (std::size_t i = 0; i < info.links.size(); ++i) {
        const trace::Link& link = info.links[i];
        const std::string& name = link.kind.empty() ? link.name : link.kind;
        auto kind = std::find_if(kinds.begin(), kinds.end(),
                                 [&](const Kind& one) { return one.name == name; });
        if (kind == kinds.end()) {
            kind = kinds.insert(kinds.end(), {name, {}, {}, {}});
        }
        kind->links.push_back(static_cast<std::int32_t>(i));
        kind->datasheet = BytesPerSecond(kind->datasheet.value() + link.datasheet.value());
        kind->achieved = BytesPerSecond(kind->achieved.value() + link.achieved.value());
    }
    return kinds;
}

// Bytes per second that all links of a kind move at a moment: each its rate or nothing.
double rateNow(const RunView& run, const Kind& kind, Picoseconds now)
{
    const trace::Copies& copies = run.trace->copies();
    double sum = 0;
    for (const std::int32_t link : kind.links) {
        const trace::CopyRange range = trace::copiesInFlight(*run.trace, trace::LinkRow{link}, now);
        if (range.empty() || copies.start[range.first] > now.value()) {
            continue;
        }
        const double seconds =
            toSeconds(Picoseconds(copies.end[range.first] - copies.start[range.first])).value();
        sum += seconds > 0 ? static_cast<double>(copies.bytes[range.first]) / seconds : 0;
    }
    return sum;
}

double rateSoFar(const RunView& run, const Kind& kind, Picoseconds now)
{
    double bytes = 0;
    for (const std::int32_t link : kind.links) {
        bytes += run.index->linkBytes(trace::LinkRow{link}, now);
    }
    const double seconds = toSeconds(std::min(now, run.trace->end())).value();
    return seconds > 0 ? bytes / seconds : 0;
}

// "1917 of 3690 GB/s"
std::string ofText(double rate, double limit)
{
    const std::string used = bandwidthText(rate), all = bandwidthText(limit);
    const auto unit = [](const std::string& text) { return text.substr(text.rfind(' ')); };
    return unit(used) == unit(all) ? used.substr(0, used.rfind(' ')) + " of " + all
                                   : used + " of " + all;
}

// Paints the bar of a kind from y down.
void paintKind(Canvas& canvas, const RunView& run, const Kind& kind, Picoseconds now, double y)
{
    const double x = parts::kPadding;
    const double w = canvas.width() - 2 * x;
    const double datasheet = std::max(1.0, kind.datasheet.value());
    const double soFar = rateSoFar(run, kind, now);
    std::string name = kind.name;
    if (kind.links.size() > 1) {
        name += fmt::format(", {} links", kind.links.size());
    }
    const std::string right = ofText(soFar, datasheet) + " · " + percentText(soFar / datasheet, 0);
    const double nameWidth = textWidth(name, 11, Weight::Medium);
    if (nameWidth + textWidth(right, 11) + 12 <= w) {
        canvas.text(x, y, nameWidth + 2, 16, name, {11, Role::Text, Weight::Medium, Align::Left});
    }
    canvas.text(x, y, w, 16, right, {11, Role::Text, Weight::Regular, Align::Right});
    const double bar = y + 19;
    const auto at = [&](double rate) { return x + w * std::clamp(rate / datasheet, 0.0, 1.0); };
    canvas.fill(x, bar, w, kBar, Role::Grid);
    canvas.fill(x, bar, std::round(at(rateNow(run, kind, now)) - x), kBar, Role::Hbm);
    canvas.fill(x + w - 2, bar - 3, 2, kBar + 6, Role::Text);
    if (kind.achieved < kind.datasheet) {
        canvas.dashedVertical(std::round(at(kind.achieved.value())), bar - 3, bar + kBar + 3,
                              Role::Text2);
    }
    canvas.disc(std::round(at(soFar)), bar + kBar / 2, 4, Role::Playhead, Role::View);
}

} // namespace

double memoryRate(const RunView& run, Picoseconds now)
{
    return rateSoFar(run, kindsOf(run.trace->info()).front(), now);
}

double paintLinkRates(Canvas& canvas, const RunView& run, Picoseconds now, double y, double bottom)
{
    std::vector<Kind> kinds = kindsOf(run.trace->info());
    std::erase_if(kinds, [&](const Kind& kind) { // a link that the run never uses says nothing
        return rateSoFar(run, kind, run.trace->end()) <= 0 && kind.name != "HBM";
    });
    std::size_t shown = 0;
    while (shown < kinds.size() && y + kRowHeight <= bottom) {
        paintKind(canvas, run, kinds[shown++], now, y);
        y += kRowHeight;
    }
    const std::vector<std::string> notes = {
        "dot: the run so far · fill: now · end: datasheet · dashed: achieved",
        "dot: the run so far · fill: now", "dot: so far"};
    const auto note = std::find_if(notes.begin(), notes.end(), [&](const std::string& text) {
        return textWidth(text, 10) <= canvas.width() - 2 * parts::kPadding;
    });
    if (shown > 0 && note != notes.end() && y + 16 <= bottom) {
        canvas.text(parts::kPadding, y, canvas.width() - 2 * parts::kPadding, 16, *note,
                    {10, Role::Text3, Weight::Regular, Align::Left});
        y += 20;
    }
    return y;
}

} // namespace pallascope::layout::roofline
