// Runs segments: their time and, where they are needed, the values of their operations.
#pragma once

#include "core/machine/parts/accesses.h"
#include "core/machine/parts/agents.h"
#include "core/machine/parts/context.h"
#include "core/machine/parts/copies.h"
#include "core/machine/parts/findings.h"
#include "core/machine/parts/limits.h"
#include "core/machine/parts/reductions.h"
#include "core/machine/parts/semaphores.h"

#include <span>

namespace pallascope::machine {

class Segments
{
public:
    // `turns` is how many turns the run has taken.
    Segments(const Context& context, const Options& options, const std::int64_t& turns,
             Agents& agents, Copies& copies, Semaphores& semaphores, Accesses& accesses,
             Reductions& reductions, Limits& limits, Findings& findings);

    // Runs the segment from operation number `done` on. Returns true and sets `done` to 0 when the
    // whole segment has run; returns false if the run pauses in the middle.
    [[nodiscard]] bool run(const PlanItem& item, std::int32_t& done);

private:
    void runOperations(std::span<const Evaluation> evaluate, std::span<const PlanAccess> accesses);
    void note(const PlanAccess& access);
    [[nodiscard]] std::int32_t reachable(const PlanItem& item, std::int32_t done) const;
    void execute(const Evaluation& evaluation);
    void tellWatch(const Evaluation& evaluation);
    void debug(const Evaluation& evaluation);
    void placeInGrid(const ir::Operation& operation);
    void evaluateNow(const Evaluation& evaluation);
    [[nodiscard]] bool addProduct(const Evaluation& evaluation);
    void release(const ir::Operation& operation, std::uint32_t dying);

    const Prepared& m_prepared;
    const Options& m_options;
    const std::int64_t& m_turns;
    Recorder& m_recorder;
    Turn& m_turn;
    Ending& m_ending;
    Agents& m_agents;
    Copies& m_copies;
    Semaphores& m_semaphores;
    Accesses& m_accesses;
    Reductions& m_reductions;
    Limits& m_limits;
    Findings& m_findings;
    Watch& m_watch;
    std::int32_t m_template = 0; // of the segment under way
    std::int32_t m_done = 0;     // of its operations, before those that run now
};

} // namespace pallascope::machine
