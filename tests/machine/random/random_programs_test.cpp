// Random programs must behave the same in four ways: with all values or only the needed ones, when
// races are looked for everywhere, when they are replayed, and when their trace is saved and
// opened.
//
// PALLASCOPE_RANDOM_PROGRAMS=10000 runs this many; PALLASCOPE_RANDOM_SEED=17 begins with this seed.
#include "core/ir/print.h"
#include "core/machine/needed.h"
#include "tests/machine/random/random_again.h"
#include "tests/machine/random/random_gpu.h"
#include "tests/machine/random/random_kinds.h"
#include "tests/machine/random/random_program.h"
#include "tests/machine/support.h"
#include "tests/machine/trace_difference.h"
#include "tests/support/tried.h"

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

// Looks for races even where the form of the program excludes them.
machine::Settings everywhere(machine::Settings settings)
{
    if (settings.detectRaces == machine::DetectRaces::Yes) {
        settings.detectRaces = machine::DetectRaces::Everywhere;
    }
    return settings;
}

// The inputs; in every second program without data that is not needed.
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

// Counts the kinds of programs.
struct Tally
{
    std::int64_t events = 0, errors = 0;
    Bytes fromL1;
    std::map<std::string, int> findings;
};

// The first difference, or "".
std::string difference(const RandomProgram& random, std::uint64_t seed, Tally& tally)
{
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
    tally.fromL1 += full->trace->info().fromL1;
    for (const trace::Finding& finding : full->trace->info().findings) {
        ++tally.findings[finding.kind];
    }
    std::string found = firstDifference(*full->trace, *needed->trace);
    if (found.empty()) {
        found = savedDifference(*full->trace);
    }
    return found.empty() ? replayDifference(random, seed, *full) : found;
}

using Generator = RandomProgram (*)(std::uint64_t seed);

std::string differenceOrError(Generator generator, std::uint64_t seed, Tally& tally)
{
    try {
        return difference(generator(seed), seed, tally);
    } catch (const std::exception& error) {
        return error.what();
    }
}

} // namespace

// Found by longer runs than the one below, which does not come to them.
TEST(RandomPrograms, thatOnceDifferedDoTheSame)
{
    Tally tally;
    for (const std::uint64_t seed : {47692U, 68936U}) {
        EXPECT_EQ(differenceOrError(randomProgram, seed, tally), "") << "seed " << seed;
    }
    constexpr std::uint64_t kTwoShapesOfBlocks = 2181;
    EXPECT_EQ(differenceOrError(randomGpuProgram, kTwoShapesOfBlocks, tally), "");
}

namespace {

// Compares `count` programs, or as many as the environment asks for. Returns what they were.
Tally compareMany(Generator generator, std::uint64_t count)
{
    count = fromEnvironment("PALLASCOPE_RANDOM_PROGRAMS", count);
    const std::uint64_t first = fromEnvironment("PALLASCOPE_RANDOM_SEED", 0);
    Tally tally;
    for (std::uint64_t seed = first; seed < first + count; ++seed) {
        EXPECT_EQ(differenceOrError(generator, seed, tally), "")
            << "seed " << seed << (count == 1 ? "\n" + ir::printText(generator(seed).program) : "");
    }
    // Otherwise nothing would be compared.
    if (constexpr std::uint64_t kMany = 100; count >= kMany) {
        EXPECT_LT(tally.errors * 50, static_cast<std::int64_t>(count));
    }
    std::string kinds;
    for (const auto& [kind, times] : tally.findings) {
        kinds += kind + " " + std::to_string(times) + ", ";
    }
    std::printf("%llu programs, %lld events, %lld errors; %s\n",
                static_cast<unsigned long long>(count), static_cast<long long>(tally.events),
                static_cast<long long>(tally.errors), kinds.c_str());
    return tally;
}

// Whether a test tries as many programs as it takes to come across every kind.
bool isWhole()
{
    return std::getenv("PALLASCOPE_RANDOM_PROGRAMS") == nullptr && !test::underSanitizers();
}

} // namespace

TEST(RandomPrograms, doTheSameHoweverTheyAreRun)
{
    (void)compareMany(randomProgram, test::tried<std::uint64_t>(500));
}

TEST(RandomPrograms, ofAGpuDoTheSameHoweverTheyAreRun)
{
    const Tally tally = compareMany(randomGpuProgram, test::tried<std::uint64_t>(100));
    if (isWhole()) { // what they must come across
        for (const char* kind : {"not_committed", "overwritten_in_flight", "read_before_wait",
                                 "race", "deadlock", "barrier_misuse"}) {
            EXPECT_TRUE(tally.findings.contains(kind)) << kind;
        }
        EXPECT_GT(tally.fromL1, Bytes(0));
    }
}

TEST(RandomPrograms, ofSeveralGpusDoTheSameHoweverTheyAreRun)
{
    const Tally tally = compareMany(randomGpusProgram, test::tried<std::uint64_t>(60));
    if (isWhole()) {
        for (const char* kind : {"race", "deadlock"}) {
            EXPECT_TRUE(tally.findings.contains(kind)) << kind;
        }
    }
}

// Otherwise the properties above would hold for nothing. PALLASCOPE_RANDOM_KINDS=1 prints how many
// programs have each kind.
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
