#include "core/machine/prepare/slots.h"

#include "core/machine/ops/evaluate.h"

#include <algorithm>

namespace pallascope::machine {

Slots::Slots(const ir::Program& program, const NeededSet& needed)
    : m_slots(program.values.size(), 0)
{
    // Whether some executed operation reads it.
    std::vector<bool> read(program.values.size(), false);
    const auto note = [&](ir::ValueId id) { read[static_cast<std::size_t>(id.index)] = true; };
    forEachOperation(program.body, [&](const ir::Operation& operation) {
        if (!isPure(operation.code) || needed.needs(operation)) {
            std::for_each(operation.operands.begin(), operation.operands.end(), note);
        }
        for (const ir::Region& region : operation.regions) {
            std::for_each(region.results.begin(), region.results.end(), note);
        }
    });
    for (std::size_t i = 0; i < program.values.size(); ++i) {
        const ir::ValueId id{static_cast<std::int32_t>(i)};
        if (program.type(id).isRef()) {
            m_slots[i] = static_cast<std::int32_t>(m_refs.size());
            m_refs.push_back(id);
        } else if (needed.needs(id) || (program.value(id).literal && read[i])) {
            m_slots[i] = static_cast<std::int32_t>(m_valueCount++);
        }
    }
}

} // namespace pallascope::machine
