// Which things belong together: hovering one frames its partners in every view (copy, block, slot,
// the wait it causes, operation, source line).
#pragma once

#include "views/layout/run/run_view.h"

#include <cstdint>
#include <vector>

namespace pallascope::navigation {

class Partners
{
public:
    Partners() = default;
    // O(log n), of a moment O(n); nothing for targets that stand for nothing in the run (lanes, the
    // time axis).
    Partners(const layout::RunView& run, const layout::ViewState& state,
             const layout::Target& target);

    [[nodiscard]] bool empty() const { return m_targets.empty(); }

    // Whether a place with this target is to be framed.
    [[nodiscard]] bool contains(const layout::Target& candidate) const;

private:
    struct Gather; // by the target's kind

    std::vector<layout::Target> m_targets;
    std::vector<std::int64_t> m_operations; // any instance of these
};

} // namespace pallascope::navigation
