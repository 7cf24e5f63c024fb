// Which segments and waits of a trace are each agent's, so that a question about one agent does not
// go through the rows of all others: a GPU has hundreds.
#pragma once

#include "core/trace/rows_by.h"

#include <memory>
#include <mutex>

namespace pallascope::trace {

class Trace;

// Made when they are first asked for, in O(rows). Any thread may ask.
class RowsOfAgents
{
public:
    struct Tables
    {
        RowsByAgent segments, waits;
    };

    [[nodiscard]] const Tables& of(const Trace& trace) const;

    // They follow from the rest of the trace.
    bool operator==(const RowsOfAgents& /*other*/) const { return true; }

private:
    struct Later
    {
        std::once_flag made;
        Tables tables;
    };

    std::shared_ptr<Later> m_later = std::make_shared<Later>();
};

} // namespace pallascope::trace
