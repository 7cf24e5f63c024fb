#include "views/layout/devices/now.h"

#include "core/base/format.h"
#include "core/trace/device_times.h"
#include "core/trace/grid_launches.h"
#include "views/layout/timeline/sm_lanes.h"

#include <algorithm>
#include <fmt/format.h>

namespace pallascope::layout::devices {

namespace {

constexpr std::size_t kMostStepsBack = 4096; // rows of other devices that are looked through

std::size_t at(std::int64_t index)
{
    return static_cast<std::size_t>(index);
}

// The step of the device that has begun last by now.
std::string stepOf(const trace::Trace& trace, std::int32_t device, std::size_t agents,
                   Picoseconds now)
{
    const trace::Steps& steps = trace.steps();
    const auto begun = at(std::upper_bound(steps.begin.begin(), steps.begin.end(), now.value())
                          - steps.begin.begin());
    const std::size_t first = begun > kMostStepsBack ? begun - kMostStepsBack : 0;
    for (std::size_t row = begun; row-- > first;) {
        const trace::Pipeline& pipeline = trace.info().pipelines[at(steps.pipeline[row])];
        if (at(pipeline.agent) / agents == at(device)) {
            return fmt::format("{} of {}", countText(steps.ordinal[row]),
                               countText(pipeline.steps));
        }
    }
    return {};
}

void describe(const RunView& run, std::int32_t agent, Picoseconds now, DeviceNow& device)
{
    const trace::Trace& trace = *run.trace;
    const auto wait = trace::waitAt(trace, trace::AgentRow{agent}, now);
    const auto segment = trace::segmentAt(trace, trace::AgentRow{agent}, now);
    if (now >= device.ends) {
        device.words = "done";
    } else if (wait) {
        const std::string name = trace::awaitedLabel(trace, *wait);
        device.words = name.empty() ? "waits" : "waits for " + name;
        device.waits = true;
    } else if (segment) {
        const trace::SegmentTemplate& of =
            trace.info().templates[at(trace.segments().templateId[segment->index()])];
        const auto operation = trace::operationAt(trace, trace::AgentRow{agent}, now);
        device.words = of.kind == trace::SegmentKind::Launch         ? "launch"
                       : of.kind == trace::SegmentKind::StepOverhead ? "step overhead"
                       : operation ? trace.info().operations[operation->index()].label
                                   : "computes";
    } else {
        device.words = "idle";
    }
}

// Of a GPU, whose agents are too many to name what one of them does.
void describeBlocks(const RunView& run, std::int32_t number, Picoseconds now, DeviceNow& device)
{
    const trace::GridLaunch* const launch = run.index->launches().at(now, number);
    if (launch == nullptr || now < launch->begin || now >= device.ends) {
        return;
    }
    const std::int64_t claimed = launch->claimedBy(now) - launch->claimedEndedBy(now);
    const std::int64_t runs = launch->begunBy(now) - launch->endedBy(now) - claimed;
    device.words = runs > 0 ? counted(runs, "block runs", "blocks run") : "idle";
    device.waits = false;
}

} // namespace

DeviceNow deviceNow(const RunView& run, std::int32_t device, Picoseconds now)
{
    const trace::Info& info = run.trace->info();
    const trace::DeviceTimes& times = run.index->devices();
    const std::size_t agents = info.agentsPerDevice();
    DeviceNow found;
    found.ends = times.ends(device);
    found.waited = times.waited(device, now);
    found.busy = now > Picoseconds(0) ? ratio(times.busy(device, now), now) : 0;
    found.step = stepOf(*run.trace, device, agents, now);
    const std::size_t agent = at(device) * agents;
    if (agent < info.agents.size()) { // a file may be wrong about it
        describe(run, static_cast<std::int32_t>(agent), now, found);
    }
    if (const auto sms = timeline::smStrip(run, device);
        sms && now > Picoseconds(0) && timeline::hasDeviceLanes(*run.trace)) {
        found.busy = ratio(timeline::busy(run, *sms, now), now);
    }
    describeBlocks(run, device, now, found);
    return found;
}

std::vector<LinkNow> linksNow(const RunView& run, const std::vector<trace::MeshAxis>& mesh,
                              Picoseconds now)
{
    const trace::Info& info = run.trace->info();
    const trace::Copies& copies = run.trace->copies();
    const std::size_t each = info.linksPerDevice();
    std::vector<LinkNow> links;
    for (std::size_t link = 0; link < info.links.size(); ++link) {
        const auto to = trace::neighbourOver(info, mesh, link);
        if (!to) {
            continue;
        }
        const auto id = trace::LinkRow::at(link);
        LinkNow& found = links.emplace_back();
        found.link = link;
        found.from = static_cast<std::int32_t>(link / each);
        found.to = *to;
        const std::size_t landed = run.index->copiesBy(id, copies.end, now);
        const std::size_t issued = run.index->copiesBy(id, copies.issue, now);
        if (issued <= landed) {
            continue;
        }
        const trace::CopyRow first = run.index->copyOf(id, landed);
        if (copies.start[first.index()] <= now.value()) {
            found.copy = first;
            found.fraction = trace::copyFraction(*run.trace, first, now);
        }
        found.queued = issued - landed - (found.copy ? 1 : 0);
    }
    return links;
}

std::string directionOf(const trace::Link& link)
{
    return link.name.substr(link.name.rfind(' ') + 1);
}

} // namespace pallascope::layout::devices
