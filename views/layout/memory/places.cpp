// Decides whose memory is shown, and which places it has.
#include "core/trace/copy_ends.h"
#include "core/trace/grid_launches.h"
#include "core/trace/scratch_slots.h"
#include "views/layout/memory/parts.h"
#include "views/layout/run/grid_blocks.h"
#include "views/layout/run/position.h"

#include <algorithm>

namespace pallascope::layout {

namespace {

std::size_t index(std::int64_t number)
{
    return static_cast<std::size_t>(number);
}

bool isRow(std::int64_t number, std::size_t rows)
{
    return number >= 0 && index(number) < rows;
}

using Agent = std::optional<std::int32_t>;

// The agent to which what is selected belongs, if it belongs to one.
struct AgentOf
{
    const trace::Trace& trace;

    [[nodiscard]] Agent ofStep(std::int64_t step) const
    {
        if (!isRow(step, trace.steps().size())) {
            return {};
        }
        return trace.info().pipelines[index(trace.steps().pipeline[index(step)])].agent;
    }

    [[nodiscard]] Agent ofLane(const LaneId& lane) const
    {
        if (const auto* waits = std::get_if<lane::AgentWaits>(&lane)) {
            return waits->agent;
        }
        if (const auto* waits = std::get_if<lane::KindWaits>(&lane)) {
            return waits->firstAgent;
        }
        if (const auto* copies = std::get_if<lane::DeviceCopies>(&lane)) {
            return trace.info().counterpart(0, copies->device);
        }
        if (const auto* waits = std::get_if<lane::DeviceWaits>(&lane)) {
            return trace.info().counterpart(0, waits->device);
        }
        if (const auto* agent = std::get_if<lane::Agent>(&lane)) {
            return agent->agent;
        }
        return {};
    }

    // The end on the chip counts, of two such ends the target.
    Agent operator()(const target::Copy& copy) const
    {
        if (!isRow(copy.row, trace.copies().size())) {
            return {};
        }
        const auto source =
            trace::sourceOf(trace, trace::CopyRow{static_cast<std::int32_t>(copy.row)});
        if (!source) {
            return ofStep(trace.copies().step[index(copy.row)]);
        }
        const trace::CopyEnds& ends = trace.copyEnds();
        const std::size_t to = source->index() + 1;
        return ends.agent[ends.buffer[to] != trace::kNone ? to : to - 1];
    }

    Agent operator()(const target::Steps& steps) const { return ofStep(steps.first); }

    Agent operator()(const target::Segment& segment) const
    {
        return isRow(segment.row, trace.segments().size())
                   ? Agent(trace.segments().agent[index(segment.row)])
                   : Agent();
    }

    Agent operator()(const target::Wait& wait) const
    {
        return isRow(wait.row, trace.waits().size()) ? Agent(trace.waits().agent[index(wait.row)])
                                                     : Agent();
    }

    Agent operator()(const target::GridBlock& block) const
    {
        return isRow(block.row, trace.gridBlocks().size())
                   ? Agent(trace.gridBlocks().agent[index(block.row)])
                   : Agent();
    }

    Agent operator()(const target::Semaphore& of) const
    {
        return isRow(of.row, trace.info().semaphores.size())
                   ? Agent(trace.info().semaphores[index(of.row)].agent)
                   : Agent();
    }

    Agent operator()(const target::Lane& lane) const { return ofLane(lane.lane); }

    Agent operator()(const target::Moment& moment) const { return ofLane(moment.lane); }

    template<class Other>
    Agent operator()(const Other& /*other*/) const
    {
        return {};
    }
};

// The operand of an agent that stands in the place of the leading one's; that one itself if the
// agent does not run the pipeline.
std::int32_t operandOf(const RunView& run, std::int32_t leading, std::int32_t agent)
{
    const trace::Info& info = run.trace->info();
    if (leading == trace::kNone || info.operands[index(leading)].pipeline == trace::kNone) {
        return leading;
    }
    const std::int32_t pipeline = info.operands[index(leading)].pipeline;
    const trace::PipelineKinds& kinds = run.index->pipelines();
    for (const std::int32_t row : kinds.all[index(kinds.ofPipeline[index(pipeline)])].rows) {
        if (info.pipelines[index(row)].agent == agent) {
            return info.pipelines[index(row)].firstOperand + leading
                   - info.pipelines[index(pipeline)].firstOperand;
        }
    }
    return leading;
}

bool hasSlots(const RunView& run, std::int32_t agent)
{
    const std::vector<trace::ScratchSlot>& slots = run.index->scratch().all();
    return std::any_of(slots.begin(), slots.end(),
                       [agent](const trace::ScratchSlot& slot) { return slot.agent == agent; });
}

// The agent that holds what the block of an agent shares: the first one of the block.
std::int32_t holderOf(const RunView& run, std::int32_t agent)
{
    const std::vector<std::int32_t>& smOf = run.index->agents().smOf;
    for (std::int32_t one = agent;
         !smOf.empty() && one >= 0 && smOf[index(one)] == smOf[index(agent)]; --one) {
        if (hasSlots(run, one)) {
            return one;
        }
    }
    return agent;
}

// The agent that holds what the blocks of a cluster allocate together: the first one of the first
// block. The agent itself where its block is alone.
std::int32_t holderOfCluster(const RunView& run, std::int32_t agent, Picoseconds now)
{
    const trace::GridLaunches& launches = run.index->launches();
    std::optional<std::int64_t> row = launches.blockOf(agent, now);
    row = row ? row : launches.blockOf(agent, run.trace->end());
    if (!row) {
        return agent;
    }
    const trace::GridBlocks& blocks = run.trace->gridBlocks();
    const trace::BlockGrid& grid = run.trace->info().blockGrids[index(blocks.grid[index(*row)])];
    // An SM has agents that are of no block's own, so its number does not say who that is.
    const std::int64_t first =
        blocks.block[index(*row)] / grid.cluster * grid.cluster; // of the cluster
    for (std::size_t i = index(*row) + 1; grid.cluster > 1 && i > 0; --i) {
        if (blocks.block[i - 1] == first && blocks.grid[i - 1] == blocks.grid[index(*row)]) {
            return holderOf(run, blocks.agent[i - 1]);
        }
    }
    return agent;
}

} // namespace

std::int32_t shownAgent(const RunView& run, const ViewState& state)
{
    const trace::Info& info = run.trace->info();
    if (info.agents.empty()) {
        return 0;
    }
    const Agent selected = std::visit(AgentOf{*run.trace}, state.selection);
    if (selected && isRow(*selected, info.agents.size())) {
        const std::int32_t owner = run.index->agents().ownerOf[index(*selected)];
        return holderOfCluster(run, holderOf(run, owner), state.now);
    }
    const Position position = positionAt(run, state.now);
    const std::int32_t leading =
        position.kind ? run.index->pipelines().all[index(*position.kind)].agent : 0;
    const std::vector<trace::ScratchSlot>& slots = run.index->scratch().all();
    const bool showsLeading = slots.empty() || hasSlots(run, leading);
    const std::int32_t first = showsLeading ? leading : slots.front().agent;
    return holderOfCluster(
        run, onSm(run, info.counterpart(first, state.device), chosenSm(run, state)), state.now);
}

std::vector<Place> placesOf(const RunView& run, const std::vector<std::int32_t>& buffers,
                            std::int32_t agent)
{
    std::vector<Place> places;
    for (const std::int32_t row : buffers) {
        const trace::Buffer& buffer = run.trace->info().buffers[index(row)];
        const trace::ScratchSlots::Range slots = run.index->scratch().of(row, agent);
        if (slots.empty()) {
            places.push_back({row,
                              {},
                              buffer.address,
                              buffer.bytes,
                              operandOf(run, buffer.operand, agent),
                              agent});
            continue;
        }
        const auto count = static_cast<std::int64_t>(slots.size());
        for (std::int64_t i = 0; i < count; ++i) {
            const std::int64_t bytes = buffer.bytes.value() / count;
            // Of any file: may wrap.
            const auto address = static_cast<std::uint64_t>(buffer.address.value())
                                 + static_cast<std::uint64_t>(bytes * i);
            places.push_back({row, slots.first + index(i),
                              Bytes(static_cast<std::int64_t>(address)), Bytes(bytes)});
        }
    }
    std::stable_sort(places.begin(), places.end(),
                     [](const Place& a, const Place& b) { return a.address < b.address; });
    return places;
}

} // namespace pallascope::layout
