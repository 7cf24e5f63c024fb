// Arrays in HBM that only fusions touch: XLA lays them out as pads least, since no kernel, argument
// or result says how they lie (docs/xla.md).
#pragma once

#include "core/ir/program.h"

#include <vector>

namespace pallascope::machine {

class FreeLayouts
{
public:
    explicit FreeLayouts(const ir::Program& program);

    [[nodiscard]] bool has(ir::ValueId array) const
    {
        return m_free[static_cast<std::size_t>(array.index)];
    }

private:
    std::vector<bool> m_free; // by ValueId
};

} // namespace pallascope::machine
