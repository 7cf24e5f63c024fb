// Which copies are queued and under way at a moment. All views that say how many ask here, so that
// they say the same.
#pragma once

#include "views/layout/run/run_view.h"

#include <cstddef>
#include <cstdint>
#include <optional>

namespace pallascope::layout {

// What a link does at a moment: one copy at a time, and others wait.
struct LinkNow
{
    trace::CopyRow copy; // the one under way, or else the one that is next
    bool moves = false;  // whether that one is under way
    std::size_t queued = 0;
};

// Of a link that has copies.
[[nodiscard]] std::optional<LinkNow> linkNow(const trace::Trace& trace, std::int32_t link,
                                             Picoseconds now);
// Of the first link of a device, or of all for kNone, on which a copy is under way; where none is,
// of the first on which copies are queued.
[[nodiscard]] std::optional<LinkNow> busyLinkNow(const trace::Trace& trace, std::int32_t device,
                                                 Picoseconds now);

// Whether a copy goes into or out of the memory of an SM, a number of Agents::sms.
[[nodiscard]] bool isCopyOfSm(const RunView& run, trace::CopyRow copy, std::int32_t sm);

} // namespace pallascope::layout
