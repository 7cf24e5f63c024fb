#include "core/trace/agent_rows.h"

#include "core/trace/trace.h"

namespace pallascope::trace {

const RowsOfAgents::Tables& RowsOfAgents::of(const Trace& trace) const
{
    std::call_once(m_later->made, [&] {
        m_later->tables = {RowsByAgent(trace.segments().agent), RowsByAgent(trace.waits().agent)};
    });
    return m_later->tables;
}

} // namespace pallascope::trace
