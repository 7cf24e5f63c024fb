// Where in a ref an element of its memory is, and where in memory an element of the ref is.
// Positions are row-major.
#pragma once

#include "core/machine/memory/refs.h"

#include <cstdint>
#include <optional>

namespace pallascope::machine {

// Empty if the view does not reach the element.
[[nodiscard]] std::optional<std::int64_t> positionIn(const StridedView& view, std::int64_t element);
[[nodiscard]] std::int64_t elementAt(const StridedView& view, std::int64_t position);

// The same for a binding; `memory` is the shape of its buffer. If the ref shows elements of another
// size, of which each covers several of the memory or the other way round, the first one counts.
[[nodiscard]] std::optional<std::int64_t> positionIn(const RefBinding& ref, const Shape& memory,
                                                     std::int64_t element);
[[nodiscard]] std::int64_t elementAt(const RefBinding& ref, const Shape& memory,
                                     std::int64_t position);

} // namespace pallascope::machine
