// Adds rows, marks, prints and findings while the run goes on. recorder_finish.cpp makes the trace
// of them.
#include "core/machine/record/recorder.h"

#include "core/ir/pipeline_facts.h"

#include <algorithm>
#include <utility>

namespace pallascope::machine {

namespace {

// Reserves room for this many more rows.
template<class... Columns>
void room(std::size_t more, Columns&... columns)
{
    const auto one = [more](auto& column) {
        if (column.size() + more > column.capacity()) { // grows at least as much as push_back would
            column.reserve(std::max(column.size() + more, 2 * column.capacity()));
        }
    };
    (one(columns), ...);
}

template<class Table>
void makeRoom(Table& table, std::size_t more)
{
    withColumns(table, [more](auto&... columns) { room(more, columns...); });
}

} // namespace

Recorder::Recorder(const Description& description, Keeps keeps)
    : m_description(description)
    , m_keeps(keeps)
    , m_pipelines(description.pipelines())
    , m_launches(static_cast<std::size_t>(description.kernels()))
    , m_visits(description.info.operands.size())
    , m_rounds(description.info.loops.size(), description.info.agents.size())
{
    builder.info = description.info;
    if (keeps == Keeps::Rows) {
        constexpr std::size_t kFew = 128; // enough for most programs
        room(kFew, builder.waits.semaphore, builder.waits.operation);
    }
    if (keeps == Keeps::Sums) {
        m_sums.emplace(builder.info);
    }
    if (keeps == Keeps::Marks) {
        m_marks.loops.resize(builder.info.loops.size());
    }
}

std::int32_t Recorder::enterPipeline(const ir::Operation& operation,
                                     const std::vector<Extent>& grid, std::int32_t agent)
{
    trace::Info& info = builder.info;
    Description::PipelineRows& known = m_pipelines.at(&operation);
    for (const std::int32_t row : known.rows) {
        trace::Pipeline& pipeline = info.pipelines[static_cast<std::size_t>(row)];
        if (pipeline.grid == grid && pipeline.agent == agent) {
            ++pipeline.entries;
            return row;
        }
    }
    auto row = static_cast<std::size_t>(known.rows.front());
    if (info.pipelines[row].entries > 0) {
        trace::Pipeline copy = info.pipelines[row];
        row = info.pipelines.size();
        known.rows.push_back(static_cast<std::int32_t>(row));
        const auto first = static_cast<std::size_t>(copy.firstOperand);
        copy.firstOperand = static_cast<std::int32_t>(info.operands.size());
        for (std::size_t i = 0; i < static_cast<std::size_t>(copy.operandCount); ++i) {
            trace::Operand operand = info.operands[first + i];
            operand.pipeline = static_cast<std::int32_t>(row);
            info.operands.edit().push_back(std::move(operand));
        }
        info.pipelines.push_back(std::move(copy));
        m_visits.resize(info.operands.size());
    }
    info.pipelines[row].grid = grid;
    info.pipelines[row].steps = ir::stepCount(grid);
    info.pipelines[row].agent = agent;
    info.pipelines[row].entries = 1;
    return static_cast<std::int32_t>(row);
}

std::optional<std::int32_t> Recorder::operandIndex(const ir::Operation& pipeline, std::int32_t row,
                                                   std::size_t spec) const
{
    const std::int32_t offset = m_pipelines.at(&pipeline).offsets[spec];
    if (offset < 0) {
        return std::nullopt;
    }
    return builder.info.pipelines[static_cast<std::size_t>(row)].firstOperand + offset;
}

void Recorder::reserve(std::int32_t pipeline, std::int64_t steps)
{
    if (m_keeps != Keeps::Rows) {
        return;
    }
    constexpr std::int64_t kMostAhead = 1 << 20;
    const auto rows = static_cast<std::size_t>(std::min(steps, kMostAhead));
    const trace::Pipeline& info = builder.info.pipelines[static_cast<std::size_t>(pipeline)];
    const auto first = static_cast<std::size_t>(info.firstOperand);
    const auto operands = static_cast<std::size_t>(info.operandCount);
    makeRoom(builder.steps, rows);
    makeRoom(builder.segments, 2 * rows);
    makeRoom(builder.copies, operands * rows);
    makeRoom(builder.waits, operands * rows);
    for (std::size_t operand = first; operand < first + operands; ++operand) {
        room(rows, m_visits[operand]);
    }
}

Bytes Recorder::recordedBytes() const
{
    // Bytes of one row over all of its columns, without padding.
    constexpr std::size_t kStep = 44, kSegment = 20, kCopy = 57, kEnd = 28, kWait = 28, kRound = 32,
                          kGridBlock = 33, kCacheChange = 24;
    std::size_t marks = m_marks.bodies.size() + m_marks.copies.size();
    for (const Marks::OfLoop& loop : m_marks.loops) {
        marks += loop.rounds.size();
    }
    std::size_t bytes =
        marks * sizeof(std::int64_t) + m_rows.steps.size() * kStep
        + m_rows.segments.size() * kSegment + m_rows.copies.size() * kCopy
        + builder.copyEnds.size() * kEnd + m_rows.waits.size() * kWait + m_rounds.size() * kRound
        + m_gridBlocks.size() * kGridBlock + m_cacheRows.size() * kCacheChange
        + (builder.waits.semaphore.size() + builder.waits.operation.size()) * sizeof(std::int32_t);
    for (const std::vector<Visit>& visits : m_visits) {
        bytes += visits.size() * sizeof(Visit);
    }
    return Bytes(static_cast<std::int64_t>(bytes));
}

trace::CopyRow Recorder::addCopy(trace::OperandRow operand, std::int64_t block, std::int32_t slot,
                                 bool out, trace::LinkRow link,
                                 trace::OptionalRow<trace::StepRow> step, Bytes bytes,
                                 Picoseconds issue, Picoseconds start, Picoseconds end)
{
    countEvents(1);
    m_position.lastEnd = std::max(m_position.lastEnd, end);
    const trace::CopyRow row{m_position.copies++};
    if (m_keeps != Keeps::Rows) {
        if (m_sums) {
            m_sums->addCopy(operand, out, link, bytes, start, end);
        } else {
            addMark(m_marks.copies, m_position.events);
        }
        return row;
    }
    trace::Copies& copies = builder.copies;
    const std::size_t i = m_rows.copies.next(copies);
    copies.operand[i] = operand.number;
    copies.block[i] = block;
    copies.slot[i] = slot;
    copies.out[i] = out ? 1 : 0;
    copies.link[i] = link.number;
    copies.step[i] = trace::stored(step);
    copies.bytes[i] = bytes.value();
    copies.issue[i] = issue.value();
    copies.start[i] = start.value();
    copies.end[i] = end.value();
    return row;
}

void Recorder::beginBlocks(const BegunBlocks& blocks, Picoseconds time)
{
    if (m_keeps == Keeps::Rows) {
        m_gridBlocks.begin(blocks, time);
    } else if (m_sums) {
        m_sums->countBlocks(static_cast<std::int64_t>(blocks.agents.size()));
        if (!blocks.areClaimed) {
            const auto grid = static_cast<std::size_t>(blocks.grid);
            m_sums->beginBlocks(blocks.agents, builder.info.blockGrids[grid].agents, time);
        }
    }
}

void Recorder::endBlocks(std::int32_t agent, Picoseconds time)
{
    if (m_keeps == Keeps::Rows) {
        m_gridBlocks.end(agent, time);
    } else if (m_sums) {
        m_sums->endBlocks(agent, time);
    }
}

void Recorder::addWait(const Awaited& awaited, trace::AgentRow agent,
                       trace::OptionalRow<trace::StepRow> step, Picoseconds begin, Picoseconds end)
{
    countEvents(1);
    if (m_keeps != Keeps::Rows) {
        if (m_sums) {
            const auto kind = trace::Summarizer::kindOf(awaited.copy, awaited.semaphore,
                                                        awaited.operation, awaited.isFusion);
            m_sums->addWait(agent, step, kind, begin, end, m_sums->isInBlock(agent));
        }
        return;
    }
    trace::Waits& waits = builder.waits;
    const std::size_t row = m_rows.waits.next(waits);
    const auto add = [row](std::vector<std::int32_t>& column, std::int32_t value) {
        column.resize(row, trace::kNone); // fills the rows before the first one that has a value
        column.push_back(value);
    };
    if (!builder.info.semaphores.empty()) {
        add(waits.semaphore, trace::stored(awaited.semaphore));
    }
    if (awaited.operation || !waits.operation.empty()) {
        add(waits.operation, trace::stored(awaited.operation));
    }
    waits.copy[row] = trace::stored(awaited.copy);
    waits.agent[row] = agent.number;
    waits.step[row] = trace::stored(step);
    waits.begin[row] = begin.value();
    waits.end[row] = end.value();
}

void Recorder::addSignal(trace::SemaphoreRow semaphore, trace::AgentRow agent, Picoseconds time,
                         std::int64_t amount)
{
    countEvents(1);
    m_position.lastEnd = std::max(m_position.lastEnd, time);
    if (m_keeps == Keeps::Rows) {
        trace::Signals& signals = builder.signals;
        const std::size_t row = m_rows.signals.next(signals);
        signals.semaphore[row] = semaphore.number;
        signals.agent[row] = agent.number;
        signals.time[row] = time.value();
        signals.amount[row] = amount;
    }
}

trace::StepRow Recorder::beginStep(trace::PipelineRow pipeline, std::int64_t ordinal,
                                   Picoseconds begin)
{
    if (m_keeps == Keeps::Rows) {
        trace::Steps& steps = builder.steps;
        const std::size_t row = m_rows.steps.next(steps);
        steps.pipeline[row] = pipeline.number;
        steps.ordinal[row] = ordinal;
        steps.begin[row] = steps.bodyBegin[row] = steps.bodyEnd[row] = steps.end[row] =
            begin.value();
    }
    return {m_position.steps++};
}

void Recorder::beginBody(trace::StepRow step, Picoseconds time)
{
    countEvents(1);
    setBodyBegin(step, time);
    if (m_keeps == Keeps::Marks) {
        addMark(m_marks.bodies, m_position.events);
    }
}

void Recorder::setBodyBegin(trace::StepRow step, Picoseconds time)
{
    if (step == trace::StepRow{0}) {
        m_firstBody = time;
    }
    if (m_keeps == Keeps::Rows) {
        builder.steps.bodyBegin[step.index()] = time.value();
    }
}

void Recorder::endBody(trace::StepRow step, Picoseconds time)
{
    if (m_keeps == Keeps::Rows) {
        builder.steps.bodyEnd[step.index()] = time.value();
    }
}

void Recorder::endStep(trace::StepRow step, Picoseconds time)
{
    m_lastStepEnd = std::max(m_lastStepEnd, time);
    if (m_keeps == Keeps::Rows) {
        builder.steps.end[step.index()] = time.value();
    }
}

void Recorder::closeStep(trace::StepRow step, bool beforeBody, bool behindBody, Picoseconds time)
{
    if (beforeBody) {
        setBodyBegin(step, time);
    }
    if (!behindBody) {
        endBody(step, time);
    }
    endStep(step, time);
}

void Recorder::nextRound(std::int32_t loop, std::int32_t agent, Picoseconds time)
{
    if (m_keeps == Keeps::Marks) {
        m_marks.addRound(loop, agent, m_position.events);
    } else if (m_keeps == Keeps::Rows && !m_rounds.next(loop, agent, time)) {
        ++builder.info.loops[static_cast<std::size_t>(loop)].roundsBeyond;
    }
}

void Recorder::endLoop(std::int32_t loop, std::int32_t agent, Picoseconds time)
{
    m_rounds.endLoop(loop, agent, time);
}

void Recorder::addFinding(trace::Finding finding)
{
    if (countsAgain(finding.kind, finding.operand, finding.source, finding.count)) {
        return;
    }
    if (m_now != nullptr && !finding.time) {
        finding.time = *m_now;
    }
    m_findings[{finding.kind, finding.operand, finding.source}] = builder.info.findings.size();
    builder.info.findings.push_back(std::move(finding));
}

bool Recorder::countsAgain(std::string_view kind, const std::string& operand,
                           trace::SourceLine source, std::int64_t count)
{
    const auto known = m_findings.find({std::string(kind), operand, source});
    if (known != m_findings.end()) {
        builder.info.findings[known->second].count += count;
    }
    return known != m_findings.end();
}

bool Recorder::addToFinding(std::string_view kind, const std::string& operand,
                            trace::SourceLine source, const std::string& sentence)
{
    const auto known = m_findings.find({std::string(kind), operand, source});
    if (known != m_findings.end()) {
        builder.info.findings[known->second].message += " " + sentence;
    }
    return known != m_findings.end();
}

bool Recorder::takesPrint()
{
    const bool room = builder.info.prints.size() < kMostPrints;
    builder.info.printsBeyond += m_keeps == Keeps::Rows && !room ? 1 : 0;
    return m_keeps == Keeps::Rows && room;
}

void Recorder::addPrint(trace::Print print)
{
    if (print.text.size() > kMostPrintBytes) {
        std::size_t end = kMostPrintBytes;
        while (end > 0 && (static_cast<unsigned char>(print.text[end]) & 0xC0U) == 0x80U) {
            --end; // do not cut within a UTF-8 character
        }
        print.text = print.text.substr(0, end) + "…";
    }
    builder.info.prints.push_back(std::move(print));
}

} // namespace pallascope::machine
