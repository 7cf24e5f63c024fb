// What a device runs one after the other: kernels, and between them collectives, fusions and
// copies. Each execution is a piece, so that a kernel in a loop is one piece for each round.
#pragma once

#include "core/trace/trace.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace pallascope::trace {

enum class PieceKind : std::uint8_t
{
    Kernel,
    Collective,
    Fusion,
    Copy // a copy that the program makes outside of kernels
};

struct Piece
{
    PieceKind kind = PieceKind::Kernel;
    std::string name;               // of a collective, the array that it fills
    std::int32_t operation = kNone; // row of Info::operations; kNone: the whole program
    std::int64_t number = 0;        // of kernels, counted from 1 in order of time; otherwise 0
    Picoseconds begin, end;
    Picoseconds launch, overhead; // parts of it: before its first operation, of steps
    bool operator==(const Piece&) const = default;

    [[nodiscard]] bool isKernel() const { return kind == PieceKind::Kernel; }
};

// The pieces of one device: they begin at 0, follow each other without a gap, and last until the
// end of the run.
struct Pieces
{
    std::vector<Piece> all; // at least one
    std::int64_t kernels = 0;

    // The piece that has begun last by t.
    [[nodiscard]] std::size_t at(Picoseconds t) const;
};

// For each device. A program that names neither kernels nor fusions is one kernel. Use
// Index::pieces, which keeps the result.
[[nodiscard]] std::vector<Pieces> piecesOf(const Trace& trace);

// What the program calls its kernels, by their numbers (Operand::kernel). It looks at all
// operations, of which there may be many. Empty where the trace does not hold its program.
[[nodiscard]] std::vector<std::string_view> kernelNames(const Info& info);

} // namespace pallascope::trace
