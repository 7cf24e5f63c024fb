#include "tests/machine/trace_difference.h"

#include <algorithm>
#include <vector>

namespace pallascope::machine_test {

namespace {

std::string show(std::int64_t number)
{
    return std::to_string(number);
}

std::string show(const trace::Finding& finding)
{
    return finding.kind + " x" + show(finding.count) + " of \"" + finding.operand + "\" at step "
           + show(finding.step) + ", line " + show(finding.source.line) + ": " + finding.message;
}

std::string show(const trace::Pipeline& pipeline)
{
    return pipeline.name + " of " + show(pipeline.steps) + " steps";
}

std::string show(const trace::Operand& operand)
{
    return operand.name + " with " + show(static_cast<std::int64_t>(operand.indices.size()))
           + " indices";
}

std::string show(const trace::Semaphore& semaphore)
{
    return semaphore.name;
}

// Finds the first place at which two lists differ.
class Difference
{
public:
    template<class List>
    void of(const char* name, const List& full, const List& needed)
    {
        for (std::size_t row = 0; m_text.empty() && row < full.size() && row < needed.size();
             ++row) {
            if (full[row] != needed[row]) {
                m_text = std::string(name) + "[" + std::to_string(row) + "]: " + show(full[row])
                         + ", needed " + show(needed[row]);
            }
        }
        if (m_text.empty() && full.size() != needed.size()) {
            const List& longer = full.size() > needed.size() ? full : needed;
            m_text = std::string(name) + ": " + std::to_string(full.size()) + " rows, needed "
                     + std::to_string(needed.size()) + "; the first one more: "
                     + show(longer[std::min(full.size(), needed.size())]);
        }
    }

    template<class T>
    void ofOne(const char* name, const T& full, const T& needed)
    {
        of(name, std::vector<T>{full}, std::vector<T>{needed});
    }

    [[nodiscard]] const std::string& text() const { return m_text; }

private:
    std::string m_text;
};

// What is known about a run apart from its values.
trace::Info withoutValues(const trace::Trace& trace)
{
    trace::Info info = trace.info();
    info.values.clear();
    info.settings = {}; // one run may look for races in more places
    info.findings = structural(trace);
    info.prints.clear();
    info.printsBeyond = 0;
    info.check = {};
    return info;
}

} // namespace

std::vector<trace::Finding> structural(const trace::Trace& trace)
{
    std::vector<trace::Finding> found;
    for (const trace::Finding& finding : trace.info().findings) {
        if (finding.category == trace::FindingClass::Structural) {
            found.push_back(finding);
        }
    }
    return found;
}

std::string firstDifference(const trace::Trace& full, const trace::Trace& needed)
{
    Difference difference;
    difference.of("findings", structural(full), structural(needed));
    const auto columns = [&](const char* name, const auto& a, const auto& b, auto... column) {
        (difference.of(name, a.*column, b.*column), ...);
    };
    using trace::Copies, trace::Segments, trace::Signals, trace::Steps, trace::Visits, trace::Waits;
    columns("steps", full.steps(), needed.steps(), &Steps::begin, &Steps::pipeline, &Steps::ordinal,
            &Steps::bodyBegin, &Steps::bodyEnd, &Steps::end);
    columns("segments", full.segments(), needed.segments(), &Segments::begin, &Segments::templateId,
            &Segments::agent, &Segments::step);
    columns("copies", full.copies(), needed.copies(), &Copies::issue, &Copies::operand,
            &Copies::block, &Copies::slot, &Copies::out, &Copies::link, &Copies::step,
            &Copies::bytes, &Copies::start, &Copies::end);
    columns("waits", full.waits(), needed.waits(), &Waits::begin, &Waits::copy, &Waits::semaphore,
            &Waits::operation, &Waits::agent, &Waits::step, &Waits::end);
    columns("visits", full.visits(), needed.visits(), &Visits::operand, &Visits::firstStep,
            &Visits::lastStep, &Visits::block, &Visits::slot, &Visits::copyIn, &Visits::copyOut);
    columns("signals", full.signals(), needed.signals(), &Signals::time, &Signals::semaphore,
            &Signals::agent, &Signals::amount);
    using trace::Rounds;
    columns("rounds", full.rounds(), needed.rounds(), &Rounds::begin, &Rounds::loop, &Rounds::agent,
            &Rounds::round, &Rounds::end);
    using trace::GridBlocks;
    columns("gridBlocks", full.gridBlocks(), needed.gridBlocks(), &GridBlocks::begin,
            &GridBlocks::grid, &GridBlocks::block, &GridBlocks::agent, &GridBlocks::claimed,
            &GridBlocks::end);
    using trace::CacheChanges;
    columns("cacheChanges", full.cacheChanges(), needed.cacheChanges(), &CacheChanges::time,
            &CacheChanges::device, &CacheChanges::operand, &CacheChanges::bytes);
    using trace::CopyEnds;
    columns("copyEnds", full.copyEnds(), needed.copyEnds(), &CopyEnds::copy, &CopyEnds::agent,
            &CopyEnds::buffer, &CopyEnds::first, &CopyEnds::shape, &CopyEnds::semaphore);
    const trace::Info &a = full.info(), &b = needed.info();
    difference.ofOne("events", a.events, b.events);
    difference.ofOne("end", full.end().value(), needed.end().value());
    difference.of("pipelines", a.pipelines, b.pipelines);
    difference.of("operands", a.operands, b.operands);
    difference.of("semaphores", a.semaphores, b.semaphores);
    if (difference.text().empty() && withoutValues(full) != withoutValues(needed)) {
        return "something else that a trace says about its run";
    }
    return difference.text();
}

} // namespace pallascope::machine_test
