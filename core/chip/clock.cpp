#include "core/chip/clock.h"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace pallascope::chip {

namespace {

// The latency of a link is that of a bulk copy, of which some are cycles of the SM's copy engine.
// These get shorter with its clock; the way to the memory does not.
void quicken(Chip& chip, nlohmann::ordered_json& file, Hertz before, Hertz after)
{
    const auto shared = chip.memoryIndex("SMEM");
    const double cycles = chip.multiprocessor->copyCycles.value_or(0);
    const double shorter =
        cycles / static_cast<double>(before.value()) - cycles / static_cast<double>(after.value());
    for (std::size_t i = 0; i < chip.links.size(); ++i) {
        Link& link = chip.links[i];
        if (link.to == shared) {
            const double latency = std::max(0.0, toSeconds(link.latency).value() - shorter);
            link.latency = toPicoseconds(Seconds(latency));
            file["links"][i]["latency_s"]["value"] = latency;
        }
    }
}

} // namespace

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
    quicken(changed, file, chip.agents.front().clock, chip.multiprocessor->boostClock);
    changed.json = file.dump();
    for (AgentKind& agent : changed.agents) {
        agent.clock = chip.multiprocessor->boostClock;
    }
    return changed;
}

} // namespace pallascope::chip
