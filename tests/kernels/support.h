// What the tests of the kernels share: a kernel is traced and then run on its own chip, or TPU v5e,
// with small arrays.
#pragma once

#include "core/base/array.h"
#include "core/machine/run.h"
#include "kernels/kernel.h"

#include <Eigen/Core>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace pallascope::kernel_test {

using Parameters = std::map<std::string, std::string>;

struct KernelRun
{
    kernels::Arguments arguments;
    std::vector<Array> inputs;
    machine::RunResult result;
    kernels::Comparison check;
};

// The parameters with some of them changed or added.
[[nodiscard]] Parameters with(Parameters parameters, const Parameters& changed);

enum class Inputs
{
    Integers, // from -8 to 8: their products and sums are exact in f32
    Normal    // normally distributed, rounded to the dtype
};

// Throws std::runtime_error with the error's sentence.
[[nodiscard]] KernelRun mustRun(const std::string& kernel, const Parameters& parameters,
                                Inputs inputs = Inputs::Integers,
                                machine::ValueMode values = machine::ValueMode::Full);

// The sentence with which the parameters, the tracing or the run are refused. Fails the test if
// they are not.
[[nodiscard]] std::string refusal(const std::string& kernel, const Parameters& parameters);

// For arrays of rank 2.
[[nodiscard]] Eigen::MatrixXd matrixOf(const Array& array);
[[nodiscard]] std::vector<double> elementsOf(const Array& array);
// The value that an array of `dtype` stores.
[[nodiscard]] double rounded(double value, DType dtype);

[[nodiscard]] std::vector<std::byte> bytesOf(const Array& array);
// "output_revisited x4; "; empty if nothing was found.
[[nodiscard]] std::string findingsText(const KernelRun& run);
[[nodiscard]] std::vector<trace::Finding> findingsOf(const KernelRun& run, const std::string& kind);
// The line of the kernel's source to which a finding refers.
[[nodiscard]] std::string sourceLine(const KernelRun& run, const trace::Finding& finding);

} // namespace pallascope::kernel_test
