// One quick run of a program to know what it would cost: values needed, nothing kept but the
// figures.
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

// Fills everything but `changed` and `name`. A program whose blocks exceed the physical memory
// gives fits = false with its bytes; other errors are passed on.
[[nodiscard]] Result<analysis::Alternative> trial(const ir::Program& program,
                                                  const chip::Chip& chip);

// The report of such a run, with the kinds of its findings. `inputs`: with the contents that decide
// what the program does; empty: none does. `goesOn` is asked from time to time; when it answers
// false, the run ends with a limit error.
struct Outcome
{
    analysis::Report report;
    std::vector<std::string> findings;
    bool completed = true; // false: one of them ended the run before the program did
};

[[nodiscard]] Result<Outcome> quickRun(const ir::Program& program, const chip::Chip& chip,
                                       const machine::Settings& settings = {},
                                       std::vector<Array> inputs = {},
                                       const std::function<bool()>& goesOn = {});

// Bytes of on-chip memory that a program's pipelines occupy, and whether they fit.
struct Fit
{
    Bytes bytes;
    bool fits = true;
};

[[nodiscard]] Result<Fit> fit(const ir::Program& program, const chip::Chip& chip);

} // namespace pallascope::study
