#include "core/machine/recorder.h"

#include "core/base/check.h"
#include "core/cost/budget.h"
#include "core/ir/pipeline_facts.h"
#include "core/ir/print.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace pallascope::machine {

namespace {

trace::Direction direction(ir::BlockDirection direction)
{
    switch (direction) {
    case ir::BlockDirection::In:
        return trace::Direction::In;
    case ir::BlockDirection::Out:
        return trace::Direction::Out;
    case ir::BlockDirection::InOut:
        return trace::Direction::InOut;
    }
    PALLASCOPE_CHECK(false && "exhaustive");
}

trace::UnitKind unitKind(chip::UnitKind kind)
{
    return static_cast<trace::UnitKind>(kind);
}

static_assert(static_cast<int>(chip::UnitKind::Scalar)
              == static_cast<int>(trace::UnitKind::Scalar));

// What a bar of the time line says.
std::string label(const ir::Program& program, const ir::Operation& operation)
{
    switch (operation.code) {
    case ir::OpCode::DotGeneral:
        return "dot";
    case ir::OpCode::Get:
        return "load " + program.value(operation.operands[0]).name;
    case ir::OpCode::Swap:
        return "store " + program.value(operation.operands[0]).name;
    case ir::OpCode::BroadcastInDim:
        return "broadcast";
    case ir::OpCode::ConvertElementType:
        return "convert";
    case ir::OpCode::SelectN:
        return "select";
    default:
        return std::string(ir::opName(operation.code));
    }
}

// Dynamic extents stand as 1 until the pipeline is entered.
std::vector<Extent> staticGrid(const ir::PipelineParams& params)
{
    std::vector<Extent> grid = params.grid;
    std::replace(grid.begin(), grid.end(), ir::kDynamicExtent, Extent{1});
    return grid;
}

} // namespace

trace::SourceLine Recorder::sourceLine(const ir::Program& program, ir::LocationId location) const
{
    if (location.index < 0) {
        return {};
    }
    const ir::Location& place = program.locations[static_cast<std::size_t>(location.index)];
    const auto file = m_files.find(place.file);
    return {file == m_files.end() ? -1 : file->second, place.line};
}

void Recorder::describeProgram(const ir::Program& program)
{
    trace::Info& info = builder.info;
    info.kernel = info.program = program.name;
    for (const ir::Location& location : program.locations) {
        if (!m_files.contains(location.file)) {
            m_files[location.file] = static_cast<std::int32_t>(info.sources.size());
            const auto source =
                std::find_if(program.sources.begin(), program.sources.end(),
                             [&](const ir::Source& s) { return s.file == location.file; });
            info.sources.push_back(
                {location.file, source == program.sources.end() ? "" : source->text});
        }
    }
    for (ir::PrintedLine& line : ir::print(program)) {
        info.listing.push_back({std::move(line.text), line.operation});
    }
    info.operations.resize(static_cast<std::size_t>(program.operationCount));
    forEachOperation(program.body, [&](const ir::Operation& operation) {
        info.operations[static_cast<std::size_t>(operation.id)] = {
            std::string(ir::opName(operation.code)), label(program, operation), -1,
            sourceLine(program, operation.location)};
    });
    for (std::size_t line = 0; line < info.listing.size(); ++line) {
        if (info.listing[line].operation >= 0) {
            info.operations[static_cast<std::size_t>(info.listing[line].operation)].listingLine =
                static_cast<std::int32_t>(line);
        }
    }
}

void Recorder::describeChip(const chip::Chip& chip)
{
    trace::Info& info = builder.info;
    info.chip = chip.name;
    info.chipName = chip.title;
    info.chipJson = chip.json;
    for (const chip::Unit& unit : chip.units) {
        info.units.push_back({unit.name, unitKind(unit.kind)});
    }
    for (const chip::Memory& memory : chip.memories) {
        info.memories.push_back({memory.name, memory.bytes, memory.defaultLimit});
    }
    for (const chip::Link& link : chip.links) {
        info.links.push_back({link.name, link.from, link.to, link.datasheet, link.achieved()});
    }
    for (const chip::AgentKind& agent : chip.agents) {
        for (std::int64_t i = 0; i < agent.count; ++i) {
            info.agents.push_back(agent.name + " " + std::to_string(i));
        }
    }
}

Status Recorder::describePipeline(const ir::Program& program, const ir::Operation& operation,
                                  const chip::Chip& chip)
{
    trace::Info& info = builder.info;
    const auto& params = std::get<ir::PipelineParams>(operation.params);
    const auto index = static_cast<std::int32_t>(info.pipelines.size());
    PipelineRows& rows = m_pipelines[&operation];
    rows.rows.push_back(index);
    const bool emitted = params.origin == ir::PipelineOrigin::EmitPipeline;
    info.pipelines.push_back(
        {program.name, emitted ? "emit_pipeline" : "pallas_call (modelled on emit_pipeline)",
         params.schedule, staticGrid(params), params.axisNames,
         static_cast<std::int32_t>(info.operands.size()), 0, ir::stepCount(params.grid), 0,
         sourceLine(program, operation.location)});
    const Result<cost::Budget> budget = cost::budget(program, operation, chip);
    if (!budget) {
        return budget.error();
    }
    info.temporariesEstimate = std::max(info.temporariesEstimate, budget->temporariesEstimate);
    std::vector<Bytes> address(chip.memories.size());
    const auto specs = params.specs.size();
    for (const cost::BudgetEntry& entry : budget->entries) { // outer ones come last
        if (entry.outer) {
            address[static_cast<std::size_t>(entry.memory)] += entry.total();
        }
    }
    for (std::size_t i = 0; i < budget->entries.size(); ++i) {
        const cost::BudgetEntry& entry = budget->entries[i];
        if (entry.outer) {
            break;
        }
        const ir::Type& type = program.type(entry.ref);
        const bool scratch = entry.scratch;
        const auto operand = static_cast<std::int32_t>(info.operands.size());
        if (i < specs) {
            const ir::OperandFacts facts = ir::operandFacts(program, operation, i);
            auto& pipeline = info.pipelines.back();
            rows.offsets.push_back(facts.unbuffered ? -1 : pipeline.operandCount);
            if (facts.unbuffered) {
                continue;
            }
            ++pipeline.operandCount;
            const ir::BlockSpec& spec = params.specs[i];
            const ir::Type& array = program.type(operation.operands[i]);
            std::vector<Extent> block;
            for (const ir::BlockDim& dim : spec.block) {
                block.push_back(dim.size);
            }
            info.operands.push_back(
                {spec.name, array.dtype,
                 spec.restores ? trace::Direction::InOut : direction(spec.direction), array.shape,
                 Shape(block), facts.blockCounts, facts.gridAxes, index,
                 static_cast<std::int32_t>(info.buffers.size()), facts.slots,
                 packedBytes(array.dtype, array.shape.elements()),
                 packedBytes(array.dtype, Shape(block).elements()), entry.slotBytes,
                 sourceLine(program, spec.location)});
        }
        for (std::int32_t slot = 0; slot < entry.slots; ++slot) {
            Bytes& next = address[static_cast<std::size_t>(entry.memory)];
            const std::string name =
                scratch ? entry.name : entry.name + "\u00b7" + std::to_string(slot);
            info.buffers.push_back({name, scratch ? -1 : operand, slot, entry.memory, next,
                                    entry.slotBytes, type.dtype, type.shape});
            next += entry.slotBytes;
        }
    }
    return Done{};
}

std::int32_t Recorder::enterPipeline(const ir::Operation& operation,
                                     const std::vector<Extent>& grid, std::int32_t agent)
{
    trace::Info& info = builder.info;
    PipelineRows& known = m_pipelines.at(&operation);
    for (const std::int32_t row : known.rows) {
        const trace::Pipeline& pipeline = info.pipelines[static_cast<std::size_t>(row)];
        if (pipeline.grid == grid && pipeline.agent == agent) {
            known.entered = true;
            return row;
        }
    }
    auto row = static_cast<std::size_t>(known.rows.front());
    if (std::exchange(known.entered, true)) {
        trace::Pipeline copy = info.pipelines[row];
        row = info.pipelines.size();
        known.rows.push_back(static_cast<std::int32_t>(row));
        const auto first = static_cast<std::size_t>(copy.firstOperand);
        copy.firstOperand = static_cast<std::int32_t>(info.operands.size());
        for (std::size_t i = 0; i < static_cast<std::size_t>(copy.operandCount); ++i) {
            trace::Operand operand = info.operands[first + i];
            operand.pipeline = static_cast<std::int32_t>(row);
            info.operands.push_back(std::move(operand));
        }
        info.pipelines.push_back(std::move(copy));
        m_visits.resize(info.operands.size());
    }
    info.pipelines[row].grid = grid;
    info.pipelines[row].steps = ir::stepCount(grid);
    info.pipelines[row].agent = agent;
    return static_cast<std::int32_t>(row);
}

std::int32_t Recorder::operandIndex(const ir::Operation& pipeline, std::int32_t row,
                                    std::size_t spec) const
{
    const std::int32_t offset = m_pipelines.at(&pipeline).offsets[spec];
    return offset < 0 ? -1
                      : builder.info.pipelines[static_cast<std::size_t>(row)].firstOperand + offset;
}

Status Recorder::describe(const ir::Program& program, const chip::Chip& chip, const Plan& plan)
{
    if (m_keepsRows) {
        describeProgram(program);
    }
    describeChip(chip);
    for (const ir::Operation* pipeline : ir::pipelinesOf(program)) {
        if (Status status = describePipeline(program, *pipeline, chip); !status) {
            return status;
        }
    }
    if (Status status = describeScopes(program, chip); !status) {
        return status;
    }
    if (Status status = describeCopies(program, chip); !status) {
        return status;
    }
    builder.info.templates = plan.templates;
    m_visits.resize(builder.info.operands.size());
    if (!m_keepsRows) {
        m_sums.emplace(builder.info);
    }
    return Done{};
}

void Recorder::reserve(std::int32_t pipeline, std::int64_t steps)
{
    if (!m_keepsRows) {
        return;
    }
    constexpr std::int64_t kMostAhead = 1 << 20;
    const auto rows = static_cast<std::size_t>(std::min(steps, kMostAhead));
    const auto room = [](std::size_t more, auto&... columns) {
        const auto one = [more](auto& column) {
            if (column.size() + more > column.capacity()) { // never less than push_back would
                column.reserve(std::max(column.size() + more, 2 * column.capacity()));
            }
        };
        (one(columns), ...);
    };
    const trace::Pipeline& info = builder.info.pipelines[static_cast<std::size_t>(pipeline)];
    const auto first = static_cast<std::size_t>(info.firstOperand);
    const auto operands = static_cast<std::size_t>(info.operandCount);
    trace::Steps& s = builder.steps;
    room(rows, s.pipeline, s.ordinal, s.begin, s.bodyBegin, s.bodyEnd, s.end);
    trace::Segments& g = builder.segments;
    room(2 * rows, g.templateId, g.agent, g.step, g.begin);
    trace::Copies& c = builder.copies;
    room(operands * rows, c.operand, c.block, c.slot, c.out, c.link, c.step, c.bytes, c.issue,
         c.start, c.end);
    trace::Waits& w = builder.waits;
    room(operands * rows, w.copy, w.agent, w.step, w.begin, w.end);
    for (std::size_t operand = first; operand < first + operands; ++operand) {
        room(rows, m_visits[operand]);
    }
}

std::int32_t Recorder::addCopy(std::int32_t operand, std::int64_t block, std::int32_t slot,
                               bool out, std::int32_t link, std::int32_t step, Bytes bytes,
                               Picoseconds issue, Picoseconds start, Picoseconds end)
{
    trace::Copies& copies = builder.copies;
    countEvents(1);
    m_lastEnd = std::max(m_lastEnd, end);
    if (!m_keepsRows) {
        m_sums->addCopy(operand, out, link, bytes, start, end);
        copies.end.push_back(end.value());
        return static_cast<std::int32_t>(copies.end.size() - 1);
    }
    copies.operand.push_back(operand);
    copies.block.push_back(block);
    copies.slot.push_back(slot);
    copies.out.push_back(out ? 1 : 0);
    copies.link.push_back(link);
    copies.step.push_back(step);
    copies.bytes.push_back(bytes.value());
    copies.issue.push_back(issue.value());
    copies.start.push_back(start.value());
    copies.end.push_back(end.value());
    return static_cast<std::int32_t>(copies.size() - 1);
}

void Recorder::addWait(std::int32_t copy, std::int32_t semaphore, std::int32_t agent,
                       std::int32_t step, Picoseconds begin, Picoseconds end)
{
    trace::Waits& waits = builder.waits;
    countEvents(1);
    if (!m_keepsRows) {
        m_sums->addWait(step, begin, end);
        return;
    }
    if (semaphore != trace::kNone && waits.semaphore.empty()) {
        waits.semaphore.assign(waits.size(), trace::kNone); // of the rows so far
        m_hasSemaphores = true;
    }
    if (m_hasSemaphores) {
        waits.semaphore.push_back(semaphore);
    }
    waits.copy.push_back(copy);
    waits.agent.push_back(agent);
    waits.step.push_back(step);
    waits.begin.push_back(begin.value());
    waits.end.push_back(end.value());
}

void Recorder::addSignal(std::int32_t semaphore, std::int32_t agent, Picoseconds time,
                         std::int64_t amount)
{
    countEvents(1);
    if (m_keepsRows) {
        builder.signals.semaphore.push_back(semaphore);
        builder.signals.agent.push_back(agent);
        builder.signals.time.push_back(time.value());
        builder.signals.amount.push_back(amount);
    }
}

std::int32_t Recorder::beginStep(std::int32_t pipeline, std::int64_t ordinal, Picoseconds begin)
{
    if (m_keepsRows) {
        trace::Steps& steps = builder.steps;
        steps.pipeline.push_back(pipeline);
        steps.ordinal.push_back(ordinal);
        for (auto* column : {&steps.begin, &steps.bodyBegin, &steps.bodyEnd, &steps.end}) {
            column->push_back(begin.value());
        }
    } else {
        forgetStep();
    }
    return static_cast<std::int32_t>(m_stepsBegun++);
}

void Recorder::beginBody(std::int32_t step, Picoseconds time)
{
    if (step == 0) {
        m_firstBody = time;
    }
    if (m_keepsRows) {
        builder.steps.bodyBegin[static_cast<std::size_t>(step)] = time.value();
    }
}

void Recorder::endBody(std::int32_t step, Picoseconds time)
{
    if (m_keepsRows) {
        builder.steps.bodyEnd[static_cast<std::size_t>(step)] = time.value();
    }
}

void Recorder::endStep(std::int32_t step, Picoseconds time)
{
    m_lastStepEnd = std::max(m_lastStepEnd, time);
    if (m_keepsRows) {
        builder.steps.end[static_cast<std::size_t>(step)] = time.value();
    }
}

void Recorder::closeStep(std::int32_t step, bool beforeBody, Picoseconds time)
{
    if (beforeBody) {
        beginBody(step, time);
    }
    endBody(step, time);
    endStep(step, time);
}

void Recorder::forgetStep()
{
    for (std::vector<Visit>& visits : m_visits) {
        if (visits.size() > 1) {
            visits.erase(visits.begin(), visits.end() - 1);
        }
    }
}

void Recorder::addFinding(trace::Finding finding)
{
    const auto [place, isNew] = m_findings.try_emplace(
        {finding.kind, finding.operand, finding.source}, builder.info.findings.size());
    if (isNew) {
        builder.info.findings.push_back(std::move(finding));
    } else {
        builder.info.findings[place->second].count += finding.count;
    }
}

trace::Summary Recorder::finishSums(Picoseconds end)
{
    PALLASCOPE_CHECK(!m_keepsRows);
    return std::move(*m_sums).finish(m_stepsBegun, m_firstBody, m_lastStepEnd, end);
}

// A wait by hand is recorded when it ends; others may have begun in between.
void Recorder::sortWaits()
{
    trace::Waits& waits = builder.waits;
    if (std::is_sorted(waits.begin.begin(), waits.begin.end())) {
        return;
    }
    std::vector<std::size_t> order(waits.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return waits.begin[a] < waits.begin[b]; });
    const auto sort = [&](auto& column) {
        auto sorted = column;
        for (std::size_t i = 0; i < column.size(); ++i) {
            sorted[i] = column[order[i]];
        }
        column = std::move(sorted);
    };
    sort(waits.copy);
    sort(waits.semaphore);
    sort(waits.agent);
    sort(waits.step);
    sort(waits.begin);
    sort(waits.end);
}

Result<std::shared_ptr<const trace::Trace>> Recorder::finish(Picoseconds end)
{
    trace::Visits& columns = builder.visits;
    std::size_t rows = 0;
    for (const std::vector<Visit>& visits : m_visits) {
        rows += visits.size();
    }
    for (auto* column : {&columns.operand, &columns.firstStep, &columns.lastStep, &columns.slot,
                         &columns.copyIn, &columns.copyOut}) {
        column->reserve(rows);
    }
    columns.block.reserve(rows);
    for (std::size_t operand = 0; operand < m_visits.size(); ++operand) {
        for (const Visit& visit : m_visits[operand]) {
            columns.operand.push_back(static_cast<std::int32_t>(operand));
            columns.firstStep.push_back(visit.firstStep);
            columns.lastStep.push_back(visit.lastStep);
            columns.block.push_back(visit.block);
            columns.slot.push_back(visit.slot);
            columns.copyIn.push_back(visit.copyIn);
            columns.copyOut.push_back(visit.copyOut);
        }
        m_visits[operand] = {};
    }
    sortWaits();
    if (!builder.info.semaphores.empty()) {
        builder.waits.semaphore.resize(builder.waits.size(), trace::kNone);
    }
    builder.end = end;
    return std::move(builder).finish();
}

} // namespace pallascope::machine
