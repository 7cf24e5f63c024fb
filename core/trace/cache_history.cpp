#include "core/trace/cache_history.h"

#include "core/trace/columns.h"

#include <algorithm>

namespace pallascope::trace {

CacheHistory::CacheHistory(const Trace& trace)
{
    const CacheChanges& changes = trace.cacheChanges();
    std::vector<std::size_t> number(trace.info().operands.size());
    std::vector<bool> isHeld(trace.info().operands.size());
    for (const std::int32_t operand : changes.operand) {
        isHeld[at(operand)] = true;
    }
    for (std::size_t operand = 0; operand < isHeld.size(); ++operand) {
        number[operand] = m_operands.size();
        if (isHeld[operand]) {
            m_operands.push_back(static_cast<std::int32_t>(operand));
        }
    }
    m_all.resize(at(trace.info().deviceCount()) * m_operands.size());
    for (std::size_t row = 0; row < changes.size(); ++row) {
        History& history =
            m_all[at(changes.device[row]) * m_operands.size() + number[at(changes.operand[row])]];
        history.time.push_back(changes.time[row]);
        history.bytes.push_back(changes.bytes[row]);
    }
}

Bytes CacheHistory::heldAt(std::int32_t device, OperandRow operand, Picoseconds t) const
{
    const auto found = std::lower_bound(m_operands.begin(), m_operands.end(), operand.number);
    if (found == m_operands.end() || *found != operand.number) {
        return {};
    }
    const History& history = m_all[at(device) * m_operands.size() + at(found - m_operands.begin())];
    const std::size_t changes = begunBy(history.time, t.value());
    return changes == 0 ? Bytes() : Bytes(history.bytes[changes - 1]);
}

} // namespace pallascope::trace
