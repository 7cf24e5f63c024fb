#include "core/analysis/fresh_waits.h"

#include "core/analysis/owners.h"
#include "core/base/format.h"
#include "core/trace/columns.h"
#include "core/trace/summary.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>

namespace pallascope::analysis {

namespace {

constexpr Picoseconds kExample = Picoseconds(100'000);
constexpr double kLeastShare = 0.1; // of the run, for the example to matter
constexpr std::int64_t kFew = 8;    // of them even the shortest kernels may have

// For each link of the trace, whether the chip file has it and says that its latency is 0.
std::vector<bool> withoutLatency(const trace::Info& info, const chip::Chip& chip)
{
    std::vector<bool> none;
    for (const trace::Link& link : info.links) {
        none.push_back(std::ranges::any_of(chip.links, [&](const chip::Link& one) {
            return one.name == kindOf(link) && one.latency == Picoseconds(0);
        }));
    }
    return none;
}

} // namespace

std::int64_t freshWaits(const trace::Trace& trace, const chip::Chip& chip)
{
    using Kind = trace::Summarizer::WaitKind;
    const std::vector<bool> none = withoutLatency(trace.info(), chip);
    const trace::Waits& waits = trace.waits();
    const trace::Copies& copies = trace.copies();
    std::map<std::int32_t, std::int64_t> ofAgent;
    for (std::size_t wait = 0; wait < waits.size(); ++wait) {
        const Kind kind = trace::kindOfWait(trace, wait);
        if ((kind != Kind::PipelineCopy && kind != Kind::ManualCopy)
            || waits.begin[wait] == waits.end[wait]) {
            continue;
        }
        const std::size_t copy = trace::at(waits.copy[wait]);
        if (copies.start[copy] == copies.issue[copy] && none[trace::at(copies.link[copy])]) {
            ++ofAgent[waits.agent[wait]];
        }
    }
    std::int64_t most = 0;
    for (const auto& [agent, count] : ofAgent) {
        most = std::max(most, count);
    }
    return most;
}

std::string freshWaitsText(const Report& report)
{
    const Picoseconds more = kExample * report.freshWaits;
    if (report.freshWaits < kFew || ratio(more, report.time) < kLeastShare) {
        return "";
    }
    return fmt::format(
        "{} for a copy that had just been started: nobody has published the "
        "latency of these copies, so it counts as 0; each {} of it would add up to {}",
        pallascope::counted(report.freshWaits, "wait is", "waits are"), timeText(kExample),
        timeText(more));
}

} // namespace pallascope::analysis
