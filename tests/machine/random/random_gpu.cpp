#include "tests/machine/random/random_gpu.h"

#include "core/ir/builder_gpu.h"
#include "core/ir/mesh.h"
#include "core/ir/tracer.h"
#include "tests/machine/chance.h"
#include "tests/machine/support.h"

#include <functional>
#include <optional>

namespace pallascope::machine_test {

namespace {

namespace gpu = pl::gpu;

constexpr Extent kLines = 24, kWidth = 128, kSquare = 64, kNumbers = 8;

// Writes the body of a kernel. All warpgroups run what it writes; `when` tells them apart.
class GpuWriter
{
public:
    GpuWriter(Chance& chance, std::vector<pl::Ref> arguments, gpu::Launch launch)
        : m_chance(chance)
        , m_arguments(std::move(arguments))
        , m_launch(std::move(launch))
    {}

    void body()
    {
        const auto threads = static_cast<std::int32_t>(m_launch.threads);
        m_slots = static_cast<std::int32_t>(m_chance.from(1, 3));
        const auto arrivals = static_cast<std::int32_t>(m_chance.oneIn(20) ? 2 : 1);
        gpu::runScoped(
            {gpu::smem("tile", kF32, {std::max(m_slots, threads), kWidth}),
             gpu::smem("lhs", DType::F16, {kSquare, kSquare}),
             gpu::smem("rhs", DType::F16, {kSquare, kSquare}),
             gpu::smem("counts", kInt, {kNumbers}), gpu::barrier("own", arrivals, {threads}),
             gpu::barrier("all", threads), gpu::barrier("full", 1, {m_slots}),
             gpu::barrier("free", std::max(1, threads - 1), {m_slots}), gpu::barrier("loaded", 2)},
            true, [&](const std::vector<pl::Ref>& refs) {
                m_smem = refs;
                gpu::runScoped({gpu::accumulator("sum", {kSquare, kSquare})}, false,
                               [&](const std::vector<pl::Ref>& own) {
                                   m_sum = own[0];
                                   form();
                               });
            });
    }

private:
    enum Argument : std::uint8_t
    {
        X,
        A,
        B,
        Table,
        Y,
        C,
        Counts
    };

    enum Smem : std::uint8_t
    {
        Tile,
        Lhs,
        Rhs,
        Near,
        Own,
        All,
        Full,
        Free,
        Loaded
    };

    // Seldom false: what a kernel without mistakes does.
    bool usually() { return !m_chance.oneIn(25); }

    void form()
    {
        if (m_launch.threads > 1 && m_chance.oneIn(2)) {
            ring();
        }
        if (m_chance.oneIn(3)) {
            product();
        }
        statements(static_cast<int>(m_chance.from(1, 5)), 0);
    }

    pl::Value warpgroup() { return pl::axisIndex("wg"); }

    // A number that is known, or differs by agent, block or round, or comes from memory.
    pl::Value number(std::int64_t limit)
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
            return table[static_cast<int>(m_chance.below(kNumbers))].load()
                   % static_cast<int>(limit);
        }
        default:
            return m_rounds.back() % static_cast<int>(limit);
        }
    }

    // Mostly a line of the block's own, so that most programs have no race.
    pl::Value line(bool mine)
    {
        if (m_chance.oneIn(mine ? 12 : 2)) {
            return number(m_chance.oneIn(30) ? kLines + 2 : kLines);
        }
        pl::Value block = warpgroup();
        for (const ir::MeshAxis& axis : m_launch.grid) {
            block = block + pl::axisIndex(axis.name) * static_cast<int>(m_launch.threads);
        }
        return block % static_cast<int>(kLines);
    }

    pl::Value slot() { return usually() ? warpgroup() : number(m_launch.threads); }

    void statements(int count, int depth)
    {
        for (int i = 0; i < count; ++i) {
            statement(depth);
        }
    }

    void statement(int depth)
    {
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
            m_chance.oneIn(2) ? gpu::waitSmemToGmem(static_cast<std::int32_t>(m_chance.below(3)),
                                                    m_chance.oneIn(2))
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

    void meet()
    {
        gpu::barrierArrive(m_smem[All]);
        if (usually()) {
            gpu::barrierWait(m_smem[All]);
        }
    }

    void copyIn()
    {
        const pl::Value at = slot();
        if (usually()) {
            gpu::commitSmem();
        }
        gpu::copyGmemToSmem(m_arguments[X].at({line(false), pl::all}),
                            m_smem[Tile].at({at, pl::all}), m_smem[Own].at(warpgroup()));
        if (usually()) {
            gpu::barrierWait(m_smem[Own].at(warpgroup()));
        }
    }

    void copyOut()
    {
        const pl::Value at = slot();
        if (m_chance.oneIn(2)) {
            m_smem[Tile].at({at, pl::all})[pl::all] =
                m_arguments[X].at({line(false), pl::all})[pl::all].load() * 2.0F;
        }
        if (!m_chance.oneIn(4)) {
            gpu::commitSmem();
        }
        gpu::copySmemToGmem(m_smem[Tile].at({at, pl::all}),
                            m_arguments[Y].at({line(true), pl::all}), !m_chance.oneIn(6));
        if (!m_chance.oneIn(4)) {
            gpu::waitSmemToGmem(0, m_chance.oneIn(2));
        }
    }

    void compute()
    {
        const pl::Value from = slot(), to = slot();
        m_smem[Tile].at({to, pl::all})[pl::all] =
            m_smem[Tile].at({from, pl::all})[pl::all].load() + 1.0F;
    }

    void atomic()
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

    // The last warpgroup fills slots, the others read them and give them back.
    void ring()
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
                gpu::copyGmemToSmem(m_arguments[X].at({round, pl::all}),
                                    m_smem[Tile].at({at, pl::all}), m_smem[Full].at(at));
            });
            if (waits && usually()) { // so that no phase is left unseen
                pl::foriLoop(
                    std::min<std::int64_t>(tiles, m_slots), {},
                    [&](pl::Value round, std::vector<pl::Value>) {
                        const pl::Value at =
                            (round + static_cast<int>(std::max<std::int64_t>(0, tiles - m_slots)))
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

    // Warpgroup 0 loads both operands; all multiply.
    void product()
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

    Chance& m_chance;
    std::vector<pl::Ref> m_arguments, m_smem;
    gpu::Launch m_launch;
    pl::Ref m_sum = m_arguments[0];
    std::int32_t m_slots = 1;
    std::vector<pl::Value> m_rounds;
};

gpu::Launch launchOf(Chance& chance)
{
    gpu::Launch launch;
    launch.threads = static_cast<std::int32_t>(chance.from(1, 3));
    launch.threadAxis = "wg";
    if (chance.oneIn(60)) { // more than there are SMs
        launch.grid = {{"i", 150}};
    } else if (chance.oneIn(3)) {
        launch.grid = {{"i", static_cast<std::int32_t>(chance.from(1, 3))}, {"j", 2}};
    } else if (chance.oneIn(2)) {
        launch.grid = {{"i", static_cast<std::int32_t>(chance.from(1, 6))}};
    }
    return launch;
}

// Some copies are made for both blocks of a cluster, which are neighbours on the last axis.
void shareCopies(Chance& chance, ir::Region& region)
{
    for (ir::Operation& operation : region.operations) {
        if (auto* copy = std::get_if<ir::LoadCopyParams>(&operation.params);
            copy != nullptr && chance.oneIn(2)) {
            copy->blocks = 2;
        }
        for (ir::Region& inner : operation.regions) {
            shareCopies(chance, inner);
        }
    }
}

Array gpuInputOf(Chance& chance, const ir::Type& type)
{
    std::vector<double> elements;
    for (std::int64_t i = 0; i < type.shape.elements(); ++i) {
        elements.push_back(static_cast<double>(chance.from(0, kNumbers - 1)));
    }
    return arrayOf(type.dtype, type.shape, elements);
}

machine::Settings gpuSettingsOf(Chance& chance)
{
    machine::Settings settings;
    settings.uninitializedMemory = chance.oneIn(4) ? Fill::Zero : settings.uninitializedMemory;
    if (chance.oneIn(3)) {
        settings.outOfBoundsReads = machine::OutOfBoundsReads::Uninitialized;
    }
    if (chance.oneIn(3)) {
        settings.dmaExecutionMode =
            chance.oneIn(2) ? machine::DmaMode::Eager : machine::DmaMode::OnWait;
    }
    settings.detectRaces = chance.oneIn(6) ? machine::DetectRaces::No : machine::DetectRaces::Yes;
    if (chance.oneIn(4)) {
        settings.registers = chance.pick<std::int64_t>({32, 64, 128});
    }
    return settings;
}

} // namespace

RandomProgram randomGpuProgram(std::uint64_t seed)
{
    Chance chance(seed);
    const std::vector<pl::detail::ArgumentSpec> arguments{
        pl::in("x", kF32, {kLines, kWidth}),         pl::in("a", DType::F16, {kSquare, kSquare}),
        pl::in("b", DType::F16, {kSquare, kSquare}), pl::in("table", kInt, {kNumbers}),
        pl::out("y", kF32, {kLines, kWidth}),        pl::out("c", kF32, {kSquare, kSquare}),
        pl::out("counts", kInt, {kNumbers})};
    const std::int64_t kernels = chance.oneIn(5) ? 2 : 1;
    bool inPairs = true;
    RandomProgram random;
    random.program = mustTrace(pl::detail::traceKernel(
        "random", arguments,
        [&](const std::vector<pl::Ref>& refs) {
            for (std::int64_t i = 0; i < kernels; ++i) {
                const gpu::Launch launch = launchOf(chance);
                inPairs = inPairs && !launch.grid.empty() && launch.grid.back().size % 2 == 0;
                gpu::launch(launch, [&] { GpuWriter(chance, refs, launch).body(); });
            }
            return true;
        },
        std::source_location::current()));
    if (inPairs && chance.oneIn(2)) {
        shareCopies(chance, random.program.body);
    }
    for (const ir::Argument& argument : random.program.arguments) {
        if (argument.kind == ir::ArgumentKind::Input) {
            random.inputs.push_back(gpuInputOf(chance, ir::wholeType(random.program, argument)));
        }
    }
    random.chip = &h100();
    random.settings = gpuSettingsOf(chance);
    return random;
}

} // namespace pallascope::machine_test
