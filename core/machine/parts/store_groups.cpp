#include "core/machine/parts/store_groups.h"

#include <algorithm>
#include <utility>

namespace pallascope::machine {

StoreGroups::StoreGroups(const Context& context, Copies& copies)
    : m_recorder(context.recorder)
    , m_turn(context.turn)
    , m_races(context.races)
    , m_copies(copies)
{}

void StoreGroups::add(const AwaitedCopy& copy, Picoseconds read, Picoseconds written)
{
    StoreGroup& open = m_turn.agent().openGroup;
    open.copies.push_back(copy);
    open.read = std::max(open.read, read);
    open.written = std::max(open.written, written);
}

void StoreGroups::commit()
{
    Agent& agent = m_turn.agent();
    agent.groups.push_back(std::exchange(agent.openGroup, {}));
}

void StoreGroups::wait(const ir::Operation& operation)
{
    const auto& params = std::get<ir::GroupWaitParams>(operation.params);
    Agent& agent = m_turn.agent();
    const std::size_t left = std::min(agent.groups.size(), static_cast<std::size_t>(params.n));
    const auto last = agent.groups.end() - static_cast<std::ptrdiff_t>(left);
    Picoseconds end = agent.time;
    trace::OptionalRow<trace::CopyRow> copy; // that ends last
    const std::size_t count = agent.groups.size() - left;
    // Groups that have been read are done as far as such a wait asks.
    const std::size_t first = params.readOnly ? std::min(agent.readGroups, count) : 0;
    for (auto group = agent.groups.begin() + static_cast<std::ptrdiff_t>(first); group != last;
         ++group) {
        const Picoseconds done = params.readOnly ? group->read : group->written;
        if (done > end && !group->copies.empty()) {
            end = done;
            copy = group->copies.back().copy;
        }
        for (const AwaitedCopy& one : group->copies) {
            m_copies.landHeld(*one.copy);
            m_races.await(agent.id, params.readOnly ? AwaitedCopy{one.copy, one.from, -1} : one);
        }
    }
    if (end > agent.time) {
        m_recorder.addWait({.copy = copy, .operation = trace::OperationRow{operation.id}},
                           trace::AgentRow{agent.id}, agent.step, agent.time, end);
        agent.time = end;
    }
    if (params.readOnly) {
        agent.readGroups = std::max(agent.readGroups, count);
    } else {
        agent.groups.erase(agent.groups.begin(), last);
        agent.readGroups -= std::min(agent.readGroups, count);
    }
}

} // namespace pallascope::machine
