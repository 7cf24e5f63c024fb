#include "core/machine/engine/engine.h"

#include "core/base/check.h"
#include "core/base/format.h"
#include "core/ir/mesh.h"
#include "core/ir/pipeline_facts.h"
#include "core/machine/values/nonfinite.h"

#include <algorithm>
#include <limits>

namespace pallascope::machine {

using ir::OpCode;

Engine::Engine(const Prepared& prepared, const Options& options, Keeps keeps)
    : m_program(prepared.program)
    , m_chip(prepared.chip)
    , m_options(options)
    , m_needed(prepared.needed)
    , m_slots(prepared.slots)
    , m_constants(prepared.constants)
    , m_uses(prepared.uses)
    , m_layout(prepared.layout)
    , m_plan(prepared.plan)
    , m_operandPlans(prepared.operandPlans)
    , m_recorder(prepared.description, keeps)
    , m_detects(options.settings.detectRaces == DetectRaces::Everywhere
                || (options.settings.detectRaces == DetectRaces::Yes && prepared.uses.mayRace))
{
    addAgents();
}

Status Engine::bind(const std::vector<Array>& inputs)
{
    addLinks();
    for (std::int32_t device = 0; device < m_layout.devices; ++device) {
        m_agent = &firstOf(device);
        std::size_t input = 0;
        for (const ir::Argument& argument : m_program.arguments) {
            const ir::Type& type = m_program.type(argument.ref);
            if (argument.aliasOf >= 0) { // one array: the input's, which is bound already
                const auto& same = m_program.arguments[static_cast<std::size_t>(argument.aliasOf)];
                binding(argument.ref) = binding(same.ref);
                m_state.aliased.insert(binding(same.ref).buffer);
                continue;
            }
            binding(argument.ref).buffer = m_state.memory.allocate(1).first;
            Memory& memory = m_state.memory[binding(argument.ref).buffer];
            const bool isConstant = !isWritten(argument.ref);
            memory = {undefined(type.dtype, type.shape), true, isConstant, isConstant};
            if (argument.kind == ir::ArgumentKind::Output) {
                continue;
            }
            PALLASCOPE_CHECK(input < inputs.size());
            const Array& array = inputs[input++];
            const ir::Type all = ir::wholeType(m_program, argument);
            PALLASCOPE_CHECK(array.dtype == all.dtype && array.shape == all.shape);
            if (m_needed.needsContents(argument.ref) && !array.data) {
                return userError("The values of " + argument.name + " decide what " + m_program.name
                                 + " does, so they are needed; only its shape is given.");
            }
            if (array.data) {
                memory.contents = partOf(argument, array);
            }
            if (isConstant) {
                memory.contents.freeze();
            }
        }
    }
    begin();
    return Done{};
}

void Engine::fail(Error error)
{
    if (!m_error) {
        m_error = std::move(error);
    }
}

Error Engine::tooLong()
{
    return limitError("The run takes longer than 53 days on this chip; more bandwidth or less work "
                      "is right.");
}

void Engine::stop(trace::Finding finding)
{
    m_recorder.addFinding(std::move(finding));
    m_state.stopped = true;
}

Status Engine::execute(Until until)
{
    m_until = until;
    m_paused = false;
    // Between devices, with copies that a wait does, whoever can go on goes first: more of them are
    // under way.
    const bool onWait = m_options.settings.dmaExecutionMode == DmaMode::OnWait;
    const Picoseconds due(m_layout.devices > 1 && onWait ? 1 : 0);
    while (!m_error && !m_state.stopped && !pauses()) {
        Agent* const agent = next();
        Queue<Signal>& signals = m_state.signals;
        const bool signalsFirst =
            !signals.empty() && (agent == nullptr || signals.front().at + due <= agent->time);
        if (agent == nullptr && !signalsFirst) {
            break;
        }
        if ((signalsFirst ? signals.front().at : agent->time) > until.time) {
            return Done{};
        }
        if (signalsFirst) {
            const Signal signal = std::move(signals.front());
            signals.pop_front();
            m_state.delivered = signal.at;
            deliver(signal);
            continue;
        }
        m_state.delivered.reset();
        m_agent = agent;
        turn();
    }
    if (m_error) {
        return *m_error;
    }
    if (!pauses()) {
        finish();
    }
    return Done{};
}

void Engine::finish()
{
    const bool isStuck = std::any_of(m_state.agents.begin(), m_state.agents.end(),
                                     [](const Agent& agent) { return !agent.isDone(); });
    if (isStuck && !m_state.stopped) {
        reportDeadlock();
    }
    m_end.emplace();
    for (const Agent& agent : m_state.agents) {
        m_end = std::max(*m_end, agent.time);
    }
    if (!isStuck) {
        reportEarly(0, m_layout.devices * m_layout.perDevice());
        for (const auto& [id, semaphore] : m_state.barriers) {
            closeSemaphores({semaphore, 1});
        }
    }
    for (const Agent& agent : m_state.agents) {
        close(agent);
    }
    m_end = std::max(*m_end, m_recorder.position().lastEnd);
    land(*m_end);
}

void Engine::recordLists()
{
    for (const auto& [at, plan] : m_indirect) {
        m_recorder.recordLists(*at.first, at.second, plan->facts.blockCounts, plan->map.lists());
    }
}

// The first agent that can go on, and the horizon that another one or a signal sets it.
Agent* Engine::next()
{
    Agent* first = nullptr;
    m_horizon = Picoseconds(std::numeric_limits<std::int64_t>::max());
    for (Agent& agent : m_state.agents) {
        if (agent.isDone() || agent.waiting) {
            continue;
        }
        const bool earlier = first == nullptr || agent.time < first->time
                             || (agent.time == first->time && first->yields && !agent.yields);
        if (earlier) {
            if (first != nullptr) {
                m_horizon = std::min(m_horizon, first->time);
            }
            first = &agent;
        } else {
            m_horizon = std::min(m_horizon, agent.time);
        }
    }
    if (!m_state.signals.empty()) {
        m_horizon = std::min(m_horizon, m_state.signals.front().at);
    }
    if (m_until.time < m_horizon) {
        m_horizon = m_until.time + Picoseconds(1);
    }
    return first;
}

void Engine::turn()
{
    do {
        advance();
    } while (!m_agent->isDone() && !m_agent->waiting && !m_error && !m_state.stopped && !yields());
    if (m_agent->isDone()) {
        wakeJoining();
    }
}

// The steps that a stopped run leaves open end with it.
void Engine::close(const Agent& agent)
{
    for (auto frame = agent.frames.rbegin(); frame != agent.frames.rend(); ++frame) {
        if (const auto* pipeline = std::get_if<PipelineFrame>(&*frame);
            pipeline != nullptr && pipeline->row >= 0) {
            m_recorder.closeStep(pipeline->row, pipeline->next <= PipelineFrame::Next::Body,
                                 pipeline->next > PipelineFrame::Next::Overhead, *m_end);
        }
    }
    if (agent.waiting && agent.waiting->semaphore >= 0) {
        m_recorder.addWait({.semaphore = m_state.semaphores[agent.waiting->semaphore].row,
                            .operation = agent.waiting->operation->id},
                           agent.id, agent.step, agent.waiting->since, *m_end);
    }
}

void Engine::advance()
{
    constexpr std::int64_t kBetween = 64; // turns from one look at the limits to the next
    if (++m_state.turns % kBetween == 0 && !mayGoOn()) {
        return;
    }
    switch (m_agent->frames.back().index()) {
    case 0:
        runBlock();
        return;
    case 1:
        runScan();
        return;
    case 2:
        runWhile();
        return;
    case 3:
        runPipeline();
        return;
    case 4: {
        const auto frame = std::move(std::get<ScopeFrame>(m_agent->frames.back()));
        m_agent->frames.pop_back();
        release(frame.owned);
        return;
    }
    case 5:
        joinCores();
        return;
    default:
        joinOthers();
    }
}

bool Engine::mayGoOn()
{
    const std::int64_t most = m_options.rows ? kMostRecordedTurns : kMostTurns;
    if (m_state.turns > most) {
        fail(limitError(m_program.name + " takes more than " + countText(most)
                        + " loop rounds and steps, the most that a run records; a loop that ends, "
                          "or larger blocks, are right."));
    } else if (m_state.turns % 1024 == 0 && m_recorder.recordedBytes() > kMostRecorded) {
        fail(limitError(m_program.name + " takes more steps, copies and waits than the "
                        + bytesText(kMostRecorded)
                        + " that a run records; a loop that ends, or larger blocks, are right."));
    } else if (m_options.progress
               && (m_options.values == ValueMode::Full || m_state.turns % 1024 == 0)) {
        constexpr auto kBetween = std::chrono::milliseconds(50);
        const auto now = std::chrono::steady_clock::now();
        if (now - m_lastAsked > kBetween && !m_options.progress(m_share)) {
            fail(limitError("cancelled"));
        }
        m_lastAsked = now - m_lastAsked > kBetween ? now : m_lastAsked;
    }
    return !m_error;
}

std::optional<std::string> Engine::nonFiniteOutput()
{
    for (const ir::Argument& argument : m_program.arguments) {
        if (argument.kind == ir::ArgumentKind::Output) {
            const Buffer array = whole(argument);
            if (nonFiniteIn(array.loadAll()).any()) {
                return argument.name;
            }
        }
    }
    return std::nullopt;
}

std::vector<Array> Engine::outputs()
{
    std::vector<Array> arrays;
    for (const ir::Argument& argument : m_program.arguments) {
        if (argument.kind == ir::ArgumentKind::Output) {
            arrays.push_back(whole(argument).contents());
        }
    }
    return arrays;
}

} // namespace pallascope::machine
