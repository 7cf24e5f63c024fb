#include "tests/machine/random/random_gpu_writer.h"

#include <functional>

namespace pallascope::machine_test {

namespace gpu = pl::gpu;

void GpuWriter::body()
{
    if (m_launch.cluster.empty()) {
        ofBlock();
        return;
    }
    const auto arrivals = static_cast<std::int32_t>(m_launch.threads * kBlocks);
    gpu::runScopedOfCluster(
        {gpu::smem("pair", kF32, {kBlocks, kWidth}), gpu::barrier("both", arrivals, {kBlocks})},
        kBlocks, [&](const std::vector<pl::Ref>& refs) {
            m_pair = refs;
            ofBlock();
        });
}

void GpuWriter::ofBlock()
{
    const auto threads = static_cast<std::int32_t>(m_launch.threads);
    m_slots = static_cast<std::int32_t>(m_chance.from(1, 3));
    const auto arrivals = static_cast<std::int32_t>(m_chance.oneIn(20) ? 2 : 1);
    gpu::runScoped({gpu::smem("tile", kF32, {std::max(m_slots, threads), kWidth}),
                    gpu::smem("lhs", DType::F16, {kSquare, kSquare}),
                    gpu::smem("rhs", DType::F16, {kSquare, kSquare}),
                    gpu::smem("counts", kInt, {kNumbers}), gpu::barrier("own", arrivals, {threads}),
                    gpu::barrier("all", threads), gpu::barrier("full", 1, {m_slots}),
                    gpu::barrier("free", std::max(1, threads - 1), {m_slots}),
                    gpu::barrier("loaded", 2)},
                   true, [&](const std::vector<pl::Ref>& refs) {
                       m_smem = refs;
                       gpu::runScoped({gpu::accumulator("sum", {kSquare, kSquare})}, false,
                                      [&](const std::vector<pl::Ref>& own) {
                                          m_sum = own[0];
                                          form();
                                      });
                   });
}

bool GpuWriter::usually()
{
    return !m_chance.oneIn(25);
}

void GpuWriter::form()
{
    if (m_launch.threads > 1 && m_chance.oneIn(2)) {
        ring();
    }
    if (m_chance.oneIn(3)) {
        product();
    }
    if (m_devices > 1 && m_chance.oneIn(2)) {
        handOver();
    }
    statements(static_cast<int>(m_chance.from(1, 5)), 0);
}

pl::Value GpuWriter::warpgroup()
{
    return pl::axisIndex("wg");
}

pl::Value GpuWriter::number(std::int64_t limit)
{
    switch (m_chance.below(m_rounds.empty() ? 4 : 5)) {
    case 0:
        return warpgroup() % static_cast<int>(limit);
    case 1:
        if (!m_launch.grid.empty()) {
            return pl::axisIndex(m_launch.grid[0].name) % static_cast<int>(limit);
        }
        [[fallthrough]];
    case 2:
        return warpgroup() * 0 + static_cast<int>(m_chance.below(limit));
    case 3: {
        const pl::Ref table = m_arguments[Table];
        return table[static_cast<int>(m_chance.below(kNumbers))].load() % static_cast<int>(limit);
    }
    default:
        return m_rounds.back() % static_cast<int>(limit);
    }
}

pl::Value GpuWriter::line(bool mine)
{
    if (m_chance.oneIn(mine ? 12 : 2)) {
        return number(m_chance.oneIn(30) ? kLines + 2 : kLines);
    }
    pl::Value block = warpgroup();
    for (const auto* axes : {&m_launch.grid, &m_launch.cluster}) {
        for (const ir::MeshAxis& axis : *axes) {
            block = block + pl::axisIndex(axis.name) * static_cast<int>(m_launch.threads);
        }
    }
    return block % static_cast<int>(kLines);
}

pl::Value GpuWriter::slot()
{
    return usually() ? warpgroup() : number(m_launch.threads);
}

void GpuWriter::statements(int count, int depth)
{
    for (int i = 0; i < count; ++i) {
        statement(depth);
    }
}

void GpuWriter::statement(int depth)
{
    if (m_devices > 1 && m_chance.oneIn(3)) {
        onOtherDevices(depth);
        return;
    }
    if (!m_pair.empty() && m_chance.oneIn(3)) {
        inOtherBlock(depth);
        return;
    }
    switch (m_chance.below(depth < 2 ? 11 : 9)) {
    case 0:
        copyIn();
        return;
    case 1:
        copyOut();
        return;
    case 2:
        compute();
        return;
    case 3:
        m_arguments[Y].at({line(true), pl::all})[pl::all] =
            m_arguments[X].at({line(false), pl::all})[pl::all].load() + 1.0F;
        return;
    case 4:
        if (depth == 0 || m_chance.oneIn(15)) { // all of the block come here
            meet();
        }
        return;
    case 5:
        atomic();
        return;
    case 6:
        gpu::commitSmem();
        return;
    case 7:
        m_chance.oneIn(2)
            ? gpu::waitSmemToGmem(static_cast<std::int32_t>(m_chance.below(3)), m_chance.oneIn(2))
            : gpu::commitGroup();
        return;
    case 8:
        gpu::setMaxRegisters(static_cast<std::int32_t>(m_chance.from(3, 29) * 8),
                             m_chance.oneIn(2));
        return;
    case 9:
        pl::when(number(3) == static_cast<int>(m_chance.below(3)),
                 [&] { statements(static_cast<int>(m_chance.from(1, 3)), depth + 1); });
        return;
    default:
        pl::foriLoop(m_chance.from(0, 3), {}, [&](pl::Value round, std::vector<pl::Value>) {
            m_rounds.push_back(round);
            statements(static_cast<int>(m_chance.from(1, 3)), depth + 1);
            m_rounds.pop_back();
            return std::vector<pl::Value>{};
        });
    }
}

void GpuWriter::meet()
{
    gpu::barrierArrive(m_smem[All]);
    if (usually()) {
        gpu::barrierWait(m_smem[All]);
    }
}

void GpuWriter::copyIn()
{
    const pl::Value at = slot();
    if (usually()) {
        gpu::commitSmem();
    }
    gpu::copyGmemToSmem(m_arguments[X].at({line(false), pl::all}), m_smem[Tile].at({at, pl::all}),
                        m_smem[Own].at(warpgroup()));
    if (usually()) {
        gpu::barrierWait(m_smem[Own].at(warpgroup()));
    }
}

void GpuWriter::copyOut()
{
    const pl::Value at = slot();
    if (m_chance.oneIn(2)) {
        m_smem[Tile].at({at, pl::all})[pl::all] =
            m_arguments[X].at({line(false), pl::all})[pl::all].load() * 2.0F;
    }
    if (!m_chance.oneIn(4)) {
        gpu::commitSmem();
    }
    copyTo(m_arguments[Y], at);
    if (!m_chance.oneIn(4)) {
        gpu::waitSmemToGmem(0, m_chance.oneIn(2));
    }
}

void GpuWriter::compute()
{
    const pl::Value from = slot(), to = slot();
    const pl::Value row = m_smem[Tile].at({from, pl::all})[pl::all].load();
    // Not by chance, so that a seed that other tests name still stands for the same program.
    m_smem[Tile].at({to, pl::all})[pl::all] =
        ++m_computed % 2 == 0 ? row - pl::reduce(ir::OpCode::ReduceMax, row, {0}) : row + 1.0F;
}

void GpuWriter::atomic()
{
    const bool isNear = m_chance.oneIn(4);
    const pl::Ref counts = isNear ? m_smem[Near] : m_arguments[Counts];
    const auto one = static_cast<int>(m_chance.below(kNumbers));
    if (isNear) {
        counts[one] = number(kNumbers);
    } else {
        (void)gpu::atomicRmw(ir::AtomicType::Add, counts.at(pl::ds(one, 1)),
                             pl::full({1}, 1, kInt));
    }
}

void GpuWriter::ring()
{
    const std::int64_t tiles = m_chance.from(1, 5);
    const int last = static_cast<int>(m_launch.threads) - 1;
    const bool commits = usually(), waits = usually(), arrives = usually();
    const auto rounds = [&](const std::function<void(pl::Value)>& each) {
        pl::foriLoop(tiles, {}, [&](pl::Value round, std::vector<pl::Value>) {
            each(round);
            return std::vector<pl::Value>{};
        });
    };
    pl::when(warpgroup() == last, [&] {
        rounds([&](const pl::Value& round) {
            const pl::Value at = round % m_slots;
            if (waits) {
                pl::when(round >= m_slots, [&] { gpu::barrierWait(m_smem[Free].at(at)); });
            }
            gpu::copyGmemToSmem(m_arguments[X].at({round, pl::all}), m_smem[Tile].at({at, pl::all}),
                                m_smem[Full].at(at));
        });
        if (waits && usually()) { // so that no phase is left unseen
            pl::foriLoop(std::min<std::int64_t>(tiles, m_slots), {},
                         [&](pl::Value round, std::vector<pl::Value>) {
                             const pl::Value at =
                                 (round
                                  + static_cast<int>(std::max<std::int64_t>(0, tiles - m_slots)))
                                 % m_slots;
                             gpu::barrierWait(m_smem[Free].at(at));
                             return std::vector<pl::Value>{};
                         });
        }
    });
    pl::when(warpgroup() < last, [&] {
        rounds([&](const pl::Value& round) {
            const pl::Value at = round % m_slots;
            gpu::barrierWait(m_smem[Full].at(at));
            m_arguments[Y].at({line(true), pl::all})[pl::all] =
                m_smem[Tile].at({at, pl::all})[pl::all].load();
            if (commits) {
                gpu::commitSmem();
            }
            if (arrives) {
                gpu::barrierArrive(m_smem[Free].at(at));
            }
        });
    });
}

void GpuWriter::product()
{
    pl::when(warpgroup() == 0, [&] {
        gpu::copyGmemToSmem(m_arguments[A], m_smem[Lhs], m_smem[Loaded]);
        gpu::copyGmemToSmem(m_arguments[B], m_smem[Rhs], m_smem[Loaded]);
    });
    if (usually()) {
        gpu::barrierWait(m_smem[Loaded]);
    }
    const std::int64_t times = m_chance.from(1, 3);
    for (std::int64_t i = 0; i < times; ++i) {
        if (m_chance.oneIn(5)) {
            gpu::wgmma(m_sum, m_arguments[A][{pl::all, pl::all}].load(), m_smem[Rhs]);
        } else {
            gpu::wgmma(m_sum, m_smem[Lhs], m_smem[Rhs]);
        }
        if (m_chance.oneIn(3)) {
            gpu::wgmmaWait(static_cast<std::int32_t>(m_chance.below(2)));
        }
    }
    if (m_chance.oneIn(8)) {
        m_smem[Lhs][{pl::all, pl::all}] = m_smem[Lhs][{pl::all, pl::all}].load() * 2.0F;
    }
    if (usually()) {
        gpu::wgmmaWait(0);
    }
    pl::when(warpgroup() == 0, [&] { m_arguments[C][{pl::all, pl::all}] = gpu::load(m_sum); });
}

void GpuWriter::copyTo(const pl::Ref& array, const pl::Value& slot)
{
    using ir::AtomicType;
    ir::StoreCopyParams params{.commit = !m_chance.oneIn(6)};
    if (m_chance.oneIn(6)) {
        params.reduction = AtomicType::Add;
    }
    gpu::copySmemToGmem(m_smem[Tile].at({slot, pl::all}), array.at({line(true), pl::all}), params);
}

} // namespace pallascope::machine_test
