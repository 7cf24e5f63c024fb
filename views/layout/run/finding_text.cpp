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

void paintSeverity(Canvas& canvas, double x, double y, Severity severity)
{
    switch (severity) {
    case Severity::Error:
        canvas.polygon({{x, y + 3.5},
                        {x + 3.5, y},
                        {x + 8.5, y},
                        {x + 12, y + 3.5},
                        {x + 12, y + 8.5},
                        {x + 8.5, y + 12},
                        {x + 3.5, y + 12},
                        {x, y + 8.5}},
                       Role::Error);
        canvas.line({{x + 4, y + 4}, {x + 8, y + 8}}, Role::View, 1.6);
        canvas.line({{x + 8, y + 4}, {x + 4, y + 8}}, Role::View, 1.6);
        return;
    case Severity::Warning:
        canvas.polygon({{x + 6, y}, {x + 12.5, y + 12}, {x - 0.5, y + 12}}, Role::Warning);
        canvas.fill(x + 5, y + 4, 2, 4, Role::View);
        canvas.fill(x + 5, y + 9, 2, 2, Role::View);
        return;
    case Severity::Ok:
        canvas.disc(x + 6, y + 6, 6, Role::Ok, Role::Ok, 0);
        canvas.line({{x + 3, y + 6}, {x + 5.3, y + 8.4}, {x + 9.2, y + 3.8}}, Role::View, 1.6);
        return;
    }
}

std::int32_t stepRow(const trace::Trace& trace, std::int64_t ordinal)
{
    const std::vector<std::int64_t>& ordinals = trace.steps().ordinal;
    if (ordinal < 0) {
        return trace::kNone;
    }
    const auto guess = static_cast<std::size_t>(ordinal);
    if (guess < ordinals.size() && ordinals[guess] == ordinal) {
        return static_cast<std::int32_t>(ordinal);
    }
    const auto found = std::find(ordinals.begin(), ordinals.end(), ordinal);
    return found == ordinals.end() ? trace::kNone
                                   : static_cast<std::int32_t>(found - ordinals.begin());
}

} // namespace pallascope::layout
