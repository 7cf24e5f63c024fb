// The parts of a machine without the engine. There is one agent, which has not begun; only tests
// execute operations of its program.
#pragma once

#include "core/ir/builder.h"
#include "core/machine/parts/accesses.h"
#include "core/machine/parts/agents.h"
#include "core/machine/parts/barriers.h"
#include "core/machine/parts/copies.h"
#include "core/machine/parts/findings.h"
#include "core/machine/parts/scopes.h"
#include "core/machine/parts/semaphores.h"

#include <memory>
#include <string>
#include <vector>

namespace pallascope::machine_test {

// A program with two arrays f32[8,128] in HBM, x and out, and a scope with a semaphore, `counter`,
// and f32[8,128] in VMEM, `tile`, which is loaded from and stored to.
[[nodiscard]] ir::Program bareProgram();

class BareRun
{
public:
    // `chip` names a file of the chips, of which only the figures are taken that need no model.
    explicit BareRun(const machine::Settings& settings = {}, ir::Program program = bareProgram(),
                     const std::string& chip = "tpu_v5e");

    // Memory with this many elements of f32. Nothing in it is defined, or all elements have this
    // value.
    [[nodiscard]] std::int32_t memoryOf(std::int64_t elements);
    [[nodiscard]] std::int32_t memoryOf(std::int64_t elements, double number);
    [[nodiscard]] double elementAt(std::int32_t buffer, std::int64_t element) const;
    [[nodiscard]] bool isDefined(std::int32_t buffer) const;

    // Adds a copy from one memory to another that a link serves from `start` to `end`.
    void copy(std::int32_t from, std::int32_t to, std::int64_t start, std::int64_t end,
              std::int32_t row = 0);

    // Signals that copies will send, in the order of their times. `deliverFirst` delivers the first
    // of them, at its time.
    [[nodiscard]] const machine::Queue<machine::Signal>& signals() const
    {
        return m_state.sync.signals;
    }

    void deliverFirst();

    [[nodiscard]] const std::vector<trace::Finding>& found() const
    {
        return m_recorder.builder.info.findings;
    }

    // For making further parts.
    [[nodiscard]] const machine::Context& context() const { return m_context; }

    // The plan's item for the only control operation of this kind.
    [[nodiscard]] const machine::PlanItem& itemOf(ir::OpCode code) const;
    // An operation and a ref of the program.
    [[nodiscard]] const ir::Operation& operation(ir::OpCode code) const;
    [[nodiscard]] ir::ValueId ref(const std::string& name) const;

    [[nodiscard]] machine::Agent& agent() { return m_turn.agent(); }

    [[nodiscard]] const machine::Memory& memoryAt(std::int32_t index) const
    {
        return m_state.memory[index];
    }

private:
    ir::Program m_program;
    std::shared_ptr<const machine::Prepared> m_prepared;
    machine::Settings m_settings;
    machine::State m_state;
    machine::Recorder m_recorder;

public:
    machine::Ending ending;

private:
    machine::Turn m_turn;
    machine::Watch m_watch;
    machine::Context m_context;

public:
    machine::Findings findings;
    machine::Agents agents;
    machine::Copies copies;
    machine::Semaphores semaphores;
    machine::Barriers barriers;
    machine::Scopes scopes;
    machine::Accesses accesses;

    [[nodiscard]] machine::Turn& turn() { return m_turn; }

    [[nodiscard]] machine::Recorder& recorder() { return m_recorder; }
};

} // namespace pallascope::machine_test
