// The budget of on-chip memory, and the refusal of kernels that need more than there is.
#include "core/cost/budget.h"
#include "tests/cost/v5e.h"

#include <gtest/gtest.h>

namespace pallascope::cost_test {

namespace {

// x and y are bf16 and out is f32. All are [4 * size, size] in blocks of [size, size]. Also
// scratch.
ir::Program blocked(Extent size, std::int32_t buffers, std::vector<pl::Scratch> scratch = {})
{
    const Shape array{4 * size, size};
    const std::vector<pl::detail::ArgumentSpec> arguments = {pl::in("x", DType::BF16, array),
                                                             pl::in("y", DType::BF16, array),
                                                             pl::out("out", DType::F32, array)};
    const auto kernel = [&](const std::vector<pl::Ref>& refs) {
        const auto spec = pl::block(
            {size, size}, [](auto i) { return pl::at(i, 0); }, buffers);
        const pl::Grid grid{
            .grid = {4}, .in = {spec, spec}, .out = {spec}, .scratch = std::move(scratch)};
        const auto body = [](const std::vector<pl::Ref>&) { return true; };
        pl::detail::pipeline(grid, ir::PipelineOrigin::EmitPipeline, body, refs);
        return true;
    };
    return pl::detail::traceKernel("blocked", arguments, kernel, pl::Here::current()).value();
}

cost::Budget budgetOf(const ir::Program& program)
{
    return cost::budget(program, *ir::pipelinesOf(program).at(0), v5e()).value();
}

} // namespace

TEST(Budget, countsEverySlotOfEveryOperand)
{
    // 512-blocks with two slots each: 2 x 512 KiB, 2 x 512 KiB, 2 x 1 MiB.
    const cost::Budget budget = budgetOf(blocked(512, 2));
    const std::int32_t vmem = *v5e().memoryIndex("VMEM");
    ASSERT_EQ(budget.entries.size(), 3U);
    EXPECT_EQ(budget.entries[0].name, "x");
    EXPECT_EQ(budget.entries[0].slots, 2);
    EXPECT_EQ(budget.entries[0].slotBytes, Bytes(512 * 512 * 2));
    EXPECT_EQ(budget.entries[2].total(), Bytes(2 * 512 * 512 * 4));
    EXPECT_EQ(budget.used(vmem), Bytes(4'194'304));
    EXPECT_EQ(budgetOf(blocked(512, 3)).used(vmem), Bytes(3 * 2'097'152));
}

TEST(Budget, padsToTilesInVmemAndNotInSmem)
{
    const cost::Budget budget = budgetOf(blocked(
        3, 1,
        {{"sum", DType::F32, {3, 100}}, {"counts", DType::Int32, {5}, ir::MemorySpace::Smem}}));
    const std::int32_t vmem = *v5e().memoryIndex("VMEM"), smem = *v5e().memoryIndex("SMEM");
    ASSERT_EQ(budget.entries.size(), 5U);
    EXPECT_EQ(budget.entries[0].slotBytes, Bytes(4 * 128 * 2)); // bf16[3,3]: a tile of 4 x 128
    EXPECT_EQ(budget.entries[3].slotBytes, Bytes(4 * 128 * 4)); // f32[3,100]
    EXPECT_TRUE(budget.entries[3].scratch);
    EXPECT_EQ(budget.entries[4].memory, smem);
    EXPECT_EQ(budget.used(smem), Bytes(20));
    EXPECT_EQ(budget.used(vmem), Bytes(1024 + 1024 + 2048 + 2048));
}

TEST(Budget, anOperandThatNeverMovesHasOneSlot)
{
    const auto program =
        ir_test::traced({pl::in("x", DType::F32, {8, 128}), pl::out("out", DType::F32, {8, 128})},
                        [](const std::vector<pl::Ref>&) {})
            .value();
    EXPECT_EQ(budgetOf(program).used(*v5e().memoryIndex("VMEM")), Bytes(2 * 4096));
}

TEST(Budget, aMemoryThatTheChipLacksIsNamed)
{
    chip::Chip chip = v5e();
    chip.memories.pop_back();
    const ir::Program program =
        blocked(8, 2, {{"counts", DType::Int32, {5}, ir::MemorySpace::Smem}});
    EXPECT_EQ(ir_test::sentence(cost::budget(program, *ir::pipelinesOf(program).at(0), chip)),
              "The kernel uses SMEM, a memory that the chip TPU v5e does not list.");
}

TEST(ScopedLimit, isNoMoreThanTheMemoryHas)
{
    ir::Program program = blocked(8, 2);
    const chip::Chip chip = v5e();
    const chip::Memory& vmem = chip.memories[static_cast<std::size_t>(*chip.memoryIndex("VMEM"))];
    for (const auto& [asked, limit] : {std::pair(64, 64), std::pair(200, 128)}) { // MiB
        program.kernels = {{.kernel = "a", .vmemLimitBytes = std::int64_t{asked} << 20}};
        EXPECT_EQ(cost::scopedLimit(program, vmem), Bytes(std::int64_t{limit} << 20));
    }
}

TEST(Capacity, isReachedButNotPassed)
{
    // 2048-blocks: 2 x 8 MiB, 2 x 8 MiB and 2 x 16 MiB make 64 MiB; scratch of 64 MiB fills the
    // v5e's 128 MiB.
    const pl::Scratch rest{"rest", DType::F32, {4096, 4096}};
    EXPECT_TRUE(cost::checkCapacity(budgetOf(blocked(2048, 2, {rest})), v5e()));
    const Status over =
        cost::checkCapacity(budgetOf(blocked(2048, 2, {rest, {"one", DType::F32, {1, 1}}})), v5e());
    ASSERT_FALSE(over);
    EXPECT_EQ(over.error().kind, ErrorKind::Limit);
    const auto names = over.error().about;
    ASSERT_EQ(names.size(), 5U); // x, y, out and two scratch buffers
    EXPECT_EQ(names.front(), (About{Subject::Operand, "x"}));
    EXPECT_EQ(names.back(), (About{Subject::Operand, "one"}));
}

TEST(Capacity, theRefusalListsTheBytesOfEach)
{
    EXPECT_EQ(ir_test::sentence(cost::checkCapacity(budgetOf(blocked(4096, 2)), v5e())),
              "The blocks need 256 MiB of VMEM (x 64 MiB (2 × 32 MiB), y 64 MiB (2 × 32 MiB), out "
              "128 MiB (2 × 64 MiB)), TPU v5e has 128 MiB.");
    // 1 MiB of SMEM holds 262144 numbers.
    const auto counts = [](Extent n) {
        return blocked(8, 2, {{"counts", DType::Int32, {n}, ir::MemorySpace::Smem}});
    };
    EXPECT_TRUE(cost::checkCapacity(budgetOf(counts(262'144)), v5e()));
    EXPECT_EQ(ir_test::sentence(cost::checkCapacity(budgetOf(counts(524'288)), v5e())),
              "The blocks need 2 MiB of SMEM (counts 2 MiB), TPU v5e has 1 MiB.");
}

} // namespace pallascope::cost_test
