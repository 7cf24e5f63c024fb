#include "core/analysis/used_memory.h"

#include "core/analysis/owners.h"
#include "core/trace/pipelines.h"

#include <utility>

namespace pallascope::analysis {

// Pipelines that run one after the other use the same bytes, so what counts is the one that needs
// most.
std::vector<UsedMemory> usedOf(const trace::Info& info, std::int32_t memory)
{
    const trace::PipelineKinds kinds = trace::pipelineKindsOf(info);
    const std::optional<std::int32_t> largest = kinds.largest(info, memory);
    std::vector<UsedMemory> found;
    std::int32_t before = -1; // operand of the buffer before
    for (std::size_t i = 0; i < info.buffers.size(); ++i) {
        const trace::Buffer& buffer = info.buffers[i];
        if (buffer.memory != memory || !kinds.isThere(trace::BufferRow::at(i), largest)) {
            continue;
        }
        const bool scratch = buffer.operand < 0;
        const std::string& name =
            scratch ? buffer.name : info.operands[static_cast<std::size_t>(buffer.operand)].name;
        if (scratch || buffer.operand != before) {
            found.push_back({name, Bytes(0), scratch});
        }
        before = buffer.operand;
        found.back().bytes += buffer.bytes;
    }
    return found;
}

Bytes sumOf(const std::vector<UsedMemory>& used)
{
    Bytes sum;
    for (const UsedMemory& one : used) {
        sum += one.bytes;
    }
    return sum;
}

std::vector<OtherMemory> otherMemories(const Report& report, const trace::Info& info)
{
    std::vector<OtherMemory> found;
    for (std::size_t row = 0; row < info.memories.size() && !report.isGpu; ++row) {
        const trace::Memory& memory = info.memories[row];
        if (memory.name == report.onChipName || !holdsVectors(memory)) {
            continue;
        }
        std::vector<UsedMemory> used = usedOf(info, static_cast<std::int32_t>(row));
        if (!used.empty()) {
            const Bytes peak = sumOf(used);
            found.push_back({memory.name, peak, memory.capacity, std::move(used)});
        }
    }
    return found;
}

} // namespace pallascope::analysis
