// What a straight-line stretch of operations costs on one chip's units. An operation demands cycles
// on units; a segment lasts the largest sum over units; inside it every operation has its place on
// each unit, in dependency order, never overlapping and never past the end.
#pragma once

#include "core/base/result.h"
#include "core/chip/chip.h"
#include "core/cost/matrix_run.h"
#include "core/cost/variation.h"
#include "core/ir/program.h"

#include <map>
#include <span>
#include <vector>

namespace pallascope::cost {

struct Demand
{
    std::int32_t unit = 0; // index into Chip::units
    Cycles cycles;
};

struct OperationCost
{
    std::vector<Demand> demands;
    std::int32_t flopsUnit = -1; // the unit its FLOPs count for
    Flops useful;                // from logical shapes: 2*M*N*K per dot, 1 per element otherwise
    Flops executed;              // with tile padding
    std::int64_t transcendentals = 0;
    std::optional<MatrixRun> product; // of an operation of the matrix unit
};

// Who runs operations.
struct Runner
{
    std::int32_t agent = 0;                                 // index into Chip::agents
    std::int64_t cores = 1;                                 // that share each operation evenly
    const std::map<std::int32_t, double>* shares = nullptr; // of unrolledShares, of a loop's body
    bool isAround = false; // a fusion, whose values lie as pads least
};

// The error (user) says that the chip lacks a unit or dtype, with the operation's place. Scalars
// (rank 0) run on the scalar unit and count no FLOPs. `variation`: of what comes before the
// operation; without one all elements may differ.
[[nodiscard]] Result<OperationCost> operationCost(const ir::Program& program,
                                                  const ir::Operation& operation,
                                                  const chip::Chip& chip, Runner runner = {},
                                                  const Variation* variation = nullptr);

// Where an operation occupies a unit: half-open [offset, offset + length) from the segment's start.
struct Place
{
    std::int32_t unit = 0; // index into Chip::units
    std::int32_t operation = 0;
    Cycles offset;
    Cycles length;
};

// Useful work of the matrix unit, by how it runs.
struct Products
{
    MatrixRun run;
    Flops flops;
};

// How long units that have so much to do keep a segment: as long as the busiest, where they overlap
// fully; those that compute together as a norm of the chip's exponent says. By index into
// Chip::units.
[[nodiscard]] Cycles together(const std::map<std::int32_t, Cycles>& totals, const chip::Chip& chip);

struct SegmentCost
{
    Cycles cycles;
    Picoseconds duration;
    Hertz clock;
    std::vector<std::int32_t> operations; // in program order
    std::vector<Cycles> retire;           // per operation, from the start, never decreasing
    std::vector<Place> places;            // in program order; never overlapping on a unit
    std::vector<Flops> useful, executed;  // per unit of the chip
    std::vector<Products> products;
    std::int64_t transcendentals = 0;
};

[[nodiscard]] Result<SegmentCost> segmentCost(const ir::Program& program,
                                              std::span<const ir::Operation* const> operations,
                                              const chip::Chip& chip, Runner runner = {});

// Bytes of the values of a segment that are alive at once beyond the register file: an estimate of
// what the compiler spills to on-chip memory. Loads stream and layout changes are free, so neither
// counts; an elementwise result takes the place of an operand that dies.
[[nodiscard]] Bytes temporaries(const ir::Program& program,
                                std::span<const ir::Operation* const> operations,
                                const chip::Chip& chip);

} // namespace pallascope::cost
