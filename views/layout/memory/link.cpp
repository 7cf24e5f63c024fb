// Paints the link between HBM and the chip: its rate now and its queue.
#include "core/base/format.h"
#include "views/layout/memory/parts.h"
#include "views/layout/run/operand_color.h"
#include "views/layout/run/view_parts.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace pallascope::layout {

namespace {

constexpr double kLinkHeight = 56;     // px
constexpr double kLinksApart = 12;     // px
constexpr double kLeastTwoLinks = 320; // px of the view

struct Stretch // where a link stands
{
    double x = 0, w = 0, y = 0;

    [[nodiscard]] double right() const { return x + w; }
};

// How many links stand behind the first one in a row.
std::size_t besideEachOther(double width)
{
    return width >= kLeastTwoLinks ? 2 : 1;
}

// Paints the blocks in the queue in issue order, as many as fit.
void paintQueue(Canvas& canvas, const RunView& run, const std::vector<std::size_t>& rows,
                const Stretch& place, Picoseconds now)
{
    const trace::Trace& trace = *run.trace;
    const trace::Copies& copies = trace.copies();
    const double right = place.right();
    const double y = place.y;
    double x = place.x;
    const auto nameOf = [&](std::size_t row) {
        return fmt::format("{} {}", copies.out[row] != 0 ? "↑" : "↓",
                           trace::copyLabel(trace, trace::CopyRow::at(row)));
    };
    double all = 0;
    for (std::size_t i = 0; i < rows.size() && all < right; ++i) {
        all += textWidth(nameOf(rows[i]), 10, Weight::Medium) + textWidth("waits", 10) + 25;
    }
    const bool roomForWords = all < right - x;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const std::size_t row = rows[i];
        const bool moving = copies.start[row] <= now.value();
        const double fraction = trace::copyFraction(trace, trace::CopyRow::at(row), now);
        const std::string name = nameOf(row);
        const std::string word = moving         ? percentText(fraction, 0)
                                 : roomForWords ? std::string("waits")
                                                : std::string();
        // The width for "100 %" is kept free, so that the moving block keeps its width while its
        // percentage grows.
        const double wordWidth = word.empty() ? 0 : textWidth(moving ? "100 %" : word, 10) + 8;
        const double width = textWidth(name, 10, Weight::Medium) + wordWidth + 12;
        const auto left = static_cast<std::int64_t>(rows.size() - i);
        const std::string more = fmt::format("+{}", left);
        const double reserve = left > 1 ? textWidth(more, 10) + 8 : 0;
        if (x + width + reserve > right) {
            canvas.text(x, y, right - x, 18, more, {10, Role::Text2, Weight::Medium, Align::Left});
            return;
        }
        const Role role = operandRole(run, trace::OperandRow{copies.operand[row]});
        canvas.fill(x, y, width, 18, mix(role, 0.12));
        if (moving) {
            canvas.fill(x, y, width * fraction, 18, mix(role, 0.34));
            canvas.frame(x, y, width, 18, role);
        } else {
            canvas.dashedFrame(x, y, width, 18, role);
        }
        canvas.text(x + 6, y, width - 6, 18, name, {10, Role::Text, Weight::Medium, Align::Left});
        canvas.text(x, y, width - 6, 18, word, {10, Role::Text2, Weight::Regular, Align::Right});
        canvas.hit(x, y, width, 18, target::Copy{static_cast<std::int64_t>(row)});
        x = std::round(x + width) + 5;
    }
}

void paintScale(Canvas& canvas, const trace::Link& link, double x, double width, double full,
                double y)
{
    const auto mark = [&](BytesPerSecond rate) { return x + width * rate.value() / full; };
    const double datasheet = mark(link.datasheet);
    const double achieved = mark(link.achieved);
    canvas.fill(datasheet, y - 3, 1, 16, Role::Text2);
    const TextStyle style = {10, Role::Text3, Weight::Regular, Align::Center};
    const auto number = [](BytesPerSecond rate) {
        const std::string text = bandwidthText(rate.value());
        return text.substr(0, text.rfind(' '));
    };
    canvas.text(datasheet - 24, y - 17, 48, 13, number(link.datasheet), style);
    if (link.achieved.value() < link.datasheet.value()) {
        canvas.dashedVertical(achieved, y - 3, y + 13, Role::Text2);
        const double apart =
            (textWidth(number(link.datasheet), 10) + textWidth(number(link.achieved), 10)) / 2;
        if (datasheet - achieved > apart + 4) {
            canvas.text(achieved - 24, y - 17, 48, 13, number(link.achieved), style);
        }
    }
}

void paintLink(Canvas& canvas, const RunView& run, Picoseconds now, std::int32_t index,
               const Stretch& place)
{
    const trace::Trace& trace = *run.trace;
    const trace::Link& link = trace.info().links[static_cast<std::size_t>(index)];
    const trace::Copies& copies = trace.copies();
    const auto [x, w, y] = place;
    const double full = link.datasheet.value() * 1.1;
    const double bar = y + 17;
    const std::string name = linkName(trace.info(), index) + " link";
    const double nameWidth = textWidth(name, 11, Weight::Medium);
    canvas.text(x, y, nameWidth + 2, 14, name, {11, Role::Text, Weight::Medium, Align::Left});
    const std::string note = "one queue, reads and writes";
    const double firstMark = x + w * std::min(link.achieved.value(), link.datasheet.value()) / full;
    if (x + nameWidth + 8 + textWidth(note, 10) < firstMark - 14) {
        canvas.text(x + nameWidth + 8, y, w, 14, note,
                    {10, Role::Text3, Weight::Regular, Align::Left});
    }
    canvas.fill(x, bar, w, 10, Role::Grid);
    const std::vector<std::size_t> rows = trace::copiesOnLink(trace, trace::LinkRow{index}, now);
    if (!rows.empty() && copies.start[rows.front()] <= now.value()) {
        const std::size_t row = rows.front();
        const double seconds = toSeconds(Picoseconds(copies.end[row] - copies.start[row])).value();
        const double rate = static_cast<double>(copies.bytes[row]) / seconds;
        canvas.fill(x, bar, w * std::min(1.0, rate / full), 10,
                    operandRole(run, trace::OperandRow{copies.operand[row]}));
        canvas.hit(x, bar, w * std::min(1.0, rate / full), 10,
                   target::Copy{static_cast<std::int64_t>(row)});
    }
    paintScale(canvas, link, x, w, full, bar);
    if (rows.empty()) {
        const std::string nothing = "nothing in flight, nothing queued";
        canvas.text(x, bar + 15, w, 18, textWidth(nothing, 10) <= w ? nothing : "nothing in flight",
                    {10, Role::Text3, Weight::Regular, Align::Left});
    } else {
        paintQueue(canvas, run, rows, {x, w, bar + 15}, now);
    }
}

} // namespace

std::string linkName(const trace::Info& info, std::int32_t link)
{
    // The kind alone would not tell the directions of a ring apart.
    const std::string& name = info.links[static_cast<std::size_t>(link)].name;
    constexpr std::string_view kDevice = "device ";
    if (info.deviceCount() < 2 || !name.starts_with(kDevice)) {
        return name;
    }
    const std::size_t behind = name.find(' ', kDevice.size());
    return behind == std::string::npos ? name : name.substr(behind + 1);
}

double linksHeight(const std::vector<std::int32_t>& links, double width)
{
    const std::size_t beside = besideEachOther(width);
    const std::size_t rows = links.empty() ? 0 : 1 + (links.size() - 1 + beside - 1) / beside;
    return kLinkHeight * static_cast<double>(rows);
}

double paintLinks(Canvas& canvas, const RunView& run, Picoseconds now,
                  const std::vector<std::int32_t>& links, double y)
{
    const double w = canvas.width() - 2 * parts::kPadding;
    const std::size_t beside = besideEachOther(canvas.width());
    for (std::size_t i = 0; i < links.size() && y + kLinkHeight <= canvas.height(); ++i) {
        const std::size_t column = i == 0 ? 0 : (i - 1) % beside;
        const bool isAlone = i == 0 || beside == 1;
        const double each = isAlone ? w : std::floor((w - kLinksApart) / 2);
        const double x = parts::kPadding + static_cast<double>(column) * (each + kLinksApart);
        paintLink(canvas, run, now, links[i], {x, each, y});
        y += i == 0 || column + 1 == beside || i + 1 == links.size() ? kLinkHeight : 0;
    }
    return y;
}

} // namespace pallascope::layout
