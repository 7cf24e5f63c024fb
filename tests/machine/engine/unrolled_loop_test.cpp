// Runs of loops that are unrolled: the values are the same, and the time is that of what remains of
// the rounds.
#include "tests/chip/edited_chip.h"
#include "tests/machine/support.h"

#include <gtest/gtest.h>

namespace pallascope::machine_test {

namespace {

const Shape kLoopShape{64, 128}; // 8 registers

void unroll(ir::Region& region)
{
    for (ir::Operation& operation : region.operations) {
        if (auto* scan = std::get_if<ir::ScanParams>(&operation.params)) {
            scan->unroll = scan->length;
        }
        for (ir::Region& inner : operation.regions) {
            unroll(inner);
        }
    }
}

// Loads take 12 cycles per register, so that they decide how long a segment lasts.
const chip::Chip& slowLoads()
{
    static const chip::Chip kChip = chip::edited({{"/units/4/cycles_per_register", 36}});
    return kChip;
}

struct Both
{
    machine::RunResult rolled, unrolled;

    // The cycles of each body segment, in the order in which they run.
    static std::vector<std::int64_t> cycles(const machine::RunResult& run)
    {
        std::vector<std::int64_t> all;
        for (const std::int32_t id : run.trace->segments().templateId) {
            const auto& segment = run.trace->info().templates[static_cast<std::size_t>(id)];
            if (segment.kind == trace::SegmentKind::Body) {
                all.push_back(segment.cycles.value());
            }
        }
        return all;
    }
};

Both runBoth(const RefsBody& body)
{
    const std::vector<Array> inputs{counting(kF32, kLoopShape)};
    ir::Program program = oneStepProgram({inputs, kF32, kLoopShape, {}, {}}, body);
    machine::RunResult rolled = mustRun(program, inputs, machine::ValueMode::Full, slowLoads());
    unroll(program.body);
    return {std::move(rolled), mustRun(program, inputs, machine::ValueMode::Full, slowLoads())};
}

using Nothing = std::vector<pl::Value>;

} // namespace

TEST(UnrolledRuns, loadWhatIsTheSameOnceInAllRounds)
{
    const Both both = runBoth([](const std::vector<pl::Ref>& refs) {
        refs[1][pl::all] = 0.0;
        pl::foriLoop(4, {}, [&](pl::Value, const auto&) {
            refs[1][pl::all] = refs[1][pl::all] + refs[0][pl::all];
            return Nothing{};
        });
    });
    // A store of 8 registers, then two loads of 96 cycles in each round; unrolled, a quarter of
    // them.
    EXPECT_EQ(Both::cycles(both.rolled), (std::vector<std::int64_t>{8, 192, 192, 192, 192}));
    EXPECT_EQ(Both::cycles(both.unrolled), (std::vector<std::int64_t>{8, 48, 48, 48, 48}));
    EXPECT_EQ(both.unrolled.outputs.at(0).at(7), 28);
    EXPECT_EQ(elementsOf(both.unrolled.outputs.at(0)), elementsOf(both.rolled.outputs.at(0)));
}

// What follows an unrolled loop runs as often as it says.
TEST(UnrolledRuns, shareNothingOutsideTheirLoops)
{
    const Both both = runBoth([](const std::vector<pl::Ref>& refs) {
        pl::foriLoop(2, {}, [&](pl::Value, const auto&) {
            refs[1][pl::all] = refs[0][pl::all];
            return Nothing{};
        });
        refs[1][pl::all] = refs[0][pl::all] * 2.0;
    });
    EXPECT_EQ(Both::cycles(both.rolled), (std::vector<std::int64_t>{96, 96, 96}));
    EXPECT_EQ(Both::cycles(both.unrolled), (std::vector<std::int64_t>{48, 48, 96}));
}

// A loop inside has its own rounds; after it those of the outer loop count again.
TEST(UnrolledRuns, mayBeWithinOneAnother)
{
    const Both both = runBoth([](const std::vector<pl::Ref>& refs) {
        pl::foriLoop(2, {}, [&](pl::Value, const auto&) {
            pl::foriLoop(4, {}, [&](pl::Value, const auto&) {
                refs[1][pl::all] = refs[0][pl::all];
                return Nothing{};
            });
            refs[1][pl::all] = refs[0][pl::all] * 2.0;
            return Nothing{};
        });
    });
    EXPECT_EQ(Both::cycles(both.rolled),
              (std::vector<std::int64_t>{96, 96, 96, 96, 96, 96, 96, 96, 96, 96}));
    EXPECT_EQ(Both::cycles(both.unrolled),
              (std::vector<std::int64_t>{24, 24, 24, 24, 48, 24, 24, 24, 24, 48}));
}

} // namespace pallascope::machine_test
