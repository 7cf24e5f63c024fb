// A program made ready to run on one chip: regions cut into segments with their templates, and, per
// segment, the operations whose values are needed. Built once per run.
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

constexpr std::size_t kDyingBits = 32; // operands behind those live until their region ends

struct Evaluation
{
    const ir::Operation* operation = nullptr;
    std::int32_t number = 0;                // of the operation in its segment
    std::uint32_t dying = 0;                // bit i: operand i is used here for the last time
    bool touches = false;                   // no value is needed, only where it reaches
    bool partial = false;                   // a get or swap not of all of its ref, as it is
    bool isLong = false;                    // it may take seconds
    bool asRows = false;                    // a get of a matrix that only products use, which take
                                            // rows with gaps between them
    const ir::Operation* product = nullptr; // of an addition: the dot_general that only it uses,
                                            // which is evaluated with it
    std::uint32_t productDying = 0;         // bit i: operand i of that is used for the last time
};

// A load or store of a segment.
struct PlanAccess
{
    const ir::Operation* operation = nullptr;
    std::int32_t number = 0; // of the operation in its segment
    ir::ValueId ref;
    bool writes = false;
    bool wholeRef = true;
};

// What a fusion loads from HBM or stores to it, as one copy.
struct PlanStream
{
    const ir::Operation* operation = nullptr;
    Bytes bytes; // of whole tiles
    bool out = false;
};

struct BlockPlan;

// A segment, or one control operation. A request to a unit and a pipeline have both.
struct PlanItem
{
    const ir::Operation* control = nullptr; // null: a segment
    std::int32_t templateId = -1;           // of a pipeline: of the overhead of its steps
    Picoseconds duration;
    std::int32_t operationCount = 0;
    std::vector<Evaluation> evaluate;
    std::vector<PlanAccess> accesses;
    std::vector<PlanStream> streams; // of a fusion, in program order
    const ir::Operation* fusion = nullptr;
    std::vector<const BlockPlan*> regions; // of the control operation
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
    std::deque<BlockPlan> blocks;   // stable addresses
    std::vector<std::int32_t> uses; // by ValueId, in the whole program
};

[[nodiscard]] Result<Plan> makePlan(const ir::Program& program, const chip::Chip& chip,
                                    const NeededSet& needed, const Constants& constants);

} // namespace pallascope::machine
