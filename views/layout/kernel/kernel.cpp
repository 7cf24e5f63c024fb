// Makes the scene of the kernel view: the parameters as a form that only shows (for pictures; the
// window has fields of its own), the VMEM budget, and what other choices would give.
#include "views/layout/kernel/kernel.h"

#include "core/base/format.h"
#include "views/layout/kernel/budget.h"
#include "views/layout/kernel/occupancy.h"
#include "views/layout/kernel/parts.h"
#include "views/layout/run/kept_run.h"
#include "views/layout/run/operand_color.h"
#include "views/layout/run/position.h"
#include "views/layout/run/view_parts.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>

namespace pallascope::layout {

namespace {

using parts::kPadding;
using parts::kRow;

constexpr double kField = 22;
constexpr double kFieldPitch = 24;

// ------------------------------------------------------------------ form

void paintField(Canvas& canvas, double x, double y, double w, double labelWidth, const Field& field)
{
    canvas.text(x, y, labelWidth - 4, kField, field.name,
                {11, Role::Text2, Weight::Regular, Align::Left});
    canvas.frame(x + labelWidth, y, w - labelWidth, kField,
                 field.error.empty() ? Role::Edge : Role::Error, field.error.empty() ? 1 : 2);
    canvas.text(x + labelWidth + 7, y, w - labelWidth - 24, kField, field.value);
    const double ax = x + w - 13;
    const double ay = y + 9;
    if (field.choice) {
        canvas.polygon({{ax, ay}, {ax + 7, ay}, {ax + 3.5, ay + 4.5}}, Role::Text2);
    } else {
        canvas.polygon({{ax, ay}, {ax + 6, ay}, {ax + 3, ay - 3.5}}, Role::Text3);
        canvas.polygon({{ax, ay + 4}, {ax + 6, ay + 4}, {ax + 3, ay + 7.5}}, Role::Text3);
    }
}

// Two fields a row. "n" and "bn" belong together; fields without a partner follow in order.
std::vector<std::pair<Field, std::optional<Field>>> formRows(const std::vector<Field>& fields)
{
    std::vector<std::pair<Field, std::optional<Field>>> rows;
    std::set<std::string> placed;
    const auto named = [&fields](const std::string& name) {
        return std::find_if(fields.begin(), fields.end(),
                            [&name](const Field& field) { return field.name == name; });
    };
    for (const Field& field : fields) {
        const auto partner = named("b" + field.name);
        if (partner != fields.end() && placed.count(field.name) == 0) {
            rows.emplace_back(field, *partner);
            placed.insert({field.name, partner->name});
        }
    }
    for (const Field& field : fields) {
        if (placed.insert(field.name).second) {
            if (!rows.empty() && !rows.back().second && placed.size() > 1) {
                rows.back().second = field;
            } else {
                rows.emplace_back(field, std::nullopt);
            }
        }
    }
    return rows;
}

double paintErrors(Canvas& canvas, double x, double y, double w, const RunView& run)
{
    for (const Field& field : run.fields) {
        if (!field.error.empty()) {
            canvas.text(x, y, w, 16, field.error, {11, Role::Error, Weight::Regular, Align::Left});
            y += 16;
        }
    }
    return y;
}

double paintForm(Canvas& canvas, const RunView& run, double y)
{
    const trace::Info& info = run.trace->info();
    const double x = kPadding;
    const double w = canvas.width() - 2 * x;
    std::vector<Field> rest;
    Field kernel = {"kernel", info.kernel, true, {}};
    Field chip = {"chip", info.chipName, true, {}};
    for (const Field& field : run.fields) {
        if (field.name == "kernel") {
            kernel = field;
        } else if (field.name == "chip") {
            chip = field;
        } else {
            rest.push_back(field);
        }
    }
    paintField(canvas, x, y, w, 54, kernel);
    paintField(canvas, x, y + kFieldPitch, w, 54, chip);
    y += 2 * kFieldPitch + 5;
    const auto labelWidth = [](const Field& field) {
        return std::max(22.0, std::ceil(textWidth(field.name, 11)) + 10);
    };
    const double half = std::floor((w - 10) / 2);
    for (const auto& [left, right] : formRows(rest)) {
        paintField(canvas, x, y, half, labelWidth(left), left);
        if (right) {
            paintField(canvas, x + half + 10, y, w - half - 10, labelWidth(*right), *right);
        }
        y += kFieldPitch;
    }
    y = paintErrors(canvas, x, y, w, run) + 3;
    canvas.fill(0, y, canvas.width(), 1, Role::Line);
    return y + 5;
}

// ------------------------------------------------------------------ budget

double paintBar(Canvas& canvas, const Budget& budget, double y)
{
    const double x = kPadding;
    const double w = canvas.width() - 2 * x;
    const Taken& there = budget.taken;
    const Bytes scale = std::max(budget.isUnfit()  ? there.used
                                 : budget.isOver() ? there.capacity
                                                   : there.limit,
                                 Bytes(1));
    const auto at = [&](Bytes bytes) { return x + w * std::min(1.0, ratio(bytes, scale)); };
    canvas.fill(x, y, w, 14, Role::Grid);
    Bytes sum;
    for (const BudgetRow& row : budget.rows) {
        const double left = at(sum);
        sum += row.bytes;
        canvas.fill(left, y, std::max(1.0, at(sum) - left - 1), 14, row.color);
        if (row.firstBuffer >= 0) {
            canvas.hit(left, y, at(sum) - left, 14, target::Buffer{row.firstBuffer});
        }
    }
    if (budget.temporaries.value() > 0) {
        const double left = at(sum);
        canvas.hatch(left, y, at(sum + budget.temporaries) - left, 14, Role::Text3, Role::Grid,
                     Hatch::Estimate);
    }
    canvas.fill(at(there.limit) - 1, y - 3, 1, 20, Role::Text);
    if (budget
            .isUnfit()) { // what lies over the memory is hatched, and a thick tick ends the memory
        const double end = at(there.capacity);
        canvas.hatch(end, y, x + w - end, 14, Role::Error, mix(Role::Error, 0.10), Hatch::Wait);
        canvas.fill(end - 1, y - 3, 2, 20, Role::Text);
    }
    // The ticks are 0, what is used, the limit and the end of the scale, as far as there is room
    // for them.
    const std::string end = bytesText(scale);
    canvas.text(x, y + 15, 40, 13, "0", smallText(Role::Text3));
    canvas.text(x, y + 15, w, 13, end, smallText(Role::Text3, Align::Right));
    double taken = x + 12;
    const double free = x + w - textWidth(end, 10) - 8;
    const auto tick = [&](Bytes bytes) {
        const std::string text = bytesText(bytes);
        const double width = textWidth(text, 10);
        const double left = at(bytes) - width / 2;
        if (left > taken && left + width < free) {
            canvas.text(left - 4, y + 15, width + 8, 13, text,
                        smallText(Role::Text3, Align::Center));
            taken = left + width + 6;
        }
    };
    tick(std::min(there.used, there.limit));
    tick(budget.isUnfit() ? there.capacity : std::max(there.used, there.limit));
    return y + 33;
}

double paintBudget(Canvas& canvas, const RunView& run, const ViewState& state, const Budget& budget,
                   double y)
{
    const double x = kPadding;
    const double w = canvas.width() - 2 * x;
    const trace::Info& info = run.trace->info();
    const Taken& taken = budget.taken;
    const auto& memory = info.memories[static_cast<std::size_t>(taken.memory)];
    const std::string title = memory.name + " budget";
    canvas.text(x, y, w, kRow, title, {11, Role::Text, Weight::SemiBold, Align::Left});
    const Bytes limit = budget.isUnfit() ? taken.capacity : taken.limit;
    const double share = limit.value() > 0 ? ratio(taken.used, limit) : 0;
    const bool isScoped = memory.scopedLimit.has_value() && !budget.isUnfit();
    const Role ink = inkOf(budget) == Role::Text ? Role::Text2 : inkOf(budget);
    const double from = std::max(80.0, std::ceil(textWidth(title, 11, Weight::SemiBold)) + 8);
    canvas.text(x + from, y, w - from, kRow,
                percentText(share, 0) + (isScoped ? " of the scoped limit" : " of the memory"),
                smallText(ink, Align::Right));
    y = paintBar(canvas, budget, y + 21);
    if (!run.notRun.empty()) { // what fits is more urgent than what each operand takes
        y = paintChoices(canvas, run, y + 4) + 8;
        canvas.fill(0, y - 4, canvas.width(), 1, Role::Line);
        return paintTable(canvas, run, budget, y, canvas.height());
    }
    // Other choices go first where there is too little room, then columns of the table, then loops.
    const double inTwoColumns = kRow * static_cast<double>((budget.rows.size() + 1) / 2 + 3);
    const double loops = loopsHeight(run, state);
    const bool haveLoops = y + inTwoColumns + loops <= canvas.height();
    y = paintTable(canvas, run, budget, y, canvas.height() - (haveLoops ? loops : 0));
    y = paintLoops(canvas, run, state, paintOccupancy(canvas, run, state, y));
    return paintChoices(canvas, run, y);
}

std::string captionOf(Canvas& canvas, const RunView& run, const ViewState& state,
                      const Budget& budget, double width)
{
    const analysis::Report& report = run.report;
    const Taken& taken = budget.taken;
    const auto& steps = budget.position;
    const trace::BlockGrid* const blocks = blocksAt(run, state);
    const bool hasSteps = blocks == nullptr || steps.steps > 0;
    std::string text = hasSteps ? stepsText(run, steps)
                                : "|" + countText(blocks->blocks) + "| "
                                      + (blocks->blocks == 1 ? "block" : "blocks");
    const auto& grid = report.grid;
    if (width > 340 && grid.size() > 1 && steps.agents == 1
        && run.index->pipelines().all.size() == 1) {
        text = "grid |" + join(grid, " × ") + "| = " + text;
    }
    canvas.state({FactKind::BytesTaken, taken.memory, static_cast<double>(taken.used.value()),
                  bytesText(taken.used)});
    const char* fits = budget.isUnfit()  ? "does not fit"
                       : budget.isOver() ? "over the limit"
                                         : "fits";
    if (budget.isUnfit()) { // there are no steps to be counted
        return "|" + bytesText(taken.used) + "| of " + bytesText(taken.capacity) + " · " + fits;
    }
    canvas.state({FactKind::BytesAllowed, taken.memory, static_cast<double>(taken.limit.value()),
                  bytesText(taken.limit)});
    const std::string bytes =
        "|" + bytesText(taken.used) + "| of " + bytesText(taken.limit) + " · " + fits;
    const std::string whole = text + " · " + bytes;
    if (textWidth(whole) > width - 2 * kPadding) {
        return bytes;
    }
    if (hasSteps) {
        canvas.state(
            {FactKind::Steps, -1, static_cast<double>(steps.steps), countText(steps.steps)});
    }
    return whole;
}

} // namespace

double paintHeading(Canvas& canvas, double y, const std::string& title, const std::string& note)
{
    const double w = canvas.width() - 2 * kPadding;
    canvas.fill(0, y - 1, canvas.width(), 1, Role::Line);
    y += 3;
    canvas.text(kPadding, y, w, kRow, title, {11, Role::Text, Weight::SemiBold, Align::Left});
    canvas.text(kPadding, y, w, kRow, note, smallText(Role::Text3, Align::Right));
    return y + kRow;
}

Scene layoutKernel(const RunView& run, const ViewState& state, Size size)
{
    Canvas canvas(size.width, size.height);
    const Budget budget = budgetOf(run, state.now);
    paintBudget(canvas, run, state, budget, paintForm(canvas, run, 1));
    std::string caption = captionOf(canvas, run, state, budget, size.width);
    if (run.notRun.empty()) { // what did not run may be shown beside another run
        caption = withKept(canvas, state, "vmem_peak_bytes", std::move(caption));
    }
    return parts::finished(std::move(canvas), "Kernel", std::move(caption), run, state);
}

double budgetHeight(const RunView& run, double width)
{
    constexpr double kUnlimited = 1e6, kWithoutChoices = 130;
    if (run.notRun.empty()) {
        return kWithoutChoices;
    }
    Canvas scratch(width, kUnlimited);
    return std::max(kWithoutChoices,
                    paintBudget(scratch, run, {}, budgetOf(run, Picoseconds(0)), 0));
}

Scene layoutBudget(const RunView& run, const ViewState& state, Size size)
{
    Canvas canvas(size.width, size.height);
    const Budget budget = budgetOf(run, state.now);
    paintBudget(canvas, run, state, budget, 0);
    std::string caption = captionOf(canvas, run, state, budget, size.width);
    if (run.notRun.empty()) { // what did not run may be shown beside another run
        caption = withKept(canvas, state, "vmem_peak_bytes", std::move(caption));
    }
    return parts::finished(std::move(canvas), "Kernel", std::move(caption), run, state);
}

} // namespace pallascope::layout
