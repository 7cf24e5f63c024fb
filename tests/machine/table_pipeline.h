// Pipelines whose index maps are tables, as programs for the machine; and the events of a run, read
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
    std::vector<OracleOperand> operands; // inputs first, then those read and written, and outputs
    int release = 12;                    // of JAX 0.`release`

    [[nodiscard]] std::int64_t steps() const;
};

// The elements of a block along each axis of its array.
inline constexpr Extent kBlockSize = 4;

// Each array is f32 and has as many blocks as the table names. If the table names only one, it has
// one more, unless the operand is trivial: a single block that is the whole array is trivial by
// definition. The body stores the number of the step plus the sum of the inputs' largest elements
// to every output.
[[nodiscard]] ir::Program tableProgram(const TablePipeline& pipeline);

// The events of a finished run in program order. Copies and waits come in the trace's order. How
// they interleave in a step follows from the order of the phases, which `orderFault` compares with
// the times.
[[nodiscard]] std::vector<Event> eventsOf(const trace::Trace& trace, const TablePipeline& pipeline);

// A sentence about the first event whose time contradicts the order of eventsOf(); empty if there
// is none.
[[nodiscard]] std::string orderFault(const trace::Trace& trace);

struct RandomKinds
{
    bool inOuts = true;
    int mostBuffers = 4;
    int release = 12;
};

[[nodiscard]] TablePipeline randomPipeline(std::mt19937_64& random, const RandomKinds& kinds);

} // namespace pallascope::machine_test
