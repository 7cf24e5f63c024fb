// The software pipeline, phase by phase, by the rules of pipeline_rules.h. A turn may end within a
// phase if another agent or an event comes first; the phase then goes on with the next operand.
#pragma once

#include "core/machine/parts/accesses.h"
#include "core/machine/parts/context.h"
#include "core/machine/parts/copies.h"
#include "core/machine/parts/findings.h"
#include "core/machine/parts/limits.h"
#include "core/machine/parts/scopes.h"

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <vector>

namespace pallascope::machine {

// Moves a grid point to a step. Steps count in lexicographic order.
void jumpTo(GridPoint& at, const std::vector<Extent>& grid, std::int64_t step);

// The same, fast for the next step, which it usually is.
inline void moveTo(GridPoint& at, const std::vector<Extent>& grid, std::int64_t step)
{
    if (step == at.step) {
        return;
    }
    if (step != at.step + 1) {
        jumpTo(at, grid, step);
        return;
    }
    at.step = step;
    std::size_t axis = grid.size();
    while (axis > 0 && ++at.point[axis - 1] == grid[axis - 1]) {
        at.point[--axis] = 0;
    }
}

class Pipelines : private Part
{
public:
    // `aliased` belongs to the run's state: the buffers that an input and an output share.
    Pipelines(const Context& context, const std::set<std::int32_t>& aliased, Copies& copies,
              Accesses& accesses, Scopes& scopes, Limits& limits, Findings& findings);

    // The current agent begins a pipeline. It gets a frame, unless the grid is empty.
    void enter(const PlanItem& item);
    // Goes on with `frame`, the innermost frame of the current agent.
    void run(PipelineFrame& frame);
    // At the end of the run, records which elements the Indirect blocks have listed.
    void recordLists();

private:
    // pipelines_begin.cpp
    [[nodiscard]] bool takeGrid(PipelineFrame& frame, const ir::Operation& operation);
    [[nodiscard]] bool takeOperand(PipelineFrame& frame, const ir::Operation& operation,
                                   std::size_t operand);
    void shareGrid(PipelineFrame& frame) const;
    [[nodiscard]] bool isLive(const BlockMap& map);
    [[nodiscard]] const OperandPlan* operandPlan(const ir::Operation& pipeline,
                                                 std::size_t operand); // null: the run fails
    void endPipeline(PipelineFrame& frame);

    // pipelines.cpp
    void bringTrivial(PipelineFrame& frame);
    void prologue(PipelineFrame& frame);
    void fetch(PipelineFrame& frame, std::size_t operand, std::int64_t block, bool prefetched);
    void lookAhead(PipelineFrame& frame, std::size_t operand, std::int64_t most);
    [[nodiscard]] StepActions actionsAt(PipelineFrame& frame, std::size_t operand);
    [[nodiscard]] StepActions actionsNow(PipelineFrame& frame, std::size_t operand);
    void beginStep(PipelineFrame& frame);
    void copyIn(PipelineFrame& frame);
    void waitIn(PipelineFrame& frame);
    void enterBody(PipelineFrame& frame);
    void passOverhead(PipelineFrame& frame);
    void copyOut(PipelineFrame& frame);
    void waitOut(PipelineFrame& frame);
    void endStep(PipelineFrame& frame);
    void drain(PipelineFrame& frame);
    void takeTrivial(PipelineFrame& frame);
    void awaitOut(PipelineFrame& frame, PipelineOperand& operand);

    // pipelines_blocks.cpp
    [[nodiscard]] std::int64_t lookUpBlock(PipelineFrame& frame, std::size_t operand,
                                           std::int64_t step);

    [[nodiscard]] std::int64_t evaluateMap(PipelineFrame& frame, std::size_t operand,
                                           std::int64_t step);

    [[nodiscard]] std::int64_t blockAt(PipelineFrame& frame, std::size_t operand, std::int64_t step)
    {
        const PipelineFrame::Looked& looked = frame.lookedAt(operand, step);
        return looked.step == step ? looked.block : lookUpBlock(frame, operand, step);
    }

    // Whether a step needs another block of the operand than the step before it.
    [[nodiscard]] bool changesAt(PipelineFrame& frame, std::size_t operand, std::int64_t step)
    {
        const PipelineFrame::Changes& seen = frame.changes[operand];
        if (seen.every) {
            return seen.at(step);
        }
        const std::int64_t age = seen.last - step;
        return age >= 0 && age < seen.known ? ((seen.bits >> age) & 1U) != 0
                                            : lookUpChange(frame, operand, step);
    }

    [[nodiscard]] bool lookUpChange(PipelineFrame& frame, std::size_t operand, std::int64_t step);
    void checkCut(const PipelineFrame& frame, const PipelineOperand& operand, std::int64_t block);
    void bindBlock(PipelineFrame& frame, std::size_t operand);
    void visit(PipelineFrame& frame, std::size_t operand, std::int64_t block, std::int32_t slot);

    // pipelines_copies.cpp
    trace::OptionalRow<trace::CopyRow> startCopy(PipelineFrame& frame, std::size_t operand,
                                                 std::int64_t block, std::int32_t slot, bool out);
    void fillSlot(PipelineFrame& frame, std::size_t operand, std::int64_t block, std::int32_t slot);
    void waitFor(const PipelineOperand& operand, std::int32_t slot, bool out,
                 trace::OptionalRow<trace::StepRow> row);
    void stopWaiting(const PipelineOperand& operand, bool out,
                     trace::OptionalRow<trace::StepRow> row);
    void checkOverlap(const PipelineOperand& operand, std::int64_t block, std::int32_t slot,
                      bool out, trace::CopyRow copy, trace::OptionalRow<trace::StepRow> row);

    const std::set<std::int32_t>& m_aliased;
    Copies& m_copies;
    Accesses& m_accesses;
    Scopes& m_scopes;
    Limits& m_limits;
    Findings& m_findings;
    BlockMap::Scratch m_mapScratch;
    // For operands with Indirect blocks: plans with the lists of this run.
    std::map<OperandPlans::key_type, std::unique_ptr<OperandPlan>> m_indirect;
};

} // namespace pallascope::machine
