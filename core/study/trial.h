// Runs a program once, quickly, to learn what it costs. Only the values that are needed are
// computed, and only the figures are kept.
#pragma once

#include "core/analysis/report.h"
#include "core/base/array.h"
#include "core/base/result.h"
#include "core/chip/chip.h"
#include "core/ir/program.h"
#include "core/machine/settings.h"

#include <functional>
#include <string>
#include <vector>

namespace pallascope::study {

// Fills everything except `changed` and `name`. A program whose blocks exceed the physical memory
// gives fits = false and the bytes that it needs; other errors are returned.
[[nodiscard]] Result<analysis::Alternative> trial(const ir::Program& program,
                                                  const chip::Chip& chip);

// The report of such a run, with the kinds of its findings. `inputs` holds the contents that
// decide what the program does; it is empty if none do. `goesOn` is called from time to time. If
// it returns false, the run ends with a limit error.
struct Outcome
{
    analysis::Report report;
    std::vector<std::string> findings;
};

[[nodiscard]] Result<Outcome> quickRun(const ir::Program& program, const chip::Chip& chip,
                                       const machine::Settings& settings = {},
                                       std::vector<Array> inputs = {},
                                       const std::function<bool()>& goesOn = {});

// The bytes of on-chip memory that a run took; on a GPU those of one block, with what the compiler
// adds.
[[nodiscard]] Bytes memoryOf(const analysis::Report& report);

// How many bytes of on-chip memory a program's pipelines occupy, and whether they fit.
struct Fit
{
    Bytes bytes;
    bool fits = true;
};

[[nodiscard]] Result<Fit> fit(const ir::Program& program, const chip::Chip& chip);

} // namespace pallascope::study
