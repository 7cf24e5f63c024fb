#include "core/machine/replay/upcoming.h"

namespace pallascope::machine {

namespace {

// A control operation or the first operation of a segment that is still to run.
std::optional<std::int32_t> operationAt(const Plan& plan, const PlanItem& item, std::int32_t done)
{
    if (item.control != nullptr) {
        return item.control->id;
    }
    const auto& operations = plan.templates[static_cast<std::size_t>(item.templateId)].operations;
    return operations.empty() ? std::nullopt
                              : std::optional(operations[static_cast<std::size_t>(done)]);
}

std::optional<std::int32_t> firstOf(const Plan& plan, const BlockPlan& region)
{
    return region.items.empty() ? std::nullopt : operationAt(plan, region.items.front(), 0);
}

// Goes from the innermost frame outwards until one has something to do. Each function returns false
// if its frame is at its end, so that the frame around it goes on.
class Search
{
public:
    Search(const Prepared& prepared, const Agent& agent)
        : m_prepared(prepared)
        , m_agent(agent)
    {}

    [[nodiscard]] Upcoming run()
    {
        for (auto frame = m_agent.frames.rbegin(); frame != m_agent.frames.rend(); ++frame) {
            if (std::visit([this](const auto& one) { return goesOn(one); }, *frame)) {
                break;
            }
        }
        return std::move(m_found);
    }

private:
    bool goesOn(const BlockFrame& frame)
    {
        // The operations of the segment may have run, and its copies be still to come.
        const std::size_t next = frame.next + (frame.awaits || frame.ends ? 1 : 0);
        if (next >= frame.plan->items.size()) {
            return false;
        }
        m_found.operation = operationAt(m_prepared.plan, frame.plan->items[next],
                                        next == frame.next ? frame.done : 0);
        return true;
    }

    bool goesOn(const ScanFrame& frame)
    {
        const ir::Operation& loop = *frame.item->control;
        if (frame.done + 1 >= std::get<ir::ScanParams>(loop.params).length) {
            return false;
        }
        beginRound(loop, *frame.item->regions[0]);
        return true;
    }

    bool goesOn(const WhileFrame& frame)
    {
        const ir::Operation& loop = *frame.item->control;
        if (frame.next != WhileFrame::Next::Decide) {
            m_found.operation = firstOf(m_prepared.plan, *frame.item->regions[0]);
            return true;
        }
        const ir::ValueId condition = loop.regions[0].results[0];
        if (m_agent.values[m_prepared.slots.of(condition)].scalar == 0) {
            return false;
        }
        beginRound(loop, *frame.item->regions[1]);
        return true;
    }

    static bool goesOn(const ScopeFrame& /*frame*/) { return false; }

    // A pipeline, or a wait for other agents.
    template<class Other>
    static bool goesOn(const Other& /*frame*/)
    {
        return true;
    }

    void beginRound(const ir::Operation& loop, const BlockPlan& body)
    {
        m_found.rounds.push_back(&loop);
        m_found.operation = firstOf(m_prepared.plan, body);
    }

    const Prepared& m_prepared;
    const Agent& m_agent;
    Upcoming m_found;
};

} // namespace

Upcoming upcomingOf(const Prepared& prepared, const Agent& agent)
{
    return Search(prepared, agent).run();
}

} // namespace pallascope::machine
