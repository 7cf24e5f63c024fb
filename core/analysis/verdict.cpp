#include "core/analysis/report.h"
#include "core/base/format.h"
#include "core/trace/findings.h"

#include <algorithm>
#include <fmt/format.h>

namespace pallascope::analysis {

std::string plain(std::string text)
{
    std::erase(text, '|');
    return text;
}

const Alternative* best(const Report& report, const std::vector<Alternative>& alternatives)
{
    if (report.isStopped()) {
        return nullptr;
    }
    constexpr double kWorthwhile = 0.995; // a gain below half a percent does not justify a change
    const Alternative* found = nullptr;
    for (const Alternative& candidate : alternatives) {
        const bool usable =
            candidate.keepsLimits() && ratio(candidate.time, report.time) < kWorthwhile;
        if (usable && (found == nullptr || candidate.time < found->time)) {
            found = &candidate;
        }
    }
    return found;
}

namespace {

constexpr double kWorthNaming = 0.01; // of the run's time

Picoseconds busyOf(const Report& report, const std::string& name)
{
    const auto found = std::find_if(report.busy.begin(), report.busy.end(),
                                    [&](const auto& entry) { return entry.first == name; });
    return found == report.busy.end() ? Picoseconds(0) : found->second;
}

std::string head(const Bound& bound)
{
    switch (bound.kind) {
    case BoundKind::Compute:
        return "|Compute-bound (" + bound.of + ").|";
    case BoundKind::Memory:
        return "|Memory-bound (" + bound.of + ").|";
    case BoundKind::StepOverhead:
        return "|Bound by step overhead.|";
    case BoundKind::Launches:
        return "|Bound by launches.|";
    case BoundKind::Latency:
        break;
    }
    return "|Bound by latency.|";
}

std::string rate(const Report& report)
{
    if (!report.roofline.peak) {
        return fmt::format("The run takes |{}| and counts no FLOPs", timeText(report.time));
    }
    return fmt::format("|{}|, |{}| of peak in |{}|", flopRateText(report.flopsPerSecond),
                       percentText(report.utilization, 1), timeText(report.time));
}

// An output with wider elements than every input, if there is one: its bytes lower the intensity.
const trace::Operand* wideOutput(const trace::Info& info)
{
    int widest = 0;
    for (const trace::Operand& operand : info.operands) {
        if (operand.direction == trace::Direction::In) {
            widest = std::max(widest, dtypeBits(operand.dtype));
        }
    }
    for (const trace::Operand& operand : info.operands) {
        if (operand.direction != trace::Direction::In && widest > 0
            && dtypeBits(operand.dtype) > widest) {
            return &operand;
        }
    }
    return nullptr;
}

// What bounds the run: a link or, for the on-chip memory, the busier of its load and store units.
std::pair<std::string, Picoseconds> mover(const Report& report, const trace::Info& info,
                                          const std::string& name)
{
    const auto isLink = [&](const trace::Link& link) {
        return link.name == name || link.kind == name;
    };
    std::pair<std::string, Picoseconds> found{name, busyOf(report, name)};
    if (std::any_of(info.links.begin(), info.links.end(), isLink)) {
        return found;
    }
    for (const trace::Unit& unit : info.units) {
        const bool moves = unit.kind == UnitKind::Load || unit.kind == UnitKind::Store;
        if (moves && busyOf(report, unit.name) > found.second) {
            found = {"the " + unit.name + " unit", busyOf(report, unit.name)};
        }
    }
    return found;
}

std::string memoryReason(const Report& report, const trace::Info& info, const std::string& link)
{
    const auto [who, busy] = mover(report, info, link);
    std::string text = fmt::format("; {} is busy |{}| of it ({})", who, timeText(busy),
                                   percentText(ratio(busy, report.time), 1));
    if (!report.roofline.peak || link != report.roofline.memory.name) {
        return text;
    }
    const double achieved =
        report.roofline.memory.achieved.value() / report.roofline.memory.datasheet.value();
    const bool under = report.arithmeticIntensity < report.roofline.ridge;
    const bool mostlyHidden = ratio(report.split.exposedCopies, report.time) < 0.2;
    // The copies of fusions are not meant to be hidden.
    if (ratio(report.split.fusions, report.time) < 0.1) {
        const Picoseconds exposed = report.split.exposedCopies;
        text += exposed <= Picoseconds(0)
                    ? ", although no copies are exposed"
                    : fmt::format("{} |{}| of copies are exposed",
                                  mostlyHidden ? ", although only" : ";", timeText(exposed));
    }
    text += fmt::format("{} |{}| FLOP/B{} {} the ridge of |{}|", under ? ":" : ", even at",
                        intensityText(report.arithmeticIntensity), under ? " is" : ",",
                        under ? "under" : "above", intensityText(report.roofline.ridge));
    if (const trace::Operand* wide = wideOutput(info); under && wide != nullptr) {
        text += fmt::format(", {} is {}", wide->name, dtypeName(wide->dtype));
    }
    if (achieved < 1) {
        text += fmt::format(", and {} achieves {} of its datasheet rate", link,
                            percentText(achieved, 0));
    }
    return text;
}

bool isScalar(const trace::Info& info, const std::string& name)
{
    return std::any_of(info.units.begin(), info.units.end(), [&](const trace::Unit& unit) {
        return unit.name == name && unit.kind == UnitKind::Scalar;
    });
}

// Of a GPU's kernel without steps. Its warpgroups wait while others keep the unit busy, so their
// waits are not what is left of the time; a unit's share is that of the SMs that have work.
std::string idleText(const Report& report)
{
    for (const Loss& loss : report.losses.beyond) {
        if (loss.kind == LossKind::IdleCores && ratio(loss.time, report.time) >= kWorthNaming) {
            return fmt::format(" on the SMs with work, and idle SMs cost |{}| ({})",
                               timeText(loss.time), percentText(ratio(loss.time, report.time), 1));
        }
    }
    return {};
}

std::string computeReason(const Report& report, const trace::Info& info, const std::string& unit)
{
    const Picoseconds busy = busyOf(report, unit);
    const Picoseconds rest =
        report.time - report.split.compute - report.split.launches - report.split.fusions;
    const std::string text =
        fmt::format("; the {}{} is busy |{}| of it ({})", unit, isScalar(info, unit) ? " unit" : "",
                    timeText(busy), percentText(ratio(busy, report.time), 1));
    if (report.isGpu && report.split.stepOverhead == Picoseconds(0)) {
        return text + idleText(report);
    }
    return text
           + fmt::format(", step overhead takes {}, copies and waits {}",
                         timeText(report.split.stepOverhead),
                         timeText(rest - report.split.stepOverhead));
}

std::string overheadReason(const Report& report, const trace::Info& info)
{
    const std::int64_t agents = agentsUsed(info); // which share the steps
    const Picoseconds each(report.split.stepOverhead.value() * agents
                           / std::max<std::int64_t>(1, report.steps));
    return fmt::format("; {} of {} bookkeeping{} {} |{}| of it ({})",
                       counted(report.steps, "step", "steps"), timeText(each),
                       agents > 1 ? fmt::format(", shared by {} agents,", agents) : "",
                       report.steps == 1 ? "takes" : "take", timeText(report.split.stepOverhead),
                       percentText(ratio(report.split.stepOverhead, report.time), 1));
}

std::string reason(const Report& report, const trace::Info& info)
{
    switch (report.boundBy.kind) {
    case BoundKind::Compute:
        return computeReason(report, info, report.boundBy.of);
    case BoundKind::Memory:
        return memoryReason(report, info, report.boundBy.of);
    case BoundKind::StepOverhead:
        return overheadReason(report, info);
    case BoundKind::Launches:
        return fmt::format("; launches take |{}| of it ({})", timeText(report.split.launches),
                           percentText(ratio(report.split.launches, report.time), 1));
    case BoundKind::Latency:
        break;
    }
    return "; for most of it nothing is busy";
}

// "Stopped after 1.90 µs by a finding: Deadlock."
std::string stoppedText(const Report& report)
{
    const std::optional<trace::FindingKind> kind = trace::findingFromName(report.stoppedBy);
    return fmt::format("|Stopped after {} by a finding: {}.| All figures are of what ran until "
                       "then; they do not say how fast the kernel is.",
                       timeText(report.time),
                       kind ? trace::findingEntry(*kind).title : report.stoppedBy);
}

} // namespace

std::string verdict(const Report& report, const trace::Info& info,
                    const std::vector<Alternative>& alternatives)
{
    if (report.isStopped()) {
        return stoppedText(report);
    }
    std::string text = head(report.boundBy) + " " + rate(report) + reason(report, info);
    if (const double around = ratio(report.split.fusions, report.time); around >= 0.1) {
        text += fmt::format("; operations around kernels take |{}| of it ({})",
                            timeText(report.split.fusions), percentText(around, 1));
    }
    if (const Alternative* better = best(report, alternatives)) {
        const BoundKind after = better->boundBy.kind;
        const bool turns = after != report.boundBy.kind;
        const std::string how = after == BoundKind::StepOverhead
                                    ? "bound by step overhead"
                                    : std::string(boundKindName(after)) + "-bound";
        text += fmt::format("; |{}| {} {}", better->name, turns ? "turn it " + how + ":" : "take",
                            timeText(better->time));
    }
    return text + ".";
}

} // namespace pallascope::analysis
