// Records manual DMA (which blocks it copies) and semaphores.
#include "core/machine/record/recorder.h"

#include <algorithm>

namespace pallascope::machine {

std::int64_t Recorder::blockOf(const Description::CopySite& site, std::int64_t element) const
{
    if (element == 0) {
        return 0;
    }
    const trace::Operand& operand = builder.info.operands[static_cast<std::size_t>(site.operand)];
    const Extents strides = rowMajorStrides(operand.array);
    std::int64_t block = 0;
    for (std::size_t axis = 0; axis < strides.size(); ++axis) {
        const std::int64_t index = element / strides[axis] / operand.block[axis];
        element %= strides[axis];
        block = block * operand.blockCounts[axis] + std::min(index, operand.blockCounts[axis] - 1);
    }
    return block;
}

void Recorder::addEnds(trace::CopyRow copy, const CopyEnd& source, const CopyEnd& target)
{
    trace::CopyEnds& ends = builder.copyEnds;
    for (const CopyEnd* const end : {&source, &target}) {
        ends.copy.push_back(copy.number);
        ends.agent.push_back(end->agent);
        ends.buffer.push_back(end->buffer);
        ends.first.push_back(end->first);
        ends.shape.push_back(m_copiedShapes.rowOf(end->shape, builder.info.copiedShapes));
        ends.semaphore.push_back(trace::stored(end->semaphore));
    }
}

trace::SemaphoreRow Recorder::semaphoreRow(const std::string& name, ir::MemorySpace space,
                                           std::int64_t element, const Shape& shape,
                                           std::int32_t agent)
{
    std::string full = name;
    if (shape.rank() > 0) {
        std::vector<std::int64_t> index(shape.rank());
        for (std::size_t axis = shape.rank(); axis-- > 0;) {
            index[axis] = element % shape[axis];
            element /= shape[axis];
        }
        full += "[" + join(index, ",") + "]";
    }
    const auto [place, isNew] = m_semaphores.try_emplace({full, agent});
    if (isNew) {
        place->second = trace::SemaphoreRow::at(builder.info.semaphores.size());
        builder.info.semaphores.push_back({full, std::string(ir::memorySpaceName(space)), agent});
    }
    return place->second;
}

} // namespace pallascope::machine
