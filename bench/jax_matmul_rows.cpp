// Compares the model with the published timings in JAX's matmul guide on TPU v5e
// (docs/pallas/tpu/matmul.ipynb; bf16, neither transposed nor fused). The published times were
// measured on the host and include 0.108 ms of dispatch, which is added to the model's times. The
// step overhead in the chip file was derived from these same rows, so agreement shows that the
// model is consistent with them, not that it predicts them.
#include "app/run_job/run_job.h"

#include <array>
#include <cmath>
#include <cstdio>
#include <string>

namespace {

struct Row
{
    int size, bm, bk, bn;
    double publishedSeconds;
};

constexpr std::array<Row, 4> kRows{{
    {4096, 128, 128, 128, 0.011771515250438824},
    {8192, 128, 128, 128, 0.09183577066054567},
    {4096, 512, 1024, 1024, 0.00088908776990138},
    {8192, 512, 1024, 1024, 0.006099433819763363},
}};

constexpr double kDispatchSeconds = 0.108e-3;
constexpr double kAllowed = 0.05;

} // namespace

int main()
{
    using namespace pallascope;
    int wrong = 0;
    std::printf("matmul_scratch, bf16, TPU v5e; model + 0.108 ms of dispatch against JAX's "
                "published host times\n");
    for (const Row& row : kRows) {
        const std::string size = std::to_string(row.size);
        const auto run = app::runKernel({.kernel = "matmul_scratch",
                                         .parameters = {{"m", size},
                                                        {"n", size},
                                                        {"k", size},
                                                        {"bm", std::to_string(row.bm)},
                                                        {"bk", std::to_string(row.bk)},
                                                        {"bn", std::to_string(row.bn)}},
                                         .fullValues = false});
        if (!run) {
            std::fprintf(stderr, "%s\n", run.error().message.c_str());
            return 2;
        }
        const double model = toSeconds(run->view->report.time).value() + kDispatchSeconds;
        const double difference = model / row.publishedSeconds - 1;
        std::printf("%d^3 in %dx%dx%d: model %9.5f ms, published %9.5f ms, %+5.2f %%\n", row.size,
                    row.bm, row.bk, row.bn, model * 1e3, row.publishedSeconds * 1e3,
                    difference * 100);
        wrong += std::fabs(difference) <= kAllowed ? 0 : 1;
    }
    return wrong == 0 ? 0 : 1;
}
