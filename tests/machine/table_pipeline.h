// Pipelines whose index maps are tables, as programs for the machine; and the events of a run read
// back from its trace.
#pragma once

#include "core/base/shape.h"
#include "core/ir/program.h"
#include "core/trace/trace.h"
#include "tests/machine/schedule_oracle.h"

#include <random>
#include <vector>

namespace pallascope::machine_test {

struct TablePipeline
{
    std::vector<Extent> grid;
    std::vector<OracleOperand> operands; // inputs first, then in-outs and outputs
    int release = 12;                    // of JAX: 0.release

    [[nodiscard]] std::int64_t steps() const;
};

// Elements of a block on each axis of its array.
inline constexpr Extent kBlockSize = 4;

// f32 arrays of as many blocks as the table names (one more where only one is named, unless the
// operand is trivial: one block that is the whole array is trivial by rule). The body stores the
// step's number plus the sum of the inputs' largest elements to every output and in-out.
[[nodiscard]] ir::Program tableProgram(const TablePipeline& pipeline);

// The events of a finished run in program order. Copies and waits are in the trace's own order; how
// they interleave within a step is the order of the phases, which `orderFault` holds against times.
[[nodiscard]] std::vector<Event> eventsOf(const trace::Trace& trace, const TablePipeline& pipeline);

// Empty, or a sentence on the first event whose time contradicts the order of eventsOf.
[[nodiscard]] std::string orderFault(const trace::Trace& trace);

struct RandomKinds
{
    bool inOuts = true;
    int mostBuffers = 4;
    int release = 12;
};

[[nodiscard]] TablePipeline randomPipeline(std::mt19937_64& random, const RandomKinds& kinds);

} // namespace pallascope::machine_test
