#include "core/machine/parts/long_grids.h"

#include "core/ir/mesh.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

namespace pallascope::machine {

namespace {

// Stretches are alike if their times, and how many segments run in them, differ by no more than
// this share. It takes so many of them.
constexpr double kAlike = 0.005;
constexpr std::size_t kStretches = 3;
// So many waves that differ from the others come first, and after what was passed over.
constexpr std::size_t kUnlike = 1;
// The fewest waves of a stretch, and the most by which stretches grow that no period decides.
constexpr std::size_t kFewestWaves = 1, kMostWaves = 64;
// At most so many times as many blocks are passed over as came before, so that times which drift
// slowly are noticed.
constexpr std::int64_t kMostAhead = 24;

// Whether blocks do without each other: none waits for another one or takes its place, and nothing
// that they write decides what happens later.
bool areIndependent(const Prepared& prepared, const ir::Region& body)
{
    std::set<ir::ValueId> own(body.arguments.begin(), body.arguments.end());
    bool independent = true;
    ir::forEachOperation(body, [&](const ir::Operation& operation) {
        own.insert(operation.results.begin(), operation.results.end());
        for (const ir::Region& region : operation.regions) {
            own.insert(region.arguments.begin(), region.arguments.end());
        }
        switch (operation.code) {
        case ir::OpCode::SemaphoreSignal:
        case ir::OpCode::SemaphoreWait:
        case ir::OpCode::SemaphoreRead:
        case ir::OpCode::TryClusterCancel:
        case ir::OpCode::DebugPrint:
            independent = false;
            break;
        default:
            break;
        }
        for (std::size_t i = 0; i < operation.operands.size(); ++i) {
            const ir::ValueId ref = operation.operands[i];
            if (ir::writes(operation, i) && prepared.needed.needsContents(ref)
                && !own.contains(prepared.needed.root(ref))) {
                independent = false;
            }
        }
    });
    return independent;
}

// How many waves may take the same time again: as many as end where some of the grid's axes begin
// anew, or any number.
std::vector<std::size_t> lengthsOf(const std::vector<ir::MeshAxis>& grid, std::int64_t all,
                                   std::int64_t atATime)
{
    const auto most = static_cast<std::size_t>(all / atATime) / kStretches;
    std::set<std::size_t> lengths;
    std::int64_t period = 1;
    for (auto axis = grid.rbegin(); axis != grid.rend(); ++axis) {
        period *= axis->size;
        const auto waves = static_cast<std::size_t>(std::lcm(period, atATime) / atATime);
        const std::size_t times = (kFewestWaves + waves - 1) / waves;
        lengths.insert(waves * times);
    }
    for (std::size_t waves = kFewestWaves; waves <= kMostWaves; waves *= 2) {
        lengths.insert(waves);
    }
    lengths.erase(lengths.upper_bound(most), lengths.end());
    return {lengths.begin(), lengths.end()};
}

} // namespace

void LongGrids::begin(const ir::Operation& coreMap, std::int32_t atATime)
{
    const auto& mesh = std::get<ir::CoreMapParams>(coreMap.params);
    m_all = ir::sizeOf(mesh.grid);
    m_atATime = 0;
    m_first = 0;
    m_waves.clear();
    m_passed.reset();
    m_time = {};
    const bool mayPass = m_setting != LongGrid::Whole && m_prepared.chip.multiprocessor
                         && m_recorder.keepsSums() && m_prepared.values == ValueMode::Needed
                         && m_prepared.layout.devices == 1;
    if (mayPass && m_all > static_cast<std::int64_t>(kStretches * kFewestWaves) * atATime
        && areIndependent(m_prepared, coreMap.regions[0])) {
        m_atATime = atATime;
        m_lengths = lengthsOf(mesh.grid, m_all, atATime);
    }
}

std::int32_t LongGrids::pass(std::int32_t next, Picoseconds now)
{
    if (m_atATime == 0 || (next - m_first) % m_atATime != 0) {
        return next;
    }
    m_waves.push_back({now, m_recorder.sumsSoFar()});
    if (m_passed && m_waves.size() > m_passed->length + kUnlike) {
        settle(last(m_passed->length));
        m_first = next;
        m_waves.assign(1, {now, m_recorder.sumsSoFar()});
    }
    if (m_setting == LongGrid::Auto && m_turns < kTurnsOfShortRuns) {
        return next;
    }
    for (const std::size_t waves : m_lengths) {
        const std::int64_t passed = areAlike(waves) ? passable(waves, next) : 0;
        if (passed > 0) {
            m_passed = {passed, waves, last(kStretches * waves)};
            m_first = next + static_cast<std::int32_t>(passed * m_atATime);
            m_waves.assign(1, m_waves.back());
            return m_first;
        }
    }
    return next;
}

Picoseconds LongGrids::end()
{
    if (m_passed) {
        settle(m_passed->before);
    }
    m_atATime = 0;
    m_waves.clear();
    return m_time;
}

// The last waves that have begun to the end, or those a number of waves before them.
LongGrids::Stretch LongGrids::last(std::size_t waves, std::size_t earlier) const
{
    const Wave& to = m_waves[m_waves.size() - 1 - earlier];
    const Wave& from = m_waves[m_waves.size() - 1 - earlier - waves];
    return {waves, to.time - from.time, from.sums, to.sums};
}

std::int64_t LongGrids::segmentsBy(const Recorder::SumsSoFar& moment)
{
    const std::vector<std::int64_t>& instances = moment.sums.instances;
    return std::accumulate(instances.begin(), instances.end(), std::int64_t{0});
}

bool LongGrids::areAlike(std::size_t waves) const
{
    if (m_passed || m_waves.size() <= kStretches * waves + (m_first == 0 ? kUnlike : 0)) {
        return false;
    }
    const auto differ = [](std::int64_t a, std::int64_t b) {
        return static_cast<double>(std::abs(a - b)) > kAlike * static_cast<double>(b);
    };
    const Stretch newest = last(waves);
    for (std::size_t stretch = 1; stretch < kStretches; ++stretch) {
        const Stretch older = last(waves, stretch * waves);
        if (differ(older.time.value(), newest.time.value())
            || differ(older.segments(), newest.segments())) {
            return false;
        }
    }
    return true;
}

// How many waves can be passed over if so many repeat: as many are left after them.
std::int64_t LongGrids::passable(std::size_t waves, std::int32_t next) const
{
    const auto length = static_cast<std::int64_t>(waves);
    const std::int64_t begun = next / m_atATime, left = (m_all - next) / m_atATime;
    const std::int64_t most =
        std::min(left - length - static_cast<std::int64_t>(kUnlike), kMostAhead * begun);
    return most / length * length;
}

// Counts what was passed over: half of it like the waves before, half like those after.
void LongGrids::settle(const Stretch& after)
{
    const std::int64_t half = m_passed->waves / 2;
    add(m_passed->waves - half, m_passed->before);
    add(half, after);
    m_recorder.countPassed(m_passed->waves * m_atATime);
    m_passed.reset();
}

void LongGrids::add(std::int64_t waves, const Stretch& like)
{
    const auto of = static_cast<std::int64_t>(like.waves);
    m_time += Picoseconds((like.time * waves).value() / of);
    m_recorder.addAgain(like.before, like.after, waves, of);
}

} // namespace pallascope::machine
