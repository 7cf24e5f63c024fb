// What the tests of the machine share: a chip, small arrays, runs that must succeed.
#pragma once

#include "core/base/array.h"
#include "core/chip/chip.h"
#include "core/ir/builder.h"
#include "core/machine/run.h"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace pallascope::machine_test {

[[nodiscard]] const chip::Chip& v5e();
[[nodiscard]] const chip::Chip& v5p(); // two cores

// Elements in row-major order, rounded to dtype.
[[nodiscard]] Array arrayOf(DType dtype, const Shape& shape, const std::vector<double>& elements);
[[nodiscard]] std::vector<double> elementsOf(const Array& array);

// Throws std::runtime_error with the sentence on a user or limit error.
[[nodiscard]] ir::Program mustTrace(Result<ir::Program> program);
[[nodiscard]] machine::RunResult mustRun(const ir::Program& program,
                                         const std::vector<Array>& inputs,
                                         machine::ValueMode values = machine::ValueMode::Full,
                                         const chip::Chip& chip = v5e());

[[nodiscard]] std::vector<trace::Finding> findingsOf(const machine::RunResult& run,
                                                     const std::string& kind);
// "undefined_branch x1; ..." : nothing unexpected was found when this is empty.
[[nodiscard]] std::string findingsText(const machine::RunResult& run);
// The same without births of NaN and Inf, which operations of corner cases have.
[[nodiscard]] std::string findingsBesidesBirths(const machine::RunResult& run);

// A one-step kernel whose body sees every input and one output whole, in VMEM; `inputs` may lack
// data only with values needed.
struct OneStep
{
    std::vector<Array> inputs;
    DType dtype = DType::F32;
    Shape shape; // of the output
    std::vector<pl::Scratch> scratch;
    std::vector<Extent> grid;
};

using RefsBody = std::function<void(const std::vector<pl::Ref>& refs)>; // inputs, output, scratch

[[nodiscard]] ir::Program oneStepProgram(const OneStep& step, const RefsBody& body);
[[nodiscard]] machine::RunResult runOneStep(const OneStep& step, const RefsBody& body);

} // namespace pallascope::machine_test
