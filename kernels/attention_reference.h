// The check of kernels for attention.
#pragma once

#include "kernels/kernel.h"

namespace pallascope::kernels {

// Compares up to 16 sampled rows of each head of out with softmax(q kᵀ / √dim) v in f64. Inputs are
// q, k and v, with the axes head, row and column.
[[nodiscard]] Comparison checkAttention(const Arguments& arguments,
                                        const std::vector<Array>& inputs,
                                        const std::vector<Array>& outputs);

} // namespace pallascope::kernels
