#include "kernels/softmax_reference.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace pallascope::kernels {

Comparison checkSoftmax(const Arguments&, const std::vector<Array>& inputs,
                        const std::vector<Array>& outputs)
{
    Comparison comparison{.method = "every element against an f64 softmax"};
    const Array &x = inputs[0], &out = outputs[0];
    const std::int64_t columns = x.shape[1];
    std::vector<double> powers(static_cast<std::size_t>(columns));
    double largest = 0;
    for (std::int64_t first = 0; first < x.shape.elements(); first += columns) {
        double most = -std::numeric_limits<double>::infinity(), sum = 0;
        for (std::int64_t i = 0; i < columns; ++i) {
            most = std::max(most, x.at(first + i));
        }
        for (std::int64_t i = 0; i < columns; ++i) {
            powers[static_cast<std::size_t>(i)] = std::exp(x.at(first + i) - most);
            sum += powers[static_cast<std::size_t>(i)];
        }
        for (std::int64_t i = 0; i < columns; ++i) {
            const double expected = powers[static_cast<std::size_t>(i)] / sum;
            largest = std::max(largest, expected);
            comparison.maxAbsError =
                worseError(comparison.maxAbsError, std::fabs(out.at(first + i) - expected));
        }
    }
    comparison.maxRelError = comparison.maxAbsError / largest;
    // A sum of n positive numbers rounds n - 1 times (Higham, Accuracy and Stability of Numerical
    // Algorithms, 4.2). To that come a few other roundings of f32, and the output's own.
    const double rounding =
        (static_cast<double>(columns) + 16) * 0x1p-24 + (out.dtype == DType::BF16 ? 0x1p-8 : 0);
    comparison.passed = comparison.maxRelError <= rounding;
    return comparison;
}

} // namespace pallascope::kernels
