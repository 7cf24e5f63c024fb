// Programs whose runs are replayed.
#pragma once

#include "core/machine/run.h"
#include "tests/machine/support.h"

#include <map>
#include <string>
#include <vector>

namespace pallascope::machine_test {

struct ReplayCase
{
    ir::Program program;
    std::vector<Array> inputs;
    const chip::Chip* chip = &v5e();
    machine::Options options;
};

// Elements for every input.
[[nodiscard]] std::vector<Array> inputsOfCase(const ir::Program& program);
[[nodiscard]] ReplayCase builtInCase(const std::string& name,
                                     const std::map<std::string, std::string>& parameters,
                                     const chip::Chip& chip = v5e());

// "matmul"; "wide": large arrays; "manual_dma": two cores; "turns": two cores that signal each
// other; "nested": a pipeline in another one; "indirect": rows by lists that the bodies change;
// "ring": four devices; "made_up": blocks on slots and direct use of a matrix unit; "fusions": a
// kernel between two fusions.
[[nodiscard]] ReplayCase replayCase(const std::string& name);

} // namespace pallascope::machine_test
