// What the report promises of doing without a loss, beside a run on a chip on which that costs
// nothing.
#include "core/analysis/losses.h"
#include "core/ir/builder.h"
#include "core/ir/builder_gpu.h"
#include "core/ir/infer.h"
#include "tests/analysis/runs.h"
#include "tests/chip/chip_file.h"
#include "tests/support/by_triton.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

namespace pallascope::analysis_test {

namespace {

using analysis::LossKind;
using analysis::Report;

// Steps copy blocks of k even where they do nothing with them. Without their overhead, these would
// wait for their copies.
ir::Program skippingSteps()
{
    constexpr Extent kBlocks = 16, kRows = 512, kDim = 128;
    const auto rows = [](bool second) {
        return pl::block({kRows, kDim},
                         [second](pl::Value i, pl::Value j) { return pl::at(second ? j : i, 0); });
    };
    const auto body = [](pl::Ref q, pl::Ref k, pl::Ref out) {
        pl::when(pl::programId(1) == 0, [&] { out[pl::all] = pl::zerosLike(out); });
        pl::when(pl::programId(1) <= pl::programId(0), [&] {
            const pl::Value scores =
                pl::dot(q[pl::all], pl::transpose(k[pl::all], {1, 0}), DType::F32);
            out[pl::all] += pl::dot(pl::exp(scores), k[pl::all], DType::F32);
        });
    };
    return pl::kernel("skipping",
                      {pl::in("q", DType::F32, {kBlocks * kRows, kDim}),
                       pl::in("k", DType::F32, {kBlocks * kRows, kDim}),
                       pl::out("out", DType::F32, {kBlocks * kRows, kDim})},
                      [&](pl::Ref q, pl::Ref k, pl::Ref out) {
                          pl::emitPipeline({.grid = {kBlocks, kBlocks},
                                            .in = {rows(false), rows(true)},
                                            .out = {rows(false)}},
                                           body)(q, k, out);
                      })
        .value();
}

// Attention as it is written for Triton, whose warps issue many instructions beside the tensor core
// and the FP32 units, which take nearly as long.
ir::Program attentionByTriton()
{
    constexpr Extent kRows = 128, kDim = 64, kKeys = 128, kSteps = 32, kBlocks = 264;
    const auto rowsOf = [](const pl::Ref& ref, const pl::Value& first, Extent count) {
        return ref[{pl::ds(first, count), pl::all}].load();
    };
    const auto body = [&](const pl::Ref& q, const pl::Ref& k, const pl::Ref& out) {
        pl::gpu::launch({{{"block", kBlocks}}}, [&] {
            const pl::Value first = pl::axisIndex("block") * static_cast<int>(kRows);
            const pl::Value queries = rowsOf(q, first, kRows);
            const auto step = [&](const pl::Value& i, const std::vector<pl::Value>& carry) {
                const pl::Value keys = rowsOf(k, i * static_cast<int>(kKeys), kKeys);
                const pl::Value scores = pl::dot(queries, pl::transpose(keys, {1, 0}), DType::F32);
                const auto across = [&](const pl::Value& ofRow, Extent columns) {
                    return pl::broadcastTo(ofRow, {kRows, columns}, {0});
                };
                const pl::Value most =
                    pl::maximum(carry[0], pl::reduce(ir::OpCode::ReduceMax, scores, {1}));
                const pl::Value powers = pl::exp(scores - across(most, kKeys));
                const pl::Value scale = pl::exp(carry[0] - most);
                const pl::Value sum =
                    carry[1] * scale + pl::reduce(ir::OpCode::ReduceSum, powers, {1});
                return std::vector{
                    most, sum,
                    carry[2] * across(scale, kDim)
                        + pl::dot(pl::convert(powers, DType::BF16), keys, DType::F32)};
            };
            const pl::Value none = pl::convert(queries, DType::F32);
            const pl::Value noRow = pl::reduce(ir::OpCode::ReduceMax, none, {1});
            const auto ended = pl::foriLoop(kSteps, {noRow, noRow, none}, step);
            out[{pl::ds(first, kRows), pl::all}] =
                ended[2] / pl::broadcastTo(ended[1], {kRows, kDim}, {0});
        });
    };
    const Shape all{kBlocks * kRows, kDim};
    ir::Program program =
        pl::kernel("by_triton",
                   {pl::in("q", DType::BF16, all), pl::in("k", DType::BF16, {kSteps * kKeys, kDim}),
                    pl::out("out", DType::F32, all)},
                   body)
            .value();
    test::compileByTriton(program);
    return program;
}

chip::Chip chipOf(const std::string& name)
{
    return chip::parse(chip::chipText(name), name).value();
}

void withoutOverhead(chip::Chip& chip)
{
    chip.stepOperand = Picoseconds(0);
    for (chip::AgentKind& agent : chip.agents) {
        agent.stepOverhead = Picoseconds(0);
    }
}

// As many multipliers, in arrays that smaller products fill.
void withoutPadding(chip::Chip& chip)
{
    for (chip::Unit& unit : chip.units) {
        if (unit.kind == UnitKind::Matrix) {
            unit.rows /= 2;
            unit.columns /= 2;
            unit.count *= 4;
        }
    }
}

std::function<void(chip::Chip&)> without(const std::string& name)
{
    return [name](chip::Chip& chip) {
        for (chip::Unit& unit : chip.units) {
            unit.cyclesPerRegister = unit.name == name ? 1e-6 : unit.cyclesPerRegister;
        }
    };
}

struct Promise
{
    std::string name, chip;
    ir::Program program;
    std::vector<LossKind> kinds; // whose gains are added
    std::string of;
    std::function<void(chip::Chip&)> change;
};

std::vector<Promise> promises()
{
    const auto matmul = [](const std::string& size, const std::string& bm, const std::string& bn,
                           const std::string& bk) {
        return programOf(
            "matmul", {{"m", size}, {"n", size}, {"k", size}, {"bm", bm}, {"bn", bn}, {"bk", bk}});
    };
    const std::vector<LossKind> overhead{LossKind::StepOverhead}, padding{LossKind::Padding},
        units{LossKind::Units, LossKind::Masks};
    std::vector<Promise> all{
        {"many steps", "tpu_v6e", matmul("4096", "512", "512", "256"), overhead, "",
         withoutOverhead},
        {"steps that copy for long", "tpu_v7x", matmul("4096", "512", "1024", "512"), overhead, "",
         withoutOverhead},
        {"steps that skip their work", "tpu_v6e", skippingSteps(), overhead, "", withoutOverhead},
        {"vectors", "tpu_v5e", programOf("add_vectors", {{"shape", "1048576"}, {"block", "8192"}}),
         overhead, "", withoutOverhead},
        {"half of k, but the VPU sums", "tpu_v6e", matmul("4096", "1024", "1024", "128"), padding,
         "", withoutPadding},
        {"half of n, beside steps", "tpu_v7x", matmul("2048", "512", "128", "512"), padding, "",
         withoutPadding},
        {"half of n, behind copies", "tpu_v6e", matmul("2048", "512", "128", "1024"), padding, "",
         withoutPadding},
    };
    for (const char* unit : {"VPU", "EUP", "store", "load"}) {
        all.push_back({std::string("skipping, ") + unit, "tpu_v6e", skippingSteps(), units, unit,
                       without(unit)});
        all.push_back({std::string("sums, ") + unit, "tpu_v6e",
                       matmul("4096", "1024", "1024", "128"), units, unit, without(unit)});
    }
    all.push_back({"by Triton", "h100_sxm", attentionByTriton(), units, "issue", without("issue")});
    return all;
}

} // namespace

TEST(PromisedGains, areWhatARunWithoutTheLossGains)
{
    int large = 0, small = 0;
    for (const Promise& one : promises()) {
        SCOPED_TRACE(one.name);
        const chip::Chip chip = chipOf(one.chip);
        chip::Chip changed = chip;
        one.change(changed);
        const auto run = runOf(one.program, chip);
        const double gained = microseconds(run->end() - runOf(one.program, changed)->end());
        const Report report = analysis::report(*run).value();
        double promised = 0, time = 0;
        for (const analysis::Loss& loss : report.losses.beyond) {
            const bool isMask = loss.kind == LossKind::Masks;
            if (std::ranges::find(one.kinds, loss.kind) != one.kinds.end()
                && (one.of.empty() || loss.of == one.of || (isMask && one.of == "VPU"))) {
                promised += microseconds(loss.gain);
                time += microseconds(loss.time);
            }
        }
        EXPECT_NEAR(promised, gained, 0.03 * microseconds(run->end()))
            << analysis::advice(report) << ", at most " << time;
        large += gained > 0.1 * microseconds(run->end()) ? 1 : 0;
        small += gained < 0.3 * time ? 1 : 0;
    }
    EXPECT_GE(large, 4);
    EXPECT_GE(small, 2) << "nothing shows that other units and copies count";
}

} // namespace pallascope::analysis_test
