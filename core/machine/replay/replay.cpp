// Moves a replay to any moment: restores the nearest checkpoint before it and runs on from there.
// Keeps checkpoints within the limits of memory that were given.
#include "core/machine/replay.h"

#include "core/machine/arith/going_on.h"
#include "core/machine/replay/replay_impl.h"
#include "core/machine/replay/upcoming.h"
#include "core/trace/columns.h"

#include <algorithm>
#include <chrono>
#include <unordered_set>
#include <utility>

namespace pallascope::machine {

namespace {

// Bytes of memory that a checkpoint holds and that are not yet in `known`. Adds them to `known`.
Bytes newIn(const State& state, std::unordered_set<const std::byte*>& known)
{
    std::int64_t bytes = 0;
    const auto add = [&](const std::byte* piece, std::int64_t size) {
        bytes += piece != nullptr && known.insert(piece).second ? size : 0;
    };
    for (std::int32_t i = 0; i < state.memory.end(); ++i) {
        state.memory[i].contents.forEachPiece(add);
    }
    for (const SectorCache& cache : state.copies.caches) {
        bytes += cache.bytesOfMemory();
    }
    for (const auto& [slot, use] : state.slotUses) {
        bytes += use.l1 ? use.l1->bytesOfMemory() : 0;
    }
    for (const Agent& agent : state.agents) {
        bytes += static_cast<std::int64_t>(agent.values.size() * sizeof(RuntimeValue)
                                           + agent.refs.size() * sizeof(RefBinding));
        for (const RuntimeValue& value : agent.values) {
            add(value.data.get(), value.elements() * dtypeBytes(value.dtype));
            add(value.shadow.mask.get(), value.elements());
        }
        for (const Frame& frame : agent.frames) {
            if (const auto* pipeline = std::get_if<PipelineFrame>(&frame)) {
                for (const PipelineOperand& operand : pipeline->operands) {
                    bytes += static_cast<std::int64_t>(operand.lastVisitOfBlock.size()
                                                       * sizeof(std::int32_t));
                }
            }
        }
    }
    for (const Queue<Flight>& link : state.copies.flights) {
        for (const Flight& flight : link) {
            flight.payload.forEachPiece(add);
        }
    }
    return Bytes(bytes);
}

} // namespace

Replay::Impl::Impl(std::shared_ptr<const ir::Program> theProgram,
                   std::shared_ptr<const chip::Chip> theChip,
                   std::shared_ptr<const Prepared> thePrepared, Options theOptions,
                   Spacing theSpacing)
    : program(std::move(theProgram))
    , chip(std::move(theChip))
    , prepared(std::move(thePrepared))
    , options(std::move(theOptions))
    , spacing(theSpacing)
    , engine(*prepared, options, Keeps::Marks)
{}

Replay::Replay(std::unique_ptr<Impl> impl)
    : m_impl(std::move(impl))
{}

Replay::~Replay() = default;

Result<std::unique_ptr<Replay>> Replay::start(ir::Program program, const std::vector<Array>& inputs,
                                              chip::Chip chip, const Options& options,
                                              Spacing spacing)
{
    auto shared = std::make_shared<const ir::Program>(std::move(program));
    auto model = std::make_shared<const chip::Chip>(std::move(chip));
    Result<std::shared_ptr<const Prepared>> prepared =
        prepare(*shared, *model, options.values, false, options.settings);
    if (!prepared) {
        return prepared.error();
    }
    Options quiet = options; // a replay is cancelled between its slices and checks no results
    quiet.progress = nullptr;
    quiet.check = nullptr;
    quiet.rows = false;
    auto impl = std::make_unique<Impl>(std::move(shared), std::move(model), std::move(*prepared),
                                       std::move(quiet), spacing);
    if (Status status = impl->engine.bind(inputs); !status) {
        return status.error();
    }
    impl->keepCheckpoint();
    impl->latest.push_back(impl->engine.now());
    return std::unique_ptr<Replay>(new Replay(std::move(impl)));
}

// The arrays at the start of the run exist once in any case, so they are not counted.
void Replay::Impl::keepCheckpoint()
{
    checkpoints.push_back(engine.save());
    cost = 0;
    std::unordered_set<const std::byte*> known;
    (void)newIn(checkpoints.front().state, known);
    if (checkpoints.size() == 1) {
        return;
    }
    (void)newIn(checkpoints[checkpoints.size() - 2].state, known);
    held += newIn(checkpoints.back().state, known);
    if (held > spacing.memory) {
        thin();
    }
}

// Drops every second checkpoint, and from now on keeps them only half as often.
void Replay::Impl::thin()
{
    spacing.between = Seconds(2 * spacing.between.value());
    std::size_t kept = 0;
    std::unordered_set<const std::byte*> known;
    held = {};
    for (std::size_t i = 0; i < checkpoints.size(); i += 2) {
        if (kept != i) {
            checkpoints[kept] = std::move(checkpoints[i]);
        }
        const Bytes more = newIn(checkpoints[kept].state, known);
        held += kept++ == 0 ? Bytes() : more;
    }
    checkpoints.resize(kept);
}

void Replay::Impl::approach(std::size_t count, bool isPast)
{
    const Engine::Checkpoint& nearest = checkpoints[std::max<std::size_t>(count, 1) - 1];
    if (isPast || nearest.position.events > sequence()) {
        engine.restore(nearest);
        cost = 0;
    }
}

Result<bool> Replay::Impl::advanceWhile(const std::function<bool()>& goesOn, Until until)
{
    const std::int64_t from = sequence();
    try {
        const arith::GoingOn going(goesOn);
        const Status status = advance(until);
        return status ? Result<bool>(true) : Result<bool>(status.error());
    } catch (const arith::GivenUp&) { // in the middle of an operation, which is no moment
        engine.restore(checkpoints[countUpTo(from) - 1]);
        cost = 0;
        return false;
    }
}

Result<bool> Replay::Impl::forward(Until until, const Proceed& proceed)
{
    const std::int64_t from = sequence();
    const auto share = [&] {
        const std::int64_t all = std::max<std::int64_t>(until.events - from, 1);
        return static_cast<double>(sequence() - from) / static_cast<double>(all);
    };
    while (!engine.hasEnded() && sequence() < until.events) {
        const auto begin = std::chrono::steady_clock::now();
        const std::int64_t to = endOfSlice(until.events);
        const auto goesOn = [&] { return !proceed || proceed(share()); };
        if (Result<bool> went = advanceWhile(goesOn, {to, until.time}); !went || !*went) {
            return went;
        }
        const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
        cost += took.count();
        constexpr double kShort = 0.001, kLong = 0.004; // seconds
        constexpr std::int64_t kMost = 1 << 20;
        slice = took.count() < kShort  ? std::min(2 * slice, kMost)
                : took.count() > kLong ? std::max<std::int64_t>(slice / 2, 1)
                                       : slice;
        if (cost >= spacing.between.value() && !engine.hasEnded()
            && sequence() > checkpoints.back().position.events) {
            keepCheckpoint();
        }
        if (engine.hasEnded()) {
            end = sequence();
        }
        if (sequence() < to || engine.now() > until.time || engine.hasEnded()) {
            break;
        }
        if (!goesOn()) {
            return false;
        }
    }
    return true;
}

Result<bool> Replay::Impl::seek(std::int64_t number, const Proceed& proceed)
{
    approach(countUpTo(number), sequence() > number);
    return forward({.events = number}, proceed);
}

Result<bool> Replay::seek(std::int64_t sequence, const Proceed& proceed)
{
    return m_impl->seek(sequence, proceed);
}

std::size_t Replay::Impl::countUpTo(std::int64_t number) const
{
    const auto later = std::partition_point(
        checkpoints.begin(), checkpoints.end(),
        [&](const Engine::Checkpoint& one) { return one.position.events <= number; });
    return static_cast<std::size_t>(later - checkpoints.begin());
}

Result<std::optional<Touches>> Replay::watch(Watched watched, const Proceed& proceed)
{
    m_impl->approach(1, true);
    if (watched.nans) {
        m_impl->engine.findings().watchBirths();
    }
    m_impl->engine.watch().begin(std::move(watched));
    const Result<bool> ran = m_impl->forward(
        {.events = m_impl->end.value_or(std::numeric_limits<std::int64_t>::max())}, proceed);
    Touches found = m_impl->engine.watch().end();
    m_impl->engine.findings().ignoreBirths();
    if (!ran) {
        return ran.error();
    }
    return *ran ? std::optional(std::move(found)) : std::nullopt;
}

const std::vector<std::int64_t>& Replay::Impl::marks(Unit unit) const
{
    const Marks& known = engine.recorder().marks();
    return unit == Unit::Step ? known.bodies : known.copies;
}

// Empty for a loop that no agent has come to.
const std::vector<std::int64_t>& Replay::Impl::rounds(std::int32_t loop) const
{
    return engine.recorder().marks().loops[static_cast<std::size_t>(loop)].rounds;
}

Result<bool> Replay::Impl::toMark(Unit unit, std::size_t index, const Proceed& proceed)
{
    return toMark(
        [&]() -> const auto& { return marks(unit); }, index, proceed);
}

Result<bool> Replay::Impl::toMark(const std::function<const std::vector<std::int64_t>&()>& known,
                                  std::size_t index, const Proceed& proceed)
{
    while (known().size() <= index && !engine.hasEnded()) {
        approach(checkpoints.size(), false);
        const Result<bool> moved = forward({.events = sequence() + slice}, proceed);
        if (!moved || !*moved) {
            return moved;
        }
    }
    return known().size() <= index ? true : seek(known()[index], proceed);
}

const std::vector<trace::Loop>& Replay::loops() const
{
    return m_impl->prepared->description.info.loops;
}

Result<bool> Replay::seekToRound(std::int32_t loop, std::int64_t number, const Proceed& proceed)
{
    return m_impl->toMark(
        [&]() -> const auto& { return m_impl->rounds(loop); }, static_cast<std::size_t>(number),
        proceed);
}

std::int64_t Replay::knownRounds(std::int32_t loop) const
{
    return static_cast<std::int64_t>(m_impl->rounds(loop).size());
}

// A round whose first operation comes next counts, although the agent enters it only with that: so
// it does not matter how the run came to this moment.
std::int64_t Replay::begunRounds(std::int32_t loop) const
{
    const Marks::OfLoop& marks = m_impl->engine.recorder().marks().loops[trace::at(loop)];
    const auto begins = [&](const Agent& agent) {
        const std::vector<const ir::Operation*> rounds =
            upcomingOf(*m_impl->prepared, agent).rounds;
        return std::any_of(rounds.begin(), rounds.end(), [&](const ir::Operation* operation) {
            return m_impl->prepared->description.loopOf(*operation) == loop;
        });
    };
    const std::deque<Agent>& agents = m_impl->engine.state().agents;
    const auto next = isAtEnd() ? agents.end() : std::find_if(agents.begin(), agents.end(), begins);
    const bool isOfMarks =
        marks.agent != trace::kNone && (next == agents.end() || marks.agent <= next->id);
    const std::int64_t begun =
        isOfMarks ? std::lower_bound(marks.rounds.begin(), marks.rounds.end(), sequence())
                        - marks.rounds.begin()
                  : 0;
    return begun + (next != agents.end() && (!isOfMarks || next->id == marks.agent) ? 1 : 0);
}

std::int64_t Replay::known(Unit unit) const
{
    return unit == Unit::Operation ? sequence()
                                   : static_cast<std::int64_t>(m_impl->marks(unit).size());
}

Result<bool> Replay::seekTo(Unit unit, std::int64_t number, const Proceed& proceed)
{
    return unit == Unit::Operation
               ? seek(number + 1, proceed)
               : m_impl->toMark(unit, static_cast<std::size_t>(number), proceed);
}

Result<bool> Replay::step(Unit unit, bool forward, const Proceed& proceed)
{
    const std::int64_t from = sequence();
    if (unit != Unit::Operation) {
        const std::vector<std::int64_t>& marks = m_impl->marks(unit);
        const auto next = forward ? std::upper_bound(marks.begin(), marks.end(), from)
                                  : std::lower_bound(marks.begin(), marks.end(), from);
        if (!forward) {
            return seek(next == marks.begin() ? 0 : *(next - 1), proceed);
        }
        return m_impl->toMark(unit, static_cast<std::size_t>(next - marks.begin()), proceed);
    }
    if (forward) {
        return seek(from + 1, proceed);
    }
    for (std::int64_t before = from - 1; before >= 0; --before) {
        const Result<bool> moved = seek(before, proceed);
        if (!moved || !*moved || sequence() < from) {
            return moved;
        }
    }
    return true;
}

} // namespace pallascope::machine
