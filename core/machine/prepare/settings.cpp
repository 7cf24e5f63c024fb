#include "core/machine/settings.h"

#include "core/base/format.h"

#include <algorithm>
#include <array>
#include <vector>

namespace pallascope::machine {

namespace {

constexpr std::array<std::string_view, 4> kFills{"nan", "zero", "min", "max"};
constexpr std::array<std::string_view, 2> kReads{"raise", "uninitialized"};
constexpr std::array<std::string_view, 3> kModes{"timed", "eager", "on_wait"};
constexpr std::array<std::string_view, 3> kRaces{"false", "true", "everywhere"};

template<auto member>
std::size_t get(const Settings& settings)
{
    return static_cast<std::size_t>(settings.*member);
}

template<class T, T Settings::*member>
void assign(Settings& settings, std::size_t value)
{
    settings.*member = static_cast<T>(value);
}

template<class T, T Settings::*member>
constexpr SettingEntry entry(std::string_view name, std::span<const std::string_view> values,
                             std::string_view help)
{
    return {name, values, help, get<member>, assign<T, member>};
}

// The values of each setting stand in the order of its enumerators.
constexpr std::array kEntries{
    entry<Fill, &Settings::uninitializedMemory>(
        "uninitialized_memory", kFills,
        "What reads of memory that nobody wrote return: nan: NaN, the largest integer, true; zero; "
        "min: NaN, the least integer, false; max: as nan."),
    entry<OutOfBoundsReads, &Settings::outOfBoundsReads>(
        "out_of_bounds_reads", kReads,
        "What a dynamic slice that leaves its ref does: raise stops the run; uninitialized reads "
        "undefined elements outside, drops stores there, and goes on."),
    entry<DmaMode, &Settings::dmaExecutionMode>(
        "dma_execution_mode", kModes,
        "When a copy moves its data: timed: it reads when it starts and lands when it ends; eager: "
        "at once when it starts; on_wait: when somebody waits for it, the last issued first."),
    entry<DetectRaces, &Settings::detectRaces>(
        "detect_races", kRaces,
        "Whether accesses that nothing orders are found; everywhere: also looked for where the "
        "form of the program excludes them."),
};

} // namespace

std::span<const SettingEntry> settingEntries()
{
    return kEntries;
}

std::map<std::string, std::string> namesOf(const Settings& settings)
{
    std::map<std::string, std::string> names;
    for (const SettingEntry& entry : kEntries) {
        names.emplace(entry.name, entry.values[entry.get(settings)]);
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
        const auto known = std::find(found->values.begin(), found->values.end(), value);
        if (known == found->values.end()) {
            return userError("The setting " + name + " cannot be \"" + value + "\"; expected "
                                 + orList({found->values.begin(), found->values.end()}) + ".",
                             {{Subject::Setting, name}});
        }
        found->set(settings, static_cast<std::size_t>(known - found->values.begin()));
    }
    return settings;
}

} // namespace pallascope::machine
