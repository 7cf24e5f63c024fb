#include "kernels/matmul_reference.h"

#include <algorithm>
#include <cmath>

namespace pallascope::kernels {

DType sumDtype(DType dtype)
{
    return isFloat(dtype) ? DType::F32 : DType::Int32;
}

std::vector<Parameter> matmulParameters(std::int64_t bm, std::int64_t bn, std::int64_t bk,
                                        std::int64_t mostBuffers)
{
    constexpr std::int64_t kMost = 1 << 24;
    return {
        integer("m", 4096, 1, kMost, "rows of x and out"),
        integer("n", 4096, 1, kMost, "columns of y and out"),
        integer("k", 4096, 1, kMost, "columns of x, rows of y"),
        integer("bm", bm, 1, kMost, "rows of a block of out"),
        integer("bn", bn, 1, kMost, "columns of a block of out"),
        integer("bk", bk, 1, kMost, "depth of a block of x and y"),
        choice("dtype", {"bf16", "f32", "int8"},
               "element type of x and y; sums of int8 are int32, as is out then"),
        integer("buffers", 2, 1, mostBuffers,
                "slots of each operand: 1 copies without overlap, 2 double-buffers"),
        choice("order", {"ijk", "ikj", "jik", "jki", "kij", "kji"},
               "grid axes from the outermost to the innermost"),
    };
}

namespace {

constexpr std::int64_t kSamples = 16;

// Half a unit in the last place of a number, relative to it; 0 for the sums' own dtype.
double roundingOf(DType dtype)
{
    return dtype == DType::BF16 ? 0x1p-8 : dtype == DType::F16 ? 0x1p-11 : 0;
}

// Evenly spread indices including the last, at most kSamples.
std::vector<std::int64_t> sampled(std::int64_t extent)
{
    const std::int64_t count = std::min(extent, kSamples);
    std::vector<std::int64_t> indices;
    for (std::int64_t i = 0; i < count; ++i) {
        indices.push_back(count == 1 ? 0 : i * (extent - 1) / (count - 1));
    }
    return indices;
}

std::vector<double> widened(const Array& array)
{
    std::vector<double> values(static_cast<std::size_t>(array.shape.elements()));
    for (std::size_t i = 0; i < values.size(); ++i) {
        values[i] = array.at(static_cast<std::int64_t>(i));
    }
    return values;
}

struct Errors
{
    double largestDifference = 0, largestReference = 0, largestBound = 0;
    bool exceeded = false;

    // `magnitude`: the sum of |products|. It bounds the rounding error of every order of summation.
    void add(double value, double reference, double magnitude, double unit)
    {
        const double difference = std::fabs(value - reference);
        largestDifference = worseError(largestDifference, difference);
        largestReference = std::max(largestReference, std::fabs(reference));
        if (!(difference <= unit * magnitude)) {
            exceeded = true;
        }
    }
};

class MatmulCheck
{
public:
    MatmulCheck(const Array& x, const Array& y, const Array& out)
        : m_m(out.shape[0])
        , m_n(out.shape[1])
        , m_k(x.shape[1])
        , m_x(widened(x))
        , m_y(widened(y))
        , m_out(widened(out))
    {
        // f32 sums are within a few units of 2^-24 of the sum of |products|, and the output's own
        // rounding is added to that. Integers are exact as long as they stay below 2^31.
        const bool integers = !isFloat(x.dtype);
        m_unit = integers ? 0 : 16 * 0x1p-24 + roundingOf(out.dtype);
    }

    [[nodiscard]] Comparison run()
    {
        compareRows();
        compareColumns();
        compareChecksum();
        Comparison comparison;
        comparison.maxAbsError = m_errors.largestDifference;
        comparison.maxRelError = m_errors.largestReference > 0
                                     ? m_errors.largestDifference / m_errors.largestReference
                                     : m_errors.largestDifference;
        comparison.passed = !m_errors.exceeded && std::isfinite(comparison.maxAbsError);
        comparison.method = std::to_string(std::min(m_m, kSamples)) + " rows and "
                            + std::to_string(std::min(m_n, kSamples))
                            + " columns against an f64 product, and a checksum of all elements";
        return comparison;
    }

private:
    void compareRows();
    void compareColumns();
    void compareChecksum();

    std::int64_t m_m, m_n, m_k;
    std::vector<double> m_x, m_y, m_out;
    double m_unit = 0;
    Errors m_errors;
};

void MatmulCheck::compareRows()
{
    std::vector<double> sum(static_cast<std::size_t>(m_n)), magnitude(sum.size());
    for (const std::int64_t i : sampled(m_m)) {
        std::fill(sum.begin(), sum.end(), 0.0);
        std::fill(magnitude.begin(), magnitude.end(), 0.0);
        for (std::int64_t k = 0; k < m_k; ++k) {
            const double a = m_x[static_cast<std::size_t>(i * m_k + k)];
            const double* row = m_y.data() + k * m_n;
            for (std::int64_t j = 0; j < m_n; ++j) {
                sum[static_cast<std::size_t>(j)] += a * row[j];
                magnitude[static_cast<std::size_t>(j)] += std::fabs(a * row[j]);
            }
        }
        for (std::int64_t j = 0; j < m_n; ++j) {
            const auto at = static_cast<std::size_t>(j);
            m_errors.add(m_out[static_cast<std::size_t>(i * m_n + j)], sum[at], magnitude[at],
                         m_unit);
        }
    }
}

void MatmulCheck::compareColumns()
{
    const std::vector<std::int64_t> columns = sampled(m_n);
    std::vector<double> sum(columns.size()), magnitude(columns.size());
    for (std::int64_t i = 0; i < m_m; ++i) {
        std::fill(sum.begin(), sum.end(), 0.0);
        std::fill(magnitude.begin(), magnitude.end(), 0.0);
        for (std::int64_t k = 0; k < m_k; ++k) {
            const double a = m_x[static_cast<std::size_t>(i * m_k + k)];
            for (std::size_t c = 0; c < columns.size(); ++c) {
                const double product = a * m_y[static_cast<std::size_t>(k * m_n + columns[c])];
                sum[c] += product;
                magnitude[c] += std::fabs(product);
            }
        }
        for (std::size_t c = 0; c < columns.size(); ++c) {
            m_errors.add(m_out[static_cast<std::size_t>(i * m_n + columns[c])], sum[c],
                         magnitude[c], m_unit);
        }
    }
}

void MatmulCheck::compareChecksum()
{
    // Signs from a fixed pattern without short periods: the parity of the bits of j * 0x9e3779b1.
    std::vector<double> sign(static_cast<std::size_t>(m_n));
    for (std::size_t j = 0; j < sign.size(); ++j) {
        sign[j] = __builtin_parityll(j * 0x9e37'79b1ULL) != 0 ? 1.0 : -1.0;
    }
    std::vector<double> yr(static_cast<std::size_t>(m_k)), yMagnitude(yr.size());
    for (std::size_t k = 0; k < yr.size(); ++k) {
        for (std::size_t j = 0; j < sign.size(); ++j) {
            const double element = m_y[k * sign.size() + j];
            yr[k] += element * sign[j];
            yMagnitude[k] += std::fabs(element);
        }
    }
    // Goes row by row, so that only the rounding of one row is allowed for, including that of f64.
    // This check only passes or fails, because a sum over a row is not the error of one element.
    for (std::size_t i = 0; i < static_cast<std::size_t>(m_m); ++i) {
        double total = 0, expected = 0, magnitude = 0;
        for (std::size_t j = 0; j < sign.size(); ++j) {
            total += m_out[i * sign.size() + j] * sign[j];
        }
        for (std::size_t k = 0; k < yr.size(); ++k) {
            const double a = m_x[i * yr.size() + k];
            expected += a * yr[k];
            magnitude += std::fabs(a) * yMagnitude[k];
        }
        if (!(std::fabs(total - expected) <= (m_unit + 0x1p-40) * magnitude)) {
            m_errors.exceeded = true;
        }
    }
}

} // namespace

Comparison checkMatmul(const Arguments&, const std::vector<Array>& inputs,
                       const std::vector<Array>& outputs)
{
    return MatmulCheck(inputs[0], inputs[1], outputs[0]).run();
}

} // namespace pallascope::kernels
