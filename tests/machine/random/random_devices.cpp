// Writes programs for several devices: to whom they signal and copy, and what they know of each
// other.
#include "tests/machine/random/random_writer.h"

namespace pallascope::machine_test {

// The number of another device, or of this one.
pl::Value RandomWriter::peer()
{
    const pl::Value me = pl::axisIndex("d");
    if (m_chance.oneIn(4)) {
        return below(number(1), m_scope.devices);
    }
    return (me + static_cast<int>(m_chance.below(m_scope.devices))) % m_scope.devices;
}

// A device goes on when all devices have begun the kernel.
void RandomWriter::meet()
{
    const pl::Ref barrier = pl::getBarrierSemaphore(3);
    for (std::int32_t device = 0; device < m_scope.devices; ++device) {
        pl::semaphoreSignalDevice(barrier, 1, device);
    }
    pl::semaphoreWait(barrier, m_scope.devices);
}

// What arrives from elsewhere is usually waited for as if it had the size of what is sent.
void RandomWriter::remoteCopy(const pl::Ref& from, const pl::Ref& to)
{
    constexpr std::int64_t kNever = 20;
    const pl::Ref sent = m_scope.dmas.front(), received = m_scope.dmas.back();
    pl::remoteDmaStart(from, to, sent, received, peer());
    if (m_chance.oneIn(2)) {
        m_pending.push_back({from, sent});
        m_pending.push_back({to, received});
        return;
    }
    pl::dmaWait(from, sent);
    if (!m_chance.oneIn(kNever)) {
        pl::dmaWait(to, received);
    }
}

void RandomWriter::onDevices(std::int32_t devices, bool onCores)
{
    pl::onMesh({{"d", devices}});
    m_scope.devices = devices;
    if (m_chance.oneIn(2)) {
        m_scope.numbers.push_back(pl::axisIndex("d"));
    }
    if (onCores) {
        coreMap();
        return;
    }
    scoped({{"kept", kInt, {kEntries}, ir::MemorySpace::Smem},
            {"block", m_chance.oneIn(2) ? kInt : kF32, {kRows, kColumns}},
            pl::dmaSemaphores("sent"),
            pl::dmaSemaphores("received"),
            pl::semaphores("turn")},
           [&] {
               if (!m_chance.oneIn(4)) {
                   meet();
               }
               copy();
               statements(6);
           });
}

} // namespace pallascope::machine_test
