#include "app/cli/state_moment.h"

#include "core/base/format.h"
#include "core/trace/loop_rounds.h"

#include <fmt/format.h>
#include <limits>
#include <vector>

namespace pallascope::app {

using machine::Replay;

namespace {

// The loop whose round is asked for. If none is named, it is the outermost one that has several
// rounds, as in the window; which one that is, only the whole run tells.
Result<std::int32_t> loopOf(Replay& replay, const StateCommand& command, const Progress& progress)
{
    if (!command.loop.empty()) {
        return trace::findLoop(replay.loops(), command.loop);
    }
    const Result<bool> ran = replay.seek(std::numeric_limits<std::int64_t>::max(), progress);
    if (!ran || !*ran) {
        return ran ? cancelled() : ran.error();
    }
    std::vector<std::int64_t> rounds;
    for (std::size_t loop = 0; loop < replay.loops().size(); ++loop) {
        rounds.push_back(replay.knownRounds(static_cast<std::int32_t>(loop)));
    }
    const std::vector<std::int32_t> outermost = trace::outermostOf(replay.loops(), rounds);
    if (outermost.size() == 1) {
        return outermost.front();
    }
    std::vector<std::string> names;
    for (const std::int32_t loop : outermost) {
        names.push_back(trace::loopName(replay.loops(), loop));
    }
    return userError(replay.program().name
                     + (names.empty()
                            ? " has no loop that copies or waits in several rounds."
                            : " has several loops; expected --loop " + orList(names) + "."));
}

} // namespace

Result<bool> moveTo(Replay& replay, const StateCommand& command, const Progress& progress,
                    Moment& moment)
{
    for (const auto& number : {command.event, command.step, command.copy, command.round}) {
        if (number && *number < 0) {
            return userError(
                fmt::format("The moment has the number {}; expected 0 or more.", *number));
        }
    }
    if (command.event) {
        return replay.seek(*command.event, progress);
    }
    if (command.step || command.copy) {
        return replay.seekTo(command.step ? Replay::Unit::Step : Replay::Unit::Copy,
                             command.step ? *command.step : *command.copy, progress);
    }
    if (command.round) {
        const Result<std::int32_t> chosen = loopOf(replay, command, progress);
        if (!chosen) {
            return chosen.error();
        }
        moment.loop = *chosen;
        return replay.seekToRound(moment.loop, *command.round, progress);
    }
    const Result<bool> ran = replay.seek(std::numeric_limits<std::int64_t>::max(), progress);
    if (!ran || !*ran) {
        return ran;
    }
    const Picoseconds end = replay.time();
    const Result<Picoseconds> time = parseTime(command.at, end);
    if (!time) {
        return time.error();
    }
    moment.time = std::min(*time, end);
    return replay.seekTime(*time, progress);
}

// Seeking ends at the end of the run if the moment asked for does not exist.
Status checkMoment(Replay& replay, const StateCommand& command, std::int32_t loop)
{
    const auto refuse = [&](const char* what, std::int64_t asked, std::int64_t count) {
        return userError(fmt::format("There is no {} {}: {} has {} of them, numbered from 0.", what,
                                     asked, replay.program().name, countText(count)));
    };
    if (!replay.isAtEnd()) {
        return Done{};
    }
    if (command.event && *command.event > replay.sequence()) {
        return userError(
            fmt::format("There is no event {}: {} has {} events, and its end is number "
                        "{}.",
                        *command.event, replay.program().name, countText(replay.sequence() - 1),
                        countText(replay.sequence())));
    }
    if (command.round && *command.round >= replay.knownRounds(loop)) {
        return userError(fmt::format("There is no round {}: {} has {} of them, numbered from 0.",
                                     *command.round, trace::loopName(replay.loops(), loop),
                                     countText(replay.knownRounds(loop))));
    }
    if (command.step) {
        return refuse("step", *command.step, replay.known(Replay::Unit::Step));
    }
    return command.copy ? refuse("copy", *command.copy, replay.known(Replay::Unit::Copy))
                        : Status(Done{});
}

} // namespace pallascope::app
