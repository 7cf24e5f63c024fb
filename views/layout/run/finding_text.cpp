#include "views/layout/run/finding_text.h"

#include "core/base/format.h"
#include "core/trace/findings.h"

#include <algorithm>
#include <optional>

namespace pallascope::layout {

Severity severityOf(const trace::Finding& finding)
{
    const std::optional<trace::FindingKind> kind = trace::findingFromName(finding.kind);
    if (!kind) {
        return Severity::Error;
    }
    switch (trace::findingEntry(*kind).severity) {
    case trace::FindingSeverity::Warning:
        return Severity::Warning;
    case trace::FindingSeverity::Error:
        break;
    }
    return Severity::Error;
}

std::string findingTitle(std::string_view kind)
{
    if (const std::optional<trace::FindingKind> known = trace::findingFromName(kind)) {
        return std::string(trace::findingEntry(*known).title);
    }
    std::string words(kind);
    std::replace(words.begin(), words.end(), '_', ' ');
    if (!words.empty() && words[0] >= 'a' && words[0] <= 'z') {
        words[0] = static_cast<char>(words[0] - 'a' + 'A');
    }
    return words;
}

std::string findingPlaces(const trace::Finding& finding)
{
    const std::string count =
        countText(finding.count) + (finding.count == 1 ? " place" : " places");
    return finding.operand.empty() ? count : finding.operand + " · " + count;
}

void paintSeverity(Canvas& canvas, double x, double y, Severity severity, double size)
{
    const double unit = size / 12;
    const auto at = [&](double right, double down) {
        return Point{x + right * unit, y + down * unit};
    };
    switch (severity) {
    case Severity::Error:
        canvas.polygon({at(0, 3.5), at(3.5, 0), at(8.5, 0), at(12, 3.5), at(12, 8.5), at(8.5, 12),
                        at(3.5, 12), at(0, 8.5)},
                       Role::Error);
        canvas.line({at(4, 4), at(8, 8)}, Role::View, 1.6);
        canvas.line({at(8, 4), at(4, 8)}, Role::View, 1.6);
        return;
    case Severity::Warning:
        canvas.polygon({at(6, 0), at(12.5, 12), at(-0.5, 12)}, Role::Warning);
        canvas.fill(x + 5 * unit, y + 4 * unit, 2 * unit, 4 * unit, Role::View);
        canvas.fill(x + 5 * unit, y + 9 * unit, 2 * unit, 2 * unit, Role::View);
        return;
    case Severity::Ok:
        paintTick(canvas, x, y, Role::Ok, size);
        return;
    }
}

void paintTick(Canvas& canvas, double x, double y, Color color, double size)
{
    const double unit = size / 12;
    const auto at = [&](double right, double down) {
        return Point{x + right * unit, y + down * unit};
    };
    canvas.disc(x + size / 2, y + size / 2, size / 2, color, color, 0);
    canvas.line({at(3, 6), at(5.3, 8.4), at(9.2, 3.8)}, Role::View, 1.6);
}

trace::OptionalRow<trace::StepRow> stepRow(const trace::Trace& trace, std::int64_t step)
{
    const bool isThere = step >= 0 && static_cast<std::size_t>(step) < trace.steps().size();
    return isThere ? trace::StepRow::at(static_cast<std::size_t>(step))
                   : trace::OptionalRow<trace::StepRow>();
}

} // namespace pallascope::layout
