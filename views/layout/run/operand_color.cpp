#include "views/layout/run/operand_color.h"

#include <cstdint>

namespace pallascope::layout {

namespace {

constexpr std::int32_t kColors = 6;

} // namespace

Role operandRole(const RunView& run, trace::OperandRow operand)
{
    return hueRole(run.index->arrays().ofOperand[operand.index()]);
}

bool isRepeatedColor(const RunView& run, trace::OperandRow operand)
{
    return run.index->arrays().ofOperand[operand.index()] >= kColors;
}

Role bufferRole(const RunView& run, trace::BufferRow buffer)
{
    const std::int32_t array = run.index->arrays().ofBuffer[buffer.index()];
    if (array >= 0) {
        return hueRole(array);
    }
    const trace::Info& info = run.trace->info();
    const std::int32_t memory = info.buffers[buffer.index()].memory;
    return info.memories[static_cast<std::size_t>(memory)].name == "SMEM" ? Role::Smem : Role::Vmem;
}

} // namespace pallascope::layout
