// What a program occupies on chip before it runs: every slot of every operand and all scratch, tile
// padding included, at their addresses. The estimate of temporaries stands apart.
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
    bool outer = false;   // of a pipeline around: its own budget lists it too
    bool scratch = false; // no slots of a pipeline operand: scratch, run_scoped, scalar arguments
    std::int32_t memory = 0; // index into Chip::memories
    std::int32_t slots = 1;
    Bytes slotBytes;

    [[nodiscard]] Bytes total() const { return slotBytes * slots; }
};

struct Budget
{
    std::vector<BudgetEntry> entries; // in the order of their addresses
    Bytes temporariesEstimate;
    ir::LocationId location; // of the pipeline; none of a program without one

    [[nodiscard]] Bytes used(std::int32_t memory) const;
};

// The memory that blocks and scratch of a space live in, by name: vmem -> "VMEM", smem -> "SMEM".
[[nodiscard]] Result<std::int32_t> memoryOf(ir::MemorySpace space, const chip::Chip& chip);

// Of one pipeline operation: its block refs and scratch in the order of the body's arguments, then
// what else is allocated while it runs (scopes around it, the largest ones inside, SMEM arguments).
// The error says that the chip lacks a memory.
[[nodiscard]] Result<Budget> budget(const ir::Program& program, const ir::Operation& pipeline,
                                    const chip::Chip& chip);

// Of a program without pipelines: its SMEM arguments and the largest nested scopes.
[[nodiscard]] Result<Budget> scopeBudget(const ir::Program& program, const chip::Chip& chip);

// Of every pipeline in program order; of a program without any its scopes.
[[nodiscard]] Result<std::vector<Budget>> budgets(const ir::Program& program,
                                                  const chip::Chip& chip);

// What a kernel may use of a memory: what one of the program's asks for, else the chip's default.
[[nodiscard]] std::optional<Bytes> scopedLimit(const ir::Program& program,
                                               const chip::Memory& memory);

// Fails (limit error) when the entries exceed the physical memory: one sentence with the bytes of
// each.
[[nodiscard]] Status checkCapacity(const Budget& budget, const chip::Chip& chip);

} // namespace pallascope::cost
