// Findings about the barriers and products of a GPU's agents.
#include "core/base/format.h"
#include "core/machine/parts/findings.h"

namespace pallascope::machine {

namespace {

// What went wrong, for the end of a sentence that names the barrier.
std::string faultText(BarrierFault fault, const Barrier& barrier)
{
    const std::string phase = countText(barrier.phase());
    const std::string before = countText(barrier.phase() - 1);
    switch (fault) {
    case BarrierFault::Unobserved:
        return "completes phase " + phase + ", and no agent has waited for phase " + before
               + ". Wait for each phase before the next one completes.";
    case BarrierFault::Missed:
        return "completes phase " + phase
               + " while an agent that waits on it has not waited for phase " + before
               + ", which it then cannot tell from this one. Let it say that it is ready, by an "
                 "arrival at a second barrier.";
    case BarrierFault::Late:
        return "has completed " + phase
               + " phases when an agent waits on it for the first time. An agent that waits on a "
                 "barrier must wait for each of its phases.";
    case BarrierFault::Overrun:
        return "has completed phase " + phase
               + " before an agent waits for an earlier one, and the chip's one parity bit cannot "
                 "tell the two apart. Wait for each phase before the next one completes.";
    }
    return {};
}

// By location.
std::map<std::int32_t, ir::ValueId> barriersOfCopies(const Prepared& prepared)
{
    std::map<std::int32_t, ir::ValueId> barriers;
    forEachOperation(prepared.program.body, [&](const ir::Operation& operation) {
        for (const ir::ValueId operand : operation.operands) {
            if (ir::startsCopy(operation.code)
                && prepared.program.type(operand).space == ir::MemorySpace::Barrier) {
                barriers.try_emplace(operation.location.index, prepared.rootOf(operand));
            }
        }
    });
    return barriers;
}

} // namespace

const std::map<std::int32_t, ir::ValueId>& Findings::copyBarriers()
{
    if (!m_copyBarriers) {
        m_copyBarriers = barriersOfCopies(m_prepared);
    }
    return *m_copyBarriers;
}

// The one on which the copy arrives that was first; none where it arrives on none.
std::optional<ir::ValueId> Findings::barrierOf(const Race& race)
{
    const auto found = copyBarriers().find(race.location.index);
    return race.copy && found != copyBarriers().end() ? std::optional(found->second) : std::nullopt;
}

void Findings::stopAtBarrier(const Semaphore& barrier, BarrierFault fault, ir::LocationId location)
{
    const std::string& name = m_recorder.builder.info.semaphores[barrier.row->index()].name;
    stop(trace::found(trace::FindingKind::BarrierMisuse,
                      "The barrier " + name + " " + faultText(fault, barrier.barrier)
                          + " The run stops there." + calledFrom(location),
                      name, m_turn.agent().step, {},
                      m_recorder.description().sourceLine(m_prepared.program, location)));
}

// A barrier ends in the middle of a phase.
void Findings::reportPending(const Semaphore& barrier, const std::string& name)
{
    m_recorder.addFinding(
        trace::found(trace::FindingKind::BarrierMisuse,
                     "The barrier " + name + " ends with " + countText(barrier.count) + " of the "
                         + countText(barrier.barrier.needed())
                         + " arrivals that complete a phase; arrivals must fill whole phases."
                         + calledFrom(barrier.location),
                     name, m_turn.agent().step, {},
                     m_recorder.description().sourceLine(m_prepared.program, barrier.location)));
}

bool Findings::isTensorCore(std::int32_t agent) const
{
    const AgentLayout& layout = m_prepared.layout;
    return layout.groups.front().usesTensorMemory && agent >= 0
           && agent % layout.perDevice() >= layout.firstUnit();
}

bool Findings::isTensorRace(const Race& race, const Accessor& accessor) const
{
    return !race.withCopy && !race.isUncommitted
           && (race.isLate || isTensorCore(race.agent) || isTensorCore(accessor.agent));
}

std::optional<trace::SourceLine> Findings::lineOfNew(trace::FindingKind kind, const Race& race,
                                                     const std::string& name,
                                                     const Accessor& accessor, ir::LocationId at)
{
    trace::SourceLine source = m_recorder.description().sourceLine(m_prepared.program, at);
    const bool known = isExplained(race, name, accessor.copy, accessor.location);
    if (m_recorder.countsAgain(trace::findingEntry(kind).name, name, source) || known) {
        return std::nullopt;
    }
    return source;
}

std::string Findings::placeText(ir::LocationId at) const
{
    return m_prepared.program.where(at) + m_prepared.program.callersOf(at);
}

// A load of TMEM and a product that writes there, which nothing orders: the load has not waited for
// the product.
void Findings::reportEarlyLoad(const Race& race, const std::string& name, const Accessor& product)
{
    const trace::FindingKind kind = trace::FindingKind::ReadBeforeWait;
    const auto source = lineOfNew(kind, race, name, product, race.location);
    if (!source) {
        return;
    }
    m_recorder.addFinding(trace::found(
        kind,
        name + " is read (" + placeText(race.location) + ") while a product (started at "
            + placeText(product.location)
            + ") may write the same elements: nothing puts the two in order. Wait at a barrier on "
              "which a commit after the product arrives, and only then load.",
        name, race.step, product.step, *source));
}

// An agent that reads what the copy of another one brings, and for the first time, has not waited
// at the copy's barrier. Whether it reads before the copy starts or after that is a matter of
// times.
std::optional<Findings::BarrierCopy> Findings::copyOfEarlyRead(const Race& race,
                                                               const Accessor& accessor)
{
    const bool isBefore = race.writes && accessor.copy;
    const bool isAfter = race.otherWrites && race.copy && !accessor.copy;
    if (!race.readsUnwritten || race.isUncommitted || race.agent == accessor.agent
        || !(isBefore || isAfter)) {
        return std::nullopt;
    }
    const ir::LocationId location = isBefore ? accessor.location : race.location;
    const auto barrier = copyBarriers().find(location.index);
    return barrier == copyBarriers().end()
               ? std::nullopt
               : std::optional(BarrierCopy{location, m_prepared.refName(barrier->second)});
}

void Findings::reportEarlyRead(const Race& race, const std::string& name, const Accessor& accessor,
                               const BarrierCopy& copy)
{
    const bool isBefore = race.writes;
    const ir::LocationId read = isBefore ? race.location : accessor.location;
    constexpr trace::FindingKind kKind = trace::FindingKind::ReadBeforeWait;
    const auto source = lineOfNew(kKind, race, name, accessor, read);
    if (!source) {
        return;
    }
    m_recorder.addFinding(trace::found(
        kKind,
        name + " is read (" + placeText(read)
            + ") without a wait for the copy that writes the same elements (started at "
            + placeText(copy.location) + "). Wait at the barrier " + copy.barrier
            + " first, on which that copy arrives.",
        name, isBefore ? race.step : accessor.step, isBefore ? accessor.step : race.step, *source));
}

void Findings::reportTensorRace(const Race& race, const std::string& name, const Accessor& accessor)
{
    if (race.isUnordered && !race.otherWrites && isTensorCore(accessor.agent)) {
        reportEarlyLoad(race, name, accessor);
        return;
    }
    const auto& [agent, copy, step, location] = accessor;
    const bool waits = race.isLate || isTensorCore(race.agent); // else the other is another agent
    const bool reads = !race.writes || (race.isLate && race.otherWrites && isTensorCore(agent));
    const trace::FindingKind kind = !waits   ? trace::FindingKind::Race
                                    : !reads ? trace::FindingKind::OverwrittenInFlight
                                             : trace::FindingKind::ReadBeforeWait;
    const auto source = lineOfNew(kind, race, name, accessor, location);
    if (!source) {
        return;
    }
    const std::string by = isTensorCore(agent) ? "by a product that starts at "
                           : copy              ? "by a copy that starts at "
                                               : "";
    std::string sentence = name + (race.writes ? " is written (" : " is read (") + by
                           + placeText(location) + ") while ";
    const std::string there = placeText(race.location);
    if (race.isLate) {
        sentence += race.otherWrites ? "a store that no commit_tmem covers writes"
                                     : "a load that no wait_load_tmem covers reads";
        sentence +=
            " the same elements (" + there + "). Call "
            + (race.otherWrites ? std::string("commit_tmem") : std::string("wait_load_tmem"))
            + " after it, and then let the others know by a barrier.";
    } else if (isTensorCore(race.agent)) {
        sentence += std::string("a product that nobody has waited for ")
                    + (race.otherWrites ? "writes" : "reads") + " the same elements (started at "
                    + there + "). Wait at a barrier on which a commit after it arrives.";
    } else {
        sentence += m_recorder.agentName(race.agent) + (race.otherWrites ? " writes" : " reads")
                    + " the same elements (" + there
                    + "): nothing puts the two in order. Order them with a barrier.";
    }
    m_recorder.addFinding(trace::found(kind, std::move(sentence), name, step, race.step, *source));
}

void Findings::reportReductionRace(const Race& race, const ir::Operation& operation)
{
    const std::string name = "the scratch of reductions";
    const Accessor here{m_turn.agent().id, {}, {}, operation.location};
    const auto source = lineOfNew(trace::FindingKind::Race, race, name, here, operation.location);
    if (!source) {
        return;
    }
    m_recorder.addFinding(trace::found(
        trace::FindingKind::Race,
        m_recorder.agentName(m_turn.agent().id) + " reduces an array to one number ("
            + placeText(operation.location) + ") and " + m_recorder.agentName(race.agent)
            + " does so too (" + placeText(race.location)
            + "): JAX gives both the same scratch in SMEM, and nothing puts the two in order, so "
              "each may get what the other has stored. Let the warpgroups take turns, with a "
              "barrier in between, or reduce rows that lie within a warp (Layout.WGMMA).",
        name, m_turn.agent().step, race.step, *source));
}

void Findings::reportSharedRace(const Race& race, const std::string& name, const Accessor& accessor)
{
    const auto source =
        lineOfNew(trace::FindingKind::Race, race, name, accessor, accessor.location);
    if (!source) {
        return;
    }
    m_recorder.addFinding(trace::found(
        trace::FindingKind::Race,
        "Blocks of a cluster make a copy for each other (" + placeText(accessor.location)
            + "): the part that " + m_recorder.agentName(accessor.agent) + " copies is written to "
            + name + " of every block, while another block may still read it there ("
            + placeText(race.location) + " by " + m_recorder.agentName(race.agent)
            + "): nothing puts the two in order. Let every block say that it is done, by a barrier "
              "of the cluster, before the next copy starts.",
        name, accessor.step, race.step, *source));
}

void Findings::reportEnded(const Race& race, const std::string& name, ir::LocationId scope)
{
    const Accessor other{race.agent, {}, race.step, race.location};
    const auto source = lineOfNew(trace::FindingKind::Race, race, name, other, race.location);
    if (!source) {
        return;
    }
    m_recorder.addFinding(trace::found(
        trace::FindingKind::Race,
        m_recorder.agentName(race.agent) + (race.otherWrites ? " writes " : " reads ") + name
            + " of another block (" + placeText(race.location)
            + "), and nothing says that this block has not ended by then (" + placeText(scope)
            + "), with which its memory goes. Let the blocks wait for each other at a barrier of "
              "the cluster before they end.",
        name, race.step, {}, *source));
}

void Findings::reportUnfinishedProduct(const ir::Operation& operation)
{
    const bool loads = operation.code == ir::OpCode::WgmmaAccumulatorDeref;
    const std::string name = m_prepared.refName(operation.operands[0]);
    m_recorder.addFinding(trace::found(
        loads ? trace::FindingKind::ReadBeforeWait : trace::FindingKind::OverwrittenInFlight,
        name + (loads ? " is read (" : " is written (")
            + m_prepared.program.where(operation.location)
            + ") while a product that no wgmma_wait covers adds to it. Wait for the "
              "product first.",
        name, m_turn.agent().step, {},
        m_recorder.description().sourceLine(m_prepared.program, operation.location)));
}

// The two are in order, but the later one is a copy's or a product's.
std::string Findings::uncommittedText(const Race& race, const std::string& name,
                                      const std::string& here, const std::string& there)
{
    const char* const cure = " Call plgpu.commit_smem() between the two.";
    if (race.otherWrites) {
        return name + (race.writes ? " is overwritten (" : " is read (") + here
               + ") after a store (" + there
               + ") that no commit_smem follows: copies and products see stores only after it."
               + cure;
    }
    return name + " is overwritten (" + here + ") after a load (" + there
           + ") that no commit_smem follows: a copy is in order with loads only after it." + cure;
}

} // namespace pallascope::machine
