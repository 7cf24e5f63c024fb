// The catalogue of findings, generated from the one table in findings.inc: the kinds that a run can
// find, with the class, severity and texts of each.
#pragma once

#include "core/trace/info.h"
#include "core/trace/row.h"

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

// Exceeding a limit that can be raised is a warning, and so is using a stand-in for an unknown
// figure. Whatever makes results wrong is an error.
enum class FindingSeverity : std::uint8_t
{
    Warning,
    Error
};

struct FindingEntry
{
    FindingKind kind;
    std::string_view name; // in traces and reports
    FindingClass category;
    FindingSeverity severity;
    std::string_view title;   // "Output block revisited after a gap"
    std::string_view meaning; // one sentence
};

[[nodiscard]] std::span<const FindingEntry> findingTable(); // indexed by FindingKind
[[nodiscard]] const FindingEntry& findingEntry(FindingKind kind);

// Empty for a kind that this program does not know, as a trace of another version may have.
[[nodiscard]] std::optional<FindingKind> findingFromName(std::string_view name);

// "finding race: ... (3 places)"
[[nodiscard]] std::string textOf(const Finding& finding);

// Makes one finding of this kind. Defaults are those of Finding.
[[nodiscard]] Finding found(FindingKind kind, std::string message, std::string operand = {},
                            OptionalRow<StepRow> step = {}, OptionalRow<StepRow> relatedStep = {},
                            SourceLine source = {}, std::int64_t count = 1);

} // namespace pallascope::trace
