#include "core/analysis/gains.h"

#include "core/analysis/moved_bytes.h"

#include <algorithm>
#include <cmath>

namespace pallascope::analysis {

namespace {

double count(Picoseconds time)
{
    return static_cast<double>(time.value());
}

// The longest segment of a kind that runs.
Picoseconds longest(trace::SegmentKind kind, const trace::Info& info, const trace::Summary& sums)
{
    Picoseconds found;
    for (std::size_t id = 0; id < sums.instances.size(); ++id) {
        const trace::SegmentTemplate& segment = info.templates[id];
        if (segment.kind == kind && sums.instances[id] > 0) {
            found = std::max(found, segment.duration);
        }
    }
    return found;
}

// The share of all steps that are the first of their pipeline each time it is entered.
double firstSteps(const trace::Info& info, const trace::Summary& sums)
{
    std::int64_t entries = 0;
    for (const trace::Pipeline& pipeline : info.pipelines) {
        entries += pipeline.entries;
    }
    return sums.steps > 0
               ? std::min(1.0, static_cast<double>(entries) / static_cast<double>(sums.steps))
               : 0;
}

// Divided by n, the first or the last step costs n - 1 steps more. The best n is √(part / step).
Picoseconds ofDividing(Picoseconds part, Picoseconds step)
{
    const double saved = std::sqrt(count(part)) - std::sqrt(count(step));
    return Picoseconds(part > step ? std::llround(saved * saved) : 0);
}

// How long the first bytes take to come.
Picoseconds firstLoad(const Report& report, const chip::Chip& chip)
{
    const auto link = std::ranges::find(chip.links, report.roofline.memory.name, &chip::Link::name);
    return link == chip.links.end() ? Picoseconds(0) : link->latency;
}

Picoseconds besideCopies(const Report& report, const trace::Summary& sums)
{
    const double rate = report.roofline.memory.achieved.value();
    const auto bytes = static_cast<double>(bytesOverHbm(sums).value());
    return report.split.compute + report.split.stepOverhead
           + toPicoseconds(Seconds(rate > 0 ? bytes / rate : 0));
}

} // namespace

Picoseconds launchesOfFusions(const trace::Info& info, const trace::Summary& sums,
                              const chip::Chip& chip)
{
    Picoseconds sum;
    for (std::size_t id = 0; id < sums.instances.size(); ++id) {
        const trace::SegmentTemplate& segment = info.templates[id];
        if (segment.kind == trace::SegmentKind::Launch && segment.duration != chip.kernelLaunch) {
            sum += Picoseconds(segment.duration.value() * sums.instances[id]);
        }
    }
    return Picoseconds(sum.value() / info.deviceCount());
}

Picoseconds mostGain(const Loss& loss, const Report& report, const trace::Info& info,
                     const trace::Summary& sums, const chip::Chip& chip)
{
    switch (loss.kind) {
    case LossKind::Launches:
        return std::max(Picoseconds(0),
                        report.split.launches - longest(trace::SegmentKind::Launch, info, sums));
    case LossKind::StepOverhead:
        return Picoseconds(
            std::llround(count(report.split.stepOverhead) * (1 - firstSteps(info, sums))));
    case LossKind::Prologue:
    case LossKind::Epilogue:
        return ofDividing(loss.time, longest(trace::SegmentKind::StepOverhead, info, sums));
    case LossKind::DeviceCopies:
        return besideCopies(report, sums);
    case LossKind::Copies:
        return report.isGpu ? loss.time - std::min(loss.time, firstLoad(report, chip))
                            : report.time;
    default:
        return report.time;
    }
}

} // namespace pallascope::analysis
