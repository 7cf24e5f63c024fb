#include "tests/machine/random/random_again.h"

#include "core/analysis/report.h"
#include "core/machine/replay.h"
#include "core/trace_file/trace_file.h"
#include "tests/machine/chance.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <stdexcept>

namespace pallascope::machine_test {

namespace {

using machine::Replay;

constexpr Bytes kAllMemory{std::int64_t{1} << 40};
constexpr std::int64_t kSeeks = 4;

std::unique_ptr<Replay> mustStart(const RandomProgram& random, Replay::Spacing spacing)
{
    Result<std::unique_ptr<Replay>> replay = Replay::start(
        random.program, random.inputs, *random.chip, {.settings = random.settings}, spacing);
    if (!replay) {
        throw std::runtime_error("no replay: " + replay.error().message);
    }
    return std::move(*replay);
}

struct Moment
{
    std::int64_t sequence = 0;
    std::uint64_t hash = 0;
    bool operator==(const Moment&) const = default;
};

Moment momentAt(Replay& replay, std::int64_t sequence)
{
    const Result<bool> moved = replay.seek(sequence);
    if (!moved || !*moved) {
        throw std::runtime_error("the replay does not move");
    }
    return {replay.sequence(), replay.hash()};
}

// Compares the outputs of a program on one device, which a replay shows whole.
std::string outputDifference(const RandomProgram& random, Replay& replay,
                             const machine::RunResult& run)
{
    std::size_t output = 0;
    for (const ir::Argument& argument : random.program.arguments) {
        if (argument.kind != ir::ArgumentKind::Output) {
            continue;
        }
        const Array shown = replay.contents(0, argument.ref).elements;
        const Array& made = run.outputs.at(output++);
        if (shown.shape != made.shape
            || std::memcmp(shown.data.get(), made.data.get(),
                           static_cast<std::size_t>(made.byteCount()))
                   != 0) {
            return "at its end the replay has another " + argument.name;
        }
    }
    return "";
}

std::string reportText(const trace::Trace& trace)
{
    const Result<analysis::Report> report = analysis::report(trace);
    return report ? analysis::toJson(*report, trace.info(), {}, {})
                        + analysis::toText(*report, trace.info(), {})
                  : report.error().message;
}

} // namespace

std::string replayDifference(const RandomProgram& random, std::uint64_t seed,
                             const machine::RunResult& run)
{
    Chance chance(~seed);
    const std::int64_t end = run.trace->info().events + 1;
    std::vector<std::int64_t> places{end};
    for (std::int64_t i = 0; i < kSeeks; ++i) {
        places.push_back(chance.from(0, end));
    }
    std::map<std::int64_t, Moment> expected; // of runs from the start that only go forwards
    for (const std::int64_t place : places) {
        expected[place] = {};
    }
    const std::unique_ptr<Replay> straight = mustStart(random, {Seconds(1e9), kAllMemory});
    for (auto& [place, moment] : expected) {
        moment = momentAt(*straight, place);
    }
    if (!straight->isAtEnd() || straight->sequence() != end) {
        return "the replay ends at " + std::to_string(straight->sequence()) + ", the run at "
               + std::to_string(end);
    }
    const Bytes memory = chance.oneIn(2) ? kAllMemory : Bytes(chance.from(1, 64) << 12);
    const std::unique_ptr<Replay> jumping = mustStart(random, {Seconds(0), memory});
    places.push_back(end);
    for (const std::int64_t place : places) {
        const Moment moment = momentAt(*jumping, place);
        if (moment.sequence != expected[place].sequence) {
            return "sought at " + std::to_string(place) + ", the replay is at "
                   + std::to_string(moment.sequence) + ", not at "
                   + std::to_string(expected[place].sequence);
        }
        if (moment.hash != expected[place].hash) {
            return "the replay has another state at " + std::to_string(place);
        }
    }
    const bool isWhole = random.program.mesh.empty() && run.completed;
    return isWhole ? outputDifference(random, *jumping, run) : "";
}

std::string savedDifference(const trace::Trace& trace)
{
    const std::string text = trace_file::toJson(trace);
    const Result<std::shared_ptr<const trace::Trace>> again = trace_file::fromJson(text, "saved");
    if (!again) {
        return "the saved trace is refused: " + again.error().message;
    }
    if (trace_file::toJson(**again) != text) {
        return "the saved trace is another one when it is saved again";
    }
    return reportText(**again) == reportText(trace) ? "" : "the saved trace has another report";
}

} // namespace pallascope::machine_test
