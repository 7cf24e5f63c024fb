// Paints the findings in the verdict view.
#include "core/base/format.h"
#include "views/layout/run/finding_text.h"
#include "views/layout/run/position.h"
#include "views/layout/run/view_parts.h"
#include "views/layout/verdict/parts.h"

#include <fmt/format.h>

namespace pallascope::layout {

namespace {

using parts::kPadding;
using parts::kRow;

constexpr int kMessageSize = 11;
constexpr double kMessageLine = 16;
constexpr int kFewLines = 4; // of a message, if not all findings fit
constexpr int kAllLines = 1000;

// Paints the links below a finding: its source line and its steps.
void paintLinks(Canvas& canvas, const RunView& run, const trace::Finding& finding, double x,
                double y, double right)
{
    const trace::Info& info = run.trace->info();
    const auto link = [&](const std::string& text, Target target) {
        const double width = textWidth(text, 11);
        if (x + width > right) {
            return;
        }
        canvas.text(x, y, width + 2, kRow, text, TextStyle{11, Role::Focus});
        canvas.hit(x - 2, y, width + 4, kRow, target);
        x += width + 14;
    };
    if (finding.source.file >= 0
        && static_cast<std::size_t>(finding.source.file) < info.sources.size()) {
        link(fmt::format(
                 "{}:{}",
                 parts::baseName(info.sources[static_cast<std::size_t>(finding.source.file)].path),
                 finding.source.line),
             target::SourceLine{finding.source.file, finding.source.line});
    }
    const auto stepLink = [&](std::int64_t step) {
        if (const trace::OptionalRow<trace::StepRow> row = stepRow(*run.trace, step)) {
            link("step " + stepOfKernel(run, *row), target::Steps{row->number, row->number});
        }
    };
    if (finding.relatedStep && *finding.relatedStep != finding.step) {
        stepLink(*finding.relatedStep);
    }
    stepLink(finding.step);
}

// As much of a text as fits in this many lines; "..." says that something is cut off.
std::string cutText(const std::string& text, double w, int lines)
{
    const auto fits = [&](const std::string& part) {
        Canvas scratch(w, 1e6);
        return scratch.paragraph(0, 0, w, part, kMessageSize, kMessageLine) <= lines * kMessageLine;
    };
    if (fits(text)) {
        return text;
    }
    // The longest length known to fit, the shortest known not to.
    std::size_t whole = 0, cut = text.size();
    while (cut - whole > 1) {
        const std::size_t middle = (whole + cut) / 2;
        (fits(text.substr(0, middle) + " \u2026") ? whole : cut) = middle;
    }
    const std::size_t word = text.rfind(' ', whole);
    return text.substr(0, word == std::string::npos ? whole : word) + " \u2026";
}

// The message gets at most `lines` lines.
double paintFinding(Canvas& canvas, const RunView& run, const trace::Finding& finding, double y,
                    int lines)
{
    const double x = kPadding + 24;
    const double w = canvas.width() - x - kPadding;
    paintSeverity(canvas, kPadding + 2, y + 9, severityOf(finding));
    const std::string title = findingTitle(finding.kind);
    const std::string places = findingPlaces(finding);
    const double titleWidth = textWidth(title, 12, Weight::SemiBold);
    const bool oneLine = titleWidth + textWidth(places) + 12 <= w;
    canvas.text(x, y + 5, w, 20, title, TextStyle{12, Role::Text, Weight::SemiBold});
    double at = y + 26;
    if (oneLine) {
        canvas.text(x, y + 5, w, 20, places,
                    TextStyle{11, Role::Text2, Weight::Regular, Align::Right});
    } else {
        canvas.text(x, at - 2, w, 16, places, TextStyle{11, Role::Text2});
        at += 15;
    }
    at = canvas.paragraph(x, at, w, cutText(finding.message, w, lines), kMessageSize, kMessageLine);
    const bool links = finding.source.line > 0 || finding.step >= 0;
    if (links) {
        paintLinks(canvas, run, finding, x, at + 2, x + w);
        at += 20;
    }
    return at + 6;
}

} // namespace

double paintFindings(Canvas& canvas, const RunView& run, const ViewState& state, double y,
                     double bottom)
{
    const std::vector<trace::Finding>& findings = run.trace->info().findings;
    for (std::size_t i = 0; i < findings.size(); ++i) {
        const auto endWith = [&](int lines) {
            Canvas scratch(canvas.width(), bottom);
            return paintFinding(scratch, run, findings[i], y, lines);
        };
        const Target target = target::Finding{static_cast<std::int64_t>(i)};
        const double reserve = i + 1 < findings.size() ? 18 : 0;
        const int lines = endWith(kAllLines) + reserve > bottom ? kFewLines : kAllLines;
        const double end = endWith(lines);
        if (end + reserve > bottom) {
            const auto left = static_cast<std::int64_t>(findings.size() - i);
            if (y + 16 <= bottom) {
                canvas.text(kPadding, y, canvas.width() - 2 * kPadding, 16,
                            "and " + countText(left)
                                + (left == 1 ? " more finding" : " more findings"),
                            TextStyle{11, Role::Text2});
                y += 18;
            }
            return y;
        }
        if (state.selection == target) {
            canvas.fill(0, y, canvas.width(), end - y, Role::SelectBackground);
            canvas.fill(0, y, 3, end - y, Role::Focus);
        }
        canvas.hit(0, y, canvas.width(), end - y, target);
        y = paintFinding(canvas, run, findings[i], y, lines);
        canvas.fill(0, y, canvas.width(), 1, Role::Line);
        y += 1;
    }
    return y;
}

} // namespace pallascope::layout
