// Random programs do the same with all values as with those that are needed, where races are looked
// for in any case, when they are replayed, and when their trace is saved and opened.
//
// PALLASCOPE_RANDOM_PROGRAMS=10000 runs so many, PALLASCOPE_RANDOM_SEED=17 from that seed on.
#include "core/ir/print.h"
#include "core/machine/needed.h"
#include "tests/machine/random/random_again.h"
#include "tests/machine/random/random_kinds.h"
#include "tests/machine/random/random_program.h"
#include "tests/machine/support.h"
#include "tests/machine/trace_difference.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <map>

namespace pallascope::machine_test {

namespace {

std::uint64_t fromEnvironment(const char* name, std::uint64_t otherwise)
{
    const char* const text = std::getenv(name);
    return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

Result<machine::RunResult> runWith(const RandomProgram& random, const std::vector<Array>& inputs,
                                   machine::ValueMode values, machine::Settings settings)
{
    return machine::run(random.program, inputs, *random.chip,
                        {.values = values, .settings = settings});
}

// Races are looked for where the form of the program excludes them, too.
machine::Settings everywhere(machine::Settings settings)
{
    if (settings.detectRaces == machine::DetectRaces::Yes) {
        settings.detectRaces = machine::DetectRaces::Everywhere;
    }
    return settings;
}

// The inputs, of every other program without the data that is not needed.
std::vector<Array> neededInputs(const RandomProgram& random, std::uint64_t seed)
{
    std::vector<Array> inputs = random.inputs;
    const machine::NeededSet needed = machine::NeededSet::of(random.program);
    std::size_t input = 0;
    for (const ir::Argument& argument : random.program.arguments) {
        if (argument.kind == ir::ArgumentKind::Input) {
            if (seed % 2 == 0 && !needed.needsContents(argument.ref)) {
                inputs[input].data = nullptr;
            }
            ++input;
        }
    }
    return inputs;
}

// What kinds of programs there were.
struct Tally
{
    std::int64_t events = 0, errors = 0;
    std::map<std::string, int> findings;
};

// "" or the first difference.
std::string difference(std::uint64_t seed, Tally& tally)
{
    const RandomProgram random = randomProgram(seed);
    const Result<machine::RunResult> full =
        runWith(random, random.inputs, machine::ValueMode::Full, random.settings);
    const Result<machine::RunResult> needed =
        runWith(random, neededInputs(random, seed), machine::ValueMode::Needed,
                everywhere(random.settings));
    if (!full || !needed) {
        const std::string with = full ? "" : full.error().message;
        const std::string without = needed ? "" : needed.error().message;
        ++tally.errors;
        return with == without ? "" : "error: \"" + with + "\", needed \"" + without + "\"";
    }
    tally.events += full->trace->info().events;
    for (const trace::Finding& finding : full->trace->info().findings) {
        ++tally.findings[finding.kind];
    }
    std::string found = firstDifference(*full->trace, *needed->trace);
    if (found.empty()) {
        found = savedDifference(*full->trace);
    }
    return found.empty() ? replayDifference(random, seed, *full) : found;
}

} // namespace

TEST(RandomPrograms, doTheSameHoweverTheyAreRun)
{
    const std::uint64_t count = fromEnvironment("PALLASCOPE_RANDOM_PROGRAMS", 500);
    const std::uint64_t first = fromEnvironment("PALLASCOPE_RANDOM_SEED", 0);
    Tally tally;
    for (std::uint64_t seed = first; seed < first + count; ++seed) {
        std::string found;
        try {
            found = difference(seed, tally);
        } catch (const std::exception& error) {
            found = error.what();
        }
        EXPECT_EQ(found, "") << "seed " << seed
                             << (count == 1 ? "\n" + ir::printText(randomProgram(seed).program)
                                            : "");
    }
    if (constexpr std::uint64_t kMany = 500; count >= kMany) { // or nothing is compared
        EXPECT_LT(tally.errors * 50, static_cast<std::int64_t>(count));
    }
    std::string kinds;
    for (const auto& [kind, times] : tally.findings) {
        kinds += kind + " " + std::to_string(times) + ", ";
    }
    std::printf("%llu programs, %lld events, %lld errors; %s\n",
                static_cast<unsigned long long>(count), static_cast<long long>(tally.events),
                static_cast<long long>(tally.errors), kinds.c_str());
}

// Or the properties above hold of nothing. PALLASCOPE_RANDOM_KINDS=1 prints how many have each.
TEST(RandomPrograms, areOfEveryKind)
{
    constexpr int kPrograms = 1000, kFewest = 10;
    std::map<std::string, int> counts;
    for (std::uint64_t seed = 0; seed < kPrograms; ++seed) {
        for (const std::string& kind : kindsIn(randomProgram(seed).program)) {
            ++counts[kind];
        }
    }
    EXPECT_EQ(counts.size(), allKinds().size());
    for (const std::string& kind : allKinds()) {
        EXPECT_GE(counts[kind], kFewest) << kind;
        if (std::getenv("PALLASCOPE_RANDOM_KINDS") != nullptr) {
            std::printf("%4d of %d: %s\n", counts[kind], kPrograms, kind.c_str());
        }
    }
}

} // namespace pallascope::machine_test
