// Chooses which lines the source view shows: those that run, and that of the chosen finding.
#include "views/layout/source/parts.h"

#include <algorithm>

namespace pallascope::layout {

namespace {

// The chosen finding; null: none is chosen.
const trace::Finding* chosenFinding(const RunView& run, const ViewState& state)
{
    const auto* chosen = std::get_if<target::Finding>(&state.selection);
    const auto& all = run.trace->info().findings;
    const bool known = chosen != nullptr && chosen->index && *chosen->index >= 0
                       && static_cast<std::size_t>(*chosen->index) < all.size();
    return known ? &all[static_cast<std::size_t>(*chosen->index)] : nullptr;
}

// Whether the playhead stands where the chosen finding is. A finding without a place has none to
// leave.
bool standsAtFinding(const RunView& run, const ViewState& state)
{
    const trace::Finding* finding = chosenFinding(run, state);
    if (finding == nullptr || state.playing) {
        return false;
    }
    const std::int64_t index = finding - run.trace->info().findings.data();
    bool hasPlace = false;
    for (const FindingPlace& place : run.findingPlaces) {
        if (place.finding == index && place.time == state.now) {
            return true;
        }
        hasPlace = hasPlace || place.finding == index;
    }
    return !hasPlace;
}

// Lines of a file, both included; from line 0: none.
struct LineRange
{
    std::int64_t from = 0, to = 0;
};

// The lines that must be visible: the current one, and that of the chosen finding. Where not both
// fit, the finding's while the playhead is there; then the view follows the playhead again.
LineRange soughtLines(const RunView& run, const ViewState& state, const SourceMoment& moment,
                      std::int32_t file, std::int64_t fit)
{
    const std::int64_t current = moment.line.file == file ? moment.line.line : 0;
    const trace::Finding* finding = chosenFinding(run, state);
    const std::int64_t found =
        finding != nullptr && finding->source.file == file ? finding->source.line : 0;
    if (found <= 0 || current <= 0) {
        const std::int64_t only = std::max<std::int64_t>({0, found, current});
        return {only, only};
    }
    const auto [from, to] = std::minmax(found, current);
    if (to - from < fit) {
        return {from, to};
    }
    const std::int64_t one = standsAtFinding(run, state) ? found : current;
    return {one, one};
}

// The lines of a file in which time was spent; all of them where that is not known.
LineRange linesWithTime(const RunView& run, std::int32_t file, std::int64_t lines)
{
    LineRange busy = {lines, 1};
    for (const analysis::LineTime& time : run.lineTimes) {
        if (time.line.file == file && time.line.line > 0) {
            busy.from = std::min<std::int64_t>(busy.from, time.line.line);
            busy.to = std::max<std::int64_t>(busy.to, time.line.line);
        }
    }
    return busy.from > busy.to ? LineRange{1, lines} : busy;
}

// The first line to show so that the lines sought are visible and, if they fit, all lines in which
// time was spent. The view keeps no memory of where it was, so it moves only if it must.
std::int64_t followed(const LineRange& busy, const LineRange& sought, std::int64_t lines,
                      std::int64_t fit)
{
    const std::int64_t last = std::max<std::int64_t>(1, lines - fit + 1);
    std::int64_t first = std::clamp<std::int64_t>(busy.from, 1, last);
    if (busy.to - busy.from < fit) {
        const std::int64_t spare = fit - (busy.to - busy.from + 1);
        first = std::clamp<std::int64_t>(busy.from - std::min<std::int64_t>(spare, 2 + spare / 2),
                                         1, last);
        first = sought.from <= 0           ? first
                : sought.from < first      ? sought.from - 1
                : sought.to >= first + fit ? std::min(last, sought.to - fit + 2)
                                           : first;
    } else if (sought.from > 0 && (sought.from < busy.from || sought.to >= busy.from + fit)) {
        first = std::clamp<std::int64_t>((sought.from + sought.to) / 2 - fit / 2, 1, last);
    }
    if (sought.from <= 0) {
        return first;
    }
    return std::clamp<std::int64_t>(first, std::max<std::int64_t>(1, sought.to - fit + 1),
                                    std::max<std::int64_t>(1, sought.from));
}

} // namespace

std::int32_t shownFile(const RunView& run, const ViewState& state, const SourceMoment& moment)
{
    const auto* line = std::get_if<target::SourceLine>(&state.selection);
    if (line != nullptr && state.firstSourceLine > 0 && line->file >= 0) {
        return static_cast<std::int32_t>(line->file); // the reader went there
    }
    if (standsAtFinding(run, state) && chosenFinding(run, state)->source.file >= 0) {
        return chosenFinding(run, state)->source.file;
    }
    if (moment.line.file >= 0) {
        return moment.line.file;
    }
    for (const analysis::LineTime& time : run.lineTimes) {
        if (time.line.file >= 0) {
            return time.line.file;
        }
    }
    return 0;
}

std::int64_t firstShownLine(const RunView& run, const ViewState& state, const SourceMoment& moment,
                            std::int32_t file, std::int64_t lines, std::int64_t fit)
{
    return state.firstSourceLine > 0
               ? std::clamp<std::int64_t>(state.firstSourceLine, 1,
                                          std::max<std::int64_t>(1, lines))
               : followed(linesWithTime(run, file, lines),
                          soughtLines(run, state, moment, file, fit), lines, fit);
}

} // namespace pallascope::layout
