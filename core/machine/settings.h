// How the machine behaves where hardware leaves it open, with the names of JAX's InterpretParams. A
// run has one Settings, and its trace records it.
#pragma once

#include "core/base/element.h"
#include "core/base/result.h"
#include "core/chip/clock.h"

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace pallascope::machine {

// The end of the sentence of a finding that ends a run, if a setting would let the run go on.
inline constexpr const char* kStopsUnlessSet =
    ": the run stops there; with out_of_bounds_reads=uninitialized it goes on.";

enum class OutOfBoundsReads : std::uint8_t
{
    Raise,
    Uninitialized
};

// When a copy moves its data: it reads at its start and lands at its end; it moves all at its
// start; or it moves all when somebody waits for it, the copy issued last first.
enum class DmaMode : std::uint8_t
{
    Timed,
    Eager,
    OnWait
};

// Whether to look for accesses that nothing orders: never; unless the form of the program excludes
// them; or always, which is slower and finds nothing more.
enum class DetectRaces : std::uint8_t
{
    No,
    Yes,
    Everywhere
};

// Of a GPU, in runs that keep no trace: whether blocks of a long grid are passed over once the
// waves before them took the same time: in runs of many turns, never, or as early as can be.
enum class LongGrid : std::uint8_t
{
    Auto,
    Whole,
    Short
};

struct Settings
{
    Fill uninitializedMemory = Fill::Nan;
    OutOfBoundsReads outOfBoundsReads = OutOfBoundsReads::Raise;
    DmaMode dmaExecutionMode = DmaMode::Timed;
    DetectRaces detectRaces = DetectRaces::Yes;
    // Of GPUs. The registers of a thread, or cost::kMostRegisters; absent: an estimate.
    std::optional<std::int64_t> registers;
    chip::Clock clock = chip::Clock::Sustained;
    LongGrid longGrids = LongGrid::Auto;
    bool operator==(const Settings&) const = default;
};

// One setting under the name that people use.
struct SettingEntry
{
    std::string_view name;
    std::span<const std::string_view> values;
    std::string_view help;     // one sentence
    bool ofGpu = false;        // it says nothing about other chips
    bool takesNumbers = false; // whole numbers above 0 are values, too
    std::string (*get)(const Settings& settings);
    bool (*set)(Settings& settings, std::string_view value); // false: no such value
};

[[nodiscard]] std::span<const SettingEntry> settingEntries();

// What a setting can be, for people: "nan", "a whole number".
[[nodiscard]] std::vector<std::string> choicesOf(const SettingEntry& entry);

// The name of each setting's value; of those for GPUs only if the chip is one.
[[nodiscard]] std::map<std::string, std::string> namesOf(const Settings& settings, bool isGpu);
// The defaults except for the settings named here. The error lists the values that were expected.
[[nodiscard]] Result<Settings> settingsOf(const std::map<std::string, std::string>& names);

} // namespace pallascope::machine
