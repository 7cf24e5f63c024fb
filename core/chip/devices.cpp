#include "core/chip/devices.h"

#include <charconv>

namespace pallascope::chip {

std::string divideAmongDevices(Chip& chip)
{
    for (Memory& memory : chip.memories) {
        if (memory.scope == "chip") {
            memory.bytes = Bytes(memory.bytes.value() / chip.devices);
        }
    }
    for (Link& link : chip.links) {
        link.datasheet = BytesPerSecond(link.datasheet.value() / static_cast<double>(chip.devices));
    }
    if (chip.interconnect) {
        BytesPerSecond& rate = chip.interconnect->link.datasheet;
        rate = BytesPerSecond(rate.value() / static_cast<double>(chip.devices));
    }
    for (Unit& unit : chip.units) {
        unit.peakFlopsPerSecond /= static_cast<double>(chip.devices);
        for (auto& [dtype, rate] : unit.matrixRates) {
            rate.peakFlopsPerSecond /= static_cast<double>(chip.devices);
        }
    }
    for (AgentKind& agent : chip.agents) {
        std::int64_t& divided = agent.slots > 1 ? agent.slots : agent.count;
        if (divided % chip.devices != 0) {
            return (agent.slots > 1 ? "slots of " : "count of ") + agent.name;
        }
        divided /= chip.devices;
    }
    return "";
}

bool isDivided(const Chip& chip, std::string_view pointer)
{
    constexpr std::string_view kMemories = "/memories/";
    const std::string_view key = pointer.substr(pointer.rfind('/') + 1);
    if (key == "bytes" && pointer.starts_with(kMemories)) {
        std::size_t memory = chip.memories.size();
        std::from_chars(pointer.data() + kMemories.size(), pointer.data() + pointer.size(), memory);
        return memory < chip.memories.size() && chip.memories[memory].scope == "chip";
    }
    return key == "bytes_per_s" || key == "peak_flops_per_s";
}

} // namespace pallascope::chip
