// The deterministic engine: agents interpret the plan with explicit frames, links serve copies in
// issue order, everything is recorded. Internal to core/machine; run.h is the way in.
#pragma once

#include "core/base/result.h"
#include "core/machine/prepare/pipeline_rules.h"
#include "core/machine/prepare/prepared.h"
#include "core/machine/record/recorder.h"
#include "core/machine/run.h"
#include "core/machine/state/state.h"
#include "core/machine/values/nonfinite.h"

#include <chrono>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
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

// Where a run pauses: when it has so many events, or before anything begins, or retires, later.
struct Until
{
    std::int64_t events = std::numeric_limits<std::int64_t>::max();
    Picoseconds time{std::numeric_limits<std::int64_t>::max()};
};

// Moves a grid point to a step; steps count in lexicographic order, and mostly it is the next one.
void moveTo(GridPoint& at, const std::vector<Extent>& grid, std::int64_t step);

class Engine
{
public:
    // Both outlive the engine.
    Engine(const Prepared& prepared, const Options& options, Keeps keeps);

    // Binds the program's arguments; the error names an input whose values are needed and missing.
    [[nodiscard]] Status bind(const std::vector<Array>& inputs);

    // Goes on to there, or to the end. A program that cannot go on (a deadlock) ends with a
    // finding, and the run with it.
    [[nodiscard]] Status execute(Until until = {});
    // The outputs (with values full).
    [[nodiscard]] std::vector<Array> outputs();

    // Execution ended with a finding before the program did.
    [[nodiscard]] bool hasStopped() const { return m_state.stopped; }

    [[nodiscard]] bool hasEnded() const { return m_end.has_value(); }

    // Tells the recorder, once the run has ended, which elements its Indirect blocks were.
    void recordLists();
    // Of a run that has ended: blocks of outputs that no execution of their pipeline visited.
    void reportNeverWritten();
    void reportUndefinedResults(); // after that

    // The first output with a defined element that is NaN or Inf.
    [[nodiscard]] std::optional<std::string> nonFiniteOutput();

    // Looks at every operation for births, which is slow. To be asked for before execute().
    void watchBirths() { m_births.emplace(); }

    // In the order of their first times.
    [[nodiscard]] const std::vector<Birth>& births() const { return *m_births; }

    // A sentence that names who called the function at a place, or nothing.
    [[nodiscard]] std::string calledFrom(ir::LocationId location) const;

    [[nodiscard]] Recorder& recorder() { return m_recorder; }

    [[nodiscard]] const Recorder& recorder() const { return m_recorder; }

    [[nodiscard]] Picoseconds end() const { return *m_end; }

    [[nodiscard]] const State& state() const { return m_state; }

    // checkpoint.cpp
    // All that the run goes on from.
    struct Checkpoint
    {
        State state;          // large buffers folded
        std::size_t turn = 0; // agent
        Recorder::Position position;
        Picoseconds time;
    };

    [[nodiscard]] Checkpoint save();
    void restore(const Checkpoint& checkpoint);

    // The time of what was done last: agents take turns in the order of their times.
    [[nodiscard]] Picoseconds now() const;

    // What look(state) sees once the copies that ended by now have landed; the run stays as it is.
    template<class F>
    auto look(F look)
    {
        const std::size_t agent = turnOf();
        const State before = m_state;
        land(now());
        auto seen = look(std::as_const(m_state));
        m_state = before;
        m_agent = &m_state.agents[agent];
        return seen;
    }

private:
    void fail(Error error);
    [[nodiscard]] static Error tooLong(); // the run's clock does not hold when it would end
    void stop(trace::Finding finding);    // the run ends here, with what it has recorded

    // engine.cpp
    [[nodiscard]] Agent* next();
    void turn();
    void advance();
    void finish();
    [[nodiscard]] std::size_t turnOf() const; // the agent whose turn it was last
    void close(const Agent& agent);
    [[nodiscard]] bool mayGoOn(); // within the limits, and not cancelled
    void runBlock();
    void runScan();
    void runWhile();
    void enterControl(const PlanItem& item);
    void enterScope(const PlanItem& item);
    void allocate(const std::vector<ir::ValueId>& refs, Owned& owned);
    void release(const Owned& owned);
    void reportCutOff(ir::ValueId ref, SlabRange buffers, ir::LocationId scope);
    void assign(const std::vector<ir::ValueId>& to, const std::vector<ir::ValueId>& from,
                std::size_t skip);

    // The run is to pause here.
    [[nodiscard]] bool pauses() const
    {
        return m_paused || m_recorder.position().events >= m_until.events;
    }

    // Another agent or event comes first.
    [[nodiscard]] bool isOvertaken() const { return m_agent->time >= m_horizon; }

    [[nodiscard]] bool yields() const { return isOvertaken() || pauses(); }

    [[nodiscard]] RuntimeValue& value(ir::ValueId id) { return m_agent->values[m_slots.of(id)]; }

    [[nodiscard]] RefBinding& binding(ir::ValueId ref) { return m_agent->refs[m_slots.of(ref)]; }

    [[nodiscard]] Buffer undefined(DType dtype, Shape shape) const // nothing in it is defined
    {
        return {dtype, std::move(shape), m_options.settings.uninitializedMemory};
    }

    [[nodiscard]] Buffer& buffer(std::int32_t index) { return m_state.memory[index].contents; }

    // An int32 scalar as a number.
    [[nodiscard]] std::int64_t number(ir::ValueId id)
    {
        return static_cast<std::int64_t>(value(id).scalar);
    }

    // segments.cpp
    [[nodiscard]] bool runSegment(const PlanItem& item, std::int32_t& done);
    void runOperations(std::span<const Evaluation> evaluate, std::span<const PlanAccess> accesses);
    [[nodiscard]] std::int32_t reachable(const PlanItem& item, std::int32_t done) const;
    void execute(const Evaluation& evaluation);
    void debug(const Evaluation& evaluation);
    void evaluateNow(const Evaluation& evaluation);
    [[nodiscard]] bool addProduct(const Evaluation& evaluation);
    void release(const ir::Operation& operation, std::uint32_t dying);
    void noteBirth(const ir::Operation& operation, const RuntimeValue& result,
                   const NonFinite& kind);
    void bindView(const ir::Operation& operation);
    [[nodiscard]] bool isCut(const ir::Operation& view, const RefBinding& ref, const Shape& memory);
    void checkRace(ir::ValueId ref, const ir::Operation& operation, bool writes,
                   const RefBinding& where);

    // access.cpp
    // Where a get, swap or ref_at reaches in its ref.
    struct Reached
    {
        struct Clipped
        {
            Shape shape;        // of all that is accessed
            StridedView part;   // the part inside, within that
            bool empty = false; // there is no such part
        };

        RefBinding where;                 // its part inside the ref
        std::unique_ptr<Clipped> clipped; // where some of it is outside
    };

    // Nothing when the run stops there.
    [[nodiscard]] std::optional<Reached> reach(const ir::Operation& operation);
    [[nodiscard]] std::optional<Reached> reachInside(const ir::Operation& operation,
                                                     const RefBinding& ref, const Shape& memory,
                                                     bool reaches);
    [[nodiscard]] std::optional<std::int64_t> elementOf(const ir::Operation& get);
    [[nodiscard]] bool isPadding(const ir::Operation& operation, const Shape& extents,
                                 std::size_t axis, std::int64_t last) const;
    [[nodiscard]] bool stopsOutside(const ir::Operation& operation) const;
    [[nodiscard]] bool leavesRef(const ir::Operation& operation, std::size_t axis,
                                 std::int64_t start, std::int64_t last, std::int64_t extent);
    [[nodiscard]] static RuntimeValue loadAt(const Reached& reached, const Buffer& memory);
    static void storeAt(const Reached& reached, Buffer& memory, RuntimeValue value);
    void access(const Evaluation& evaluation);
    void noteStored(const RefBinding& ref, const RuntimeValue& value, ir::LocationId location);
    void maskedLoad(const ir::Operation& operation);
    void maskedSwap(const ir::Operation& operation);
    // listed_elements.cpp
    void accessListed(const Evaluation& evaluation);
    [[nodiscard]] std::optional<RefBinding> listedElement(const ir::Operation& operation,
                                                          std::size_t first, std::int64_t lane);
    [[nodiscard]] const Shape& memoryShape(ir::ValueId ref);

    // flights.cpp
    void land(Picoseconds until);
    void read(Flight& flight);
    [[nodiscard]] std::int64_t pasteBlock(const Flight& flight);
    [[nodiscard]] Buffer cutBlock(const OperandPlan& operand, const RefBinding& array,
                                  std::int64_t block);
    void write(Flight& flight);
    void writeRows(Flight& flight);
    void put(const RefBinding& to, RuntimeValue elements, bool adds);
    void dropFlights(SlabRange buffers);
    [[nodiscard]] bool isOnItsWay(std::int32_t buffer) const;
    [[nodiscard]] Flight& newFlight(std::int32_t link);
    void launch(Flight& flight);
    void landHeld(std::int32_t copy);
    void landHeld(Semaphore& semaphore, std::int64_t bytes, std::int32_t agent);
    void awaitCertain(Semaphore& semaphore, std::int64_t bytes, std::int32_t agent);

    // hand_copies.cpp
    struct HandCopy;
    void startDma(const ir::Operation& operation);
    [[nodiscard]] bool locate(HandCopy& copy);
    [[nodiscard]] bool serve(HandCopy& copy);
    [[nodiscard]] Access accessOf(const HandCopy& copy, bool writes);
    void signalEnds(const HandCopy& copy);
    // The rows that a copy lists, those of either end; nothing where the run ends with a finding.
    using Rows = std::vector<std::pair<RefBinding, RefBinding>>;
    [[nodiscard]] std::optional<Rows>
    listedRows(const ir::Operation& operation, const RefBinding& source, const RefBinding& target);
    void dropPadding(ir::ValueId from, ir::ValueId to, RefBinding& source, RefBinding& target);
    void waitForDma(const ir::Operation& operation);

    // sync.cpp
    void runSync(const PlanItem& item);
    void signalByHand(const ir::Operation& operation);
    void wait(const ir::Operation& operation, std::int32_t semaphore, std::int64_t amount,
              bool decrement);
    [[nodiscard]] bool take(Agent& agent, const Waiting& waiting);
    void add(std::int32_t semaphore, std::int64_t amount, Picoseconds at);
    void deliver(const Signal& signal);
    void delay(const ir::Operation& operation);
    [[nodiscard]] std::int32_t semaphoreOf(const Agent& agent, ir::ValueId ref) const;

    // semaphores.cpp
    void allocateSemaphores(ir::ValueId ref, Owned& owned);
    void bindBarrier(const ir::Operation& operation);
    [[nodiscard]] std::int32_t barrier(std::int32_t collectiveId, std::int32_t agent);
    [[nodiscard]] bool isExplained(const Semaphore& semaphore) const;
    void closeSemaphores(SlabRange semaphores);

    // fusion.cpp
    [[nodiscard]] bool beginStreams(const PlanItem& item, BlockFrame& frame);
    void endStreams(const PlanItem& item, BlockFrame& frame);

    // matrix_unit.cpp
    void pushRhs(const ir::Operation& operation);
    void accumulate(const PlanItem& item);
    void pop(const ir::Operation& operation);
    void popFirst(const ir::Operation& operation);
    [[nodiscard]] Agent& unitAt(std::int32_t mxu);
    [[nodiscard]] Memory& accumulator(ir::ValueId ref);

    // cores.cpp
    void enterCores(const PlanItem& item);
    void dispatch(const PlanItem& item);
    void joinCores();
    void joinOthers();
    void joinSlots();
    void wakeJoining();
    [[nodiscard]] Picoseconds awaitEnd(Picoseconds end);

    void shareGrid(PipelineFrame& frame) const;
    void reportEarly(std::int32_t first, std::int32_t count);

    // devices.cpp
    void addAgents();
    void addLinks();
    void begin();
    [[nodiscard]] Buffer partOf(const ir::Argument& argument, const Array& array) const;
    [[nodiscard]] Buffer whole(const ir::Argument& argument);
    [[nodiscard]] std::int64_t axisIndex(const ir::Operation& operation) const;
    [[nodiscard]] Agent* peerOf(const ir::Operation& operation, bool named, std::size_t operand);
    [[nodiscard]] Agent& firstOf(std::int32_t device); // which runs what is in no core_map
    [[nodiscard]] Agent& agentAt(std::int32_t device, std::int32_t kind, std::int32_t slot,
                                 std::int32_t core);
    [[nodiscard]] std::int32_t rootAt(const Agent& agent, ir::ValueId ref) const;
    [[nodiscard]] std::int32_t semaphoreAt(const Agent& agent, ir::ValueId ref);
    [[nodiscard]] bool comesLater(const Agent& peer, const ir::Operation& dmaStart);
    void checkEntry(const HandCopy& copy);
    void forgetBindings(SlabRange buffers);

    [[nodiscard]] bool isWritten(ir::ValueId ref) const // by anything in the program
    {
        return m_uses.written[static_cast<std::size_t>(m_needed.root(ref).index)];
    }

    // Semaphores remember the copies that will signal them: a wait does those, or other devices may
    // have started some that it cannot tell apart.
    [[nodiscard]] bool holdsCopies() const
    {
        const DmaMode mode = m_options.settings.dmaExecutionMode;
        return mode == DmaMode::OnWait || (mode == DmaMode::Timed && m_layout.devices > 1);
    }

    // A link of this device, as its number in State::links and a row of trace::Links.
    [[nodiscard]] std::int32_t linkHere(std::int32_t link) const
    {
        return m_agent->device * m_recorder.description().linksPerDevice() + link;
    }

    // pipeline.cpp
    void enterPipeline(const PlanItem& item);
    [[nodiscard]] bool takeGrid(PipelineFrame& frame, const ir::Operation& operation);
    [[nodiscard]] bool isLive(const BlockMap& map);
    [[nodiscard]] const OperandPlan* operandPlan(const ir::Operation& pipeline,
                                                 std::size_t operand); // null: the run fails
    void runPipeline();
    void bringTrivial(PipelineFrame& frame);
    void prologue(PipelineFrame& frame);
    void fetch(PipelineFrame& frame, std::size_t operand, std::int64_t block, bool prefetched);
    void lookAhead(PipelineFrame& frame, std::size_t operand, std::int64_t most);
    [[nodiscard]] StepActions actionsAt(PipelineFrame& frame, std::size_t operand);
    [[nodiscard]] StepActions actionsNow(PipelineFrame& frame, std::size_t operand);
    void beginStep(PipelineFrame& frame);
    void copyIn(PipelineFrame& frame);
    void waitIn(PipelineFrame& frame);
    void enterBody(PipelineFrame& frame);
    void passOverhead(PipelineFrame& frame);
    void copyOut(PipelineFrame& frame);
    void waitOut(PipelineFrame& frame);
    void endStep(PipelineFrame& frame);
    void drain(PipelineFrame& frame);
    void takeTrivial(PipelineFrame& frame);
    void endPipeline(PipelineFrame& frame);
    void awaitOut(PipelineFrame& frame, PipelineOperand& operand);
    void bindBlock(PipelineFrame& frame, std::size_t operand);
    void visit(PipelineFrame& frame, std::size_t operand, std::int64_t block, std::int32_t slot);

    // pipeline_blocks.cpp
    [[nodiscard]] RuntimeValue loadIndex(const ir::Operation& get,
                                         std::span<const std::int64_t> indices);
    [[nodiscard]] std::int64_t lookUpBlock(PipelineFrame& frame, std::size_t operand,
                                           std::int64_t step);

    [[nodiscard]] std::int64_t blockAt(PipelineFrame& frame, std::size_t operand, std::int64_t step)
    {
        const PipelineFrame::Looked& looked = frame.lookedAt(operand, step);
        return looked.step == step ? looked.block : lookUpBlock(frame, operand, step);
    }

    std::int32_t startCopy(PipelineFrame& frame, std::size_t operand, std::int64_t block,
                           std::int32_t slot, bool out);
    void fillSlot(PipelineFrame& frame, std::size_t operand, std::int64_t block, std::int32_t slot);
    void waitFor(const PipelineOperand& operand, std::int32_t slot, bool out, std::int32_t row);
    void checkCut(const PipelineFrame& frame, const PipelineOperand& operand, std::int64_t block);
    void stopWaiting(const PipelineOperand& operand, bool out, std::int32_t row);
    void checkOverlap(const PipelineOperand& operand, std::int64_t block, std::int32_t slot,
                      bool out, std::int32_t copy, std::int32_t row);

    // findings.cpp
    [[nodiscard]] ir::ValueId rootOf(ir::ValueId ref) const; // that it is a view of, or itself
    [[nodiscard]] std::string refName(ir::ValueId ref) const;
    void reportUndefinedWrite(const Flight& flight, std::int64_t undefined);
    void reportUndefinedUse(const RuntimeValue& value, const char* kind, const std::string& what,
                            ir::LocationId location);
    void reportOperand(const OperandPlan& plan, std::string kind, std::string sentence,
                       std::int32_t step, std::optional<std::int64_t> related, std::int64_t count,
                       ir::LocationId location);
    void explain(const PipelineOperand& operand, std::int32_t slot);
    void reportRevisit(const PipelineFrame& frame, const PipelineOperand& operand,
                       std::int64_t block, std::int32_t slot);
    void reportNotWritten(const PipelineFrame& frame, const PipelineOperand& operand,
                          std::int64_t block, std::int32_t slot);
    void reportOutside(const PipelineFrame& frame, const OperandPlan& operand, std::int64_t block,
                       bool out);
    void reportLeaving(const PipelineFrame& frame, const OperandPlan& operand,
                       const std::vector<std::int64_t>& indices, std::int64_t step);
    [[nodiscard]] bool isExplained(const Race& race, std::optional<std::int32_t> copy,
                                   ir::LocationId location);
    void noteVisited(const PipelineFrame& frame);
    void reportNeverAwaited(const PipelineFrame& frame);
    void reportDeadlock();
    void reportRace(const Race& race, const std::string& name, std::optional<std::int32_t> copy,
                    std::int32_t step, ir::LocationId location);

    const ir::Program& m_program;
    const chip::Chip& m_chip;
    const Options& m_options;
    const NeededSet& m_needed;
    const Slots& m_slots;
    const Constants& m_constants;
    const RefUses& m_uses;
    const AgentLayout& m_layout;
    const Plan& m_plan;
    const OperandPlans& m_operandPlans;
    Recorder m_recorder;
    State m_state;
    Agent* m_agent = nullptr; // whose turn it is
    Picoseconds m_horizon;    // when it is over
    Until m_until;
    std::int32_t m_template = 0; // of the segment under way
    bool m_paused = false;       // within a segment
    bool m_detects;              // races are looked for
    BlockMap::Scratch m_mapScratch;
    Flight m_flight; // that is launched at once
    // Of operands whose blocks are Indirect: with the lists of this run.
    std::map<OperandPlans::key_type, std::unique_ptr<OperandPlan>> m_indirect;
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
    std::optional<std::vector<Birth>> m_births;        // where they are watched
    std::vector<Window> m_windows;                     // of the access that is looked at
    double m_share = 0;                                // done, as progress was told last
    std::chrono::steady_clock::time_point m_lastAsked; // whether to go on
    std::optional<Error> m_error;
    std::optional<Picoseconds> m_end;
};

} // namespace pallascope::machine
