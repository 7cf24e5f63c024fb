// Records the rounds of loops that copy or wait.
#include "core/machine/record/recorder.h"

namespace pallascope::machine {

void Recorder::nextRound(std::int32_t loop, std::int32_t agent, Picoseconds time)
{
    if (m_keeps != Keeps::Rows) {
        markRound(loop, agent);
        return;
    }
    std::vector<OpenRound>& open = m_openRounds[static_cast<std::size_t>(agent)];
    const bool continues = !open.empty() && open.back().loop == loop;
    const std::int64_t round = continues ? open.back().round + 1 : 0;
    endLoop(loop, agent, time);
    if (m_rounds[static_cast<std::size_t>(loop)] == trace::kMostRounds) {
        ++builder.info.loops[static_cast<std::size_t>(loop)].roundsBeyond;
        open.push_back({loop, round, trace::kNone});
        return;
    }
    ++m_rounds[static_cast<std::size_t>(loop)];
    trace::Rounds& rounds = builder.rounds;
    open.push_back({loop, round, static_cast<std::int32_t>(rounds.size())});
    rounds.loop.push_back(loop);
    rounds.agent.push_back(agent);
    rounds.round.push_back(round);
    rounds.begin.push_back(time.value());
    rounds.end.push_back(time.value());
}

void Recorder::markRound(std::int32_t loop, std::int32_t agent)
{
    if (m_keeps != Keeps::Marks) {
        return;
    }
    Marks::OfLoop& marks = m_marks.loops[static_cast<std::size_t>(loop)];
    if (marks.agent == trace::kNone || agent < marks.agent) {
        marks = {agent, {}};
    }
    if (agent == marks.agent) {
        mark(marks.rounds);
    }
}

void Recorder::endLoop(std::int32_t loop, std::int32_t agent, Picoseconds time)
{
    std::vector<OpenRound>& open = m_openRounds[static_cast<std::size_t>(agent)];
    if (open.empty() || open.back().loop != loop) { // it has had no round
        return;
    }
    if (const std::int32_t row = open.back().row; row >= 0) {
        builder.rounds.end[static_cast<std::size_t>(row)] = time.value();
    }
    open.pop_back();
}

void Recorder::closeRounds(Picoseconds end)
{
    for (const std::vector<OpenRound>& open : m_openRounds) {
        for (const OpenRound& round : open) {
            if (round.row >= 0) {
                builder.rounds.end[static_cast<std::size_t>(round.row)] = end.value();
            }
        }
    }
}

} // namespace pallascope::machine
