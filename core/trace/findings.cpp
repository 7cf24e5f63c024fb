#include "core/trace/findings.h"

#include "core/base/check.h"
#include "core/base/format.h"

#include <algorithm>
#include <array>
#include <utility>

namespace pallascope::trace {

namespace {

constexpr std::array kTable{
#define FINDING(code, name, category, severity, title, meaning)                                    \
    FindingEntry{FindingKind::code,         name,  FindingClass::category,                         \
                 FindingSeverity::severity, title, meaning},
#include "core/trace/findings.inc"
};

} // namespace

std::span<const FindingEntry> findingTable()
{
    return kTable;
}

const FindingEntry& findingEntry(FindingKind kind)
{
    const auto index = static_cast<std::size_t>(kind);
    PALLASCOPE_CHECK(index < kTable.size());
    return kTable[index];
}

std::optional<FindingKind> findingFromName(std::string_view name)
{
    const auto entry = std::find_if(kTable.begin(), kTable.end(),
                                    [&](const FindingEntry& row) { return row.name == name; });
    return entry == kTable.end() ? std::nullopt : std::optional(entry->kind);
}

std::string textOf(const Finding& finding)
{
    return "finding " + finding.kind + ": " + finding.message
           + (finding.count > 1 ? " (" + countText(finding.count) + " places)" : "");
}

Finding found(FindingKind kind, std::string message, std::string operand, OptionalRow<StepRow> step,
              OptionalRow<StepRow> relatedStep, SourceLine source, std::int64_t count)
{
    const FindingEntry& entry = findingEntry(kind);
    return {std::string(entry.name),
            entry.category,
            std::move(message),
            std::move(operand),
            stored(step),
            relatedStep ? std::optional<std::int64_t>(relatedStep->number) : std::nullopt,
            source,
            count,
            {},
            {}};
}

} // namespace pallascope::trace
