// Paints what lies over and beside the arrays of the grid view: the path, the guides, the odometer
// and the legend.
#include "core/base/format.h"
#include "views/layout/grid/block_cells.h"
#include "views/layout/grid/cells.h"
#include "views/layout/grid/parts.h"
#include "views/layout/grid/picture.h"
#include "views/layout/run/operand_color.h"
#include "views/layout/run/view_parts.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fmt/format.h>
#include <set>

namespace pallascope::layout {

namespace {

constexpr std::int64_t kLongestPath = 4096; // visits; a longer path would cover its whole array

// The rows of Visits of one operand that have begun by `step`.
std::pair<std::size_t, std::size_t> visitsUntil(const trace::Trace& trace,
                                                trace::OperandRow operand, trace::StepRow step)
{
    const trace::Visits& visits = trace.visits();
    const auto begin = visits.operand.begin();
    const auto first = std::lower_bound(begin, visits.operand.end(), operand.number);
    const auto last = std::upper_bound(first, visits.operand.end(), operand.number);
    const auto from = visits.firstStep.begin() + (first - begin);
    const auto to = visits.firstStep.begin() + (last - begin);
    const auto end = std::upper_bound(from, to, step.number);
    return {static_cast<std::size_t>(first - begin),
            static_cast<std::size_t>(end - visits.firstStep.begin())};
}

Point cellCentre(const ArrayPanel& panel, std::int64_t inSlice)
{
    const std::int64_t row = inSlice / panel.shape.columns;
    const std::int64_t column = inSlice % panel.shape.columns;
    return {std::floor(panel.x + static_cast<double>(column) * panel.cellWidth
                       + (panel.cellWidth - 1) / 2),
            std::floor(panel.y + static_cast<double>(row) * panel.cellHeight
                       + (panel.cellHeight - 1) / 2)};
}

void paintTicks(Canvas& canvas, double x, double y, double tick, double height, Extent at,
                Extent count)
{
    if (tick >= 4) {
        for (Extent i = 0; i < count; ++i) {
            const Color color = i == at  ? Color(Role::Text)
                                : i < at ? mix(Role::Text, 0.32)
                                         : Color(Role::Grid);
            canvas.fill(x + static_cast<double>(i) * tick, y, tick - 1, height, color);
        }
        return;
    }
    const double width = tick * static_cast<double>(count);
    const double now = std::min(width - 2, tick * static_cast<double>(at));
    canvas.fill(x, y, width, height, Role::Grid);
    canvas.fill(x, y, now, height, mix(Role::Text, 0.32));
    canvas.fill(x + now, y, 2, height, Role::Text);
}

// "copied in: x |3|, y |3| of 512". If there is not enough room, first the total is left out, then
// the whole text.
std::string copiedText(const GridMoment& moment, double room)
{
    const trace::Info& info = moment.run.trace->info();
    const trace::Pipeline& pipe = info.pipelines[moment.pipeline.index()];
    const trace::Index& index = *moment.run.index;
    std::string text;
    std::set<std::int64_t> totals;
    for (std::int32_t i = 0; i < pipe.operandCount; ++i) {
        const std::int32_t operand = pipe.firstOperand + i;
        const trace::Operand& op = info.operands[static_cast<std::size_t>(operand)];
        if (parts::reads(op)) {
            const auto landedBy = [&](Picoseconds t) {
                std::int64_t sum = 0;
                for (const std::int32_t one : index.sharing(trace::OperandRow{operand})) {
                    sum += index.landed(trace::OperandRow{one}, false, t);
                }
                return sum;
            };
            text += fmt::format("{}{} |{}|", text.empty() ? "copied in: " : ", ", op.name,
                                countText(landedBy(moment.now)));
            totals.insert(landedBy(moment.run.trace->end()));
        }
    }
    const auto fits = [room](const std::string& shown) {
        // Strong parts are wider than measured here, by up to 6 px.
        return textWidth(parts::plain(shown), 10) + 6 <= room;
    };
    if (totals.size() == 1) {
        const std::string whole = fmt::format("{} of {}", text, countText(*totals.begin()));
        if (fits(whole)) {
            return whole;
        }
    }
    return fits(text) ? text : std::string();
}

} // namespace

void paintPath(Canvas& canvas, const GridMoment& moment, const ArrayPanel& panel)
{
    const trace::Trace& trace = *moment.run.trace;
    const auto operand = panel.shape.operand.index();
    if (std::min(panel.cellWidth, panel.cellHeight) < 10 || !moment.step
        || hasListedCells(trace.info().operands[operand])
        || !moment.run.index->windows(panel.shape.operand).empty()) {
        return;
    }
    const ShownSlice slice = shownSlice(moment, panel.shape);
    const std::int64_t perSlice = panel.shape.rows * panel.shape.columns;
    auto [first, last] = visitsUntil(trace, panel.shape.operand, *moment.step);
    if (last - first > static_cast<std::size_t>(kLongestPath)) {
        first = last - static_cast<std::size_t>(kLongestPath);
    }
    const Color ink = mix(Role::Text, 0.75);
    std::set<std::int64_t> dotted;
    std::set<std::pair<std::int64_t, std::int64_t>> drawn;
    std::int64_t before = -1;
    for (std::size_t i = first; i < last; ++i) {
        const std::int64_t block = trace.visits().block[i] - slice.firstCell;
        const bool shown = block >= 0 && block < perSlice;
        if (shown && before >= 0 && drawn.insert(std::minmax(before, block)).second) {
            const Point a = cellCentre(panel, before);
            const Point b = cellCentre(panel, block);
            // Lines lead only from a block to its neighbour; the jump back to the beginning of a
            // row passes through no blocks.
            const bool along = before / panel.shape.columns == block / panel.shape.columns
                               && std::abs(before - block) == 1;
            const bool down = std::abs(before - block) == panel.shape.columns;
            if (along || down) {
                canvas.fill(std::min(a.x, b.x), std::min(a.y, b.y), std::abs(a.x - b.x) + 1,
                            std::abs(a.y - b.y) + 1, ink);
            }
        }
        before = shown ? block : -1;
        const bool leftAlready = i + 1 < last || moment.finished;
        if (shown && leftAlready && dotted.insert(block).second) {
            const Point p = cellCentre(panel, block);
            canvas.fill(p.x - 1, p.y - 1, 3, 3, ink);
        }
    }
}

void paintGuides(Canvas& canvas, const GridMoment& moment, const GridArrangement& arrangement)
{
    if (!arrangement.anchor || moment.finished) {
        return;
    }
    const Color ink = mix(Role::Text, 0.30);
    const ArrayPanel& anchor = arrangement.panels[*arrangement.anchor];
    const std::optional<std::int64_t> target = shownSlice(moment, anchor.shape).current;
    if (!target) {
        return;
    }
    const Point end = cellCentre(anchor, *target);
    for (const std::size_t i : arrangement.left) {
        const ArrayPanel& panel = arrangement.panels[i];
        const std::optional<std::int64_t> current = shownSlice(moment, panel.shape).current;
        if (!current) {
            continue;
        }
        const double from = cellCentre(panel, *current).x + panel.cellWidth / 2 + 1;
        canvas.fill(from, end.y, anchor.x - anchor.label - 2 - from, 1, ink);
        canvas.fill(anchor.x, end.y, end.x - anchor.x - anchor.cellWidth / 2 - 1, 1, ink);
        // Only from the leftmost array: the line passes through the blocks in use of the others.
        break;
    }
    for (const std::size_t i : arrangement.above) {
        const ArrayPanel& panel = arrangement.panels[i];
        const std::optional<std::int64_t> current = shownSlice(moment, panel.shape).current;
        if (!current) {
            continue;
        }
        const double from = cellCentre(panel, *current).y + panel.cellHeight / 2 + 1;
        const double nextHead = panel.y + panel.cellsHeight() + 7;
        canvas.fill(end.x, from, 1, nextHead - from, ink);
    }
    if (!arrangement.above.empty()) {
        canvas.fill(end.x, anchor.y, 1, end.y - anchor.y - anchor.cellHeight / 2 - 1, ink);
    }
}

void paintOdometer(Canvas& canvas, const GridMoment& moment, Rect area, double tick)
{
    const trace::Pipeline& pipe = moment.run.trace->info().pipelines[moment.pipeline.index()];
    const std::size_t axes = moment.index.size();
    if (axes == 0 || area.w < 60 || area.h < 40) {
        return;
    }
    canvas.text(area.x, area.y, area.w, 17, "Grid axes",
                {12, Role::Text, Weight::SemiBold, Align::Left});
    double y = area.y + 18;
    if (axes > 1 && area.h >= 36 + 22 * static_cast<double>(axes)) {
        canvas.text(area.x, area.y + 16, area.w, 13, "innermost last",
                    {10, Role::Text3, Weight::Regular, Align::Left});
        y = area.y + 32;
    }
    const double room = area.bottom() - y;
    const double pitch =
        std::clamp(std::min(tick * 1.9, room / static_cast<double>(axes)), 21.0, 53.0);
    const double height = std::min(tick - 1, pitch - 13);
    double label = kAxisLabel;
    for (const std::string& name : pipe.axisNames) {
        label = std::clamp(textWidth(name, 11, Weight::Medium) + 8, label, area.w / 3);
    }
    for (std::size_t axis = 0; axis < axes && y + height + 13 <= area.bottom() + 1; ++axis) {
        const Extent count = std::max<Extent>(1, pipe.grid[axis]);
        const double x = area.x + label;
        const double width = std::min(tick, (area.w - label) / static_cast<double>(count));
        const std::string name = axis < pipe.axisNames.size() ? pipe.axisNames[axis] : "";
        canvas.text(area.x, y, label - 2, height, name,
                    {11, Role::Text2, Weight::Medium, Align::Left});
        paintTicks(canvas, x, y, width >= 4 ? std::floor(width) : width, height, moment.index[axis],
                   count);
        canvas.text(x, y + height, area.w - label, 13,
                    countText(moment.index[axis]) + " of 0–" + countText(count - 1),
                    {10, Role::Text3, Weight::Regular, Align::Left});
        y += pitch;
    }
    const std::string copied = copiedText(moment, area.w);
    if (y + 15 <= area.bottom() && !copied.empty()) {
        canvas.rich(area.x, y + 2, area.w, 14, copied, 10, Role::Text3);
    }
}

void paintLegend(Canvas& canvas, const GridMoment& moment,
                 const std::vector<ArrayPicture>& pictures, Rect area)
{
    const trace::Info& info = moment.run.trace->info();
    Role input = Role::Operand1;
    Role output = Role::Operand3;
    bool hasInput = false;
    bool hasOutput = false;
    const bool isManual = std::all_of(pictures.begin(), pictures.end(),
                                      [](const auto& one) { return one.manual != nullptr; });
    for (auto picture = pictures.rbegin(); picture != pictures.rend(); ++picture) {
        const std::vector<std::int32_t> own{picture->operand};
        for (const std::int32_t operand :
             picture->manual == nullptr ? own : picture->manual->operands) {
            const trace::Operand& op = info.operands[static_cast<std::size_t>(operand)];
            if (parts::reads(op)) {
                input = operandRole(moment.run, trace::OperandRow{picture->operand});
                hasInput = true;
            }
            if (parts::writes(op) && !hasOutput) {
                output = operandRole(moment.run, trace::OperandRow{picture->operand});
                hasOutput = true;
            }
        }
    }
    using trace::BlockPhase;

    struct Entry
    {
        const char* name;
        trace::BlockState state;
        bool output;
    };

    std::vector<Entry> entries;
    if (hasInput) {
        entries = {{"never read", {BlockPhase::Never, 0, 0}, false},
                   {"arriving", {BlockPhase::Arriving, 0.6, 0}, false},
                   {"read before", {BlockPhase::Before, 0, 3}, false},
                   {isManual ? "in a slot" : "ready", {BlockPhase::Ready, 0, 0}, false},
                   {"queued", {BlockPhase::Queued, 0, 0}, false},
                   {"in use", {BlockPhase::InUse, 0, 0}, false}};
    }
    if (hasOutput) {
        entries.push_back(isManual ? Entry{"leaving", {BlockPhase::Leaving, 0.4, 0}, true}
                                   : Entry{"share done", {BlockPhase::InUse, 0.6, 0}, true});
        entries.push_back({"written back", {BlockPhase::Written, 0, 1}, true});
    }
    const double pitch =
        std::min(116.0, area.w / std::ceil(static_cast<double>(entries.size()) / 2));
    for (std::size_t i = 0; i < entries.size(); ++i) {
        const double x = area.x + static_cast<double>(i / 2) * pitch;
        const double y = area.y + static_cast<double>(i % 2) * 17;
        paintBlock(canvas, {x + 1, y + 2, 11, 11}, entries[i].state,
                   entries[i].output ? output : input, entries[i].output);
        canvas.text(x + 17, y, pitch - 18, 15, entries[i].name,
                    {10, Role::Text2, Weight::Regular, Align::Left});
    }
}

} // namespace pallascope::layout
