// Parts of recasts: bitcasts and reshapes that strides cannot express. Used only by refs.cpp.
#pragma once

#include "core/machine/memory/refs.h"

#include <optional>
#include <span>

namespace pallascope::machine {

// The same binding with another innermost view.
[[nodiscard]] RefBinding withView(RefBinding ref, StridedView view);

// The part that `windows` select from a view with these strides.
[[nodiscard]] StridedView part(std::int64_t offset, const Extents& strides,
                               std::span<const Window> windows);

// If the selected part of a ref's last recast consists of the elements of a part of the memory
// below the recast, recasts only that part. Then the rest is not loaded, and copies to it do not
// conflict. Returns nothing if there is no such part.
[[nodiscard]] std::optional<RefBinding> narrowedBelow(const RefBinding& ref,
                                                      std::span<const Window> windows);

} // namespace pallascope::machine
