#include "core/analysis/report.h"
#include "views/layout/timeline.h"
#include "views/layout/view_parts.h"

#include <algorithm>
#include <cmath>

namespace pallascope::layout::timeline {

namespace {

constexpr double kPxOfOperations = 400;
constexpr double kPxOfSteps = 40;
constexpr double kPxOfPeriods = 6;
constexpr double kPxOfFold = 4; // least width of a folded bar
constexpr double kHeadOnly = 12;
constexpr double kLeastScale = 0.6;
constexpr double kMostScale = 1.6;

double baseHeight(const Lane& lane, const RunView& run, std::int32_t tallest)
{
    if (!lane.used) {
        return kHeadOnly;
    }
    if (lane.folded) {
        return 10;
    }
    switch (lane.kind) {
    case LaneKind::CopyIn:
    case LaneKind::CopyOut:
        return 26;
    case LaneKind::Wait:
        return 18;
    case LaneKind::DeviceCopy:
    case LaneKind::DeviceWait:
    case LaneKind::CoreWait:
        return 14;
    case LaneKind::Unit:
        break;
    }
    if (lane.unit == tallest) {
        return 30;
    }
    switch (run.trace->info().units[static_cast<std::size_t>(lane.unit)].kind) {
    case trace::UnitKind::Matrix:
        return 26;
    case trace::UnitKind::Vector:
    case trace::UnitKind::Scalar:
        return 15;
    default:
        return 13;
    }
}

bool mayHide(trace::UnitKind kind)
{
    return kind == trace::UnitKind::Crosslane || kind == trace::UnitKind::Load
           || kind == trace::UnitKind::Store;
}

double gapBelow(const Lane& lane)
{
    return lane.folded && lane.kind == LaneKind::DeviceCopy ? 1 : kLaneGap;
}

// With heights scaled.
double sumOf(const std::vector<Lane>& lanes, double scale)
{
    double sum = 0;
    for (const Lane& lane : lanes) {
        sum += (lane.used ? std::floor(lane.h * scale) : lane.h) + gapBelow(lane);
    }
    return sum;
}

void setHeights(std::vector<Lane>& lanes, const RunView& run, std::int32_t tallest)
{
    for (Lane& lane : lanes) {
        lane.h = baseHeight(lane, run, tallest);
    }
}

void fold(std::vector<Lane>& lanes)
{
    for (Lane& lane : lanes) {
        if (lane.device >= 0) {
            lane.folded = lane.used = true; // each is as high as the others
            lane.name = lane.kind == LaneKind::DeviceCopy ? "device " + std::to_string(lane.device)
                                                          : std::string();
        }
    }
}

void fitDevices(std::vector<Lane>& lanes, const RunView& run, std::int32_t tallest, double room)
{
    if (lanes.empty() || lanes.front().device < 0 || sumOf(lanes, kLeastScale) <= room) {
        return;
    }
    fold(lanes);
    setHeights(lanes, run, tallest);
    if (sumOf(lanes, kLeastScale) > room) {
        lanes.erase(
            std::remove_if(lanes.begin(), lanes.end(), [](const Lane& lane) { return !lane.used; }),
            lanes.end());
    }
    auto last =
        std::find_if(lanes.begin(), lanes.end(), [](const Lane& lane) { return lane.device < 0; });
    while (last - lanes.begin() > 2 && sumOf(lanes, kLeastScale) > room) {
        last = lanes.erase(last - 2, last);
    }
}

} // namespace

Zoom zoomOf(const trace::Trace& trace, const TimeAxis& axis)
{
    Zoom zoom;
    const auto steps = static_cast<double>(std::max<std::size_t>(1, trace.steps().size()));
    const auto visible = static_cast<double>((axis.range.end - axis.range.begin).value());
    zoom.pxPerStep = static_cast<double>(trace.end().value()) / steps / visible * axis.width;
    zoom.level = zoom.pxPerStep > kPxOfOperations ? Level::Operations
                 : zoom.pxPerStep >= kPxOfSteps   ? Level::Steps
                 : zoom.pxPerStep >= kPxOfPeriods ? Level::Periods
                                                  : Level::Run;
    if (zoom.level == Level::Run) {
        while (static_cast<double>(zoom.stepsPerBar) * zoom.pxPerStep < kPxOfFold
               && zoom.stepsPerBar < static_cast<std::int64_t>(steps)) {
            zoom.stepsPerBar *= 2;
        }
    }
    return zoom;
}

std::int64_t laneNumber(const Lane& lane)
{
    switch (lane.kind) {
    case LaneKind::CopyIn:
        return 0;
    case LaneKind::CopyOut:
        return 1;
    case LaneKind::Wait:
        return 2;
    case LaneKind::Unit:
        return 3 + lane.unit;
    case LaneKind::DeviceCopy:
        return kDeviceLanes + 2 * lane.device;
    case LaneKind::DeviceWait:
        return kDeviceLanes + 2 * lane.device + 1;
    case LaneKind::CoreWait:
        return kCoreLanes + lane.core;
    }
    return -1;
}

Picoseconds busy(const RunView& run, const Lane& lane, Picoseconds t)
{
    if (lane.device >= 0 || lane.core >= 0) {
        return deviceBusy(*run.trace, lane, t);
    }
    if (lane.kind == LaneKind::Unit || lane.kind == LaneKind::Wait) {
        const Picoseconds all =
            lane.kind == LaneKind::Unit ? run.index->unitBusy(lane.unit, t) : run.index->waiting(t);
        return Picoseconds(all.value() / analysis::agentsUsed(run.trace->info()));
    }
    Picoseconds sum;
    for (std::size_t link = 0; link < run.trace->info().links.size(); ++link) {
        sum +=
            run.index->linkBusy(static_cast<std::int32_t>(link), lane.kind == LaneKind::CopyOut, t);
    }
    return sum;
}

std::int32_t mainUnit(const RunView& run)
{
    const auto& units = run.trace->info().units;
    std::int32_t best = trace::kNone;
    std::pair<bool, std::int64_t> most = {false, 0};
    for (std::size_t i = 0; i < units.size(); ++i) {
        const trace::UnitKind kind = units[i].kind;
        const bool computes = kind == trace::UnitKind::Matrix || kind == trace::UnitKind::Vector
                              || kind == trace::UnitKind::Transcendental
                              || kind == trace::UnitKind::Crosslane;
        const auto unit = static_cast<std::int32_t>(i);
        const std::int64_t time = run.index->unitBusy(unit, run.trace->end()).value();
        const std::pair<bool, std::int64_t> rank = {computes && time > 0, time};
        if (time > 0 && rank > most) {
            most = rank;
            best = unit;
        }
    }
    return best;
}

std::vector<Lane> lanesOf(const RunView& run, Level level, double height)
{
    const trace::Info& info = run.trace->info();
    const Picoseconds end = run.trace->end();
    std::vector<Lane> lanes;
    const auto add = [&](Lane lane) {
        lane.used = busy(run, lane, end).value() > 0;
        lanes.push_back(std::move(lane));
    };
    const bool byDevice = hasDeviceLanes(*run.trace);
    for (std::int32_t device = 0; byDevice && device < info.deviceCount(); ++device) {
        const std::string number = std::to_string(device);
        add({LaneKind::DeviceCopy, -1, "copies " + number, Role::CopyIn, device});
        add({LaneKind::DeviceWait, -1, "wait " + number, Role::Wait, device});
    }
    if (run.trace->copies().size() > 0 && !byDevice) {
        add({LaneKind::CopyIn, -1, "copy in", Role::CopyIn});
        add({LaneKind::CopyOut, -1, "copy out", Role::CopyOut});
    }
    const std::int32_t tallest = mainUnit(run);
    const double room = height - kPlotTop - 2;
    for (std::size_t i = 0; i < info.units.size(); ++i) {
        const trace::Unit& unit = info.units[i];
        Lane lane = {LaneKind::Unit, static_cast<std::int32_t>(i), unit.name,
                     parts::unitRole(unit.kind)};
        const bool moves =
            unit.kind == trace::UnitKind::Load || unit.kind == trace::UnitKind::Store;
        const bool hidden = (mayHide(unit.kind) && busy(run, lane, end).value() == 0)
                            || (moves && level != Level::Operations && lane.unit != tallest);
        if (!hidden) {
            add(std::move(lane));
        }
    }
    const bool byCore = hasCoreWaits(*run.trace);
    for (std::int32_t core = 0; byCore && core < analysis::agentsUsed(info); ++core) {
        add({LaneKind::CoreWait, -1, "wait " + std::to_string(core), Role::Wait, -1, core});
    }
    if (!byDevice && !byCore) {
        add({LaneKind::Wait, -1, "wait", Role::Wait});
    }
    // Loads and stores are the first to go where it gets narrow.
    constexpr double kNarrow = 0.75;
    setHeights(lanes, run, tallest);
    if (sumOf(lanes, 1) * kNarrow > room) {
        lanes.erase(
            std::remove_if(lanes.begin(), lanes.end(),
                           [&](const Lane& lane) {
                               return lane.kind == LaneKind::Unit && lane.unit != tallest
                                      && (info.units[static_cast<std::size_t>(lane.unit)].kind
                                              == trace::UnitKind::Load
                                          || info.units[static_cast<std::size_t>(lane.unit)].kind
                                                 == trace::UnitKind::Store);
                           }),
            lanes.end());
    }
    fitDevices(lanes, run, tallest, room);
    double fixed = 0;
    double flexible = 0;
    for (const Lane& lane : lanes) {
        (lane.used ? flexible : fixed) += lane.h;
        fixed += gapBelow(lane);
    }
    const double scale =
        std::clamp((room - fixed) / std::max(1.0, flexible), kLeastScale, kMostScale);
    double y = kPlotTop;
    for (Lane& lane : lanes) {
        lane.h = lane.used ? std::floor(lane.h * scale) : lane.h;
        lane.y = y;
        y += lane.h + gapBelow(lane);
    }
    return lanes;
}

} // namespace pallascope::layout::timeline
