// Uses mutated files of every format, many in one process. Each must be refused in a sentence or be
// a legal file, within 5 s and 1 GiB. File N of a seed is the same everywhere.
//
//   fuzz_files [--seconds S | --count N] [--first N] [--seed N] [--format NAME] [--reasons]
//   fuzz_files --write FOLDER [--count N]    writes mutated files, for the command line
//   fuzz_files --seeds FOLDER                writes the valid files, for libFuzzer
//   fuzz_files --format NAME FILE...         uses these files
#include "core/base/format.h"
#include "tests/fuzz/formats.h"
#include "tests/fuzz/memory_peak.h"
#include "tests/fuzz/use.h"

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <fmt/format.h>
#include <map>
#include <optional>
#include <sys/time.h>
#include <unistd.h>

// The sanitizers, if the build has them, call this. The quarantine is small because freed memory
// that waits in it would count as memory that the program uses.
extern "C" const char* __asan_default_options()
{
    return "abort_on_error=1:quarantine_size_mb=16:max_allocation_size_mb=1024";
}

extern "C" const char* __ubsan_default_options()
{
    return "abort_on_error=1:print_stacktrace=1";
}

namespace pallascope::fuzz {

namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr double kMostSeconds = 5;
constexpr std::int64_t kMostBytes = std::int64_t{1} << 30;
// After this long the process ends with a stack trace: this many seconds of work, which do not
// depend on how busy the machine is, or this many seconds on the clock.
constexpr unsigned kHangSeconds = 60, kIdleSeconds = 1200;

struct Choice
{
    std::optional<double> seconds;
    std::optional<std::size_t> count;
    std::size_t first = 0;
    std::uint64_t seed = 1;
    std::vector<const Format*> formats{fuzz::formats().begin(), fuzz::formats().end()};
    bool reasons = false;
    std::string write, seeds;
    std::vector<std::string> files;
};

struct Tally
{
    std::size_t refused = 0, legal = 0, faults = 0;
    double slowest = 0;
    std::string slowestName;
    std::int64_t peak = 0; // bytes
    std::string peakName;
    std::map<std::string, std::size_t> outcomes;
};

char g_now[100]; // the file being used, for the signal handler

// Says which file is being used before the process ends.
void onSignal(int number)
{
    const bool isTimer = number == SIGALRM || number == SIGPROF;
    const std::string_view what = isTimer ? " does not end\n" : " ends the process\n";
    (void)!write(STDERR_FILENO, g_now, strnlen(g_now, sizeof g_now));
    (void)!write(STDERR_FILENO, what.data(), what.size());
    std::signal(SIGABRT, SIG_DFL);
    std::abort();
}

// Watches from now on, until it is called with 0.
void watch(unsigned work, unsigned idle)
{
    itimerval timer{};
    timer.it_value.tv_sec = work;
    setitimer(ITIMER_PROF, &timer, nullptr);
    alarm(idle);
}

// The processor time of this process, which does not depend on how busy the machine is.
double processorSeconds()
{
    return static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
}

// The sentence without what differs from file to file.
std::string reasonOf(const std::string& sentence, const std::string& folder)
{
    std::string text;
    for (std::size_t i = 0; i < sentence.size(); ++i) {
        const char c = sentence[i];
        if (sentence.compare(i, folder.size(), folder) == 0) {
            i = std::min(sentence.find_first_of(" :", i), sentence.size()) - 1;
            text += "FILE";
        } else if (c == '"') {
            i = std::min(sentence.find('"', i + 1), sentence.size());
            text += "\"...\"";
        } else if (c == '/') {
            i = std::min(sentence.find_first_of(" ,;:", i), sentence.size()) - 1;
            text += "/...";
        } else if (c >= '0' && c <= '9') {
            i = std::min(sentence.find_first_not_of("0123456789.e+-", i), sentence.size()) - 1;
            text += '#';
        } else {
            text += c;
        }
    }
    return text.substr(0, 140);
}

class Session
{
public:
    void use(const Format& format, const std::string& name, const std::string& bytes,
             bool sound = false)
    {
        std::snprintf(g_now, sizeof g_now, "%s", name.c_str());
        watch(kHangSeconds, kIdleSeconds);
        Tally& tally = m_tallies[std::string(format.name)];
        resetMemoryPeak();
        const double begin = processorSeconds();
        try {
            const Outcome outcome = useBytes(format, bytes);
            require(outcome.legal || !sound, "a sound file is refused: " + outcome.sentence);
            ++(outcome.legal ? tally.legal : tally.refused);
            const std::string what =
                reasonOf(outcome.sentence, fs::path(scratchFile("file")).parent_path().string());
            ++tally.outcomes[(outcome.legal ? "legal: " : "refused: ") + what];
        } catch (const std::exception& error) {
            fault(tally, format, name, bytes, error.what());
        }
        const double seconds = processorSeconds() - begin;
        const std::int64_t peak = memoryPeak();
        if (seconds > kMostSeconds) {
            fault(tally, format, name, bytes, fmt::format("takes {:.1f} s", seconds));
        }
        if (peak > kMostBytes) {
            fault(tally, format, name, bytes, "takes " + bytesText(Bytes(peak)));
        }
        if (seconds > tally.slowest) {
            tally.slowest = seconds;
            tally.slowestName = name;
        }
        if (peak > tally.peak) {
            tally.peak = peak;
            tally.peakName = name;
        }
        watch(0, 0);
        if (++m_used % 5000 == 0) {
            fmt::print("{} files\n", m_used);
            std::fflush(stdout);
        }
    }

    // Returns the exit code.
    int report(bool reasons) const
    {
        std::size_t faults = 0;
        for (const auto& [name, tally] : m_tallies) {
            fmt::print("{:13}{:8} refused {:7} legal {:3} faults; slowest {:.0f} ms ({}), most "
                       "memory {} ({})\n",
                       name, tally.refused, tally.legal, tally.faults, tally.slowest * 1e3,
                       tally.slowestName, bytesText(Bytes(tally.peak)), tally.peakName);
            faults += tally.faults;
        }
        for (const auto& [name, tally] : m_tallies) {
            for (const auto& [what, count] : tally.outcomes) {
                if (reasons) {
                    fmt::print("{:13}{:8} {}\n", name, count, what);
                }
            }
        }
        fmt::print("{} files, {} faults\n", m_used, faults);
        return faults == 0 ? 0 : 1;
    }

private:
    static void fault(Tally& tally, const Format& format, const std::string& name,
                      const std::string& bytes, const std::string& what)
    {
        ++tally.faults;
        const std::string kept = "fault-" + name + std::string(format.ending);
        writeBytes(kept, bytes);
        fmt::print("{}: {} (kept in {})\n", name, what, kept);
        std::fflush(stdout);
    }

    std::map<std::string, Tally> m_tallies;
    std::size_t m_used = 0;
};

struct Mutated
{
    const Format* format = nullptr;
    std::string name, bytes;
};

Mutated mutatedFileNumber(std::size_t number, const Choice& choice)
{
    const Format* format = choice.formats[number % choice.formats.size()];
    Random random(choice.seed * 0x9e37'79b9'7f4a'7c15U + number);
    return {format, fmt::format("{}-{}-{}", format->name, choice.seed, number),
            format->mutated(random)};
}

// Uses the files that once caused trouble, and the valid files.
void useKnown(Session& session, const Choice& choice)
{
    for (const Format* format : choice.formats) {
        const fs::path folder = fs::path(PALLASCOPE_FUZZ_CORPUS) / format->name;
        if (fs::is_directory(folder)) {
            for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
                session.use(*format, entry.path().filename().string(), bytesOf(entry.path()));
            }
        }
        std::size_t number = 0;
        for (const std::string& seed : format->seeds()) {
            const std::string name = fmt::format("{}-seed-{}", format->name, number++);
            session.use(*format, name, seed, true);
        }
    }
}

int useMutated(const Choice& choice)
{
    Session session;
    const Clock::time_point begin = Clock::now();
    if (choice.first == 0) {
        useKnown(session, choice);
    }
    const std::size_t count = choice.count.value_or(choice.seconds ? SIZE_MAX : 10'000);
    for (std::size_t i = 0; i < count; ++i) {
        const auto seconds = std::chrono::duration<double>(Clock::now() - begin).count();
        if (choice.seconds && seconds > *choice.seconds) {
            break;
        }
        const Mutated file = mutatedFileNumber(choice.first + i, choice);
        session.use(*file.format, file.name, file.bytes);
    }
    return session.report(choice.reasons);
}

// Valid files must be legal. Files of the corpus must be legal or refused.
int useFiles(const Choice& choice)
{
    Session session;
    for (const std::string& file : choice.files) {
        session.use(*choice.formats.at(0), fs::path(file).filename().string(), bytesOf(file));
    }
    return session.report(true);
}

int writeMutated(const Choice& choice)
{
    fs::create_directories(choice.write);
    for (std::size_t i = 0; i < choice.count.value_or(200); ++i) {
        const Mutated file = mutatedFileNumber(choice.first + i, choice);
        writeBytes(choice.write + "/" + file.name + std::string(file.format->ending), file.bytes);
    }
    return 0;
}

int writeSeeds(const Choice& choice)
{
    for (const Format* format : choice.formats) {
        const fs::path folder = fs::path(choice.seeds) / format->name;
        fs::create_directories(folder);
        std::size_t number = 0;
        for (const std::string& seed : format->seeds()) {
            writeBytes((folder / std::to_string(number++)).string(), seed);
        }
    }
    return 0;
}

Choice parseArguments(int argc, char** argv)
{
    Choice choice;
    for (int i = 1; i < argc; ++i) {
        const std::string word = argv[i];
        if (word == "--reasons") {
            choice.reasons = true;
            continue;
        }
        if (!word.starts_with("--")) {
            choice.files.push_back(word);
            continue;
        }
        if (i + 1 == argc) {
            throw std::runtime_error(word + " needs a value");
        }
        const std::string value = argv[++i];
        if (word == "--seconds") {
            choice.seconds = std::stod(value);
        } else if (word == "--count") {
            choice.count = std::stoul(value);
        } else if (word == "--first") {
            choice.first = std::stoul(value);
        } else if (word == "--seed") {
            choice.seed = std::stoull(value);
        } else if (word == "--format") {
            choice.formats = {&formatNamed(value)};
        } else if (word == "--write") {
            choice.write = value;
        } else if (word == "--seeds") {
            choice.seeds = value;
        } else {
            throw std::runtime_error(word + " is not known");
        }
    }
    return choice;
}

int run(int argc, char** argv)
{
    const Choice choice = parseArguments(argc, argv);
    std::signal(SIGALRM, onSignal);
    std::signal(SIGPROF, onSignal);
    std::signal(SIGABRT, onSignal);
    if (!choice.seeds.empty()) {
        return writeSeeds(choice);
    }
    if (!choice.write.empty()) {
        return writeMutated(choice);
    }
    return choice.files.empty() ? useMutated(choice) : useFiles(choice);
}

} // namespace

} // namespace pallascope::fuzz

int main(int argc, char** argv)
{
    try {
        return pallascope::fuzz::run(argc, argv);
    } catch (const std::exception& error) {
        fmt::print(stderr, "fuzz_files: {}\n", error.what());
        return 2;
    }
}
