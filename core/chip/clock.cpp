#include "core/chip/clock.h"

#include <nlohmann/json.hpp>

namespace pallascope::chip {

Result<Chip> atClock(const Chip& chip, Clock clock)
{
    if (clock == Clock::Sustained) {
        return chip;
    }
    if (!chip.multiprocessor) {
        return userError("The setting clock is boost, a clock of GPUs; " + chip.title
                             + " has one clock.",
                         {{Subject::Setting, "clock"}});
    }
    nlohmann::ordered_json file = nlohmann::ordered_json::parse(chip.json);
    for (nlohmann::ordered_json& agent : file["agents"]) {
        agent["clock_hz"] = file["multiprocessor"]["boost_clock_hz"];
    }
    Chip changed = chip;
    changed.json = file.dump();
    for (AgentKind& agent : changed.agents) {
        agent.clock = chip.multiprocessor->boostClock;
    }
    return changed;
}

} // namespace pallascope::chip
