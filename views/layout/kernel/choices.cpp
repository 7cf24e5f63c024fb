// Paints "Other blocks": how long the run would take with other parameters, in a table with the run
// itself.
#include "core/base/format.h"
#include "views/layout/kernel/parts.h"
#include "views/layout/run/view_parts.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>
#include <vector>

namespace pallascope::layout {

namespace {

using parts::kPadding;
using parts::kRow;

std::string shortBound(const analysis::Bound& bound)
{
    switch (bound.kind) {
    case analysis::BoundKind::Compute:
        return bound.of;
    case analysis::BoundKind::StepOverhead:
        return "overhead";
    case analysis::BoundKind::Memory:
    case analysis::BoundKind::Launches:
    case analysis::BoundKind::Latency:
        break;
    }
    return std::string(analysis::boundKindName(bound.kind));
}

// Narrow tables give the names what room there is.
bool isNarrow(double width)
{
    return width <= 246;
}

struct Choice
{
    std::string name, note;
    Bytes vmem;
    Picoseconds time;
    std::int64_t alternative = -1; // -1: the run itself
    bool fits = true, over = false;
    bool untried = false; // how long it takes is not known
};

std::vector<Choice> choices(const RunView& run)
{
    std::vector<Choice> rows;
    const bool ran = run.notRun.empty();
    const std::string blocks = blocksText(run);
    if (ran) {
        rows.push_back({blocks.empty() ? "this run" : blocks, shortBound(run.report.boundBy),
                        run.report.vmemPeak, run.report.time, -1, true,
                        run.report.vmemPeak > run.report.vmemScopedLimit});
    }
    for (std::size_t i = 0; i < run.alternatives.size(); ++i) {
        const analysis::Alternative& other = run.alternatives[i];
        rows.push_back({other.name, shortBound(other.boundBy), other.vmem, other.time,
                        static_cast<std::int64_t>(i), other.fits, other.overScopedLimit});
    }
    for (Choice& row : rows) {
        row.untried = row.alternative >= 0 && row.time.value() == 0;
        if (!row.fits) {
            row.note = "does not fit";
        } else if (row.untried) {
            row.note = "not tried";
        } else if (row.over) {
            row.note = "over limit";
        }
    }
    if (ran) { // else the nearest comes first
        std::stable_sort(rows.begin(), rows.end(),
                         [](const Choice& a, const Choice& b) { return a.vmem < b.vmem; });
    }
    return rows;
}

std::string timeOf(const Choice& row)
{
    return row.fits && !row.untried ? timeText(row.time) : "–";
}

// The column of the times with the gap before it, as narrow as they allow in a narrow table.
double timeRoom(const std::vector<Choice>& rows, double width)
{
    constexpr double kBetween = 10, kUsual = 58;
    if (!isNarrow(width)) {
        return kUsual;
    }
    double widest = 0;
    for (const Choice& row : rows) {
        widest = std::max(widest, textWidth(timeOf(row), 11, Weight::SemiBold));
    }
    return std::ceil(widest) + kBetween;
}

void paintChoice(Canvas& canvas, const Choice& row, double y, double height, double nameWidth,
                 double times, bool best)
{
    const double x = kPadding;
    const double w = canvas.width() - 2 * x;
    const bool current = row.alternative < 0;
    if (current) {
        canvas.fill(x - 6, y, w + 12, height, Role::SelectBackground);
    } else {
        canvas.hit(x - 6, y, w + 12, height, target::Alternative{row.alternative});
    }
    const Role ink = !row.fits ? Role::Error : row.over ? Role::Warning : Role::Text;
    canvas.text(x, y, nameWidth, height, row.name,
                {11, Role::Text, current ? Weight::SemiBold : Weight::Regular, Align::Left});
    const double room = w - nameWidth - 8 - times - 54;
    if (textWidth(row.note, 10) <= room) {
        canvas.text(x + nameWidth + 8, y, room + 1, height, row.note,
                    smallText(ink == Role::Text ? Role::Text2 : ink));
    }
    canvas.text(x, y, w - times, height, bytesText(row.vmem),
                {11, ink, Weight::Regular, Align::Right});
    canvas.text(x, y, w, height, timeOf(row),
                {11, Role::Text, best ? Weight::SemiBold : Weight::Regular, Align::Right});
}

constexpr std::string_view kBlocksSuffix = "-blocks";

bool endsWithBlocks(const std::string& name)
{
    return name.size() > kBlocksSuffix.size()
           && name.compare(name.size() - kBlocksSuffix.size(), std::string::npos, kBlocksSuffix)
                  == 0;
}

// Leaves at most `fit` rows, in their order: the run, the best alternative, and those nearest to
// the run.
void keepNearest(std::vector<Choice>& rows, std::size_t fit, std::int64_t best)
{
    const auto isSelf = [](const Choice& row) { return row.alternative < 0; };
    while (rows.size() > fit) {
        const auto self = std::find_if(rows.begin(), rows.end(), isSelf);
        const bool frontIsFarther = self - rows.begin() >= rows.end() - 1 - self;
        const auto gives = [&](const Choice& row) {
            return !isSelf(row) && row.alternative != best;
        };
        if (frontIsFarther ? gives(rows.front()) : !gives(rows.back())) {
            rows.erase(std::find_if(rows.begin(), rows.end(), gives));
        } else {
            rows.erase(std::find_if(rows.rbegin(), rows.rend(), gives).base() - 1);
        }
    }
}

} // namespace

double paintChoices(Canvas& canvas, const RunView& run, double y)
{
    std::vector<Choice> rows = choices(run);
    const double x = kPadding;
    const double w = canvas.width() - 2 * x;
    const double height = isNarrow(w) ? 17 : 19;
    const bool onlyBlocks = std::all_of(rows.begin(), rows.end(),
                                        [](const Choice& row) { return endsWithBlocks(row.name); });
    if (onlyBlocks) { // the heading says it once for all
        for (Choice& row : rows) {
            row.name.resize(row.name.size() - kBlocksSuffix.size());
        }
    }
    const auto fit = static_cast<std::size_t>(std::max(0.0, (canvas.height() - y - 20) / height));
    const bool ran = run.notRun.empty();
    if (rows.size() < (ran ? 2 : 1) || fit < 2) {
        return y;
    }
    canvas.fill(0, y - 4, canvas.width(), 1, Role::Line);
    const double times = timeRoom(rows, w);
    const char* heading = onlyBlocks ? "Other blocks" : "Other choices";
    canvas.text(x, y, w - 100, kRow, ran ? heading : "Nearest that fit",
                {11, Role::Text, Weight::SemiBold, Align::Left});
    canvas.text(x, y, w - times, kRow, run.report.onChipName, smallText(Role::Text3, Align::Right));
    canvas.text(x, y, w, kRow, "time", smallText(Role::Text3, Align::Right));
    y += kRow;
    const analysis::Alternative* best = analysis::best(run.report, run.alternatives);
    double nameWidth = 36;
    for (const Choice& row : rows) {
        nameWidth = std::max(nameWidth, textWidth(row.name, 11, Weight::SemiBold) + 1);
    }
    nameWidth = std::min(nameWidth, w - times - (isNarrow(w) ? 48 : 60));
    if (ran) {
        keepNearest(rows, fit, best == nullptr ? -1 : best - run.alternatives.data());
    } else if (rows.size() > fit) {
        rows.resize(fit);
    }
    for (const Choice& row : rows) {
        const bool isBest = best != nullptr && row.alternative == best - run.alternatives.data();
        paintChoice(canvas, row, y, height, nameWidth, times, isBest);
        y += height;
    }
    const trace::Info& info = run.trace->info();
    const std::string limit = (run.report.isGpu ? "limit: " : "limit: vmem_limit_bytes, ")
                              + bytesText(run.report.vmemScopedLimit) + " on " + info.chipName;
    if (y + 18 < canvas.height() && textWidth(limit, 10) <= w) {
        canvas.text(x, y + 3, w, 14, limit, smallText(Role::Text3));
        y += 18;
    }
    return y;
}

} // namespace pallascope::layout
