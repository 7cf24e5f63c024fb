// What a replay keeps of a run instead of rows: when step bodies began, copies were issued and
// rounds of loops began. A recorder owns it.
#pragma once

#include "core/trace/trace.h"

#include <cstdint>
#include <vector>

namespace pallascope::machine {

// Marks nothing twice when a restored run repeats what it has done before.
inline void addMark(std::vector<std::int64_t>& marks, std::int64_t events)
{
    if (marks.empty() || marks.back() < events) {
        marks.push_back(events);
    }
}

// Sequence numbers, ascending. They reach at most as far as the run has come.
struct Marks
{
    // Of the first agent that runs a loop.
    struct OfLoop
    {
        std::int32_t agent = trace::kNone;
        std::vector<std::int64_t> rounds;
    };

    std::vector<std::int64_t> bodies, copies;
    std::vector<OfLoop> loops; // by row of Info::loops: when its rounds began

    // A round begins. Of several agents that run a loop, the first one counts.
    void addRound(std::int32_t loop, std::int32_t agent, std::int64_t events)
    {
        OfLoop& marks = loops[static_cast<std::size_t>(loop)];
        if (marks.agent == trace::kNone || agent < marks.agent) {
            marks = {agent, {}};
        }
        if (agent == marks.agent) {
            addMark(marks.rounds, events);
        }
    }
};

} // namespace pallascope::machine
