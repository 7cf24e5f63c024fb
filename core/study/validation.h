// Predicted times beside measured ones: the errors by family of kernels, and whether they are those
// that the model is expected to have. docs/validation.md.
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
    std::string error; // why there is no prediction: a sentence; the rest is then zero
    Picoseconds time;  // of the device
    std::optional<analysis::Band> band;
    std::string boundBy;

    // With what passes outside the device, as what was measured is.
    [[nodiscard]] Seconds predicted() const;
    // predicted / measured - 1, a share: 0.1 is 10 % too slow. Only where there is a prediction.
    [[nodiscard]] double off() const;
    // Whether what was measured lies in the band; absent without a band.
    [[nodiscard]] std::optional<bool> isInBand() const;
};

// What one measurement is of.
struct ValidationSubject
{
    ir::Program program;
    chip::Chip chip;
    std::vector<Array> inputs; // as of quickRun
};

struct ValidationPlan
{
    std::vector<Measurement> measurements;
    // Makes the subject of one; called from several threads at once.
    std::function<Result<ValidationSubject>(const Measurement&)> subject;
    machine::Settings settings;
};

struct ValidationOptions
{
    int threads = 0;                                    // 0: one for each core
    std::function<void(std::size_t finished)> progress; // from one thread at a time
    std::function<bool()> goesOn; // from several at once; false cancels, also in the midst of rows
};

// A row for each measurement, in their order; absent where this was cancelled before.
[[nodiscard]] std::vector<std::optional<ValidationRow>> validate(const ValidationPlan& plan,
                                                                 const ValidationOptions& options);

// Shares of 1 over the rows of a family that have a prediction.
struct FamilyErrors
{
    std::string family;
    std::int64_t rows = 0, ran = 0;
    double meanAbsolute = 0, median = 0, worst = 0; // the last two with their sign
    std::int64_t near = 0;                          // within 15 %
    std::int64_t banded = 0, inBand = 0;            // that have a band; whose time lies in it
};

inline constexpr double kNear = 0.15;

// In the order in which families first appear.
[[nodiscard]] std::vector<FamilyErrors> errorsByFamily(const std::vector<ValidationRow>& rows);
// The same of all rows as one family, "all".
[[nodiscard]] FamilyErrors errorsOfAll(const std::vector<ValidationRow>& rows);

// What families are expected to be off, as a file: docs/validation.md.
struct ExpectedErrors
{
    std::int64_t rows = 0;   // that have a prediction
    double meanAbsolute = 0; // share of 1
};

using Expectation = std::map<std::string, ExpectedErrors>; // by family

// A family may be so much farther off than expected: half a percentage point.
inline constexpr double kAllowed = 0.005;

[[nodiscard]] Expectation expectationOf(const std::vector<FamilyErrors>& errors);
[[nodiscard]] std::string toJson(const Expectation& expectation);
// The error names `file` and what is wrong in it.
[[nodiscard]] Result<Expectation> expectationFrom(const std::string& text, const std::string& file);

// A sentence for each family that is farther off than is allowed, has other rows than expected, or
// is in one of the two only; none: as expected. `file` is the expectation's name.
[[nodiscard]] std::vector<std::string> disagreements(const Expectation& expectation,
                                                     const std::vector<FamilyErrors>& errors,
                                                     const std::string& file);

// A line for each family and one for all.
[[nodiscard]] std::string toText(const std::vector<ValidationRow>& rows);
// Every row; the columns are those of docs/validation.md.
[[nodiscard]] std::string toCsv(const std::vector<ValidationRow>& rows);
// Rows and families. `sentences`: what disagrees; absent: nothing was expected.
[[nodiscard]] std::string toJson(const std::vector<ValidationRow>& rows,
                                 const std::optional<std::vector<std::string>>& sentences);

} // namespace pallascope::study
