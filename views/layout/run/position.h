// Where the playhead is: the one look-up behind every "step 3 of 8" and every "of the pipeline
// under the playhead".
#pragma once

#include "core/trace/loop_rounds.h"
#include "views/layout/run/run_view.h"
#include "views/layout/scene/fact.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace pallascope::layout {

// Of several agents that run the same pipeline, the leading one's step (trace::PipelineKind): the
// others are at about the same place.
struct Position
{
    trace::OptionalRow<trace::StepRow> step; // none: the run has none
    trace::PipelineRow pipeline;             // of that step
    std::optional<std::int32_t> kind;        // of that pipeline; none: the run has no pipelines
    std::int64_t number = 0;                 // of the step within its pipeline, from 0
    std::int64_t steps = 0;                  // of that pipeline
    std::int64_t agents = 1;                 // that run it
    std::vector<Extent> index;               // of the grid
    bool finished = false;                   // at the end of the run: nothing is current
};

[[nodiscard]] Position positionAt(const RunView& run, Picoseconds now);

// Whether the grid has several steps, so that a run is gone through by them. If not, it is gone
// through by the rounds of its loops.
[[nodiscard]] bool goesBySteps(const RunView& run);

// The round that has begun last, of the marked loop (ViewState::loop) or of the outermost ones.
// Absent where the run is gone through by other things: by grid steps unless a loop is marked.
[[nodiscard]] std::optional<trace::LoopRounds::Place> roundAt(const RunView& run, Picoseconds now,
                                                              std::int32_t loop);

// The number of a step within its kernel, as all views count: "2", or "2 of mix" where there are
// several kernels. The command line numbers steps over the whole run.
[[nodiscard]] std::string stepOfKernel(const RunView& run, trace::StepRow step);
// "step |3| of |8|"
[[nodiscard]] std::string stepText(const Position& position);
// "round |4| of |11|"
[[nodiscard]] std::string roundText(const trace::LoopRounds::Place& place);
// "|49.0 µs| of 81.6 µs · step |15| of 24 · round |4| of 11": what the transport says.
[[nodiscard]] std::string positionText(const RunView& run, const ViewState& state);
// The longest that the transport says during a run with this loop marked.
[[nodiscard]] std::string widestPositionText(const RunView& run, std::int32_t loop);
// "|24| steps", "|32| subcores × |2| steps"
[[nodiscard]] std::string stepsText(const RunView& run, const Position& position);
// The facts behind these texts.
[[nodiscard]] std::vector<Fact> factsOf(const Position& position);
[[nodiscard]] std::vector<Fact> factsOf(const trace::LoopRounds::Place& place);
// Those behind positionText.
[[nodiscard]] std::vector<Fact> positionFacts(const RunView& run, const ViewState& state);

// How much of the on-chip memory that a pipeline's blocks are in is taken while it runs.
struct Taken
{
    std::int32_t memory = 0; // row of Info::memories
    Bytes used, limit, capacity;
    Bytes compilers; // of `used`: no buffer's; what the compiler takes for a block of a GPU
    std::vector<std::int32_t> buffers; // in that memory, that are there
};

// Of the memory that the report is of; where the pipeline has nothing there, of the on-chip memory
// in which it has most.
[[nodiscard]] Taken takenAt(const RunView& run, const Position& position);
// What the compiler takes of that memory for each block of a GPU; 0 where there is none.
[[nodiscard]] Bytes compilersOf(const RunView& run, std::int32_t memory);
// The buffers in a memory that are there while the pipeline under the playhead runs.
[[nodiscard]] std::vector<std::int32_t> buffersThere(const RunView& run, const Position& position,
                                                     std::int32_t memory);

} // namespace pallascope::layout
