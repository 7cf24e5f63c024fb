#include "core/machine/record/copied_shapes.h"

#include <utility>

namespace pallascope::machine {

std::int32_t CopiedShapes::rowOf(const Shape& copied, std::vector<Shape>& shapes)
{
    // Mostly the shape of the end before or of the same end of the copy before, for which nothing
    // has to be allocated.
    const auto is = [&](std::int32_t row) {
        return row >= 0 && shapes[static_cast<std::size_t>(row)] == copied;
    };
    if (!is(m_last) && is(m_before)) {
        std::swap(m_last, m_before);
    }
    if (is(m_last)) {
        return m_last;
    }
    const auto [place, isNew] = m_rows.try_emplace({copied.begin(), copied.end()},
                                                   static_cast<std::int32_t>(shapes.size()));
    if (isNew) {
        shapes.push_back(copied);
    }
    m_before = std::exchange(m_last, place->second);
    return m_last;
}

} // namespace pallascope::machine
