// Describes the program, the chip and the pipelines for the static half of a trace.
#include "core/machine/prepare/description.h"

#include "core/base/check.h"
#include "core/cost/budget.h"
#include "core/cost/tiling.h"
#include "core/ir/pipeline_facts.h"
#include "core/ir/print.h"
#include "core/machine/block_grid.h"

#include <algorithm>

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

// The text on an operation's bar in the time line.
std::string label(const ir::Program& program, const ir::Operation& operation)
{
    switch (operation.code) {
    case ir::OpCode::DotGeneral:
        return "dot";
    case ir::OpCode::Get:
        return "load " + program.value(operation.operands[0]).name;
    case ir::OpCode::Swap:
        return "store " + program.value(operation.operands[0]).name;
    case ir::OpCode::LoadGather:
        return "gather " + program.value(operation.operands[0]).name;
    case ir::OpCode::StoreScatter:
    case ir::OpCode::AddupdateScatter:
        return "scatter " + program.value(operation.operands[0]).name;
    case ir::OpCode::Kernel:
        return std::get<ir::KernelParams>(operation.params).name;
    case ir::OpCode::Fusion:
        return std::get<ir::FusionParams>(operation.params).name;
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

// A dynamic extent counts as 1 until the pipeline is entered.
std::vector<Extent> staticGrid(const ir::PipelineParams& params)
{
    std::vector<Extent> grid = params.grid;
    std::replace(grid.begin(), grid.end(), ir::kDynamicExtent, Extent{1});
    return grid;
}

// The number of units up to the last one that may take part. Units of other kinds of agents count
// only where such agents run.
std::size_t unitsUsed(const chip::Chip& chip, const AgentLayout& layout)
{
    std::vector<bool> used(chip.units.size(), true);
    const auto mark = [&](std::size_t kind, bool runs) {
        for (const std::int32_t unit : chip.agents[kind].units) {
            used[static_cast<std::size_t>(unit)] = runs;
        }
    };
    for (std::size_t kind = 1; kind < chip.agents.size(); ++kind) {
        mark(kind, false);
    }
    for (const AgentGroup& group : layout.groups) {
        mark(static_cast<std::size_t>(group.kind), true);
    }
    const auto last = std::find(used.rbegin(), used.rend(), true);
    return static_cast<std::size_t>(used.rend() - last);
}

} // namespace

trace::SourceLine Description::sourceLine(const ir::Program& program, ir::LocationId location) const
{
    if (location.index < 0) {
        return {};
    }
    const ir::Location& place = program.locations[static_cast<std::size_t>(location.index)];
    const auto file = m_files.find(place.file);
    return {file == m_files.end() ? -1 : file->second, place.line};
}

void Description::describeProgram(const ir::Program& program)
{
    info.kernel = info.program = program.name;
    info.jaxAccepts = ir::verdictName(program.lowering.accepted);
    info.jaxReason = program.lowering.reason;
    for (const ir::Location& location : program.locations) {
        if (!m_files.contains(location.file)) {
            m_files[location.file] = static_cast<std::int32_t>(info.sources.size());
            const auto source =
                std::find_if(program.sources.begin(), program.sources.end(),
                             [&](const ir::Source& s) { return s.file == location.file; });
            info.sources.edit().push_back(
                {location.file, source == program.sources.end() ? "" : source->text});
        }
    }
    std::vector<trace::ListingLine>& listing = info.listing.edit();
    for (ir::PrintedLine& line : ir::print(program)) {
        listing.push_back({std::move(line.text), line.operation});
    }
    std::vector<trace::Operation>& operations = info.operations.edit();
    operations.resize(static_cast<std::size_t>(program.operationCount));
    forEachOperation(program.body, [&](const ir::Operation& operation) {
        operations[static_cast<std::size_t>(operation.id)] = {
            std::string(ir::opName(operation.code)), label(program, operation), -1,
            sourceLine(program, operation.location)};
    });
    for (std::size_t line = 0; line < listing.size(); ++line) {
        if (listing[line].operation >= 0) {
            operations[static_cast<std::size_t>(listing[line].operation)].listingLine =
                static_cast<std::int32_t>(line);
        }
    }
}

void Description::findKernels(const ir::Program& program)
{
    m_kernels.assign(static_cast<std::size_t>(program.operationCount), -1);
    forEachOperation(program.body, [&](const ir::Operation& operation) {
        if (operation.code != ir::OpCode::Kernel) {
            return;
        }
        const std::int32_t number = m_kernelCount++;
        m_kernels[static_cast<std::size_t>(operation.id)] = number;
        forEachOperation(operation.regions[0], [&](const ir::Operation& inner) {
            m_kernels[static_cast<std::size_t>(inner.id)] = number;
        });
    });
}

void Description::describeChip(const ir::Program& program, const chip::Chip& chip,
                               const AgentLayout& layout)
{
    info.chip = chip.name;
    info.chipName = chip.title;
    info.chipJson = chip.json;
    const std::size_t units = unitsUsed(chip, layout);
    for (std::size_t i = 0; i < units; ++i) {
        info.units.push_back({chip.units[i].name, chip.units[i].kind});
    }
    for (const chip::Memory& memory : chip.memories) {
        info.memories.push_back({memory.name, memory.bytes, cost::scopedLimit(program, memory)});
    }
    for (const chip::Link& link : chip.links) {
        info.links.push_back({link.name, link.from, link.to, link.datasheet, link.achieved(), {}});
    }
    const chip::AgentKind& agent = chip.agents.front();
    for (std::int64_t i = 0; i < agent.count; ++i) {
        info.agents.push_back(agent.name + " " + std::to_string(i));
    }
}

std::int32_t Description::numberOf(ir::ValueId array)
{
    const auto next = static_cast<std::int32_t>(m_numbersOfArrays.size());
    return m_numbersOfArrays.try_emplace(array, next).first->second;
}

// Adds an operand with slots to the pipeline that was described last.
void Description::describeOperand(const ir::Program& program, const ir::Operation& pipeline,
                                  std::size_t operand, const ir::OperandFacts& facts,
                                  const std::vector<std::int64_t>& tile, Bytes slotBytes,
                                  const ir::Makers& makers)
{
    const ir::BlockSpec& spec = std::get<ir::PipelineParams>(pipeline.params).specs[operand];
    const ir::Type& array = program.type(pipeline.operands[operand]);
    const Bytes bytes = packedBytes(array.dtype, array.shape.elements());
    const Bytes padded = cost::paddedBytes(array.dtype, array.shape, tile);
    const ir::ValueId whole = makers.rootOf(pipeline.operands[operand]);
    const ir::Type& from = program.type(whole);
    const bool isSlice = packedBytes(from.dtype, from.shape.elements()) > bytes;
    std::vector<Extent> block;
    std::vector<std::int32_t> elementAxes, sliceAxes;
    std::vector<Extent> pads;
    for (const ir::BlockDim& dim : spec.block) {
        const auto axis = static_cast<std::int32_t>(block.size());
        block.push_back(dim.size);
        if (dim.kind == ir::BlockKind::Element) {
            elementAxes.push_back(axis);
            pads.push_back(dim.padLow);
        } else if (dim.kind == ir::BlockKind::BoundedSlice) {
            sliceAxes.push_back(axis);
        }
    }
    info.operands.edit().push_back(
        {spec.name,
         array.dtype,
         spec.restores ? trace::Direction::InOut : direction(spec.direction),
         array.shape,
         Shape(block),
         facts.blockCounts,
         facts.gridAxes,
         static_cast<std::int32_t>(info.pipelines.size()) - 1,
         static_cast<std::int32_t>(info.buffers.size()),
         facts.slots,
         bytes,
         packedBytes(array.dtype, Shape(block).elements()),
         slotBytes,
         sourceLine(program, spec.location),
         facts.indirectAxis,
         {},
         elementAxes,
         pads,
         sliceAxes,
         false,
         false,
         padded > bytes ? padded : Bytes(0),
         numberOf(whole),
         isSlice ? cost::paddedBytes(from.dtype, from.shape, tile) : Bytes(0),
         kernelOf(pipeline),
         0});
    if (facts.isIndirect()) { // no lists yet
        info.operands.edit().back().blockCounts[static_cast<std::size_t>(facts.indirectAxis)] = 0;
    }
}

void Description::describePipeline(const ir::Program& program, const ir::Operation& operation,
                                   const chip::Chip& chip, const cost::Budget& budget,
                                   const ir::Makers& makers)
{
    const auto& params = std::get<ir::PipelineParams>(operation.params);
    const auto index = static_cast<std::int32_t>(info.pipelines.size());
    PipelineRows& rows = m_pipelines[&operation];
    rows.rows.push_back(index);
    const bool emitted = params.origin == ir::PipelineOrigin::EmitPipeline;
    info.pipelines.push_back(
        {program.name, emitted ? "emit_pipeline" : "pallas_call (modelled on emit_pipeline)",
         params.schedule, staticGrid(params), params.axisNames,
         static_cast<std::int32_t>(info.operands.size()), 0, ir::stepCount(params.grid), 0,
         sourceLine(program, operation.location), 0, budget.temporariesEstimate});
    info.temporariesEstimate = std::max(info.temporariesEstimate, budget.temporariesEstimate);
    std::vector<Bytes> address(chip.memories.size());
    const auto specs = params.specs.size();
    // Those of enclosing pipelines come last.
    for (const cost::BudgetEntry& entry : budget.entries) {
        if (entry.outer) {
            address[static_cast<std::size_t>(entry.memory)] += entry.total();
        }
    }
    for (std::size_t i = 0; i < budget.entries.size(); ++i) {
        const cost::BudgetEntry& entry = budget.entries[i];
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
            describeOperand(program, operation, i, facts,
                            chip.memories[static_cast<std::size_t>(entry.memory)].tile,
                            entry.slotBytes, makers);
        }
        if (scratch) {
            m_scratchBuffers.try_emplace(entry.ref, static_cast<std::int32_t>(info.buffers.size()));
        }
        for (std::int32_t slot = 0; slot < entry.slots; ++slot) {
            Bytes& next = address[static_cast<std::size_t>(entry.memory)];
            const std::string name =
                scratch ? entry.name : entry.name + "\u00b7" + std::to_string(slot);
            info.buffers.edit().push_back({name, scratch ? -1 : operand, slot, entry.memory, next,
                                           entry.slotBytes, type.dtype, type.shape});
            next += entry.slotBytes;
        }
    }
}

Result<Description> Description::of(const ir::Program& program, const chip::Chip& chip,
                                    const AgentLayout& layout, const Plan& plan,
                                    const std::vector<cost::Budget>& budgets,
                                    const std::vector<cost::BlockGrid>& grids, bool listing)
{
    Description description;
    description.findKernels(program);
    if (listing) {
        description.describeProgram(program);
    }
    description.describeChip(program, chip, layout);
    const ir::Makers makers(program);
    const std::vector<const ir::Operation*> pipelines = ir::pipelinesOf(program);
    for (std::size_t i = 0; i < pipelines.size(); ++i) {
        description.describePipeline(program, *pipelines[i], chip, budgets[i], makers);
    }
    if (pipelines.empty()) {
        description.describeScopes(program, chip, budgets.front());
    }
    if (Status status = description.describeCopies(program, chip, makers); !status) {
        return status.error();
    }
    for (const cost::BlockGrid& grid : grids) {
        description.m_grids[&std::get<ir::CoreMapParams>(grid.coreMap->params)] =
            static_cast<std::int32_t>(description.info.blockGrids.size());
        description.info.blockGrids.push_back(
            recorded(grid, description.sourceLine(program, grid.coreMap->location)));
    }
    description.describeLoops(program);
    description.describeDevices(program, chip, layout);
    description.info.templates = plan.templates;
    for (trace::SegmentTemplate& segment : description.info.templates.edit()) {
        segment.flopsByUnit.resize(description.info.units.size());
        segment.executedFlopsByUnit.resize(description.info.units.size());
    }
    return description;
}

} // namespace pallascope::machine
