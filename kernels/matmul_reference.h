// The parameters and the reference result that the matmul kernels share.
#pragma once

#include "kernels/kernel.h"

namespace pallascope::kernels {

// In which x y are summed up: integers in int32.
[[nodiscard]] DType sumDtype(DType dtype);

// The parameters m n k bm bn bk dtype buffers order, with these default blocks and up to
// mostBuffers slots.
[[nodiscard]] std::vector<Parameter> matmulParameters(std::int64_t bm, std::int64_t bn,
                                                      std::int64_t bk, std::int64_t mostBuffers);

// Compares up to 16 sampled rows and 16 sampled columns of out with an f64 product, and every row
// with a checksum: out · r against x · (y · r) in f64, for a vector r of random signs. It passes if
// the largest difference is within the rounding of f32 sums of k products, and of the output's
// dtype.
[[nodiscard]] Comparison checkMatmul(const Arguments& arguments, const std::vector<Array>& inputs,
                                     const std::vector<Array>& outputs);

} // namespace pallascope::kernels
