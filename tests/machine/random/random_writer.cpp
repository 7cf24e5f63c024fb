#include "tests/machine/random/random_writer.h"

#include "core/ir/infer.h"
#include "core/ir/tracer.h"

#include <utility>

namespace pallascope::machine_test {

namespace {

using Values = std::vector<pl::Value>;
constexpr int kDeepest = 4; // the deepest nesting of regions

ir::MemorySpace spaceOf(const pl::Ref& ref)
{
    return *pl::detail::Tracer::current().program().type(ref.id()).space;
}

} // namespace

bool isNear(const pl::Ref& ref)
{
    return ir::isLoadable(spaceOf(ref));
}

void add(RandomScope& scope, const pl::Ref& ref)
{
    switch (spaceOf(ref)) {
    case ir::MemorySpace::Smem:
        scope.tables.push_back(ref);
        return;
    case ir::MemorySpace::Vmem:
        scope.blocks.push_back(ref);
        return;
    case ir::MemorySpace::DmaSemaphore:
        scope.dmas.push_back(ref);
        return;
    case ir::MemorySpace::Semaphore:
        scope.semaphores.push_back(ref);
        return;
    default:
        (ref.shape().rank() == 1   ? scope.lists
         : ref.shape().rank() == 2 ? scope.arrays
                                   : scope.stacks)
            .push_back(ref);
    }
}

std::vector<pl::Value> RandomWriter::within(const std::function<Values()>& body)
{
    const RandomScope outer = m_scope;
    const std::vector<Pending> pending = std::exchange(m_pending, {});
    ++m_scope.depth;
    Values results = body();
    for (const Pending& copy : m_pending) {
        pl::dmaWait(copy.target, copy.semaphore);
    }
    m_pending = pending;
    m_scope = outer;
    return results;
}

void RandomWriter::keep(const Values& results)
{
    for (const pl::Value& value : results) {
        (value.shape().rank() == 0 ? m_scope.numbers : m_scope.values).push_back(value);
    }
}

void RandomWriter::statements(int most)
{
    const std::int64_t count = m_chance.from(1, most);
    for (std::int64_t i = 0; i < count; ++i) {
        statement();
    }
}

void RandomWriter::statement()
{
    if (m_scope.isFusion) {
        if (m_scope.depth < kDeepest) {
            computed();
        }
        return;
    }
    const bool nests = m_scope.depth < kDeepest;
    switch (m_chance.below(nests ? 22 : 13)) {
    case 0:
    case 1:
    case 2:
        storeNumber();
        return;
    case 3:
    case 4:
    case 5:
        storeBlock();
        return;
    case 6:
        m_scope.numbers.push_back(number());
        return;
    case 7:
    case 8:
        copy();
        return;
    case 9:
        copyTable();
        return;
    case 10:
        signal();
        return;
    case 11:
        m_chance.oneIn(2) ? view() : debug();
        return;
    case 12:
        storeMasked();
        return;
    case 13:
    case 14:
        branch();
        return;
    case 15:
        chooseNumbers();
        return;
    case 16:
    case 17:
        countedLoop();
        return;
    case 18:
        whileLoop();
        return;
    case 19:
        scoped();
        return;
    default:
        pipeline();
    }
}

void RandomWriter::storeNumber()
{
    if (m_scope.tables.empty()) {
        return;
    }
    const pl::Ref table = m_chance.pick(m_scope.tables);
    const pl::Value at = below(number(1), kEntries);
    table[at] = number();
}

void RandomWriter::storeBlock()
{
    if (m_scope.blocks.empty()) {
        return;
    }
    const pl::Ref block = m_chance.pick(m_scope.blocks);
    const Extent all = block.shape()[0];
    if (m_chance.oneIn(3)) {
        const Extent rows = m_chance.from(1, all);
        const pl::Value at = below(number(1), all - rows + 1);
        block[{pl::ds(at, rows), pl::all}] = array(block.dtype(), rows);
    } else {
        block[pl::all] = array(block.dtype(), all);
    }
}

void RandomWriter::storeMasked()
{
    if (m_scope.blocks.empty()) {
        return;
    }
    const pl::Ref block = m_chance.pick(m_scope.blocks);
    const pl::Value a = array(kInt, block.shape()[0], 1), b = array(kInt, block.shape()[0], 1);
    const pl::Value mask = a < b;
    if (m_chance.oneIn(2) && block.shape()[0] == kRows) {
        m_scope.values.push_back(pl::maskedLoad(block, mask, 0));
    } else {
        pl::maskedStore(block, array(block.dtype(), block.shape()[0], 1), mask);
    }
}

void RandomWriter::fill(const pl::Ref& scratch)
{
    if (scratch.shape().rank() == 2) {
        scratch[pl::all] = array(scratch.dtype(), scratch.shape()[0]);
        return;
    }
    const auto bound = static_cast<int>(kEntries);
    const pl::Value first = below(number(1), bound);
    const auto stride = static_cast<int>(m_chance.below(4));
    pl::foriLoop(kEntries, {}, [&](pl::Value i, const Values&) {
        scratch[i] = (i * stride + first) % bound;
        return Values{};
    });
}

void RandomWriter::branch()
{
    pl::when(condition(), [&] {
        (void)within([&] {
            statements(3);
            return Values{};
        });
    });
}

void RandomWriter::chooseNumbers()
{
    const std::int64_t count = m_chance.from(1, 3);
    const auto one = [&] {
        return within([&] {
            if (m_chance.oneIn(2)) {
                statements(2);
            }
            return someNumbers(count);
        });
    };
    const pl::Value which = condition();
    keep(pl::cond(which, one, one));
}

// The values that a round of a loop passes to the next, after the first `from`: the carried values
// in another order, with new ones among them.
Values RandomWriter::carriedOn(const Values& carried, std::size_t from)
{
    Values next(carried.begin(), carried.begin() + static_cast<std::ptrdiff_t>(from));
    const std::size_t others = carried.size() - from;
    const auto turn = static_cast<std::size_t>(m_chance.below(4));
    for (std::size_t i = 0; i < others; ++i) {
        const pl::Value& before = carried[from + (i + turn) % others];
        const pl::Value& here = carried[from + i];
        if (here.shape().rank() > 0) {
            next.push_back(m_chance.oneIn(2) ? here : array(here.dtype(), kRows));
        } else {
            next.push_back(before.shape().rank() > 0 || m_chance.oneIn(3) ? number() : before);
        }
    }
    return next;
}

void RandomWriter::countedLoop()
{
    Values carry = someNumbers(m_chance.below(4));
    if (m_chance.oneIn(4)) {
        carry.push_back(array(m_chance.oneIn(2) ? kInt : kF32, kRows));
    }
    keep(pl::foriLoop(m_chance.from(0, 3), carry, [&](pl::Value i, const Values& carried) {
        return within([&] {
            m_scope.numbers.push_back(i);
            keep(carried);
            statements(3);
            return carriedOn(carried, 0);
        });
    }));
}

// Runs as many rounds as its first number says, or fewer.
void RandomWriter::whileLoop()
{
    constexpr int kMostRounds = 4;
    Values carry{(number() % kMostRounds)};
    const Values others = someNumbers(m_chance.from(1, 3));
    carry.insert(carry.end(), others.begin(), others.end());
    if (m_chance.oneIn(4)) {
        carry.push_back(array(m_chance.oneIn(2) ? kInt : kF32, kRows));
    }
    const bool readsOther = m_chance.oneIn(3);
    const auto goesOn = [&](const Values& carried) {
        const pl::Value left = carried[0] > 0;
        return readsOther ? pl::elementwise(ir::OpCode::And, {left, carried[1] < 9}) : left;
    };
    keep(pl::whileLoop(carry, goesOn, [&](const Values& carried) {
        return within([&] {
            keep(carried);
            if (!m_chance.oneIn(3)) {
                statements(3);
            }
            Values next = carriedOn(carried, 1);
            next[0] = carried[0] - 1;
            return next;
        });
    }));
}

void RandomWriter::scoped()
{
    std::vector<pl::Scratch> scratch;
    const std::int64_t count = m_chance.from(1, 3);
    for (std::int64_t i = 0; i < count; ++i) {
        const std::string name = "s" + std::to_string(i);
        switch (m_chance.below(5)) {
        case 0:
            scratch.push_back({name, kInt, {kEntries}, ir::MemorySpace::Smem});
            break;
        case 1:
            scratch.push_back({name, kInt, {kRows, kColumns}});
            break;
        case 2:
            scratch.push_back({name, kF32, {m_chance.from(1, 2) * kRows, kColumns}});
            break;
        case 3:
            scratch.push_back(pl::dmaSemaphores(name));
            break;
        default:
            scratch.push_back(pl::semaphores(name));
        }
    }
    scoped(scratch, [&] { statements(5); });
}

void RandomWriter::scoped(const std::vector<pl::Scratch>& scratch,
                          const std::function<void()>& body)
{
    keep(pl::runScoped(scratch, [&](const std::vector<pl::Ref>& refs) {
        return within([&] {
            for (const pl::Ref& ref : refs) {
                add(m_scope, ref);
            }
            for (const pl::Ref& ref : refs) {
                if (isNear(ref) && !m_chance.oneIn(4)) {
                    fill(ref);
                }
            }
            body();
            return m_scope.isAround ? Values{} : someNumbers(m_chance.below(3));
        });
    }));
}

// The same memory seen in another way: a part of a block, or its bits as another type.
void RandomWriter::view()
{
    if (m_scope.blocks.empty()) {
        return;
    }
    const pl::Ref block = m_chance.pick(m_scope.blocks);
    if (m_chance.oneIn(2)) {
        m_scope.blocks.push_back(block.bitcast(block.dtype() == kInt ? kF32 : kInt));
    } else if (block.shape()[0] > kRows) {
        m_scope.blocks.push_back(
            block.at({pl::ds(start(block.shape()[0], kRows), kRows), pl::all}));
    }
}

void RandomWriter::signal()
{
    constexpr std::int64_t kSeldom = 40;
    if (m_scope.semaphores.empty() || m_chance.oneIn(3)) {
        pl::delay(below(number(1), 400));
        return;
    }
    const pl::Ref semaphore = m_chance.pick(m_scope.semaphores);
    const pl::Value amount = below(number(1), 3);
    if (m_scope.devices > 1 && m_chance.oneIn(2)) {
        pl::semaphoreSignalDevice(semaphore, amount, peer());
    } else if (!m_chance.oneIn(kSeldom)) {
        pl::semaphoreSignal(semaphore, amount);
    }
    if (!m_chance.oneIn(kSeldom)) {
        pl::semaphoreWait(semaphore, amount);
    }
}

void RandomWriter::debug()
{
    if (m_chance.oneIn(2)) {
        pl::debugPrint("{}", {number()});
    } else {
        pl::debugCheck(condition(), "a condition");
    }
}

} // namespace pallascope::machine_test
