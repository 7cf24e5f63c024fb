// Checks the rounds of loops: each loop's are numbered, and those of one agent nest or follow each
// other.
#include "core/trace/columns.h"
#include "core/trace/validate.h"

#include <map>
#include <utility>
#include <vector>

namespace pallascope::trace {

Status validateRounds(const TraceBuilder& b)
{
    const Rounds& r = b.rounds;

    struct Last
    {
        std::int64_t round = -1, end = 0;
    };

    std::map<std::pair<std::int32_t, std::int32_t>, Last> last;        // by loop and agent
    std::vector<std::vector<std::int64_t>> open(b.info.agents.size()); // ends, outermost first
    std::int64_t previous = 0;
    for (std::size_t i = 0; i < r.size(); ++i) {
        if (r.begin[i] < previous || r.end[i] < r.begin[i] || r.end[i] > b.end.value()) {
            return broken("rounds row {} ({} to {} ps) must begin at {} ps or later and lie within "
                          "the run ({} ps)",
                          i, r.begin[i], r.end[i], previous, b.end.value());
        }
        previous = r.begin[i];
        Last& before = last[{r.loop[i], r.agent[i]}];
        if (r.round[i] != 0 && r.round[i] != before.round + 1) {
            return broken("rounds.round[{}] is {}, but the round before of loop {} is {}", i,
                          r.round[i], b.info.loops[at(r.loop[i])].name, before.round);
        }
        if (r.begin[i] < before.end) {
            return broken("rounds.begin[{}] is {} ps, but the round before of loop {} ends at {} "
                          "ps",
                          i, r.begin[i], b.info.loops[at(r.loop[i])].name, before.end);
        }
        before = {r.round[i], r.end[i]};
        std::vector<std::int64_t>& around = open[at(r.agent[i])];
        while (!around.empty() && around.back() <= r.begin[i]) {
            around.pop_back();
        }
        if (!around.empty() && r.end[i] > around.back()) {
            return broken("rounds row {} ({} to {} ps) begins in a round that ends at {} ps; "
                          "expected it to end there, too",
                          i, r.begin[i], r.end[i], around.back());
        }
        around.push_back(r.end[i]);
    }
    return Done{};
}

} // namespace pallascope::trace
