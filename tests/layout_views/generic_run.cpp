// Makes the runs that generic_run.h describes.
#include "tests/layout_views/generic_run.h"

#include "core/analysis/array_traffic.h"
#include "core/trace/columns.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <stdexcept>

namespace pallascope::test {

namespace {

using trace::Direction;
using trace::kNone;

constexpr std::int64_t kMiB = 1024 * 1024;
constexpr std::int64_t kOverheadCycles = 495;

trace::SegmentTemplate segment(trace::SegmentKind kind, std::int64_t cycles, std::size_t units)
{
    trace::SegmentTemplate result;
    result.kind = kind;
    result.cycles = Cycles(cycles);
    result.clock = Hertz(1'500'000'000);
    result.duration = toPicoseconds(result.cycles, result.clock);
    result.flopsByUnit.resize(units);
    result.executedFlopsByUnit.resize(units);
    return result;
}

void addHardware(trace::Info& info)
{
    info.kernel = info.program = "generic";
    info.chip = "tpu_v5e";
    info.chipName = "TPU v5e";
    info.chipJson = "{}";
    info.values = "needed";
    info.units = {
        {"MXU", UnitKind::Matrix}, {"VPU", UnitKind::Vector}, {"scalar", UnitKind::Scalar}};
    info.memories = {{"HBM", Bytes(16 * 1024 * kMiB), std::nullopt},
                     {"VMEM", Bytes(128 * kMiB), Bytes(16 * kMiB)}};
    info.links = {{"HBM", 0, 1, BytesPerSecond(819e9), BytesPerSecond(655.2e9)}};
    info.agents = {"TensorCore 0"};
}

void addProgram(trace::Info& info, const GenericKernel& kernel)
{
    if (kernel.sources) {
        info.sources = {{"kernels/generic.cpp",
                         "pipeline({\n  .grid = grid,\n}, [&] {\n  /* body */\n"
                         "  out[all] = f(x[all]);\n});\n"}};
        info.listing = {{"pipeline {", -1}, {"  out[:] <- f x", 0}, {"}", -1}};
    }
    const std::int32_t file = kernel.sources ? 0 : -1;
    info.operations = {{"f", "f", kernel.sources ? 1 : 0, {file, kernel.sources ? 5 : 0}}};
    trace::SegmentTemplate body =
        segment(trace::SegmentKind::Body, kernel.bodyCycles, info.units.size());
    body.operations = {0};
    body.retire = {body.cycles};
    body.marks = {{1, 0, Cycles(0), body.cycles}};
    body.flopsByUnit[1] = body.executedFlopsByUnit[1] = Flops(1024);
    trace::SegmentTemplate overhead =
        segment(trace::SegmentKind::StepOverhead, kOverheadCycles, info.units.size());
    overhead.marks = {{2, -1, Cycles(0), overhead.cycles}};
    info.templates = {body, overhead};
    trace::Pipeline pipeline;
    pipeline.name = "generic";
    pipeline.grid = kernel.grid;
    pipeline.steps = 1;
    for (std::size_t axis = 0; axis < kernel.grid.size(); ++axis) {
        pipeline.axisNames.emplace_back(1, static_cast<char>('i' + static_cast<int>(axis)));
        pipeline.steps *= kernel.grid[axis];
    }
    pipeline.operandCount = static_cast<std::int32_t>(kernel.operands.size());
    pipeline.source = {file, kernel.sources ? 1 : 0};
    info.pipelines = {pipeline};
}

void addBuffer(trace::Info& info, trace::Buffer buffer)
{
    buffer.memory = 1;
    if (!info.buffers.empty()) {
        buffer.address = info.buffers.back().address + info.buffers.back().bytes;
    }
    info.buffers.edit().push_back(std::move(buffer));
}

void addOperand(trace::Info& info, const GenericOperand& given)
{
    trace::Operand operand;
    operand.name = given.name;
    operand.direction = given.direction;
    operand.dtype = given.dtype;
    operand.array = Shape(given.array);
    operand.block = Shape(given.block);
    operand.gridAxes = given.gridAxes;
    for (std::size_t axis = 0; axis < given.array.size(); ++axis) {
        operand.blockCounts.push_back(ceilDiv(given.array[axis], given.block[axis]));
    }
    const std::int64_t element = dtypeBytes(given.dtype);
    operand.arrayBytes = Bytes(operand.array.elements() * element);
    operand.blockBytes = operand.slotBytes = Bytes(operand.block.elements() * element);
    operand.firstBuffer = static_cast<std::int32_t>(info.buffers.size());
    for (std::int32_t slot = 0; slot < operand.slots; ++slot) {
        trace::Buffer buffer;
        buffer.name = fmt::format("{}·{}", given.name, slot);
        buffer.operand = static_cast<std::int32_t>(info.operands.size());
        buffer.slot = slot;
        buffer.bytes = operand.slotBytes;
        buffer.dtype = given.dtype;
        buffer.shape = operand.block;
        addBuffer(info, std::move(buffer));
    }
    info.operands.edit().push_back(std::move(operand));
}

struct Stay
{
    std::int64_t first = 0, last = 0, block = 0;
    std::int32_t slot = 0, in = kNone, out = kNone;
};

class Schedule
{
public:
    explicit Schedule(const GenericKernel& kernel)
    {
        addHardware(b.info);
        addProgram(b.info, kernel);
        for (const GenericOperand& operand : kernel.operands) {
            addOperand(b.info, operand);
        }
        for (const auto& [name, bytes] : kernel.scratch) {
            trace::Buffer buffer;
            buffer.name = name;
            buffer.bytes = Bytes(bytes);
            buffer.shape = Shape{bytes / 4};
            addBuffer(b.info, std::move(buffer));
        }
        m_stays.resize(b.info.operands.size());
    }

    trace::TraceBuilder build() &&
    {
        const std::int64_t steps = b.info.pipelines[0].steps;
        fetch(0, kNone);
        for (std::int64_t step = 0; step < steps; ++step) {
            run(step, step + 1 == steps);
        }
        b.end = Picoseconds(std::max(m_now, m_free));
        for (std::size_t operand = 0; operand < m_stays.size(); ++operand) {
            for (const Stay& stay : m_stays[operand]) {
                b.visits.operand.push_back(static_cast<std::int32_t>(operand));
                b.visits.firstStep.push_back(static_cast<std::int32_t>(stay.first));
                b.visits.lastStep.push_back(static_cast<std::int32_t>(stay.last));
                b.visits.block.push_back(stay.block);
                b.visits.slot.push_back(stay.slot);
                b.visits.copyIn.push_back(stay.in);
                b.visits.copyOut.push_back(stay.out);
            }
        }
        return std::move(b);
    }

private:
    [[nodiscard]] std::int64_t blockOf(std::size_t operand, std::int64_t step) const
    {
        const trace::Operand& op = b.info.operands[operand];
        const std::vector<Extent> index = trace::gridIndices(b.info.pipelines[0], step);
        std::int64_t block = 0;
        for (std::size_t axis = 0; axis < op.blockCounts.size(); ++axis) {
            const std::int32_t grid = op.gridAxes[axis];
            block = block * op.blockCounts[axis] + (grid < 0 ? 0 : index[trace::at(grid)]);
        }
        return block;
    }

    [[nodiscard]] bool begins(std::size_t operand, std::int64_t step) const
    {
        return step == 0 || blockOf(operand, step) != blockOf(operand, step - 1);
    }

    std::int32_t copy(std::size_t operand, const Stay& stay, bool out, std::int64_t step)
    {
        trace::Copies& c = b.copies;
        const std::int64_t bytes = b.info.operands[operand].blockBytes.value();
        const std::int64_t start = std::max(m_now, m_free);
        m_free = start
                 + static_cast<std::int64_t>(std::ceil(static_cast<double>(bytes) * 1e12
                                                       / b.info.links[0].achieved.value()));
        c.operand.push_back(static_cast<std::int32_t>(operand));
        c.block.push_back(stay.block);
        c.slot.push_back(stay.slot);
        c.out.push_back(out ? 1 : 0);
        c.link.push_back(0);
        c.step.push_back(static_cast<std::int32_t>(step));
        c.bytes.push_back(bytes);
        c.issue.push_back(m_now);
        c.start.push_back(start);
        c.end.push_back(m_free);
        return static_cast<std::int32_t>(c.size() - 1);
    }

    void fetch(std::int64_t step, std::int64_t issuer)
    {
        for (std::size_t i = 0; i < m_stays.size(); ++i) {
            const Direction direction = b.info.operands[i].direction;
            if (!begins(i, step)) {
                continue;
            }
            Stay stay = {step, step, blockOf(i, step),
                         static_cast<std::int32_t>(m_stays[i].size() % 2)};
            if (direction != Direction::Out) {
                stay.in = copy(i, stay, false, issuer);
            }
            m_stays[i].push_back(stay);
        }
    }

    void wait(std::int32_t copy, std::int64_t step)
    {
        b.waits.copy.push_back(copy);
        b.waits.agent.push_back(0);
        b.waits.step.push_back(static_cast<std::int32_t>(step));
        b.waits.begin.push_back(m_now);
        m_now = std::max(m_now, b.copies.end[trace::at(copy)]);
        b.waits.end.push_back(m_now);
    }

    void segmentRow(std::int32_t id, std::int64_t step)
    {
        b.segments.templateId.push_back(id);
        b.segments.agent.push_back(0);
        b.segments.step.push_back(static_cast<std::int32_t>(step));
        b.segments.begin.push_back(m_now);
        m_now += b.info.templates[trace::at(id)].duration.value();
    }

    [[nodiscard]] Stay& stayOf(std::size_t operand, std::int64_t step)
    {
        return *std::find_if(m_stays[operand].rbegin(), m_stays[operand].rend(),
                             [&](const Stay& stay) { return stay.first <= step; });
    }

    void run(std::int64_t step, bool last)
    {
        b.steps.pipeline.push_back(0);
        b.steps.ordinal.push_back(step);
        b.steps.begin.push_back(m_now);
        if (!last) {
            fetch(step + 1, step);
        }
        for (std::size_t i = 0; i < m_stays.size(); ++i) {
            Stay& stay = stayOf(i, step);
            stay.last = step;
            if (stay.first == step && stay.in != kNone) {
                wait(stay.in, step);
            }
        }
        b.steps.bodyBegin.push_back(m_now);
        segmentRow(0, step);
        b.steps.bodyEnd.push_back(m_now);
        segmentRow(1, step);
        for (std::size_t i = 0; i < m_stays.size(); ++i) {
            if (b.info.operands[i].direction != Direction::In && (last || begins(i, step + 1))) {
                Stay& stay = stayOf(i, step);
                stay.out = copy(i, stay, true, step);
            }
        }
        b.steps.end.push_back(m_now);
    }

    trace::TraceBuilder b;
    std::int64_t m_now = 0, m_free = 0;
    std::vector<std::vector<Stay>> m_stays;
};

void fillReport(analysis::Report& report, const trace::Trace& trace)
{
    const trace::Info& info = trace.info();
    report.kernel = info.kernel;
    report.time = trace.end();
    report.steps = static_cast<std::int64_t>(trace.steps().size());
    report.boundBy = {analysis::BoundKind::Memory, "HBM"};
    report.vmemScopedLimit = *info.memories[1].scopedLimit;
    report.vmemCapacity = info.memories[1].capacity;
    report.busy = {{"VPU", Picoseconds(trace.end().value() / 2)}};
    if (!info.pipelines.empty()) {
        report.grid = info.pipelines[0].grid;
    }
    for (std::size_t i = 0; i < info.operands.size(); ++i) {
        const trace::Operand& operand = info.operands[i];
        for (const bool out : {false, true}) {
            analysis::Traffic traffic = {operand.name,
                                         out ? trace::Summary::Written : trace::Summary::Read,
                                         0,
                                         {},
                                         operand.blockBytes,
                                         0};
            for (std::size_t row = 0; row < trace.copies().size(); ++row) {
                if (trace::at(trace.copies().operand[row]) == i
                    && (trace.copies().out[row] != 0) == out) {
                    ++traffic.copies;
                    traffic.bytes += Bytes(trace.copies().bytes[row]);
                }
            }
            traffic.refetchFactor = ratio(traffic.bytes, operand.arrayBytes);
            if (traffic.copies > 0) {
                report.traffic.push_back(traffic);
            }
        }
        report.vmemByOperand.push_back({operand.name, operand.slotBytes * operand.slots, false});
        report.vmemPeak += operand.slotBytes * operand.slots;
    }
    report.arrays = analysis::trafficByArray(report.traffic, info, trace::arraysOf(info).ofOperand,
                                             trace::pipelineKindsOf(info));
    for (const trace::Buffer& buffer : info.buffers) {
        if (buffer.operand < 0) {
            report.vmemByOperand.push_back({buffer.name, buffer.bytes, true});
            report.vmemPeak += buffer.bytes;
        }
    }
    for (const std::int32_t id : trace.segments().templateId) {
        (id == 0 ? report.split.compute : report.split.stepOverhead) +=
            info.templates[trace::at(id)].duration;
    }
    report.split.prologue = Picoseconds(trace.steps().size() == 0 ? 0 : trace.steps().bodyBegin[0]);
    report.split.exposedCopies = trace.end() - report.split.total();
}

} // namespace

trace::TraceBuilder genericBuilder(const GenericKernel& kernel)
{
    return Schedule(kernel).build();
}

layout::RunView viewOf(trace::TraceBuilder builder)
{
    auto trace = std::move(builder).finish();
    if (!trace) {
        throw std::logic_error(trace.error().message);
    }
    layout::RunView run;
    run.trace = trace.value();
    run.index = std::make_shared<const trace::Index>(run.trace);
    fillReport(run.report, *run.trace);
    run.verdict = "|Memory-bound (HBM).| A sentence with numbers.";
    const trace::SourceLine body = run.trace->info().operations[0].source;
    run.lineTimes = {
        {body, run.report.split.compute, 1},
        {run.trace->info().pipelines.empty() ? body : run.trace->info().pipelines[0].source,
         run.trace->end() - run.report.split.compute,
         {}}};
    return run;
}

layout::RunView genericRun(const GenericKernel& kernel)
{
    return viewOf(genericBuilder(kernel));
}

GenericKernel vectorSum()
{
    return {{8},
            {{"x", Direction::In, {1000}, {128}, {0}},
             {"y", Direction::In, {1000}, {128}, {0}},
             {"out", Direction::Out, {1000}, {128}, {0}}},
            {}};
}

GenericKernel gridless()
{
    return {{},
            {{"a", Direction::In, {1024}, {1024}, {-1}},
             {"b", Direction::In, {3, 2, 128, 4}, {3, 2, 128, 4}, {-1, -1, -1, -1}},
             {"sum", Direction::Out, {1024}, {1024}, {-1}}},
            {}};
}

GenericKernel rankFour()
{
    return {{2, 3, 4, 5},
            {{"left", Direction::In, {2, 3, 512, 600}, {1, 1, 128, 128}, {0, 1, 2, 3}},
             {"right", Direction::In, {2, 3, 512, 600}, {1, 1, 128, 128}, {0, 1, 2, 3}},
             {"product", Direction::Out, {2, 3, 512, 600}, {1, 1, 128, 128}, {0, 1, 2, 3}}},
            {}};
}

GenericKernel sixOperands()
{
    return {{4, 6, 3},
            {{"query", Direction::In, {512, 384}, {128, 128}, {0, 2}, DType::BF16},
             {"key", Direction::In, {384, 768}, {128, 128}, {2, 1}, DType::BF16},
             {"bias", Direction::In, {768}, {128}, {1}},
             {"mask", Direction::In, {512, 768}, {128, 128}, {0, 1}, DType::Int32},
             {"table", Direction::In, {7, 256}, {7, 256}, {-1, -1}},
             {"scores", Direction::Out, {512, 768}, {128, 128}, {0, 1}}},
            {{"acc", 65536}, {"row_max", 512}}};
}

GenericKernel product(Extent blocks, Extent depth)
{
    return {{blocks, blocks, depth},
            {{"x", Direction::In, {blocks * 128, depth * 128}, {128, 128}, {0, 2}},
             {"y", Direction::In, {depth * 128, blocks * 128}, {128, 128}, {2, 1}},
             {"out", Direction::Out, {blocks * 128, blocks * 128}, {128, 128}, {0, 1}}},
            {}};
}

layout::RunView windowsRun(Extent outer)
{
    GenericKernel kernel;
    kernel.grid = {outer, 4};
    kernel.operands = {{"x", trace::Direction::In, {outer, 16, 8}, {1, 4, 8}, {0, 1, -1}},
                       {"out", trace::Direction::Out, {outer, 16, 8}, {1, 4, 8}, {0, 1, -1}}};
    trace::TraceBuilder builder = genericBuilder(kernel);
    trace::Operand& x = builder.info.operands.edit()[0];
    x.array = Shape{outer, 18, 8};
    x.block = Shape{1, 6, 8};
    x.blockCounts[1] = 13;
    x.gridAxes[1] = -1;
    x.elementAxes = {1};
    x.elementPads = {0};
    const auto renumber = [](const std::vector<std::int32_t>& operand, auto& blocks) {
        for (std::size_t row = 0; row < blocks.size(); ++row) {
            blocks[row] =
                operand[row] == 0 ? blocks[row] / 4 * 13 + blocks[row] % 4 * 4 : blocks[row];
        }
    };
    renumber(builder.visits.operand, builder.visits.block);
    renumber(builder.copies.operand, builder.copies.block);
    return viewOf(std::move(builder));
}

} // namespace pallascope::test
