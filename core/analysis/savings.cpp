#include "core/analysis/savings.h"

#include "core/analysis/slack.h"

namespace pallascope::analysis {

Savings::Savings(const trace::Info& info, const trace::Summary& sums, const StretchAdder& stretch,
                 trace::SegmentKind kind)
    : m_info(info)
    , m_ofTemplate(info.templates.size())
{
    for (std::size_t id = 0; id < info.templates.size(); ++id) {
        const trace::SegmentTemplate& segment = info.templates[id];
        if (segment.isBookkeeping() || segment.cycles == Cycles(0)) {
            continue;
        }
        m_ofTemplate[id] = stretch.savedBy(segment);
        if (segment.kind == kind) {
            const auto instances = static_cast<double>(sums.instances[id]);
            m_all.add(m_ofTemplate[id], instances);
            m_ran += instances * toSeconds(segment.duration).value();
        }
    }
}

std::optional<double> Savings::shareOf(const Loss& loss) const
{
    const std::optional<double> saved = m_all.of(loss, m_info);
    return saved && m_ran > 0 ? std::optional(*saved / m_ran) : std::nullopt;
}

std::vector<double> Savings::sharesThatShorten(std::span<const Loss> losses,
                                               const trace::Trace& rows) const
{
    std::vector<SavedTimes> saved(losses.size(), SavedTimes(m_info.templates.size()));
    for (std::size_t i = 0; i < losses.size(); ++i) {
        for (std::size_t id = 0; id < m_info.templates.size(); ++id) {
            const trace::SegmentTemplate& segment = m_info.templates[id];
            const bool isAll = losses[i].kind == LossKind::StepOverhead
                               && segment.kind == trace::SegmentKind::StepOverhead;
            saved[i][id] = isAll ? toSeconds(segment.duration).value()
                                 : m_ofTemplate[id].of(losses[i], m_info).value_or(0);
        }
    }
    return analysis::sharesThatShorten(rows, saved);
}

} // namespace pallascope::analysis
