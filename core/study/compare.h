// Compares two runs: their numbers side by side, and the first event in which they differ.
#pragma once

#include "core/analysis/report.h"
#include "core/base/result.h"
#include "core/trace/row.h"
#include "core/trace/trace.h"

#include <optional>
#include <string>
#include <vector>

namespace pallascope::study {

// The first event that differs between the runs. Runs with the same events may still differ in
// when these happen.
struct Parting
{
    enum class What
    {
        Copy,   // another block, operand, direction, slot or size, or one run has no more copies
        Work,   // other operations
        Signal, // another change of a semaphore
        Time    // the same event at another time
    } what = What::Copy;
    std::string a, b; // the event in each run: "copy of x(0,1) in, 512 KiB"; "nothing"
    // Of other operations the line of the first one that differs: "kernel.py:12"; empty: unknown.
    std::string sourceA, sourceB;
    std::string operand;                     // of a copy; otherwise empty
    std::string block;                       // "0,1"
    trace::OptionalRow<trace::StepRow> step; // none: outside the steps
    Picoseconds timeA, timeB; // when it begins, or when it ends if both begin at the same time
};

// What shows that a run may not do what it should.
struct Faults
{
    std::vector<trace::Finding> findings;
    trace::Check check;

    [[nodiscard]] bool isWrong() const { return check.checked && !check.passed; }
};

struct Comparison
{
    analysis::Report a, b;
    std::string titleA, titleB; // what was run
    Faults faultsA, faultsB;
    std::optional<Parting> parting; // absent: the same events at the same times
};

[[nodiscard]] Result<Comparison> compare(const trace::Trace& a, const trace::Trace& b);

[[nodiscard]] std::string toText(const Comparison& comparison);
[[nodiscard]] std::string toJson(const Comparison& comparison);

} // namespace pallascope::study
