#include "views/layout/run/finding_marks.h"

#include <algorithm>
#include <cmath>

namespace pallascope::layout {
namespace {

const trace::Finding& findingOf(const RunView& run, std::int64_t index)
{
    return run.trace->info().findings[static_cast<std::size_t>(index)];
}

} // namespace

std::vector<FindingMark> findingMarks(const RunView& run,
                                      const std::function<std::optional<double>(Picoseconds)>& toX)
{
    constexpr double kApart = kFindingMark + 1;
    std::vector<FindingMark> marks;
    for (const Severity severity : {Severity::Error, Severity::Warning}) {
        for (const FindingPlace& place : run.findingPlaces) {
            const std::optional<double> middle = toX(place.time);
            if (!middle || severityOf(findingOf(run, place.finding)) != severity) {
                continue;
            }
            const double left = std::round(*middle - kFindingMark / 2);
            const auto covers = [&](const FindingMark& other) {
                return std::abs(other.left - left) < kApart;
            };
            if (std::none_of(marks.begin(), marks.end(), covers)) {
                marks.push_back({left, place.finding});
            }
        }
    }
    return marks;
}

void paintFindingMarks(Canvas& canvas, const RunView& run, const std::vector<FindingMark>& marks,
                       double y)
{
    for (const FindingMark& mark : marks) {
        paintSeverity(canvas, mark.left, y, severityOf(findingOf(run, mark.finding)), kFindingMark);
        canvas.hit(mark.left - 1, y - 1, kFindingMark + 2, kFindingMark + 2,
                   target::Finding{mark.finding});
    }
}

} // namespace pallascope::layout
