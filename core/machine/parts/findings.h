// Bugs of a program as they are found: in words, with operand, step and line, and each cause once.
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

// An operation whose result had a NaN (or Inf) while its inputs had none, and how often; the other
// figures are of the first time.
struct Birth
{
    const ir::Operation* operation = nullptr;
    bool nan = false;   // else Inf
    bool ofInf = false; // a NaN of inputs of which some are Inf
    std::int64_t step = -1;
    std::int64_t elements = 0, of = 0; // of its result
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
        , m_detects(context.detects)
    {}

    // The run ends here, with what it has recorded.
    void stop(trace::Finding finding);

    // A sentence that names who called the function at a place, or nothing.
    [[nodiscard]] std::string calledFrom(ir::LocationId location) const;

    // A branch, an address, a loop or a grid that undefined data decides.
    void reportUndefinedUse(const RuntimeValue& value, trace::FindingKind kind,
                            const std::string& what, ir::LocationId location)
    {
        if (!value.shadow.all()) {
            addUndefinedUse(kind, what, location);
        }
    }

    void reportUndefinedWrite(const Flight& flight, std::int64_t undefined);
    // What the caller gets undefined elements in. `parts`: of the array, on each device.
    void reportUndefinedResult(const ir::Argument& argument, std::span<const Memory* const> parts,
                               const Buffer& array);

    // A finding may be the reason of whatever is undefined at the end.
    [[nodiscard]] bool mayExplainUndefined() const
    {
        return !m_unordered.empty() || !m_unorderedPlaces.empty() || m_leavesCopies;
    }

    // findings_order.cpp
    // An access that nothing orders after another one; `copy` is that which makes it.
    void reportRace(const Race& race, const std::string& name, std::optional<std::int32_t> copy,
                    std::int32_t step, ir::LocationId location);
    // Copies by hand that nobody has waited for when the memory at one of their ends goes.
    void reportCutOff(ir::ValueId ref, SlabRange buffers, ir::LocationId scope);
    // A semaphore that goes and is not 0.
    void reportLeftOver(const Semaphore& semaphore);
    // A signal of a semaphore that the agent never had.
    void reportEarly(std::int32_t agent, ir::ValueId ref, std::int64_t amount);
    void reportDeadlock(const std::deque<Agent>& agents, const Slab<Semaphore>& semaphores);

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
    // Which blocks of its outputs an execution has visited; `aliased`: buffers of inputs too.
    void noteVisited(const PipelineFrame& frame, const std::set<std::int32_t>& aliased);
    // Of a run that has ended: blocks of outputs that no execution of their pipeline visited.
    void reportNeverWritten();

    // Births are noted when somebody watches them.
    void watchBirths() { m_births.emplace(); }

    [[nodiscard]] bool watchesBirths() const { return m_births.has_value(); }

    // Of NaN, of inputs with or without Inf, or one of Inf.
    void noteBirth(const ir::Operation& operation, const RuntimeValue& result,
                   const NonFinite& kind);

    // In the order of their first times.
    [[nodiscard]] const std::vector<Birth>& births() const { return *m_births; }

private:
    void addUndefinedUse(trace::FindingKind kind, const std::string& what, ir::LocationId location);
    [[nodiscard]] bool isExplained(const Race& race, std::optional<std::int32_t> copy,
                                   ir::LocationId location);
    [[nodiscard]] bool isExplained(const Semaphore& semaphore) const;
    void explain(const PipelineOperand& operand, std::int32_t slot);
    void reportOperand(const OperandPlan& plan, trace::FindingKind kind, std::string sentence,
                       std::int32_t step, std::optional<std::int64_t> related, std::int64_t count,
                       ir::LocationId location);

    const Prepared& m_prepared;
    const Settings& m_settings;
    Recorder& m_recorder;
    const Turn& m_turn;
    Ending& m_ending;
    Slab<Memory>& m_memory;
    const Races& m_races;
    bool m_detects;

    // Of an output of a pipeline: the operation, its operand, the array's buffer and where in it.
    using VisitedKey = std::tuple<std::int32_t, std::size_t, std::int32_t, std::int64_t>;

    struct Visited
    {
        const OperandPlan* plan = nullptr;
        const ir::Operation* pipeline = nullptr;
        std::vector<bool> blocks; // over all executions, on all cores; none: they have other grids
    };

    std::map<VisitedKey, Visited> m_visited;
    std::set<std::int32_t> m_unordered; // copies that a finding is about, rows of trace::Copies
    std::set<std::pair<std::int32_t, std::int32_t>> m_unorderedPlaces; // two locations each
    bool m_leavesCopies = false;                                       // that nobody waits for
    std::set<std::int32_t> m_neverAwaited; // of these, those that their semaphores have counted
    std::optional<std::vector<Birth>> m_births; // where they are watched
};

} // namespace pallascope::machine
