// What a program occupies in on-chip memory before it runs: every slot of every operand and all
// scratch, with tile padding, at their addresses. The estimate of temporaries is kept apart.
#pragma once

#include "core/base/result.h"
#include "core/chip/chip.h"
#include "core/ir/program.h"

#include <optional>
#include <string>
#include <vector>

namespace pallascope::cost {

struct BudgetEntry
{
    std::string name;
    ir::ValueId ref;
    bool outer = false; // belongs to an enclosing pipeline, whose own budget lists it too
    // Not slots of a pipeline operand, but scratch, run_scoped or scalar arguments.
    bool scratch = false;
    std::int32_t memory = 0; // index into Chip::memories
    std::int32_t slots = 1;
    Bytes slotBytes;

    [[nodiscard]] Bytes total() const { return slotBytes * slots; }
};

struct Budget
{
    std::vector<BudgetEntry> entries; // in the order of their addresses
    Bytes temporariesEstimate;
    ir::LocationId location; // of the pipeline; none if the program has no pipeline

    [[nodiscard]] Bytes used(std::int32_t memory) const;
};

// The memory, found by name, in which blocks and scratch of a space live: vmem -> "VMEM", smem ->
// "SMEM".
[[nodiscard]] Result<std::int32_t> memoryOf(ir::MemorySpace space, const chip::Chip& chip);

// The budget of one pipeline operation: its block refs and scratch in the order of the body's
// arguments, then everything else that is allocated while it runs (scopes around it, the largest
// scopes inside, SMEM arguments). The error says that the chip lacks a memory.
[[nodiscard]] Result<Budget> budget(const ir::Program& program, const ir::Operation& pipeline,
                                    const chip::Chip& chip);

// The budget of a program without pipelines: its SMEM arguments and the largest nested scopes.
[[nodiscard]] Result<Budget> scopeBudget(const ir::Program& program, const chip::Chip& chip);

// The budget of every pipeline in program order, or scopeBudget() if there is no pipeline. The
// error says that the program is for another kind of chip, or that the chip lacks a memory.
[[nodiscard]] Result<std::vector<Budget>> budgets(const ir::Program& program,
                                                  const chip::Chip& chip);

// How much of a memory a kernel may use: what one of the program's kernels asks for, otherwise the
// chip's default.
[[nodiscard]] std::optional<Bytes> scopedLimit(const ir::Program& program,
                                               const chip::Memory& memory);

// Fails with a limit error if the entries exceed the physical memory: one sentence with the bytes
// of each.
[[nodiscard]] Status checkCapacity(const Budget& budget, const chip::Chip& chip);

} // namespace pallascope::cost
