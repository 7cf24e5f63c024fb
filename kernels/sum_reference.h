// The check of kernels that add two arrays.
#pragma once

#include "kernels/kernel.h"

namespace pallascope::kernels {

// Compares every element of the output with the f64 sum of the two inputs.
[[nodiscard]] Comparison compareWithSum(const Arguments& arguments,
                                        const std::vector<Array>& inputs,
                                        const std::vector<Array>& outputs);

} // namespace pallascope::kernels
