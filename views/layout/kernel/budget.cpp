// Paints the table of what the pipeline under the playhead takes of the on-chip memory.
#include "views/layout/kernel/budget.h"

#include "core/base/format.h"
#include "core/trace/columns.h"
#include "views/layout/kernel/parts.h"
#include "views/layout/run/operand_color.h"
#include "views/layout/run/view_parts.h"

#include <algorithm>
#include <cmath>

namespace pallascope::layout {

namespace {

using parts::kPadding;
using parts::kRow;

constexpr double kSum = kRow + 3; // px of the row of the sum

BudgetRow rowOf(const RunView& run, std::int32_t number)
{
    const trace::Info& info = run.trace->info();
    const trace::Buffer& buffer = info.buffers[static_cast<std::size_t>(number)];
    BudgetRow row;
    row.color = bufferRole(run, trace::BufferRow{number});
    row.firstBuffer = number;
    row.operand = buffer.operand;
    if (buffer.operand < 0) {
        row.name = buffer.name;
        row.block = parts::arrayText(buffer.shape, buffer.dtype);
        row.buffers = "scratch";
        return row;
    }
    const trace::Operand& operand = info.operands[static_cast<std::size_t>(buffer.operand)];
    row.name = operand.name;
    row.block = parts::arrayText(operand.block, operand.dtype);
    row.buffers = std::to_string(operand.slots) + " × " + bytesText(operand.slotBytes);
    return row;
}

void paintMark(Canvas& canvas, const RunView& run, const BudgetRow& row, double x, double y)
{
    canvas.fill(x, y + 5, 8, 8, row.color);
    if (row.operand >= 0 && isRepeatedColor(run, trace::OperandRow{row.operand})) {
        canvas.fill(x, y + 5, 2, 8, Role::Text);
    }
}

// The room of the columns of a table.
struct TableColumns
{
    double name = 22, bytes = 44, buffers = 0; // px
    double blockX = 0, block = 0;
    bool wholeBlocks = true; // else their dtypes alone
};

TableColumns tableColumns(const std::vector<BudgetRow>& rows, double x, double w)
{
    TableColumns columns;
    for (const BudgetRow& row : rows) {
        columns.name = std::max(columns.name, textWidth(row.name, 11, Weight::Medium));
        columns.bytes = std::max(columns.bytes, textWidth(bytesText(row.bytes), 11) + 8);
        columns.buffers = std::max(columns.buffers, textWidth(row.buffers, 10));
    }
    columns.name = std::min(columns.name, w / 4);
    columns.blockX = x + 14 + columns.name + 8;
    columns.block = x + w - columns.bytes - columns.buffers - 8 - columns.blockX;
    columns.wholeBlocks = std::all_of(rows.begin(), rows.end(), [&](const BudgetRow& row) {
        return textWidth(row.block, 10) <= columns.block;
    });
    return columns;
}

double paintRows(Canvas& canvas, const RunView& run, const std::vector<BudgetRow>& rows, double y)
{
    const double x = kPadding;
    const double w = canvas.width() - 2 * x;
    const TableColumns columns = tableColumns(rows, x, w);
    for (const BudgetRow& row : rows) {
        paintMark(canvas, run, row, x, y);
        canvas.text(x + 14, y, columns.name + 2, kRow, row.name,
                    {11, Role::Text, Weight::Medium, Align::Left});
        const std::string block =
            columns.wholeBlocks ? row.block : row.block.substr(row.block.rfind(' ') + 1);
        if (textWidth(block, 10) <= columns.block) {
            canvas.text(columns.blockX, y, columns.block, kRow, block, smallText(Role::Text2));
        }
        if (columns.blockX + columns.buffers < x + w - columns.bytes) {
            canvas.text(x, y, w - columns.bytes, kRow, row.buffers,
                        smallText(Role::Text2, Align::Right));
        }
        canvas.text(x, y, w, kRow, bytesText(row.bytes),
                    {11, Role::Text, Weight::Regular, Align::Right});
        if (row.firstBuffer >= 0) {
            canvas.hit(x, y, w, kRow, target::Buffer{row.firstBuffer});
        }
        y += kRow;
    }
    return y;
}

// Names and bytes alone, line by line, and how many rows have no room.
double paintInTwoColumns(Canvas& canvas, const RunView& run, const std::vector<BudgetRow>& rows,
                         std::size_t lines, double y)
{
    constexpr double kBetween = 14; // px
    const double whole = canvas.width() - 2 * kPadding;
    const double w = std::floor((whole - kBetween) / 2);
    const bool isCut = rows.size() > 2 * lines;
    const std::size_t shown = isCut ? 2 * (lines - 1) : rows.size();
    for (std::size_t i = 0; i < shown; ++i) {
        const BudgetRow& row = rows[i];
        const double x = kPadding + (i % 2 == 0 ? 0 : w + kBetween);
        const double top = y + kRow * static_cast<double>(i / 2);
        const std::string bytes = bytesText(row.bytes);
        paintMark(canvas, run, row, x, top);
        canvas.text(x + 14, top, w - 14 - textWidth(bytes) - 6, kRow, row.name,
                    {11, Role::Text, Weight::Medium, Align::Left});
        canvas.text(x, top, w, kRow, bytes, {11, Role::Text, Weight::Regular, Align::Right});
        if (row.firstBuffer >= 0) {
            canvas.hit(x, top, w, kRow, target::Buffer{row.firstBuffer});
        }
    }
    y += kRow * static_cast<double>((shown + 1) / 2);
    if (isCut) {
        Bytes left;
        for (std::size_t i = shown; i < rows.size(); ++i) {
            left += rows[i].bytes;
        }
        canvas.text(kPadding + 14, y, whole - 14, kRow,
                    "and " + countText(static_cast<std::int64_t>(rows.size() - shown)) + " more",
                    smallText(Role::Text2));
        canvas.text(kPadding, y, whole, kRow, bytesText(left),
                    {11, Role::Text, Weight::Regular, Align::Right});
        y += kRow;
    }
    return y;
}

double paintSum(Canvas& canvas, const Budget& budget, double y)
{
    const double x = kPadding;
    const double w = canvas.width() - 2 * x;
    const double bytes = tableColumns(budget.rows, x, w).bytes;
    const bool scratch = std::any_of(budget.rows.begin(), budget.rows.end(),
                                     [](const BudgetRow& row) { return row.operand < 0; });
    canvas.fill(x + w - bytes, y + 1, bytes, 1, Role::Edge);
    canvas.text(x + 14, y + 2, w - 14, kRow, scratch ? "operands and scratch" : "all operands",
                smallText(Role::Text2));
    canvas.text(x, y + 2, w, kRow, bytesText(budget.taken.used),
                {11, inkOf(budget), Weight::SemiBold, Align::Right});
    y += kSum;
    if (budget.temporaries.value() > 0) {
        canvas.hatch(x, y + 5, 8, 8, Role::Text3, Role::Grid, Hatch::Estimate);
        canvas.text(x + 14, y, w - 14 - bytes, kRow, "temporaries (estimate)",
                    smallText(Role::Text2));
        canvas.text(x, y, w, kRow, bytesText(budget.temporaries),
                    {11, Role::Text2, Weight::Regular, Align::Right});
        y += kRow;
    }
    return y;
}

// Those of the pipeline under the playhead; of the whole run where the trace does not tell them
// apart.
Bytes temporariesOf(const RunView& run, const Position& position)
{
    const auto& pipelines = run.trace->info().pipelines;
    const bool areTold = std::ranges::any_of(
        pipelines, [](const trace::Pipeline& pipeline) { return pipeline.temporaries > Bytes(0); });
    return areTold && position.step ? pipelines[position.pipeline.index()].temporaries
                                    : run.report.vmemTemporariesEstimate;
}

} // namespace

Budget budgetOf(const RunView& run, Picoseconds now)
{
    const trace::Info& info = run.trace->info();
    Budget budget{positionAt(run, now), {}, {}, {}};
    budget.taken = takenAt(run, budget.position);
    // Values of a GPU are in registers.
    if (!run.report.isGpu && (info.links.empty() || budget.taken.memory == info.links.front().to)) {
        budget.temporaries = temporariesOf(run, budget.position);
    }
    for (const std::int32_t number : budget.taken.buffers) {
        const trace::Buffer& buffer = info.buffers[static_cast<std::size_t>(number)];
        if (buffer.operand < 0 || budget.rows.empty()
            || budget.rows.back().operand != buffer.operand) {
            budget.rows.push_back(rowOf(run, number));
        }
        budget.rows.back().bytes += buffer.bytes;
    }
    if (const Bytes compilers = budget.taken.compilers; compilers > Bytes(0)) {
        budget.rows.push_back({"compiler", "", "", compilers, Role::Text3});
    }
    return budget;
}

Role inkOf(const Budget& budget)
{
    if (budget.isUnfit()) {
        return Role::Error;
    }
    return budget.isOver() ? Role::Warning : Role::Text;
}

double paintTable(Canvas& canvas, const RunView& run, const Budget& budget, double y, double bottom)
{
    const double below = kSum + (budget.temporaries.value() > 0 ? kRow : 0);
    const auto lines = static_cast<std::size_t>(std::max(0.0, (bottom - y - below) / kRow));
    if (budget.rows.size() <= lines) {
        y = paintRows(canvas, run, budget.rows, y);
    } else if (lines > 0) {
        y = paintInTwoColumns(canvas, run, budget.rows, lines, y);
    }
    return (y + below <= bottom ? paintSum(canvas, budget, y) : y) + 4;
}

} // namespace pallascope::layout
