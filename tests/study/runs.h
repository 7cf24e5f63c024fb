// Programs and chips from which the tests of core/study start.
#pragma once

#include "core/base/check.h"
#include "core/chip/chip.h"
#include "core/machine/run.h"
#include "kernels/kernel.h"
#include "tests/chip/chip_file.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

namespace pallascope::study {

inline chip::Chip chipNamed(const std::string& name)
{
    Result<chip::Chip> chip = chip::parse(chip::chipText(name), name);
    PALLASCOPE_CHECK(chip.has_value());
    return *std::move(chip);
}

inline ir::Program programOf(const std::string& kernel,
                             const std::map<std::string, std::string>& parameters)
{
    const kernels::Kernel* found = kernels::find(kernel);
    PALLASCOPE_CHECK(found != nullptr);
    const Result<kernels::Arguments> arguments = kernels::arguments(*found, parameters);
    PALLASCOPE_CHECK(arguments.has_value());
    Result<ir::Program> program = found->build(*arguments);
    PALLASCOPE_CHECK(program.has_value());
    return *std::move(program);
}

// The inputs of a run with values `needed`: shapes without contents.
inline std::vector<Array> inputShapes(const ir::Program& program)
{
    std::vector<Array> shapes;
    for (const ir::Argument& argument : program.arguments) {
        if (argument.kind == ir::ArgumentKind::Input) {
            const ir::Type& type = program.type(argument.ref);
            shapes.push_back({type.dtype, type.shape, nullptr});
        }
    }
    return shapes;
}

inline std::shared_ptr<const trace::Trace> neededRun(const ir::Program& program,
                                                     const chip::Chip& chip)
{
    Result<machine::RunResult> run =
        machine::run(program, inputShapes(program), chip, {.values = machine::ValueMode::Needed});
    EXPECT_TRUE(run) << (run ? "" : run.error().message);
    PALLASCOPE_CHECK(run.has_value());
    return run->trace;
}

} // namespace pallascope::study
