// Makes the trace of the main job by plain arithmetic.
#include "tests/support/synthetic_trace.h"

#include "core/base/check.h"
#include "core/trace/columns.h"
#include "tests/support/main_job_info.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>
#include <utility>

namespace pallascope::test {

namespace {

using trace::at;
using trace::kNone;

// Runs the published double-buffered schedule of one kernel step by step.
class MainJob
{
public:
    MainJob(int block, int size)
        : m_grid(size / block)
    {
        PALLASCOPE_CHECK(block > 0 && size % block == 0);
        m_builder.info = mainJobInfo(block, size);
    }

    trace::TraceBuilder build() &&
    {
        const std::int64_t steps = m_grid * m_grid * m_grid;
        fetch(0, kNone);
        for (m_step = 0; m_step < steps; ++m_step) {
            runStep(m_step + 1 == steps);
        }
        if (m_leaving != kNone) { // the epilogue waits for the last write-back
            wait(m_leaving, kNone);
        }
        m_builder.end = Picoseconds(m_now);
        m_builder.info.events = m_events;
        collectVisits();
        return std::move(m_builder);
    }

private:
    using Visit = std::array<std::int64_t, 6>; // firstStep, lastStep, block, slot, copyIn, copyOut

    [[nodiscard]] std::int64_t blockOf(std::int32_t operand, std::int64_t step) const
    {
        const std::int64_t i = step / (m_grid * m_grid), j = step / m_grid % m_grid,
                           k = step % m_grid;
        const std::int64_t axes[3][2] = {{i, k}, {k, j}, {i, j}};
        return axes[operand][0] * m_grid + axes[operand][1];
    }

    [[nodiscard]] bool begins(std::int32_t operand, std::int64_t step) const
    {
        return step == 0 || blockOf(operand, step) != blockOf(operand, step - 1);
    }

    std::int32_t copy(std::int32_t operand, std::int64_t step, std::int64_t slot, bool out,
                      std::int64_t issuer)
    {
        trace::Copies& c = m_builder.copies;
        const std::int64_t bytes = m_builder.info.operands[at(operand)].blockBytes.value();
        const double rate = m_builder.info.links[0].achieved.value();
        const std::int64_t start = std::max(m_now, m_linkFree);
        m_linkFree =
            start + static_cast<std::int64_t>(std::ceil(static_cast<double>(bytes) * 1e12 / rate));
        c.operand.push_back(operand);
        c.block.push_back(blockOf(operand, step));
        c.slot.push_back(static_cast<std::int32_t>(slot));
        c.out.push_back(out ? 1 : 0);
        c.link.push_back(0);
        c.step.push_back(static_cast<std::int32_t>(issuer));
        c.bytes.push_back(bytes);
        c.issue.push_back(m_now);
        c.start.push_back(start);
        c.end.push_back(m_linkFree);
        ++m_events;
        return static_cast<std::int32_t>(c.size() - 1);
    }

    // Issues the copies in for a step whose block indices changed.
    void fetch(std::int64_t step, std::int64_t issuer)
    {
        for (const std::int32_t operand : {kX, kY}) {
            if (begins(operand, step)) {
                std::vector<Visit>& visits = m_visits[at(operand)];
                const auto slot = static_cast<std::int64_t>(visits.size() % 2);
                const std::int32_t in = copy(operand, step, slot, false, issuer);
                visits.push_back({step, step, blockOf(operand, step), slot, in, kNone});
            }
        }
    }

    void wait(std::int64_t copy, std::int64_t step)
    {
        trace::Waits& w = m_builder.waits;
        w.copy.push_back(static_cast<std::int32_t>(copy));
        w.agent.push_back(0);
        w.step.push_back(static_cast<std::int32_t>(step));
        w.begin.push_back(m_now);
        m_now = std::max(m_now, m_builder.copies.end[at(copy)]);
        w.end.push_back(m_now);
        ++m_events;
    }

    void run(std::int32_t templateId)
    {
        trace::Segments& s = m_builder.segments;
        s.templateId.push_back(templateId);
        s.agent.push_back(0);
        s.step.push_back(static_cast<std::int32_t>(m_step));
        s.begin.push_back(m_now);
        const trace::SegmentTemplate& segment = m_builder.info.templates[at(templateId)];
        m_now += segment.duration.value();
        m_events += static_cast<std::int64_t>(segment.operations.size());
    }

    void waitForInputs()
    {
        for (const std::int32_t operand : {kX, kY}) {
            std::vector<Visit>& visits = m_visits[at(operand)];
            auto own = std::find_if(visits.rbegin(), visits.rend(),
                                    [&](const Visit& visit) { return visit[0] <= m_step; });
            (*own)[1] = m_step;
            if ((*own)[0] == m_step) {
                wait((*own)[4], m_step);
            }
        }
    }

    void runStep(bool last)
    {
        trace::Steps& s = m_builder.steps;
        std::vector<Visit>& outs = m_visits[at(kOut)];
        s.pipeline.push_back(0);
        s.ordinal.push_back(m_step);
        s.begin.push_back(m_now);
        if (!last) {
            fetch(m_step + 1, m_step);
        }
        waitForInputs();
        s.bodyBegin.push_back(m_now);
        const bool outBegins = begins(kOut, m_step);
        if (outBegins) {
            const auto slot = static_cast<std::int64_t>(outs.size() % 2);
            outs.push_back({m_step, m_step, blockOf(kOut, m_step), slot, kNone, kNone});
        }
        outs.back()[1] = m_step;
        if (m_step % m_grid == 0) {
            run(kZeroFill);
        }
        run(kDot);
        s.bodyEnd.push_back(m_now);
        run(kOverhead);
        const std::int64_t earlier = m_leaving;
        if (last || begins(kOut, m_step + 1)) {
            outs.back()[5] = copy(kOut, m_step, outs.back()[3], true, m_step);
            m_leaving = outs.back()[5];
        }
        if (outBegins && m_step != 0) {
            wait(earlier, m_step);
        }
        s.end.push_back(m_now);
    }

    void collectVisits()
    {
        trace::Visits& v = m_builder.visits;
        for (const std::int32_t operand : {kX, kY, kOut}) {
            for (const Visit& visit : m_visits[at(operand)]) {
                v.operand.push_back(operand);
                v.firstStep.push_back(static_cast<std::int32_t>(visit[0]));
                v.lastStep.push_back(static_cast<std::int32_t>(visit[1]));
                v.block.push_back(visit[2]);
                v.slot.push_back(static_cast<std::int32_t>(visit[3]));
                v.copyIn.push_back(static_cast<std::int32_t>(visit[4]));
                v.copyOut.push_back(static_cast<std::int32_t>(visit[5]));
            }
        }
    }

    trace::TraceBuilder m_builder;
    std::int64_t m_grid;
    std::int64_t m_now = 0, m_linkFree = 0; // ps
    std::int64_t m_step = 0;
    std::int64_t m_leaving = kNone; // the copy that is the last write-back
    std::int64_t m_events = 0;
    std::array<std::vector<Visit>, 3> m_visits;
};

} // namespace

trace::TraceBuilder mainJobBuilder(int block, int size)
{
    return MainJob(block, size).build();
}

std::shared_ptr<const trace::Trace> mainJob(int block, int size)
{
    Result<std::shared_ptr<const trace::Trace>> trace = mainJobBuilder(block, size).finish();
    if (!trace) {
        throw std::logic_error("synthetic trace: " + trace.error().message);
    }
    return trace.value();
}

} // namespace pallascope::test
