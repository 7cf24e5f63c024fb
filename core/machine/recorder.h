// Writes what happens in a run into the columns of a trace, or into sums only, and gathers findings
// by cause.
#pragma once

#include "core/chip/chip.h"
#include "core/ir/program.h"
#include "core/machine/plan.h"
#include "core/trace/summary.h"
#include "core/trace/trace.h"

#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

namespace pallascope::machine {

class Recorder
{
public:
    explicit Recorder(bool keepsRows)
        : m_keepsRows(keepsRows)
    {}

    // Without rows: its steps and visits hold the last ones, of copies it has the ends.
    trace::TraceBuilder builder;

    // The static half: program, chip, units, memories, links, pipelines, operands, buffers,
    // templates.
    [[nodiscard]] Status describe(const ir::Program& program, const chip::Chip& chip,
                                  const Plan& plan);

    std::int32_t addCopy(std::int32_t operand, std::int64_t block, std::int32_t slot, bool out,
                         std::int32_t link, std::int32_t step, Bytes bytes, Picoseconds issue,
                         Picoseconds start, Picoseconds end);
    // `copy` and `semaphore` (row of Info::semaphores) as in trace::Waits.
    void addWait(std::int32_t copy, std::int32_t semaphore, std::int32_t agent, std::int32_t step,
                 Picoseconds begin, Picoseconds end);
    void addSignal(std::int32_t semaphore, std::int32_t agent, Picoseconds time,
                   std::int64_t amount);

    [[nodiscard]] Picoseconds copyEnd(std::int32_t copy) const
    {
        return Picoseconds(builder.copies.end[static_cast<std::size_t>(copy)]);
    }

    [[nodiscard]] Picoseconds lastEnd() const { return m_lastEnd; } // of a copy

    void addSegment(std::int32_t templateId, std::int32_t agent, std::int32_t step,
                    Picoseconds begin)
    {
        if (!m_keepsRows) {
            m_sums->addSegment(templateId, step, begin);
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
    // Ends a step that the run does not finish; its body may not have begun.
    void closeStep(std::int32_t step, bool beforeBody, Picoseconds time);

    [[nodiscard]] std::int64_t stepsBegun() const { return m_stepsBegun; }

    // Room for the rows of so many steps of a row of Info::pipelines.
    void reserve(std::int32_t pipeline, std::int64_t steps);

    struct Visit
    {
        std::int32_t firstStep, lastStep;
        std::int64_t block;
        std::int32_t slot, copyIn, copyOut;
    };

    [[nodiscard]] std::vector<Visit>& visits(std::int32_t operand)
    {
        return m_visits[static_cast<std::size_t>(operand)];
    }

    // What all rows so far take.
    [[nodiscard]] Bytes recordedBytes() const;

    void countEvents(std::int64_t events) { builder.info.events += events; }

    // One cause (kind, operand, source line) is one finding, with its first step and its count.
    void addFinding(trace::Finding finding);
    [[nodiscard]] trace::SourceLine sourceLine(const ir::Program& program,
                                               ir::LocationId location) const;

    // Row of Info::pipelines for an execution with this grid; one more where an earlier execution
    // of the operation had another.
    [[nodiscard]] std::int32_t enterPipeline(const ir::Operation& pipeline,
                                             const std::vector<Extent>& grid, std::int32_t agent);

    // Row of Info::operands of a block spec in such a row; -1 when it is unbuffered.
    [[nodiscard]] std::int32_t operandIndex(const ir::Operation& pipeline, std::int32_t row,
                                            std::size_t spec) const;

    // The array that a copied ref is a part of, and how large a part on each axis: all of it where
    // a view does not say.
    struct Part
    {
        ir::ValueId array;
        std::vector<Extent> block;
    };

    // What a dma_start of the program copies.
    struct CopySite
    {
        std::int32_t operand = 0; // row of Info::operands
        std::int32_t link = 0;
        bool out = false;        // out of on-chip memory
        std::int64_t passes = 1; // over the link: 2 from HBM to HBM
    };

    [[nodiscard]] const CopySite& copySite(const ir::Operation& dmaStart) const
    {
        return m_copySites.at(&dmaStart);
    }

    // The block of a site's array that begins at or before an element, by its row-major number.
    [[nodiscard]] std::int64_t blockOf(const CopySite& site, std::int64_t element) const;

    // Copies between on-chip memories take a link that no chip file lists.
    [[nodiscard]] const std::optional<chip::Link>& onChipLink() const { return m_onChipLink; }

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
    void describeProgram(const ir::Program& program);
    void describeChip(const ir::Program& program, const chip::Chip& chip);
    [[nodiscard]] Status describePipeline(const ir::Program& program, const ir::Operation& pipeline,
                                          const chip::Chip& chip);
    [[nodiscard]] Status describeScopes(const ir::Program& program, const chip::Chip& chip);
    [[nodiscard]] Status describeCopies(const ir::Program& program, const chip::Chip& chip);
    void describeCopy(const ir::Program& program, const ir::Operation& dmaStart, const Part& source,
                      const Part& target, bool out);
    [[nodiscard]] std::int32_t linkOf(const chip::Chip& chip, std::int32_t from, std::int32_t to);

    void forgetStep();
    void sortWaits();

    bool m_keepsRows;
    std::optional<trace::Summarizer> m_sums; // once described, without rows
    std::int64_t m_stepsBegun = 0;
    Picoseconds m_firstBody, m_lastStepEnd, m_lastEnd;
    std::map<std::string, std::int32_t> m_files;
    std::map<const ir::Operation*, CopySite> m_copySites;
    std::optional<chip::Link> m_onChipLink;
    std::map<std::pair<std::string, std::int32_t>, std::int32_t> m_semaphores; // by name, agent

    struct PipelineRows
    {
        std::vector<std::int32_t> rows;    // of Info::pipelines
        std::vector<std::int32_t> offsets; // by block spec, from the row's first operand
        bool entered = false;
    };

    std::map<const ir::Operation*, PipelineRows> m_pipelines;
    std::vector<std::vector<Visit>> m_visits; // per operand
    std::map<std::tuple<std::string, std::string, trace::SourceLine>, std::size_t> m_findings;
};

} // namespace pallascope::machine
