// By how much steps would be shorter without a loss, as far as the segments of the run tell.
#pragma once

#include "core/analysis/stretches.h"
#include "core/trace/summary.h"

#include <optional>
#include <span>
#include <vector>

namespace pallascope::analysis {

class Savings
{
public:
    // Segments of this kind count for the whole run.
    Savings(const trace::Info& info, const trace::Summary& sums, const StretchAdder& stretch,
            trace::SegmentKind kind);

    // The share of the time of all segments that count. Nothing for losses of which they do not
    // tell.
    [[nodiscard]] std::optional<double> shareOf(const Loss& loss) const;

    // Of what each loss costs in these rows, the share without which the copies beside it would
    // still fit; see slack.h.
    [[nodiscard]] std::vector<double> sharesThatShorten(std::span<const Loss> losses,
                                                        const trace::Trace& rows) const;

private:
    const trace::Info& m_info;
    std::vector<SavedSeconds> m_ofTemplate; // of one instance
    SavedSeconds m_all;                     // of all instances that count
    double m_ran = 0;                       // how long these take, in s
};

} // namespace pallascope::analysis
