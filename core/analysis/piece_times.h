// What the kernels of a program take, each by itself, and what operations around them do.
#pragma once

#include "core/analysis/bound.h"
#include "core/base/unit_kind.h"
#include "core/trace/lookup.h"
#include "core/trace/pieces.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pallascope::analysis {

// What was busy longest in a part of a run, and for which share of it.
struct PieceBound
{
    Bound by;
    double share = 0;             // 0 to 1
    std::optional<UnitKind> unit; // that bounds it; none if no unit does
};

// Of one piece of a device (trace::Piece). `onChipName` is Report::onChipName. None where nothing
// was busy for a third of the piece.
[[nodiscard]] std::optional<PieceBound> boundOf(const trace::Index& index, std::int32_t device,
                                                const trace::Piece& piece,
                                                const std::string& onChipName);

// All executions of one operation on the first device: a kernel in a loop has many.
struct PieceTime
{
    trace::PieceKind kind = trace::PieceKind::Kernel;
    std::string name;
    trace::SourceLine source;
    std::int64_t times = 0;
    Picoseconds time; // of all of them
    std::optional<PieceBound> bound;
};

// In the order in which they begin. Empty where a program is one kernel.
[[nodiscard]] std::vector<PieceTime> pieceTimes(const trace::Index& index,
                                                const std::string& onChipName);

// "kernel", "collective", "fusion", "copy"
[[nodiscard]] std::string_view pieceKindName(trace::PieceKind kind);

} // namespace pallascope::analysis
