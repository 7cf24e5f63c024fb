// One matrix product by Eigen, compiled for one level of instructions (see eigen_dot.cpp).
#pragma once

#include <cstdint>

// Computes columns [begin, end) of out = a * b. All are n x n, column-major, f32.
using EigenProduct = void (*)(const float* a, const float* b, float* out, std::int64_t n,
                              std::int64_t begin, std::int64_t end);
