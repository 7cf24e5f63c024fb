#include "app/cli/describe_chip.h"

#include "core/base/format.h"
#include "core/chip/stand_in.h"

#include <fmt/format.h>

namespace pallascope::app {

namespace {

void printMultiprocessor(const chip::Multiprocessor& sm)
{
    fmt::print("  SM     compute capability {}.{}, at a time {} threads ({} of a block) and {} "
               "blocks\n",
               sm.computeMajor, sm.computeMinor, sm.threads, sm.threadsPerBlock, sm.blocks);
    fmt::print("  SM     {} registers ({} of a thread), {} of SMEM ({} of a block, and {} of the "
               "system for each)\n",
               countText(sm.registers), sm.registersPerThread, bytesText(sm.shared),
               bytesText(sm.sharedPerBlock), bytesText(sm.sharedReserved));
    if (sm.clusterBlocks) {
        fmt::print("  SM     clusters of {} blocks, {} at most\n", *sm.clusterBlocks,
                   *sm.clusterBlocksMost);
    }
    if (sm.l1WithShared) {
        fmt::print("  L1     {} with SMEM\n", bytesText(*sm.l1WithShared));
    }
    fmt::print("  L2     keeps its rate up to {}\n", bytesText(sm.l2Usable));
    fmt::print("  clock  {:.3g} GHz for short kernels, {:.3g} GHz sustained\n",
               static_cast<double>(sm.boostClock.value()) * 1e-9,
               static_cast<double>(sm.sustainedClock.value()) * 1e-9);
}

void printInterconnect(const chip::Interconnect& interconnect)
{
    const chip::Link& link = interconnect.link;
    fmt::print("  link   {:<7} {} each way to {}, latency {} a hop\n", link.name,
               bandwidthText(link.achieved().value()),
               interconnect.isSwitched ? "a switch that joins all devices"
                                       : counted(interconnect.links, "neighbour", "neighbours"),
               timeText(link.latency));
}

// What a step of a pipeline takes besides its body.
std::string stepText(const chip::Chip& chip)
{
    const std::string operand =
        chip.stepOperand > Picoseconds(0)
            ? ", and " + timeText(chip.stepOperand) + " for each operand whose blocks are copied"
            : "";
    return timeText(chip.stepOverhead) + operand;
}

} // namespace

void printChip(const chip::Chip& chip)
{
    fmt::print("{} ({})\n\n", chip.title, chip.name);
    for (const chip::Memory& memory : chip.memories) {
        fmt::print("  memory {:<7} {}{}\n", memory.name, bytesText(memory.bytes),
                   memory.defaultLimit ? ", scoped limit " + bytesText(*memory.defaultLimit) : "");
    }
    for (const chip::Link& link : chip.links) {
        fmt::print("  link   {:<7} {} datasheet, {} achieved, latency {}\n", link.name,
                   bandwidthText(link.datasheet.value()), bandwidthText(link.achieved().value()),
                   timeText(link.latency));
    }
    if (chip.interconnect) {
        printInterconnect(*chip.interconnect);
    }
    for (const chip::Unit& unit : chip.units) {
        std::string rates;
        for (const auto& [dtype, rate] : unit.matrixRates) {
            rates +=
                fmt::format(", {} {}", dtypeName(dtype), flopRateText(rate.peakFlopsPerSecond));
        }
        const std::string array =
            unit.rows > 0 ? fmt::format(" of {}\u00d7{}", unit.rows, unit.columns) : "";
        fmt::print("  unit   {:<7} {}, {}{}{}\n", unit.name, unitKindName(unit.kind), unit.count,
                   array, rates);
    }
    for (const chip::AgentKind& agent : chip.agents) {
        const bool isMegacore = agent.count > 1 && &agent == &chip.agents.front();
        fmt::print("  agent  {} \u00d7 {}, {:.3g} GHz{}\n", agent.count, agent.name,
                   static_cast<double>(agent.clock.value()) * 1e-9,
                   agent.slots > 1 ? fmt::format(", in each {} of {}", agent.slotName, agent.slots)
                   : isMegacore    ? ", one device together (megacore)"
                                   : "");
    }
    if (chip.multiprocessor) {
        printMultiprocessor(*chip.multiprocessor);
    }
    if (chip.devices > 1) {
        fmt::print("  a kernel runs on one of the chip's {} devices: the figures above are one's\n",
                   chip.devices);
    }
    for (const chip::UnknownFigure& figure : chip.unknown) {
        fmt::print("  unknown: {} ({}); the model takes {}\n", figure.name, figure.why,
                   chip::standInText(chip, figure));
    }
    fmt::print("  {} {}\n\nEvery figure with its source: --json.\n",
               chip.multiprocessor ? "kernel launch" : "step overhead",
               chip.multiprocessor ? timeText(chip.kernelLaunch) : stepText(chip));
}

} // namespace pallascope::app
