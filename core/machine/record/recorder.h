// Writes what happens in a run into the columns of a trace, into sums, or into marks only, and
// gathers findings by cause.
#pragma once

#include "core/ir/program.h"
#include "core/machine/prepare/description.h"
#include "core/machine/prepare/index_lists.h"
#include "core/trace/summary.h"
#include "core/trace/trace.h"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace pallascope::machine {

// Lines that one trace keeps of what a kernel prints, and bytes of each.
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
    // `description` outlives the recorder.
    Recorder(const Description& description, Keeps keeps);

    trace::TraceBuilder builder; // without rows only its info, which begins as described

    [[nodiscard]] const Description& description() const { return m_description; }

    // How far a run has come. A run that is put back to an earlier moment counts on from there.
    struct Position
    {
        std::int64_t events = 0;            // the sequence number
        std::int32_t steps = 0, copies = 0; // begun: rows of the trace
        Picoseconds lastEnd;                // of a copy

        bool operator==(const Position&) const = default;
    };

    [[nodiscard]] const Position& position() const { return m_position; }

    void moveTo(const Position& position) { m_position = position; }

    // Sequence numbers at which bodies of steps have just begun and copies were just issued,
    // rising; kept instead of rows, as far as the run has come at most.
    struct Marks
    {
        std::vector<std::int64_t> bodies, copies;
    };

    [[nodiscard]] const Marks& marks() const { return m_marks; }

    std::int32_t addCopy(std::int32_t operand, std::int64_t block, std::int32_t slot, bool out,
                         std::int32_t link, std::int32_t step, Bytes bytes, Picoseconds issue,
                         Picoseconds start, Picoseconds end);

    // What a wait is for, as in trace::Waits.
    struct Awaited
    {
        std::int32_t copy = trace::kNone, semaphore = trace::kNone, operation = trace::kNone;
        bool isFusion = false; // that operation; a run without rows keeps no names of operations
    };

    void addWait(const Awaited& awaited, std::int32_t agent, std::int32_t step, Picoseconds begin,
                 Picoseconds end);
    void addSignal(std::int32_t semaphore, std::int32_t agent, Picoseconds time,
                   std::int64_t amount);

    void addSegment(std::int32_t templateId, std::int32_t agent, std::int32_t step,
                    Picoseconds begin)
    {
        if (m_keeps != Keeps::Rows) {
            if (m_sums) {
                m_sums->addSegment(templateId, step, begin);
            }
            return;
        }
        builder.segments.templateId.push_back(templateId);
        builder.segments.agent.push_back(agent);
        builder.segments.step.push_back(step);
        builder.segments.begin.push_back(begin.value());
    }

    std::int32_t beginStep(std::int32_t pipeline, std::int64_t ordinal, Picoseconds begin);
    void beginBody(std::int32_t step, Picoseconds time);
    void endBody(std::int32_t step, Picoseconds time);
    void endStep(std::int32_t step, Picoseconds time);
    // Ends a step that the run does not finish, and before it its body, where that is still to come
    // or under way.
    void closeStep(std::int32_t step, bool beforeBody, bool behindBody, Picoseconds time);

    // Room for the rows of so many steps of a row of Info::pipelines.
    void reserve(std::int32_t pipeline, std::int64_t steps);

    // A block's stay in a slot, of an operand: it begins, lasts until a step, is brought or taken
    // back by a copy.
    void beginVisit(std::int32_t operand, std::int32_t step, std::int64_t block, std::int32_t slot,
                    std::int32_t copyIn)
    {
        if (m_keeps == Keeps::Rows) {
            m_visits[static_cast<std::size_t>(operand)].push_back(
                {step, step, block, slot, copyIn, -1});
        }
    }

    // A stay that was written back goes on in its slot, or there is another one.
    void continueVisit(std::int32_t operand, std::int32_t step, std::int64_t block,
                       std::int32_t slot)
    {
        if (m_keeps == Keeps::Rows) {
            Visit& visit = m_visits[static_cast<std::size_t>(operand)].back();
            if (visit.slot != slot) {
                beginVisit(operand, step, block, slot, -1);
                return;
            }
            visit.lastStep = step;
            visit.copyOut = -1;
        }
    }

    // `copyOut`: -1 where the run ended instead.
    void endVisit(std::int32_t operand, std::int64_t block, std::int32_t copyOut)
    {
        if (m_keeps != Keeps::Rows || copyOut < 0) {
            return;
        }
        Visit& visit = m_visits[static_cast<std::size_t>(operand)].back();
        if (visit.copyIn < 0 || visit.block == block) { // else what was brought goes elsewhere
            visit.copyOut = copyOut;
            visit.block = block; // the map may say something else than when it began
        }
    }

    // What all rows so far take.
    [[nodiscard]] Bytes recordedBytes() const;

    void countEvents(std::int64_t events) { m_position.events += events; }

    // Whether one more print is to be added; else it is counted.
    [[nodiscard]] bool takesPrint();
    void addPrint(trace::Print print);

    // One cause (kind, operand, source line) is one finding, with its first step and its count.
    void addFinding(trace::Finding finding);
    // Of a cause that is known so many times more; else false.
    [[nodiscard]] bool countsAgain(std::string_view kind, const std::string& operand,
                                   trace::SourceLine source, std::int64_t count = 1);

    [[nodiscard]] trace::SourceLine sourceLine(const ir::Program& program,
                                               ir::LocationId location) const
    {
        return m_description.sourceLine(program, location);
    }

    // Row of Info::pipelines for an execution with this grid; one more where an earlier execution
    // of the operation had another.
    [[nodiscard]] std::int32_t enterPipeline(const ir::Operation& pipeline,
                                             const std::vector<Extent>& grid, std::int32_t agent);

    // Row of Info::operands of a block spec in such a row; -1 when it is unbuffered.
    [[nodiscard]] std::int32_t operandIndex(const ir::Operation& pipeline, std::int32_t row,
                                            std::size_t spec) const;

    // At the end of the run: the lists of elements that the blocks of an Indirect spec were. So far
    // its blocks have the numbers of the run, in which an axis has `blockCounts` positions; from
    // now on as many as there are.
    void recordLists(const ir::Operation& pipeline, std::size_t spec,
                     const std::vector<Extent>& blockCounts, const IndexLists& lists);

    // The block of a site's array that begins at or before an element, by its row-major number.
    [[nodiscard]] std::int64_t blockOf(const Description::CopySite& site,
                                       std::int64_t element) const;

    // Rows of Info::semaphores; one for each semaphore of each agent.
    [[nodiscard]] std::int32_t semaphoreRow(const std::string& name, ir::MemorySpace space,
                                            std::int64_t element, const Shape& shape,
                                            std::int32_t agent);

    [[nodiscard]] const std::string& semaphoreName(std::int32_t row) const
    {
        return builder.info.semaphores[static_cast<std::size_t>(row)].name;
    }

    [[nodiscard]] const std::string& agentName(std::int32_t agent) const
    {
        return builder.info.agents[static_cast<std::size_t>(agent)];
    }

    // Sorts visits into their columns and validates everything.
    [[nodiscard]] Result<std::shared_ptr<const trace::Trace>> finish(Picoseconds end);
    // Without rows.
    [[nodiscard]] trace::Summary finishSums(Picoseconds end);

private:
    void setBodyBegin(std::int32_t step, Picoseconds time);
    void sortPrints(Picoseconds end);
    void mark(std::vector<std::int64_t>& marks) const;

    struct Visit
    {
        std::int32_t firstStep, lastStep;
        std::int64_t block;
        std::int32_t slot, copyIn, copyOut;
    };

    const Description& m_description;
    Keeps m_keeps;
    Position m_position;
    Marks m_marks;
    std::optional<trace::Summarizer> m_sums; // where sums are kept
    Picoseconds m_firstBody, m_lastStepEnd;  // for the sums
    std::map<std::pair<std::string, std::int32_t>, std::int32_t> m_semaphores; // by name, agent

    std::map<const ir::Operation*, Description::PipelineRows> m_pipelines;
    std::vector<std::vector<Visit>> m_visits; // per operand
    std::map<std::tuple<std::string, std::string, trace::SourceLine>, std::size_t> m_findings;
};

} // namespace pallascope::machine
