// The static half of a trace, of what a program and a chip say before anything runs; every run of
// the program begins with it.
#pragma once

#include "core/chip/chip.h"
#include "core/cost/budget.h"
#include "core/ir/pipeline_facts.h"
#include "core/ir/program.h"
#include "core/machine/prepare/agent_layout.h"
#include "core/machine/prepare/plan.h"
#include "core/trace/info.h"

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace pallascope::machine {

class Description
{
public:
    // Program, chip, units, memories, links, agents, pipelines, operands, buffers, templates;
    // `listing`: the printed program and its sources as well.
    // `budgets`: of the pipelines, or of a program without any its scopes (cost::budgets).
    [[nodiscard]] static Result<Description> of(const ir::Program& program, const chip::Chip& chip,
                                                const AgentLayout& layout, const Plan& plan,
                                                const std::vector<cost::Budget>& budgets,
                                                bool listing);

    trace::Info info;

    // A place in the program, as a trace has it.
    [[nodiscard]] trace::SourceLine sourceLine(const ir::Program& program,
                                               ir::LocationId location) const;

    // Where the executions of a pipeline stand in the trace.
    struct PipelineRows
    {
        std::vector<std::int32_t> rows;    // of Info::pipelines
        std::vector<std::int32_t> offsets; // by block spec, from the row's first operand
        bool entered = false;
    };

    [[nodiscard]] const std::map<const ir::Operation*, PipelineRows>& pipelines() const
    {
        return m_pipelines;
    }

    // What a dma_start of the program copies, or a fusion's get or swap.
    struct CopySite
    {
        std::int32_t operand = 0; // row of Info::operands
        std::int32_t link = 0;
        bool out = false;        // out of on-chip memory
        std::int64_t passes = 1; // over the link: 2 from HBM to HBM
    };

    [[nodiscard]] const CopySite& copySite(const ir::Operation& operation) const
    {
        return m_copySites[static_cast<std::size_t>(operation.id)];
    }

    // The array that a copied ref is a part of, and how large a part on each axis: all of it where
    // a view does not say.
    struct Part
    {
        ir::ValueId array;
        std::vector<Extent> block;
    };

    // The links of one device: those of the chip, one between its on-chip memories that no chip
    // file lists, those to its neighbours. Those of device d are the rows of Info::links from
    // d * linksPerDevice() on.
    [[nodiscard]] const std::vector<chip::Link>& deviceLinks() const { return m_deviceLinks; }

    [[nodiscard]] std::int32_t linksPerDevice() const
    {
        return static_cast<std::int32_t>(m_deviceLinks.size());
    }

    // The way from one device to another, along the axes of the mesh in order, on each the shorter
    // way round; forwards where both are as long.
    struct Route
    {
        std::int32_t link = 0; // of the first hop, in deviceLinks()
        Picoseconds detour;    // latency of the hops after it
    };

    [[nodiscard]] Route route(const ir::Program& program, std::int32_t from, std::int32_t to) const;

private:
    void describeProgram(const ir::Program& program);
    void describeChip(const ir::Program& program, const chip::Chip& chip,
                      const AgentLayout& layout);
    void describePipeline(const ir::Program& program, const ir::Operation& pipeline,
                          const chip::Chip& chip, const cost::Budget& budget);
    void describeOperand(const ir::Program& program, const ir::Operation& pipeline,
                         std::size_t operand, const ir::OperandFacts& facts, Bytes slotBytes);
    void describeScopes(const ir::Program& program, const chip::Chip& chip,
                        const cost::Budget& budget);
    [[nodiscard]] Status describeCopies(const ir::Program& program, const chip::Chip& chip);
    void describeAgents(const chip::Chip& chip, const AgentLayout& layout);
    void describeDevices(const ir::Program& program, const chip::Chip& chip,
                         const AgentLayout& layout);
    class CopyDescriber;
    void describeCopy(const ir::Program& program, const ir::Operation& operation,
                      const Part& source, const Part& target, trace::Direction direction);
    [[nodiscard]] std::int32_t linkOf(const chip::Chip& chip, std::int32_t from, std::int32_t to);

    std::map<std::string, std::int32_t> m_files;
    std::map<const ir::Operation*, PipelineRows> m_pipelines;
    std::vector<CopySite> m_copySites; // by operation id
    std::optional<chip::Link> m_onChipLink;
    std::vector<chip::Link> m_deviceLinks;
    std::int32_t m_firstToNeighbour = 0; // of m_deviceLinks
    // Direction of each ring, by mesh axis: backwards and forwards; -1: there is none.
    std::vector<std::array<std::int32_t, 2>> m_directions;
};

} // namespace pallascope::machine
