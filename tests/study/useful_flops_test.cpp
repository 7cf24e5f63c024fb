// The useful FLOPs of products whose blocks overhang their arrays.
#include "core/study/trial.h"
#include "tests/study/runs.h"

#include <random>

namespace pallascope::study {

namespace {

double productFlops(const std::string& kernel, const std::map<std::string, std::string>& parameters)
{
    const Result<Outcome> outcome = quickRun(programOf(kernel, parameters), chipNamed("tpu_v5e"));
    EXPECT_TRUE(outcome);
    for (const auto& [unit, flops] : outcome->report.flopsByUnit) {
        if (unit == "MXU") {
            return static_cast<double>(flops.value());
        }
    }
    return 0;
}

} // namespace

// Whatever the blocks are, they are those of the product of the whole arrays.
TEST(UsefulFlops, ofAProductAreThoseOfItsArrays)
{
    std::mt19937 random(7);
    const auto size = [&random](int least, int most) {
        return std::uniform_int_distribution(least, most)(random);
    };
    for (int i = 0; i < 12; ++i) {
        const int m = size(1, 700), n = size(1, 700), k = size(1, 700);
        for (const char* const kernel : {"matmul", "matmul_scratch"}) {
            const double flops = productFlops(kernel, {{"m", std::to_string(m)},
                                                       {"n", std::to_string(n)},
                                                       {"k", std::to_string(k)},
                                                       {"bm", "256"},
                                                       {"bn", "128"},
                                                       {"bk", "256"}});
            EXPECT_NEAR(flops / (2.0 * m * n * k), 1, 1e-6) << m << " " << n << " " << k;
        }
    }
}

} // namespace pallascope::study
