// Which array the Values dock takes a ref for, in two kernels that call what they read x_ref and
// what they write o_ref.
#include "app/run_job/values_source.h"
#include "core/trace/pieces.h"
#include "views/layout/run/told_apart.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

using namespace pallascope;
using namespace pallascope::app;
using layout::values::Resident;

namespace {

struct Compared
{
    FinishedRun run;
    std::unique_ptr<ValuesSource> values;

    [[nodiscard]] const trace::Trace& trace() const { return *run.view->trace; }

    [[nodiscard]] const auto& operands() const { return trace().info().operands; }
};

Compared twoKernels()
{
    Compared both{*runKernel({.kernel = PALLASCOPE_DOCS "/../tests/golden/two_kernels.kernel.json",
                              .chip = "tpu_v5e",
                              .fullValues = true,
                              .check = false}),
                  nullptr};
    both.values = std::move(*openValues(both.run.request, *both.run.view, false));
    return both;
}

std::vector<Picoseconds> manyMoments(const trace::Trace& trace)
{
    std::vector<Picoseconds> moments;
    for (std::int64_t i = 1; i < 100; ++i) {
        moments.emplace_back(trace.end().value() * i / 100);
    }
    return moments;
}

} // namespace

TEST(ValuesArrays, areThoseOfTheKernelThatRuns)
{
    Compared both = twoKernels();
    const std::vector<ValuesRef>& refs = both.values->refs();
    std::set<std::int32_t> arrays;
    for (std::size_t ref = 0; ref < refs.size(); ++ref) {
        if (refs[ref].memory != "HBM") {
            continue;
        }
        std::set<std::int32_t> itsArrays;
        for (const Picoseconds now : manyMoments(both.trace())) {
            const auto sight =
                std::move(**both.values->look({.time = now, .ref = ref, .size = {400, 400}}, {}));
            if (sight.operand >= 0) {
                itsArrays.insert(
                    both.operands()[static_cast<std::size_t>(sight.operand)].arrayNumber);
            }
        }
        ASSERT_EQ(itsArrays.size(), 1U) << refs[ref].name;
        arrays.insert(itsArrays.begin(), itsArrays.end());
    }
    EXPECT_EQ(arrays.size(), 3U) << "what goes in, what goes from one to the other, what comes out";
}

// A block of a kernel's slot is framed in its array, whatever the kernel calls it, and in no other.
TEST(ValuesArrays, frameTheBlocksOfAllKernelsThatUseThem)
{
    const Compared both = twoKernels();
    const trace::Trace& trace = both.trace();
    std::set<std::size_t> framed;
    for (const Picoseconds now : manyMoments(trace)) {
        const trace::Pieces& pieces = both.run.view->index->pieces(0);
        const std::size_t kernel = pieces.at(now);
        for (std::size_t i = 0; i < both.operands().size(); ++i) {
            const trace::Operand& operand = both.operands()[i];
            const auto plane = layout::values::planeOf(operand.array, 0);
            const std::vector<Resident> found = layout::values::residentsOf(
                *both.run.view, now, trace::OperandRow::at(i), 0, plane);
            for (const Resident& one : found) {
                const bool isOfNow =
                    std::ranges::any_of(both.operands(), [&](const trace::Operand& other) {
                        return other.arrayNumber == operand.arrayNumber
                               && static_cast<std::size_t>(other.kernel) == kernel
                               && one.region.rows == other.block[0];
                    });
                EXPECT_TRUE(isOfNow) << operand.name << " at " << now.value();
            }
            if (!found.empty()) {
                framed.insert(i);
            }
        }
    }
    EXPECT_EQ(framed.size(), both.operands().size());
}

TEST(ValuesArrays, areToldApartByTheirKernelsInAnyOrder)
{
    const Compared both = twoKernels();
    const auto anyFits = [](const std::string&) { return true; };
    const auto fewFit = [](const std::string& name) { return name.size() <= 8; };
    using Names = std::vector<std::string>;
    const layout::RunView& run = *both.run.view;
    ASSERT_EQ(both.operands()[1].name, "o_ref");
    ASSERT_EQ(both.operands()[3].name, "o_ref");
    EXPECT_EQ(layout::toldApart(run, {1, 3}, {"o_ref", "o_ref"}, anyFits),
              (Names{"o_ref · double", "o_ref · negate"}));
    EXPECT_EQ(layout::toldApart(run, {3, 1}, {"o_ref", "o_ref"}, anyFits),
              (Names{"o_ref · negate", "o_ref · double"}));
    EXPECT_EQ(layout::toldApart(run, {1, 3}, {"o_ref", "o_ref"}, fewFit),
              (Names{"o_ref #1", "o_ref #2"}));
    EXPECT_EQ(layout::toldApart(run, {3, 1}, {"o_ref", "o_ref"}, fewFit),
              (Names{"o_ref #2", "o_ref #1"}));
}
