// A program made ready to run on one chip: its regions are cut into segments with their templates,
// and each segment lists the operations whose values are needed. Built once per run.
#pragma once

#include "core/base/result.h"
#include "core/chip/chip.h"
#include "core/ir/program.h"
#include "core/machine/needed.h"
#include "core/machine/prepare/constants.h"
#include "core/trace/info.h"

#include <deque>
#include <map>
#include <span>
#include <vector>

namespace pallascope::machine {

// Bits of Evaluation::dying; operands beyond them live until their region ends.
constexpr std::size_t kDyingBits = 32;

struct Evaluation
{
    const ir::Operation* operation = nullptr;
    std::int32_t number = 0; // the operation's position in its segment
    std::uint32_t dying = 0; // bit i: operand i is used here for the last time
    bool touches = false;    // no value is needed, only which elements it accesses
    bool partial = false;    // a get or swap of a part of its ref, or one that drops an axis
    bool isLong = false;     // it may take seconds to compute
    // A get of a matrix that only products use; they accept rows with gaps between them.
    bool asRows = false;
    // For an addition: a dot_general whose result only it uses; the two are evaluated together.
    const ir::Operation* product = nullptr;
    // Bit i: operand i of the product is used here for the last time.
    std::uint32_t productDying = 0;
};

// Whether the elements that it accesses are known only lane by lane, in the memory that the blocks
// of a GPU share.
[[nodiscard]] bool accessesByLane(const ir::Program& program, const ir::Operation& operation);

// A load or store in a segment, or a reduction that counts as one.
struct PlanAccess
{
    const ir::Operation* operation = nullptr;
    std::int32_t number = 0; // the operation's position in its segment
    ir::ValueId ref;
    bool writes = false;
    bool wholeRef = true;
    bool isReduction = false; // it has no ref, but goes through a scratch; see Reductions
};

// What a fusion loads from HBM or stores to it, as one copy.
struct PlanStream
{
    const ir::Operation* operation = nullptr;
    Bytes bytes; // in whole tiles
    bool out = false;
};

struct BlockPlan;

// A segment or one control operation. For a request to a unit, and for a pipeline, it is both.
struct PlanItem
{
    const ir::Operation* control = nullptr; // null: a segment
    std::int32_t templateId = -1;           // of a pipeline: the template of its step overhead
    Picoseconds duration;
    // Of a segment on a GPU: how much longer it takes if the tensor core of its SM works all the
    // time, and how much products lose by it.
    Picoseconds slowed, delays;
    Picoseconds awaited; // of a request: how long after it its agent waits, if it does
    std::int32_t operationCount = 0;
    std::vector<Evaluation> evaluate;
    std::vector<PlanAccess> accesses;
    // What a fusion, or a segment of a GPU's kernel, moves meanwhile; in program order.
    std::vector<PlanStream> streams;
    // A segment of agents that share the units of their slot: how long it uses each unit.
    std::vector<std::pair<std::int32_t, Picoseconds>> demands;
    const ir::Operation* fusion = nullptr;
    std::vector<const BlockPlan*> regions; // those of the control operation
};

struct BlockPlan
{
    const ir::Region* region = nullptr;
    std::vector<PlanItem> items;
};

struct Plan
{
    const BlockPlan* body = nullptr;
    std::vector<trace::SegmentTemplate> templates;
    std::deque<BlockPlan> blocks;   // a deque, so that addresses stay valid
    std::vector<std::int32_t> uses; // by ValueId: number of uses in the whole program
};

[[nodiscard]] Result<Plan> makePlan(const ir::Program& program, const chip::Chip& chip,
                                    const NeededSet& needed, const Constants& constants);

} // namespace pallascope::machine
