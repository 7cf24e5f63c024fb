#include "views/layout/run/operand_color.h"

namespace pallascope::layout {

namespace {

constexpr std::int32_t kColors = 6;

} // namespace

Role operandRole(const RunView& run, std::int32_t operand)
{
    return hueRole(run.index->arrays().ofOperand[static_cast<std::size_t>(operand)]);
}

bool isRepeatedColor(const RunView& run, std::int32_t operand)
{
    return run.index->arrays().ofOperand[static_cast<std::size_t>(operand)] >= kColors;
}

Role bufferRole(const RunView& run, std::int32_t buffer)
{
    const std::int32_t array = run.index->arrays().ofBuffer[static_cast<std::size_t>(buffer)];
    if (array >= 0) {
        return hueRole(array);
    }
    const trace::Info& info = run.trace->info();
    const std::int32_t memory = info.buffers[static_cast<std::size_t>(buffer)].memory;
    return info.memories[static_cast<std::size_t>(memory)].name == "SMEM" ? Role::Smem : Role::Vmem;
}

} // namespace pallascope::layout
