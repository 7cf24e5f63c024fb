// Conditions on a report, for scripts: "vmem>90%", "bound_by=memory",
// "traffic.x.refetch_factor>=2".
#pragma once

#include "core/base/comparison.h"
#include "core/base/result.h"

#include <string>

namespace pallascope::study {

struct Condition
{
    std::string text;  // as given
    std::string field; // dotted path in the report's JSON; "vmem" means vmem_peak_bytes
    Comparator comparator = Comparator::Equal;
    std::string value;
};

// Parses NAME OPERATOR VALUE with one of > >= < <= = !=; spaces are allowed. The error shows what
// was expected.
[[nodiscard]] Result<Condition> parseCondition(const std::string& text);

struct Verdict
{
    bool holds = false;
    std::string actual; // what the report says, for people
};

// A number is compared with a number or with a percentage. For bytes of VMEM it is a percentage of
// the limit that applies, for shares of 1. Text is compared by = and !=, also without the part in
// brackets: "memory" matches "memory(HBM)". Elements of lists are named by their number, or by
// their operand, name, kind or cause. If several have that name, it is enough that one of them
// holds. The error (user) names a field that the report lacks and similar ones, or a value that
// does not suit the field, such as 80 for a share from 0 to 1.
[[nodiscard]] Result<Verdict> evaluate(const Condition& condition, const std::string& reportJson);

// The JSON of one field of a report, such as 0.25 or "memory(HBM)", found as a condition finds it.
// The error (user) names a field that the report lacks, or that is a list or an object.
[[nodiscard]] Result<std::string> fieldText(const std::string& field,
                                            const std::string& reportJson);

} // namespace pallascope::study
