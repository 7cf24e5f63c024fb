// The rows of the rounds of loops that copy or wait, while the run goes on. A recorder owns them
// and takes them at the end.
#pragma once

#include "core/trace/trace.h"

#include <cstdint>
#include <vector>

namespace pallascope::machine {

class RoundRows
{
public:
    RoundRows(std::size_t loops, std::size_t agents);

    // The next round of a loop (row of Info::loops) begins on an agent, and the round before it
    // ends. False: it is beyond those that are recorded.
    bool next(std::int32_t loop, std::int32_t agent, Picoseconds time);
    // A loop ends on an agent, and with it its last round.
    void endLoop(std::int32_t loop, std::int32_t agent, Picoseconds time);

    [[nodiscard]] std::size_t size() const { return m_rows.size(); }

    // All rows; those that a stopped run leaves open end then.
    [[nodiscard]] trace::Rounds take(Picoseconds end);

private:
    struct Open
    {
        std::int32_t loop;
        std::int64_t round;
        std::int32_t row; // -1: beyond those that are recorded
    };

    trace::Rounds m_rows;
    std::vector<std::vector<Open>> m_open; // for each agent, the innermost last
    std::vector<std::int64_t> m_recorded;  // of each loop
};

} // namespace pallascope::machine
