// Chooses the lanes of the time line and the level of detail.
#include "views/layout/run/view_parts.h"
#include "views/layout/timeline/fit.h"
#include "views/layout/timeline/round_bands.h"
#include "views/layout/timeline/sm_lanes.h"

#include <algorithm>
#include <cmath>

namespace pallascope::layout::timeline {

namespace {

constexpr double kPxOfOperations = 400;
constexpr double kPxOfSteps = 40;
constexpr double kPxOfPeriods = 6;
constexpr double kPxOfFold = 4; // px, the least width of a bar that stands for several steps

bool mayHide(UnitKind kind)
{
    return kind == UnitKind::Crosslane || kind == UnitKind::Load || kind == UnitKind::Store;
}

// Adds a lane for the waits of each agent, as long as there are not too many agents or waits to
// look at.
void addWaits(std::vector<Lane>& lanes, const RunView& run)
{
    const trace::Agents& agents = run.index->agents();
    if (agents.size() <= 1) {
        Lane lane = {LaneKind::Wait, -1, "wait", Role::Wait};
        lane.used = busy(run, lane, run.trace->end()).value() > 0;
        lanes.push_back(std::move(lane));
        return;
    }
    const bool few = agents.size() <= kMostAgents && run.trace->waits().size() <= kMostWaits;
    for (const trace::AgentKind& kind : agents.kinds) {
        if (!few && kind.agents.size() > kFewAgents) {
            lanes.push_back(waitLane(run, kind.agents));
            continue;
        }
        for (const std::int32_t agent : kind.agents) {
            lanes.push_back(waitLane(run, {agent}));
        }
    }
}

// The links that any copy of the lane goes over.
std::vector<std::int32_t> linksOf(const RunView& run, const Lane& lane)
{
    const auto count = static_cast<std::int32_t>(run.trace->info().links.size());
    std::vector<std::int32_t> links;
    for (std::int32_t link = 0; link < count; ++link) {
        if (run.index
                ->linkBusy(trace::LinkRow{link}, lane.kind == LaneKind::CopyOut, run.trace->end())
                .value()
            > 0) {
            links.push_back(link);
        }
    }
    return links;
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

LaneId idOf(const Lane& of)
{
    switch (of.kind) {
    case LaneKind::CopyIn:
        return lane::CopyIn{};
    case LaneKind::CopyOut:
        return lane::CopyOut{};
    case LaneKind::Wait:
        if (of.agents.empty()) {
            return lane::Waits{};
        }
        return of.agents.size() == 1 ? LaneId(lane::AgentWaits{of.agents.front()})
                                     : LaneId(lane::KindWaits{of.agents.front()});
    case LaneKind::Unit:
        return lane::Unit{of.unit};
    case LaneKind::Device:
        return lane::Device{of.device};
    case LaneKind::DeviceCopy:
        return lane::DeviceCopies{of.device, of.links.empty() ? trace::kNone : of.links.front()};
    case LaneKind::DeviceUnit:
        return lane::DeviceUnit{of.device, of.unit};
    case LaneKind::DeviceWait:
        return lane::DeviceWaits{of.device};
    case LaneKind::Sms:
        return lane::Sms{std::max(0, of.device)};
    case LaneKind::Sm:
        return lane::Sm{of.sm};
    case LaneKind::SmCopies:
        return lane::SmCopies{of.sm};
    case LaneKind::SmUnit:
        return lane::SmUnit{of.sm, of.unit};
    case LaneKind::Agent:
        return lane::Agent{of.agents.front()};
    }
    return lane::Waits{};
}

std::optional<Lane> laneOf(const RunView& run, const LaneId& id)
{
    if (std::optional<Lane> lane = deviceLaneOf(run, id)) {
        return lane;
    }
    if (std::optional<Lane> lane = smLaneOf(run, id)) {
        return lane;
    }
    for (Lane& lane : lanesOf(run, Level::Operations, 1e6)) {
        if (idOf(lane) == id) {
            return std::move(lane);
        }
    }
    for (const trace::AgentKind& kind : run.index->agents().kinds) {
        if (id == LaneId(lane::KindWaits{kind.agents.front()})) {
            return waitLane(run, kind.agents);
        }
    }
    return std::nullopt;
}

Target partOfSegment(std::int64_t segment, trace::OptionalRow<trace::OperationRow> operation)
{
    return operation ? Target(target::Operation{operation->number, segment})
                     : Target(target::Segment{segment});
}

Picoseconds busy(const RunView& run, const Lane& lane, Picoseconds t)
{
    return busyBy(run, lane, {t}).front();
}

std::optional<std::int32_t> mainUnit(const RunView& run)
{
    const auto& units = run.trace->info().units;
    std::optional<std::int32_t> best;
    std::pair<bool, std::int64_t> most = {false, 0};
    for (std::size_t i = 0; i < units.size(); ++i) {
        const UnitKind kind = units[i].kind;
        const bool computes = kind == UnitKind::Matrix || kind == UnitKind::Vector
                              || kind == UnitKind::Transcendental || kind == UnitKind::Crosslane;
        const auto unit = static_cast<std::int32_t>(i);
        const auto agents = static_cast<std::int64_t>(run.index->agents().ofUnit[i].size());
        const std::int64_t time =
            run.index->unitBusy(trace::UnitRow{unit}, run.trace->end()).value()
            / std::max<std::int64_t>(1, agents);
        const std::pair<bool, std::int64_t> rank = {computes && time > 0, time};
        if (time > 0 && rank > most) {
            most = rank;
            best = unit;
        }
    }
    return best;
}

std::vector<Lane> lanesOf(const RunView& run, Level level, double height, std::int32_t device,
                          std::int32_t smOfDevice)
{
    const trace::Info& info = run.trace->info();
    const Picoseconds end = run.trace->end();
    const bool byDevice = hasDeviceLanes(*run.trace);
    ViewState state;
    state.device = device;
    state.sm = smOfDevice;
    const std::int32_t sm = chosenSm(run, state);
    std::vector<Lane> lanes = byDevice ? deviceLanes(run, device, sm) : std::vector<Lane>();
    const auto add = [&](Lane lane) {
        lane.used = busy(run, lane, end).value() > 0;
        lanes.push_back(std::move(lane));
    };
    const auto addCopies = [&](Lane lane) {
        lane.links = linksOf(run, lane); // which are busy at some time
        lane.used = !lane.links.empty();
        lanes.push_back(std::move(lane));
    };
    if (run.trace->copies().size() > 0 && !byDevice) {
        addCopies({LaneKind::CopyIn, -1, "copy in", Role::CopyIn});
        addCopies({LaneKind::CopyOut, -1, "copy out", Role::CopyOut});
    }
    const bool bySm = !byDevice && sm != trace::kNone;
    if (bySm) {
        for (Lane& lane : smLanes(run, sm)) {
            lanes.push_back(std::move(lane));
        }
    }
    const std::optional<std::int32_t> tallest = mainUnit(run);
    for (std::size_t i = 0; i < info.units.size() && !byDevice && !bySm; ++i) {
        const trace::Unit& unit = info.units[i];
        Lane lane = {LaneKind::Unit, static_cast<std::int32_t>(i), unit.name,
                     parts::unitRole(unit.kind)};
        if (run.index->agents().size() > 1) {
            lane.agents = run.index->agents().ofUnit[i];
        }
        const bool moves = unit.kind == UnitKind::Load || unit.kind == UnitKind::Store;
        const bool hidden = (mayHide(unit.kind) && busy(run, lane, end).value() == 0)
                            || (moves && level != Level::Operations && lane.unit != tallest);
        if (!hidden) {
            add(std::move(lane));
        }
    }
    if (!byDevice && !bySm) {
        addWaits(lanes, run);
    }
    const double top = plotTopOf(run, height);
    fit(lanes, run, top, height - top - 2);
    return lanes;
}

} // namespace pallascope::layout::timeline
