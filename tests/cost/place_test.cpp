// Segments: how long a stretch of operations takes, and where in it each operation runs.
#include "tests/cost/v5e.h"

#include <gtest/gtest.h>

#include <map>

namespace pallascope::cost_test {

using ir::OpCode;

namespace {

// The body of a blocked matmul: first `when`, then load, load, dot, load, add, store.
ir::Program matmulStep()
{
    const Shape block{512, 512};
    return ir_test::traced({pl::in("x", DType::BF16, block), pl::in("y", DType::BF16, block),
                            pl::out("out", DType::F32, block)},
                           [](const std::vector<pl::Ref>& refs) {
                               pl::when(pl::programId(0) == 0,
                                        [&] { refs[2][pl::all] = pl::zerosLike(refs[2]); });
                               refs[2][pl::all] +=
                                   pl::dot(refs[0][pl::all], refs[1][pl::all], DType::F32);
                           },
                           {.grid = {2}})
        .value();
}

// Many kinds of operations that depend on each other.
ir::Program softmaxStep()
{
    const Shape block{64, 256};
    return ir_test::traced({pl::in("x", DType::BF16, block), pl::out("out", DType::BF16, block)},
                           [&](const std::vector<pl::Ref>& refs) {
                               const pl::Value x = pl::convert(refs[0][pl::all], DType::F32);
                               const pl::Value top = pl::reduce(OpCode::ReduceMax, x, {1});
                               const pl::Value grown =
                                   pl::exp(x - pl::broadcastTo(top, block, {0}));
                               const pl::Value sum = pl::reduce(OpCode::ReduceSum, grown, {1});
                               const pl::Value parts = grown / pl::broadcastTo(sum, block, {0});
                               refs[1][pl::all] = pl::convert(parts, DType::BF16);
                           })
        .value();
}

// The operations after the last control operation.
std::vector<const ir::Operation*> lastSegment(const ir::Program& program)
{
    std::vector<const ir::Operation*> segment;
    for (const ir::Operation* operation : pointersTo(bodyOf(program))) {
        segment.push_back(operation);
        if (ir::opEntry(operation->code).kind == ir::OpKind::Control) {
            segment.clear();
        }
    }
    return segment;
}

} // namespace

TEST(Segment, lastsItsLongestUnit)
{
    const ir::Program program = matmulStep();
    const cost::SegmentCost segment =
        cost::segmentCost(program, lastSegment(program), v5e()).value();
    // MXU 2048; loads 43 + 43 + 86; VPU 64; store 256.
    EXPECT_EQ(segment.cycles, Cycles(2048));
    EXPECT_EQ(segment.clock, Hertz(1'500'000'000));
    // 2048 / 1.5 GHz, rounded up to a picosecond.
    EXPECT_EQ(segment.duration, Picoseconds(1'365'334));
    EXPECT_EQ(segment.useful[Mxu], Flops(std::int64_t{2} * 512 * 512 * 512));
    EXPECT_EQ(segment.useful[Vpu], Flops(512 * 512));
    EXPECT_EQ(segment.executed[Vpu], Flops(512 * 512));
    EXPECT_EQ(segment.transcendentals, 0);
}

TEST(Segment, aBranchIsASegmentOfItsOwn)
{
    const ir::Program program = matmulStep();
    for (const ir::Operation& operation : bodyOf(program).operations) {
        if (operation.code != OpCode::Cond) {
            continue;
        }
        // Broadcasting zeros is free, and storing them takes 256 cycles; the other branch does
        // nothing.
        const auto taken = cost::segmentCost(program, pointersTo(operation.regions[1]), v5e());
        EXPECT_EQ(taken->cycles, Cycles(256));
        const auto other = cost::segmentCost(program, pointersTo(operation.regions[0]), v5e());
        EXPECT_EQ(other->cycles, Cycles(0));
        EXPECT_EQ(other->duration, Picoseconds(0));
        return;
    }
    FAIL() << "no cond";
}

TEST(Segment, everyOperationHasItsPlaceInsideAndNoUnitDoesTwoThingsAtOnce)
{
    const chip::Chip chip = v5e();
    for (const ir::Program& program : {matmulStep(), softmaxStep()}) {
        const std::vector<const ir::Operation*> operations = lastSegment(program);
        const cost::SegmentCost segment = cost::segmentCost(program, operations, chip).value();
        std::map<std::int32_t, Cycles> free, sums, demanded;
        for (const cost::Place& place : segment.places) {
            EXPECT_GE(place.offset, free[place.unit]);
            free[place.unit] = place.offset + place.length;
            sums[place.unit] += place.length;
            EXPECT_LE(place.offset + place.length, segment.cycles);
        }
        Cycles longest;
        for (const ir::Operation* operation : operations) {
            const auto cost = cost::operationCost(program, *operation, chip).value();
            for (const cost::Demand& demand : cost.demands) {
                demanded[demand.unit] += demand.cycles;
                longest = std::max(longest, demanded[demand.unit]);
            }
        }
        EXPECT_EQ(sums, demanded);
        EXPECT_EQ(segment.cycles, longest);
        ASSERT_EQ(segment.retire.size(), operations.size());
        EXPECT_TRUE(std::is_sorted(segment.retire.begin(), segment.retire.end()));
        EXPECT_LE(segment.retire.back(), segment.cycles);
    }
}

TEST(Segment, aBodyOfWeeksIsALimitError)
{
    chip::Chip chip = v5e();
    chip.agents.front().clock = Hertz(1);
    for (chip::Unit& unit : chip.units) {
        unit.cyclesPerRegister = 1e7;
    }
    const ir::Program program = matmulStep();
    const auto segment = cost::segmentCost(program, lastSegment(program), chip);
    ASSERT_FALSE(segment); // a store of 256 registers takes 2.56e9 s
    EXPECT_EQ(segment.error().kind, ErrorKind::Limit);
    EXPECT_EQ(segment.error().message, "One step's body takes longer than 23 days on TPU v5e; use "
                                       "smaller blocks or a chip with a faster clock.");
}

TEST(Temporaries, areWhatIsAliveBeyondTheRegisters)
{
    constexpr std::int64_t kFile = 64 * 4096, kBlock = 512 * 512 * 4;
    const ir::Program matmul = matmulStep();
    // Only the product is kept: loads stream, and the sum takes the product's place.
    EXPECT_EQ(cost::temporaries(matmul, lastSegment(matmul), v5e()), Bytes(kBlock - kFile));
    const auto twoAlive =
        ir_test::traced(
            {pl::in("x", DType::F32, {512, 512}), pl::out("out", DType::F32, {512, 512})},
            [](const std::vector<pl::Ref>& refs) {
                const pl::Value x = refs[0][pl::all].load();
                const pl::Value grown = pl::exp(x);
                const pl::Value shrunk = pl::elementwise(OpCode::Log, {x});
                refs[1][pl::all] = grown + shrunk;
            })
            .value();
    EXPECT_EQ(cost::temporaries(twoAlive, lastSegment(twoAlive), v5e()), Bytes(2 * kBlock - kFile));
    const auto narrow = // it is computed in 32 bits
        ir_test::traced(
            {pl::in("x", DType::BF16, {512, 512}), pl::out("out", DType::BF16, {512, 512})},
            [](const std::vector<pl::Ref>& refs) {
                const pl::Value x = refs[0][pl::all].load();
                refs[1][pl::all] = pl::exp(x) + 1;
            })
            .value();
    EXPECT_EQ(cost::temporaries(narrow, lastSegment(narrow), v5e()), Bytes(kBlock - kFile));
    const ir::Program softmax = softmaxStep(); // f32[64,256] is 64 KiB; at most two live at once
    EXPECT_EQ(cost::temporaries(softmax, lastSegment(softmax), v5e()), Bytes(0));
}

} // namespace pallascope::cost_test
