// Findings of a run: in words, with operand, step and line, and one for each cause.
#pragma once

#include "core/machine/parts/context.h"
#include "core/machine/values/nonfinite.h"
#include "core/trace/findings.h"

#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace pallascope::machine {

// An operation whose result had a NaN (or Inf) while its inputs had none, and how often. All other
// members are of the first time.
struct Birth
{
    const ir::Operation* operation = nullptr;
    bool nan = false;   // otherwise Inf
    bool ofInf = false; // a NaN from inputs some of which are Inf
    trace::OptionalRow<trace::StepRow> step;
    Picoseconds time; // of the first
    // `elements` with NaN or Inf among the `of` elements of its result.
    std::int64_t elements = 0, of = 0;
    std::int64_t count = 0;
};

class Findings
{
public:
    explicit Findings(const Context& context)
        : m_prepared(context.prepared)
        , m_settings(context.settings)
        , m_recorder(context.recorder)
        , m_turn(context.turn)
        , m_ending(context.ending)
        , m_memory(context.memory)
        , m_races(context.races)
        , m_semaphores(context.semaphores)
        , m_detects(context.detects)
    {}

    // Ends the run with this finding; what it has recorded is kept.
    void stop(trace::Finding finding);

    // The end of a sentence that says who called the function at this location; empty if nobody
    // did.
    [[nodiscard]] std::string calledFrom(ir::LocationId location) const;

    // Reports undefined data that decides a branch, an address, a loop or a grid.
    void reportUndefinedUse(const RuntimeValue& value, trace::FindingKind kind,
                            const std::string& what, ir::LocationId location)
    {
        if (!value.shadow.all()) {
            addUndefinedUse(kind, what, location);
        }
    }

    // Notes the first load of each ref that finds undefined elements in its memory.
    void noteUndefinedLoad(const ir::Operation& load, std::int32_t memory);
    void reportUndefinedWrite(const Flight& flight, std::int64_t undefined);
    // Reports undefined elements in an array that the caller gets. `parts` are the parts of the
    // array on each device.
    void reportUndefinedResult(const ir::Argument& argument, std::span<const Memory* const> parts,
                               const Buffer& array);

    // Whether a finding is about a copy whose elements somebody uses without waiting for it.
    [[nodiscard]] bool hasUnorderedCopies() const { return !m_unordered.empty(); }

    // Whether a finding may be the reason why elements of an array are undefined at the end.
    [[nodiscard]] bool mayExplainUndefined(ir::ValueId array) const;

    // findings_order.cpp
    // Reports an access of `name` that nothing orders after another one.
    void reportRace(const Race& race, const std::string& name, const Accessor& accessor);
    // Reports a semaphore that is not 0 when it ends.
    void reportLeftOver(const Semaphore& semaphore);
    // The rule of a barrier that an arrival or a wait at this place breaks ends the run.
    void stopAtBarrier(const Semaphore& barrier, BarrierFault fault, ir::LocationId location);
    // Reports a race in which the tensor core takes part, or a load or store of TMEM that nobody
    // awaits.
    void reportTensorRace(const Race& race, const std::string& name, const Accessor& accessor);
    // Reports a reduction that nothing orders after one by another warpgroup of its block.
    void reportReductionRace(const Race& race, const ir::Operation& operation);
    // Reports an access that nothing orders before the copy of another block that writes there.
    void reportSharedRace(const Race& race, const std::string& name, const Accessor& accessor);
    // Reports an access of another block's memory that nothing orders before the end of that block,
    // or of the scope in it.
    void reportEnded(const Race& race, const std::string& name, ir::LocationId scope);
    // Reports an access of an accumulator to which a product still adds.
    void reportUnfinishedProduct(const ir::Operation& operation);
    // Reports a signal of a semaphore that the agent never had.
    void reportEarly(std::int32_t agent, ir::ValueId ref, std::int64_t amount);
    void reportDeadlock(const std::deque<Agent>& agents, const Slab<Semaphore>& semaphores);

    // findings_unawaited.cpp
    // Reports manual DMA for which nobody has waited when the memory at one of its ends is
    // released. If `startedBy` is given, only copies out of it which that agent has started.
    void reportCutOff(ir::ValueId ref, SlabRange buffers, ir::LocationId scope,
                      std::optional<std::int32_t> startedBy = {});

    // findings_pipeline.cpp
    void reportOutside(const PipelineFrame& frame, const OperandPlan& operand, std::int64_t block,
                       bool out);
    void reportLeaving(const PipelineFrame& frame, const OperandPlan& operand,
                       const std::vector<std::int64_t>& indices, std::int64_t step);
    void reportRevisit(const PipelineFrame& frame, const PipelineOperand& operand,
                       std::int64_t block, std::int32_t slot);
    void reportNotWritten(const PipelineFrame& frame, const PipelineOperand& operand,
                          std::int64_t block, std::int32_t slot);
    void reportNeverAwaited(const PipelineFrame& frame);
    // Reports a load of what an earlier index of a parallel axis has left in scratch or in a block,
    // or a copy of it.
    void reportCarried(ir::ValueId ref, const ir::Operation& reader);
    // Notes which blocks of its outputs an execution has visited. `aliased` are buffers that are
    // also inputs.
    void noteVisited(const PipelineFrame& frame, const std::set<std::int32_t>& aliased);
    // At the end of a run, reports blocks of outputs that no execution of their pipeline has
    // visited.
    void reportNeverWritten();

    // Births are noted only between these two.
    void watchBirths() { m_births.emplace(); }

    void ignoreBirths() { m_births.reset(); }

    [[nodiscard]] bool watchesBirths() const { return m_births.has_value(); }

    // Notes a birth: of NaN, from inputs with or without Inf, or of Inf.
    void noteBirth(const ir::Operation& operation, const RuntimeValue& result,
                   const NonFinite& kind);

    // In the order in which they first occurred.
    [[nodiscard]] const std::vector<Birth>& births() const { return *m_births; }

private:
    // The load that noteUndefinedLoad() is about, and why it finds them as far as that is sure.
    struct UndefinedLoad
    {
        ir::ValueId ref;
        ir::LocationId location;

        enum class Why : std::uint8_t
        {
            NotStored, // nothing has been stored in the memory
            AtEdge,    // the block reaches behind the edge of its array
            Unknown
        } why = Why::Unknown;
    };

    [[nodiscard]] UndefinedLoad::Why whyUndefined(std::int32_t memory) const;
    // The loads of undefined elements on which the contents of a ref depend, in words; empty: none
    // is known.
    [[nodiscard]] std::string undefinedLoadsBehind(ir::ValueId ref) const;
    // `doubtful`: the semaphore on which no wait is sure of the copy, if that is why.
    [[nodiscard]] std::string raceText(const Race& race, const std::string& name,
                                       const Accessor& accessor, bool ofAgents, bool withEnd,
                                       const Semaphore* doubtful,
                                       std::optional<ir::ValueId> barrier) const;
    [[nodiscard]] static std::string uncommittedText(const Race& race, const std::string& name,
                                                     const std::string& here,
                                                     const std::string& there);
    // How to put an access by the agent in order with the one that it races with.
    [[nodiscard]] std::string orderText(std::int32_t agent, const Race& race,
                                        ir::LocationId location) const;
    [[nodiscard]] const Semaphore* doubtfulSemaphore(const Race& race) const;
    [[nodiscard]] bool shareBlock(std::int32_t a, std::int32_t b) const;
    [[nodiscard]] bool isTensorCore(std::int32_t agent) const;
    [[nodiscard]] bool isTensorRace(const Race& race, const Accessor& accessor) const;
    void reportEarlyLoad(const Race& race, const std::string& name, const Accessor& product);

    // Where a copy that arrives on a barrier starts, and the name of that barrier.
    struct BarrierCopy
    {
        ir::LocationId location;
        std::string barrier;
    };

    [[nodiscard]] std::optional<BarrierCopy> copyOfEarlyRead(const Race& race,
                                                             const Accessor& accessor);
    void reportEarlyRead(const Race& race, const std::string& name, const Accessor& accessor,
                         const BarrierCopy& copy);
    [[nodiscard]] const std::map<std::int32_t, ir::ValueId>& copyBarriers();
    [[nodiscard]] std::optional<ir::ValueId> barrierOf(const Race& race);
    void reportPending(const Semaphore& barrier, const std::string& name);
    [[nodiscard]] bool isOfDoubt(const Race& copy) const;
    [[nodiscard]] bool addToDoubt(const Semaphore& semaphore, const std::string& name);
    void reportFreed(const Race& copy, const std::string& name, ir::LocationId scope);
    void addUndefinedUse(trace::FindingKind kind, const std::string& what, ir::LocationId location);
    // The line of a finding about a race, unless it is known or counts as an earlier one again.
    [[nodiscard]] std::optional<trace::SourceLine>
    lineOfNew(trace::FindingKind kind, const Race& race, const std::string& name,
              const Accessor& accessor, ir::LocationId at);
    [[nodiscard]] std::string placeText(ir::LocationId at) const;
    [[nodiscard]] bool isExplained(const Race& race, const std::string& name,
                                   trace::OptionalRow<trace::CopyRow> copy,
                                   ir::LocationId location);
    [[nodiscard]] bool isExplained(const Semaphore& semaphore) const;
    // Whether a finding about order is about what stands at this place.
    [[nodiscard]] bool isUnorderedAt(ir::LocationId location) const;
    // Whether a race is one with the end of a kernel, as Accesses::endKernel reports it.
    [[nodiscard]] bool isWithKernelEnd(const Race& race);
    // Whether what an array holds may come from one of these refs.
    template<class F>
    [[nodiscard]] bool comesFrom(ir::ValueId array, F isOne) const;
    [[nodiscard]] bool isOnlyChosen(ir::ValueId value);
    void explain(const PipelineOperand& operand, std::int32_t slot);
    void reportOperand(const OperandPlan& plan, trace::FindingKind kind, std::string sentence,
                       trace::OptionalRow<trace::StepRow> step,
                       trace::OptionalRow<trace::StepRow> related, std::int64_t count,
                       ir::LocationId location);

    const Prepared& m_prepared;
    const Settings& m_settings;
    Recorder& m_recorder;
    const Turn& m_turn;
    Ending& m_ending;
    Slab<Memory>& m_memory;
    const Races& m_races;
    const Slab<Semaphore>& m_semaphores;
    bool m_detects;

    // An output of a pipeline: the operation, its operand, the array's buffer, and the place in it.
    using VisitedKey = std::tuple<std::int32_t, std::size_t, std::int32_t, std::int64_t>;

    struct Visited
    {
        const OperandPlan* plan = nullptr;
        const ir::Operation* pipeline = nullptr;
        std::vector<bool> blocks; // over all executions on all cores; empty: their grids differ
    };

    std::map<VisitedKey, Visited> m_visited;
    std::set<trace::CopyRow> m_unordered; // copies that a finding is about
    // Pairs of locations that a finding is about.
    std::set<std::pair<std::int32_t, std::int32_t>> m_unorderedPlaces;
    std::set<std::string> m_unorderedNames;           // of the refs there
    std::optional<std::set<std::int32_t>> m_coreMaps; // their locations; set when first asked for
    // By location: on which barrier the copy arrives that starts there; set when first asked for.
    std::optional<std::map<std::int32_t, ir::ValueId>> m_copyBarriers;
    std::set<ir::ValueId> m_unawaitedBarriers; // at which a finding says that a wait is missing

    // A finding that calls the waits on a semaphore unsure.
    struct Doubt
    {
        trace::FindingKind kind = trace::FindingKind::ReadBeforeWait;
        std::string operand;
        trace::SourceLine source;
        auto operator<=>(const Doubt&) const = default;
    };

    std::map<trace::SemaphoreRow, Doubt> m_doubtful;
    std::set<Doubt> m_leftInDoubt; // that say how many bytes are left
    // Blocks of outputs about which a finding says why they may be undefined.
    std::set<ir::ValueId> m_explained;
    std::set<ir::ValueId> m_writtenUndefined;    // blocks that were written back with such elements
    std::vector<UndefinedLoad> m_undefinedLoads; // the first of each ref, by age
    // The last one of a value that may decide what happens, so that it is the same in every run;
    // without `why`. No ref: there was none.
    UndefinedLoad m_lastUndefined;
    // The first branch that each ref decides.
    std::map<ir::ValueId, ir::LocationId> m_undefinedBranches;
    std::optional<NeededSet> m_deciding;        // set when the first one is noted
    bool m_leavesCopies = false;                // some copies are never waited for
    std::map<ir::ValueId, bool> m_onlyChosen;   // what is known of values by now
    std::set<ir::ValueId> m_carried;            // roots of refs that a finding is about
    std::set<trace::CopyRow> m_neverAwaited;    // that a semaphore counts when it is left over
    std::optional<std::vector<Birth>> m_births; // set if they are watched
};

} // namespace pallascope::machine
