// Writes manual DMA between the memories that a random program has.
#include "tests/machine/random/random_writer.h"

namespace pallascope::machine_test {

// As many rows of an array or a block as a tile has.
pl::Ref RandomWriter::part(const pl::Ref& ref)
{
    const Extent rows = ref.shape()[0];
    if (rows == kRows && !m_chance.oneIn(4)) {
        return ref;
    }
    return ref.at({pl::ds(start(rows, kRows), kRows), pl::all});
}

void RandomWriter::copy()
{
    std::vector<pl::Ref> all = m_scope.blocks;
    all.insert(all.end(), m_scope.arrays.begin(), m_scope.arrays.end());
    if (all.empty()) {
        return;
    }
    const pl::Ref from = m_chance.pick(all);
    std::vector<pl::Ref> others;
    for (const pl::Ref& ref : all) {
        if (ref.dtype() == from.dtype() && ref.id() != from.id()) {
            others.push_back(ref);
        }
    }
    if (!others.empty()) {
        const pl::Ref source = part(from);
        const pl::Ref target = part(m_chance.pick(others));
        copy(source, target);
    }
}

void RandomWriter::copyTable()
{
    std::vector<pl::Ref> all = m_scope.tables;
    all.insert(all.end(), m_scope.lists.begin(), m_scope.lists.end());
    if (all.size() < 2 || m_scope.lists.empty()) {
        return;
    }
    const pl::Ref from = m_chance.pick(all), to = m_chance.pick(all);
    if (from.id() != to.id() && !(isNear(from) && isNear(to))) {
        copy(from, to);
    }
}

void RandomWriter::copy(const pl::Ref& from, const pl::Ref& to)
{
    if (m_scope.dmas.empty()) {
        return;
    }
    if (m_scope.devices > 1 && m_scope.dmas.size() > 1 && m_chance.oneIn(2)) {
        remoteCopy(from, to);
        return;
    }
    constexpr std::int64_t kNever = 20;
    const pl::Ref semaphore = m_chance.pick(m_scope.dmas);
    pl::dmaStart(from, to, semaphore);
    if (m_chance.oneIn(4)) { // so that it may have landed before anybody waits for it
        constexpr int kLong = 2000;
        pl::delay(pl::full({}, kLong, DType::Int32));
    }
    if (m_chance.oneIn(2)) {
        m_pending.push_back({to, semaphore});
    } else if (!m_chance.oneIn(kNever)) {
        pl::dmaWait(to, semaphore);
    }
}

} // namespace pallascope::machine_test
