// Compares the numbers of a report with sums over the trace's columns, computed one row at a time.
#include "core/base/shape.h"
#include "tests/analysis/runs.h"
#include "tests/chip/chip_file.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

namespace pallascope::analysis_test {

using analysis::Report;

namespace {

// Every run of the machine and the main job, each with its report.
class EveryRun : public testing::TestWithParam<std::size_t>
{
protected:
    EveryRun()
        : m_trace(GetParam() < machineRuns().size() ? machineRuns()[GetParam()].trace : mainJob())
        , m_report(analysis::report(*m_trace).value())
    {}

    [[nodiscard]] const trace::SegmentTemplate& templateOf(std::size_t segment) const
    {
        const auto id = static_cast<std::size_t>(m_trace->segments().templateId[segment]);
        return m_trace->info().templates[id];
    }

    [[nodiscard]] Picoseconds busy(const std::string& name) const
    {
        for (const auto& [who, time] : m_report.busy) {
            if (who == name) {
                return time;
            }
        }
        ADD_FAILURE() << name << " is not listed";
        return {};
    }

    std::shared_ptr<const trace::Trace> m_trace;
    Report m_report;
};

std::string runName(const testing::TestParamInfo<std::size_t>& info)
{
    std::string name =
        info.param < machineRuns().size() ? machineRuns()[info.param].name : "main job";
    std::replace(name.begin(), name.end(), ' ', '_');
    return name;
}

} // namespace

TEST_P(EveryRun, trafficIsTheSumOfItsCopies)
{
    const trace::Copies& copies = m_trace->copies();
    std::size_t rows = 0;
    std::int64_t read = 0, written = 0;
    for (const trace::Operand& operand : m_trace->info().operands) {
        for (const bool out : {false, true}) {
            std::int64_t count = 0, bytes = 0;
            for (std::size_t i = 0; i < copies.size(); ++i) {
                const auto of = static_cast<std::size_t>(copies.operand[i]);
                if (m_trace->info().operands[of].name == operand.name
                    && (copies.out[i] != 0) == out) {
                    ++count;
                    bytes += copies.bytes[i];
                }
            }
            (out ? written : read) += bytes;
            if (count == 0) {
                continue;
            }
            ++rows;
            const auto row = std::find_if(
                m_report.traffic.begin(), m_report.traffic.end(), [&](const auto& candidate) {
                    return candidate.operand == operand.name
                           && candidate.way
                                  == (out ? trace::Summary::Written : trace::Summary::Read);
                });
            ASSERT_NE(row, m_report.traffic.end()) << operand.name;
            EXPECT_EQ(row->copies, count);
            EXPECT_EQ(row->bytes.value(), bytes);
            const std::int64_t array = std::max(
                operand.array.elements() * dtypeBytes(operand.dtype), operand.paddedBytes.value());
            EXPECT_DOUBLE_EQ(row->refetchFactor,
                             static_cast<double>(bytes) / static_cast<double>(array));
            EXPECT_EQ(row->blockBytes.value(),
                      operand.block.elements() * dtypeBytes(operand.dtype));
        }
    }
    EXPECT_EQ(m_report.traffic.size(), rows);
    EXPECT_EQ(m_report.hbmRead.value(), read);
    EXPECT_EQ(m_report.hbmWritten.value(), written);
}

TEST_P(EveryRun, workIsTheSumOfItsSegments)
{
    std::int64_t flops = 0, executed = 0, transcendentals = 0;
    for (std::size_t i = 0; i < m_trace->segments().size(); ++i) {
        for (const Flops unit : templateOf(i).flopsByUnit) {
            flops += unit.value();
        }
        for (const Flops unit : templateOf(i).executedFlopsByUnit) {
            executed += unit.value();
        }
        transcendentals += templateOf(i).transcendentals;
    }
    EXPECT_EQ(m_report.flops.value(), flops);
    EXPECT_EQ(m_report.executedFlops.value(), executed);
    EXPECT_EQ(m_report.transcendentals, transcendentals);
    std::int64_t byUnit = 0;
    for (const auto& [unit, part] : m_report.flopsByUnit) {
        EXPECT_GT(part.value(), 0) << unit;
        byUnit += part.value();
    }
    EXPECT_EQ(byUnit, flops);
    const double seconds = static_cast<double>(m_trace->end().value()) * 1e-12;
    EXPECT_NEAR(m_report.flopsPerSecond, static_cast<double>(flops) / seconds, 1e-3);
    const auto moved = static_cast<double>(m_report.hbmRead.value() + m_report.hbmWritten.value());
    EXPECT_DOUBLE_EQ(m_report.arithmeticIntensity, static_cast<double>(flops) / moved);
    EXPECT_EQ(m_report.cycles.value(), std::llround(seconds * 1.5e9));
}

TEST_P(EveryRun, everyPicosecondIsInOnePartOfTheSplit)
{
    const trace::Steps& steps = m_trace->steps();
    const trace::Segments& segments = m_trace->segments();
    const trace::Waits& waits = m_trace->waits();
    const std::int64_t end = m_trace->end().value(), first = steps.bodyBegin.front(),
                       last = steps.end.back();
    std::int64_t compute = 0, overhead = 0, launches = 0, exposed = 0, at = first;
    std::set<std::int32_t> stalled;
    // Between prologue and epilogue the core computes, has step overhead, or waits. All gaps are
    // waits.
    for (std::size_t i = 0; i < segments.size(); ++i) {
        if (templateOf(i).kind == trace::SegmentKind::Launch) {
            ASSERT_LT(segments.begin[i], first);
            launches += templateOf(i).duration.value();
            continue;
        }
        ASSERT_GE(segments.begin[i], at);
        exposed += segments.begin[i] - at;
        const std::int64_t duration = templateOf(i).duration.value();
        const bool isOverhead = templateOf(i).kind == trace::SegmentKind::StepOverhead;
        (isOverhead ? overhead : compute) += duration;
        at = segments.begin[i] + duration;
    }
    exposed += last - at;
    for (std::size_t i = 0; i < waits.size(); ++i) {
        if (waits.begin[i] >= first && waits.begin[i] < last && waits.end[i] > waits.begin[i]) {
            stalled.insert(waits.step[i]);
        }
    }
    EXPECT_EQ(m_report.split.launches.value(), launches);
    EXPECT_EQ(m_report.split.prologue.value(), first - launches);
    EXPECT_EQ(m_report.split.epilogue.value(), end - last);
    EXPECT_EQ(m_report.split.compute.value(), compute);
    EXPECT_EQ(m_report.split.stepOverhead.value(), overhead);
    EXPECT_EQ(m_report.split.exposedCopies.value(), exposed);
    EXPECT_EQ(m_report.split.total().value(), end);
    EXPECT_EQ(m_report.stalledSteps, static_cast<std::int64_t>(stalled.size()));
}

TEST_P(EveryRun, linksAndUnitsAreBusyForTheirRows)
{
    const trace::Info& info = m_trace->info();
    for (std::size_t link = 0; link < info.links.size(); ++link) {
        std::int64_t time = 0;
        for (std::size_t i = 0; i < m_trace->copies().size(); ++i) {
            if (m_trace->copies().link[i] == static_cast<std::int32_t>(link)) {
                time += m_trace->copies().end[i] - m_trace->copies().start[i];
            }
        }
        EXPECT_EQ(busy(info.links[link].name).value(), time);
    }
    for (std::size_t unit = 0; unit < info.units.size(); ++unit) {
        double time = 0; // ps
        for (std::size_t i = 0; i < m_trace->segments().size(); ++i) {
            for (const trace::Mark& mark : templateOf(i).marks) {
                const bool counts = templateOf(i).kind == trace::SegmentKind::Body
                                    && mark.unit == static_cast<std::int32_t>(unit);
                time += counts ? static_cast<double>(mark.length.value()) / 1.5e9 * 1e12 : 0;
            }
        }
        // Segments last whole picoseconds, so each may be off by one.
        EXPECT_NEAR(static_cast<double>(busy(info.units[unit].name).value()), time,
                    static_cast<double>(m_trace->segments().size()) + 1)
            << info.units[unit].name;
    }
    EXPECT_TRUE(std::is_sorted(m_report.busy.begin(), m_report.busy.end(),
                               [](const auto& a, const auto& b) { return a.second > b.second; }));
}

TEST_P(EveryRun, theBoundIsWhatIsBusyLongest)
{
    const trace::Info& info = m_trace->info();
    std::map<std::string, std::int64_t> classes;
    for (const trace::Unit& unit : info.units) {
        const bool moves = unit.kind == UnitKind::Load || unit.kind == UnitKind::Store;
        std::int64_t& time = classes[moves ? "memory(VMEM)" : "compute(" + unit.name + ")"];
        time = std::max(time, busy(unit.name).value());
    }
    const Picoseconds own = m_report.split.compute + m_report.split.stepOverhead;
    for (const trace::Link& link : info.links) { // copies that hide behind all else bound nothing
        classes["memory(" + link.name + ")"] = busy(link.name) > own ? busy(link.name).value() : 0;
    }
    classes["step_overhead"] = m_report.split.stepOverhead.value();
    // Latency is the time that no segment and no copy covers. It is found between the ends of all
    // of them.
    std::vector<std::pair<std::int64_t, std::int64_t>> spans;
    for (std::size_t i = 0; i < m_trace->segments().size(); ++i) {
        const std::int64_t begin = m_trace->segments().begin[i];
        spans.emplace_back(begin, begin + templateOf(i).duration.value());
    }
    for (std::size_t i = 0; i < m_trace->copies().size(); ++i) {
        spans.emplace_back(m_trace->copies().start[i], m_trace->copies().end[i]);
    }
    std::map<std::int64_t, int> changes;
    for (const auto& [begin, finish] : spans) {
        ++changes[begin];
        --changes[finish];
    }
    changes[m_trace->end().value()] += 0;
    std::int64_t idle = 0, before = 0;
    int running = 0;
    for (const auto& [time, change] : changes) {
        idle += running == 0 ? time - before : 0;
        running += change;
        before = time;
    }
    classes["latency"] = idle;
    classes["launches"] = m_report.split.launches.value();
    const auto longest =
        std::max_element(classes.begin(), classes.end(),
                         [](const auto& a, const auto& b) { return a.second < b.second; });
    EXPECT_EQ(classes[toString(m_report.boundBy)], longest->second) << toString(m_report.boundBy);
}

TEST_P(EveryRun, vmemIsItsBuffersAndTheyDoNotOverlap)
{
    const trace::Info& info = m_trace->info();
    std::map<std::string, std::int64_t> byName;
    std::vector<std::pair<std::int64_t, std::int64_t>> places;
    std::int64_t total = 0;
    for (const trace::Buffer& buffer : info.buffers) {
        ASSERT_EQ(info.memories[static_cast<std::size_t>(buffer.memory)].name, "VMEM");
        total += buffer.bytes.value();
        byName[buffer.operand < 0 ? buffer.name
                                  : info.operands[static_cast<std::size_t>(buffer.operand)].name] +=
            buffer.bytes.value();
        places.emplace_back(buffer.address.value(), (buffer.address + buffer.bytes).value());
    }
    std::sort(places.begin(), places.end());
    for (std::size_t i = 1; i < places.size(); ++i) {
        EXPECT_LE(places[i - 1].second, places[i].first);
    }
    EXPECT_EQ(m_report.vmemPeak.value(), total);
    EXPECT_EQ(m_report.vmemByOperand.size(), byName.size());
    for (const analysis::UsedMemory& used : m_report.vmemByOperand) {
        EXPECT_EQ(used.bytes.value(), byName[used.operand]) << used.operand;
    }
    EXPECT_EQ(m_report.vmemCapacity, Bytes(134'217'728));
    EXPECT_EQ(m_report.vmemScopedLimit, Bytes(16'777'216));
}

INSTANTIATE_TEST_SUITE_P(Report, EveryRun, testing::Range(std::size_t{0}, std::size_t{9}), runName);

// bf16 [4096,4096] x [4096,4096] -> f32 in 512-blocks; every figure was computed by hand.
TEST(MainJob, hasTheNumbersOfItsArithmetic)
{
    const Report report = analysis::report(*mainJob()).value();
    EXPECT_EQ(report.steps, 512);
    EXPECT_EQ(report.grid, (std::vector<Extent>{8, 8, 8}));
    const std::int64_t products = std::int64_t{2} * 4096 * 4096 * 4096, sums = 512 * 512 * 512;
    ASSERT_EQ(report.flopsByUnit.size(), 2U);
    EXPECT_EQ(report.flopsByUnit[0].second.value(), products);
    EXPECT_EQ(report.flopsByUnit[1].second.value(), sums);
    EXPECT_EQ(report.hbmRead.value(), 2 * 512 * (512 * 512 * 2));
    EXPECT_EQ(report.hbmWritten.value(), 4096 * 4096 * 4);
    EXPECT_NEAR(report.arithmeticIntensity, 227.8, 0.05);
    ASSERT_EQ(report.traffic.size(), 3U);
    EXPECT_EQ(report.traffic[0].refetchFactor, 8); // once per j
    EXPECT_EQ(report.traffic[1].refetchFactor, 8); // once per i
    EXPECT_EQ(report.traffic[2].refetchFactor, 1);
    EXPECT_EQ(report.traffic[2].copies, 64);
    EXPECT_EQ(report.vmemPeak.value(), 4'194'304);
    EXPECT_EQ(toString(report.boundBy), "memory(HBM)");
    EXPECT_NEAR(toSeconds(report.time).value(), 0.93e-3, 0.08e-3);
    EXPECT_EQ(report.split.stepOverhead, Picoseconds(512 * 330'000));
    // 604 MB at 80 % of 819 GB/s.
    EXPECT_NEAR(toSeconds(report.busy[0].second).value(), 603979776 / (0.8 * 819e9), 1e-9);
}

TEST(MainJob, hasTheRoofsOfItsChip)
{
    const analysis::Roofline roofline = analysis::report(*mainJob())->roofline;
    ASSERT_TRUE(roofline.peak);
    EXPECT_EQ(roofline.peak->name, "bf16 MXU");
    EXPECT_EQ(roofline.peak->flopsPerSecond, 197e12);
    EXPECT_EQ(roofline.memory.name, "HBM");
    EXPECT_EQ(roofline.memory.datasheet.value(), 819e9);
    EXPECT_DOUBLE_EQ(roofline.memory.achieved.value(), 0.8 * 819e9);
    EXPECT_NEAR(roofline.ridge, 240.54, 0.005); // 197e12 / 819e9
    // A step computes 2 * 512^3 + 512^2 FLOPs in 2048 cycles of the MXU, with 0.33 us of overhead.
    const double step = 2048 / 1.5e9 + 0.33e-6;
    ASSERT_TRUE(roofline.stepCeiling);
    EXPECT_NEAR(*roofline.stepCeiling, (2.0 * 512 * 512 * 512 + 512 * 512) / step, 1e9);
}

TEST(Report, aKernelWithoutProductsIsHeldAgainstTheVectorUnit)
{
    const auto& runs = machineRuns();
    const Report report = analysis::report(*runs.back().trace).value();
    ASSERT_EQ(runs.back().name, "vectors");
    EXPECT_EQ(report.roofline.peak->name, "32-bit VPU");
    EXPECT_EQ(report.peakFlopsPerSecond, 6.144e12);
    EXPECT_NEAR(report.roofline.ridge, 7.502, 0.001);
    EXPECT_DOUBLE_EQ(report.utilization, report.flopsPerSecond / 6.144e12);
}

TEST(Report, aKernelThatCountsIsBoundByTheScalarUnit)
{
    const Report report = analysis::report(*counting()).value();
    EXPECT_EQ(toString(report.boundBy), "compute(scalar)");
    EXPECT_EQ(report.busy[0].first, "scalar");
    EXPECT_GT(ratio(report.busy[0].second, report.time), 0.9);
}

TEST(Report, ofTwoCoresSplitsTheTimeOfTheirAverage)
{
    const auto trace = twoCores();
    std::int64_t bodies[2] = {0, 0};
    for (std::size_t i = 0; i < trace->segments().size(); ++i) {
        const auto id = static_cast<std::size_t>(trace->segments().templateId[i]);
        if (trace->info().templates[id].kind == trace::SegmentKind::Body) {
            bodies[trace->segments().agent[i]] += trace->info().templates[id].duration.value();
        }
    }
    EXPECT_GT(bodies[1], 0);
    const Report report = analysis::report(*trace).value();
    EXPECT_EQ(report.split.compute.value(), (bodies[0] + bodies[1]) / 2);
    EXPECT_EQ(report.split.total(), trace->end());
}

// What subcores have is not in the memory to which the cores' blocks are copied.
TEST(Report, ofSubcoresAloneCountsTheirMemory)
{
    trace::TraceBuilder builder = mainJobBuilder();
    const auto own = static_cast<std::int32_t>(builder.info.memories.size());
    builder.info.memories.push_back({"TILESPMEM", Bytes(1 << 30), {}});
    for (trace::Buffer& buffer : builder.info.buffers.edit()) {
        buffer.memory = own;
    }
    const Report ofCores = analysis::report(*mainJob()).value(),
                 report = analysis::report(*std::move(builder).finish().value()).value();
    EXPECT_EQ(report.onChipName, "TILESPMEM");
    EXPECT_GT(report.vmemPeak, Bytes(0));
    EXPECT_EQ(report.vmemPeak, ofCores.vmemPeak);
    EXPECT_EQ(report.vmemCapacity, Bytes(1 << 30));
}

// What they share is larger, and is told beside it, whichever comes first.
TEST(Report, ofSubcoresTellsWhatTheyShareBesideTheirMemory)
{
    trace::TraceBuilder builder = mainJobBuilder();
    const auto shared = static_cast<std::int32_t>(builder.info.memories.size()), own = shared + 1;
    builder.info.memories.push_back({"SPMEM", Bytes(std::int64_t{1} << 32), {}});
    builder.info.memories.push_back({"TILESPMEM", Bytes(1 << 30), {}});
    std::vector<trace::Buffer>& buffers = builder.info.buffers.edit();
    for (trace::Buffer& buffer : buffers) {
        buffer.memory = own;
    }
    for (const char* name : {"sums", "sums"}) {
        trace::Buffer array;
        array.name = name;
        array.memory = shared;
        array.bytes = Bytes(4096);
        array.dtype = DType::F32;
        array.shape = Shape({8, 128});
        buffers.insert(buffers.begin(), array);
    }
    for (trace::Operand& operand : builder.info.operands.edit()) {
        operand.firstBuffer += 2;
    }
    const auto trace = std::move(builder).finish();
    ASSERT_TRUE(trace) << trace.error().message;
    const Report ofCores = analysis::report(*mainJob()).value(),
                 report = analysis::report(**trace).value();
    EXPECT_EQ(report.onChipName, "TILESPMEM");
    EXPECT_EQ(report.vmemPeak, ofCores.vmemPeak);
    const std::string text = analysis::toText(report, (*trace)->info(), {});
    EXPECT_NE(text.find("\nSPMEM   8 KiB of 4 GiB: sums 4 KiB, sums 4 KiB\n"), std::string::npos)
        << text;
    const std::string json = analysis::toJson(report, (*trace)->info(), {}, {});
    EXPECT_NE(json.find("\"sums\": 8192"), std::string::npos) << json;
}

TEST(Report, aTraceWithABrokenChipOrWithoutALinkIsRefused)
{
    trace::TraceBuilder noChip = mainJobBuilder();
    noChip.info.chipJson = "{}";
    const auto broken = analysis::report(*std::move(noChip).finish().value());
    ASSERT_FALSE(broken);
    EXPECT_EQ(broken.error().kind, ErrorKind::User);
    EXPECT_NE(broken.error().message.find("in the trace"), std::string::npos);
    trace::TraceBuilder noLink = mainJobBuilder();
    noLink.info.links.clear();
    noLink.copies = {};
    noLink.waits = {};
    noLink.visits = {};
    const auto without = analysis::report(*std::move(noLink).finish().value());
    ASSERT_FALSE(without);
    EXPECT_EQ(
        without.error().message,
        "The trace lists no link, so it has no roofline; use a trace of a chip that has links.");
}

// The two subcores beside the core have units of their own.
TEST(Report, averagesAUnitOverTheAgentsThatOwnIt)
{
    const auto busyOf = [](trace::TraceBuilder builder, const std::string& unit) {
        builder.info.chipJson = chip::chipText("tpu_v7x");
        const Report report = analysis::report(*std::move(builder).finish().value()).value();
        const std::map<std::string, Picoseconds> busy(report.busy.begin(), report.busy.end());
        return busy.at(unit);
    };
    trace::TraceBuilder builder = mainJobBuilder();
    builder.info.units.push_back({"SC VPU", UnitKind::Vector});
    for (trace::SegmentTemplate& segment : builder.info.templates.edit()) {
        segment.flopsByUnit.emplace_back(0);
        segment.executedFlopsByUnit.emplace_back(0);
    }
    const Picoseconds alone = busyOf(builder, "MXU");
    builder.info.agents = {"TensorCore 0", "SparseCore 0 vector subcore 0",
                           "SparseCore 0 vector subcore 1"};
    builder.info.semaphores = {{"sem", "semaphore", 2}};
    builder.waits.semaphore.assign(builder.waits.size(), trace::kNone);
    EXPECT_EQ(busyOf(builder, "MXU"), alone);
    for (trace::SegmentTemplate& segment : builder.info.templates.edit()) {
        for (trace::Mark& mark : segment.marks) {
            mark.unit = mark.unit == 0 ? static_cast<std::int32_t>(builder.info.units.size()) - 1
                                       : mark.unit;
        }
    }
    EXPECT_EQ(busyOf(builder, "SC VPU").value(), alone.value() / 2);
    EXPECT_EQ(busyOf(builder, "MXU"), Picoseconds(0));
}

namespace {

// "VMEM loads 18432, VMEM stores 6144": in GB/s.
std::string ceilingsText(const Report& report)
{
    std::string text;
    for (const analysis::Ceiling& one : report.roofline.ceilings) {
        text += (text.empty() ? "" : ", ") + one.name + " "
                + std::to_string(std::llround(one.datasheet.value() * 1e-9));
    }
    return text;
}

} // namespace

TEST(Report, hasTheCeilingsOfTheLevelsThatTheRunUses)
{
    const auto on = [](const char* chip) {
        return ceilingsText(analysis::report(*runOf("add_vectors", {}, chip)).value());
    };
    EXPECT_EQ(on("tpu_v5e"), "VMEM loads 18432, VMEM stores 6144");  // 3 and 1 slots at 1.5 GHz
    EXPECT_EQ(on("tpu_v5p"), "VMEM loads 43008, VMEM stores 14336"); // of two cores at 1.75 GHz
    const Report counted = analysis::report(*counting()).value();
    EXPECT_EQ(ceilingsText(counted), ""); // it loads nothing from VMEM
}

TEST(Report, leavesOutACeilingWhoseFigureNobodyHasPublished)
{
    const auto trace = runOf("add_vectors", {}, "tpu_v5e");
    std::string text = chip::chipText("tpu_v5e");
    const std::string known = "\"count\": {\"value\": 3, \"source\": \"openxla/xprof";
    const std::size_t at = text.find(known);
    ASSERT_NE(at, std::string::npos);
    text.replace(at, known.size(),
                 "\"count\": {\"value\": null, \"stand_in\": 3, \"source\": \"openxla/xprof");
    const chip::Chip chip = chip::parse(text, "edited").value();
    const Report report = analysis::report(trace->info(), trace::summaryOf(*trace), chip).value();
    EXPECT_EQ(ceilingsText(report), "VMEM stores 6144");
}

} // namespace pallascope::analysis_test
