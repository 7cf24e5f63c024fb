// The static half of a trace: what the program and the chip say before anything runs. Every run of
// the program starts from it.
#pragma once

#include "core/chip/chip.h"
#include "core/cost/budget.h"
#include "core/ir/makers.h"
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
    // Describes the program, chip, units, memories, links, agents, pipelines, operands, buffers and
    // templates. With `listing`, also the printed program and its sources. `budgets` are those of
    // cost::budgets: of each pipeline, or of the scopes of a program without pipelines. `grids` are
    // those of cost::blockGrids.
    [[nodiscard]] static Result<Description> of(const ir::Program& program, const chip::Chip& chip,
                                                const AgentLayout& layout, const Plan& plan,
                                                const std::vector<cost::Budget>& budgets,
                                                const std::vector<cost::BlockGrid>& grids,
                                                bool listing);

    trace::Info info;

    // A location in the program in the form that a trace has.
    [[nodiscard]] trace::SourceLine sourceLine(const ir::Program& program,
                                               ir::LocationId location) const;

    // The rows of the trace that belong to the executions of a pipeline.
    struct PipelineRows
    {
        std::vector<std::int32_t> rows; // rows of Info::pipelines
        // For each block spec: its operand, counted from the row's first.
        std::vector<std::int32_t> offsets;
    };

    [[nodiscard]] const std::map<const ir::Operation*, PipelineRows>& pipelines() const
    {
        return m_pipelines;
    }

    // What a dma_start of the program copies, or what a get or swap of a fusion moves.
    struct CopySite
    {
        std::int32_t operand = 0; // row of Info::operands
        // Of an atomic operation of a GPU: what L2 fetches for it, also a row of these.
        std::int32_t fetched = 0;
        std::int32_t link = 0;
        bool out = false;        // whether it copies out of on-chip memory
        std::int64_t passes = 1; // how often the bytes go over the link: twice from HBM to HBM
        double withPadding = 1;  // the ratio of the bytes that it moves to those of its elements
    };

    [[nodiscard]] const CopySite& copySite(const ir::Operation& operation) const
    {
        return m_copySites[static_cast<std::size_t>(operation.id)];
    }

    // The row of Info::blockGrids of a core_map; -1: it is not for a GPU.
    [[nodiscard]] std::int32_t gridOf(const ir::CoreMapParams& coreMap) const
    {
        const auto found = m_grids.find(&coreMap);
        return found == m_grids.end() ? -1 : found->second;
    }

    // The number of the kernel in which an operation is, among those that the program names; -1: in
    // none. Of a kernel's operation itself, it is that of the kernel.
    [[nodiscard]] std::int32_t kernelOf(const ir::Operation& operation) const
    {
        return m_kernels[static_cast<std::size_t>(operation.id)];
    }

    [[nodiscard]] std::int32_t kernels() const { return m_kernelCount; }

    // The row of Info::loops of a loop whose rounds are recorded; -1: they are not.
    [[nodiscard]] std::int32_t loopOf(const ir::Operation& operation) const
    {
        return m_loops[static_cast<std::size_t>(operation.id)];
    }

    // The first row of Info::buffers of a scratch; other memory has none.
    [[nodiscard]] std::optional<std::int32_t> bufferOf(ir::ValueId scratch) const
    {
        const auto row = m_scratchBuffers.find(scratch);
        return row == m_scratchBuffers.end() ? std::nullopt : std::optional(row->second);
    }

    // The array to which a copied ref belongs, and how large a part of it is copied along each
    // axis. If a view does not say, that is the whole axis; then, and if it is every other row or
    // the like, isKnown is false.
    struct Part
    {
        ir::ValueId array;
        std::vector<Extent> block;
        bool isKnown = true;
    };

    // The links of one device: those of the chip file, one between the on-chip memories, which no
    // chip file lists, and those to the neighbours. The links of device d are the rows of
    // Info::links from d * linksPerDevice() on.
    [[nodiscard]] const std::vector<chip::Link>& deviceLinks() const { return m_deviceLinks; }

    [[nodiscard]] std::int32_t linksPerDevice() const
    {
        return static_cast<std::int32_t>(m_deviceLinks.size());
    }

    // The route from one device to another. It goes along the axes of the mesh in order, on each
    // axis the shorter way around the ring, or forwards if both ways have the same length.
    struct Route
    {
        std::int32_t link = 0; // of the first hop, an index into deviceLinks()
        Picoseconds detour;    // the latency of all hops after the first
    };

    [[nodiscard]] Route route(const ir::Program& program, std::int32_t from, std::int32_t to) const;

private:
    void findKernels(const ir::Program& program);
    void describeProgram(const ir::Program& program);
    void describeChip(const ir::Program& program, const chip::Chip& chip,
                      const AgentLayout& layout);
    void describePipeline(const ir::Program& program, const ir::Operation& pipeline,
                          const chip::Chip& chip, const cost::Budget& budget,
                          const ir::Makers& makers);
    void describeOperand(const ir::Program& program, const ir::Operation& pipeline,
                         std::size_t operand, const ir::OperandFacts& facts,
                         const std::vector<std::int64_t>& tile, Bytes slotBytes,
                         const ir::Makers& makers);
    void describeScopes(const ir::Program& program, const chip::Chip& chip,
                        const cost::Budget& budget);
    [[nodiscard]] Status describeCopies(const ir::Program& program, const chip::Chip& chip,
                                        const ir::Makers& makers);
    void describeAgents(const chip::Chip& chip, const AgentLayout& layout);
    void describeDevices(const ir::Program& program, const chip::Chip& chip,
                         const AgentLayout& layout);
    // In description_loops.cpp:
    void describeLoops(const ir::Program& program);
    class CopyDescriber;
    trace::Operand& describeCopy(const ir::Program& program, const ir::Operation& operation,
                                 const Part& source, const Part& target,
                                 trace::Direction direction);
    [[nodiscard]] std::int32_t linkOf(const chip::Chip& chip, std::int32_t from, std::int32_t to);

    [[nodiscard]] std::int32_t numberOf(ir::ValueId array);

    std::map<std::string, std::int32_t> m_files;
    std::map<ir::ValueId, std::int32_t> m_numbersOfArrays; // trace::Operand::arrayNumber
    std::map<const ir::Operation*, PipelineRows> m_pipelines;
    std::vector<CopySite> m_copySites;   // indexed by Operation::id
    std::vector<std::int32_t> m_loops;   // indexed by Operation::id
    std::vector<std::int32_t> m_kernels; // indexed by Operation::id
    std::int32_t m_kernelCount = 0;
    std::map<const ir::CoreMapParams*, std::int32_t> m_grids; // rows of Info::blockGrids
    std::map<ir::ValueId, std::int32_t> m_scratchBuffers;
    std::optional<chip::Link> m_onChipLink;
    std::vector<chip::Link> m_deviceLinks;
    std::int32_t m_firstToNeighbour = 0; // index into m_deviceLinks
    bool m_isSwitched = false;           // whether every device is a neighbour of every other
    // For each mesh axis the numbers of the directions backwards and forwards along its ring; -1:
    // there is none.
    std::vector<std::array<std::int32_t, 2>> m_directions;
};

} // namespace pallascope::machine
