#include "views/layout/run/pieces.h"

#include "core/base/format.h"
#include "views/layout/run/view_parts.h"

#include <fmt/format.h>

namespace pallascope::layout {

std::optional<analysis::PieceBound> boundOf(const RunView& run, std::int32_t device,
                                            const trace::Piece& piece)
{
    return analysis::boundOf(*run.index, device, piece, run.report.onChipName);
}

Role roleOf(const analysis::PieceBound& bound)
{
    if (bound.unit) {
        return parts::unitRole(*bound.unit);
    }
    return bound.by.kind == analysis::BoundKind::Memory ? Role::Hbm : Role::Scalar;
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
    return piece.isKernel()
               ? fmt::format("kernel {} of {}", countText(piece.number), countText(pieces.kernels))
               : std::string(analysis::pieceKindName(piece.kind));
}

} // namespace pallascope::layout
