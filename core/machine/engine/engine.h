// The deterministic engine. Agents take turns to interpret the plan with explicit frames; the parts
// in core/machine/parts do the work. Internal to core/machine; run.h is the way in.
#pragma once

#include "core/machine/parts/accesses.h"
#include "core/machine/parts/agents.h"
#include "core/machine/parts/arguments.h"
#include "core/machine/parts/barriers.h"
#include "core/machine/parts/context.h"
#include "core/machine/parts/copies.h"
#include "core/machine/parts/core_maps.h"
#include "core/machine/parts/findings.h"
#include "core/machine/parts/fusion_copies.h"
#include "core/machine/parts/limits.h"
#include "core/machine/parts/pipelines.h"
#include "core/machine/parts/reductions.h"
#include "core/machine/parts/scopes.h"
#include "core/machine/parts/segments.h"
#include "core/machine/parts/semaphores.h"
#include "core/machine/parts/slot_units.h"
#include "core/machine/parts/sync_operations.h"
#include "core/machine/parts/turn.h"
#include "core/machine/parts/warps.h"
#include "core/machine/state/ready_agents.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

namespace pallascope::machine {

class Engine
{
public:
    // `prepared` and `options` outlive the engine.
    Engine(const Prepared& prepared, const Options& options, Keeps keeps);

    Engine(const Engine&) = delete;
    Engine& operator=(const Engine&) = delete;

    // Binds the program's arguments. The error names an input that is missing although its values
    // are needed.
    [[nodiscard]] Status bind(const std::vector<Array>& inputs);

    // Runs on until `until` or the end. If no agent of the program can go on (a deadlock), the run
    // ends with a finding.
    [[nodiscard]] Status execute(Until until = {});

    // Whether a finding ended the run before the program did.
    [[nodiscard]] bool hasStopped() const { return m_state.stopped; }

    // The kind of the finding that ended the run; empty if none did.
    [[nodiscard]] const std::string& stoppedBy() const { return m_ending.stoppedBy(); }

    [[nodiscard]] bool hasEnded() const { return m_end.has_value(); }

    [[nodiscard]] Picoseconds end() const { return *m_end; }

    [[nodiscard]] Arguments& arguments() { return m_arguments; }

    [[nodiscard]] Watch& watch() { return m_watch; }

    [[nodiscard]] Findings& findings() { return m_findings; }

    [[nodiscard]] Pipelines& pipelines() { return m_pipelines; }

    [[nodiscard]] Recorder& recorder() { return m_recorder; }

    [[nodiscard]] const Recorder& recorder() const { return m_recorder; }

    [[nodiscard]] const State& state() const { return m_state; }

    // checkpoint.cpp
    // Everything from which a run can be continued.
    struct Checkpoint
    {
        State state;          // with large buffers stored as pages
        std::size_t turn = 0; // index of the agent whose turn it was
        Recorder::Position position;
        Picoseconds time;
    };

    [[nodiscard]] Checkpoint save();
    void restore(const Checkpoint& checkpoint);

    // The time of what was done last. Agents take turns in the order of their times.
    [[nodiscard]] Picoseconds now() const;
    // How far an agent has come.
    [[nodiscard]] Picoseconds timeOf(const Agent& agent) const;

    // Calls look(state) with a state in which the copies that have ended by `time` have landed, or
    // by now if that is later. The run itself does not change. Where copies land, what they write
    // over is put back page by page, so `look` should not keep memory of the state.
    template<class F>
    void look(Picoseconds time, F look)
    {
        const Picoseconds until = std::max(now(), time);
        if (!m_copies.endBy(until)) {
            look(std::as_const(m_state));
            return;
        }
        const Checkpoint before = save();
        const std::optional<Picoseconds> end = m_end;
        m_copies.land(until);
        look(std::as_const(m_state));
        restore(before);
        m_end = end;
    }

private:
    void begin();
    void noteReady(const Agent& agent);
    void noteChanged();
    void noteAllReady();
    [[nodiscard]] Agent* next();
    void turn();
    void advance();
    void finish();
    void close(const Agent& agent);
    [[nodiscard]] std::size_t turnOf() const; // the agent whose turn it was last
    [[nodiscard]] Picoseconds timeOfTurn() const;

    // control.cpp
    [[nodiscard]] bool runSegment(const PlanItem& item, BlockFrame& frame);
    // These go on with the innermost frame of the current agent, which may remove the frame.
    void resume(BlockFrame& frame);
    void endCopies(BlockFrame& frame);
    void resume(ScanFrame& frame);
    void resume(WhileFrame& frame);
    void resume(ScopeFrame& frame);

    void resume(PipelineFrame& frame) { m_pipelines.run(frame); }

    void resume(const CoresFrame& frame) { m_coreMaps.joinCores(frame); }

    void resume(const WarpsFrame& frame) { m_warps.join(frame); }

    void resume(const AwayFrame& frame) { m_coreMaps.joinOthers(frame); }

    // A round of a loop begins, or the loop ends; recorded for loops that copy or wait.
    void beginRound(const ir::Operation& loop);
    void endRounds(const ir::Operation& loop);
    void enterControl(const PlanItem& item);
    void assign(const std::vector<ir::ValueId>& to, const std::vector<ir::ValueId>& from,
                std::size_t skip);

    const Prepared& m_prepared;
    const Options& m_options;
    Recorder m_recorder;
    State m_state;
    Ending m_ending;
    Turn m_turn;
    Watch m_watch;
    Context m_context;
    Limits m_limits;
    Findings m_findings;
    Agents m_agents;
    ReadyAgents m_ready; // follows from the agents of the state
    Arguments m_arguments;
    Copies m_copies;
    Semaphores m_semaphores;
    Barriers m_barriers;
    Scopes m_scopes;
    Accesses m_accesses;
    Reductions m_reductions;
    Segments m_segments;
    SlotUnits m_slotUnits;
    L1Caches m_l1Caches;
    FusionCopies m_fusionCopies;
    Warps m_warps;
    CoreMaps m_coreMaps;
    SyncOperations m_syncOperations;
    Pipelines m_pipelines;
    std::optional<Picoseconds> m_end;
};

} // namespace pallascope::machine
