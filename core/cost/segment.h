// What a segment, a straight-line stretch of operations, costs on one chip's units. Every
// operation demands cycles on units. A segment lasts as long as its most demanded unit, longer if
// units overlap only partly (together()). Inside it every operation has its place on each unit, in
// dependency order, never overlapping and never past the end.
#pragma once

#include "core/base/result.h"
#include "core/chip/chip.h"
#include "core/chip/multiprocessor.h"
#include "core/cost/matrix_run.h"
#include "core/cost/variation.h"
#include "core/ir/program.h"

#include <algorithm>
#include <map>
#include <set>
#include <span>
#include <string_view>
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
    std::int32_t flopsUnit = -1; // the unit for which its FLOPs count
    // From logical shapes: 2*M*N*K per dot, of what is inside of arrays; 1 per element otherwise.
    Flops useful;
    Flops executed; // with tile padding
    std::int64_t transcendentals = 0;
    std::optional<MatrixRun> product; // only for operations of the matrix unit
    // How long it takes at least, however fast the units are: instructions in it wait for each
    // other. Only on a GPU.
    Cycles chain;
    // How long the agent that requests it waits after it: only of wgmma in a core_map some of whose
    // sums spill.
    Cycles awaited;
};

class LeftOut;

// The agent or agents that run operations.
struct Runner
{
    std::int32_t agent = 0; // index into Chip::agents
    std::int64_t cores = 1; // cores that share each operation evenly
    const std::map<std::int32_t, double>* shares = nullptr; // unrolledShares, in a loop's body
    // insideShares of the program; null: all products are of elements inside of arrays.
    const std::map<std::int32_t, double>* insideShares = nullptr;
    bool isAround = false; // a fusion, whose values are laid out with the least padding
    // Of the program, for agents that issue in order: what their compiler leaves out.
    const LeftOut* leftOut = nullptr;
    std::string_view compiler = {};                 // of the core_map (ir::CoreMapParams)
    std::int64_t threads = chip::kWarpgroupThreads; // that share the operations of one agent
    // Whether each instruction of a product is waited for, as values need more registers than there
    // are.
    bool awaitsEachProduct = false;
    // Of the core_map: sums of wgmma that are in memory between their products; null: none.
    const std::set<ir::ValueId>* spilledSums = nullptr;

    // How many warpgroups divide an operation. Fewer threads than one has count as one.
    [[nodiscard]] std::int64_t warpgroups() const
    {
        return std::max<std::int64_t>(1, threads / chip::kWarpgroupThreads);
    }

    // Whether it is an agent of a GPU in a kernel, which issues its instructions in order.
    [[nodiscard]] bool issuesInOrder(const chip::Chip& chip) const
    {
        return chip.multiprocessor.has_value() && !isAround;
    }
};

// The error (user) says that the chip lacks a unit or dtype, and names the operation's place.
// Scalars (rank 0) run on the scalar unit and count no FLOPs. `variation` covers the operations
// before this one; without it all elements may differ.
[[nodiscard]] Result<OperationCost> operationCost(const ir::Program& program,
                                                  const ir::Operation& operation,
                                                  const chip::Chip& chip, Runner runner = {},
                                                  const Variation* variation = nullptr);

// Where an operation occupies a unit: the half-open range [offset, offset + length), from the
// segment's start.
struct Place
{
    std::int32_t unit = 0; // index into Chip::units
    std::int32_t operation = 0;
    Cycles offset;
    Cycles length;
};

// Useful work of the matrix unit, grouped by how it runs.
struct Products
{
    MatrixRun run;
    Flops flops;
};

// How long a segment lasts if its units have this much to do. If they overlap fully, it lasts as
// long as the busiest one. Otherwise the times of the units that compute are combined by a norm
// with the chip's exponent. `totals` is keyed by index into Chip::units.
[[nodiscard]] Cycles together(const std::map<std::int32_t, Cycles>& totals, const chip::Chip& chip);

struct SegmentCost
{
    Cycles cycles;
    Picoseconds duration;
    Hertz clock;
    // On a GPU: how much longer it takes if the tensor core of its SM works all the time, and how
    // many cycles of products that costs; and as in OperationCost.
    Cycles slowed, delays, awaited;
    std::vector<std::int32_t> operations; // in program order
    std::vector<Cycles> retire; // for each operation, from the segment's start, never decreasing
    std::vector<Place> places;  // in program order; never overlapping on a unit
    std::vector<Flops> useful, executed; // for each unit of the chip
    std::vector<Products> products;
    std::int64_t transcendentals = 0;
};

[[nodiscard]] Result<SegmentCost> segmentCost(const ir::Program& program,
                                              std::span<const ir::Operation* const> operations,
                                              const chip::Chip& chip, Runner runner = {});

// How many bytes of a segment's values are alive at once beyond the register file: an estimate of
// what the compiler spills to on-chip memory. Loads stream and layout changes are free, so neither
// counts. An elementwise result replaces an operand that is used for the last time.
[[nodiscard]] Bytes temporaries(const ir::Program& program,
                                std::span<const ir::Operation* const> operations,
                                const chip::Chip& chip);

} // namespace pallascope::cost
