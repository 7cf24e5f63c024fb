// What the machine's tests share: chips, small arrays, runs that must succeed.
#pragma once

#include "core/base/array.h"
#include "core/chip/chip.h"
#include "core/ir/builder.h"
#include "core/machine/run.h"

#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

namespace pallascope::machine_test {

[[nodiscard]] const chip::Chip& v5e();
[[nodiscard]] const chip::Chip& v5p(); // two cores
[[nodiscard]] const chip::Chip& a100();
[[nodiscard]] const chip::Chip& h100();
[[nodiscard]] const chip::Chip& b200();

inline constexpr DType kF32 = DType::F32, kInt = DType::Int32;
inline constexpr auto kUnit = ir::MemorySpace::Accumulator;
inline constexpr double kInf = std::numeric_limits<double>::infinity();
inline constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// An index map for blocks of whole rows.
inline constexpr auto kRow = [](auto i) { return pl::at(i, 0); };

void copyAndWait(const pl::Ref& from, const pl::Ref& to, const pl::Ref& semaphore);

// Elements in row-major order, rounded to dtype.
[[nodiscard]] Array arrayOf(DType dtype, const Shape& shape, const std::vector<double>& elements);
[[nodiscard]] Array counting(DType dtype, const Shape& shape); // 0, 1, 2, ...
[[nodiscard]] std::vector<double> elementsOf(const Array& array);

// These throw std::runtime_error with the sentence if there is an error.
[[nodiscard]] ir::Program mustTrace(Result<ir::Program> program);
[[nodiscard]] machine::RunResult mustRun(const ir::Program& program,
                                         const std::vector<Array>& inputs,
                                         machine::ValueMode values = machine::ValueMode::Full,
                                         const chip::Chip& chip = v5e());

[[nodiscard]] std::vector<trace::Finding> findingsOf(const machine::RunResult& run,
                                                     const std::string& kind);
// "undefined_branch x1; ..."; empty if nothing was found.
[[nodiscard]] std::string findingsText(const machine::RunResult& run);
// The same without NaN and Inf made by operations, which tests of corner cases provoke.
[[nodiscard]] std::string findingsBesidesBirths(const machine::RunResult& run);
// The same without undefined results, for programs that leave a part of their output unwritten.
[[nodiscard]] std::string findingsBesidesResults(const machine::RunResult& run);

// A kernel of one step whose body sees every input and the one output whole, in VMEM. `inputs` may
// lack data only if values are `needed`.
struct OneStep
{
    std::vector<Array> inputs;
    DType dtype = DType::F32;
    Shape shape; // of the output
    std::vector<pl::Scratch> scratch;
    std::vector<Extent> grid;
};

// The refs are inputs, output, scratch.
using RefsBody = std::function<void(const std::vector<pl::Ref>& refs)>;

[[nodiscard]] ir::Program oneStepProgram(const OneStep& step, const RefsBody& body);
[[nodiscard]] machine::RunResult runOneStep(const OneStep& step, const RefsBody& body);

} // namespace pallascope::machine_test
