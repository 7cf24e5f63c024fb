// Says which things of a run belong together, so that hovering one frames its partners in every
// view: a copy, its block, its slot, the wait that it causes, the operation, the source line.
#pragma once

#include "views/layout/run/run_view.h"

#include <cstdint>
#include <vector>

namespace pallascope::navigation {

class Partners
{
public:
    Partners() = default;
    // Takes O(log n), and for a moment O(n), with n events. Targets that stand for nothing in the
    // run (lanes, the time axis) have no partners.
    Partners(const layout::RunView& run, const layout::ViewState& state,
             const layout::Target& target);

    [[nodiscard]] bool empty() const { return m_targets.empty(); }

    // Whether a view shall frame a place with this target.
    [[nodiscard]] bool contains(const layout::Target& candidate) const;

private:
    struct Gather; // adds the partners for each kind of target

    std::vector<layout::Target> m_targets;
    std::vector<std::int64_t> m_operations; // with every instance of these
};

} // namespace pallascope::navigation
