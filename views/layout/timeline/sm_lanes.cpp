#include "views/layout/timeline/sm_lanes.h"

#include "core/trace/columns.h"
#include "core/trace/copy_ends.h"
#include "views/layout/run/view_parts.h"
#include "views/layout/timeline/busy.h"
#include "views/layout/timeline/plot.h"

#include <algorithm>
#include <cmath>
#include <string>

namespace pallascope::layout::timeline {

namespace {

// The number that follows a word of an agent's name; empty if the name lacks the word.
std::string numberAfter(const std::string& agent, const std::string& word)
{
    const std::size_t begin = agent.find(word + " ");
    if (begin == std::string::npos) {
        return {};
    }
    const std::size_t from = begin + word.size() + 1;
    return agent.substr(from, agent.find(' ', from) - from);
}

// "WG 1", "WG 2.1" where an SM has several places for blocks: the place, then the warpgroup; and
// "WG 1 w3" of a further warp of a warpgroup.
std::string shortNameOf(const std::string& agent)
{
    const std::string place = numberAfter(agent, "place"), warp = numberAfter(agent, "warp");
    return "WG " + (place.empty() ? "" : place + ".") + numberAfter(agent, "Warpgroup")
           + (warp.empty() ? "" : " w" + warp);
}

// The agents of an SM that ever use a unit.
std::vector<std::int32_t> usersOf(const RunView& run, std::int32_t sm, std::int32_t unit)
{
    const trace::Segments& segments = run.trace->segments();
    const trace::Agents& agents = run.index->agents();
    BusyTimes busyTimes(run.trace->info(), unit);
    std::vector<std::int32_t> users;
    for (std::size_t row = 0; row < segments.size(); ++row) {
        const std::int32_t agent = agents.ownerOf[trace::at(segments.agent[row])];
        if (agents.smOf[trace::at(agent)] == sm
            && !busyTimes.of(segments.templateId[row]).times.empty()
            && std::find(users.begin(), users.end(), agent) == users.end()) {
            users.push_back(agent);
        }
    }
    std::sort(users.begin(), users.end());
    return users;
}

// The device of an SM; kNone if there is only one, whose lanes need no head.
std::int32_t shownDevice(const RunView& run, std::int32_t sm)
{
    return run.trace->info().deviceCount() > 1 ? run.index->agents().sms[trace::at(sm)].device
                                               : trace::kNone;
}

class SmLaneMaker
{
public:
    SmLaneMaker(const RunView& run, std::int32_t sm)
        : m_run(run)
        , m_info(run.trace->info())
        , m_sms(run.index->agents().sms)
        , m_sm(sm)
    {}

    [[nodiscard]] Lane head() const
    {
        Lane lane = made(LaneKind::Sm, -1, m_sms[trace::at(m_sm)].name, Role::Text2);
        lane.isOpen = true;
        lane.used = false;
        return lane;
    }

    [[nodiscard]] Lane copies() const
    {
        Lane lane = made(LaneKind::SmCopies, -1, "copies", Role::CopyIn);
        for (std::size_t link = 0; link < m_info.links.size(); ++link) {
            if (m_run.index->copiesOf(trace::LinkRow::at(link)) > 0) {
                lane.links.push_back(static_cast<std::int32_t>(link));
            }
        }
        return lane;
    }

    void addMatrixUnits(std::vector<Lane>& lanes) const
    {
        for (std::size_t i = 0; i < m_info.units.size(); ++i) {
            const auto unit = static_cast<std::int32_t>(i);
            if (m_info.units[i].kind != UnitKind::Matrix) {
                continue;
            }
            Lane lane = made(LaneKind::SmUnit, unit, m_info.units[i].name, Role::Mxu);
            lane.agents = usersOf(m_run, m_sm, unit);
            if (!lane.agents.empty()) {
                lanes.push_back(std::move(lane));
            }
        }
    }

    void addWarpgroups(std::vector<Lane>& lanes) const
    {
        for (const std::int32_t agent : m_sms[trace::at(m_sm)].agents) {
            Lane lane = made(LaneKind::Agent, kAllButMatrix,
                             shortNameOf(m_info.agents[trace::at(agent)]), Role::Vpu);
            lane.agents = {agent};
            lanes.push_back(std::move(lane));
        }
    }

private:
    [[nodiscard]] Lane made(LaneKind kind, std::int32_t unit, std::string name, Role role) const
    {
        Lane lane = {kind, unit, std::move(name), role, shownDevice(m_run, m_sm)};
        lane.sm = m_sm;
        return lane;
    }

    const RunView& m_run;
    const trace::Info& m_info;
    const std::vector<trace::Sm>& m_sms;
    std::int32_t m_sm;
};

// The SM that a lane is of; kNone: of none.
std::int32_t smOf(const RunView& run, const LaneId& id)
{
    if (const auto* sm = std::get_if<lane::Sm>(&id)) {
        return sm->sm;
    }
    if (const auto* copies = std::get_if<lane::SmCopies>(&id)) {
        return copies->sm;
    }
    if (const auto* unit = std::get_if<lane::SmUnit>(&id)) {
        return unit->sm;
    }
    const auto* agent = std::get_if<lane::Agent>(&id);
    const std::vector<std::int32_t>& all = run.index->agents().smOf;
    const bool isKnown =
        agent != nullptr && agent->agent >= 0 && trace::at(agent->agent) < all.size();
    const auto* strip = std::get_if<lane::Sms>(&id);
    return isKnown            ? all[trace::at(agent->agent)]
           : strip != nullptr ? run.index->agents().smsOf(strip->device).first
                              : trace::kNone;
}

} // namespace

std::optional<Lane> smStrip(const RunView& run, std::int32_t device)
{
    const trace::Agents& agents = run.index->agents();
    const auto [first, end] = agents.smsOf(device);
    const std::optional<std::int32_t> unit = mainUnit(run);
    if (!unit || end - first < 2) {
        return std::nullopt;
    }
    Lane lane = {LaneKind::Sms, *unit, std::to_string(end - first) + " SMs",
                 parts::unitRole(run.trace->info().units[trace::at(*unit)].kind),
                 shownDevice(run, first)};
    for (std::int32_t sm = first; sm < end; ++sm) {
        lane.agents.push_back(agents.sms[trace::at(sm)].agents.front());
    }
    return lane;
}

bool isStripOfSms(const Lane& lane)
{
    return lane.kind == LaneKind::Sms || (lane.kind == LaneKind::Device && lane.agents.size() > 1);
}

std::vector<Lane> smLanes(const RunView& run, std::int32_t sm)
{
    const SmLaneMaker maker(run, sm);
    std::vector<Lane> lanes;
    if (std::optional<Lane> strip = smStrip(run, run.index->agents().sms[trace::at(sm)].device)) {
        lanes.push_back(*std::move(strip));
    }
    lanes.push_back(maker.head());
    if (Lane copies = maker.copies(); !copies.links.empty()) {
        lanes.push_back(std::move(copies));
    }
    maker.addMatrixUnits(lanes);
    maker.addWarpgroups(lanes);
    return lanes;
}

std::optional<Lane> smLaneOf(const RunView& run, const LaneId& id)
{
    const std::int32_t sm = smOf(run, id);
    if (sm < 0 || trace::at(sm) >= run.index->agents().sms.size()) {
        return std::nullopt;
    }
    std::vector<Lane> lanes = smLanes(run, sm);
    const auto found = std::find_if(lanes.begin(), lanes.end(),
                                    [&](const Lane& lane) { return idOf(lane) == id; });
    return found == lanes.end() ? std::nullopt : std::optional(std::move(*found));
}

std::vector<std::vector<float>> smShares(const RunView& run, std::int32_t device,
                                         trace::UnitRow unit, const TimeAxis& axis)
{
    const trace::Info& info = run.trace->info();
    const trace::Segments& segments = run.trace->segments();
    const std::vector<std::int32_t>& smOf = run.index->agents().smOf;
    const auto width = trace::at(std::llround(std::ceil(axis.width)));
    const auto [firstSm, endSm] = run.index->agents().smsOf(device);
    std::vector<std::vector<float>> shares(trace::at(endSm - firstSm),
                                           std::vector<float>(width, 0));
    BusyTimes busyTimes(info, unit.number);
    const auto first = std::upper_bound(segments.begin.begin(), segments.begin.end(),
                                        axis.range.begin.value() - longestSegment(info));
    const auto px = [&](std::int64_t t) {
        return std::clamp(axis.toX(Picoseconds(t)) - axis.left, 0.0, static_cast<double>(width));
    };
    for (std::size_t row = trace::at(first - segments.begin.begin());
         row < segments.size() && segments.begin[row] < axis.range.end.value(); ++row) {
        const std::int32_t sm = smOf[trace::at(segments.agent[row])];
        if (sm < firstSm || sm >= endSm) {
            continue;
        }
        for (const auto& [from, to] : busyTimes.of(segments.templateId[row]).times) {
            const double x0 = px(segments.begin[row] + from), x1 = px(segments.begin[row] + to);
            for (auto x = static_cast<std::size_t>(x0); x < width && static_cast<double>(x) < x1;
                 ++x) {
                const double left = std::max(x0, static_cast<double>(x));
                const double right = std::min(x1, static_cast<double>(x) + 1);
                shares[trace::at(sm - firstSm)][x] += static_cast<float>(right - left);
            }
        }
    }
    for (std::vector<float>& ofSm : shares) {
        for (float& share : ofSm) {
            share = std::min(share, 1.0F);
        }
    }
    return shares;
}

} // namespace pallascope::layout::timeline
