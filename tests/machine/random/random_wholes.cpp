// Writes what a random program consists of as a whole: cores, kernels and fusions.
#include "tests/ir/wholes.h"
#include "tests/machine/random/random_writer.h"

namespace pallascope::machine_test {

namespace {

using Values = std::vector<pl::Value>;

} // namespace

void RandomWriter::coreMap()
{
    pl::coreMap("core", 2, [&] {
        (void)within([&] {
            m_scope.onCores = true;
            m_scope.numbers.push_back(pl::axisIndex("core"));
            scoped({{"kept", kInt, {kEntries}, ir::MemorySpace::Smem},
                    {"block", kInt, {kRows, kColumns}},
                    pl::dmaSemaphores("sem"),
                    pl::semaphores("turn")},
                   [&] { statements(6); });
            return Values{};
        });
    });
}

// Usually it copies the list that an earlier kernel made into SMEM.
void RandomWriter::kernel()
{
    ir_test::whole(ir::OpCode::Kernel, ir::KernelParams{"kernel"}, [&] {
        return within([&] {
            m_scope.isAround = false;
            scoped({{"table", kInt, {kEntries}, ir::MemorySpace::Smem},
                    {"block", m_chance.oneIn(2) ? kInt : kF32, {kRows, kColumns}},
                    pl::dmaSemaphores("sem")},
                   [&] {
                       if (!m_chance.oneIn(4)) {
                           const pl::Ref list = m_chance.pick(m_scope.lists);
                           pl::dmaStart(list, m_scope.tables.back(), m_scope.dmas.back());
                           pl::dmaWait(m_scope.tables.back(), m_scope.dmas.back());
                       }
                       statements(6);
                   });
            return Values{};
        });
    });
}

// Loads arrays, computes, and stores them. A number that it computes may decide a branch or a loop.
void RandomWriter::fusion()
{
    const bool launches = !m_chance.oneIn(4);
    keep(ir_test::whole(ir::OpCode::Fusion, ir::FusionParams{"fusion", launches}, [&] {
        return within([&] {
            m_scope.isAround = false;
            m_scope.isFusion = true;
            for (const pl::Ref& list : m_scope.lists) {
                const pl::Value entries = list[pl::all].load();
                m_scope.numbers.push_back(pl::reduce(ir::OpCode::ReduceMax, entries, {0}) % 4);
                if (m_chance.oneIn(2)) {
                    const auto bound = static_cast<int>(kEntries);
                    list[pl::all] = ((entries * 3 + number()) % bound + bound) % bound;
                }
            }
            for (const pl::Ref& ref : m_scope.arrays) {
                if (ref.shape()[0] == kRows && m_chance.oneIn(2)) {
                    m_scope.values.push_back(ref[pl::all].load());
                }
            }
            RandomScope inner = m_scope;
            inner.lists = inner.arrays = inner.stacks = {};
            const std::vector<pl::Ref> arrays = m_scope.arrays;
            m_scope = std::move(inner);
            computed();
            for (const pl::Ref& ref : arrays) {
                if (m_chance.oneIn(3)) {
                    ref[pl::all] = array(ref.dtype(), ref.shape()[0]);
                }
            }
            return someNumbers(m_chance.below(3));
        });
    }));
}

// Branches and loops that use only values.
void RandomWriter::computed()
{
    const std::int64_t count = m_chance.below(3);
    for (std::int64_t i = 0; i < count; ++i) {
        switch (m_chance.below(3)) {
        case 0:
            chooseNumbers();
            break;
        case 1:
            countedLoop();
            break;
        default:
            whileLoop();
        }
    }
}

} // namespace pallascope::machine_test
