#include "core/machine/settings.h"

#include "core/base/format.h"
#include "core/cost/block_grid.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <vector>

namespace pallascope::machine {

namespace {

constexpr std::array<std::string_view, 4> kFills{"nan", "zero", "min", "max"};
constexpr std::array<std::string_view, 2> kReads{"raise", "uninitialized"};
constexpr std::array<std::string_view, 3> kModes{"timed", "eager", "on_wait"};
constexpr std::array<std::string_view, 3> kRaces{"false", "true", "everywhere"};
constexpr std::array<std::string_view, 2> kRegisters{"estimate", "most"};
constexpr std::array<std::string_view, 3> kLongGrids{"auto", "whole", "short"};
constexpr std::array<std::string_view, 2> kClocks{"sustained", "boost"};

template<auto member, const auto& names>
std::string get(const Settings& settings)
{
    return std::string(names[static_cast<std::size_t>(settings.*member)]);
}

template<class T, T Settings::*member, const auto& names>
bool assign(Settings& settings, std::string_view value)
{
    const auto known = std::find(names.begin(), names.end(), value);
    if (known == names.end()) {
        return false;
    }
    settings.*member = static_cast<T>(known - names.begin());
    return true;
}

template<class T, T Settings::*member, const auto& names>
constexpr SettingEntry entry(std::string_view name, std::string_view help, bool ofGpu = false)
{
    return {name, names, help, ofGpu, false, get<member, names>, assign<T, member, names>};
}

std::string getRegisters(const Settings& settings)
{
    if (settings.registers && *settings.registers != cost::kMostRegisters) {
        return std::to_string(*settings.registers);
    }
    return std::string(kRegisters[settings.registers ? 1 : 0]);
}

bool setRegisters(Settings& settings, std::string_view value)
{
    settings.registers.reset();
    if (value == kRegisters[0]) {
        return true;
    }
    if (value == kRegisters[1]) {
        settings.registers = cost::kMostRegisters;
        return true;
    }
    std::int64_t number = 0;
    const char* const end = value.data() + value.size();
    const auto [rest, error] = std::from_chars(value.data(), end, number);
    if (error != std::errc() || rest != end || number < 1) {
        return false;
    }
    settings.registers = number;
    return true;
}

// The values of each setting stand in the order of its enumerators.
constexpr std::array kEntries{
    entry<Fill, &Settings::uninitializedMemory, kFills>(
        "uninitialized_memory",
        "What reads of memory that nobody wrote return: nan: NaN, the largest integer, true; zero; "
        "min: NaN, the least integer, false; max: as nan."),
    entry<OutOfBoundsReads, &Settings::outOfBoundsReads, kReads>(
        "out_of_bounds_reads",
        "What a dynamic slice that leaves its ref does: raise stops the run; uninitialized reads "
        "undefined elements outside, drops stores there, and goes on."),
    entry<DmaMode, &Settings::dmaExecutionMode, kModes>(
        "dma_execution_mode",
        "When a copy moves its data: timed: it reads when it starts and lands when it ends; eager: "
        "at once when it starts; on_wait: when somebody waits for it, the last issued first."),
    entry<DetectRaces, &Settings::detectRaces, kRaces>(
        "detect_races",
        "Whether accesses that nothing orders are found; everywhere: also looked for where the "
        "form of the program excludes them."),
    SettingEntry{"registers", kRegisters,
                 "GPUs: how many registers a thread has, which decides how many blocks an SM runs "
                 "at a time; estimate: as many as its values need; most: the most with which one "
                 "block fits.",
                 true, true, getRegisters, setRegisters},
    entry<chip::Clock, &Settings::clock, kClocks>(
        "clock",
        "GPUs: at which clock the SMs run: the one that they sustain, or the boost clock that "
        "short kernels reach.",
        true),
    entry<LongGrid, &Settings::longGrids, kLongGrids>(
        "long_grids",
        "GPUs, in runs that keep no trace, as of sweep: whether blocks count without being run "
        "once the waves before them took the same time; auto: in long runs; whole: never; short: "
        "as early as can be.",
        true),
};

} // namespace

std::span<const SettingEntry> settingEntries()
{
    return kEntries;
}

std::vector<std::string> choicesOf(const SettingEntry& entry)
{
    std::vector<std::string> choices(entry.values.begin(), entry.values.end());
    if (entry.takesNumbers) {
        choices.emplace_back("a whole number");
    }
    return choices;
}

std::map<std::string, std::string> namesOf(const Settings& settings, bool isGpu)
{
    std::map<std::string, std::string> names;
    for (const SettingEntry& entry : kEntries) {
        if (isGpu || !entry.ofGpu) {
            names.emplace(entry.name, entry.get(settings));
        }
    }
    return names;
}

Result<Settings> settingsOf(const std::map<std::string, std::string>& names)
{
    Settings settings;
    for (const auto& [name, value] : names) {
        const auto found =
            std::find_if(kEntries.begin(), kEntries.end(),
                         [&name = name](const SettingEntry& entry) { return entry.name == name; });
        if (found == kEntries.end()) {
            std::vector<std::string> known;
            for (const SettingEntry& entry : kEntries) {
                known.emplace_back(entry.name);
            }
            return userError("There is no setting \"" + name + "\"; expected " + orList(known)
                                 + ".",
                             {{Subject::Setting, name}});
        }
        if (!found->set(settings, value)) {
            return userError("The setting " + name + " cannot be \"" + value + "\"; expected "
                                 + orList(choicesOf(*found)) + ".",
                             {{Subject::Setting, name}});
        }
    }
    return settings;
}

} // namespace pallascope::machine
