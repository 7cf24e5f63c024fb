// The functions of the builder: each must record the operation that it is named after, and a kernel
// of them must run.
#include "core/ir/print.h"
#include "tests/machine/support.h"

#include <gtest/gtest.h>

namespace pallascope::ops_test {
namespace {

using machine_test::elementsOf;
using machine_test::OneStep;

// The lines of the listing that compute, from "a" to the last one, without loads and stores.
std::string listing(const OneStep& step, const machine_test::RefsBody& body)
{
    std::string text;
    for (const ir::PrintedLine& line : ir::print(machine_test::oneStepProgram(step, body))) {
        const auto equals = line.text.find(" = ");
        if (equals != std::string::npos) {
            text += line.text.substr(line.text.find_first_not_of(' ')) + "\n";
        }
    }
    return text;
}

TEST(Builder, aKernelOfCutsAndJoinsRuns)
{
    const Array x = machine_test::arrayOf(DType::F32, {2, 4}, {0, 1, 2, 3, 10, 11, 12, 13});
    const OneStep step{.inputs = {x}, .shape = {3, 4}};
    const auto run = machine_test::runOneStep(step, [](const std::vector<pl::Ref>& refs) {
        const pl::Value rolled = pl::roll(refs[0][pl::all], 1, 1); // 3 0 1 2 / 13 10 11 12
        const std::vector<pl::Value> halves = pl::split(rolled, {1, 3}, 1);
        const pl::Value swapped = pl::concatenate({halves[1], halves[0]}, 1); // the same as x again
        const std::vector<pl::Value> rows = pl::unstack(swapped, 0);
        const pl::Value both = pl::stack({rows[1], rows[0]}, 0);
        const pl::Value sum = pl::slice(both, {0, 0}, {1, 4}) + pl::slice(both, {1, 0}, {2, 4});
        refs[1][pl::all] = pl::concatenate({both, sum}, 0);
    });
    EXPECT_EQ(elementsOf(run.outputs[0]),
              (std::vector<double>{10, 11, 12, 13, 0, 1, 2, 3, 10, 12, 14, 16}));
    EXPECT_EQ(machine_test::findingsText(run), "");
}

TEST(Builder, aKernelOfIndicesRuns)
{
    const Array x = machine_test::arrayOf(DType::F32, {2, 4}, {5, 9, 2, 9, 7, 1, 1, 8});
    const OneStep step{.inputs = {x}, .dtype = DType::Int32, .shape = {2, 4}};
    const auto run = machine_test::runOneStep(step, [](const std::vector<pl::Ref>& refs) {
        const pl::Value value = refs[0][pl::all].load();
        const pl::Value best = pl::expandDims(pl::argmax(value, 1), 1);  // 1, 3
        const pl::Value least = pl::expandDims(pl::argmin(value, 1), 1); // 2, 1
        const pl::Value top = pl::takeAlongAxis(value, best, 1);         // 9, 8
        const pl::Value whole = pl::convert(top, DType::Int32);
        const pl::Value shifted =
            pl::elementwise(ir::OpCode::ShiftLeft, {pl::clamp(0, whole, 8), 2}); // 32, 32
        refs[1][pl::all] = pl::concatenate({best, least, whole, shifted}, 1);
    });
    EXPECT_EQ(elementsOf(run.outputs[0]), (std::vector<double>{1, 2, 9, 32, 3, 1, 8, 32}));
}

TEST(Builder, listingsShowTheParameters)
{
    const Array x = machine_test::arrayOf(DType::F32, {2, 4}, std::vector<double>(8, 1));
    const OneStep step{.inputs = {x}, .shape = {2, 4}};
    const std::string text = listing(step, [](const std::vector<pl::Ref>& refs) {
        pl::Value a = refs[0][pl::all].load();
        a = pl::round(a);
        a = pl::integerPow(a, 3);
        a = pl::reciprocal(a, true);
        a = pl::pad(a, 0, {{1, 0}, {0, 0}, {0, 0}});
        a = pl::slice(a, {0, 0}, {2, 4});
        a = pl::repeat(a, 2, 0);
        a = pl::roll(a, 1, {1, 2, 0});
        a = pl::split(a, {2, 2}, 0)[0];
        refs[1][pl::all] = a;
    });
    EXPECT_EQ(text, "b:f32[2,4] = round[rounding_method=TO_NEAREST_EVEN] a\n"
                    "c:f32[2,4] = integer_pow[y=3] b\n"
                    "d:f32[2,4] = reciprocal[approx=True] c\n"
                    "e:f32[3,4] = pad[padding_config=((1,0,0),(0,0,0))] d 0.0\n"
                    "f:f32[2,4] = slice[start_indices=(0,0) limit_indices=(2,4)] e\n"
                    "g:f32[4,4] = tile[reps=(2,1)] f\n"
                    "h:f32[4,4] = roll[axis=1 stride=2 stride_axis=0] g 1\n"
                    "i:f32[2,4] j:f32[2,4] = split[axis=0 sizes=(2,2)] h\n");
}

TEST(Builder, aMistakeInASplitIsASentenceAndNoCrash)
{
    const auto body = [](const std::vector<pl::Ref>& refs) {
        const std::vector<pl::Value> parts = pl::split(refs[0][pl::all], {1, 1}, 1);
        refs[1][pl::all] = parts[0] + parts[1];
    };
    const OneStep step{.inputs = {makeArray(DType::F32, {2, 4})}, .shape = {2, 4}};
    try {
        (void)machine_test::oneStepProgram(step, body);
        FAIL() << "split accepts parts that are not the axis";
    } catch (const std::runtime_error& error) {
        EXPECT_NE(std::string(error.what()).find("builder_test.cpp"), std::string::npos);
        EXPECT_NE(std::string(error.what()).find("split cuts axis 1 of f32[2,4] in parts of 1, 1"),
                  std::string::npos)
            << error.what();
    }
}

} // namespace
} // namespace pallascope::ops_test
