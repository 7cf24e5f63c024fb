// The deterministic engine: agents interpret the plan with explicit frames, links serve copies in
// issue order, everything is recorded. Internal to core/machine; run.h is the way in.
#pragma once

#include "core/base/result.h"
#include "core/machine/frames.h"
#include "core/machine/link.h"
#include "core/machine/memory.h"
#include "core/machine/needed.h"
#include "core/machine/pipeline_rules.h"
#include "core/machine/plan.h"
#include "core/machine/recorder.h"
#include "core/machine/run.h"

#include <chrono>
#include <deque>
#include <optional>
#include <set>
#include <span>
#include <vector>

namespace pallascope::machine {

// Moves a grid point to a step; steps count in lexicographic order, and mostly it is the next one.
void moveTo(GridPoint& at, const std::vector<Extent>& grid, std::int64_t step);

class Engine
{
public:
    Engine(const ir::Program& program, const chip::Chip& chip, const Options& options,
           const NeededSet& needed, const Plan& plan);

    // Binds the program's arguments; the error names an input whose values are needed and missing.
    [[nodiscard]] Status bind(const std::vector<Array>& inputs);
    [[nodiscard]] Status execute();
    // Joins copies in flight; the outputs (with values full).
    [[nodiscard]] std::vector<Array> outputs();

    [[nodiscard]] Recorder& recorder() { return m_recorder; }

    [[nodiscard]] Picoseconds end() const { return m_agent.time; }

private:
    // One block copy whose data moves: read at its start, landed at its end.
    struct Flight
    {
        Picoseconds start, end;
        bool out = false, started = false;
        std::int32_t slotBuffer = 0, arrayBuffer = 0;
        std::int64_t block = 0;
        const PipelineOperand* operand = nullptr;
        std::int32_t step = -1;
        Box box;
        Buffer payload;
    };

    void fail(Error error);

    // engine.cpp
    void advance();
    [[nodiscard]] bool mayGoOn(); // within the limits, and not cancelled
    void runBlock();
    void runScan();
    void runWhile();
    void enterControl(const PlanItem& item);
    void runSegment(const PlanItem& item);
    void execute(const Evaluation& evaluation);
    void enterScope(const PlanItem& item);
    void access(const ir::Operation& operation);
    // Where a get or swap reaches in its buffer.
    [[nodiscard]] std::optional<StridedView> view(const ir::Operation& operation);
    void allocate(const std::vector<ir::ValueId>& refs);
    void release(std::size_t firstBuffer); // it and all after it
    void assign(const std::vector<ir::ValueId>& to, const std::vector<ir::ValueId>& from,
                std::size_t skip);

    [[nodiscard]] RuntimeValue& value(ir::ValueId id)
    {
        return m_values[static_cast<std::size_t>(id.index)];
    }

    // What a ref stands for: a whole buffer, or the part of an array that an unbuffered block is.
    struct RefBinding
    {
        std::int32_t buffer = -1;
        Box box; // empty: the whole buffer
    };

    [[nodiscard]] RefBinding& binding(ir::ValueId ref)
    {
        return m_refs[static_cast<std::size_t>(ref.index)];
    }

    [[nodiscard]] Buffer& buffer(std::int32_t index)
    {
        return m_buffers[static_cast<std::size_t>(index)];
    }

    void land(Picoseconds until);
    void reportUndefinedWrite(const Flight& flight, std::int64_t undefined);
    void reportUndefinedUse(const RuntimeValue& value, const char* kind, const std::string& what,
                            ir::LocationId location);

    // pipeline.cpp
    void enterPipeline(const PlanItem& item);
    [[nodiscard]] bool takeGrid(PipelineFrame& frame, const ir::Operation& operation);
    void runPipeline();
    void prologue(PipelineFrame& frame);
    void fetch(PipelineFrame& frame, std::size_t operand, std::int64_t block, bool prefetched);
    void lookAhead(PipelineFrame& frame, std::size_t operand, std::int64_t most);
    [[nodiscard]] StepActions actionsAt(PipelineFrame& frame, std::size_t operand);
    [[nodiscard]] StepActions actionsNow(PipelineFrame& frame, std::size_t operand);
    void copyIn(PipelineFrame& frame);
    void enterStep(PipelineFrame& frame);
    void leaveStep(PipelineFrame& frame);
    void waitOut(PipelineFrame& frame, PipelineOperand& operand);
    void epilogue(PipelineFrame& frame);
    void bindBlocks(PipelineFrame& frame);
    void visit(PipelineFrame& frame, std::size_t operand, std::int64_t block, std::int32_t slot);

    // pipeline_blocks.cpp
    [[nodiscard]] std::int64_t loadIndex(const ir::Operation& get,
                                         std::span<const std::int64_t> indices);
    [[nodiscard]] std::int64_t lookUpBlock(PipelineFrame& frame, std::size_t operand,
                                           std::int64_t step);

    [[nodiscard]] std::int64_t blockAt(PipelineFrame& frame, std::size_t operand, std::int64_t step)
    {
        const PipelineFrame::Looked& looked = frame.lookedAt(operand, step);
        return looked.step == step ? looked.block : lookUpBlock(frame, operand, step);
    }

    std::int32_t startCopy(PipelineFrame& frame, std::size_t operand, std::int64_t block,
                           std::int32_t slot, bool out);
    void fillSlot(PipelineFrame& frame, std::size_t operand, std::int64_t block, std::int32_t slot);
    void waitFor(std::int32_t copy, std::int32_t row);
    void reportOperand(const PipelineOperand& operand, std::string kind, std::string sentence,
                       std::int32_t step, std::optional<std::int64_t> related, std::int64_t count);
    void reportRevisit(const PipelineFrame& frame, const PipelineOperand& operand,
                       std::int64_t block);
    void reportNotWritten(const PipelineFrame& frame, const PipelineOperand& operand,
                          std::int64_t block, std::int32_t slot);
    void reportNeverWritten(const PipelineFrame& frame);
    void reportNeverAwaited(const PipelineFrame& frame);

    const ir::Program& m_program;
    const chip::Chip& m_chip;
    const Options& m_options;
    const NeededSet& m_needed;
    const Plan& m_plan;
    Recorder m_recorder;
    std::vector<FifoLink> m_links;
    std::vector<RuntimeValue> m_values; // by ValueId
    std::vector<RefBinding> m_refs;     // by ValueId
    std::vector<Buffer> m_buffers;
    std::vector<std::uint8_t> m_written; // by buffer: stored to since its stay began
    std::set<std::int32_t> m_aliased;    // buffers that an input and an output share
    std::deque<Flight> m_flights;        // in issue order
    Agent m_agent;
    std::optional<std::size_t> m_gridFrame;        // the innermost pipeline's frame, for program_id
    std::vector<bool> m_used;                      // by ValueId: some operation reads it
    std::int64_t m_turns = 0;                      // frames entered or resumed
    double m_share = 0;                            // done, as progress was told last
    std::chrono::steady_clock::time_point m_asked; // whether to go on
    std::optional<Error> m_error;
};

} // namespace pallascope::machine
