// Paints the upper part of the memory view: the arrays in HBM as strips of blocks.
#include "core/base/format.h"
#include "core/trace/columns.h"
#include "core/trace/pipelines.h"
#include "views/layout/grid/block_cells.h"
#include "views/layout/grid/cells.h"
#include "views/layout/memory/cached.h"
#include "views/layout/memory/parts.h"
#include "views/layout/run/operand_color.h"
#include "views/layout/run/told_apart.h"
#include "views/layout/run/view_parts.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <set>
#include <utility>

namespace pallascope::layout {

namespace {

using trace::at;

constexpr double kStripHead = 17;
constexpr double kBytesWidth = 72, kNarrowBytesWidth = 50; // px, in one column and in two
constexpr double kL2Bar = 40, kL2Share = 36;               // px; what came from L2, and the share
// How many cells of the array decide the colour of a box that stands for more of them.
constexpr std::int64_t kSamples = 4;

// Says where the boxes of a strip lie and which cells of its array each stands for: blocks, unless
// these may overlap or are lists, as in the grid view.
struct Strip
{
    double x = 0, width = 0;
    std::int64_t cells = 1, boxes = 1;

    [[nodiscard]] double edge(std::int64_t box) const
    {
        return std::round(x + width * static_cast<double>(box) / static_cast<double>(boxes));
    }

    // The products may not fit 64 bits: a file may say that there are 2^62 blocks.
    [[nodiscard]] std::int64_t firstCell(std::int64_t box) const
    {
        return static_cast<std::int64_t>(static_cast<__int128>(box) * cells / boxes);
    }

    [[nodiscard]] std::int64_t boxOf(std::int64_t cell) const
    {
        // This is the inverse of firstCell.
        return static_cast<std::int64_t>(((static_cast<__int128>(cell) + 1) * boxes - 1) / cells);
    }
};

// How many copies of an operand have landed where a block of another one lies.
double copiesAt(const RunView& run, std::int32_t operand, const trace::Operand& lead,
                std::int64_t block, Picoseconds now)
{
    std::int64_t most = 0;
    for (const std::int64_t own : blocksAt(run.trace->info().operands[at(operand)], lead, block)) {
        most = std::max(most, run.index->blockStateAt(trace::OperandRow{operand}, own, now).copies);
    }
    return static_cast<double>(most);
}

Color stripFill(const RunView& run, const std::vector<std::int32_t>& operands,
                const ArrayCells& cells, std::int64_t first, std::int64_t last, Picoseconds now)
{
    const trace::Operand& lead = run.trace->info().operands[at(operands.front())];
    const std::int64_t stride = std::max<std::int64_t>(1, (last - first) / kSamples);
    double copies = 0;
    double touched = 0;
    double looked = 0;
    for (std::int64_t cell = first; cell < last; cell += stride) {
        ++looked;
        const std::optional<std::int64_t> block = cells.blockAt(cell);
        if (!block) {
            continue;
        }
        double ofBlock = 0;
        for (const std::int32_t operand : operands) {
            if (run.index->sharing(trace::OperandRow{operand}).front()
                == operand) { // it counts for all that share
                ofBlock += copiesAt(run, operand, lead, *block, now);
            }
        }
        copies += ofBlock;
        touched += ofBlock > 0 ? 1 : 0;
    }
    if (touched == 0) {
        return mix(Role::Text, 0.07);
    }
    const bool output = parts::writes(lead);
    const double share = output ? 0.50 : std::min(0.66, 0.18 + 0.06 * copies / touched);
    return mix(operandRole(run, trace::OperandRow{operands.front()}),
               share * std::max(0.35, touched / looked));
}

// The boxes of a strip that show a block of one of its operands, each once.
std::set<std::int64_t> boxesOf(const RunView& run, std::int32_t lead, const ArrayCells& cells,
                               const Strip& strip, std::int32_t operand, std::int64_t block)
{
    const auto& all = run.trace->info().operands;
    std::set<std::int64_t> boxes;
    for (const std::int64_t own : blocksAt(all[at(lead)], all[at(operand)], block)) {
        for (const std::int64_t cell : cells.cellsOf(own)) {
            boxes.insert(strip.boxOf(cell));
        }
    }
    return boxes;
}

void paintStrip(Canvas& canvas, const RunView& run, const std::vector<std::int32_t>& operands,
                const ArrayCells& cells, const Strip& strip, double y, double height,
                Picoseconds now)
{
    const trace::Trace& trace = *run.trace;
    const double gap = strip.width / static_cast<double>(strip.boxes) >= 3 ? 1 : 0;
    for (std::int64_t box = 0; box < strip.boxes; ++box) {
        const double x = strip.edge(box);
        const double w = std::max(1.0, strip.edge(box + 1) - x - gap);
        const std::int64_t cell = strip.firstCell(box);
        canvas.fill(x, y, w, height,
                    stripFill(run, operands, cells, cell, strip.firstCell(box + 1), now));
        if (const std::optional<std::int64_t> block = cells.blockAt(cell)) {
            canvas.hit(x, y, w + gap, height, target::Block{operands.front(), *block});
        }
    }
    for (std::size_t link = 0; link < trace.info().links.size(); ++link) {
        const trace::CopyRange range = trace::copiesInFlight(trace, trace::LinkRow::at(link), now);
        const trace::Copies& copies = trace.copies();
        if (range.empty() || copies.start[range.first] > now.value()
            || std::find(operands.begin(), operands.end(), copies.operand[range.first])
                   == operands.end()) {
            continue;
        }
        const std::int32_t operand = copies.operand[range.first];
        const std::int64_t block = copies.block[range.first];
        for (const std::int64_t box :
             boxesOf(run, operands.front(), cells, strip, operand, block)) {
            const double x = strip.edge(box);
            const double w = std::max(2.0, strip.edge(box + 1) - x - gap);
            canvas.fill(x, y, w, height, operandRole(run, trace::OperandRow{operand}));
            canvas.fill(x, y + height + 1, w, 2, Role::Text);
            canvas.hit(x, y, w, height, target::Block{operand, block});
        }
    }
}

// Paints the name of the memory and how much of it the arrays take.
void paintStripsHead(Canvas& canvas, const RunView& run, const Strips& strips, double y)
{
    const trace::Info& info = run.trace->info();
    const double x = parts::kPadding;
    const double w = canvas.width() - 2 * x;
    Bytes arrays;
    std::set<std::pair<std::int32_t, std::string>> seen; // arrays of older files have no numbers
    for (const std::vector<std::int32_t>& strip : strips) {
        const trace::Operand& operand = info.operands[static_cast<std::size_t>(strip.front())];
        const std::string name =
            operand.arrayNumber >= 0 ? "" : operand.name + toString(operand.array);
        if (seen.emplace(operand.arrayNumber, name).second) {
            arrays += wholeBytes(operand);
        }
    }
    std::string name = "HBM";
    std::string held = bytesText(arrays);
    if (!info.links.empty()) {
        const trace::Memory& memory = info.memories[static_cast<std::size_t>(info.links[0].from)];
        name = memory.name;
        held += " of " + bytesText(memory.capacity);
    }
    const double heading = textWidth(name, 11, Weight::SemiBold) + 8;
    canvas.text(x, y, heading, 16, name, {11, Role::Hbm, Weight::SemiBold, Align::Left});
    const std::string right = run.report.l2            ? "moved so far, of reads from L2"
                              : info.deviceCount() > 1 ? "read or written by all devices"
                                                       : "read or written so far";
    const bool bothFit = heading + textWidth(held, 10) + textWidth(right, 10) + 10 < w;
    canvas.text(x + heading, y, w - heading, 16, held,
                {10, Role::Text3, Weight::Regular, Align::Left});
    if (bothFit) {
        canvas.text(x, y, w, 16, right, {10, Role::Text3, Weight::Regular, Align::Right});
    }
}

struct StripRow // where the strip of an array stands, and how it is called
{
    Rect rect;
    std::string name;
    Bytes moved;
    double nameWidth = 0, bytesWidth = 0, l2Width = 0;
};

// How much of what was read L2 had: a bar where there is room, and the share.
void paintFromL2(Canvas& canvas, const RunView& run, const std::vector<std::int32_t>& operands,
                 Picoseconds now, Rect rect)
{
    const std::optional<FromL2> read = fromL2(run, operands, now);
    if (!read) {
        return;
    }
    const double share = read->share();
    if (rect.w >= kL2Bar + kL2Share) {
        const Role role = operandRole(run, trace::OperandRow{operands.front()});
        canvas.fill(rect.x + 8, rect.y + 5, kL2Bar - 8, rect.h - 12, mix(role, 0.25));
        canvas.fill(rect.x + 8, rect.y + 5, std::round((kL2Bar - 8) * share), rect.h - 12, role);
    }
    canvas.text(rect.x, rect.y, rect.w, rect.h - 2, percentText(share, 0),
                {11, Role::Text2, Weight::Regular, Align::Right});
    canvas.state(
        {FactKind::BytesFromL2, operands.front(), static_cast<double>(read->hit.value()), {}});
}

void paintStripRow(Canvas& canvas, const RunView& run, const std::vector<std::int32_t>& operands,
                   Picoseconds now, const StripRow& row)
{
    const Rect& rect = row.rect;
    canvas.text(rect.x, rect.y, row.nameWidth, rect.h - 2, row.name,
                {11, Role::Text, Weight::Mono, Align::Left});
    const trace::OperandRow lead{operands.front()};
    const trace::Operand& operand = run.trace->info().operands[lead.index()];
    Strip strip;
    strip.x = rect.x + row.nameWidth + 8;
    const double end = rect.right() - row.l2Width;
    strip.width = end - row.bytesWidth - 2 - strip.x;
    strip.cells = cellTotal(operand, run.index->windows(lead));
    strip.boxes = std::clamp<std::int64_t>(static_cast<std::int64_t>(strip.width), 1,
                                           std::max<std::int64_t>(strip.cells, 1));
    if (strip.width >= 16) {
        paintStrip(canvas, run, operands, {run, lead, now}, strip, rect.y + 3, rect.h - 8, now);
    }
    canvas.text(end - row.bytesWidth, rect.y, row.bytesWidth, rect.h - 2, bytesText(row.moved),
                {11, Role::Text, Weight::Regular, Align::Right});
    if (row.l2Width > 0) {
        paintFromL2(canvas, run, operands, now, {end, rect.y, row.l2Width, rect.h});
    }
    canvas.state({FactKind::BytesMoved, operands.front(), static_cast<double>(row.moved.value()),
                  bytesText(row.moved)});
}

// Many arrays stand in two columns, where there is room for them.
std::size_t columnsOf(const Strips& strips, double width)
{
    constexpr std::size_t kMany = 6;
    constexpr double kLeastWidth = 320; // px of the view
    return strips.size() > kMany && width >= kLeastWidth ? 2 : 1;
}

// The array alone; with where it is copied to or from where several arrays have that name, or where
// no strip shows the array to which it is copied.
std::string stripName(const RunView& run, const Strips& strips, std::size_t strip)
{
    const trace::Info& info = run.trace->info();
    const auto of = [&](std::size_t i) -> const trace::Operand& {
        return info.operands[at(strips[i].front())];
    };
    for (const std::int32_t operand : strips[strip]) {
        if (writesElsewhere(run, strips, operand)) {
            return info.operands[at(operand)].name;
        }
    }
    for (std::size_t i = 0; i < strips.size(); ++i) {
        if (i != strip && trace::arrayName(of(i)) == trace::arrayName(of(strip))) {
            return of(strip).name;
        }
    }
    return std::string(trace::arrayName(of(strip)));
}

// All of them, told apart within a width.
std::vector<std::string> stripNames(const RunView& run, const Strips& strips, double width)
{
    std::vector<std::int32_t> operands;
    std::vector<std::string> names;
    for (std::size_t i = 0; i < strips.size(); ++i) {
        operands.push_back(strips[i].front());
        names.push_back(stripName(run, strips, i));
    }
    return toldApart(run, operands, std::move(names), [width](const std::string& name) {
        return textWidth(name, 11, Weight::Mono) <= width;
    });
}

} // namespace

double stripsHeight(const Strips& strips, Size view, double room)
{
    const double row = view.height > 500 ? 22 : 19;
    const double most =
        std::min(std::floor(view.height * 0.4 / row), std::floor((room - kStripHead - 6) / row));
    const std::size_t columns = columnsOf(strips, view.width);
    const std::size_t rows = (strips.size() + columns - 1) / columns;
    return kStripHead + std::min(static_cast<double>(rows), std::max(3.0, most)) * row + 6;
}

double paintStrips(Canvas& canvas, const RunView& run, const Strips& strips, Picoseconds now,
                   double y, double height)
{
    const double x = parts::kPadding;
    const double w = canvas.width() - 2 * x;
    paintStripsHead(canvas, run, strips, y);
    const double top = y + kStripHead;
    const double body = height - kStripHead;
    const std::size_t columns = columnsOf(strips, canvas.width());
    const std::size_t needed = (strips.size() + columns - 1) / columns;
    const double row = body - 6 >= 22 * static_cast<double>(needed) ? 22 : 19;
    const auto rows = std::min(needed, static_cast<std::size_t>((body - 5) / row));
    canvas.fill(x, top, w, body, mix(Role::Hbm, 0.08));
    canvas.fill(x, top, 3, body, Role::Hbm);
    const double pitch = (w - 10) / static_cast<double>(columns);
    const std::vector<Bytes> moved = bytesMoved(run, strips, now);
    constexpr double kLeastStrip = 30; // px, with what lies around it
    const double mostName = columns > 1 ? pitch - kNarrowBytesWidth - 12 - kLeastStrip : w * 0.36;
    const std::vector<std::string> names = stripNames(run, strips, mostName);
    double nameWidth = 28;
    for (const std::string& name : names) {
        nameWidth = std::max(nameWidth, textWidth(name, 11, Weight::Mono));
    }
    nameWidth = std::min(nameWidth, mostName);
    const double l2Width = !run.report.l2 ? 0 : pitch >= 400 ? kL2Bar + kL2Share : kL2Share;
    for (std::size_t i = 0; i < std::min(strips.size(), rows * columns); ++i) {
        const double left = x + 10 + pitch * static_cast<double>(i / rows);
        const double rowY = top + 3 + static_cast<double>(i % rows) * row;
        if (i + 1 == rows * columns && i + 1 < strips.size()) {
            canvas.text(left, rowY, pitch - 10, row - 2,
                        fmt::format("and {} more", strips.size() - i),
                        {10, Role::Text3, Weight::Regular, Align::Left});
            break;
        }
        const double right = i / rows + 1 < columns ? left + pitch - 12 : x + w - 6;
        paintStripRow(canvas, run, strips[i], now,
                      {{left, rowY, right - left, row},
                       names[i],
                       moved[i],
                       nameWidth,
                       columns > 1 ? kNarrowBytesWidth : kBytesWidth,
                       l2Width});
    }
    return y + height;
}

} // namespace pallascope::layout
