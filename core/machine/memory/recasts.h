// Parts of recasts: bitcasts and reshapes that strides cannot say. Internal to refs.
#pragma once

#include "core/machine/memory/refs.h"

#include <optional>
#include <span>

namespace pallascope::machine {

// The same binding with another innermost view.
[[nodiscard]] RefBinding withView(RefBinding ref, StridedView view);

// The part that windows select of a view of these strides.
[[nodiscard]] StridedView part(std::int64_t offset, const Extents& strides,
                               std::span<const Window> windows);

// A part of a ref's last recast whose elements are those of a part of what it is made of: that part
// is recast instead, so that the rest is neither loaded nor in the way of copies. Nothing where
// there is no such part.
[[nodiscard]] std::optional<RefBinding> narrowedBelow(const RefBinding& ref,
                                                      std::span<const Window> windows);

} // namespace pallascope::machine
