#include "kernels/sum_reference.h"

#include <algorithm>
#include <cmath>

namespace pallascope::kernels {

Comparison compareWithSum(const Arguments&, const std::vector<Array>& inputs,
                          const std::vector<Array>& outputs)
{
    Comparison comparison{.method = "every element against an f64 sum"};
    const Array& out = outputs[0];
    double largest = 0;
    for (std::int64_t i = 0; i < out.shape.elements(); ++i) {
        const double expected = inputs[0].at(i) + inputs[1].at(i);
        largest = std::max(largest, std::fabs(expected));
        comparison.maxAbsError =
            worseError(comparison.maxAbsError, std::fabs(out.at(i) - expected));
    }
    comparison.maxRelError =
        largest > 0 ? comparison.maxAbsError / largest : comparison.maxAbsError;
    const double rounding = out.dtype == DType::BF16  ? 0x1p-8
                            : out.dtype == DType::F32 ? 0x1p-23
                                                      : 0;
    comparison.passed = comparison.maxRelError <= rounding;
    return comparison;
}

} // namespace pallascope::kernels
