// The lanes of runs of several devices: those of the chosen device, and a strip for each other one.
#include "core/trace/device_times.h"
#include "core/trace/mesh.h"
#include "views/layout/run/view_parts.h"
#include "views/layout/timeline/sm_lanes.h"

#include <algorithm>
#include <iterator>

namespace pallascope::layout::timeline {

namespace {

class DeviceLaneMaker
{
public:
    explicit DeviceLaneMaker(const RunView& run)
        : m_run(run)
        , m_info(run.trace->info())
        , m_mesh(trace::meshOf(m_info))
        , m_links(m_info.linksPerDevice())
        , m_agents(m_info.agentsPerDevice())
        , m_linksAreBusier(linksAreBusier())
    {}

    // The strip says when the unit of the devices works or, where links are busier than it, what is
    // copied; of a GPU, how busy its SMs are.
    [[nodiscard]] Lane strip(std::int32_t device) const
    {
        if (std::optional<Lane> sms = smStrip(m_run, device)) {
            sms->kind = LaneKind::Device;
            sms->name = "device " + std::to_string(device);
            return *std::move(sms);
        }
        const trace::OptionalRow<trace::UnitRow> unit = m_run.index->devices().unit();
        Lane lane = {LaneKind::Device,
                     trace::stored(unit),
                     "device " + std::to_string(device),
                     Role::CopyIn,
                     device,
                     {agentsOf(device).front()}};
        if (unit) {
            lane.role = parts::unitRole(m_info.units[unit->index()].kind);
        }
        if (m_linksAreBusier) {
            for (std::size_t i = 0; i < m_links; ++i) {
                const auto link =
                    static_cast<std::int32_t>(static_cast<std::size_t>(device) * m_links + i);
                if (moves(link)) {
                    lane.links.push_back(link);
                }
            }
        }
        return lane;
    }

    // Its own link first, then those to its neighbours and from them.
    void addLinks(std::vector<Lane>& lanes, std::int32_t device) const
    {
        std::vector<Lane> from;
        for (std::size_t link = 0; link < m_info.links.size(); ++link) {
            const auto id = static_cast<std::int32_t>(link);
            const auto to = trace::neighbourOver(m_info, m_mesh, link);
            const bool isOwn = link / m_links == static_cast<std::size_t>(device);
            if (!moves(id) || (!isOwn && (!to || to->device != device))) {
                continue;
            }
            Lane lane = {LaneKind::DeviceCopy, -1, m_info.links[link].kind, Role::CopyIn, device};
            lane.links = {id};
            if (isOwn) {
                lane.name = to ? "→ " + std::to_string(to->device) : lane.name;
                lanes.push_back(std::move(lane));
            } else {
                lane.name = "← " + std::to_string(link / m_links);
                from.push_back(std::move(lane));
            }
        }
        std::move(from.begin(), from.end(), std::back_inserter(lanes));
    }

    void addUnits(std::vector<Lane>& lanes, std::int32_t device) const
    {
        const std::vector<std::int32_t> agents = agentsOf(device);
        const std::int32_t main = trace::stored(m_run.index->devices().unit());
        for (std::size_t i = 0; i < m_info.units.size(); ++i) {
            const trace::Unit& unit = m_info.units[i];
            const auto id = static_cast<std::int32_t>(i);
            Lane lane = {LaneKind::DeviceUnit, id, unit.name, parts::unitRole(unit.kind), device};
            const std::vector<std::int32_t>& owners = m_run.index->agents().ofUnit[i];
            std::copy_if(agents.begin(), agents.end(), std::back_inserter(lane.agents),
                         [&](std::int32_t agent) {
                             return std::binary_search(owners.begin(), owners.end(), agent);
                         });
            const bool moves = unit.kind == UnitKind::Load || unit.kind == UnitKind::Store;
            if (!lane.agents.empty() && (!moves || id == main)
                && busy(m_run, lane, m_run.trace->end()) > Picoseconds(0)) {
                lanes.push_back(std::move(lane));
            }
        }
    }

    void addWaits(std::vector<Lane>& lanes, std::int32_t device) const
    {
        Lane lane = {LaneKind::DeviceWait, -1, "wait", Role::Wait, device, agentsOf(device)};
        lane.used = busy(m_run, lane, m_run.trace->end()) > Picoseconds(0);
        lanes.push_back(std::move(lane));
    }

private:
    [[nodiscard]] Picoseconds movesFor(std::int32_t link) const
    {
        const Picoseconds end = m_run.trace->end();
        return m_run.index->linkBusy(trace::LinkRow{link}, false, end)
               + m_run.index->linkBusy(trace::LinkRow{link}, true, end);
    }

    [[nodiscard]] bool moves(std::int32_t link) const { return movesFor(link) > Picoseconds(0); }

    // Whether the busiest link of each device is busier than its unit, over all devices: all their
    // strips are of the same, so that they can be compared.
    [[nodiscard]] bool linksAreBusier() const
    {
        Picoseconds links, unit;
        for (std::int32_t device = 0; device < m_info.deviceCount(); ++device) {
            const auto first = static_cast<std::size_t>(device) * m_links;
            Picoseconds most;
            for (std::size_t link = first; link < first + m_links; ++link) {
                most = std::max(most, movesFor(static_cast<std::int32_t>(link)));
            }
            links += most;
            unit += m_run.index->devices().busy(device, m_run.trace->end());
        }
        return links > unit;
    }

    // Those that take part; the first one in any case.
    [[nodiscard]] std::vector<std::int32_t> agentsOf(std::int32_t device) const
    {
        std::vector<std::int32_t> found;
        const auto isIts = [&](std::int32_t agent) {
            return static_cast<std::size_t>(agent) / m_agents == static_cast<std::size_t>(device);
        };
        for (const trace::AgentKind& kind : m_run.index->agents().kinds) {
            std::copy_if(kind.agents.begin(), kind.agents.end(), std::back_inserter(found), isIts);
        }
        std::sort(found.begin(), found.end());
        if (found.empty()) {
            found.push_back(static_cast<std::int32_t>(static_cast<std::size_t>(device) * m_agents));
        }
        return found;
    }

    const RunView& m_run;
    const trace::Info& m_info;
    std::vector<trace::MeshAxis> m_mesh;
    std::size_t m_links, m_agents; // of each device
    bool m_linksAreBusier;
};

// The device that a lane is of; kNone: of none.
std::int32_t deviceOf(const LaneId& id)
{
    if (const auto* device = std::get_if<lane::Device>(&id)) {
        return device->device;
    }
    if (const auto* copies = std::get_if<lane::DeviceCopies>(&id)) {
        return copies->device;
    }
    if (const auto* unit = std::get_if<lane::DeviceUnit>(&id)) {
        return unit->device;
    }
    const auto* waits = std::get_if<lane::DeviceWaits>(&id);
    return waits == nullptr ? trace::kNone : waits->device;
}

} // namespace

std::vector<Lane> deviceLanes(const RunView& run, std::int32_t chosen, std::int32_t sm)
{
    const DeviceLaneMaker maker(run);
    std::vector<Lane> lanes;
    for (std::int32_t device = 0; device < run.trace->info().deviceCount(); ++device) {
        lanes.push_back(maker.strip(device));
        if (device == chosen) {
            lanes.back().isOpen = true;
            lanes.back().used = false;
            maker.addLinks(lanes, device);
            if (sm != trace::kNone) {
                std::vector<Lane> ofSm = smLanes(run, sm);
                std::move(ofSm.begin(), ofSm.end(), std::back_inserter(lanes));
                continue;
            }
            maker.addUnits(lanes, device);
            maker.addWaits(lanes, device);
        }
    }
    return lanes;
}

std::optional<Lane> deviceLaneOf(const RunView& run, const LaneId& id)
{
    const std::int32_t device = deviceOf(id);
    if (device < 0 || device >= run.trace->info().deviceCount() || !hasDeviceLanes(*run.trace)) {
        return std::nullopt;
    }
    std::vector<Lane> lanes = deviceLanes(run, device, trace::kNone);
    const auto found = std::find_if(lanes.begin(), lanes.end(),
                                    [&](const Lane& lane) { return idOf(lane) == id; });
    return found == lanes.end() ? std::nullopt : std::optional(std::move(*found));
}

} // namespace pallascope::layout::timeline
