// Computes when the copies and waits of a program with manual DMA happen. Every core goes through
// its actions. The core that is furthest behind among those that can go on is next; of two, the one
// with the lower number.
#include "tests/machine/engine/manual_dma_programs.h"

#include <algorithm>

namespace pallascope::machine_test {

namespace {

using Kind = ManualDmaAction::Kind;

constexpr std::size_t kTurn = kHandSemaphores; // its semaphore comes after the DMA semaphores

class Clock
{
public:
    Clock(const ManualDmaProgram& program, const chip::Chip& chip, const trace::Trace& trace);

    ManualDmaTimes run();

private:
    // An action; null stands for what is computed up to the next action.
    using Item = const ManualDmaAction*;

    struct Core
    {
        std::vector<Item> items;
        std::size_t next = 0, row = 0; // number of the item; row in the trace's segments
        std::int64_t time = 0;
        std::optional<std::int64_t> since; // when it began to wait
        std::vector<std::int64_t> counts = std::vector<std::int64_t>(kTurn + 1, 0);
    };

    struct Landing
    {
        std::int64_t time = 0;
        std::size_t core = 0, semaphore = 0;
        std::int64_t bytes = 0;
    };

    void compute(std::size_t core);
    std::int64_t serve(std::int64_t time, std::int64_t bytes, bool isHbm);
    void issue(std::size_t core, const ManualDmaAction& copy);
    void delay(std::size_t core, std::int64_t nanoseconds);
    bool take(std::size_t core, std::size_t semaphore, std::int64_t amount);
    void add(std::size_t core, std::size_t semaphore, std::int64_t amount, std::int64_t time);
    void step(std::size_t core);
    [[nodiscard]] std::optional<std::size_t> first() const;

    const ManualDmaProgram& m_program;
    const chip::Chip& m_chip;
    const trace::Trace& m_trace;
    std::vector<Core> m_cores;
    std::vector<Landing> m_landings; // sorted by time, then by issue
    std::int64_t m_free[2] = {0, 0}; // when the link to HBM and the link on the chip are free
    ManualDmaTimes m_times;
};

std::int64_t bytesOf(const Part& part)
{
    return 4 * part.rows.count * part.columns.count;
}

// What moves: all lanes of rows that are taken whole, and all rows of their tiles.
std::int64_t movedBytes(const Part& part, const ManualDmaRef& ref)
{
    if (part.rows.step != 1 || part.columns.step != 1) {
        return bytesOf(part);
    }
    std::int64_t rows = part.rows.count, columns = part.columns.count, ofTile = 1;
    while (ofTile < std::min<std::int64_t>(ref.rows, 8)) {
        ofTile *= 2;
    }
    rows = rows == ref.rows ? alignTo(rows, ofTile) : rows;
    columns = columns == ref.columns ? alignTo(columns, 128) : columns;
    return 4 * rows * columns;
}

// A copy, a wait for a copy, and a delay by a loaded number compute which semaphore or element they
// use.
Clock::Clock(const ManualDmaProgram& program, const chip::Chip& chip, const trace::Trace& trace)
    : m_program(program)
    , m_chip(chip)
    , m_trace(trace)
    , m_cores(program.cores.size())
{
    for (std::size_t core = 0; core < m_cores.size(); ++core) {
        std::vector<Item>& items = m_cores[core].items;
        if (m_cores.size() > 1) {
            items.push_back(nullptr); // computes which core this is
        }
        bool computes = false;
        for (const ManualDmaAction& action : program.cores[core]) {
            if (action.kind == Kind::Fill || action.kind == Kind::Add) {
                computes = true;
                continue;
            }
            if (computes || action.kind == Kind::Copy || action.kind == Kind::Wait
                || action.kind == Kind::DelayBy) {
                items.push_back(nullptr);
            }
            computes = false;
            items.push_back(&action);
        }
        if (computes) {
            items.push_back(nullptr);
        }
    }
    m_times.waits.resize(m_cores.size());
}

// The next segment of this core must begin now; its length comes from the trace.
void Clock::compute(std::size_t core)
{
    Core& own = m_cores[core];
    const trace::Segments& rows = m_trace.segments();
    while (own.row < rows.size() && static_cast<std::size_t>(rows.agent[own.row]) != core) {
        ++own.row;
    }
    if (own.row == rows.size() || rows.begin[own.row] != own.time) {
        m_times.fault = "core " + std::to_string(core) + " has no segment at "
                        + std::to_string(own.time) + " ps";
        return;
    }
    const auto id = static_cast<std::size_t>(rows.templateId[own.row++]);
    own.time += m_trace.info().templates[id].duration.value();
}

// start = max(issue + latency, free); end = start + bytes / bandwidth, rounded up.
std::int64_t Clock::serve(std::int64_t time, std::int64_t bytes, bool isHbm)
{
    const chip::Link& link = m_chip.links[0];
    const double registers = static_cast<double>(m_chip.registerBytes.value())
                             * static_cast<double>(m_chip.agents[0].clock.value());
    const double rate = isHbm ? link.achieved().value() : registers;
    const auto perSecond = static_cast<std::int64_t>(rate + 0.5);
    const __int128 work = static_cast<__int128>(bytes) * 1'000'000'000'000;
    std::int64_t& free = m_free[isHbm ? 0 : 1];
    const std::int64_t start = std::max(time + (isHbm ? link.latency.value() : 0), free);
    free = start + static_cast<std::int64_t>(work / perSecond) + (work % perSecond > 0 ? 1 : 0);
    m_times.copies.push_back({time, start, free, bytes, isHbm ? 0 : 1});
    return free;
}

void Clock::issue(std::size_t core, const ManualDmaAction& copy)
{
    const bool isHbm = copy.ref < 2 || copy.other < 2, isWithin = copy.ref < 2 && copy.other < 2;
    const std::int64_t bytes = bytesOf(copy.part);
    const auto refAt = [&](std::int32_t number) -> const ManualDmaRef& {
        return m_program.refs[static_cast<std::size_t>(number)];
    };
    const bool isOut = copy.other < 2 && copy.ref >= 2;
    const ManualDmaRef& near = refAt(isOut ? copy.ref : copy.other);
    const std::int64_t moved = near.space == ir::MemorySpace::Smem ? bytes // it has no tiles
                               : isOut ? movedBytes(copy.otherPart, refAt(copy.other))
                                       : movedBytes(copy.part, refAt(copy.ref));
    const std::int64_t end = serve(m_cores[core].time, isWithin ? 2 * moved : moved, isHbm);
    const auto later = [](std::int64_t time, const Landing& one) { return time < one.time; };
    m_landings.insert(std::upper_bound(m_landings.begin(), m_landings.end(), end, later),
                      {end, core, static_cast<std::size_t>(copy.semaphore), bytes});
}

void Clock::delay(std::size_t core, std::int64_t nanoseconds)
{
    Core& own = m_cores[core];
    m_times.waits[core].push_back({own.time, own.time + 1000 * nanoseconds});
    own.time += 1000 * nanoseconds;
}

bool Clock::take(std::size_t core, std::size_t semaphore, std::int64_t amount)
{
    Core& own = m_cores[core];
    if (own.counts[semaphore] < amount) {
        own.since = own.since.value_or(own.time);
        return false;
    }
    own.counts[semaphore] -= amount;
    m_times.waits[core].push_back({own.since.value_or(own.time), own.time});
    own.since.reset();
    return true;
}

void Clock::add(std::size_t core, std::size_t semaphore, std::int64_t amount, std::int64_t time)
{
    Core& own = m_cores[core];
    own.counts[semaphore] += amount;
    if (own.since) {
        const std::int64_t before = std::exchange(own.time, std::max(own.time, time));
        step(core);
        own.time = own.since ? before : own.time;
    }
}

void Clock::step(std::size_t core)
{
    Core& own = m_cores[core];
    if (own.items[own.next] == nullptr) {
        compute(core);
        ++own.next;
        return;
    }
    const ManualDmaAction& one = *own.items[own.next];
    bool passes = true;
    switch (one.kind) {
    case Kind::Copy:
        issue(core, one);
        break;
    case Kind::Wait:
        passes = take(core, static_cast<std::size_t>(one.semaphore), bytesOf(one.part));
        break;
    case Kind::Delay:
    case Kind::DelayBy:
        delay(core, one.amount);
        break;
    case Kind::Signal:
        add(1 - core, kTurn, one.amount, own.time);
        break;
    case Kind::Turn:
        passes = take(core, kTurn, one.amount);
        break;
    case Kind::Fill:
    case Kind::Add:
    case Kind::Enter:
    case Kind::Leave:
        break;
    }
    own.next += passes ? 1 : 0;
}

std::optional<std::size_t> Clock::first() const
{
    std::optional<std::size_t> found;
    for (std::size_t core = 0; core < m_cores.size(); ++core) {
        const Core& one = m_cores[core];
        if (one.next < one.items.size() && !one.since
            && (!found || one.time < m_cores[*found].time)) {
            found = core;
        }
    }
    return found;
}

ManualDmaTimes Clock::run()
{
    const std::int64_t begin = serve(0, 2 * 4 * 32 * 128, true); // the output begins as a copy of x
    m_times.waits[0].push_back({0, begin});
    for (Core& core : m_cores) {
        core.time = begin;
    }
    while (m_times.fault.empty()) {
        const std::optional<std::size_t> core = first();
        if (!m_landings.empty() && (!core || m_landings.front().time <= m_cores[*core].time)) {
            const Landing landing = m_landings.front();
            m_landings.erase(m_landings.begin());
            add(landing.core, landing.semaphore, landing.bytes, landing.time);
        } else if (core) {
            step(*core);
        } else {
            break;
        }
    }
    m_times.end = m_cores[0].time;
    for (const Core& core : m_cores) {
        m_times.end = std::max(m_times.end, core.time);
    }
    if (m_times.end > m_cores[0].time) { // core 0 waits for the other core
        m_times.waits[0].push_back({m_cores[0].time, m_times.end});
    }
    return std::move(m_times);
}

} // namespace

ManualDmaTimes manualDmaTimes(const ManualDmaProgram& program, const chip::Chip& chip,
                              const trace::Trace& trace)
{
    return Clock(program, chip, trace).run();
}

} // namespace pallascope::machine_test
