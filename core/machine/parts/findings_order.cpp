// Findings about order: races, semaphores, deadlocks.
#include "core/base/check.h"
#include "core/base/format.h"
#include "core/ir/mesh.h"
#include "core/machine/parts/findings.h"

#include <algorithm>

namespace pallascope::machine {

namespace {

const std::string& semaphoreName(const Recorder& recorder, trace::SemaphoreRow row)
{
    return recorder.builder.info.semaphores[row.index()].name;
}

// Whether an operation at this place is of a kernel that JAX gives to Triton.
bool isByTriton(const ir::Program& program, ir::LocationId location)
{
    bool found = false;
    ir::forEachOfTriton(program, [&](const ir::Operation& operation) {
        found = found || operation.location == location;
    });
    return found;
}

// Whether a warpgroup goes on while the tensor core works on what stands there.
bool isWgmma(const ir::Program& program, ir::LocationId location)
{
    bool found = false;
    forEachOperation(program.body, [&](const ir::Operation& operation) {
        found = found || (operation.location == location && operation.code == ir::OpCode::Wgmma);
    });
    return found;
}

bool hasClusters(const ir::Program& program)
{
    bool found = false;
    forEachOperation(program.body, [&](const ir::Operation& operation) {
        const auto* mesh = std::get_if<ir::CoreMapParams>(&operation.params);
        found = found || (mesh != nullptr && ir::sizeOf(mesh->cluster) > 1);
    });
    return found;
}

bool hasSemaphores(const ir::Program& program)
{
    return std::any_of(program.values.begin(), program.values.end(), [](const ir::Value& value) {
        return value.type.space == ir::MemorySpace::Semaphore;
    });
}

} // namespace

// One cause gives one finding. A copy that was found unordered is not reported again at other
// accesses, and a pair of locations counts once, whichever comes first.
bool Findings::isExplained(const Race& race, const std::string& name,
                           trace::OptionalRow<trace::CopyRow> copy, ir::LocationId location)
{
    m_unorderedNames.insert(name);
    bool known = race.copy && m_unordered.contains(*race.copy);
    if (race.copy) {
        m_unordered.insert(*race.copy);
    }
    if (copy) {
        m_unordered.insert(*copy);
    }
    const auto [least, most] = std::minmax(race.location.index, location.index);
    if (least >= 0) {
        known = !m_unorderedPlaces.emplace(least, most).second || known;
    }
    return known;
}

void Findings::reportRace(const Race& race, const std::string& name, const Accessor& accessor)
{
    if (const std::optional<BarrierCopy> copy = copyOfEarlyRead(race, accessor)) {
        reportEarlyRead(race, name, accessor, *copy);
        return;
    }
    if (isTensorRace(race, accessor)) {
        reportTensorRace(race, name, accessor);
        return;
    }
    const auto& [agent, copy, step, location] = accessor;
    const auto deviceOf = [&](std::int32_t id) { return id / m_prepared.layout.perDevice(); };
    const bool withEnd = isWithKernelEnd(race);
    if (withEnd && isUnorderedAt(location)) {
        return; // what another finding says puts it in order with the end, too
    }
    const bool ofAgents = race.agent >= 0 && race.agent != agent
                          && (!race.withCopy || deviceOf(race.agent) == deviceOf(agent));
    const trace::FindingKind kind = race.isUncommitted ? trace::FindingKind::NotCommitted
                                    : ofAgents         ? trace::FindingKind::Race
                                    : race.writes      ? trace::FindingKind::OverwrittenInFlight
                                                       : trace::FindingKind::ReadBeforeWait;
    const auto source = lineOfNew(kind, race, name, accessor, location);
    const Semaphore* const doubtful = ofAgents ? nullptr : doubtfulSemaphore(race);
    const std::optional<ir::ValueId> barrier =
        ofAgents || race.isUncommitted || doubtful != nullptr ? std::nullopt : barrierOf(race);
    bool isNew = source.has_value(); // one cause
    if (isNew && barrier) {
        isNew = m_unawaitedBarriers.insert(*barrier).second;
    } else if (doubtful != nullptr) {
        const Doubt doubt{kind, name,
                          m_recorder.description().sourceLine(m_prepared.program, location)};
        isNew = m_doubtful.try_emplace(*doubtful->row, doubt).second && isNew;
    }
    if (isNew) {
        trace::Finding finding =
            trace::found(kind, raceText(race, name, accessor, ofAgents, withEnd, doubtful, barrier),
                         name, step, race.step, *source);
        finding.copyTime = m_recorder.startOf(race.copy);
        m_recorder.addFinding(std::move(finding));
    }
}

bool Findings::isUnorderedAt(ir::LocationId location) const
{
    return std::any_of(m_unorderedPlaces.begin(), m_unorderedPlaces.end(), [&](const auto& pair) {
        return pair.first == location.index || pair.second == location.index;
    });
}

bool Findings::isWithKernelEnd(const Race& race)
{
    if (m_prepared.layout.devices == 1 || race.withCopy || race.otherWrites) {
        return false;
    }
    if (!m_coreMaps) {
        m_coreMaps.emplace();
        forEachOperation(m_prepared.program.body, [&](const ir::Operation& operation) {
            if (operation.code == ir::OpCode::CoreMap) {
                m_coreMaps->insert(operation.location.index);
            }
        });
    }
    return m_coreMaps->contains(race.location.index);
}

// The semaphore on which a wait may have been for this copy, or else for another one: a wait knows
// only how many bytes have arrived. Null if there is none.
const Semaphore* Findings::doubtfulSemaphore(const Race& race) const
{
    const auto isIt = [&](const HeldCopy& held) {
        return race.copy && *race.copy == held.copy
               && (race.otherWrites ? held.awaited.to : held.awaited.from) >= 0;
    };
    for (std::int32_t i = 0; i < m_semaphores.end(); ++i) {
        const Semaphore& semaphore = m_semaphores[i];
        if (semaphore.executed > 0
            && std::any_of(semaphore.held.begin(), semaphore.held.end(), isIt)) {
            return &semaphore;
        }
    }
    return nullptr;
}

// Whether the agents are warpgroups or warps of the same block of a GPU, which has barriers.
bool Findings::shareBlock(std::int32_t a, std::int32_t b) const
{
    const AgentLayout& layout = m_prepared.layout;
    const std::int32_t all = layout.perDevice();
    if (!m_prepared.chip.multiprocessor || a / all != b / all) {
        return false;
    }
    const AgentGroup& group = layout.groups.front();
    const auto placeOf = [&](std::int32_t agent) {
        const std::int32_t seat = agent % all - group.first;
        return seat < group.count() ? seat / group.cores : -1;
    };
    return placeOf(a) >= 0 && placeOf(a) == placeOf(b);
}

std::string Findings::orderText(std::int32_t agent, const Race& race, ir::LocationId location) const
{
    if (race.withCopy && !race.copy) {
        return "Wait for the product and then arrive on a barrier.";
    }
    if (isByTriton(m_prepared.program, location)) {
        return "Use disjoint parts, or order the blocks with atomic operations.";
    }
    // Blocks of a cluster have barriers too, but only some kernels of clusters have semaphores.
    const bool hasBarriers =
        shareBlock(agent, race.agent)
        || (hasClusters(m_prepared.program) && !hasSemaphores(m_prepared.program));
    if (race.withCopy && !race.ofPipeline) {
        return std::string("Wait for it and then ")
               + (hasBarriers ? "arrive on a barrier" : "signal a semaphore")
               + ", or use disjoint parts.";
    }
    const std::string order = std::string("Order them with a ")
                              + (hasBarriers ? "barrier" : "semaphore")
                              + ", or use disjoint parts.";
    return hasBarriers && !race.otherWrites && isWgmma(m_prepared.program, race.location)
               ? order + " An arrival before the wgmma_wait does not cover what a product reads."
               : order;
}

std::string Findings::raceText(const Race& race, const std::string& name, const Accessor& accessor,
                               bool ofAgents, bool withEnd, const Semaphore* doubtful,
                               std::optional<ir::ValueId> barrier) const
{
    const std::string here =
        (accessor.copy ? "a copy that starts at " : "") + placeText(accessor.location);
    const std::string there = placeText(race.location);
    if (race.isUncommitted) {
        return uncommittedText(race, name, here, there);
    }
    if (ofAgents && withEnd) {
        return m_recorder.agentName(accessor.agent) + " writes " + name + " of another device ("
               + here + "), and nothing says that the kernel there (" + there
               + ") has not ended by then, after which it may be read. Signal a semaphore there "
                 "when it is written, and wait for that before the kernel ends.";
    }
    const bool isProduct = race.withCopy && !race.copy;
    if (ofAgents) {
        const bool unawaited = race.withCopy && !race.ofPipeline;
        const std::string agent = m_recorder.agentName(race.agent);
        return m_recorder.agentName(accessor.agent) + (race.writes ? " writes " : " reads ") + name
               + " (" + here + ") and "
               + (race.byAwaitedCopy ? "a copy that " + agent + " has waited for" : agent)
               + (race.otherWrites ? " writes" : " reads") + " the same elements ("
               + (isProduct            ? "by a product that it has not waited for, started at "
                  : unawaited          ? "a copy that it has not waited for, started at "
                  : race.byAwaitedCopy ? "started at "
                                       : "")
               + there + "): nothing puts the two in order. "
               + orderText(accessor.agent, race, accessor.location);
    }
    const std::string access =
        name + (race.writes ? " is written (" : " is read (") + here + ") while ";
    if (isProduct) {
        return access + "a product that no wgmma_wait covers reads the same elements (started at "
               + there + "). Wait for the product first, or use another part of memory.";
    }
    return access
           + (race.ofPipeline       ? "a copy of a block "
              : doubtful != nullptr ? "a copy that no wait is sure of "
                                    : "a copy that nobody has waited for ")
           + (race.otherWrites ? "writes" : "reads") + " the same elements (started at " + there
           + (race.ofPipeline ? "). Blocks are copied ahead of their steps and behind them, so "
                                "nothing else may use their elements meanwhile."
              : doubtful != nullptr
                  ? "): " + semaphoreName(m_recorder, *doubtful->row)
                        + " counts other copies too, and a wait knows only how many bytes have "
                          "come. Wait for all of them first, or use a semaphore for each."
              : barrier ? "). Wait first at the barrier " + m_prepared.refName(*barrier)
                              + ", on which that copy arrives."
                        : "). Wait for that copy first, or start it later.");
}

// Agents that wait for the same thing are named together.
void Findings::reportDeadlock(const std::deque<Agent>& agents, const Slab<Semaphore>& semaphores)
{
    std::vector<std::pair<std::string, std::vector<const Agent*>>> waits;
    for (const Agent& agent : agents) {
        if (!agent.waiting || !agent.waiting->semaphore) {
            continue;
        }
        const Semaphore& semaphore = semaphores[*agent.waiting->semaphore];
        const ir::LocationId location = agent.waiting->operation->location;
        const bool dma = semaphore.space == ir::MemorySpace::DmaSemaphore;
        const std::string callers = m_prepared.program.callersOf(location);
        std::string what =
            m_prepared.program.where(location) + callers + (callers.empty() ? "" : ",") + " for ";
        const std::string& name = semaphoreName(m_recorder, *semaphore.row);
        if (semaphore.space == ir::MemorySpace::Barrier) {
            what += "the barrier " + name + ", which has " + countText(semaphore.count) + " of "
                    + countText(semaphore.barrier.needed()) + " arrivals";
        } else {
            what += countText(agent.waiting->amount) + (dma ? " bytes" : "") + " of the semaphore "
                    + name + ", which has " + countText(semaphore.count);
        }
        const auto same = std::find_if(waits.begin(), waits.end(),
                                       [&](const auto& wait) { return wait.first == what; });
        if (same != waits.end()) {
            same->second.push_back(&agent);
        } else {
            waits.emplace_back(std::move(what), std::vector{&agent});
        }
    }
    PALLASCOPE_CHECK(!waits.empty());
    std::string text;
    for (const auto& [what, waiting] : waits) {
        const std::size_t others = waiting.size() - 1;
        text += (text.empty() ? "" : "; ") + m_recorder.agentName(waiting.front()->id)
                + (others == 0   ? " waits at "
                   : others == 1 ? " and another wait at "
                                 : " and " + countText(static_cast<std::int64_t>(others))
                                       + " others wait at ")
                + what + ", since " + timeText(waiting.front()->waiting->since);
    }
    const Agent& first = *waits.front().second.front();
    trace::Finding deadlock = trace::found(
        trace::FindingKind::Deadlock,
        "Nothing can go on: " + text + "; no copy under way and no other core will signal it.",
        semaphoreName(m_recorder, *semaphores[*first.waiting->semaphore].row), first.step, {},
        m_recorder.description().sourceLine(m_prepared.program,
                                            first.waiting->operation->location));
    deadlock.time = first.waiting->since;
    stop(std::move(deadlock));
}

void Findings::reportLeftOver(const Semaphore& semaphore)
{
    const bool dma = semaphore.space == ir::MemorySpace::DmaSemaphore;
    if (dma) {
        for (const HeldCopy& held : semaphore.held) {
            m_neverAwaited.insert(held.copy);
        }
    }
    if (isExplained(semaphore)) {
        return;
    }
    const std::string& name = semaphoreName(m_recorder, *semaphore.row);
    if (semaphore.space == ir::MemorySpace::Barrier) {
        // Copies that land after the end may fill a phase, for which nobody has to wait.
        if (!semaphore.barrier.isNamed() && semaphore.count % semaphore.barrier.needed() != 0) {
            reportPending(semaphore, name);
        }
        return;
    }
    m_leavesCopies = m_leavesCopies || dma;
    for (const AwaitedCopy& copy : semaphore.landed) {
        if (copy.copy) {
            m_neverAwaited.insert(*copy.copy);
        }
    }
    if (dma && addToDoubt(semaphore, name)) {
        return;
    }
    trace::Finding finding = trace::found(
        dma ? trace::FindingKind::CopyNeverAwaited : trace::FindingKind::SemaphoreLeftOver,
        dma ? "The semaphore " + name + " is left with " + countText(semaphore.count)
                  + " bytes of copies that nobody waited for; the last of them starts here."
                  + calledFrom(semaphore.location)
            : "The semaphore " + name + " is left at " + countText(semaphore.count)
                  + "; its signals and waits must add up to 0." + calledFrom(semaphore.location),
        name, m_turn.agent().step, {},
        m_recorder.description().sourceLine(m_prepared.program, semaphore.location));
    finding.copyTime = m_recorder.startOf(dma ? semaphore.lastCopy : std::nullopt);
    m_recorder.addFinding(std::move(finding));
}

void Findings::reportEarly(std::int32_t agent, ir::ValueId ref, std::int64_t amount)
{
    m_recorder.addFinding(trace::found(trace::FindingKind::SemaphoreLeftOver,
                                       m_recorder.agentName(agent) + " got " + countText(amount)
                                           + " on its semaphore " + m_prepared.refName(ref)
                                           + " while it had none: it ended or began too late.",
                                       m_prepared.refName(ref), m_turn.agent().step));
}

} // namespace pallascope::machine
