// Records what happens in a run: as the columns of a trace, as sums, or only as marks. Also
// collects findings by cause. The engine calls it; Keeps says what to keep.
#pragma once

#include "core/ir/program.h"
#include "core/machine/prepare/description.h"
#include "core/machine/prepare/index_lists.h"
#include "core/machine/record/cache_rows.h"
#include "core/machine/record/copied_shapes.h"
#include "core/machine/record/grid_block_rows.h"
#include "core/machine/record/marks.h"
#include "core/machine/record/open_rows.h"
#include "core/machine/record/round_rows.h"
#include "core/trace/row.h"
#include "core/trace/summary.h"
#include "core/trace/trace.h"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace pallascope::machine {

// Limits on what a trace keeps of a kernel's prints: the number of lines, and the bytes of each.
inline constexpr std::size_t kMostPrints = 1000, kMostPrintBytes = 500;

enum class Keeps : std::uint8_t
{
    Rows,
    Sums,
    Marks
};

class Recorder
{
public:
    // `description` must outlive the recorder.
    Recorder(const Description& description, Keeps keeps);

    trace::TraceBuilder
        builder; // if no rows are kept, only its info is used, which starts as described

    [[nodiscard]] const Description& description() const { return m_description; }

    // How far a run has come. A run that is restored to an earlier moment continues to count from
    // there.
    struct Position
    {
        std::int64_t events = 0;            // the sequence number
        std::int32_t steps = 0, copies = 0; // begun so far: rows of the trace
        Picoseconds lastEnd;                // of the latest copy or signal
        Bytes fromL1;                       // loaded so far

        bool operator==(const Position&) const = default;
    };

    [[nodiscard]] const Position& position() const { return m_position; }

    void moveTo(const Position& position) { m_position = position; }

    // Kept instead of rows.
    [[nodiscard]] const Marks& marks() const { return m_marks; }

    trace::CopyRow addCopy(trace::OperandRow operand, std::int64_t block, std::int32_t slot,
                           bool out, trace::LinkRow link, trace::OptionalRow<trace::StepRow> step,
                           Bytes bytes, Picoseconds issue, Picoseconds start, Picoseconds end);

    // One end of a copy by manual DMA, as in trace::CopyEnds.
    struct CopyEnd
    {
        std::int32_t agent = 0, buffer = trace::kNone;
        std::int64_t first = 0;
        Shape shape;
        trace::OptionalRow<trace::SemaphoreRow> semaphore;
    };

    // Whether rows are kept. Without them nobody needs to know what a row would say.
    [[nodiscard]] bool keepsRows() const { return m_keeps == Keeps::Rows; }

    // When a copy begins to move; none if there is none, or its row is not kept.
    [[nodiscard]] std::optional<Picoseconds> startOf(trace::OptionalRow<trace::CopyRow> copy) const
    {
        return copy && keepsRows() && copy->index() < builder.copies.size()
                   ? std::optional(Picoseconds(builder.copies.start[copy->index()]))
                   : std::nullopt;
    }

    // Whether sums are kept and no rows. These are for such runs.
    [[nodiscard]] bool keepsSums() const { return m_sums.has_value(); }

    struct SumsSoFar
    {
        trace::Summarizer::SoFar sums;
        Position position;
    };

    [[nodiscard]] SumsSoFar sumsSoFar(Picoseconds now) const
    {
        return {m_sums->soFar(now), m_position};
    }

    // A device launches a kernel.
    void countLaunch(const ir::Operation& kernel)
    {
        ++m_launches[static_cast<std::size_t>(m_description.kernelOf(kernel))];
    }

    // Adds what was added between two moments, times ÷ of, for blocks that do not run.
    void addAgain(const SumsSoFar& from, const SumsSoFar& to, std::int64_t times, std::int64_t of)
    {
        m_sums->addAgain(from.sums, to.sums, times, of);
        const Position &before = from.position, &after = to.position;
        m_position.events += (after.events - before.events) * times / of;
        m_position.fromL1 += Bytes((after.fromL1 - before.fromL1).value() * times / of);
    }

    void countPassed(std::int64_t blocks) { m_sums->countPassed(blocks); }

    // Only where rows are kept.
    void addEnds(trace::CopyRow copy, const CopyEnd& source, const CopyEnd& target);

    // What a wait waits for, as in trace::Waits.
    struct Awaited
    {
        trace::OptionalRow<trace::CopyRow> copy;
        trace::OptionalRow<trace::SemaphoreRow> semaphore;
        trace::OptionalRow<trace::OperationRow> operation;
        // Whether the operation is a fusion. A run without rows keeps no names that would tell.
        bool isFusion = false;
    };

    void addWait(const Awaited& awaited, trace::AgentRow agent,
                 trace::OptionalRow<trace::StepRow> step, Picoseconds begin, Picoseconds end);
    void addSignal(trace::SemaphoreRow semaphore, trace::AgentRow agent, Picoseconds time,
                   std::int64_t amount);

    void addSegment(std::int32_t templateId, trace::AgentRow agent,
                    trace::OptionalRow<trace::StepRow> step, Picoseconds begin)
    {
        if (m_keeps != Keeps::Rows) {
            if (m_sums) {
                m_sums->addSegment(templateId, agent, step, begin);
            }
            return;
        }
        trace::Segments& segments = builder.segments;
        const std::size_t row = m_rows.segments.next(segments);
        segments.templateId[row] = templateId;
        segments.agent[row] = agent.number;
        segments.step[row] = trace::stored(step);
        segments.begin[row] = begin.value();
    }

    trace::StepRow beginStep(trace::PipelineRow pipeline, std::int64_t ordinal, Picoseconds begin);
    void beginBody(trace::StepRow step, Picoseconds time);
    void endBody(trace::StepRow step, Picoseconds time);
    void endStep(trace::StepRow step, Picoseconds time);
    // Ends a step that the run leaves unfinished. Its body, if it has not begun or not ended, ends
    // first.
    void closeStep(trace::StepRow step, bool beforeBody, bool behindBody, Picoseconds time);

    // The next round of a loop (row of Info::loops) begins on an agent, and the round before it
    // ends; or the loop ends, and with it its last round.
    void nextRound(std::int32_t loop, std::int32_t agent, Picoseconds time);
    void endLoop(std::int32_t loop, std::int32_t agent, Picoseconds time);

    // Blocks of a GPU's grid begin, or those end that began with this agent as their first.
    void beginBlocks(const BegunBlocks& blocks, Picoseconds time);
    void endBlocks(std::int32_t agent, Picoseconds time);

    // How much the L2 of a device holds of the operand's array from now on. Only where rows are
    // kept.
    void addHeld(std::int32_t device, trace::OperandRow operand, Bytes held, Picoseconds time)
    {
        m_cacheRows.add(device, operand, held, time);
    }

    // Makes room for the rows of this many steps of a row of Info::pipelines.
    void reserve(std::int32_t pipeline, std::int64_t steps);

    // Visits: a block of an operand stays in a slot. A visit begins, lasts until a step, and has a
    // copy that brought the block or wrote it back.
    void beginVisit(trace::OperandRow operand, trace::StepRow step, std::int64_t block,
                    std::int32_t slot, trace::OptionalRow<trace::CopyRow> copyIn)
    {
        if (m_keeps == Keeps::Rows) {
            m_visits[operand.index()].push_back(
                {step.number, step.number, block, slot, trace::stored(copyIn), trace::kNone});
        }
    }

    // Continues the visit of a block that was written back but stays in its slot, or begins
    // another visit.
    void continueVisit(trace::OperandRow operand, trace::StepRow step, std::int64_t block,
                       std::int32_t slot)
    {
        if (m_keeps == Keeps::Rows) {
            Visit& visit = m_visits[operand.index()].back();
            if (visit.slot != slot) {
                beginVisit(operand, step, block, slot, std::nullopt);
                return;
            }
            visit.lastStep = step.number;
            visit.copyOut = trace::kNone;
        }
    }

    // There is no `copyOut` if the run ended before it.
    void endVisit(trace::OperandRow operand, std::int64_t block,
                  trace::OptionalRow<trace::CopyRow> copyOut)
    {
        if (m_keeps != Keeps::Rows || !copyOut) {
            return;
        }
        Visit& visit = m_visits[operand.index()].back();
        if (visit.copyIn == trace::kNone
            || visit.block == block) { // otherwise the copied block belongs elsewhere
            visit.copyOut = copyOut->number;
            visit.block = block; // the index map may give another block than at the beginning
        }
    }

    // The memory that all rows so far take.
    [[nodiscard]] Bytes recordedBytes() const;

    // A load found so much in the L1 of its SM.
    void countFromL1(Bytes bytes) { m_position.fromL1 += bytes; }

    void countEvents(std::int64_t events) { m_position.events += events; }

    // Whether one more print should be added. If not, it is only counted.
    [[nodiscard]] bool takesPrint();
    void addPrint(trace::Print print);

    // Until the next call, findings are of the moment that stands there; null: of none.
    void lookAtClock(const Picoseconds* now) { m_now = now; }

    // Findings of the same cause (kind, operand, source line) become one, with the first step and
    // a count.
    void addFinding(trace::Finding finding);
    // If the cause is known, adds `count` to its count; otherwise returns false.
    [[nodiscard]] bool countsAgain(std::string_view kind, const std::string& operand,
                                   trace::SourceLine source, std::int64_t count = 1);
    // Ends what the finding of this cause says with a further sentence. False: there is none.
    [[nodiscard]] bool addToFinding(std::string_view kind, const std::string& operand,
                                    trace::SourceLine source, const std::string& sentence);

    // The row of Info::pipelines for an execution with this grid. If an earlier execution of the
    // operation had another grid, a new row is added.
    [[nodiscard]] std::int32_t enterPipeline(const ir::Operation& pipeline,
                                             const std::vector<Extent>& grid, std::int32_t agent);

    // The row of Info::operands of a block spec in such a row; none if it is unbuffered.
    [[nodiscard]] std::optional<std::int32_t>
    operandIndex(const ir::Operation& pipeline, std::int32_t row, std::size_t spec) const;

    // Records, at the end of the run, the lists of elements of an Indirect spec's blocks. Until
    // then its blocks are numbered as in the run, where an axis has `blockCounts` positions;
    // afterwards only blocks that occurred are numbered.
    void recordLists(const ir::Operation& pipeline, std::size_t spec,
                     const std::vector<Extent>& blockCounts, const IndexLists& lists);

    // The block of a site's array that begins at or before an element, which is given by its
    // row-major number.
    [[nodiscard]] std::int64_t blockOf(const Description::CopySite& site,
                                       std::int64_t element) const;

    // Each semaphore of each agent has a row.
    [[nodiscard]] trace::SemaphoreRow semaphoreRow(const std::string& name, ir::MemorySpace space,
                                                   std::int64_t element, const Shape& shape,
                                                   std::int32_t agent);

    [[nodiscard]] const std::string& agentName(std::int32_t agent) const
    {
        return builder.info.agents[static_cast<std::size_t>(agent)];
    }

    // Ends the builder's tables with their last rows; until then they are longer.
    void closeRows();
    // Sorts visits into their columns and validates everything.
    [[nodiscard]] Result<std::shared_ptr<const trace::Trace>> finish(Picoseconds end);
    // The result of a run that keeps no rows.
    [[nodiscard]] trace::Summary finishSums(Picoseconds end);

private:
    void recordLaunches();
    void setBodyBegin(trace::StepRow step, Picoseconds time);

    struct Visit // as in trace::Visits
    {
        std::int32_t firstStep, lastStep;
        std::int64_t block;
        std::int32_t slot, copyIn, copyOut;
    };

    const Description& m_description;
    Keeps m_keeps;
    Position m_position;

    struct // of the builder's tables
    {
        OpenRows steps, segments, copies, waits, signals;
    } m_rows;

    Marks m_marks;
    std::optional<trace::Summarizer> m_sums; // only if sums are kept
    Picoseconds m_firstBody, m_lastStepEnd;  // for the sums
    std::map<std::pair<std::string, std::int32_t>, trace::SemaphoreRow>
        m_semaphores; // by name and agent
    CopiedShapes m_copiedShapes;

    std::map<const ir::Operation*, Description::PipelineRows> m_pipelines;
    std::vector<std::int64_t> m_launches;     // of each kernel, by all devices
    std::vector<std::vector<Visit>> m_visits; // for each operand
    const Picoseconds* m_now = nullptr;
    std::map<std::tuple<std::string, std::string, trace::SourceLine>, std::size_t> m_findings;
    RoundRows m_rounds;
    GridBlockRows m_gridBlocks;
    CacheRows m_cacheRows;
};

} // namespace pallascope::machine
