// What the rounds of a loop cost if the compiler unrolls it.
#include "core/cost/unrolled.h"
#include "tests/cost/v5e.h"

#include <gtest/gtest.h>

namespace pallascope::cost_test {

using ir::OpCode;

namespace {

constexpr std::int64_t kRounds = 4;

using LoopBody = std::function<void(pl::Value i, const std::vector<pl::Ref>& refs)>;

// The refs are x f32[8,128], rows f32[4,8,128] and the output f32[8,128].
ir::Program loopOf(const std::function<void(const std::vector<pl::Ref>& refs)>& around)
{
    return ir_test::traced({pl::in("x", DType::F32, {8, 128}),
                            pl::in("rows", DType::F32, {kRounds, 8, 128}),
                            pl::out("out", DType::F32, {8, 128})},
                           around)
        .value();
}

ir::Program loop(const LoopBody& body)
{
    return loopOf([&](const std::vector<pl::Ref>& refs) {
        pl::foriLoop(kRounds, {}, [&](pl::Value i, const auto&) {
            body(i, refs);
            return std::vector<pl::Value>{};
        });
    });
}

const ir::Operation& scanOf(const ir::Program& program)
{
    for (const ir::Operation& operation : bodyOf(program).operations) {
        if (operation.code == OpCode::Scan) {
            return operation;
        }
    }
    throw std::logic_error("no scan");
}

// The operations of the body that do not run in every round, in the order of the program.
std::string once(const ir::Program& program)
{
    const ir::Operation& scan = scanOf(program);
    const std::map<std::int32_t, double> shares = cost::unrolledShares(program, scan);
    std::string text;
    forEachOperation(scan.regions[0], [&](const ir::Operation& operation) {
        if (const auto share = shares.find(operation.id); share != shares.end()) {
            EXPECT_EQ(share->second, 1.0 / kRounds);
            text += (text.empty() ? "" : " ") + std::string(ir::opName(operation.code));
        }
    });
    return text;
}

} // namespace

TEST(UnrolledLoops, loadTheSameRefOnce)
{
    EXPECT_EQ(once(loop([](pl::Value i, const auto& refs) {
                  const pl::Value grown = pl::exp(refs[0][pl::all]);
                  const pl::Value top = pl::reduce(OpCode::ReduceMax, grown, {0});
                  refs[2][{i, pl::all}] = top + pl::convert(i, DType::F32);
              })),
              "get exp reduce_max");
    // A part of it, which is at the same place in every round.
    EXPECT_EQ(once(loop([](pl::Value i, const auto& refs) {
                  refs[2][{i, pl::all}] = refs[0][{3, pl::all}];
              })),
              "get");
}

TEST(UnrolledLoops, loadWhatLiesElsewhereInEachRound)
{
    EXPECT_EQ(once(loop([](pl::Value i, const auto& refs) {
                  refs[2][{i, pl::all}] = pl::exp(refs[0][{i, pl::all}]);
              })),
              "");
    EXPECT_EQ(once(loop([](pl::Value i, const auto& refs) {
                  const pl::Ref row = refs[1].at({i, pl::all, pl::all});
                  refs[2][pl::all] += pl::exp(row[pl::all]);
              })),
              "get swap");
}

TEST(UnrolledLoops, storeTheSamePlaceOnce)
{
    EXPECT_EQ(once(loop([](pl::Value i, const auto& refs) {
                  refs[2][pl::all] = refs[1][{i, pl::all, pl::all}];
              })),
              "swap");
    EXPECT_EQ(once(loop([](pl::Value i, const auto& refs) {
                  refs[2][{i, pl::all}] = refs[0][{i, pl::all}];
              })),
              "");
}

TEST(UnrolledLoops, keepWhatTheyStoreInRegistersButComputeWithItInEachRound)
{
    // The sum is loaded and stored once, and something is added to it in every round.
    EXPECT_EQ(once(loop([](pl::Value, const auto& refs) {
                  const pl::Value twice = refs[0][pl::all] * 2.0;
                  refs[2][pl::all] = refs[2][pl::all] + twice;
              })),
              "get broadcast_in_dim mul get swap");
    // What a part of the loop stores varies for the rest as well, whatever it reads.
    EXPECT_EQ(once(loop([](pl::Value i, const auto& refs) {
                  const pl::Value grown = pl::exp(refs[2][pl::all]);
                  pl::when(i > 1, [&] { refs[2][pl::all] = grown; });
              })),
              "get swap");
}

// A view of a ref is the same memory.
TEST(UnrolledLoops, knowWhatTheyStoreThroughViews)
{
    const std::string through = "ref_at get swap";
    EXPECT_EQ(once(loop([](pl::Value, const auto& refs) {
                  const pl::Ref part = refs[2].at({pl::ds(0, 4), pl::all});
                  part[pl::all] = pl::exp(refs[2][{pl::ds(0, 4), pl::all}]);
              })),
              through);
    EXPECT_EQ(once(loop([](pl::Value, const auto& refs) {
                  const pl::Ref part = refs[2].at({pl::ds(0, 4), pl::all});
                  refs[2][{pl::ds(0, 4), pl::all}] = pl::exp(part[pl::all]);
              })),
              through);
    // The view may have been made before the loop.
    EXPECT_EQ(once(loopOf([](const auto& refs) {
                  const pl::Ref part = refs[2].at({pl::ds(0, 4), pl::all});
                  pl::foriLoop(kRounds, {}, [&](pl::Value, const auto&) {
                      part[pl::all] = pl::exp(refs[2][{pl::ds(0, 4), pl::all}]);
                      return std::vector<pl::Value>{};
                  });
              })),
              "get swap");
}

// A copy reads what is in memory, and writes to memory what registers then do not have.
TEST(UnrolledLoops, loadAndStoreWhatCopiesMoveInEachRound)
{
    const auto withCopy = [](bool out) {
        return once(loopOf([&](const std::vector<pl::Ref>& refs) {
            pl::foriLoop(kRounds, {}, [&](pl::Value i, const auto&) {
                pl::runScoped({{"other", DType::F32, {8, 128}}, pl::dmaSemaphores("sem")},
                              [&](const auto& scratch) {
                                  const pl::Ref &from = out ? refs[2] : scratch[0],
                                                &to = out ? scratch[0] : refs[2];
                                  refs[2][pl::all] = refs[2][pl::all] * pl::convert(i, DType::F32);
                                  pl::dmaStart(from, to, scratch[1]);
                                  pl::dmaWait(to, scratch[1]);
                                  return std::vector<pl::Value>{};
                              });
                return std::vector<pl::Value>{};
            });
        }));
    };
    EXPECT_EQ(withCopy(true), "");
    EXPECT_EQ(withCopy(false), "");
}

TEST(UnrolledLoops, computeWhatTheyCarryInEachRound)
{
    EXPECT_EQ(once(loopOf([](const auto& refs) {
                  const pl::Value start = refs[0][pl::all].load();
                  const auto grow = [&](pl::Value,
                                        std::vector<pl::Value> carry) -> std::vector<pl::Value> {
                      return {pl::exp(carry[0]) + pl::exp(start)};
                  };
                  refs[2][pl::all] = pl::foriLoop(kRounds, {start}, grow)[0];
              })),
              "exp"); // of the start value
}

TEST(UnrolledLoops, knowWhatIsTheSameInBranchesAndLoopsWithin)
{
    EXPECT_EQ(once(loop([](pl::Value i, const auto& refs) {
                  pl::when(i > 1, [&] { refs[2][{i, pl::all}] = pl::exp(refs[0][{0, pl::all}]); });
              })),
              "get exp");
    EXPECT_EQ(
        once(loop([](pl::Value i, const auto& refs) {
            pl::foriLoop(3, {}, [&](pl::Value j, const auto&) {
                refs[2][{i, pl::all}] = pl::exp(refs[0][{0, pl::all}]) + refs[0][{j, pl::all}];
                return std::vector<pl::Value>{};
            });
        })),
        "get exp");
}

TEST(UnrolledLoops, areThoseOfAtLeastTwoRoundsThatAreAllWrittenOut)
{
    const ir::Program program = loop([](pl::Value, const auto& refs) { refs[2][pl::all] = 1.0; });
    ir::Operation scan = scanOf(program);
    const auto isUnrolled = [&](std::int64_t length, std::int64_t unroll) {
        scan.params = ir::ScanParams{length, unroll};
        return cost::isUnrolled(scan);
    };
    EXPECT_FALSE(isUnrolled(4, 1));
    EXPECT_FALSE(isUnrolled(4, 3));
    EXPECT_TRUE(isUnrolled(4, 4));
    EXPECT_TRUE(isUnrolled(4, 8));
    EXPECT_FALSE(isUnrolled(1, 1));
    EXPECT_FALSE(isUnrolled(0, 4));
    EXPECT_FALSE(cost::isUnrolled(bodyOf(program).operations.front()));
}

// A share of an operation takes that share of its cycles, rounded up, but does all of its work.
TEST(UnrolledLoops, takeSharesOfCycles)
{
    const ir::Program program = loop([](pl::Value i, const auto& refs) {
        refs[2][{i, pl::all}] = pl::reduce(OpCode::ReduceMax, refs[1][pl::all], {0, 1});
    });
    const std::map<std::int32_t, double> shares = cost::unrolledShares(program, scanOf(program));
    chip::Chip chip = v5e();
    chip.units[Load].cyclesPerRegister = 30;
    const auto cycles = [&](OpCode code, const std::map<std::int32_t, double>* of) {
        for (const ir::Operation& operation : scanOf(program).regions[0].operations) {
            if (operation.code == code) {
                const auto cost = cost::operationCost(program, operation, chip, {0, 1, of}).value();
                return cost.demands.at(0).cycles.value();
            }
        }
        return std::int64_t{-1};
    };
    EXPECT_EQ(cycles(OpCode::Get, nullptr), 40); // 4 registers of 30 cycles over 3 slots
    EXPECT_EQ(cycles(OpCode::Get, &shares), 10);
    EXPECT_EQ(cycles(OpCode::ReduceMax, nullptr), 1);
    EXPECT_EQ(cycles(OpCode::ReduceMax, &shares), 1);
    EXPECT_EQ(cycles(OpCode::Swap, &shares), 1); // each round stores to another row
}

} // namespace pallascope::cost_test
