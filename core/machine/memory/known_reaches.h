// The elements that views reach. Agents of a GPU ask for those of the same few slots again and
// again, so the last answers are kept.
#pragma once

#include "core/machine/memory/refs.h"

#include <array>
#include <memory>

namespace pallascope::machine {

class KnownReaches
{
public:
    // As reachOf().
    [[nodiscard]] const std::shared_ptr<const Reach>& of(const RefBinding& ref,
                                                         const Shape& memory);

private:
    struct Known
    {
        bool whole = false; // else `view`
        StridedView view;
        Shape memory;
        std::shared_ptr<const Reach> reach; // null: nothing is known yet
    };

    std::array<Known, 64> m_known; // each view has one place
};

} // namespace pallascope::machine
