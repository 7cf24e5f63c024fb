#include "core/analysis/slack.h"

#include "core/trace/columns.h"

#include <algorithm>
#include <utility>

namespace pallascope::analysis {

namespace {

// When a link is busy: stretches of time that do not touch.
class BusyTimes
{
public:
    void add(std::int64_t begin, std::int64_t end)
    {
        if (end > begin) {
            m_all.push_back({begin, end, 0});
        }
    }

    void finish()
    {
        std::ranges::sort(m_all, {}, &Busy::begin);
        std::vector<Busy> merged;
        for (const Busy& one : m_all) {
            if (!merged.empty() && one.begin <= merged.back().end) {
                merged.back().end = std::max(merged.back().end, one.end);
            } else {
                const std::int64_t before =
                    merged.empty() ? 0 : merged.back().before + merged.back().length();
                merged.push_back({one.begin, one.end, before});
            }
        }
        m_all = std::move(merged);
    }

    [[nodiscard]] std::int64_t until(std::int64_t time) const
    {
        const auto next = std::ranges::upper_bound(m_all, time, {}, &Busy::begin);
        if (next == m_all.begin()) {
            return 0;
        }
        const Busy& last = *(next - 1);
        return last.before + std::min(time - last.begin, last.length());
    }

private:
    struct Busy
    {
        std::int64_t begin = 0, end = 0, before = 0; // ps; how long it was busy before

        [[nodiscard]] std::int64_t length() const { return end - begin; }
    };

    std::vector<Busy> m_all;
};

class Slack
{
public:
    Slack(const trace::Trace& trace, std::span<const SavedTimes> saved)
        : m_trace(trace)
        , m_saved(saved)
        , m_links(trace.info().links.size())
        , m_steps(std::max<std::size_t>(1, trace.info().agents.size()),
                  Step{0, std::vector<double>(saved.size())})
        , m_all(saved.size())
        , m_shortens(saved.size())
    {
        const trace::Copies& copies = trace.copies();
        for (std::size_t row = 0; row < copies.size(); ++row) {
            m_links[trace::at(copies.link[row])].add(copies.start[row], copies.end[row]);
        }
        for (BusyTimes& link : m_links) {
            link.finish();
        }
    }

    [[nodiscard]] std::vector<double> shares() &&
    {
        const trace::Segments& segments = m_trace.segments();
        for (std::size_t row = 0; row < segments.size(); ++row) {
            const std::size_t agent = trace::at(segments.agent[row]);
            const std::size_t id = trace::at(segments.templateId[row]);
            if (m_trace.info().templates[id].kind == trace::SegmentKind::StepOverhead) {
                end(agent, segments.begin[row]);
            }
            for (std::size_t i = 0; i < m_saved.size(); ++i) {
                m_steps[agent].saved[i] += m_saved[i][id];
            }
        }
        for (std::size_t agent = 0; agent < m_steps.size(); ++agent) {
            end(agent, m_trace.end().value());
        }
        std::vector<double> shares;
        for (std::size_t i = 0; i < m_all.size(); ++i) {
            shares.push_back(m_all[i] > 0 ? m_shortens[i] / m_all[i] : 1);
        }
        return shares;
    }

private:
    struct Step
    {
        std::int64_t begin = 0;
        std::vector<double> saved;
    };

    // Ends the agent's step, which may be empty, and begins the next one.
    void end(std::size_t agent, std::int64_t at)
    {
        Step& step = m_steps[agent];
        const Picoseconds left(at - step.begin - busiest(agent, step.begin, at));
        const double slack = toSeconds(left).value();
        for (std::size_t i = 0; i < m_saved.size(); ++i) {
            m_all[i] += step.saved[i];
            m_shortens[i] += std::min(step.saved[i], slack);
            step.saved[i] = 0;
        }
        step.begin = at;
    }

    [[nodiscard]] std::int64_t busiest(std::size_t agent, std::int64_t from, std::int64_t to) const
    {
        const std::size_t each = m_trace.info().linksPerDevice();
        const std::size_t first =
            each * trace::at(m_trace.info().deviceOf(static_cast<std::int32_t>(agent)));
        std::int64_t most = 0;
        for (std::size_t link = first; link < first + each; ++link) {
            most = std::max(most, m_links[link].until(to) - m_links[link].until(from));
        }
        return most;
    }

    const trace::Trace& m_trace;
    std::span<const SavedTimes> m_saved;
    std::vector<BusyTimes> m_links;
    std::vector<Step> m_steps; // for each agent, the one that goes on
    std::vector<double> m_all, m_shortens;
};

} // namespace

std::vector<double> sharesThatShorten(const trace::Trace& trace, std::span<const SavedTimes> saved)
{
    return Slack(trace, saved).shares();
}

} // namespace pallascope::analysis
