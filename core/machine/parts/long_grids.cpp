#include "core/machine/parts/long_grids.h"

#include "core/base/shape.h"
#include "core/ir/mesh.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

namespace pallascope::machine {

namespace {

// Stretches are alike if their times, how many segments run in them and how long links are busy
// differ by no more than this share. It takes so many of them, and at least half of all waves.
constexpr double kAlike = 0.005;
constexpr std::size_t kStretches = 3;
// So many waves that differ from the others come first, and after what was passed over.
constexpr std::size_t kUnlike = 1;
// The longest stretch, in waves, unless axes of the grid begin anew after a longer one.
constexpr std::size_t kLongest = 64;
// If so many waves show nothing that repeats, none is looked for any more.
constexpr std::size_t kMostWaves = 4096;
// At most so many times as many blocks are passed over as came before, so that times which drift
// slowly are noticed.
constexpr std::int64_t kMostAhead = 8;

// Whether it concerns its own block alone, and need not run in each: it neither waits for other
// blocks nor takes the place of one, and nothing is said about what it finds.
bool keepsToItsBlock(const ir::Operation& operation)
{
    switch (operation.code) {
    case ir::OpCode::SemaphoreSignal:
    case ir::OpCode::SemaphoreWait:
    case ir::OpCode::SemaphoreRead:
    case ir::OpCode::TryClusterCancel:
    case ir::OpCode::DebugPrint:
    case ir::OpCode::DebugCheck:
    case ir::OpCode::Pipeline:
        return false;
    default:
        return true;
    }
}

// Whether blocks do without each other, and what they do depends only on where they are in the
// grid: not on numbers that they read, nor does anything later depend on what they write.
bool areIndependent(const Prepared& prepared, const ir::Region& body)
{
    std::set<ir::ValueId> own(body.arguments.begin(), body.arguments.end());
    bool independent = true;
    ir::forEachOperation(body, [&](const ir::Operation& operation) {
        own.insert(operation.results.begin(), operation.results.end());
        for (const ir::Region& region : operation.regions) {
            own.insert(region.arguments.begin(), region.arguments.end());
        }
        independent = independent && keepsToItsBlock(operation);
        for (const ir::ValueId operand : operation.operands) {
            const ir::Type& type = prepared.program.type(operand);
            if (type.space && prepared.needed.needsContents(operand)
                && !own.contains(prepared.needed.root(operand))) {
                independent = false;
            }
        }
    });
    return independent;
}

// How many clusters go by until so many of the last axes begin anew: of the last one alone, of the
// last two, and so on, but not of all.
std::vector<std::int64_t> periodsOf(const std::vector<ir::MeshAxis>& grid)
{
    std::vector<std::int64_t> periods;
    std::int64_t period = 1;
    for (std::size_t axis = grid.size(); axis-- > 1;) {
        period *= grid[axis].size;
        periods.push_back(period);
    }
    return periods;
}

// How many waves may take the same time again: as many as end where axes begin anew, or 1, 2, 4...
std::vector<std::size_t> lengthsOf(const std::vector<std::int64_t>& periods, std::int64_t all,
                                   std::int64_t atATime)
{
    std::set<std::size_t> lengths;
    for (const std::int64_t period : periods) {
        lengths.insert(static_cast<std::size_t>(std::lcm(period, atATime) / atATime));
    }
    for (std::size_t waves = 1; waves <= kLongest; waves *= 2) {
        lengths.insert(waves);
    }
    lengths.erase(lengths.upper_bound(static_cast<std::size_t>(all / atATime) / kStretches),
                  lengths.end());
    return {lengths.begin(), lengths.end()};
}

} // namespace

void LongGrids::begin(const ir::Operation& coreMap, std::int32_t atATime)
{
    const auto& mesh = std::get<ir::CoreMapParams>(coreMap.params);
    m_all = ir::sizeOf(mesh.grid);
    m_atATime = 0;
    m_blocks = ir::sizeOf(mesh.cluster);
    m_first = m_alikeSince = 0;
    m_waveTime = m_waveSegments = 0;
    m_waves.clear();
    m_passed.reset();
    m_time = {};
    const bool mayPass = m_setting != LongGrid::Whole && m_prepared.chip.multiprocessor
                         && m_recorder.keepsSums() && m_prepared.values == ValueMode::Needed
                         && m_prepared.layout.devices == 1;
    if (mayPass && m_all > static_cast<std::int64_t>(2 * kStretches) * atATime
        && areIndependent(m_prepared, coreMap.regions[0])) {
        m_atATime = atATime;
        m_periods = periodsOf(mesh.grid);
        m_lengths = lengthsOf(m_periods, m_all, atATime);
    }
}

void LongGrids::note(Picoseconds now)
{
    Wave wave{now, m_recorder.sumsSoFar(now)};
    const std::vector<std::int64_t>& instances = wave.sums.sums.instances;
    wave.segments = std::accumulate(instances.begin(), instances.end(), std::int64_t{0});
    m_waves.push_back(std::move(wave));
}

// Whether a wave still is what it was when some were last alike; otherwise it is something else
// since then.
void LongGrids::compare(const Stretch& stretch, std::int32_t since)
{
    const auto waves = static_cast<double>(stretch.waves);
    const double time = static_cast<double>(stretch.time().value()) / waves,
                 segments = static_cast<double>(stretch.segments()) / waves;
    const auto differ = [](double a, double b) { return std::abs(a - b) > 2 * kAlike * b; };
    if (differ(time, m_waveTime) || differ(segments, m_waveSegments)) {
        m_alikeSince = since;
        m_waveTime = time;
        m_waveSegments = segments;
    }
}

std::int32_t LongGrids::pass(std::int32_t next, Picoseconds now)
{
    if (m_atATime == 0 || (next - m_first) % m_atATime != 0) {
        return next;
    }
    note(now);
    if (m_passed && m_waves.size() > m_passed->length + kUnlike) {
        compare(last(m_passed->length), m_first);
        settle(last(m_passed->length));
        m_first = next;
        m_waves.clear();
        note(now);
    }
    if (m_setting == LongGrid::Auto && m_turns < kTurnsOfShortRuns) {
        return next;
    }
    for (const std::size_t waves : m_lengths) {
        if (!areAlike(waves)) {
            continue;
        }
        const Stretch before = last(kStretches * waves);
        compare(before, m_first);
        if (const std::int64_t passed = passable(waves, next); passed > 0) {
            m_passed = {passed, waves, before.waves, before.from, before.to};
            m_first = next + static_cast<std::int32_t>(passed * m_atATime);
            m_waves.clear();
            note(now);
            return m_first;
        }
    }
    m_atATime = m_waves.size() < kMostWaves ? m_atATime : 0;
    return next;
}

Picoseconds LongGrids::end()
{
    if (m_passed) {
        settle({m_passed->before, m_passed->from, m_passed->to});
    }
    m_atATime = 0;
    m_waves.clear();
    return m_time;
}

// The last waves that have begun to the end, or those a number of waves before them.
LongGrids::Stretch LongGrids::last(std::size_t waves, std::size_t earlier) const
{
    const std::size_t to = m_waves.size() - 1 - earlier;
    return {waves, m_waves[to - waves], m_waves[to]};
}

bool LongGrids::Stretch::isLike(const Stretch& other) const
{
    const auto differ = [](std::int64_t a, std::int64_t b, std::int64_t of) {
        return static_cast<double>(std::abs(a - b)) > kAlike * static_cast<double>(of);
    };
    const std::int64_t lasts = time().value();
    if (differ(other.time().value(), lasts, lasts)
        || differ(other.segments(), segments(), segments())) {
        return false;
    }
    for (std::size_t link = 0; link < from.sums.sums.linkBusy.size(); ++link) {
        const auto busy = [link](const Stretch& one) {
            return (one.to.sums.sums.linkBusy[link] - one.from.sums.sums.linkBusy[link]).value();
        };
        if (differ(busy(other), busy(*this), lasts)) {
            return false;
        }
    }
    return true;
}

// Whether so many waves repeat: kStretches times, and after the first of them through half of all.
bool LongGrids::areAlike(std::size_t waves) const
{
    const std::size_t begun = m_waves.size() - 1;
    const std::size_t unlike = m_first == 0 ? kUnlike : 0;
    const std::size_t stretches =
        std::max(kStretches, m_first == 0 ? begun / 2 / waves : std::size_t{0});
    if (m_passed || begun < stretches * waves + unlike) {
        return false;
    }
    const Stretch newest = last(waves);
    for (std::size_t stretch = 1; stretch < stretches; ++stretch) {
        if (!newest.isLike(last(waves, stretch * waves))) {
            return false;
        }
    }
    return true;
}

// How many waves can be passed over if so many repeat. As many, and kUnlike, are left after them
// before the end, and before an axis of the grid steps that has not stepped kStretches times since
// waves have been alike.
std::int64_t LongGrids::passable(std::size_t waves, std::int32_t next) const
{
    const auto length = static_cast<std::int64_t>(waves);
    const std::int64_t after = (length + static_cast<std::int64_t>(kUnlike)) * m_atATime;
    std::int64_t until = m_all - 1 - after;
    for (const std::int64_t period : m_periods) {
        if (next - m_alikeSince < static_cast<std::int64_t>(kStretches) * period) {
            until = std::min(until, alignTo(std::int64_t{next}, period) - after);
        }
    }
    const std::int64_t most = std::min((until - next) / m_atATime, kMostAhead * next / m_atATime);
    return most < length ? 0 : most / length * length;
}

// Counts what was passed over: half of it like the waves before, half like those after.
void LongGrids::settle(const Stretch& after)
{
    const Passed passed = *m_passed;
    const std::int64_t half = passed.waves / 2;
    add(passed.waves - half, {passed.before, passed.from, passed.to});
    add(half, after);
    m_recorder.countPassed(passed.waves * m_atATime * m_blocks);
    m_passed.reset();
}

void LongGrids::add(std::int64_t waves, const Stretch& like)
{
    const auto of = static_cast<std::int64_t>(like.waves);
    m_time += Picoseconds((like.time() * waves).value() / of);
    m_recorder.addAgain(like.from.sums, like.to.sums, waves, of);
}

} // namespace pallascope::machine
