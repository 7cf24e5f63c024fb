// What several commands share: progress on the terminal, checks of files, and the parsing of
// values.
#include "app/cli/commands.h"
#include "app/process/diagnostics.h"
#include "app/run_job/kernel_choice.h"
#include "core/base/sentence.h"
#include "core/base/text.h"
#include "core/base/whole_file.h"
#include "core/ir/print.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <fmt/format.h>

namespace pallascope::app {

std::string loweringLine(std::string_view accepted, const std::string& reason)
{
    const std::string text = ir::loweringText(accepted, reason);
    return text.empty() ? "" : oneLine(text) + "\n";
}

namespace {

// The sentence of an error, with what the command line has against it.
std::string advised(const Error& error)
{
    std::string sentence = asSentence(error).message;
    const About memory{Subject::Setting, kMemorySetting};
    if (std::find(error.about.begin(), error.about.end(), memory) != error.about.end()) {
        sentence.pop_back(); // the full stop
        sentence += "; `--values needed` computes only what decides the timing, and `--memory 4` "
                    "allows 4 GiB.";
    }
    return sentence;
}

} // namespace

void sayOnOneLine(const std::string& note)
{
    say(oneLine(note));
}

int complain(const Error& error)
{
    clearProgress();
    if (error.kind == ErrorKind::Cancelled) {
        say("Interrupted; nothing was written.");
        return kInterrupted;
    }
    say(advised(error));
    return error.kind == ErrorKind::Internal ? kInternalError : kWrongInput;
}

Progress terminalProgress(const std::string& what)
{
    int last = -1;
    return [what, last](double share) mutable {
        const int percent = static_cast<int>(share * 100);
        if (percent != last) {
            last = percent;
            showOnTerminal(fmt::format("{} {} %", what, percent));
        }
        return !interrupted();
    };
}

void clearProgress()
{
    showOnTerminal("");
}

Result<machine::Settings> parseSettings(const std::vector<std::string>& assignments)
{
    const auto names = parseAssignments(assignments, Subject::Setting, "uninitialized_memory=zero");
    return names ? machine::settingsOf(*names) : Result<machine::Settings>(names.error());
}

Status checkPlaces(const std::vector<std::string>& written, const std::vector<std::string>& read)
{
    for (std::size_t i = 0; i < written.size(); ++i) {
        if (written[i].empty()) {
            continue;
        }
        if (Status writable = WholeFile::check(written[i]); !writable) {
            return writable;
        }
        const auto same = [&](const std::string& other) {
            return !other.empty() && isSamePlace(written[i], other);
        };
        // What is read may also be the name of a chip, which is not a file.
        const auto isRead = [&](const std::string& other) {
            std::error_code error;
            return std::filesystem::exists(other, error) && same(other);
        };
        if (std::any_of(read.begin(), read.end(), isRead)) {
            return userError("Cannot write \"" + written[i]
                             + "\": it is read by the same command; use another name.");
        }
        const auto before = written.begin() + static_cast<std::ptrdiff_t>(i);
        if (std::any_of(written.begin(), before, same)) {
            return userError("\"" + written[i] + "\" would be written twice; use a name for each.");
        }
    }
    return Done{};
}

Result<Picoseconds> parseTime(const std::string& text, Picoseconds end)
{
    struct Unit
    {
        const char* name;
        double picoseconds;
    };

    constexpr std::array<Unit, 7> kUnits{{{"ps", 1},
                                          {"ns", 1e3},
                                          {"us", 1e6},
                                          {"\u00b5s", 1e6},
                                          {"\u03bcs", 1e6},
                                          {"ms", 1e9},
                                          {"s", 1e12}}};
    double number = 0;
    const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    const std::string unit(rest, text.data() + text.size());
    const bool sound = error == std::errc() && std::isfinite(number) && number >= 0;
    if (sound && unit == "%" && number <= 100) {
        return Picoseconds(std::llround(static_cast<double>(end.value()) * number / 100));
    }
    if (sound && unit.empty() && number == 0) {
        return Picoseconds(0);
    }
    for (const Unit& candidate : kUnits) {
        if (sound && unit == candidate.name) {
            const double time = number * candidate.picoseconds;
            return time >= static_cast<double>(end.value()) ? end : Picoseconds(std::llround(time));
        }
    }
    return userError(
        "The time \"" + text
        + "\" is not understood; expected a share such as 60% or a time such as 5.32us.");
}

Result<layout::Size> parseSize(const std::string& text)
{
    int width = 0, height = 0;
    const char* end = text.data() + text.size();
    const auto [middle, first] = std::from_chars(text.data(), end, width);
    const bool cross = first == std::errc() && middle != end && *middle == 'x';
    const auto [last, second] = cross ? std::from_chars(middle + 1, end, height)
                                      : std::from_chars_result{end, std::errc::invalid_argument};
    constexpr int kLeast = 100, kMost = 8192;
    if (second != std::errc() || last != end || width < kLeast || height < kLeast || width > kMost
        || height > kMost) {
        return userError("The size \"" + text
                         + "\" is not understood; expected WIDTHxHEIGHT from 100x100 to 8192x8192, "
                           "such as 1280x800.");
    }
    return layout::Size{static_cast<double>(width), static_cast<double>(height)};
}

Result<layout::Theme> parseTheme(const std::string& text)
{
    if (text == "light") {
        return layout::Theme::Light;
    }
    if (text == "dark") {
        return layout::Theme::Dark;
    }
    return userError("The theme \"" + text + "\" is not known; expected light or dark.");
}

} // namespace pallascope::app
