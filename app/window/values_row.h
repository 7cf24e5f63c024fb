// A row of fields in the Values dock.
#pragma once

#include <QHBoxLayout>

namespace pallascope::app {

inline constexpr int kValuesEdge = 10, kValuesBetween = 6; // px around and between fields

[[nodiscard]] inline QHBoxLayout* valuesRow()
{
    auto* row = new QHBoxLayout;
    row->setContentsMargins(kValuesEdge, 0, kValuesEdge, 0);
    row->setSpacing(kValuesBetween);
    return row;
}

} // namespace pallascope::app
