// Runs of programs of several kernels and devices, made once and shared by the tests.
#pragma once

#include "core/ir/program.h"
#include "views/layout/run/run_view.h"

#include <cstdint>
#include <memory>
#include <string>

namespace pallascope::test {

struct RunOfProgram
{
    ir::Program program;
    std::shared_ptr<layout::RunView> view;

    [[nodiscard]] const trace::Trace& trace() const { return *view->trace; }
};

// One of programsOfSeveral, by its name. Its inputs have no values.
[[nodiscard]] const RunOfProgram& runOf(const std::string& name);

// A run of a program for GPUs on a B200 of so few SMs, which run two blocks at a time if these have
// room. Its inputs have no values.
[[nodiscard]] std::shared_ptr<const layout::RunView> runOnFewSms(const ir::Program& program,
                                                                 std::int32_t sms);

} // namespace pallascope::test
