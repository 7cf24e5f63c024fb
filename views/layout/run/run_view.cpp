#include "views/layout/run/run_view.h"

#include "core/trace/loop_rounds.h"

#include <algorithm>
#include <functional>

namespace pallascope::layout {

namespace {

constexpr std::size_t kFramedSteps = 4;

// What is gone through one after the other: the steps of the grid, or the rounds of a loop.
struct Passed
{
    std::size_t count = 0;
    std::function<std::int64_t(std::size_t)> begin, end;
};

Passed stepsPassed(const trace::Trace& trace, const trace::LeadingSteps& leading)
{
    const auto row = [&leading](std::size_t number) { return leading.row(number).index(); };
    return {leading.size(), [&trace, row](std::size_t n) { return trace.steps().begin[row(n)]; },
            [&trace, row](std::size_t n) { return trace.steps().end[row(n)]; }};
}

Passed roundsPassed(const trace::Trace& trace, const trace::LoopRounds& rounds, std::int32_t loop)
{
    const auto row = [&rounds, loop](std::size_t number) {
        return rounds.row(loop, number).index();
    };
    return {rounds.size(loop),
            [&trace, row](std::size_t n) { return trace.rounds().begin[row(n)]; },
            [&trace, row](std::size_t n) { return trace.rounds().end[row(n)]; }};
}

// The range of some parts around one of them, with a little of the next one, which shows that the
// run goes on. It has one part before that one and two after it, because what comes next matters
// more.
TimeRange frameOf(const trace::Trace& trace, const Passed& parts, std::size_t at)
{
    const std::size_t latest = parts.count > kFramedSteps ? parts.count - kFramedSteps : 0;
    const std::size_t first = std::min(at > 0 ? at - 1 : 0, latest);
    const std::size_t last = std::min(parts.count, first + kFramedSteps) - 1;
    const std::int64_t begin = first == 0 ? 0 : parts.begin(first);
    std::int64_t end = parts.end(last);
    if (last + 1 < parts.count) {
        end += (end - begin) / static_cast<std::int64_t>(kFramedSteps * 6);
    } else {
        end = trace.end().value();
    }
    return {Picoseconds(begin), Picoseconds(std::max(begin + 1, end))};
}

} // namespace

std::int32_t chosenSm(const RunView& run, const ViewState& state)
{
    const auto [first, end] = run.index->agents().smsOf(state.device);
    return first == end ? trace::kNone : first + std::clamp(state.sm, 0, end - first - 1);
}

TimeRange firstFrame(const trace::Trace& trace)
{
    return frameAround(trace, Picoseconds(0));
}

TimeRange frameAround(const trace::Trace& trace, Picoseconds t)
{
    const trace::LeadingSteps leading(trace);
    if (leading.size() < 2) {
        const trace::LoopRounds rounds(trace);
        if (const auto place = rounds.at(trace::kNone, t)) {
            return frameOf(trace, roundsPassed(trace, rounds, place->loop), place->number);
        }
    }
    if (leading.size() == 0) {
        return {Picoseconds(0), std::max(Picoseconds(1), trace.end())};
    }
    return frameOf(trace, stepsPassed(trace, leading), leading.at(t));
}

} // namespace pallascope::layout
