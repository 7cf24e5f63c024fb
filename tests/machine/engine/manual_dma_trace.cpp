// Traces a program with manual DMA into a kernel.
#include "tests/machine/engine/manual_dma_programs.h"

#include <map>

namespace pallascope::machine_test {

namespace {

using Kind = ManualDmaAction::Kind;
using Refs = std::vector<pl::Ref>;

pl::IndexArg sliceOf(const Stretch& stretch)
{
    return pl::ds(stretch.first, stretch.count, stretch.step);
}

class Tracer
{
public:
    Tracer(const ManualDmaProgram& program, const Refs& arrays, const Refs& scratch)
        : m_program(program)
        , m_semaphores(scratch[3])
        , m_turn(scratch[4])
    {
        m_refs.insert(
            {{0, arrays[0]}, {1, arrays[1]}, {2, scratch[0]}, {3, scratch[1]}, {4, scratch[2]}});
    }

    void core(std::int32_t core)
    {
        m_core = core;
        m_next = 0;
        scope();
    }

private:
    [[nodiscard]] pl::Ref ref(std::int32_t id, const Part& part) const
    {
        const ManualDmaRef& of = m_program.refs[static_cast<std::size_t>(id)];
        const pl::Ref& whole = m_refs.at(id);
        const bool rows = part.rows.count == of.rows, columns = part.columns.count == of.columns;
        if (rows && columns) {
            return whole;
        }
        if (rows || columns || part.rows.first % 2 == 0) {
            return whole.at({sliceOf(part.rows), sliceOf(part.columns)});
        }
        return whole.at({sliceOf(part.rows), pl::all}).at({pl::all, sliceOf(part.columns)});
    }

    void scope();
    void action(const ManualDmaAction& one) const;

    const ManualDmaProgram& m_program;
    pl::Ref m_semaphores, m_turn;
    std::map<std::int32_t, pl::Ref> m_refs;
    std::int32_t m_core = 0;
    std::size_t m_next = 0;
};

void Tracer::scope()
{
    const std::vector<ManualDmaAction>& actions = m_program.cores[static_cast<std::size_t>(m_core)];
    while (m_next < actions.size()) {
        const ManualDmaAction& one = actions[m_next++];
        if (one.kind == Kind::Leave) {
            return;
        }
        if (one.kind != Kind::Enter) {
            action(one);
            continue;
        }
        const ManualDmaRef& of = m_program.refs[static_cast<std::size_t>(one.ref)];
        pl::runScoped({{of.name, DType::Int32, of.shape(), of.space}}, [&](const Refs& refs) {
            m_refs.insert({one.ref, refs[0]});
            scope();
            return std::vector<pl::Value>{};
        });
    }
}

void Tracer::action(const ManualDmaAction& one) const
{
    switch (one.kind) {
    case Kind::Fill:
        m_refs.at(one.ref)[pl::all] = pl::full(
            m_program.refs[static_cast<std::size_t>(one.ref)].shape(), one.amount, DType::Int32);
        return;
    case Kind::Add: {
        const pl::Ref& to = m_refs.at(one.ref);
        to[{sliceOf(one.part.rows), sliceOf(one.part.columns)}] =
            to[{sliceOf(one.part.rows), sliceOf(one.part.columns)}] + one.amount;
        return;
    }
    case Kind::Copy:
        pl::dmaStart(ref(one.ref, one.part), ref(one.other, one.otherPart),
                     m_semaphores.at({one.semaphore}));
        return;
    case Kind::Wait:
        pl::dmaWait(ref(one.ref, one.part), m_semaphores.at({one.semaphore}));
        return;
    case Kind::Delay:
        pl::delay(one.amount);
        return;
    case Kind::DelayBy:
        pl::delay(m_refs.at(one.ref)[{one.part.rows.first, one.part.columns.first}]);
        return;
    case Kind::Signal:
        pl::semaphoreSignal(m_turn, one.amount, 1 - m_core);
        return;
    case Kind::Turn:
        pl::semaphoreWait(m_turn, one.amount);
        return;
    case Kind::Enter:
    case Kind::Leave:
        return;
    }
}

} // namespace

ir::Program ManualDmaProgram::traced() const
{
    const auto begin = [&](pl::Ref x, pl::Ref out) {
        pl::runScoped({pl::dmaSemaphores("first")}, [&](const Refs& semaphore) {
            pl::dmaStart(x, out, semaphore[0]);
            pl::dmaWait(out, semaphore[0]);
            return std::vector<pl::Value>{};
        });
    };
    const auto onCore = [&](pl::Ref x, pl::Ref out) {
        std::vector<pl::Scratch> scratch;
        for (const std::size_t ref : {2U, 3U, 4U}) {
            scratch.push_back({refs[ref].name, DType::Int32, refs[ref].shape(), refs[ref].space});
        }
        scratch.push_back(pl::dmaSemaphores("sem", {kHandSemaphores}));
        scratch.push_back(pl::semaphores("turn"));
        pl::runScoped(scratch, [&](const Refs& own) {
            if (cores.size() == 1) {
                Tracer(*this, {x, out}, own).core(0);
                return std::vector<pl::Value>{};
            }
            const pl::Value core = pl::axisIndex("core");
            const pl::Value isFirst = core == 0, isSecond = core == 1;
            pl::when(isFirst, [&] { Tracer(*this, {x, out}, own).core(0); });
            pl::when(isSecond, [&] { Tracer(*this, {x, out}, own).core(1); });
            return std::vector<pl::Value>{};
        });
    };
    return mustTrace(pl::kernel(
        "manual_dma",
        {pl::in("x", DType::Int32, refs[0].shape()), pl::out("out", DType::Int32, refs[1].shape())},
        [&](pl::Ref x, pl::Ref out) {
            begin(x, out);
            if (cores.size() == 1) {
                onCore(x, out);
            } else {
                pl::coreMap("core", 2, [&] { onCore(x, out); });
            }
        }));
}

} // namespace pallascope::machine_test
