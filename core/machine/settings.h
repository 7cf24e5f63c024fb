// How the machine behaves where hardware leaves it open, with the names of JAX's InterpretParams. A
// run has one Settings, and its trace records it.
#pragma once

#include "core/base/element.h"
#include "core/base/result.h"

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>

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

struct Settings
{
    Fill uninitializedMemory = Fill::Nan;
    OutOfBoundsReads outOfBoundsReads = OutOfBoundsReads::Raise;
    DmaMode dmaExecutionMode = DmaMode::Timed;
    DetectRaces detectRaces = DetectRaces::Yes;
    bool operator==(const Settings&) const = default;
};

// One setting under the name that people use. Its value is an index into `values`.
struct SettingEntry
{
    std::string_view name;
    std::span<const std::string_view> values;
    std::string_view help; // one sentence
    std::size_t (*get)(const Settings& settings);
    void (*set)(Settings& settings, std::size_t value);
};

[[nodiscard]] std::span<const SettingEntry> settingEntries();

// The name of each setting's value.
[[nodiscard]] std::map<std::string, std::string> namesOf(const Settings& settings);
// The defaults except for the settings named here. The error lists the values that were expected.
[[nodiscard]] Result<Settings> settingsOf(const std::map<std::string, std::string>& names);

} // namespace pallascope::machine
