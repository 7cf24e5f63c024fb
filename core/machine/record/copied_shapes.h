// The shapes of what manual DMA copies, each once: rows of Info::copiedShapes.
#pragma once

#include "core/base/shape.h"

#include <cstdint>
#include <map>
#include <vector>

namespace pallascope::machine {

class CopiedShapes
{
public:
    // The row of a shape in `shapes`, where it is added if it is new.
    [[nodiscard]] std::int32_t rowOf(const Shape& copied, std::vector<Shape>& shapes);

private:
    std::map<std::vector<Extent>, std::int32_t> m_rows;
    std::int32_t m_last = -1, m_before = -1; // the two that were asked for last
};

} // namespace pallascope::machine
