#include "core/machine/record/cache_rows.h"

#include <algorithm>
#include <utility>

namespace pallascope::machine {

void CacheRows::add(std::int32_t device, trace::OperandRow operand, Bytes held, Picoseconds time)
{
    const auto ofDevice = static_cast<std::size_t>(device);
    m_held.resize(std::max(m_held.size(), ofDevice + 1));
    std::vector<Bytes>& before = m_held[ofDevice];
    before.resize(std::max(before.size(), operand.index() + 1));
    if (std::exchange(before[operand.index()], held) == held) {
        return;
    }
    const std::int64_t last = m_rows.size() > 0 ? m_rows.time.back() : 0;
    m_rows.time.push_back(std::max(last, time.value()));
    m_rows.device.push_back(device);
    m_rows.operand.push_back(operand.number);
    m_rows.bytes.push_back(held.value());
}

trace::CacheChanges CacheRows::take(Picoseconds end)
{
    for (std::int64_t& time : m_rows.time) {
        time = std::min(time, end.value());
    }
    return std::move(m_rows);
}

} // namespace pallascope::machine
