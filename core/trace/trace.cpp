#include "core/trace/trace.h"

#include "core/trace/validate.h"

#include <utility>

namespace pallascope::trace {

Status checkInfo(const Info& info)
{
    return validateInfo(info, nullptr);
}

Result<std::shared_ptr<const Trace>> TraceBuilder::finish(const Info* checked) &&
{
    if (Status status = validateInfo(info, checked); !status) {
        return status.error();
    }
    if (Status status = validateRows(*this); !status) {
        return status.error();
    }
    // std::make_shared cannot be used, because the constructor is private.
    const std::shared_ptr<Trace> trace(new Trace());
    trace->m_info = std::move(info);
    trace->m_steps = std::move(steps);
    trace->m_segments = std::move(segments);
    trace->m_copies = std::move(copies);
    trace->m_copyEnds = std::move(copyEnds);
    trace->m_waits = std::move(waits);
    trace->m_visits = std::move(visits);
    trace->m_signals = std::move(signals);
    trace->m_rounds = std::move(rounds);
    trace->m_gridBlocks = std::move(gridBlocks);
    trace->m_cacheChanges = std::move(cacheChanges);
    trace->m_end = end;
    return std::shared_ptr<const Trace>(trace);
}

} // namespace pallascope::trace
