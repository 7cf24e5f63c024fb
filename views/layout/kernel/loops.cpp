// Paints the loops of the kernel under the playhead: how many rounds each has and which one runs.
#include "core/base/format.h"
#include "core/trace/columns.h"
#include "core/trace/pieces.h"
#include "views/layout/kernel/parts.h"
#include "views/layout/run/position.h"
#include "views/layout/run/view_parts.h"

#include <algorithm>
#include <fmt/format.h>
#include <optional>

namespace pallascope::layout {

namespace {

using parts::kPadding;
using parts::kRow;

constexpr double kLoopRow = 17; // px
constexpr std::size_t kMostLoops = 6;

struct LoopRow
{
    std::int32_t loop = 0;
    int depth = 0;          // in how many of the listed loops it lies
    bool isMarked = false;  // by its rounds one goes through the run
    std::int64_t next = -1; // row of Rounds: the round that begins next, or else the first one
    std::optional<trace::LoopRounds::Place> place;
};

// Whether any of its rounds runs between two moments.
bool runsWithin(const RunView& run, std::int32_t loop, Picoseconds begin, Picoseconds end)
{
    const trace::LoopRounds& rounds = run.index->rounds();
    const std::size_t begun = rounds.begunBy(loop, end);
    return begun > 0
           && run.trace->rounds().end[rounds.row(loop, begun - 1).index()] > begin.value();
}

std::vector<LoopRow> loopRows(const RunView& run, const ViewState& state)
{
    const std::vector<trace::Loop>& loops = run.trace->info().loops;
    const trace::LoopRounds& rounds = run.index->rounds();
    const trace::Pieces& pieces = run.index->pieces(state.device);
    const trace::Piece& piece = pieces.all[pieces.at(state.now)];
    const auto marked = roundAt(run, state.now, state.loop);
    std::vector<LoopRow> rows;
    std::vector<int> depths(loops.size(), 0); // of what lies in it
    for (std::int32_t loop = 0; trace::at(loop) < loops.size(); ++loop) {
        const std::int32_t parent = loops[trace::at(loop)].parent;
        const int depth = parent == trace::kNone ? 0 : depths[trace::at(parent)];
        const std::size_t all = rounds.size(loop);
        const bool isListed = all > 0 && runsWithin(run, loop, piece.begin, piece.end);
        depths[trace::at(loop)] = depth + (isListed ? 1 : 0);
        if (!isListed) {
            continue;
        }
        LoopRow row{loop, depth, marked && marked->loop == loop, -1, {}};
        const std::size_t begun = rounds.begunBy(loop, state.now);
        row.next = rounds.row(loop, begun < all ? begun : 0).number;
        row.place = rounds.at(loop, state.now);
        rows.push_back(row);
    }
    return rows;
}

// "kv_block |1| of 0–2", and shorter. A loop that has no name of its own is told by its line.
std::vector<std::string> textsOf(const trace::Loop& loop, const LoopRow& row)
{
    const std::string name = loop.name.starts_with("loop at line") ? "loop" : loop.name;
    if (!row.place || row.place->rounds < 1) {
        return {name};
    }
    const std::string last = countText(row.place->rounds - 1);
    const std::string of = row.place->isOver
                               ? "in 0–" + last
                               : fmt::format("|{}| of 0–{}", countText(row.place->round), last);
    return {name + " " + of, name};
}

void paintLoop(Canvas& canvas, const RunView& run, const LoopRow& row, double y)
{
    constexpr double kIndent = 10, kBetween = 10; // px
    const trace::Loop& loop = run.trace->info().loops[trace::at(row.loop)];
    const double w = canvas.width() - 2 * kPadding;
    if (row.isMarked) {
        canvas.fill(kPadding - 6, y, w + 12, kLoopRow, Role::SelectBackground);
    }
    canvas.hit(kPadding - 6, y, w + 12, kLoopRow, target::Round{row.next});
    const auto all = static_cast<std::int64_t>(run.index->rounds().size(row.loop));
    const std::string rounds = countText(all);
    canvas.text(kPadding, y, w, kLoopRow, rounds, {11, Role::Text, Weight::Regular, Align::Right});
    if (row.isMarked) {
        canvas.state({FactKind::Rounds, -1, static_cast<double>(all), rounds});
    }
    const double x = kPadding + kIndent * std::min(row.depth, 4);
    const double right = kPadding + w - std::max(34.0, textWidth(rounds)) - kBetween;
    const std::string line = "line " + std::to_string(loop.source.line);
    const double lineWidth = loop.source.line > 0 ? textWidth(line) : 0;
    const std::vector<std::string> texts = textsOf(loop, row);
    const auto fits = [&](const std::string& text) {
        return textWidth(parts::plain(text), 11, Weight::Medium) + kBetween + lineWidth
               <= right - x;
    };
    const auto text = std::find_if(texts.begin(), texts.end(), fits);
    const bool hasLine =
        lineWidth > 0 && loop.source.file >= 0 && (text != texts.end() || texts.front() == "loop");
    if (hasLine) {
        canvas.text(right - lineWidth - 1, y, lineWidth + 2, kLoopRow, line,
                    {11, Role::Focus, Weight::Regular, Align::Left});
        canvas.hit(right - lineWidth - 3, y, lineWidth + 6, kLoopRow,
                   target::SourceLine{loop.source.file, loop.source.line});
    }
    const double room = right - x - (hasLine ? lineWidth + kBetween : 0);
    canvas.rich(x, y, room, kLoopRow, text == texts.end() ? texts.back() : *text, 11, Role::Text);
}

} // namespace

double loopsHeight(const RunView& run, const ViewState& state)
{
    const std::size_t rows = run.notRun.empty() ? loopRows(run, state).size() : 0;
    return rows == 0 ? 0
                     : kRow + 8
                           + kLoopRow
                                 * static_cast<double>(std::min(rows, kMostLoops)
                                                       + (rows > kMostLoops ? 1U : 0U));
}

double paintLoops(Canvas& canvas, const RunView& run, const ViewState& state, double y)
{
    const std::vector<LoopRow> rows =
        run.notRun.empty() ? loopRows(run, state) : std::vector<LoopRow>();
    const auto room =
        static_cast<std::size_t>(std::max(0.0, (canvas.height() - y - kRow - 4) / kLoopRow));
    const std::size_t fit =
        std::min({rows.size(), kMostLoops + (rows.size() > kMostLoops ? 1U : 0U), room});
    if (fit == 0 || (fit == 1 && rows.size() > 1)) {
        return y;
    }
    const double w = canvas.width() - 2 * kPadding;
    y = paintHeading(canvas, y, "Loops of the kernel", "rounds");
    const bool isCut = fit < rows.size();
    const std::size_t shown = isCut ? fit - 1 : fit;
    for (std::size_t i = 0; i < shown; ++i) {
        paintLoop(canvas, run, rows[i], y);
        y += kLoopRow;
    }
    if (isCut) {
        canvas.text(kPadding, y, w, kLoopRow,
                    "and " + countText(static_cast<std::int64_t>(rows.size() - shown)) + " more",
                    smallText(Role::Text2));
        y += kLoopRow;
    }
    return y + 5;
}

} // namespace pallascope::layout
