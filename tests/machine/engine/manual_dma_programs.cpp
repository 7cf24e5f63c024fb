#include "tests/machine/engine/manual_dma_programs.h"

#include <algorithm>

namespace pallascope::machine_test {

namespace {

using Kind = ManualDmaAction::Kind;

constexpr Extent kXRows = 32, kXColumns = 32, kBand = 8; // of x and the output; rows of one owner

bool meet(const Stretch& a, const Stretch& b)
{
    return a.first < b.stop() && b.first < a.stop();
}

// Parts overlap here if their hulls do, as the model judges it.
bool meet(const Part& a, const Part& b)
{
    return meet(a.rows, b.rows) && meet(a.columns, b.columns);
}

class Generator
{
public:
    explicit Generator(std::uint64_t seed)
        : m_random(seed)
    {}

    ManualDmaProgram run();

private:
    struct Flight
    {
        std::int32_t from = 0, to = 0;
        Part read, written;
        std::int32_t semaphore = 0;
    };

    struct Core
    {
        std::vector<std::int32_t> scratch; // refs that are live, the innermost last
        std::vector<std::vector<std::int64_t>> data;
        std::vector<Flight> flights;
        std::vector<std::size_t> scopes; // how many scratch refs were live before each scope
    };

    std::int64_t pick(std::int64_t least, std::int64_t most)
    {
        return std::uniform_int_distribution<std::int64_t>(least, most)(m_random);
    }

    std::vector<std::int64_t>& data(std::int32_t core, std::int32_t ref)
    {
        return ref < 2 ? m_program.arrays[at(ref)] : m_cores[at(core)].data[at(ref)];
    }

    static std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

    void emit(std::int32_t core, ManualDmaAction action)
    {
        m_program.cores[at(core)].push_back(action);
    }

    template<class Visit>
    void forEach(std::int32_t ref, const Part& part, Visit visit) const
    {
        const Extent columns = m_program.refs[at(ref)].columns;
        for (Extent i = 0; i < part.rows.count; ++i) {
            for (Extent j = 0; j < part.columns.count; ++j) {
                visit(at((part.rows.first + i * part.rows.step) * columns + part.columns.first
                         + j * part.columns.step));
            }
        }
    }

    Stretch stretch(Extent first, Extent stop, Extent count);
    Part partOf(std::int32_t ref, std::int32_t band, Extent rows, Extent columns);
    Part whole(std::int32_t ref) const;
    void drain(std::int32_t core, std::int32_t semaphore);
    void drainAll(std::int32_t core);
    void clear(std::int32_t core, std::int32_t ref, const Part& part, bool writes);
    void fill(std::int32_t core, std::int32_t ref);
    void copy(std::int32_t core, std::int32_t from, const Part& source, std::int32_t to,
              const Part& target);
    void randomCopy(std::int32_t core);
    void add(std::int32_t core);
    void delayBy(std::int32_t core);
    void enter(std::int32_t core);
    void leave(std::int32_t core);
    void handOff(std::int32_t from);
    void act(std::int32_t core);
    [[nodiscard]] std::int32_t ownBand(std::int32_t core);
    [[nodiscard]] std::int32_t vmemRef(std::int32_t core);

    std::mt19937_64 m_random;
    ManualDmaProgram m_program;
    std::vector<Core> m_cores;
    std::vector<std::int32_t> m_owner; // for each band of the output
};

Stretch Generator::stretch(Extent first, Extent stop, Extent count)
{
    const Extent room = stop - first;
    const Extent step = count > 1 ? pick(1, std::min<Extent>(3, (room - 1) / (count - 1))) : 1;
    return {pick(first, stop - (count - 1) * step - 1), count, step};
}

// A part with this many rows and columns; in the output it lies within one band of rows.
Part Generator::partOf(std::int32_t ref, std::int32_t band, Extent rows, Extent columns)
{
    const ManualDmaRef& of = m_program.refs[at(ref)];
    const Extent first = ref == 1 ? band * kBand : 0, stop = ref == 1 ? first + kBand : of.rows;
    return {stretch(first, stop, rows), stretch(0, of.columns, columns)};
}

Part Generator::whole(std::int32_t ref) const
{
    return {{0, m_program.refs[at(ref)].rows, 1}, {0, m_program.refs[at(ref)].columns, 1}};
}

// Waits for every copy on a semaphore, because the bytes of one copy may satisfy the wait for
// another.
void Generator::drain(std::int32_t core, std::int32_t semaphore)
{
    std::vector<Flight>& flights = m_cores[at(core)].flights;
    std::vector<Flight> mine;
    std::copy_if(flights.begin(), flights.end(), std::back_inserter(mine),
                 [&](const Flight& flight) { return flight.semaphore == semaphore; });
    std::shuffle(mine.begin(), mine.end(), m_random);
    for (const Flight& flight : mine) {
        emit(
            core,
            {.kind = Kind::Wait, .ref = flight.to, .part = flight.written, .semaphore = semaphore});
    }
    std::erase_if(flights, [&](const Flight& flight) { return flight.semaphore == semaphore; });
}

void Generator::drainAll(std::int32_t core)
{
    for (std::int32_t semaphore = 0; semaphore < kHandSemaphores; ++semaphore) {
        drain(core, semaphore);
    }
}

// Waits for the copies that an access must not overlap.
void Generator::clear(std::int32_t core, std::int32_t ref, const Part& part, bool writes)
{
    std::vector<Flight>& flights = m_cores[at(core)].flights;
    for (bool found = true; found;) {
        found = false;
        for (const Flight& flight : flights) {
            if ((flight.to == ref && meet(flight.written, part))
                || (writes && flight.from == ref && meet(flight.read, part))) {
                const std::int32_t semaphore = flight.semaphore;
                const bool alone =
                    std::count_if(flights.begin(), flights.end(),
                                  [&](const Flight& other) { return other.semaphore == semaphore; })
                    == 1;
                drain(core, semaphore);
                m_program.cores[at(core)].back().guards = alone;
                found = true;
                break;
            }
        }
    }
}

void Generator::fill(std::int32_t core, std::int32_t ref)
{
    const ManualDmaRef& of = m_program.refs[at(ref)];
    data(core, ref).assign(at(of.rows * of.columns), 0);
    if (of.space == ir::MemorySpace::Smem) {
        copy(core, 0, partOf(0, 0, of.rows, of.columns), ref, whole(ref));
        drainAll(core);
        return;
    }
    const auto number = static_cast<int>(pick(0, 9));
    data(core, ref).assign(at(of.rows * of.columns), number);
    emit(core, {.kind = Kind::Fill, .ref = ref, .part = whole(ref), .amount = number});
}

void Generator::copy(std::int32_t core, std::int32_t from, const Part& source, std::int32_t to,
                     const Part& target)
{
    clear(core, from, source, false);
    clear(core, to, target, true);
    const auto semaphore = static_cast<std::int32_t>(pick(0, kHandSemaphores - 1));
    emit(core, {.kind = Kind::Copy,
                .ref = from,
                .other = to,
                .part = source,
                .otherPart = target,
                .semaphore = semaphore});
    m_cores[at(core)].flights.push_back({from, to, source, target, semaphore});
    std::vector<std::int64_t> moved;
    forEach(from, source, [&](std::size_t i) { moved.push_back(data(core, from)[i]); });
    auto next = moved.begin();
    forEach(to, target, [&](std::size_t i) { data(core, to)[i] = *next++; });
}

std::int32_t Generator::ownBand(std::int32_t core)
{
    std::vector<std::int32_t> bands;
    for (std::size_t band = 0; band < m_owner.size(); ++band) {
        if (m_owner[band] == core) {
            bands.push_back(static_cast<std::int32_t>(band));
        }
    }
    return bands.empty() ? -1 : bands[at(pick(0, static_cast<std::int64_t>(bands.size()) - 1))];
}

std::int32_t Generator::vmemRef(std::int32_t core)
{
    const std::vector<std::int32_t>& scratch = m_cores[at(core)].scratch;
    while (true) {
        const std::int32_t ref =
            scratch[at(pick(0, static_cast<std::int64_t>(scratch.size()) - 1))];
        if (m_program.refs[at(ref)].space == ir::MemorySpace::Vmem) {
            return ref;
        }
    }
}

// Copies between any two places, but not to x and not from a place to itself.
void Generator::randomCopy(std::int32_t core)
{
    const std::int32_t band = ownBand(core);
    std::vector<std::int32_t> places = m_cores[at(core)].scratch;
    if (band >= 0) {
        places.push_back(1);
    }
    const std::int32_t to = places[at(pick(0, static_cast<std::int64_t>(places.size()) - 1))];
    places.push_back(0);
    std::int32_t from = to;
    while (from == to) {
        from = places[at(pick(0, static_cast<std::int64_t>(places.size()) - 1))];
    }
    const auto rowsOf = [&](std::int32_t ref) {
        return ref == 1 ? kBand : m_program.refs[at(ref)].rows;
    };
    const Extent rows = pick(1, std::min(rowsOf(from), rowsOf(to))),
                 columns = pick(
                     1, std::min(m_program.refs[at(from)].columns, m_program.refs[at(to)].columns));
    const Part source = partOf(from, band, rows, columns), target = partOf(to, band, rows, columns);
    copy(core, from, source, to, target);
}

void Generator::add(std::int32_t core)
{
    const std::int32_t ref = vmemRef(core);
    const ManualDmaRef& of = m_program.refs[at(ref)];
    const Part part = partOf(ref, 0, pick(1, of.rows), pick(1, of.columns));
    clear(core, ref, part, true);
    const auto number = static_cast<int>(pick(1, 5));
    forEach(ref, part, [&](std::size_t i) { data(core, ref)[i] += number; });
    emit(core, {.kind = Kind::Add, .ref = ref, .part = part, .amount = number});
}

void Generator::delayBy(std::int32_t core)
{
    constexpr std::int32_t kSmem = 4;
    const Part part = partOf(kSmem, 0, 1, 1);
    clear(core, kSmem, part, false);
    int number = 0;
    forEach(kSmem, part, [&](std::size_t i) { number = static_cast<int>(data(core, kSmem)[i]); });
    emit(core, {.kind = Kind::DelayBy, .ref = kSmem, .part = part, .amount = number});
}

void Generator::enter(std::int32_t core)
{
    const auto ref = static_cast<std::int32_t>(m_program.refs.size());
    m_program.refs.push_back({"inner" + std::to_string(ref), pick(1, 16), pick(1, 24)});
    Core& own = m_cores[at(core)];
    own.scopes.push_back(own.scratch.size());
    own.scratch.push_back(ref);
    for (Core& one : m_cores) {
        one.data.resize(m_program.refs.size());
    }
    emit(core, {.kind = Kind::Enter, .ref = ref});
    fill(core, ref);
}

void Generator::leave(std::int32_t core)
{
    Core& own = m_cores[at(core)];
    drainAll(core);
    emit(core, {.kind = Kind::Leave});
    own.scratch.resize(own.scopes.back());
    own.scopes.pop_back();
}

// Hands a band of the output that this core has written to the other core, which reads it.
void Generator::handOff(std::int32_t from)
{
    const std::int32_t to = 1 - from, band = ownBand(from);
    if (band < 0) {
        return;
    }
    const Part part{{band * kBand, 1, 1}, {pick(0, kXColumns - 1), 1, 1}};
    copy(from, 2, partOf(2, 0, 1, 1), 1, part);
    drainAll(from);
    const auto amount = static_cast<int>(pick(1, 3));
    emit(from, {.kind = Kind::Signal, .amount = amount});
    emit(to, {.kind = Kind::Turn, .amount = amount});
    ++m_program.handOffs;
    m_owner[at(band)] = to;
    copy(to, 1, part, 2, partOf(2, 0, 1, 1));
}

void Generator::act(std::int32_t core)
{
    const std::int64_t what = pick(0, 19);
    if (what < 9) {
        randomCopy(core);
    } else if (what < 13) {
        add(core);
    } else if (what < 14) {
        emit(core, {.kind = Kind::Delay, .amount = static_cast<int>(pick(0, 60))});
    } else if (what < 16) {
        delayBy(core);
    } else if (what < 17) {
        drain(core, static_cast<std::int32_t>(pick(0, kHandSemaphores - 1)));
    } else if (what < 18 && m_cores.size() == 2) {
        handOff(core);
    } else if (m_cores[at(core)].scopes.empty()
               || (what < 19 && m_cores[at(core)].scopes.size() < 3)) {
        enter(core);
    } else {
        leave(core);
    }
}

ManualDmaProgram Generator::run()
{
    const auto cores = static_cast<std::int32_t>(pick(1, 2));
    m_program.refs = {{"x", kXRows, kXColumns, ir::MemorySpace::Hbm},
                      {"out", kXRows, kXColumns, ir::MemorySpace::Hbm},
                      {"a", pick(4, 12), pick(8, 32)},
                      {"b", pick(4, 12), pick(8, 32)},
                      {"s", pick(1, 3), pick(1, 4), ir::MemorySpace::Smem}};
    std::vector<std::int64_t> x(at(kXRows * kXColumns));
    std::generate(x.begin(), x.end(), [&] { return pick(0, 50); });
    m_program.arrays = {x, x};
    m_program.cores.resize(at(cores));
    m_cores.resize(at(cores));
    for (std::int32_t band = 0; band < kXRows / kBand; ++band) {
        m_owner.push_back(static_cast<std::int32_t>(pick(0, cores - 1)));
    }
    for (std::int32_t core = 0; core < cores; ++core) {
        m_cores[at(core)].scratch = {2, 3, 4};
        m_cores[at(core)].data.resize(m_program.refs.size());
        for (const std::int32_t ref : {2, 3, 4}) {
            fill(core, ref);
        }
    }
    for (std::int64_t left = pick(3, 20); left > 0; --left) {
        act(static_cast<std::int32_t>(pick(0, cores - 1)));
    }
    for (std::int32_t core = 0; core < cores; ++core) {
        while (!m_cores[at(core)].scopes.empty()) {
            leave(core);
        }
        drainAll(core);
    }
    return std::move(m_program);
}

} // namespace

ManualDmaProgram randomManualDmaProgram(std::uint64_t seed)
{
    return Generator(seed).run();
}

Array ManualDmaProgram::input() const
{
    return arrayOf(DType::Int32, refs[0].shape(), {arrays[0].begin(), arrays[0].end()});
}

} // namespace pallascope::machine_test
