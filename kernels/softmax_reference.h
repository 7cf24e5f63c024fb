// The check of the softmax kernel.
#pragma once

#include "kernels/kernel.h"

namespace pallascope::kernels {

// Compares every element of the output with the f64 softmax of its row of the input.
[[nodiscard]] Comparison checkSoftmax(const Arguments& arguments, const std::vector<Array>& inputs,
                                      const std::vector<Array>& outputs);

} // namespace pallascope::kernels
