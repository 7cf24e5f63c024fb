// Compares predicted with measured times: the errors for each family of kernels, and whether they
// are those that the model is expected to have. See docs/validation.md.
#pragma once

#include "core/analysis/report.h"
#include "core/base/array.h"
#include "core/base/result.h"
#include "core/chip/chip.h"
#include "core/ir/program.h"
#include "core/machine/settings.h"
#include "core/study/measurements.h"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace pallascope::study {

struct ValidationRow
{
    Measurement measured;
    std::string chip;  // its name
    std::string error; // a sentence that says why there is no prediction; the rest is then zero
    Picoseconds time;  // predicted, on the device
    std::optional<analysis::Band> band;
    std::string boundBy;

    // The time on the device and what passes outside it, which the measured time includes too.
    [[nodiscard]] Seconds predicted() const;
    // predicted / measured - 1, as a share: 0.1 means that the prediction is 10 % too slow. Call
    // it only if there is a prediction.
    [[nodiscard]] double off() const;
    // Whether the measured time lies in the band. Absent if there is no band.
    [[nodiscard]] std::optional<bool> isInBand() const;
};

// What one measurement has measured.
struct ValidationSubject
{
    ir::Program program;
    chip::Chip chip;
    std::vector<Array> inputs; // as for quickRun
};

struct ValidationPlan
{
    std::vector<Measurement> measurements;
    // Makes the subject of a measurement. Several threads call it at once.
    std::function<Result<ValidationSubject>(const Measurement&)> subject;
    machine::Settings settings;
};

struct ValidationOptions
{
    int threads = 0;                                    // 0: one for each core
    std::function<void(std::size_t finished)> progress; // called by one thread at a time
    // Called by several threads at once; false cancels, even in the middle of a row.
    std::function<bool()> goesOn;
};

// A row for each measurement, in their order. Rows are absent if this was cancelled before they
// ran.
[[nodiscard]] std::vector<std::optional<ValidationRow>> validate(const ValidationPlan& plan,
                                                                 const ValidationOptions& options);

// Errors as shares of 1, over the rows of a family that have a prediction.
struct FamilyErrors
{
    std::string family;
    std::int64_t rows = 0, ran = 0;
    double meanAbsolute = 0, median = 0, worst = 0; // median and worst keep their sign
    std::int64_t near = 0;                          // within 15 %
    std::int64_t banded = 0, inBand = 0; // rows that have a band; rows whose time lies in it
};

inline constexpr double kNear = 0.15;

// In the order in which the families first appear.
[[nodiscard]] std::vector<FamilyErrors> errorsByFamily(const std::vector<ValidationRow>& rows);
// The errors of all rows, as one family named "all".
[[nodiscard]] FamilyErrors errorsOfAll(const std::vector<ValidationRow>& rows);

// The errors that a family is expected to have, as a file has them: docs/validation.md.
struct ExpectedErrors
{
    std::int64_t rows = 0;   // rows that have a prediction
    double meanAbsolute = 0; // share of 1
};

using Expectation = std::map<std::string, ExpectedErrors>; // by family

// How much larger than expected a family's error may be: half a percentage point.
inline constexpr double kAllowed = 0.005;

[[nodiscard]] Expectation expectationOf(const std::vector<FamilyErrors>& errors);
[[nodiscard]] std::string toJson(const Expectation& expectation);
// The error names `file` and what is wrong in it.
[[nodiscard]] Result<Expectation> expectationFrom(const std::string& text, const std::string& file);

// A sentence for each family whose error is larger than allowed, which has other rows than
// expected, or which only one of the two has. Empty if all is as expected. `file` is the name of
// the expectation.
[[nodiscard]] std::vector<std::string> disagreements(const Expectation& expectation,
                                                     const std::vector<FamilyErrors>& errors,
                                                     const std::string& file);

// A line for each family and one for all.
[[nodiscard]] std::string toText(const std::vector<ValidationRow>& rows);
// Every row; the columns are those of docs/validation.md.
[[nodiscard]] std::string toCsv(const std::vector<ValidationRow>& rows);
// Rows and families. `sentences` are the disagreements; absent if nothing was expected.
[[nodiscard]] std::string toJson(const std::vector<ValidationRow>& rows,
                                 const std::optional<std::vector<std::string>>& sentences);

} // namespace pallascope::study
