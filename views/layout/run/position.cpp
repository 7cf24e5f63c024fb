#include "views/layout/run/position.h"

#include "core/base/format.h"
#include "core/trace/agents.h"
#include "core/trace/pieces.h"

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
        if (!index.pipelines().all.empty()) {
            position.kind = 0;
        }
        return position;
    }
    position.step = index.leading().row(index.leading().at(now));
    position.pipeline = trace::PipelineRow{trace.steps().pipeline[position.step->index()]};
    position.kind = index.pipelines().ofPipeline[position.pipeline.index()];
    const trace::Pipeline& pipeline = trace.info().pipelines[position.pipeline.index()];
    position.number = trace.steps().ordinal[position.step->index()];
    position.steps = pipeline.steps;
    position.agents = index.pipelines().all[at(*position.kind)].agents;
    position.index = trace::gridIndices(pipeline, position.number);
    return position;
}

std::string stepText(const Position& position)
{
    return fmt::format("step |{}| of |{}|", countText(position.number), countText(position.steps));
}

std::string stepOfKernel(const RunView& run, trace::StepRow step)
{
    const trace::Info& info = run.trace->info();
    const trace::Steps& steps = run.trace->steps();
    const trace::Pipeline& pipeline =
        info.pipelines[static_cast<std::size_t>(steps.pipeline[step.index()])];
    const trace::Pieces& pieces = run.index->pieces(info.deviceOf(pipeline.agent));
    const std::string number = countText(steps.ordinal[step.index()]);
    return pieces.kernels > 1
               ? number + " of "
                     + pieces.all[pieces.at(Picoseconds(steps.begin[step.index()]))].name
               : number;
}

std::string roundText(const trace::LoopRounds::Place& place)
{
    return fmt::format("round |{}| of |{}|", countText(static_cast<std::int64_t>(place.number)),
                       countText(static_cast<std::int64_t>(place.of)));
}

bool goesBySteps(const RunView& run)
{
    return run.index->leading().size() > 1;
}

std::optional<trace::LoopRounds::Place> roundAt(const RunView& run, Picoseconds now,
                                                std::int32_t loop)
{
    if (goesBySteps(run) && loop == trace::kNone) {
        return std::nullopt;
    }
    return run.index->rounds().at(loop, now);
}

namespace {

// A single step is not worth a word beside rounds.
bool saysStep(const RunView& run, const Position& position, bool saysRound)
{
    return position.step && (goesBySteps(run) || !saysRound);
}

} // namespace

std::string positionText(const RunView& run, const ViewState& state)
{
    std::string text = fmt::format("|{}| of {}", timeText(state.now), timeText(run.trace->end()));
    const auto round = roundAt(run, state.now, state.loop);
    if (const Position position = positionAt(run, state.now);
        saysStep(run, position, round.has_value())) {
        text += fmt::format(" · step |{}| of {}", countText(position.number),
                            countText(position.steps));
    }
    if (round) {
        text +=
            fmt::format(" · round |{}| of {}", countText(static_cast<std::int64_t>(round->number)),
                        countText(static_cast<std::int64_t>(round->of)));
    }
    return text;
}

std::string widestPositionText(const RunView& run, std::int32_t loop)
{
    const std::string end = timeText(run.trace->end());
    std::int64_t steps = 0;
    for (const trace::Pipeline& pipeline : run.trace->info().pipelines) {
        steps = std::max(steps, pipeline.steps);
    }
    std::size_t rounds = 0;
    for (const std::int32_t one : run.index->rounds().chosen(loop)) {
        rounds = std::max(rounds, run.index->rounds().size(one));
    }
    const bool saysRound = roundAt(run, Picoseconds(0), loop).has_value();
    std::string text = fmt::format("|{}| of {}", end, end);
    if (goesBySteps(run) || !saysRound) {
        text += fmt::format(" · step |{0}| of {0}", countText(steps));
    }
    if (saysRound) {
        text += fmt::format(" · round |{0}| of {0}", countText(static_cast<std::int64_t>(rounds)));
    }
    return text;
}

std::string stepsText(const RunView& run, const Position& position)
{
    std::string text =
        fmt::format("|{}| {}", countText(position.steps), position.steps == 1 ? "step" : "steps");
    if (position.agents > 1) {
        const std::int32_t agent = run.index->pipelines().all[at(*position.kind)].agent;
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

std::vector<Fact> factsOf(const trace::LoopRounds::Place& place)
{
    const auto number = static_cast<std::int64_t>(place.number);
    const auto of = static_cast<std::int64_t>(place.of);
    return {{FactKind::Round, -1, static_cast<double>(number), countText(number)},
            {FactKind::Rounds, -1, static_cast<double>(of), countText(of)}};
}

std::vector<Fact> positionFacts(const RunView& run, const ViewState& state)
{
    std::vector<Fact> facts;
    const auto round = roundAt(run, state.now, state.loop);
    if (const Position position = positionAt(run, state.now);
        saysStep(run, position, round.has_value())) {
        facts = factsOf(position);
    }
    if (round) {
        const std::vector<Fact> more = factsOf(*round);
        facts.insert(facts.end(), more.begin(), more.end());
    }
    return facts;
}

Bytes compilersOf(const RunView& run, std::int32_t memory)
{
    const trace::Info& info = run.trace->info();
    const bool isOne = info.blockGrids.size() == 1; // of several: not known of which
    return isOne && memory == info.links.front().to ? run.report.compilersOfBlock : Bytes(0);
}

Taken takenAt(const RunView& run, const Position& position)
{
    const trace::Info& info = run.trace->info();
    Taken taken;
    taken.memory = info.links.empty() ? 0 : info.links.front().to;
    taken.compilers = compilersOf(run, taken.memory);
    taken.used = usedOf(run, position, taken.memory) + taken.compilers;
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
            && run.index->pipelines().isThere(trace::BufferRow{number}, position.kind)) {
            buffers.push_back(number);
        }
    }
    return buffers;
}

} // namespace pallascope::layout
