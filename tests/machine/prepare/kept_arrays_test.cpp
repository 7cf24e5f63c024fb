// Arrays that stay in VMEM between fusions: docs/xla.md.
#include "tests/chip/edited_chip.h"
#include "tests/ir/wholes.h"
#include "tests/machine/support.h"

#include <gtest/gtest.h>

namespace pallascope::machine_test {

namespace {

using ir_test::fusion;
using Refs = std::vector<pl::Ref>;

const Shape kMebibyte{256, 1024}; // 1 MiB
constexpr std::int64_t kArrayBytes = std::int64_t{1} << 20;

// A chip whose VMEM has this many MiB beyond what kernels may use.
chip::Chip withRoom(std::int64_t mebibytes)
{
    return chip::edited({{"/memories/1/default_limit", (128 - mebibytes) << 20},
                         {"/constants/fusion_launch_s", 1e-6},
                         {"/constants/near_fusion_launch_s", 0.25e-6}});
}

machine::RunResult between(std::size_t arrays, const chip::Chip& chip,
                           const std::function<void(pl::Ref, pl::Ref, const Refs&)>& body)
{
    const ir::Program program = mustTrace(
        pl::kernel("between", {pl::in("x", kF32, kMebibyte), pl::out("out", kF32, kMebibyte)},
                   [&](pl::Ref x, pl::Ref out) {
                       std::vector<pl::Scratch> scratch(
                           arrays, {"between", kF32, kMebibyte, ir::MemorySpace::Hbm});
                       pl::runScoped(scratch, [&](const Refs& refs) {
                           body(x, out, refs);
                           return std::vector<pl::Value>{};
                       });
                   }));
    machine::RunResult run =
        mustRun(program, {counting(kF32, kMebibyte)}, machine::ValueMode::Full, chip);
    EXPECT_EQ(findingsText(run), "");
    return run;
}

void pass(const pl::Ref& from, const pl::Ref& to)
{
    fusion({"pass"}, [&] { to[pl::all] = from[pl::all] + 1.0; });
}

void readByKernel(const pl::Ref& array)
{
    ir_test::kernel("reads", [&] {
        pl::emitPipeline({.in = {pl::wholeArray()}}, [](const pl::Ref&) {})(array);
    });
}

// x -> a -> b -> out
void chain(const pl::Ref& x, const pl::Ref& out, const Refs& refs)
{
    pass(x, refs[0]);
    pass(refs[0], refs[1]);
    pass(refs[1], out);
}

std::size_t copies(const machine::RunResult& run)
{
    for (const std::int64_t bytes : run.trace->copies().bytes) {
        EXPECT_EQ(bytes, kArrayBytes);
    }
    return run.trace->copies().size();
}

} // namespace

TEST(KeptArrays, areNotCopied)
{
    EXPECT_EQ(copies(between(2, withRoom(8), chain)), 2U); // only x and out
    EXPECT_EQ(copies(between(2, withRoom(0), chain)), 6U);
}

TEST(KeptArrays, areThoseForWhichThereIsRoom)
{
    // Both arrays exist while the second fusion runs, and the first one is placed first.
    EXPECT_EQ(copies(between(2, withRoom(2), chain)), 2U);
    EXPECT_EQ(copies(between(2, withRoom(1), chain)), 4U);
    // An array that nobody reads again leaves its room to others.
    const auto longer = [](const pl::Ref& x, const pl::Ref& out, const Refs& refs) {
        pass(x, refs[0]);
        pass(refs[0], refs[1]);
        pass(refs[1], refs[2]);
        pass(refs[2], out);
    };
    EXPECT_EQ(copies(between(3, withRoom(2), longer)), 2U);
}

TEST(KeptArrays, makeFusionsThatCopyNothingShort)
{
    const machine::RunResult run = between(2, withRoom(8), chain);
    std::vector<std::int64_t> launches;
    for (const std::int32_t id : run.trace->segments().templateId) {
        const auto& segment = run.trace->info().templates[static_cast<std::size_t>(id)];
        if (segment.kind == trace::SegmentKind::Launch) {
            launches.push_back(segment.duration.value());
        }
    }
    EXPECT_EQ(launches, (std::vector<std::int64_t>{1'000'000, 250'000, 1'000'000}));
}

TEST(KeptArrays, areNotThereWhileAKernelRuns)
{
    const auto across = [](const pl::Ref& x, const pl::Ref& out, const Refs& refs) {
        pass(x, refs[0]);
        readByKernel(x);
        pass(refs[0], out);
    };
    EXPECT_EQ(copies(between(1, withRoom(8), across)), 5U);
    const auto before = [](const pl::Ref& x, const pl::Ref& out, const Refs& refs) {
        readByKernel(x);
        pass(x, refs[0]);
        pass(refs[0], out);
    };
    EXPECT_EQ(copies(between(1, withRoom(8), before)), 3U);
}

// What one round leaves for the next stays during the whole loop, and so does what existed before
// the loop.
TEST(KeptArrays, ofLoopsWithKernelsAreThoseOfOneRound)
{
    const auto rounds = [](bool carries) {
        return [carries](const pl::Ref& x, const pl::Ref& out, const Refs& refs) {
            if (carries) {
                pass(x, refs[0]);
            }
            pl::foriLoop(2, {}, [&](pl::Value, const auto&) {
                if (!carries) {
                    pass(x, refs[0]);
                }
                pass(refs[0], out);
                readByKernel(x);
                return std::vector<pl::Value>{};
            });
        };
    };
    // In each of two rounds the first fusion and the kernel read x, and out is written.
    EXPECT_EQ(copies(between(1, withRoom(8), rounds(false))), 6U);
    // x and the array once; then in each round the array, and out and x for the kernel.
    EXPECT_EQ(copies(between(1, withRoom(8), rounds(true))), 8U);
}

} // namespace pallascope::machine_test
