// What a run takes of the memories on the chip, by operand.
#pragma once

#include "core/analysis/report.h"

#include <string>
#include <vector>

namespace pallascope::analysis {

// What each operand, and each scratch, takes of a memory (a row of Info::memories).
[[nodiscard]] std::vector<UsedMemory> usedOf(const trace::Info& info, std::int32_t memory);

[[nodiscard]] Bytes sumOf(const std::vector<UsedMemory>& used);

// A memory beside the one that the report counts: what subcores share, or have beside the cores.
struct OtherMemory
{
    std::string name;
    Bytes peak, capacity;
    std::vector<UsedMemory> byOperand;
};

// Those that the run uses; none on a GPU.
[[nodiscard]] std::vector<OtherMemory> otherMemories(const Report& report, const trace::Info& info);

} // namespace pallascope::analysis
