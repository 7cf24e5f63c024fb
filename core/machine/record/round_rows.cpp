#include "core/machine/record/round_rows.h"

#include <utility>

namespace pallascope::machine {

RoundRows::RoundRows(std::size_t loops, std::size_t agents)
    : m_open(agents)
    , m_recorded(loops, 0)
{}

bool RoundRows::next(std::int32_t loop, std::int32_t agent, Picoseconds time)
{
    std::vector<Open>& open = m_open[static_cast<std::size_t>(agent)];
    const bool continues = !open.empty() && open.back().loop == loop;
    const std::int64_t round = continues ? open.back().round + 1 : 0;
    endLoop(loop, agent, time);
    std::int64_t& recorded = m_recorded[static_cast<std::size_t>(loop)];
    if (recorded == trace::kMostRounds) {
        open.push_back({loop, round, trace::kNone});
        return false;
    }
    ++recorded;
    open.push_back({loop, round, static_cast<std::int32_t>(m_rows.size())});
    m_rows.loop.push_back(loop);
    m_rows.agent.push_back(agent);
    m_rows.round.push_back(round);
    m_rows.begin.push_back(time.value());
    m_rows.end.push_back(time.value());
    return true;
}

void RoundRows::endLoop(std::int32_t loop, std::int32_t agent, Picoseconds time)
{
    std::vector<Open>& open = m_open[static_cast<std::size_t>(agent)];
    if (open.empty() || open.back().loop != loop) { // it has had no round
        return;
    }
    if (const std::int32_t row = open.back().row; row >= 0) {
        m_rows.end[static_cast<std::size_t>(row)] = time.value();
    }
    open.pop_back();
}

trace::Rounds RoundRows::take(Picoseconds end)
{
    for (const std::vector<Open>& open : m_open) {
        for (const Open& round : open) {
            if (round.row >= 0) {
                m_rows.end[static_cast<std::size_t>(round.row)] = end.value();
            }
        }
    }
    return std::move(m_rows);
}

} // namespace pallascope::machine
