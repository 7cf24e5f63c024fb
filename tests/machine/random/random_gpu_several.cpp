// Random kernels for GPUs: what blocks of a cluster, and GPUs behind a switch, do in each other's
// memory.
#include "tests/machine/random/random_gpu_writer.h"

namespace pallascope::machine_test {

namespace gpu = pl::gpu;

namespace {

pl::Value placeInCluster()
{
    return pl::axisIndex("c");
}

} // namespace

void GpuWriter::inOtherBlock(int depth)
{
    const pl::Value there = (placeInCluster() + (usually() ? 1 : 0)) % kBlocks;
    switch (m_chance.below(depth == 0 ? 3 : 2)) {
    case 0:
        m_pair[0].at({there, pl::all})[pl::all] =
            m_arguments[X].at({line(false), pl::all})[pl::all].load();
        return;
    case 1:
        m_arguments[Y].at({line(true), pl::all})[pl::all] =
            m_pair[0].at({there, pl::all})[pl::all].load();
        return;
    default:
        meetOfCluster();
    }
}

// All warpgroups of both blocks.
void GpuWriter::meetOfCluster()
{
    const pl::Value here = placeInCluster();
    gpu::barrierArrive(m_pair[1].at(here));
    gpu::barrierArrive(m_pair[1].at((here + 1) % kBlocks));
    if (usually()) {
        gpu::barrierWait(m_pair[1].at(here));
    }
}

// Mostly the next GPU.
pl::Value GpuWriter::peer()
{
    const pl::Value me = pl::axisIndex("d");
    return m_chance.oneIn(6) ? number(m_devices) : (me + 1) % m_devices;
}

void GpuWriter::onOtherDevices(int depth)
{
    switch (m_chance.below(depth == 0 ? 7 : 6)) {
    case 0:
        pl::remoteRef(m_arguments[Y], peer()).at({line(true), pl::all})[pl::all] =
            m_arguments[X].at({line(false), pl::all})[pl::all].load();
        return;
    case 1:
        gpu::commitSmem();
        copyTo(pl::remoteRef(m_arguments[Y], peer()), slot());
        if (usually()) {
            gpu::waitSmemToGmem(0, m_chance.oneIn(3));
        }
        return;
    case 2:
        m_arguments[Y].at({line(true), pl::all})[pl::all] =
            pl::remoteRef(m_arguments[X], peer()).at({line(false), pl::all})[pl::all].load();
        return;
    case 3:
        tellAll(line(true));
        return;
    case 4: {
        pl::Value sum = m_arguments[X].at({line(false), pl::all})[pl::all].load();
        for (std::int32_t device = 0; device < m_devices; ++device) {
            sum =
                sum
                + pl::remoteRef(m_arguments[X], device).at({line(false), pl::all})[pl::all].load();
        }
        m_arguments[Y].at({line(true), pl::all})[pl::all] = sum;
        return;
    }
    case 5:
        (void)gpu::atomicRmw(ir::AtomicType::Add,
                             pl::remoteRef(m_arguments[Counts], peer())
                                 .at(pl::ds(static_cast<int>(m_chance.below(kNumbers)), 1)),
                             pl::full({1}, 1, kInt));
        return;
    default:
        meetOfDevices();
    }
}

// Brings a line to the next GPU, and uses what the one before has brought.
void GpuWriter::handOver()
{
    const pl::Value next = (pl::axisIndex("d") + 1) % m_devices, mine = line(true);
    const pl::Ref there = pl::remoteRef(m_arguments[Y], next);
    if (m_chance.oneIn(2)) {
        there.at({mine, pl::all})[pl::all] = m_arguments[X].at({mine, pl::all})[pl::all].load();
    } else {
        const pl::Value at = warpgroup();
        m_smem[Tile].at({at, pl::all})[pl::all] =
            m_arguments[X].at({mine, pl::all})[pl::all].load();
        if (usually()) {
            gpu::commitSmem();
        }
        gpu::copySmemToGmem(m_smem[Tile].at({at, pl::all}), there.at({mine, pl::all}));
        if (usually()) {
            gpu::waitSmemToGmem(0);
        }
    }
    pl::semaphoreSignalDevice(*m_arrived, 1, next);
    if (usually()) {
        pl::semaphoreWait(*m_arrived, 1);
    }
    const pl::Ref part = m_arguments[Y].at({mine, pl::all});
    part[pl::all] = part[pl::all].load() * 2.0F;
}

// Each warpgroup signals all GPUs, and waits until as many have signalled its own.
void GpuWriter::meetOfDevices()
{
    for (std::int32_t device = 0; device < m_devices; ++device) {
        pl::semaphoreSignalDevice(*m_arrived, 1, device);
    }
    if (usually()) {
        pl::semaphoreWait(*m_arrived, m_devices);
    }
}

// A store to all GPUs, as the switch makes of one.
void GpuWriter::tellAll(const pl::Value& line)
{
    const pl::Value value = m_arguments[X].at({line, pl::all})[pl::all].load();
    for (std::int32_t device = 0; device < m_devices; ++device) {
        pl::remoteRef(m_arguments[Y], device).at({line, pl::all})[pl::all] = value;
    }
}

} // namespace pallascope::machine_test
