// Paints the upper half of the memory view: the arrays in HBM, and the link between HBM and the
// chip.
#include "core/base/format.h"
#include "views/layout/grid/block_cells.h"
#include "views/layout/memory/parts.h"
#include "views/layout/run/operand_color.h"
#include "views/layout/run/position.h"
#include "views/layout/run/view_parts.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <map>
#include <set>
#include <tuple>
#include <utility>

namespace pallascope::layout {

namespace {

constexpr double kStripHead = 17;
constexpr double kBytesWidth = 72;
// How many blocks decide the colour of a cell of a folded strip.
constexpr std::int64_t kSamples = 4;

// Says where the cells of a strip lie and which blocks each stands for.
struct Strip
{
    double x = 0, width = 0;
    std::int64_t blocks = 1, cells = 1;

    [[nodiscard]] double edge(std::int64_t cell) const
    {
        return std::round(x + width * static_cast<double>(cell) / static_cast<double>(cells));
    }

    [[nodiscard]] std::int64_t firstBlock(std::int64_t cell) const { return cell * blocks / cells; }

    [[nodiscard]] std::int64_t cellOf(std::int64_t block) const
    {
        // This is the inverse of firstBlock.
        return ((block + 1) * cells - 1) / blocks;
    }
};

Color stripFill(const RunView& run, const std::vector<std::int32_t>& operands, std::int64_t first,
                std::int64_t last, Picoseconds now)
{
    const std::int64_t stride = std::max<std::int64_t>(1, (last - first) / kSamples);
    double copies = 0;
    double touched = 0;
    double looked = 0;
    for (std::int64_t block = first; block < last; block += stride) {
        double ofBlock = 0;
        for (const std::int32_t operand : operands) {
            if (run.index->sharing(operand).front() == operand) { // it counts for all that share
                ofBlock += static_cast<double>(run.index->blockStateAt(operand, block, now).copies);
            }
        }
        copies += ofBlock;
        touched += ofBlock > 0 ? 1 : 0;
        ++looked;
    }
    if (touched == 0) {
        return mix(Role::Text, 0.07);
    }
    const trace::Info& info = run.trace->info();
    const bool output = parts::writes(info.operands[static_cast<std::size_t>(operands.front())]);
    const double share = output ? 0.50 : std::min(0.66, 0.18 + 0.06 * copies / touched);
    return mix(operandRole(run, operands.front()), share * std::max(0.35, touched / looked));
}

void paintStrip(Canvas& canvas, const RunView& run, const std::vector<std::int32_t>& operands,
                const Strip& strip, double y, double height, Picoseconds now)
{
    const trace::Trace& trace = *run.trace;
    const double gap = strip.width / static_cast<double>(strip.cells) >= 3 ? 1 : 0;
    for (std::int64_t cell = 0; cell < strip.cells; ++cell) {
        const double x = strip.edge(cell);
        const double w = std::max(1.0, strip.edge(cell + 1) - x - gap);
        const std::int64_t block = strip.firstBlock(cell);
        canvas.fill(x, y, w, height,
                    stripFill(run, operands, block, strip.firstBlock(cell + 1), now));
        canvas.hit(x, y, w + gap, height, target::Block{operands.front(), block});
    }
    for (std::size_t link = 0; link < trace.info().links.size(); ++link) {
        const trace::CopyRange range =
            trace::copiesInFlight(trace, static_cast<std::int32_t>(link), now);
        const trace::Copies& copies = trace.copies();
        if (range.empty() || copies.start[range.first] > now.value()
            || std::find(operands.begin(), operands.end(), copies.operand[range.first])
                   == operands.end()) {
            continue;
        }
        const std::int32_t operand = copies.operand[range.first];
        const std::int64_t block = copies.block[range.first];
        const double x = strip.edge(strip.cellOf(block));
        const double w = std::max(2.0, strip.edge(strip.cellOf(block) + 1) - x - gap);
        canvas.fill(x, y, w, height, operandRole(run, operand));
        canvas.fill(x, y + height + 1, w, 2, Role::Text);
        canvas.hit(x, y, w, height, target::Block{operand, block});
    }
}

// Between two ends in HBM what moves is read and written: it counts as in the report.
Bytes bytesMoved(const RunView& run, const std::vector<std::int32_t>& operands, Picoseconds now)
{
    double moved = 0;
    for (const std::int32_t operand : operands) {
        moved += run.index->movedBytes(operand, now);
    }
    return Bytes(std::llround(moved));
}

// Paints the blocks in the queue in issue order, as many as fit.
void paintQueue(Canvas& canvas, const RunView& run, trace::CopyRange range, double y,
                Picoseconds now)
{
    const trace::Trace& trace = *run.trace;
    const trace::Copies& copies = trace.copies();
    const double right = canvas.width() - parts::kPadding;
    double x = parts::kPadding;
    const auto nameOf = [&](std::size_t row) {
        return fmt::format("{} {}", copies.out[row] != 0 ? "↑" : "↓",
                           trace::copyLabel(trace, trace::CopyRow::at(row)));
    };
    double all = 0;
    for (std::size_t row = range.first; row < range.last && all < right; ++row) {
        all += textWidth(nameOf(row), 10, Weight::Medium) + textWidth("waits", 10) + 25;
    }
    const bool roomForWords = all < right - x;
    for (std::size_t row = range.first; row < range.last; ++row) {
        const bool moving = copies.start[row] <= now.value();
        const double fraction = trace::copyFraction(trace, trace::CopyRow::at(row), now);
        const std::string name = nameOf(row);
        const std::string word = moving         ? percentText(fraction, 0)
                                 : roomForWords ? std::string("waits")
                                                : std::string();
        // The width for "100 %" is kept free, so that the moving block keeps its width while its
        // percentage grows.
        const double wordWidth = word.empty() ? 0 : textWidth(moving ? "100 %" : word, 10) + 8;
        const double width = textWidth(name, 10, Weight::Medium) + wordWidth + 12;
        const auto left = static_cast<std::int64_t>(range.last - row);
        const std::string more = fmt::format("+{}", left);
        const double reserve = left > 1 ? textWidth(more, 10) + 8 : 0;
        if (x + width + reserve > right) {
            canvas.text(x, y, right - x, 18, more, {10, Role::Text2, Weight::Medium, Align::Left});
            return;
        }
        const Role role = operandRole(run, copies.operand[row]);
        canvas.fill(x, y, width, 18, mix(role, 0.12));
        if (moving) {
            canvas.fill(x, y, width * fraction, 18, mix(role, 0.34));
            canvas.frame(x, y, width, 18, role);
        } else {
            canvas.dashedFrame(x, y, width, 18, role);
        }
        canvas.text(x + 6, y, width - 6, 18, name, {10, Role::Text, Weight::Medium, Align::Left});
        canvas.text(x, y, width - 6, 18, word, {10, Role::Text2, Weight::Regular, Align::Right});
        canvas.hit(x, y, width, 18, target::Copy{static_cast<std::int64_t>(row)});
        x = std::round(x + width) + 5;
    }
}

void paintScale(Canvas& canvas, const trace::Link& link, double x, double width, double full,
                double y)
{
    const auto mark = [&](BytesPerSecond rate) { return x + width * rate.value() / full; };
    const double datasheet = mark(link.datasheet);
    const double achieved = mark(link.achieved);
    canvas.fill(datasheet, y - 3, 1, 16, Role::Text2);
    const TextStyle style = {10, Role::Text3, Weight::Regular, Align::Center};
    const auto number = [](BytesPerSecond rate) {
        const std::string text = bandwidthText(rate.value());
        return text.substr(0, text.rfind(' '));
    };
    canvas.text(datasheet - 24, y - 17, 48, 13, number(link.datasheet), style);
    if (link.achieved.value() < link.datasheet.value()) {
        canvas.dashedVertical(achieved, y - 3, y + 13, Role::Text2);
        const double apart =
            (textWidth(number(link.datasheet), 10) + textWidth(number(link.achieved), 10)) / 2;
        if (datasheet - achieved > apart + 4) {
            canvas.text(achieved - 24, y - 17, 48, 13, number(link.achieved), style);
        }
    }
}

// Paints the name of the memory and how much of it the arrays take.
void paintStripsHead(Canvas& canvas, const trace::Info& info, const Strips& strips, double y)
{
    const double x = parts::kPadding;
    const double w = canvas.width() - 2 * x;
    Bytes arrays;
    std::set<std::string> seen;
    for (const std::vector<std::int32_t>& strip : strips) {
        const trace::Operand& operand = info.operands[static_cast<std::size_t>(strip.front())];
        if (seen.insert(operand.name + toString(operand.array)).second) {
            arrays += operand.arrayBytes;
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
    const std::string right = "read or written so far";
    const bool bothFit = heading + textWidth(held, 10) + textWidth(right, 10) + 10 < w;
    canvas.text(x + heading, y, w - heading, 16, held,
                {10, Role::Text3, Weight::Regular, Align::Left});
    if (bothFit) {
        canvas.text(x, y, w, 16, right, {10, Role::Text3, Weight::Regular, Align::Right});
    }
}

// The array alone; with where it is copied to or from where several strips are of that array.
std::string stripName(const trace::Info& info, const Strips& strips, std::size_t strip)
{
    const auto of = [&](std::size_t i) -> const trace::Operand& {
        return info.operands[static_cast<std::size_t>(strips[i].front())];
    };
    for (std::size_t i = 0; i < strips.size(); ++i) {
        if (i != strip && trace::arrayName(of(i)) == trace::arrayName(of(strip))) {
            return of(strip).name;
        }
    }
    return std::string(trace::arrayName(of(strip)));
}

} // namespace

Strips stripsOf(const RunView& run, Picoseconds now)
{
    const trace::Info& info = run.trace->info();
    const Position position = positionAt(run, now);
    const auto keyOf = [](const trace::Operand& operand) {
        return std::tuple(operand.name, toString(operand.array), toString(operand.block),
                          operand.dtype, operand.direction, operand.pipeline == trace::kNone);
    };
    std::map<decltype(keyOf(info.operands.front())), std::size_t> known;
    Strips strips;
    for (std::size_t i = 0; i < info.operands.size(); ++i) {
        const auto [place, isNew] = known.try_emplace(keyOf(info.operands[i]), strips.size());
        if (isNew) {
            strips.emplace_back();
        }
        strips[place->second].push_back(static_cast<std::int32_t>(i));
    }
    const auto isOfNow = [&](std::int32_t operand) {
        const std::int32_t pipeline = info.operands[static_cast<std::size_t>(operand)].pipeline;
        return pipeline < 0
               || run.index->pipelines().ofPipeline[static_cast<std::size_t>(pipeline)]
                      == position.kind;
    };
    std::stable_sort(strips.begin(), strips.end(), [&](const auto& a, const auto& b) {
        const auto rank = [&](const std::vector<std::int32_t>& strip) {
            const trace::Operand& of = info.operands[static_cast<std::size_t>(strip.front())];
            const bool byHand = of.pipeline == trace::kNone;
            const bool isOther = std::none_of(strip.begin(), strip.end(), isOfNow);
            return std::tuple(byHand, isOther, byHand ? -of.arrayBytes.value() : 0);
        };
        return rank(a) < rank(b);
    });
    return strips;
}

double stripsHeight(const Strips& strips, double view, double room)
{
    const double row = view > 500 ? 22 : 19;
    const double most =
        std::min(std::floor(view * 0.4 / row), std::floor((room - kStripHead - 6) / row));
    return kStripHead + std::min(static_cast<double>(strips.size()), std::max(3.0, most)) * row + 6;
}

double paintStrips(Canvas& canvas, const RunView& run, const Strips& strips, Picoseconds now,
                   double y, double height)
{
    const trace::Info& info = run.trace->info();
    const double x = parts::kPadding;
    const double w = canvas.width() - 2 * x;
    paintStripsHead(canvas, info, strips, y);
    double nameWidth = 28;
    std::vector<std::string> names;
    for (std::size_t i = 0; i < strips.size(); ++i) {
        names.push_back(stripName(info, strips, i));
        nameWidth = std::max(nameWidth, textWidth(names.back(), 11, Weight::Mono));
    }
    nameWidth = std::min(nameWidth, w / 4);
    const double top = y + kStripHead;
    const double body = height - kStripHead;
    const double row = body - 6 >= 22 * static_cast<double>(strips.size()) ? 22 : 19;
    const auto rows = std::min(strips.size(), static_cast<std::size_t>((body - 5) / row));
    canvas.fill(x, top, w, body, mix(Role::Hbm, 0.08));
    canvas.fill(x, top, 3, body, Role::Hbm);
    for (std::size_t i = 0; i < rows; ++i) {
        const trace::Operand& operand = info.operands[static_cast<std::size_t>(strips[i].front())];
        const double rowY = top + 3 + static_cast<double>(i) * row;
        const bool rest = i + 1 == rows && rows < strips.size();
        if (rest) {
            canvas.text(x + 10, rowY, w - 20, row - 2,
                        fmt::format("and {} more", strips.size() - i),
                        {10, Role::Text3, Weight::Regular, Align::Left});
            break;
        }
        canvas.text(x + 10, rowY, nameWidth, row - 2, names[i],
                    {11, Role::Text, Weight::Mono, Align::Left});
        Strip strip;
        strip.x = x + 10 + nameWidth + 8;
        strip.width = x + w - kBytesWidth - 8 - strip.x;
        strip.blocks = parts::blockTotal(operand);
        strip.cells = std::clamp<std::int64_t>(static_cast<std::int64_t>(strip.width), 1,
                                               std::max<std::int64_t>(strip.blocks, 1));
        if (strip.width >= 16) {
            paintStrip(canvas, run, strips[i], strip, rowY + 3, row - 8, now);
        }
        const Bytes moved = bytesMoved(run, strips[i], now);
        canvas.text(x + w - kBytesWidth - 6, rowY, kBytesWidth, row - 2, bytesText(moved),
                    {11, Role::Text, Weight::Regular, Align::Right});
        canvas.state({FactKind::BytesMoved, strips[i].front(), static_cast<double>(moved.value()),
                      bytesText(moved)});
    }
    return y + height;
}

double paintLink(Canvas& canvas, const RunView& run, Picoseconds now, std::int32_t index, double y)
{
    const trace::Trace& trace = *run.trace;
    const trace::Link& link = trace.info().links[static_cast<std::size_t>(index)];
    const trace::Copies& copies = trace.copies();
    const double x = parts::kPadding;
    const double w = canvas.width() - 2 * x;
    const double full = link.datasheet.value() * 1.1;
    const double bar = y + 17;
    const std::string name = link.name + " link";
    const double nameWidth = textWidth(name, 11, Weight::Medium);
    canvas.text(x, y, nameWidth + 2, 14, name, {11, Role::Text, Weight::Medium, Align::Left});
    const std::string note = "one queue, reads and writes";
    const double firstMark = x + w * std::min(link.achieved.value(), link.datasheet.value()) / full;
    if (x + nameWidth + 8 + textWidth(note, 10) < firstMark - 14) {
        canvas.text(x + nameWidth + 8, y, w, 14, note,
                    {10, Role::Text3, Weight::Regular, Align::Left});
    }
    canvas.fill(x, bar, w, 10, Role::Grid);
    const trace::CopyRange range = trace::copiesInFlight(trace, index, now);
    if (!range.empty() && copies.start[range.first] <= now.value()) {
        const std::size_t row = range.first;
        const double seconds = toSeconds(Picoseconds(copies.end[row] - copies.start[row])).value();
        const double rate = static_cast<double>(copies.bytes[row]) / seconds;
        canvas.fill(x, bar, w * std::min(1.0, rate / full), 10,
                    operandRole(run, copies.operand[row]));
        canvas.hit(x, bar, w * std::min(1.0, rate / full), 10,
                   target::Copy{static_cast<std::int64_t>(row)});
    }
    paintScale(canvas, link, x, w, full, bar);
    if (range.empty()) {
        canvas.text(x, bar + 15, w, 18, "nothing in flight, nothing queued",
                    {10, Role::Text3, Weight::Regular, Align::Left});
    } else {
        paintQueue(canvas, run, range, bar + 15, now);
    }
    return y + kLinkHeight;
}

} // namespace pallascope::layout
