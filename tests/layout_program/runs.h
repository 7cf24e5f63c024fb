// Runs of programs of several kernels and devices, made once and shared by the tests.
#pragma once

#include "core/ir/program.h"
#include "views/layout/run/run_view.h"

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

} // namespace pallascope::test
