// Makes the scene of the verdict view: what bounds the run and what would help, where its time and
// bytes went, and the findings.
#include "views/layout/verdict/verdict.h"

#include "core/base/format.h"
#include "views/layout/run/kept_run.h"
#include "views/layout/run/view_parts.h"
#include "views/layout/verdict/parts.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <functional>

namespace pallascope::layout {

namespace {

using parts::kPadding;

double paintSentence(Canvas& canvas, const RunView& run, double y)
{
    for (const Field& field : run.fields) {
        if (!field.error.empty()) {
            y = canvas.paragraph(kPadding, y, canvas.width() - 2 * kPadding,
                                 "|Not run:| " + field.error, 12, 17)
                + 4;
        }
    }
    return canvas.paragraph(kPadding, y, canvas.width() - 2 * kPadding, run.verdict, 12, 17) + 8;
}

std::string captionOf(const RunView& run)
{
    const trace::Info& info = run.trace->info();
    const auto findings = static_cast<std::int64_t>(info.findings.size());
    std::string caption =
        fmt::format("|{}| {}", countText(findings), findings == 1 ? "finding" : "findings");
    if (findings == 0) {
        caption += fmt::format(" · |{}| checks passed", passedChecks(run));
        caption += info.values == "full" ? "" : ", values not checked";
    } else {
        std::int64_t places = 0;
        for (const trace::Finding& finding : info.findings) {
            places += finding.count;
        }
        caption += fmt::format(" in |{}| {}", countText(places), places == 1 ? "place" : "places");
    }
    if (!info.prints.empty()) {
        const auto prints = static_cast<std::int64_t>(info.prints.size()) + info.printsBeyond;
        caption +=
            fmt::format(" · |{}| {} printed", countText(prints), prints == 1 ? "line" : "lines");
    }
    if (info.check.checked && !info.check.passed) {
        caption += " · result |differs|";
    }
    if (info.jaxAccepts == "no") {
        caption += " · JAX |refuses it|";
    }
    return caption;
}

// From top to bottom.
enum : std::size_t
{
    kDifferences,
    kSentence,
    kSplit,
    kLosses,
    kHelp,
    kTraffic,
    kFindings,
    kPrints,
    kSections
};

struct Section
{
    std::function<double(Canvas&, double)> paint;
    double height = 0;
    bool shown = false;
};

using Sections = std::array<Section, kSections>;

Sections sectionsOf(const RunView& run, const ViewState& state, double width)
{
    Sections sections;
    sections[kDifferences].paint = [&](Canvas& c, double y) {
        return paintDifferences(c, run, state, y, c.height());
    };
    sections[kSentence].paint = [&](Canvas& c, double y) { return paintSentence(c, run, y); };
    sections[kSplit].paint = [&](Canvas& c, double y) { return paintTimeSplit(c, run, y); };
    sections[kLosses].paint = [&](Canvas& c, double y) { return paintLosses(c, run, y); };
    sections[kHelp].paint = [&](Canvas& c, double y) { return paintHelp(c, run, y); };
    sections[kTraffic].paint = [&](Canvas& c, double y) { return paintTraffic(c, run, y); };
    sections[kFindings].paint = [&run, &state, width](Canvas& c, double y) {
        const double below = paintFindings(c, run, state, y, c.height());
        Canvas scratch(width, c.height());
        return paintChecks(scratch, run, below) <= c.height() ? paintChecks(c, run, below) : below;
    };
    sections[kPrints].paint = [&](Canvas& c, double y) { return paintPrints(c, run, state, y); };
    for (Section& section : sections) {
        Canvas scratch(width, 1e6);
        section.height = section.paint(scratch, 0);
    }
    return sections;
}

} // namespace

double findingsHeight(const RunView& run, double width)
{
    if (run.trace->info().findings.empty() || !run.notRun.empty()) {
        return 0;
    }
    constexpr double kTop = 4, kUnlimited = 1e6;
    Canvas scratch(width, kUnlimited);
    return paintChecks(scratch, run, paintFindings(scratch, run, {}, kTop, kUnlimited)) + 1;
}

Scene layoutVerdict(const RunView& run, const ViewState& state, Size size)
{
    if (!run.notRun.empty()) {
        return parts::nothing("Verdict and findings", "not run", run.verdict, size);
    }
    const bool clean = run.trace->info().findings.empty()
                       && (!run.report.check.checked || run.report.check.passed);

    Sections sections = sectionsOf(run, state, size.width);
    double whole = 4;
    for (const Section& section : sections) {
        whole += section.height;
    }
    Canvas canvas(size.width, size.height);
    // If not everything fits, the most important sections are chosen; findings, if there are any,
    // come first.
    double y = 4;
    const bool fits = whole <= size.height;
    if (!fits) {
        y = paintDifferences(canvas, run, state, y, clean ? size.height : size.height / 2);
    }
    if (!fits && !clean) {
        y = sections[kFindings].paint(canvas, y);
    }
    double room = size.height - y;
    for (const std::size_t i :
         {kDifferences, kPrints, kSplit, kHelp, kSentence, kFindings, kLosses, kTraffic}) {
        Section& section = sections[i];
        if (!fits && (i == kDifferences || (i == kFindings && !clean))) {
            continue; // painted already
        }
        section.shown = fits || section.height <= room;
        room -= section.shown ? section.height : 0;
    }
    for (const Section& section : sections) {
        if (section.shown) {
            y = section.paint(canvas, y);
        }
    }
    std::string caption = withKept(canvas, state, "time_s", captionOf(run));
    return parts::finished(std::move(canvas), "Verdict and findings", std::move(caption), run,
                           state);
}

} // namespace pallascope::layout
