// Makes the scene of the kernel view: the parameters as a form that only shows (for pictures; the
// window has fields of its own), the VMEM budget, and what other choices would give.
#include "views/layout/kernel/kernel.h"

#include "core/base/format.h"
#include "views/layout/kernel/parts.h"
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

struct BudgetRow
{
    std::string name, block, buffers;
    Bytes bytes;
    Color color;
    std::int32_t operand = -1;
    std::int32_t firstBuffer = -1;
};

std::vector<BudgetRow> budgetRows(const RunView& run)
{
    const trace::Info& info = run.trace->info();
    std::vector<BudgetRow> rows;
    const auto isTaken = [&rows](std::int32_t BudgetRow::*number, std::size_t i) {
        return std::any_of(rows.begin(), rows.end(), [&](const BudgetRow& row) {
            return row.*number == static_cast<std::int32_t>(i);
        });
    };
    for (const analysis::UsedMemory& used : run.report.vmemByOperand) {
        BudgetRow row;
        row.name = used.operand;
        row.bytes = used.bytes;
        row.color = Role::Vmem;
        for (std::size_t i = 0; i < info.operands.size() && !used.scratch; ++i) {
            const trace::Operand& operand = info.operands[i];
            if (operand.name == used.operand && !isTaken(&BudgetRow::operand, i)) {
                row.operand = static_cast<std::int32_t>(i);
                row.color = operandRole(row.operand);
                row.block = parts::arrayText(operand.block, operand.dtype);
                row.buffers = std::to_string(operand.slots) + " × " + bytesText(operand.slotBytes);
                row.firstBuffer = operand.firstBuffer;
                break;
            }
        }
        for (std::size_t i = 0; i < info.buffers.size() && used.scratch; ++i) {
            const trace::Buffer& buffer = info.buffers[i];
            if (buffer.operand < 0 && buffer.name == used.operand && buffer.bytes == used.bytes
                && !isTaken(&BudgetRow::firstBuffer, i)) { // several may lack a name
                row.block = parts::arrayText(buffer.shape, buffer.dtype);
                row.buffers = "scratch";
                row.firstBuffer = static_cast<std::int32_t>(i);
                break;
            }
        }
        rows.push_back(std::move(row));
    }
    return rows;
}

// What a budget is written in: fits, over the scoped limit, over the memory.
Role inkOf(const analysis::Report& report)
{
    if (report.vmemPeak > report.vmemCapacity) {
        return Role::Error;
    }
    return report.vmemPeak > report.vmemScopedLimit ? Role::Warning : Role::Text;
}

double paintBar(Canvas& canvas, const RunView& run, const std::vector<BudgetRow>& rows, double y)
{
    const double x = kPadding;
    const double w = canvas.width() - 2 * x;
    const analysis::Report& report = run.report;
    const bool over = report.vmemPeak > report.vmemScopedLimit;
    const bool unfit = report.vmemPeak > report.vmemCapacity;
    const Bytes scale = std::max(unfit  ? report.vmemPeak
                                 : over ? report.vmemCapacity
                                        : report.vmemScopedLimit,
                                 Bytes(1));
    const auto at = [&](Bytes bytes) { return x + w * std::min(1.0, ratio(bytes, scale)); };
    canvas.fill(x, y, w, 14, Role::Grid);
    Bytes sum;
    for (const BudgetRow& row : rows) {
        const double left = at(sum);
        sum += row.bytes;
        canvas.fill(left, y, std::max(1.0, at(sum) - left - 1), 14, row.color);
        if (row.firstBuffer >= 0) {
            canvas.hit(left, y, at(sum) - left, 14, target::Buffer{row.firstBuffer});
        }
    }
    if (report.vmemTemporariesEstimate.value() > 0) {
        const double left = at(sum);
        canvas.hatch(left, y, at(sum + report.vmemTemporariesEstimate) - left, 14, Role::Text3,
                     Role::Grid, Hatch::Estimate);
    }
    canvas.fill(at(report.vmemScopedLimit) - 1, y - 3, 1, 20, Role::Text);
    if (unfit) { // what lies over the memory is hatched, and a thick tick ends the memory
        const double end = at(report.vmemCapacity);
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
    tick(std::min(report.vmemPeak, report.vmemScopedLimit));
    tick(unfit ? report.vmemCapacity : std::max(report.vmemPeak, report.vmemScopedLimit));
    return y + 33;
}

double paintTable(Canvas& canvas, const RunView& run, const std::vector<BudgetRow>& rows, double y)
{
    const double x = kPadding;
    const double w = canvas.width() - 2 * x;
    double nameWidth = 22;
    double bytesWidth = 44;
    double buffersWidth = 0;
    for (const BudgetRow& row : rows) {
        nameWidth = std::max(nameWidth, textWidth(row.name, 11, Weight::Medium));
        bytesWidth = std::max(bytesWidth, textWidth(bytesText(row.bytes), 11) + 8);
        buffersWidth = std::max(buffersWidth, textWidth(row.buffers, 10));
    }
    nameWidth = std::min(nameWidth, w / 4);
    const double blockX = x + 14 + nameWidth + 8;
    const double blockWidth = x + w - bytesWidth - buffersWidth - 8 - blockX;
    const bool wholeBlocks = std::all_of(rows.begin(), rows.end(), [&](const BudgetRow& row) {
        return textWidth(row.block, 10) <= blockWidth;
    });
    for (const BudgetRow& row : rows) {
        canvas.fill(x, y + 5, 8, 8, row.color);
        if (row.operand >= 6) {
            canvas.fill(x, y + 5, 2, 8, Role::Text);
        }
        canvas.text(x + 14, y, nameWidth + 2, kRow, row.name,
                    {11, Role::Text, Weight::Medium, Align::Left});
        const std::string block =
            wholeBlocks ? row.block : row.block.substr(row.block.rfind(' ') + 1);
        if (textWidth(block, 10) <= blockWidth) {
            canvas.text(blockX, y, blockWidth, kRow, block, smallText(Role::Text2));
        }
        if (blockX + buffersWidth < x + w - bytesWidth) {
            canvas.text(x, y, w - bytesWidth, kRow, row.buffers,
                        smallText(Role::Text2, Align::Right));
        }
        canvas.text(x, y, w, kRow, bytesText(row.bytes),
                    {11, Role::Text, Weight::Regular, Align::Right});
        if (row.firstBuffer >= 0) {
            canvas.hit(x, y, w, kRow, target::Buffer{row.firstBuffer});
        }
        y += kRow;
    }
    const bool scratch =
        std::any_of(rows.begin(), rows.end(), [](const BudgetRow& row) { return row.operand < 0; });
    canvas.fill(x + w - bytesWidth, y + 1, bytesWidth, 1, Role::Edge);
    canvas.text(x + 14, y + 2, w - 14, kRow, scratch ? "operands and scratch" : "all operands",
                smallText(Role::Text2));
    canvas.text(x, y + 2, w, kRow, bytesText(run.report.vmemPeak),
                {11, inkOf(run.report), Weight::SemiBold, Align::Right});
    y += kRow + 3;
    if (run.report.vmemTemporariesEstimate.value() > 0) {
        canvas.hatch(x, y + 5, 8, 8, Role::Text3, Role::Grid, Hatch::Estimate);
        canvas.text(x + 14, y, w - 14 - bytesWidth, kRow, "temporaries (estimate)",
                    smallText(Role::Text2));
        canvas.text(x, y, w, kRow, bytesText(run.report.vmemTemporariesEstimate),
                    {11, Role::Text2, Weight::Regular, Align::Right});
        y += kRow;
    }
    return y + 4;
}

double paintBudget(Canvas& canvas, const RunView& run, double y)
{
    const double x = kPadding;
    const double w = canvas.width() - 2 * x;
    const analysis::Report& report = run.report;
    const std::vector<BudgetRow> rows = budgetRows(run);
    canvas.text(x, y, w, kRow, "VMEM budget", {11, Role::Text, Weight::SemiBold, Align::Left});
    const bool unfit = report.vmemPeak > report.vmemCapacity;
    const Bytes limit = unfit ? report.vmemCapacity : report.vmemScopedLimit;
    const double share = limit.value() > 0 ? ratio(report.vmemPeak, limit) : 0;
    const Role ink = inkOf(report) == Role::Text ? Role::Text2 : inkOf(report);
    canvas.text(x + 80, y, w - 80, kRow,
                percentText(share, 0) + (unfit ? " of the memory" : " of the scoped limit"),
                smallText(ink, Align::Right));
    y = paintBar(canvas, run, rows, y + 21);
    if (!run.notRun.empty()) { // what fits is more urgent than what each operand takes
        y = paintChoices(canvas, run, y + 4) + 8;
        canvas.fill(0, y - 4, canvas.width(), 1, Role::Line);
        return paintTable(canvas, run, rows, y);
    }
    return paintChoices(canvas, run, paintTable(canvas, run, rows, y));
}

std::string captionOf(const RunView& run, double width)
{
    const analysis::Report& report = run.report;
    std::string steps =
        "|" + countText(report.steps) + "| " + (report.steps == 1 ? "step" : "steps");
    if (width > 340 && report.grid.size() > 1) {
        steps = "grid |" + join(report.grid, " × ") + "| = " + steps;
    }
    const char* fits = report.vmemPeak > report.vmemCapacity      ? "does not fit"
                       : report.vmemPeak > report.vmemScopedLimit ? "over the limit"
                                                                  : "fits";
    if (report.vmemPeak > report.vmemCapacity) { // there are no steps to be counted
        return "|" + bytesText(report.vmemPeak) + "| of " + bytesText(report.vmemCapacity) + " · "
               + fits;
    }
    const std::string bytes = "|" + bytesText(report.vmemPeak) + "| of "
                              + bytesText(report.vmemScopedLimit) + " · " + fits;
    const std::string whole = steps + " · " + bytes;
    return textWidth(whole) <= width - 2 * kPadding ? whole : bytes;
}

} // namespace

Scene layoutKernel(const RunView& run, const ViewState& state, Size size)
{
    Canvas canvas(size.width, size.height);
    paintBudget(canvas, run, paintForm(canvas, run, 1));
    return parts::finished(std::move(canvas), "Kernel", captionOf(run, size.width), run, state);
}

double budgetHeight(const RunView& run, double width)
{
    constexpr double kUnlimited = 1e6, kWithoutChoices = 130;
    if (run.notRun.empty()) {
        return kWithoutChoices;
    }
    Canvas scratch(width, kUnlimited);
    return std::max(kWithoutChoices, paintBudget(scratch, run, 0));
}

Scene layoutBudget(const RunView& run, const ViewState& state, Size size)
{
    Canvas canvas(size.width, size.height);
    paintBudget(canvas, run, 0);
    return parts::finished(std::move(canvas), "Kernel", captionOf(run, size.width), run, state);
}

} // namespace pallascope::layout
