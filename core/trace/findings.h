// The catalogue of findings, made from the one table in findings.inc: what kinds a run can find,
// and what is true of each.
#pragma once

#include "core/trace/info.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace pallascope::trace {

enum class FindingKind : std::uint8_t
{
#define FINDING(code, name, category, severity, title, meaning) code,
#include "core/trace/findings.inc"
};

// A run over a limit that can be raised is a warning, and so is a figure that stands in for
// another; whatever makes results wrong is an error.
enum class FindingSeverity : std::uint8_t
{
    Warning,
    Error
};

struct FindingEntry
{
    FindingKind kind;
    std::string_view name; // as in traces and reports
    FindingClass category;
    FindingSeverity severity;
    std::string_view title;   // "Output block revisited after a gap"
    std::string_view meaning; // one sentence
};

[[nodiscard]] std::span<const FindingEntry> findingTable(); // indexed by FindingKind
[[nodiscard]] const FindingEntry& findingEntry(FindingKind kind);

// None for a kind that this program does not know: a trace of another version may have any.
[[nodiscard]] std::optional<FindingKind> findingFromName(std::string_view name);

// One finding of that kind; what is left out is as in Finding.
[[nodiscard]] Finding found(FindingKind kind, std::string message, std::string operand = {},
                            std::int64_t step = -1, std::optional<std::int64_t> relatedStep = {},
                            SourceLine source = {}, std::int64_t count = 1);

} // namespace pallascope::trace
