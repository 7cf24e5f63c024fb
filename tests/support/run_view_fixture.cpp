// Fills a RunView of the synthetic main job by plain arithmetic.
#include "tests/support/run_view_fixture.h"

#include "core/analysis/array_traffic.h"
#include "core/analysis/band.h"
#include "core/base/format.h"
#include "core/trace/columns.h"
#include "tests/support/synthetic_trace.h"
#include "views/navigation/times.h"

#include <algorithm>
#include <fmt/format.h>
#include <string>
#include <utility>

namespace pallascope::test {

namespace {

using trace::at;

constexpr double kPeak = 197e12; // FLOP/s, the datasheet's figure for bf16
constexpr std::int32_t kPipelineLine = 3, kZeroLine = 10, kDotLine = 12;

// The time of all instances of each template.
std::vector<Picoseconds> timeByTemplate(const trace::Trace& trace)
{
    std::vector<Picoseconds> times(trace.info().templates.size());
    for (const std::int32_t id : trace.segments().templateId) {
        times[at(id)] += trace.info().templates[at(id)].duration;
    }
    return times;
}

analysis::TimeSplit splitOf(const trace::Trace& trace)
{
    const std::vector<Picoseconds> times = timeByTemplate(trace);
    analysis::TimeSplit split;
    for (std::size_t id = 0; id < times.size(); ++id) {
        const bool body = trace.info().templates[id].kind == trace::SegmentKind::Body;
        (body ? split.compute : split.stepOverhead) += times[id];
    }
    split.prologue = Picoseconds(trace.steps().bodyBegin.front());
    split.epilogue = trace.end() - Picoseconds(trace.steps().end.back());
    split.exposedCopies = trace.end() - split.total();
    return split;
}

void addTraffic(analysis::Report& report, const trace::Trace& trace)
{
    for (std::size_t i = 0; i < trace.info().operands.size(); ++i) {
        const trace::Operand& operand = trace.info().operands[i];
        analysis::Traffic traffic;
        traffic.operand = operand.name;
        traffic.row = static_cast<std::int32_t>(i);
        const bool out = operand.direction != trace::Direction::In;
        traffic.way = out ? trace::Summary::Written : trace::Summary::Read;
        traffic.blockBytes = operand.blockBytes;
        for (std::size_t copy = 0; copy < trace.copies().size(); ++copy) {
            if (at(trace.copies().operand[copy]) == i) {
                ++traffic.copies;
                traffic.bytes += Bytes(trace.copies().bytes[copy]);
            }
        }
        traffic.refetchFactor = ratio(traffic.bytes, operand.arrayBytes);
        (out ? report.hbmWritten : report.hbmRead) += traffic.bytes;
        report.traffic.push_back(traffic);
        const Bytes slots = operand.slotBytes * operand.slots;
        report.vmemByOperand.push_back({operand.name, slots, false});
        report.vmemPeak += slots;
    }
    report.arrays = analysis::trafficByArray(report.traffic, trace.info(),
                                             trace::arraysOf(trace.info()).ofOperand,
                                             trace::pipelineKindsOf(trace.info()));
}

void addFlops(analysis::Report& report, const trace::Trace& trace)
{
    std::vector<Flops> units(trace.info().units.size());
    for (const std::int32_t id : trace.segments().templateId) {
        const trace::SegmentTemplate& segment = trace.info().templates[at(id)];
        for (std::size_t unit = 0; unit < units.size(); ++unit) {
            units[unit] += segment.flopsByUnit[unit];
            report.executedFlops += segment.executedFlopsByUnit[unit];
        }
    }
    for (std::size_t unit = 0; unit < units.size(); ++unit) {
        report.flops += units[unit];
        if (units[unit] != Flops(0)) {
            report.flopsByUnit.emplace_back(trace.info().units[unit].name, units[unit]);
        }
    }
}

void addBusy(analysis::Report& report, const trace::Index& index)
{
    const trace::Trace& trace = index.trace();
    for (std::size_t unit = 0; unit < trace.info().units.size(); ++unit) {
        const Picoseconds busy = index.unitBusy(trace::UnitRow::at(unit), trace.end());
        if (busy != Picoseconds(0)) {
            report.busy.emplace_back(trace.info().units[unit].name, busy);
        }
    }
    report.busy.emplace_back("HBM", index.linkBusy(trace::LinkRow{0}, false, trace.end())
                                        + index.linkBusy(trace::LinkRow{0}, true, trace.end()));
    std::sort(report.busy.begin(), report.busy.end(),
              [](const auto& a, const auto& b) { return a.second > b.second; });
    const std::string& longest = report.busy.front().first;
    using enum analysis::BoundKind;
    report.boundBy = report.split.stepOverhead > report.busy.front().second
                         ? analysis::Bound{StepOverhead}
                     : longest == "HBM" ? analysis::Bound{Memory, longest}
                                        : analysis::Bound{Compute, longest};
}

analysis::Roofline rooflineOf(const trace::Trace& trace)
{
    const trace::Link& link = trace.info().links.front();
    analysis::Roofline roofline;
    roofline.peak = analysis::Roof{"bf16 MXU", kPeak};
    roofline.memory = {link.name, link.datasheet, link.achieved};
    roofline.ridge = kPeak / link.datasheet.value();
    const trace::SegmentTemplate& dot = trace.info().templates[1];
    const trace::SegmentTemplate& overhead = trace.info().templates[2];
    roofline.stepCeiling = static_cast<double>(dot.flops().value())
                           / toSeconds(dot.duration + overhead.duration).value();
    return roofline;
}

std::int64_t stalledSteps(const trace::Trace& trace)
{
    const trace::Steps& steps = trace.steps();
    std::int64_t count = 0;
    for (std::size_t step = 1; step < steps.size(); ++step) {
        count += steps.bodyBegin[step] > steps.begin[step] ? 1 : 0;
    }
    return count;
}

analysis::Report reportOf(const trace::Index& index)
{
    const trace::Trace& trace = index.trace();
    const trace::Info& info = trace.info();
    analysis::Report report;
    report.kernel = info.kernel;
    report.parameters = info.parameters;
    report.chip = info.chip;
    report.grid = info.pipelines.front().grid;
    report.steps = static_cast<std::int64_t>(trace.steps().size());
    report.events = info.events;
    report.time = trace.end();
    report.band = analysis::bandOf(report.time, "products",
                                   {.work = "products",
                                    .rows = 4,
                                    .low = -0.04,
                                    .high = 0.04,
                                    .ratio = 0.048,
                                    .source = "a test"});
    const double seconds = toSeconds(trace.end()).value();
    report.cycles = Cycles(static_cast<std::int64_t>(
        seconds * static_cast<double>(info.templates.front().clock.value())));
    addFlops(report, trace);
    addTraffic(report, trace);
    const auto flops = static_cast<double>(report.flops.value());
    report.arithmeticIntensity =
        flops / static_cast<double>((report.hbmRead + report.hbmWritten).value());
    report.flopsPerSecond = flops / seconds;
    report.peakFlopsPerSecond = kPeak;
    report.utilization = report.flopsPerSecond / kPeak;
    report.split = splitOf(trace);
    addBusy(report, index);
    report.stalledSteps = stalledSteps(trace);
    report.vmemTemporariesEstimate = info.temporariesEstimate;
    report.vmemScopedLimit = *info.memories[1].scopedLimit;
    report.vmemCapacity = info.memories[1].capacity;
    report.check = info.check;
    report.roofline = rooflineOf(trace);
    return report;
}

// The 4096³ main job with other blocks. The times are fixed and close to what the model says.
std::vector<analysis::Alternative> alternativesTo(int block)
{
    struct Case
    {
        int block;
        std::int64_t microseconds, mebibytes;
        analysis::Bound boundBy;
    };

    const Case cases[] = {{256, 2060, 1, {analysis::BoundKind::StepOverhead}},
                          {512, 945, 4, {analysis::BoundKind::Memory, "HBM"}},
                          {1024, 757, 16, {analysis::BoundKind::Compute, "MXU"}},
                          {2048, 764, 64, {analysis::BoundKind::Compute, "MXU"}}};
    std::vector<analysis::Alternative> result;
    for (const Case& c : cases) {
        if (c.block == block) {
            continue;
        }
        analysis::Alternative alternative;
        const std::string edge = std::to_string(c.block);
        alternative.changed = {{"bm", edge}, {"bn", edge}, {"bk", edge}};
        alternative.name = edge + "-blocks";
        alternative.time = Picoseconds(c.microseconds * 1'000'000);
        alternative.vmem = Bytes(c.mebibytes * 1024 * 1024);
        alternative.overScopedLimit = c.mebibytes > 16;
        alternative.boundBy = c.boundBy;
        const double side = 4096;
        const double flops = 2 * side * side * side + side * side * side / c.block;
        alternative.flopsPerSecond = flops / toSeconds(alternative.time).value();
        alternative.arithmeticIntensity =
            flops / (4 * side * side * side / c.block + 4 * side * side);
        result.push_back(std::move(alternative));
    }
    return result;
}

std::string verdictOf(const analysis::Report& report)
{
    const auto& [busiest, busy] = report.busy.front();
    return fmt::format(
        "|Bound by {}|: {} is busy for |{}| of {} and the run reaches |{}| of the peak; "
        "its intensity of |{} FLOP/B| stands against a ridge of {}. |1024-blocks| take "
        "757 µs.",
        toString(report.boundBy), busiest, timeText(busy), timeText(report.time),
        percentText(report.utilization, 1), intensityText(report.arithmeticIntensity),
        intensityText(report.roofline.ridge));
}

std::vector<layout::Field> fieldsOf(const trace::Info& info)
{
    std::vector<layout::Field> fields = {{"kernel", info.kernel, true, {}},
                                         {"chip", info.chipName, true, {}}};
    for (const std::string& name : info.parameterOrder) {
        const bool choice = name == "dtype" || name == "order";
        fields.push_back({name, info.parameters.at(name), choice, {}});
    }
    return fields;
}

std::vector<analysis::LineTime> lineTimesOf(const trace::Trace& trace)
{
    const std::vector<Picoseconds> times = timeByTemplate(trace);
    const Picoseconds rest = trace.end() - times[0] - times[1];
    return {{{0, kPipelineLine}, rest, {}},
            {{0, kZeroLine}, times[0], 5},
            {{0, kDotLine}, times[1], 0}};
}

} // namespace

layout::RunView runViewOf(std::shared_ptr<const trace::Trace> trace)
{
    layout::RunView view;
    view.trace = std::move(trace);
    view.index = std::make_shared<const trace::Index>(view.trace);
    view.report = reportOf(*view.index);
    view.alternatives = alternativesTo(std::stoi(view.trace->info().parameters.at("bm")));
    view.verdict = verdictOf(view.report);
    view.lineTimes = lineTimesOf(*view.trace);
    view.findingPlaces = navigation::placesOfFindings(*view.trace);
    view.fields = fieldsOf(view.trace->info());
    view.period = view.trace->info().pipelines.front().grid.back();
    const std::vector<std::int64_t>& begin = view.trace->steps().begin;
    const std::size_t middle = begin.size() / 2;
    const std::size_t last = std::min(middle + at(view.period), begin.size() - 1);
    view.periodTime = Picoseconds(begin[last] - begin[last - std::min(last, at(view.period))]);
    return view;
}

layout::RunView mainJobView(int block)
{
    return runViewOf(mainJob(block));
}

const layout::RunView& sharedMainJob()
{
    static const layout::RunView kRun = mainJobView();
    return kRun;
}

} // namespace pallascope::test
