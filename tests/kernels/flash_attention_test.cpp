// Attention for Hopper GPUs, against attention in f64.
#include "core/base/element.h"
#include "tests/kernels/products.h"

#include <gtest/gtest.h>

namespace pallascope::kernel_test {

namespace {

const Parameters kHeadsOf{{"heads", "2"}, {"queries", "256"}, {"keys", "192"},
                          {"dim", "64"},  {"bq", "64"},       {"bk", "64"}};

// Without a warpgroup for copies.
const Parameters kAlone{{"warp_specialized", "no"}, {"turns", "no"}};

// Attention of one head, all of it.
Eigen::MatrixXd attentionOf(const std::vector<Array>& inputs, std::int64_t head)
{
    const auto matrix = [&](const Array& array) {
        Eigen::MatrixXd found(array.shape[1], array.shape[2]);
        for (Eigen::Index i = 0; i < found.rows(); ++i) {
            for (Eigen::Index j = 0; j < found.cols(); ++j) {
                found(i, j) = array.at((head * found.rows() + i) * found.cols() + j);
            }
        }
        return found;
    };
    const Eigen::MatrixXd q = matrix(inputs[0]), k = matrix(inputs[1]), v = matrix(inputs[2]);
    Eigen::MatrixXd weights = q * k.transpose() / std::sqrt(static_cast<double>(q.cols()));
    weights = (weights.colwise() - weights.rowwise().maxCoeff()).array().exp().matrix();
    return weights.rowwise().sum().asDiagonal().inverse() * (weights * v);
}

void expectAttention(const Parameters& parameters)
{
    const KernelRun run = mustRun("flash_attention", parameters, Inputs::Normal);
    EXPECT_EQ(findingsText(run), "");
    EXPECT_TRUE(run.check.passed) << run.check.maxRelError;
    const Array& out = run.result.outputs[0];
    for (std::int64_t head = 0; head < out.shape[0]; ++head) {
        const Eigen::MatrixXd expected = attentionOf(run.inputs, head);
        double worst = 0;
        for (Eigen::Index i = 0; i < expected.rows(); ++i) {
            for (Eigen::Index j = 0; j < expected.cols(); ++j) {
                const double value = out.at((head * expected.rows() + i) * expected.cols() + j);
                worst = std::max(worst, std::fabs(value - expected(i, j)));
            }
        }
        EXPECT_LT(worst, 3 * 0x1p-8 * expected.cwiseAbs().maxCoeff());
    }
}

} // namespace

TEST(FlashAttention, attendsWithEveryCombinationOfItsImprovements)
{
    for (const Parameters& changed : std::vector<Parameters>{{}, {{"turns", "no"}}, kAlone}) {
        for (const char* stages : {"1", "2", "5"}) { // of 3 steps
            const Parameters parameters = with(with(kHeadsOf, changed), {{"stages", stages}});
            SCOPED_TRACE(testing::PrintToString(parameters));
            expectAttention(parameters);
        }
    }
}

TEST(FlashAttention, attendsInAnyTiles)
{
    for (const Parameters& changed : std::vector<Parameters>{
             {{"dtype", "f16"}}, {{"bq", "128"}, {"bk", "32"}}, {{"dim", "128"}, {"keys", "64"}}}) {
        SCOPED_TRACE(testing::PrintToString(changed));
        expectAttention(with(kHeadsOf, changed));
    }
}

TEST(FlashAttention, takesAsLongWithoutItsValues)
{
    for (const Parameters& changed : std::vector<Parameters>{{}, kAlone}) {
        const Parameters parameters = with(kHeadsOf, changed);
        const KernelRun full = mustRun("flash_attention", parameters, Inputs::Normal),
                        needed = mustRun("flash_attention", parameters, Inputs::Normal,
                                         machine::ValueMode::Needed);
        EXPECT_EQ(findingsText(needed), "");
        EXPECT_EQ(full.result.trace->end(), needed.result.trace->end());
    }
}

// A row that is wrong by more than rounding fails the check.
TEST(FlashAttention, isChecked)
{
    const KernelRun run = mustRun("flash_attention", kHeadsOf, Inputs::Normal);
    const Array& out = run.result.outputs[0];
    writeElement(out.dtype, out.data.get(), 5, out.at(5) + 0.5);
    EXPECT_FALSE(kernels::find("flash_attention")->check(run.arguments, run.inputs, {out}).passed);
}

TEST(FlashAttention, refusesWhatItsTilesAndMemoryDoNotTake)
{
    EXPECT_EQ(refusal("flash_attention", with(kHeadsOf, {{"queries", "192"}})),
              "The parameter queries of flash_attention is 192; expected a multiple of 128.");
    EXPECT_EQ(refusal("flash_attention", {{"bq", "128"}}),
              "The parameters bq, bk and dim of flash_attention give each thread 256 scores and "
              "sums; a thread has 255 registers.");
    EXPECT_EQ(refusal("flash_attention", {{"warp_specialized", "no"}}),
              "The warpgroups of flash_attention take turns only if one of its own does the "
              "copies; expected warp_specialized=yes or turns=no.");
    const std::string said = refusal("flash_attention", {{"stages", "4"}});
    EXPECT_NE(said.find("bytes of shared memory"), std::string::npos) << said;
}

} // namespace pallascope::kernel_test
