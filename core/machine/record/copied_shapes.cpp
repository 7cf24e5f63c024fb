#include "core/machine/record/copied_shapes.h"

namespace pallascope::machine {

std::int32_t CopiedShapes::rowOf(const Shape& copied, std::vector<Shape>& shapes)
{
    // Mostly the shape of the end before, for which nothing has to be allocated.
    if (m_last >= 0 && shapes[static_cast<std::size_t>(m_last)] == copied) {
        return m_last;
    }
    const auto [place, isNew] = m_rows.try_emplace({copied.begin(), copied.end()},
                                                   static_cast<std::int32_t>(shapes.size()));
    if (isNew) {
        shapes.push_back(copied);
    }
    m_last = place->second;
    return m_last;
}

} // namespace pallascope::machine
