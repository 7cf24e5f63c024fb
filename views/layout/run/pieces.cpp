#include "views/layout/run/pieces.h"

#include "core/base/format.h"
#include "views/layout/run/view_parts.h"

#include <algorithm>
#include <fmt/format.h>

namespace pallascope::layout {

namespace {

constexpr double kLeastOfBound = 1.0 / 3;

analysis::Bound boundByUnit(const RunView& run, const trace::Unit& unit)
{
    const bool moves = unit.kind == UnitKind::Load || unit.kind == UnitKind::Store;
    return moves ? analysis::Bound{analysis::BoundKind::Memory, run.report.onChipName}
                 : analysis::Bound{analysis::BoundKind::Compute, unit.name};
}

Picoseconds linkBusy(const RunView& run, std::size_t link, const trace::Piece& piece)
{
    Picoseconds busy;
    for (const bool out : {false, true}) {
        const auto by = [&](Picoseconds t) {
            return run.index->linkBusy(trace::LinkRow::at(link), out, t);
        };
        busy += by(piece.end) - by(piece.begin);
    }
    return busy;
}

} // namespace

std::optional<PieceBound> boundOf(const RunView& run, std::int32_t device,
                                  const trace::Piece& piece)
{
    const trace::Info& info = run.trace->info();
    const Picoseconds time = piece.end - piece.begin;
    PieceBound bound;
    Picoseconds longest;
    const auto consider = [&](const analysis::Bound& by, Picoseconds busy, Role role) {
        if (busy > longest) {
            longest = busy;
            bound.by = by;
            bound.role = role;
        }
    };
    for (std::size_t unit = 0; unit < info.units.size(); ++unit) {
        const auto id = trace::UnitRow::at(unit);
        const Picoseconds all =
            run.index->unitBusy(id, piece.end) - run.index->unitBusy(id, piece.begin);
        consider(boundByUnit(run, info.units[unit]),
                 Picoseconds(all.value() / run.index->agents().unitCount(id)),
                 parts::unitRole(info.units[unit].kind));
    }
    const std::size_t each = info.linksPerDevice();
    for (std::size_t i = 0; i < each; ++i) {
        const std::size_t link = static_cast<std::size_t>(device) * each + i;
        const trace::Link& of = info.links[link];
        consider({analysis::BoundKind::Memory, of.kind.empty() ? of.name : of.kind},
                 linkBusy(run, link, piece), Role::Hbm);
    }
    consider({analysis::BoundKind::StepOverhead}, piece.overhead, Role::Scalar);
    consider({analysis::BoundKind::Launches}, piece.launch, Role::Scalar);
    bound.share = time > Picoseconds(0) ? ratio(longest, time) : 0;
    return bound.share < kLeastOfBound ? std::nullopt : std::optional(bound);
}

const trace::Piece& pieceAt(const RunView& run, std::int32_t agent, Picoseconds now)
{
    const trace::Pieces& pieces = run.index->pieces(run.trace->info().deviceOf(agent));
    return pieces.all[pieces.at(now)];
}

trace::OptionalRow<trace::StepRow> stepUnderWay(const RunView& run, const Position& position,
                                                Picoseconds now)
{
    if (!position.step) {
        return {};
    }
    const std::int32_t agent = run.trace->info().pipelines[position.pipeline.index()].agent;
    const trace::Piece& piece = pieceAt(run, agent, now);
    const Picoseconds begin(run.trace->steps().begin[position.step->index()]);
    const bool isOfPiece = piece.isKernel() && begin >= piece.begin && begin < piece.end;
    return isOfPiece ? position.step : trace::OptionalRow<trace::StepRow>{};
}

std::string pieceKindText(const trace::Pieces& pieces, const trace::Piece& piece)
{
    switch (piece.kind) {
    case trace::PieceKind::Kernel:
        return fmt::format("kernel {} of {}", countText(piece.number), countText(pieces.kernels));
    case trace::PieceKind::Collective:
        return "collective";
    case trace::PieceKind::Fusion:
        return "fusion";
    case trace::PieceKind::Copy:
        break;
    }
    return "copy";
}

} // namespace pallascope::layout
