// Paints the foot of the memory view: the units and what each of them does now.
#include "core/base/format.h"
#include "views/layout/memory/parts.h"
#include "views/layout/run/unit_state.h"
#include "views/layout/run/view_parts.h"

#include <algorithm>
#include <cmath>

namespace pallascope::layout {

namespace {

constexpr double kUnitHeight = 32;
constexpr double kUnitWidth = 64;

std::vector<std::int32_t> shownUnits(const trace::Info& info)
{
    std::vector<bool> used(info.units.size(), false);
    for (const trace::SegmentTemplate& segment : info.templates) {
        for (const trace::Mark& mark : segment.marks) {
            used[static_cast<std::size_t>(mark.unit)] = true;
        }
    }
    std::vector<std::int32_t> units;
    for (std::size_t i = 0; i < used.size(); ++i) {
        if (used[i]) {
            units.push_back(static_cast<std::int32_t>(i));
        }
    }
    return units;
}

// The unit that is busiest over the run. When it waits, the run loses time.
std::optional<std::int32_t> mainUnit(const RunView& run, const std::vector<std::int32_t>& units)
{
    std::optional<std::int32_t> best;
    for (const std::int32_t unit : units) {
        if (!best
            || run.index->unitBusy(trace::UnitRow{unit}, run.trace->end())
                   > run.index->unitBusy(trace::UnitRow{*best}, run.trace->end())) {
            best = unit;
        }
    }
    return best;
}

} // namespace

double unitsHeight(const RunView& run, double width)
{
    const std::size_t units = shownUnits(run.trace->info()).size();
    if (units == 0) {
        return 0;
    }
    const auto perRow =
        std::max<std::size_t>(1, static_cast<std::size_t>((width - 20) / kUnitWidth));
    return kUnitHeight * std::ceil(static_cast<double>(units) / static_cast<double>(perRow)) + 4;
}

void paintUnits(Canvas& canvas, const RunView& run, Picoseconds now, double y)
{
    const trace::Trace& trace = *run.trace;
    const trace::Info& info = trace.info();
    const std::vector<std::int32_t> units = shownUnits(info);
    const double w = canvas.width() - 2 * parts::kPadding;
    const auto most =
        std::max<std::size_t>(1, static_cast<std::size_t>((canvas.width() - 20) / kUnitWidth));
    const std::size_t lines = (units.size() + most - 1) / most;
    const std::size_t perRow = (units.size() + lines - 1) / lines;
    const double pitch = (w + 8) / static_cast<double>(perRow);
    const trace::OptionalRow<trace::WaitRow> wait = trace::waitAt(trace, trace::AgentRow{0}, now);
    const bool waiting = wait && !waitsForOthers(trace, *wait) && now < trace.end();
    const std::optional<std::int32_t> main = waiting ? mainUnit(run, units) : std::nullopt;
    for (std::size_t i = 0; i < units.size(); ++i) {
        const trace::Unit& unit = info.units[static_cast<std::size_t>(units[i])];
        const UnitState state = unitState(trace, trace::UnitRow{units[i]}, now);
        const bool busy = state.share.has_value();
        const bool waits = units[i] == main && !busy;
        const double x = parts::kPadding + pitch * static_cast<double>(i % perRow);
        const double top = y + kUnitHeight * static_cast<double>(i / perRow);
        const double width = pitch - 8;
        const Weight weight = busy ? Weight::SemiBold : Weight::Regular;
        canvas.text(x, top, width, 15, unit.name,
                    {11, busy ? Role::Text : Role::Text2, weight, Align::Left});
        const double room = width - textWidth(unit.name, 11, weight) - 6;
        std::string words = waits ? "waits" : state.words;
        if (busy) {
            const std::string percent = percentText(*state.share, 0);
            words = textWidth(state.words + " 100 %", 10) <= room ? state.words + " " + percent
                                                                  : percent;
        }
        if (textWidth(words, 10) <= room) {
            canvas.text(x, top, width, 15, words,
                        {10, busy ? Role::Text2 : Role::Text3, Weight::Regular, Align::Right});
        }
        if (waits) {
            canvas.hatch(x, top + 17, width, 8, Role::Wait, Role::Grid, Hatch::Wait);
        } else {
            canvas.fill(x, top + 17, width, 8, Role::Grid);
        }
        if (busy) {
            canvas.fill(x, top + 17, std::max(1.0, width * *state.share), 8,
                        parts::unitRole(unit.kind));
        }
    }
}

} // namespace pallascope::layout
