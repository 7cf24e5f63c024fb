#include "views/layout/run/position.h"

#include "core/base/format.h"
#include "core/trace/agents.h"

#include <algorithm>
#include <fmt/format.h>

namespace pallascope::layout {

namespace {

std::size_t at(std::int32_t index)
{
    return static_cast<std::size_t>(index);
}

// Where the arrays are, and what programs keep numbers of theirs in: no blocks are budgeted there.
bool isOnChip(const trace::Info& info, std::int32_t memory)
{
    const std::string& name = info.memories[at(memory)].name;
    return name != "SMEM" && (info.links.empty() || memory != info.links.front().from);
}

Bytes usedOf(const RunView& run, const Position& position, std::int32_t memory)
{
    return run.index->pipelines().used(run.trace->info(), position.kind, memory);
}

// "subcores" of "SparseCore vector subcore"
std::string agentsWord(const trace::Info& info, std::int32_t agent, std::int64_t agents)
{
    if (agents == info.deviceCount()) {
        return "devices";
    }
    const std::string kind = trace::kindOfAgent(info.agents[at(agent)]);
    return kind.substr(kind.rfind(' ') + 1) + "s";
}

} // namespace

Position positionAt(const RunView& run, Picoseconds now)
{
    const trace::Trace& trace = *run.trace;
    const trace::Index& index = *run.index;
    Position position;
    position.finished = now >= trace.end();
    if (index.leading().size() == 0) {
        position.kind = index.pipelines().all.empty() ? -1 : 0;
        return position;
    }
    position.step = index.leading().row(index.leading().at(now));
    position.pipeline = trace.steps().pipeline[position.step->index()];
    position.kind = index.pipelines().ofPipeline[at(position.pipeline)];
    const trace::Pipeline& pipeline = trace.info().pipelines[at(position.pipeline)];
    position.number = trace.steps().ordinal[position.step->index()];
    position.steps = pipeline.steps;
    position.agents = index.pipelines().all[at(position.kind)].agents;
    position.index = trace::gridIndices(pipeline, position.number);
    return position;
}

std::string stepText(const Position& position)
{
    return fmt::format("step |{}| of |{}|", countText(position.number), countText(position.steps));
}

std::string positionText(const RunView& run, Picoseconds now)
{
    std::string text = fmt::format("|{}| of {}", timeText(now), timeText(run.trace->end()));
    if (const Position position = positionAt(run, now); position.step) {
        text += fmt::format(" · step |{}| of {}", countText(position.number),
                            countText(position.steps));
    }
    return text;
}

std::string widestPositionText(const RunView& run)
{
    const std::string end = timeText(run.trace->end());
    std::int64_t most = 0;
    for (const trace::Pipeline& pipeline : run.trace->info().pipelines) {
        most = std::max(most, pipeline.steps);
    }
    const std::string steps = countText(most);
    return fmt::format("|{}| of {} · step |{}| of {}", end, end, steps, steps);
}

std::string stepsText(const RunView& run, const Position& position)
{
    std::string text =
        fmt::format("|{}| {}", countText(position.steps), position.steps == 1 ? "step" : "steps");
    if (position.agents > 1) {
        const std::int32_t agent = run.index->pipelines().all[at(position.kind)].agent;
        text = fmt::format("|{}| {} × {}", countText(position.agents),
                           agentsWord(run.trace->info(), agent, position.agents), text);
    }
    return text;
}

std::vector<Fact> factsOf(const Position& position)
{
    return {{FactKind::Step, -1, static_cast<double>(position.number), countText(position.number)},
            {FactKind::Steps, -1, static_cast<double>(position.steps), countText(position.steps)}};
}

Taken takenAt(const RunView& run, const Position& position)
{
    const trace::Info& info = run.trace->info();
    Taken taken;
    taken.memory = info.links.empty() ? 0 : info.links.front().to;
    taken.used = usedOf(run, position, taken.memory);
    for (std::int32_t other = 0; taken.used == Bytes(0) && at(other) < info.memories.size();
         ++other) {
        if (const Bytes used = usedOf(run, position, other);
            isOnChip(info, other) && used > taken.used) {
            taken.memory = other;
            taken.used = used;
        }
    }
    const trace::Memory& memory = info.memories[at(taken.memory)];
    taken.capacity = memory.capacity;
    taken.limit = memory.scopedLimit.value_or(memory.capacity);
    taken.buffers = buffersThere(run, position, taken.memory);
    return taken;
}

std::vector<std::int32_t> buffersThere(const RunView& run, const Position& position,
                                       std::int32_t memory)
{
    const trace::Info& info = run.trace->info();
    std::vector<std::int32_t> buffers;
    for (std::size_t buffer = 0; buffer < info.buffers.size(); ++buffer) {
        const auto number = static_cast<std::int32_t>(buffer);
        if (info.buffers[buffer].memory == memory
            && run.index->pipelines().isThere(number, position.kind)) {
            buffers.push_back(number);
        }
    }
    return buffers;
}

} // namespace pallascope::layout
