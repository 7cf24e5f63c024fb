#include "kernels/attention_reference.h"

#include <algorithm>
#include <cmath>

namespace pallascope::kernels {

namespace {

constexpr std::int64_t kSampledRows = 16; // rows of each head

class AttentionCheck
{
public:
    AttentionCheck(const std::vector<Array>& inputs, const Array& out)
        : m_q(inputs[0])
        , m_k(inputs[1])
        , m_v(inputs[2])
        , m_out(out)
        , m_queries(out.shape[1])
        , m_keys(m_k.shape[1])
        , m_dim(out.shape[2])
        , m_weights(static_cast<std::size_t>(m_keys))
    {}

    Comparison run()
    {
        const std::int64_t samples = std::min(m_queries, kSampledRows);
        for (std::int64_t head = 0; head < m_out.shape[0]; ++head) {
            for (std::int64_t i = 0; i < samples; ++i) {
                compareRow(head, samples == 1 ? 0 : i * (m_queries - 1) / (samples - 1));
            }
        }
        m_comparison.maxRelError =
            m_largest > 0 ? m_comparison.maxAbsError / m_largest : m_comparison.maxAbsError;
        m_comparison.passed = !m_exceeded && std::isfinite(m_comparison.maxAbsError);
        m_comparison.method = std::to_string(samples) + " rows of each head against f64 attention";
        return m_comparison;
    }

private:
    void compareRow(std::int64_t head, std::int64_t query)
    {
        const std::int64_t row = (head * m_queries + query) * m_dim, first = head * m_keys * m_dim;
        const double total = weigh(row, first);
        // Weights are rounded to the dtype of v, results to that of out, and scores are f32 sums.
        const double unit = 2 * (m_out.dtype == DType::BF16 ? 0x1p-8 : 0x1p-11) + 0x1p-14;
        for (std::int64_t column = 0; column < m_dim; ++column) {
            double sum = 0, magnitude = 0;
            for (std::int64_t key = 0; key < m_keys; ++key) {
                const double product =
                    m_weights[static_cast<std::size_t>(key)] * m_v.at(first + key * m_dim + column);
                sum += product;
                magnitude += std::fabs(product);
            }
            const double expected = sum / total,
                         difference = std::fabs(m_out.at(row + column) - expected);
            m_largest = std::max(m_largest, std::fabs(expected));
            m_comparison.maxAbsError = worseError(m_comparison.maxAbsError, difference);
            m_exceeded = m_exceeded || !(difference <= unit * magnitude / total);
        }
    }

    // The powers of a query's scores; returns their sum.
    double weigh(std::int64_t row, std::int64_t first)
    {
        for (std::int64_t key = 0; key < m_keys; ++key) {
            double score = 0;
            for (std::int64_t i = 0; i < m_dim; ++i) {
                score += m_q.at(row + i) * m_k.at(first + key * m_dim + i);
            }
            m_weights[static_cast<std::size_t>(key)] =
                score / std::sqrt(static_cast<double>(m_dim));
        }
        const double most = *std::max_element(m_weights.begin(), m_weights.end());
        double total = 0;
        for (double& weight : m_weights) {
            weight = std::exp(weight - most);
            total += weight;
        }
        return total;
    }

    const Array &m_q, &m_k, &m_v, &m_out;
    std::int64_t m_queries, m_keys, m_dim;
    std::vector<double> m_weights;
    double m_largest = 0;
    bool m_exceeded = false;
    Comparison m_comparison;
};

} // namespace

Comparison checkAttention(const Arguments&, const std::vector<Array>& inputs,
                          const std::vector<Array>& outputs)
{
    return AttentionCheck(inputs, outputs[0]).run();
}

} // namespace pallascope::kernels
