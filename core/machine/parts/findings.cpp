#include "core/machine/parts/findings.h"

#include "core/base/format.h"

#include <algorithm>

namespace pallascope::machine {

void Findings::stop(trace::Finding finding)
{
    m_ending.stop(finding.kind);
    m_recorder.addFinding(std::move(finding));
}

std::string Findings::calledFrom(ir::LocationId location) const
{
    const std::string callers = m_prepared.program.callersOf(location);
    return callers.empty() ? "" : " That line is" + callers.substr(1) + ".";
}

void Findings::addUndefinedUse(trace::FindingKind kind, const std::string& what,
                               ir::LocationId location)
{
    const ir::ValueId cause = m_lastUndefined.ref;
    if (kind == trace::FindingKind::UndefinedBranch && cause.index >= 0
        && m_undefinedBranches.emplace(cause, location).first->second != location) {
        return; // one flag decides several branches
    }
    m_recorder.addFinding(
        trace::found(kind,
                     what + " is decided by an undefined value"
                         + (m_lastUndefined.ref.index < 0
                                ? "."
                                : ". " + m_prepared.refName(m_lastUndefined.ref)
                                      + " is the last ref that was read with undefined elements ("
                                      + placeText(m_lastUndefined.location) + ").")
                         + calledFrom(location),
                     "", m_turn.agent().step, {},
                     m_recorder.description().sourceLine(m_prepared.program, location)));
}

void Findings::noteUndefinedLoad(const ir::Operation& load, std::int32_t memory)
{
    const ir::ValueId ref = m_prepared.rootOf(load.operands[0]);
    if (!m_deciding) {
        m_deciding = NeededSet::of(m_prepared.program);
    }
    if (m_deciding->needs(load.results[0])) {
        m_lastUndefined = {ref, load.location};
    }
    const auto known = std::find_if(m_undefinedLoads.begin(), m_undefinedLoads.end(),
                                    [&](const UndefinedLoad& one) { return one.ref == ref; });
    if (known == m_undefinedLoads.end()) {
        m_undefinedLoads.push_back({ref, load.location, whyUndefined(memory)});
    }
}

Findings::UndefinedLoad::Why Findings::whyUndefined(std::int32_t memory) const
{
    for (const Frame& frame : m_turn.agent().frames) {
        const auto* pipeline = std::get_if<PipelineFrame>(&frame);
        if (pipeline == nullptr) {
            continue;
        }
        for (const PipelineOperand& operand : pipeline->operands) {
            const auto slot = static_cast<std::size_t>(memory - operand.firstSlot);
            if (memory < operand.firstSlot || slot >= operand.inCopyOfSlot.size()
                || operand.plan->facts.inCount == 0) {
                continue;
            }
            const Box box = operand.plan->box(operand.inCopyOfSlot[slot].block);
            return Shape(box.size).elements() < operand.plan->blockShape.elements()
                       ? UndefinedLoad::Why::AtEdge
                       : UndefinedLoad::Why::Unknown;
        }
    }
    return m_memory[memory].holds == Memory::Holds::Nothing ? UndefinedLoad::Why::NotStored
                                                            : UndefinedLoad::Why::Unknown;
}

// Undefined elements that were stored come from such a load before, so the first one on which the
// ref depends is always one of the reasons.
std::string Findings::undefinedLoadsBehind(ir::ValueId ref) const
{
    using Why = UndefinedLoad::Why;
    if (m_undefinedLoads.empty()) {
        return "";
    }
    const NeededSet sources = NeededSet::ofContents(m_prepared.program, ref);
    std::vector<const UndefinedLoad*> behind;
    for (const UndefinedLoad& load : m_undefinedLoads) {
        const bool isSure = load.why != Why::Unknown;
        if (sources.needsContents(load.ref) && (behind.empty() || isSure)) {
            behind.push_back(&load);
        }
    }
    constexpr std::size_t kMost = 3;
    std::string text;
    for (std::size_t i = 0; i < std::min(behind.size(), kMost); ++i) {
        const UndefinedLoad& load = *behind[i];
        text += (i == 0 ? "" : ", and on ") + m_prepared.refName(load.ref)
                + (load.why == Why::NotStored ? ", which is read where nothing has been stored ("
                   : load.why == Why::AtEdge  ? ", which is read behind the edge of its array ("
                                              : ", which is read with undefined elements (")
                + placeText(load.location) + ")";
    }
    return text;
}

void Findings::reportUndefinedWrite(const Flight& flight, std::int64_t undefined)
{
    const OperandPlan& operand = *flight.operand;
    m_memory[flight.array.buffer].explained = true;
    m_writtenUndefined.insert(operand.blockRef);
    // Storing a value that was read too early adds nothing to the race that is reported at that
    // line.
    if (flight.explained || isUnorderedAt(flight.location)) {
        return;
    }
    const std::int64_t all = Shape(operand.box(flight.block).size).elements();
    const bool stored = flight.location.index >= 0;
    const ir::LocationId location = stored ? flight.location : operand.spec->location;
    const trace::SourceLine source =
        m_recorder.description().sourceLine(m_prepared.program, location);
    constexpr trace::FindingKind kKind = trace::FindingKind::UndefinedWrittenBack;
    if (m_recorder.countsAgain(trace::findingEntry(kKind).name, operand.spec->name, source)) {
        return;
    }
    const std::string behind = stored ? undefinedLoadsBehind(operand.blockRef) : "";
    trace::Finding finding =
        trace::found(kKind,
                     operand.blockName(flight.block) + " is written back with "
                         + countText(undefined) + " of " + countText(all) + " elements undefined: "
                         + (!stored          ? "nothing is stored there."
                            : behind.empty() ? "what is stored there comes from memory that nobody "
                                               "wrote, or from behind the edge of an array."
                                             : "what is stored there depends on " + behind + ".")
                         + calledFrom(location),
                     operand.spec->name, flight.step, {}, source);
    finding.time = flight.end; // copies may be looked at later
    m_recorder.addFinding(std::move(finding));
}

namespace {

// How undefined elements came to an array by what the program does at a place.
std::string howStored(const ir::Program& program, ir::LocationId at)
{
    bool byCopy = false, byAtomic = false, byStore = false, adds = false;
    forEachOperation(program.body, [&](const ir::Operation& operation) {
        if (operation.location == at) {
            byCopy =
                byCopy || ir::startsCopy(operation.code) || operation.code == ir::OpCode::Pipeline;
            byAtomic = byAtomic || ir::isAtomic(operation.code);
            byStore = byStore || ir::storesInto(operation.code);
            const auto* store = std::get_if<ir::StoreCopyParams>(&operation.params);
            adds = adds || (store != nullptr && store->reduction != ir::AtomicType::Xchg);
        }
    });
    return byAtomic  ? "an atomic operation makes them of something undefined."
           : byStore ? "a store writes something undefined there."
           : adds    ? "what a copy combines there is undefined."
           : byCopy  ? "what a copy brings there is undefined."
                     : "what is written there is undefined.";
}

} // namespace

template<class F>
bool Findings::comesFrom(ir::ValueId array, F isOne) const
{
    const NeededSet sources = NeededSet::ofContents(m_prepared.program, array);
    for (std::size_t i = 0; i < m_prepared.program.values.size(); ++i) {
        const ir::ValueId value{static_cast<std::int32_t>(i)};
        if (m_prepared.program.type(value).isRef() && sources.needsContents(value)
            && isOne(value)) {
            return true;
        }
    }
    return false;
}

bool Findings::mayExplainUndefined(ir::ValueId array) const
{
    const bool isUnordered = !m_unordered.empty() || !m_unorderedPlaces.empty();
    if (m_leavesCopies || (isUnordered && m_prepared.layout.devices > 1)) {
        return true;
    }
    if (!isUnordered && m_explained.empty()) {
        return false;
    }
    return comesFrom(array, [&](ir::ValueId ref) {
        return m_explained.contains(ref) || m_unorderedNames.contains(m_prepared.refName(ref));
    });
}

void Findings::reportUndefinedResult(const ir::Argument& argument,
                                     std::span<const Memory* const> parts, const Buffer& array)
{
    ir::LocationId brought;
    std::optional<ir::LocationId> undefinedBy;
    bool explained = false;
    for (const Memory* part : parts) {
        explained = explained || part->explained;
        brought = part->broughtBy.index >= 0 ? part->broughtBy : brought;
        undefinedBy = part->undefinedBy ? part->undefinedBy : undefinedBy;
    }
    const bool isStored = undefinedBy.has_value();
    // What passes on a block that was written back undefined adds nothing to the finding about it.
    explained = explained || (isStored && comesFrom(argument.ref, [&](ir::ValueId ref) {
                                  return m_writtenUndefined.contains(ref);
                              }));
    const std::int64_t undefined = explained ? 0 : array.undefinedCount();
    if (undefined == 0) { // or a finding says why
        return;
    }
    const ir::LocationId location = undefinedBy.value_or(brought);
    const std::string behind = isStored ? undefinedLoadsBehind(argument.ref) : "";
    m_recorder.addFinding(trace::found(
        trace::FindingKind::UndefinedResult,
        argument.name + " ends with " + countText(undefined) + " of "
            + countText(array.shape().elements()) + " elements undefined: "
            + (isStored ? howStored(m_prepared.program, location)
                              + (behind.empty() ? "" : " It depends on " + behind + ".")
               : brought.index >= 0
                   ? "no copy reaches them; this is the last one to " + argument.name + "."
                   : "nothing writes to them.")
            + calledFrom(location),
        argument.name, {}, {}, m_recorder.description().sourceLine(m_prepared.program, location),
        undefined));
}

void Findings::noteBirth(const ir::Operation& operation, const RuntimeValue& result,
                         const NonFinite& kind)
{
    const bool nan = kind.nan;
    const auto same = [&](const Birth& birth) {
        return birth.operation == &operation && birth.nan == nan;
    };
    const auto known = std::find_if(m_births->begin(), m_births->end(), same);
    if (known != m_births->end()) {
        ++known->count;
        return;
    }
    m_births->push_back({&operation, nan, nan && kind.inf, m_turn.agent().step, m_turn.agent().time,
                         countNonFinite(result, nan), result.elements(), 1});
}

} // namespace pallascope::machine
