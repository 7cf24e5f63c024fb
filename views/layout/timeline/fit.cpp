#include "views/layout/timeline/fit.h"

#include "core/trace/agents.h"
#include "core/trace/device_times.h"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace pallascope::layout::timeline {

namespace {

constexpr double kHeadOnly = 12;
constexpr double kLeastScale = 0.6;
constexpr double kLowestScale = 0.35; // where nothing more can go
constexpr double kMostScale = 1.6;
constexpr std::int32_t kFewDevices = 8; // that are worth more than the links of one of them
constexpr double kStripOfDevice = 15, kLowStrip = 10; // px of a device that is not chosen

double baseHeight(const Lane& lane, const RunView& run, std::optional<std::int32_t> tallest)
{
    if (!lane.used) {
        return kHeadOnly;
    }
    const auto links = static_cast<double>(lane.links.size());
    switch (lane.kind) {
    case LaneKind::CopyIn:
    case LaneKind::CopyOut:
        return std::clamp(14 * links, 26.0, 42.0);
    case LaneKind::Wait:
        return lane.agents.empty() ? 18 : lane.agents.size() == 1 ? 14 : 30;
    case LaneKind::Device:
        return kStripOfDevice;
    case LaneKind::DeviceCopy:
    case LaneKind::DeviceWait:
        return 14;
    case LaneKind::DeviceUnit:
        return lane.unit == tallest ? 24 : 13;
    case LaneKind::Sms:
        return 44;
    case LaneKind::Sm:
        return kHeadOnly;
    case LaneKind::SmCopies:
        return 16;
    case LaneKind::SmUnit:
        return 24;
    case LaneKind::Agent:
        return 20;
    case LaneKind::Unit:
        break;
    }
    if (lane.unit == tallest) {
        return 30;
    }
    switch (run.trace->info().units[static_cast<std::size_t>(lane.unit)].kind) {
    case UnitKind::Matrix:
        return 26;
    case UnitKind::Vector:
    case UnitKind::Scalar:
        return 15;
    default:
        return 13;
    }
}

double gapBelow(const Lane& lane)
{
    return lane.kind == LaneKind::Device ? 2 : lane.device >= 0 ? 3 : kLaneGap;
}

// Lanes of devices keep their names: a nameless one would seem to belong to the one above.
double scaled(const Lane& lane, double scale)
{
    const double least = lane.device >= 0 ? std::min(kLeastHead, lane.h) : 0;
    return lane.used ? std::max(least, std::floor(lane.h * scale)) : lane.h;
}

// The sum of all heights and gaps, with the heights scaled.
double sumOf(const std::vector<Lane>& lanes, double scale)
{
    double sum = 0;
    for (const Lane& lane : lanes) {
        sum += scaled(lane, scale) + gapBelow(lane);
    }
    return sum;
}

void setHeights(std::vector<Lane>& lanes, const RunView& run, std::optional<std::int32_t> tallest)
{
    for (Lane& lane : lanes) {
        lane.h = baseHeight(lane, run, tallest);
    }
}

// Where room is scarce, first the strips of devices get lower, then the chosen device's links from
// other devices go, which are links to others too, and its warpgroups but the first; then devices
// go from the end, but for those that one looks for.
void fitDevices(std::vector<Lane>& lanes, const RunView& run, double room)
{
    if (lanes.empty() || lanes.front().device < 0) {
        return;
    }
    const auto fits = [&] { return sumOf(lanes, kLeastScale) <= room; };
    const bool areLow = !fits();
    for (Lane& lane : lanes) {
        if (areLow && lane.kind == LaneKind::Device && !lane.isOpen) {
            lane.h = kLowStrip; // all alike, so that they can be compared
        }
    }
    const auto drop = [&](const auto& test) {
        for (std::size_t i = lanes.size(); i-- > 0 && !fits();) {
            if (test(lanes[i])) {
                lanes.erase(lanes.begin() + static_cast<std::ptrdiff_t>(i));
            }
        }
    };
    drop([](const Lane& lane) { return !lane.used && !lane.isOpen; });
    const std::int32_t straggler = run.index->devices().straggler();
    drop([&](const Lane& lane) {
        return lane.kind == LaneKind::Device && !lane.isOpen && lane.device != straggler
               && lane.device >= kFewDevices;
    });
    drop([](const Lane& lane) {
        return lane.kind == LaneKind::DeviceCopy && lane.name.starts_with("←");
    });
    const auto isAgent = [](const Lane& lane) { return lane.kind == LaneKind::Agent; };
    drop([&](const Lane& lane) {
        return isAgent(lane) && std::count_if(lanes.begin(), lanes.end(), isAgent) > 1;
    });
    drop([&](const Lane& lane) {
        return lane.kind == LaneKind::Device && !lane.isOpen && lane.device != straggler;
    });
    drop([](const Lane& lane) { return lane.kind != LaneKind::Device; });
}

// Where room is scarce, warpgroups go from the end, but for the first.
void fitSms(std::vector<Lane>& lanes, double room)
{
    const auto isAgent = [](const Lane& lane) { return lane.kind == LaneKind::Agent; };
    while (sumOf(lanes, kLeastScale) > room
           && std::count_if(lanes.begin(), lanes.end(), isAgent) > 1) {
        lanes.pop_back();
    }
}

// Makes the waits of many agents of one kind share a lane.
void shareWaits(std::vector<Lane>& lanes, const RunView& run)
{
    for (const trace::AgentKind& kind : run.index->agents().kinds) {
        if (kind.agents.size() <= kFewAgents) {
            continue;
        }
        const auto isOfKind = [&](const Lane& lane) {
            return lane.kind == LaneKind::Wait && lane.agents.size() == 1
                   && std::binary_search(kind.agents.begin(), kind.agents.end(),
                                         lane.agents.front());
        };
        const auto first = std::find_if(lanes.begin(), lanes.end(), isOfKind);
        if (first != lanes.end()) {
            *first = waitLane(run, kind.agents);
            lanes.erase(std::remove_if(first, lanes.end(), isOfKind), lanes.end());
        }
    }
}

// Gives the room that is left to lanes whose height shows a share of many agents, until each agent
// has some pixels.
void growShares(std::vector<Lane>& lanes, double room)
{
    constexpr double kPxOfAgent = 2;
    const auto most = [](const Lane& lane) {
        return lane.used && lane.agents.size() > 1
                   ? kPxOfAgent * static_cast<double>(lane.agents.size())
                   : 0;
    };
    const double left = room - sumOf(lanes, 1);
    double wanted = 0;
    for (const Lane& lane : lanes) {
        wanted += std::max(0.0, most(lane) - lane.h);
    }
    for (Lane& lane : lanes) {
        if (left > 0 && most(lane) > lane.h) {
            lane.h += std::floor((most(lane) - lane.h) * std::min(1.0, left / wanted));
        }
    }
}

// Waits are what one looks for: units go before them, the idlest first, at last but the one that
// computes most.
void keepWaits(std::vector<Lane>& lanes, const RunView& run, std::optional<std::int32_t> tallest,
               double room)
{
    if (lanes.empty() || lanes.front().device >= 0) { // fitDevices
        return;
    }
    while (sumOf(lanes, kLeastScale) > room) {
        auto idlest = lanes.end();
        Picoseconds least;
        for (auto lane = lanes.begin(); lane != lanes.end(); ++lane) {
            if (lane->kind != LaneKind::Unit || lane->unit == tallest) {
                continue;
            }
            const Picoseconds time = busy(run, *lane, run.trace->end());
            if (idlest == lanes.end() || time <= least) { // of the same, the last
                idlest = lane;
                least = time;
            }
        }
        if (idlest == lanes.end()) {
            return;
        }
        lanes.erase(idlest);
    }
}

template<class Test>
void dropUnits(std::vector<Lane>& lanes, Test test)
{
    lanes.erase(
        std::remove_if(lanes.begin(), lanes.end(),
                       [&](const Lane& lane) { return lane.kind == LaneKind::Unit && test(lane); }),
        lanes.end());
}

} // namespace

Lane waitLane(const RunView& run, std::vector<std::int32_t> agents)
{
    const std::int32_t first = agents.front(), last = agents.back();
    Lane lane = {LaneKind::Wait, -1, "waits", Role::Wait};
    if (last - first + 1 == static_cast<std::int32_t>(agents.size())) {
        lane.name =
            "wait " + std::to_string(first) + (last > first ? "–" + std::to_string(last) : "");
    }
    if (first == last) {
        const std::string& name = run.trace->info().agents[static_cast<std::size_t>(first)];
        lane.name = trace::nameOfPlace(name).value_or(lane.name);
    }
    lane.agents = std::move(agents);
    lane.used = busy(run, lane, run.trace->end()).value() > 0;
    return lane;
}

void fit(std::vector<Lane>& lanes, const RunView& run, double top, double room)
{
    const std::optional<std::int32_t> tallest = mainUnit(run);
    setHeights(lanes, run, tallest);
    const bool bySm = std::any_of(lanes.begin(), lanes.end(),
                                  [](const Lane& lane) { return lane.kind == LaneKind::Sm; });
    const bool isByDevice = !lanes.empty() && lanes.front().device >= 0;
    if (bySm && !isByDevice) {
        fitSms(lanes, room);
    }
    const bool several = run.index->agents().size() > 1 && !bySm && !isByDevice;
    if (several && sumOf(lanes, 1) > room) {
        shareWaits(lanes, run);
        setHeights(lanes, run, tallest);
    }
    // If room is scarce, loads and stores are left out first.
    constexpr double kNarrow = 0.75;
    if (sumOf(lanes, 1) * kNarrow > room) {
        dropUnits(lanes, [&](const Lane& lane) {
            const UnitKind kind = run.trace->info().units[static_cast<std::size_t>(lane.unit)].kind;
            return lane.unit != tallest && (kind == UnitKind::Load || kind == UnitKind::Store);
        });
    }
    // Shares of many agents need height more than units without work need their heads.
    const bool many = std::any_of(lanes.begin(), lanes.end(),
                                  [](const Lane& lane) { return lane.agents.size() > kFewAgents; });
    if (several && sumOf(lanes, many ? 1 : kLeastScale) > room) {
        dropUnits(lanes, [](const Lane& lane) { return !lane.used; });
    }
    keepWaits(lanes, run, tallest, room);
    fitDevices(lanes, run, room);
    double fixed = 0;
    double flexible = 0;
    for (const Lane& lane : lanes) {
        (lane.used ? flexible : fixed) += lane.h;
        fixed += gapBelow(lane);
    }
    const double least = isByDevice ? kLeastScale : kLowestScale;
    double scale = std::clamp((room - fixed) / std::max(1.0, flexible), least, kMostScale);
    while (isByDevice && scale > least && sumOf(lanes, scale) > room) { // because of names
        scale = std::max(least, scale - 0.02);
    }
    for (Lane& lane : lanes) {
        lane.h = scaled(lane, scale);
    }
    growShares(lanes, room);
    double y = top;
    for (Lane& lane : lanes) {
        lane.y = y;
        y += lane.h + gapBelow(lane);
    }
}

} // namespace pallascope::layout::timeline
