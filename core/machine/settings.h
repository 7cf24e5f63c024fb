// How the machine behaves where hardware leaves it open, with the names of JAX's InterpretParams. A
// run has one Settings, and its trace says which.
#pragma once

#include "core/base/element.h"
#include "core/base/result.h"

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>

namespace pallascope::machine {

// How the sentence of a finding ends that ends the run, where a setting would let it go on.
inline constexpr const char* kStopsUnlessSet =
    ": the run stops there; with out_of_bounds_reads=uninitialized it goes on.";

enum class OutOfBoundsReads : std::uint8_t
{
    Raise,
    Uninitialized
};

// When a copy moves its data: read at its start and landed at its end, all at once at its start, or
// all at once when somebody waits for it, the last one issued first.
enum class DmaMode : std::uint8_t
{
    Timed,
    Eager,
    OnWait
};

// Whether accesses that nothing orders are looked for: not at all, where the program's form does
// not exclude them, or there too, which is slower and finds nothing more.
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

// One setting as people name it; its value is an index into `values`.
struct SettingEntry
{
    std::string_view name;
    std::span<const std::string_view> values;
    std::string_view help; // one sentence
    std::size_t (*get)(const Settings& settings);
    void (*set)(Settings& settings, std::size_t value);
};

[[nodiscard]] std::span<const SettingEntry> settingEntries();

// Value by name, all of them.
[[nodiscard]] std::map<std::string, std::string> namesOf(const Settings& settings);
// The defaults, but for those named. The error lists what would be right.
[[nodiscard]] Result<Settings> settingsOf(const std::map<std::string, std::string>& names);

} // namespace pallascope::machine
